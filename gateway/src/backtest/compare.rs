//! How what one file did differs from what another did.

use serde::Serialize;
use stream_core::{Action, Decision};
use stream_testkit::Replayed;

/// What two files did to one recording, where that differs for the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Difference {
    /// What the old file did, and what the new one does: `tool_gate dropped 1 (no shell)`.
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
}

/// The difference, if the client gets other bytes.
pub(super) fn difference(old: &Replayed, new: &Replayed) -> Option<Difference> {
    (old.bytes() != new.bytes()).then(|| Difference { old: deeds(old), new: deeds(new) })
}

/// What was done to the answer, in a few words.
fn deeds(replayed: &Replayed) -> Vec<String> {
    let mut deeds: Vec<(String, usize)> = Vec::new();
    for decision in replayed.decisions.iter().filter(|decision| decision.is_edit()) {
        let deed = deed(decision);
        match deeds.iter_mut().find(|(said, _)| *said == deed) {
            Some((_, times)) => *times += 1,
            None => deeds.push((deed, 1)),
        }
    }
    let error = replayed.outcome.as_ref().and_then(|outcome| outcome.error.as_ref());
    let closed = error.map(|error| format!("closed: {error}"));
    let deeds =
        deeds.into_iter().map(|(deed, times)| if times > 1 { format!("{deed} × {times}") } else { deed });
    let mut all: Vec<String> = deeds.chain(closed).collect();
    if all.is_empty() {
        all.push("nothing".to_owned());
    }
    all
}

fn deed(decision: &Decision) -> String {
    let reason = decision.reason.as_deref().filter(|_| decision.action != Action::Edited);
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    format!("{} {}{reason}", decision.policy, decision.action.word())
}
