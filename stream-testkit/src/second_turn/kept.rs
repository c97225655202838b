//! What the upstream signed has to come back to it (rule 22).

use super::Rule;
use super::json;
use super::report::Log;

/// A signed thing of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signed {
    /// What it is, for messages: `thinking`, `reasoning`, `functionCall`.
    pub(super) what: String,
    /// The signature; empty for a call without one.
    pub(super) signature: String,
    /// The text that it signs, where an edit would be noticed.
    pub(super) text: Option<String>,
    /// Whether it signs a call that may be dropped.
    pub(super) on_call: bool,
}

/// Checks that what was signed has been kept.
pub(super) fn check(sent: &[Signed], received: &[Signed], log: &mut Log) {
    let mut rest = received.iter();
    for signed in sent.iter().filter(|signed| !signed.on_call) {
        let Some(kept) = rest.find(|kept| kept.signature == signed.signature) else {
            let Signed { what, signature, .. } = signed;
            let signature = json::brief(Some(&signature.as_str().into()));
            let message = format!("expected the signature {signature} of {what}, found it gone");
            log.broken("", Rule::SignatureLost, message);
            return;
        };
        if let (Some(said), Some(says)) = (&signed.text, &kept.text)
            && says != said
            && !says.is_empty()
        {
            let message =
                format!("expected the signed text of {} as it came or empty, found another", signed.what);
            log.broken("", Rule::SignedTextEdited, message);
        }
    }
    check_calls(sent, received, log);
}

/// A call may be dropped; then its signature moves to the next one. The first call of a turn is the one that has to
/// have it.
fn check_calls(sent: &[Signed], received: &[Signed], log: &mut Log) {
    let mut signatures = sent.iter().filter(|signed| signed.on_call && !signed.signature.is_empty());
    let Some(first) = received.iter().find(|signed| signed.on_call) else { return };
    let known = |signature: &str| sent.iter().any(|signed| signed.signature == signature);
    if signatures.next().is_some() && (first.signature.is_empty() || !known(&first.signature)) {
        let message = "expected a signature of the upstream on the first call, found none";
        log.broken("", Rule::SignatureLost, message);
    }
}
