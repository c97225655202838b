//! Reading: events and whole messages become deltas.

use std::borrow::Cow;

use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Runs, Slot, Text};
use crate::sse::Frame;
use crate::wire::apis;
use crate::wire::document::{Of, Spans, Value, utf8};
use crate::wire::memory::odd_name;
use crate::wire::{DecodeError, Decoded, Due, Odd, quoted};

use super::block::{self, CHOICE};
use super::grammar::{self, EVENT, MESSAGE, PROBE};
use super::kinds::{self, EventKind};
use super::normal;

/// Whether the frame can only be of this format: its `event` line or its type is one that no other API has.
pub(super) fn sniff(frame: &Frame) -> bool {
    let own = |name: &str| EventKind::named(name).is_some_and(EventKind::is_own);
    if frame.event().is_some_and(own) {
        return true;
    }
    let mut spans = Spans::default();
    let probe = frame.data_bytes().and_then(|data| spans.probe(data, Of::Object(&PROBE)));
    probe.and_then(|probe| probe.word("type")).is_some_and(|kind| own(&kind))
}

/// Whether the body can only be a whole response of this format.
pub(super) fn sniff_whole(body: &[u8]) -> bool {
    let mut spans = Spans::default();
    spans.probe(body, Of::Object(&PROBE)).is_some_and(|probe| {
        probe.get("content").is_some() && probe.word("type").as_deref() == Some("message")
    })
}

/// Reads the data of an event.
pub(super) fn decode(frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
    let Some(data) = frame.data_bytes() else { return Ok(()) };
    let (text, line) = (utf8(data)?, frame.event());
    let mut spans = Spans::default();
    let kind = match text.trim_ascii() {
        "[DONE]" => {
            into.deltas.push(Delta::stream(DeltaKind::Meta));
            Ok(None)
        }
        _ => spans
            .decode(text, Of::Object(&EVENT), "an event")
            .and_then(|document| event(line, document, into)),
    };
    kind.and_then(|kind| remember(line, kind.as_deref(), into))
}

/// Compares an event with those before it.
fn remember(line: Option<&str>, kind: Option<&str>, into: &mut Decoded) -> Result<(), DecodeError> {
    into.due = Due::Now;
    if !into.memory.is_on {
        return Ok(());
    }
    let order = into.memory.messages.get_or_insert_default();
    let named = kind.and_then(|kind| odd_name(&mut order.named, line, kind));
    let (odd, lane) = order.see(&into.deltas)?;
    into.mark(odd.or(named));
    into.due = lane;
    Ok(())
}

/// Reads any event. Returns the name of the event, for streams whose events have names.
fn event<'d>(
    line: Option<&str>,
    event: Value<'d>,
    into: &mut Decoded,
) -> Result<Option<Cow<'d, str>>, DecodeError> {
    if !event.is_object() {
        into.deltas.push(unknown(Slot::None, "unknown", event));
        return Ok(None);
    }
    apis::one(into, event, &["choices", "candidates"], &[])?;
    let word = event.word("type");
    let kind = EventKind::of(event, word.as_deref(), line)?;
    into.mark(kind.filter(|kind| normal::is_foreign(*kind, event)).map(|_| Odd::Foreign));
    into.mark(kind.filter(|kind| word.is_none() && kind.is_own()).map(|_| Odd::Type));
    read(kind, event, into)?;
    Ok(word.or_else(|| kind.map(|kind| kind.word().into())))
}

fn read(kind: Option<EventKind>, event: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    let delta = match kind {
        Some(EventKind::MessageStart) => {
            into.deltas.push(Delta::stream(DeltaKind::Opening).at(event.span()));
            return match event.get("message") {
                Some(start) => message(start.expect_object("message")?, into),
                None => Ok(()),
            };
        }
        Some(EventKind::BlockStart) => {
            let index = grammar::index(event)?;
            return block::opened(grammar::object(event, "content_block")?, index, into);
        }
        Some(EventKind::MessageDelta) => return message_delta(event, into),
        Some(EventKind::BlockDelta) => {
            let slot = Slot::item(grammar::index(event)?);
            block_delta(grammar::object(event, "delta")?, slot, into)?
        }
        Some(EventKind::BlockStop) => {
            Delta::new(CHOICE, Slot::item(grammar::index(event)?), DeltaKind::Stop).at(event.span())
        }
        Some(EventKind::MessageStop) => Delta::stream(DeltaKind::Terminal).at(event.span()),
        Some(EventKind::Ping) => Delta::stream(DeltaKind::Ping).at(event.span()),
        Some(EventKind::Error) => {
            // Without an `error` the event itself is one.
            let error = event.get("error").unwrap_or(event);
            quoted::none_in(into, event)?;
            Delta::stream(DeltaKind::Error(grammar::error(error))).at(error.span())
        }
        None => {
            let kind = event.word("type");
            unknown(Slot::None, kind.as_deref().unwrap_or("unknown"), event)
        }
    };
    into.deltas.push(delta);
    Ok(())
}

/// Reads a message into deltas: its blocks, its finish and its token counts.
pub(super) fn message(message: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    if into.wants_meta {
        into.id = message.word("id").map(Text::from);
        into.model = message.word("model").map(Text::from);
    }
    if let Some(content) = message.get("content") {
        for (position, block) in content.expect_items("content")?.enumerate() {
            block::whole(block, position, into)?;
        }
    }
    ends(Some(message), message, &mut into.deltas)
}

