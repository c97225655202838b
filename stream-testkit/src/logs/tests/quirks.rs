//! Every quirk of a real provider is shown by a log of the kit's own.

use std::collections::BTreeMap;

use super::seen::Seen;
use super::{anthropic, chat, gemini, responses};
use crate::WireKind;
use crate::logs::own;

/// A quirk, and how it is told.
pub(super) type Quirk = (&'static str, fn(&Seen) -> bool);

fn quirks(kind: WireKind) -> &'static [Quirk] {
    match kind {
        WireKind::OpenAiChat => chat::QUIRKS,
        WireKind::OpenAiResponses => responses::QUIRKS,
        WireKind::AnthropicMessages => anthropic::QUIRKS,
        WireKind::Gemini => gemini::QUIRKS,
    }
}

#[test]
fn every_quirk_of_a_provider_is_shown_by_a_log() {
    let mut logs: BTreeMap<&str, Vec<Seen>> = BTreeMap::new();
    for own in own().unwrap() {
        logs.entry(own.kind().name()).or_default().push(Seen::of(&own));
    }
    let mut missing = String::new();
    for kind in WireKind::ALL {
        for (name, shows) in quirks(kind) {
            if !logs[kind.name()].iter().any(shows) {
                missing += &format!("{kind}: {name}\n");
            }
        }
    }
    assert_eq!(missing, "");
}
