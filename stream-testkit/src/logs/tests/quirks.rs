//! Every quirk of a real provider is shown by a log of the kit's own.
//!
//! What no log shows, and where it is tested instead:
//! - bytes that are no UTF-8 (logs are text): `stream-core/tests/suite/framer.rs`;
//! - characters that a read cuts in two (a log has no reads; every log is replayed in every [`Cut`](crate::Cut)):
//!   `stream-core/tests/suite/corpus.rs`;
//! - the JSON array that Gemini answers with where events were not asked for (it is no stream of events):
//!   `stream-testkit/tests/suite/chunk_log.rs`, `stream-http/tests/layer/apis.rs`;
//! - an event of half a megabyte: `stream-core/tests/suite/framer.rs`;
//! - thinking within a block of text, which is a thought to a policy and nothing to a client, so that there is no one answer to
//!   write beside it: `stream-policies/tests/bypass/blocks_anthropic.rs`;
//! - an MCP call to approve, which the fold knows by the id of its item, and a client by none:
//!   `stream-policies/tests/bypass/calls_responses.rs`;
//! - an empty finish reason at the end, which is a word to a client and no finish to the fold; a second call without an id, which
//!   gets one where it is written anew; a stream that breaks off within a call, of which a gate lets nothing leave:
//!   `stream-core/tests/edits`, `stream-testkit/tests/suite/faults.rs`;
//! - all text so far in each delta, which is what a model that repeats itself sends: no reader tells the two apart.

use std::collections::BTreeMap;

use super::seen::Seen;
use super::{anthropic, chat, gemini, responses};
use crate::WireKind;
use crate::logs::own;

/// A quirk, and how it is told.
pub(super) type Quirk = (&'static str, fn(&Seen) -> bool);

fn quirks(kind: WireKind) -> Vec<Quirk> {
    match kind {
        WireKind::OpenAiChat => chat::QUIRKS.concat(),
        WireKind::OpenAiResponses => responses::QUIRKS.to_vec(),
        WireKind::AnthropicMessages => anthropic::QUIRKS.to_vec(),
        WireKind::Gemini => gemini::QUIRKS.to_vec(),
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