impl EventKind {
    /// The kind of an event. Some clients go by the `event` line and some by the type, so that an event with two
    /// different ones would be two events, of which only one could be policed.
    fn of(event: Value<'_>, word: Option<&str>, line: Option<&str>) -> Result<Option<Self>, DecodeError> {
        let by_type = word.and_then(Self::named);
        let by_line = line.and_then(Self::named);
        let is_bare_error = word.is_none() && event.get("error").is_some();
        match (by_type, by_line) {
            (Some(kind), Some(other)) if kind != other => {
                Err(DecodeError::new(format!("an event of type {other:?}"), format!("{kind:?}")))
            }
            (Some(kind), _) => Ok(Some(kind)),
            (None, Some(other)) if word.is_some() && other.is_own() => {
                Err(DecodeError::new(format!("an event of type {other:?}"), "another type"))
            }
            // A bare error, and an error whose own type stands in place of the event's.
            (None, Some(other)) if is_bare_error && other != Self::Error => {
                Err(DecodeError::new(format!("an event of type {other:?}"), "an error"))
            }
            (None, _) if is_bare_error => Ok(Some(Self::Error)),
            (None, Some(Self::Error)) => Ok(Some(Self::Error)),
            (None, kind) if word.is_none() => Ok(kind),
            (None, _) => Ok(None),
        }
    }
}

fn message_delta(event: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    let before = into.deltas.len();
    let delta = event.get("delta").map(|delta| delta.expect_object("delta")).transpose()?;
    ends(delta, event, &mut into.deltas)?;
    if into.deltas.len() == before {
        into.deltas.push(Delta::stream(DeltaKind::Meta).at(event.span()));
    }
    Ok(())
}

/// Reads the stop reason and the token counts, from the object of each.
fn ends(stop: Option<Value<'_>>, counts: Value<'_>, deltas: &mut Vec<Delta>) -> Result<(), DecodeError> {
    if let Some(reason) = stop.map(grammar::finish).transpose()?.flatten() {
        let came = stop.and_then(|stop| stop.get("stop_reason")).map(Value::span);
        deltas.push(Delta::new(CHOICE, Slot::None, DeltaKind::Finish(reason)).at(came.unwrap_or_default()));
    }
    if let Some((usage, came)) = grammar::usage(counts).zip(counts.get("usage")) {
        deltas.push(Delta::stream(DeltaKind::Usage(usage)).at(came.span()));
    }
    Ok(())
}

fn block_delta(delta: Value<'_>, slot: Slot, into: &mut Decoded) -> Result<Delta, DecodeError> {
    let text = |channel, field| {
        let text = delta.filled(field)?;
        Ok::<_, DecodeError>(text.map_or(DeltaKind::Meta, |text| DeltaKind::Text { channel, text }))
    };
    let kind = delta.word("type");
    into.mark(normal::delta_oddness(kind.as_deref(), delta)?);
    let kind = match kind.as_deref() {
        Some("text_delta") => text(Channel::Content, "text")?,
        Some("thinking_delta") => text(Channel::Reasoning, "thinking")?,
        Some("input_json_delta") => arguments(delta)?,
        Some("signature_delta") => DeltaKind::Signature,
        Some("citations_delta") => DeltaKind::Annotation { ahead: false },
        other => return Ok(unknown(slot, other.unwrap_or("unknown"), delta)),
    };
    Ok(Delta::new(CHOICE, slot, kind).at(delta.span()))
}

/// Reads more arguments; a JSON value in place of the string is taken as its text.
fn arguments(delta: Value<'_>) -> Result<DeltaKind, DecodeError> {
    let text = match delta.get("partial_json") {
        Some(json) if !json.is_string() => Some(Text::from(json.raw())),
        _ => delta.filled("partial_json")?,
    };
    Ok(text.map_or(DeltaKind::Meta, |text| {
        DeltaKind::Call(CallDelta { arguments: Some(text), ..CallDelta::default() })
    }))
}

fn unknown(slot: Slot, kind: &str, element: Value<'_>) -> Delta {
    let runs = if slot == Slot::None { Runs::Unknown } else { kinds::runs(kind) };
    let kind = DeltaKind::Opaque { kind: kind.into(), runs, bytes: element.raw().len() };
    Delta::new(CHOICE, slot, kind).at(element.span())
}

/// Reads a whole response into the deltas of a stream.
pub(super) fn decode_whole(body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    let text = utf8(body)?;
    let mut spans = Spans::default();
    spans.decode(text, Of::Object(&MESSAGE), "a message").and_then(|document| whole(document, into))
}

fn whole(message: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    let kind = message.word("type");
    let error = message.get("error");
    // Without a type the body is still a message to clients that do not check the type.
    let is_message = kind.as_deref() == Some("message") || message.get("content").is_some();
    if !is_message && error.is_none() {
        into.deltas.push(unknown(Slot::None, kind.as_deref().unwrap_or("unknown"), message));
        return Ok(());
    }
    if is_message {
        self::message(message, into)?;
    }
    if let Some(error) = error {
        // The content of a message is policed; all of any other document is the error.
        quoted::none_in(into, if is_message { error } else { message })?;
    }
    into.deltas.push(match error {
        Some(error) => Delta::stream(DeltaKind::Error(grammar::error(error))).at(error.span()),
        None => Delta::stream(DeltaKind::Terminal),
    });
    Ok(())
}
