//! Reading whole, not streamed, responses.

use serde::Deserialize;

use crate::delta::{Delta, DeltaKind, Runs, Slot};
use crate::wire::{DecodeError, Decoded};

use super::block::CHOICE;
use super::read;
use super::view::{self, Field, Message};

/// Whether the body can only be a whole response of this format.
pub(super) fn sniff(body: &[u8]) -> bool {
    serde_json::from_slice::<Probe<'_>>(body)
        .is_ok_and(|probe| probe.content.is_some() && view::word(probe.kind).as_deref() == Some("message"))
}

/// Reads a whole response into the deltas of a stream.
pub(super) fn decode(body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    let json = view::utf8(body)?;
    let Some(message) = view::document::<Message<'_>>(json, "a message")? else {
        into.deltas.push(unknown("unknown", json.len()));
        return Ok(());
    };
    let kind = view::word(message.kind);
    // Without its type it is still a message to a client that does not look at it.
    let is_message = kind.as_deref() == Some("message") || message.content.is_some();
    if !is_message && message.error.is_none() {
        into.deltas.push(unknown(kind.as_deref().unwrap_or("unknown"), json.len()));
        return Ok(());
    }
    if is_message {
        read::message(&message, into)?;
    }
    let last = match message.error {
        Some(_) => DeltaKind::Error(view::error(message.error)),
        None => DeltaKind::Terminal,
    };
    into.deltas.push(Delta::stream(last));
    Ok(())
}

#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
}

fn unknown(kind: &str, bytes: usize) -> Delta {
    Delta::new(CHOICE, Slot::None, DeltaKind::Opaque { kind: kind.into(), runs: Runs::Unknown, bytes })
}
