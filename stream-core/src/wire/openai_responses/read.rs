//! Reading: events and whole responses become deltas.

use std::borrow::Cow;

use super::grammar::{self, EVENT, Event, PROBE, RESPONSE};
use super::item::{self, ItemPlace, ItemReader, PartBody};
use super::kinds::{Act, EventType, PREFIX, Role, Subject};
use super::normal;
use crate::delta::{
    CallDelta, CallFlavor, Channel, Delta, DeltaKind, FinishKind, FinishReason, Restated, Runs, Slot,
};
use crate::wire::apis;
use crate::wire::document::{Of, Spans, Value};
use crate::wire::openai_chat::are_token_list;
use crate::wire::{DecodeError, Decoded, Odd, ping, quoted};

/// Reads the data of one event.
pub(super) fn event(line: Option<&str>, data: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    let data = std::str::from_utf8(data).map_err(|error| DecodeError::new("an event", error.to_string()))?;
    if data.trim_ascii() == "[DONE]" {
        into.deltas.push(Delta::stream(DeltaKind::Meta));
        return Ok(());
    }
    let expected = if data.trim_ascii_start().starts_with('{') { "a Responses event" } else { "an event" };
    let mut spans = Spans::default();
    // Of the blanks around it only those of JSON are no error, for clients as for the other formats.
    spans.decode(data, Of::Object(&EVENT), expected).and_then(|document| {
        if document.is_object() {
            apis::one(into, document, &["choices", "candidates"], &[])?;
            return read(line, &Event::read(document)?, data.len(), into);
        }
        into.deltas.push(foreign("unknown", data.len()));
        Ok(())
    })
}

fn read(line: Option<&str>, event: &Event<'_>, len: usize, into: &mut Decoded) -> Result<(), DecodeError> {
    let Some(kind) = event.kind.as_deref() else {
        return untyped(event.value(), len, into);
    };
    // Some clients go by the `event` line and some by the type: an event with two different ones would be two events.
    if line.is_some_and(|line| line != kind && line.starts_with(PREFIX)) {
        return Err(DecodeError::new("an event of the type that its `event` line says", "another type"));
    }
    if into.memory.is_on {
        let odd = into.memory.responses.get_or_insert_default().see(line, kind, event)?;
        into.mark(odd);
    }
    let delta = match (event.name(), kind) {
        (Some(name), _) => return response_event(event, name, len, into),
        (None, kind) if normal::is_ping(kind) => {
            into.mark((!ping::is_bare(event.value())).then_some(Odd::Foreign));
            Delta::stream(DeltaKind::Ping)
        }
        (None, "error") => {
            quoted::none_in(into, event.value())?;
            Delta::stream(DeltaKind::Error(match event.get("error") {
                Some(error) => grammar::error(Some(error)),
                None => grammar::error_fields(event.get("code"), event.get("message")),
            }))
        }
        (None, other) => foreign(other, len),
    };
    into.deltas.push(delta);
    Ok(())
}

/// The finish reason of a response, by its status.
fn finish(status: &str, response: Value<'_>) -> FinishReason {
    let reason = response.get("incomplete_details").and_then(|details| details.word("reason"));
    let kind = match status {
        "completed" => FinishKind::Stop,
        "incomplete" => match reason.as_deref() {
            Some("content_filter") => FinishKind::Filter,
            _ => FinishKind::Length,
        },
        "failed" => FinishKind::Error,
        _ => FinishKind::Other,
    };
    FinishReason::new(kind, status)
}

/// Reads id and model while they are needed.
fn meta(response: Value<'_>, into: &mut Decoded) {
    if into.wants_meta {
        into.id = grammar::id(response.get("id"));
        into.model = response.name("model");
    }
}

fn response_event(event: &Event<'_>, name: &str, len: usize, into: &mut Decoded) -> Result<(), DecodeError> {
    let Some(known) = event.known else {
        into.deltas.push(other(event, name, len));
        return Ok(());
    };
    into.mark(normal::is_foreign(known, event).then_some(Odd::Foreign));
    let slot = known.slot(event)?;
    let delta = match known.act {
        Act::Opens => return opening(event.object("response")?, ItemPlace::Listed, into),
        Act::Ends => return terminal(name, event.object("response")?, into),
        Act::Added | Act::Done if known.subject == Subject::Item => {
            let place = if known.act == Act::Added { ItemPlace::Added } else { ItemPlace::Done };
            return item_deltas(&ItemReader::read(event.object("item")?, event.item())?, place, into);
        }
        Act::Added | Act::Done => return part_event(known.act, slot, event.object("part")?, into),
        Act::Text(_) if !is_read_by_all(event) => {
            return Err(DecodeError::ambiguous("an `item_id` and tokens of their types", "others"));
        }
        Act::Text(channel) => text(slot, channel, event)?,
        Act::Arguments(flavor) => arguments(slot, flavor, event),
        Act::Restates => restated(known, slot, event)?,
        Act::Annotates => rides(slot, false),
    };
    into.deltas.push(delta);
    Ok(())
}

/// Adds the deltas of one item.
fn item_deltas(item: &ItemReader<'_>, place: ItemPlace, into: &mut Decoded) -> Result<(), DecodeError> {
    into.mark(item.is_foreign()?.then_some(Odd::Foreign));
    item.deltas(place, &mut into.deltas)
}

fn opening(response: Value<'_>, place: ItemPlace, into: &mut Decoded) -> Result<(), DecodeError> {
    meta(response, into);
    into.deltas.push(Delta::stream(DeltaKind::Opening));
    output(response, place, into)
}

fn terminal(status: &str, response: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    meta(response, into);
    output(response, ItemPlace::Listed, into)?;
    ends(status, response, into)
}

/// Adds the deltas at the end of every response.
fn ends(status: &str, response: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    let finish = finish(status, response);
    let failed = finish.kind() == FinishKind::Error;
    into.deltas.push(Delta::new(0, Slot::None, DeltaKind::Finish(finish)));
    if let Some(usage) = grammar::usage(response) {
        into.deltas.push(Delta::stream(DeltaKind::Usage(usage)));
    }
    let error = response.get("error");
    error.map_or(Ok(()), |error| quoted::none_in(into, error))?;
    if failed {
        into.deltas.push(Delta::stream(DeltaKind::Error(grammar::error(error))));
    }
    into.deltas.push(Delta::stream(DeltaKind::Terminal));
    Ok(())
}

fn output(response: Value<'_>, place: ItemPlace, into: &mut Decoded) -> Result<(), DecodeError> {
    for item in item::listed(response)? {
        item_deltas(&item?, place, into)?;
    }
    all_text(response)
}

/// Compares `output_text`, which some servers write, with the messages whose text it repeats.
fn all_text(response: Value<'_>) -> Result<(), DecodeError> {
    let Some(said) = response.word("output_text") else { return Ok(()) };
    let mut rest = said.as_ref();
    for item in item::listed(response)? {
        rest = item?.strip_text(rest)?;
    }
    match rest {
        "" => Ok(()),
        _ => Err(DecodeError::new("the text of all messages as `output_text`", "other text")),
    }
}

fn part_event(act: Act, slot: Slot, part: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    into.mark(item::is_foreign_part(part)?.then_some(Odd::Foreign));
    let mut push = |kind| into.deltas.push(Delta::new(0, slot, kind));
    match (act, item::part_body(part)?) {
        (Act::Added, body) => body.opens(true, push),
        (_, PartBody::Opaque(kind, bytes)) => {
            push(item::opaque(kind, bytes));
            push(DeltaKind::Stop);
        }
        (_, body) => {
            push(DeltaKind::Copy(body.restated()));
            push(DeltaKind::Stop);
        }
    }
    Ok(())
}

/// Whether the fields beside a text are of their types: the AI SDK passes over an event with another one, and reads the text
/// before and behind it as one (rule 28).
fn is_read_by_all(event: &Event<'_>) -> bool {
    let tokens = event.get("logprobs").is_none_or(|tokens| are_token_list(tokens.raw()));
    let is_id = |(name, value): (Cow<'_, str>, Value<'_>)| name != "item_id" || value.is_string();
    tokens && event.value().known().all(is_id)
}

fn text(slot: Slot, channel: Channel, event: &Event<'_>) -> Result<Delta, DecodeError> {
    let text = grammar::text(event.get("delta"), "delta")?;
    if text.is_empty() {
        // Log probabilities without text may spell the next text.
        let ahead = event.get("logprobs").is_some_and(|list| list.raw() != "[]");
        return Ok(rides(slot, ahead));
    }
    Ok(Delta::new(0, slot, DeltaKind::Text { channel, text: text.into() }))
}

fn arguments(slot: Slot, flavor: CallFlavor, event: &Event<'_>) -> Delta {
    match grammar::loose(event.get("delta")).filter(|delta| !delta.is_empty()) {
        Some(delta) => {
            let call = CallDelta { arguments: Some(delta.into()), flavor, ..CallDelta::default() };
            Delta::new(0, slot, DeltaKind::Call(call))
        }
        None => rides(slot, false),
    }
}

fn restated(known: &EventType, slot: Slot, event: &Event<'_>) -> Result<Delta, DecodeError> {
    let field = known.body.unwrap_or_default();
    let body = event.get(field);
    let copy = match known.subject {
        Subject::Call(_) => Restated {
            name: event.value().name("name"),
            body: grammar::loose(body).map(Into::into),
            ..Restated::default()
        },
        Subject::Speech if body.is_none() => return Ok(rides(slot, false)),
        _ => Restated::body(grammar::text(body, field)?),
    };
    Ok(Delta::new(0, slot, DeltaKind::Copy(copy)))
}

/// A delta without payload that shares the fate of its block.
fn rides(slot: Slot, ahead: bool) -> Delta {
    Delta::new(0, slot, DeltaKind::Annotation { ahead })
}

fn other(event: &Event<'_>, name: &str, len: usize) -> Delta {
    let role = Role::of_event(name);
    let slot = event.output_index.map_or(Slot::None, Slot::item);
    if let (Role::Call(flavor), Slot::At { .. }) = (role, slot) {
        // A piece of a command or a diff. The arguments are one JSON value in `output_item.done`.
        return Delta::new(0, slot, DeltaKind::Call(CallDelta { flavor, ..CallDelta::default() }));
    }
    let runs = match role {
        Role::Server => Runs::Server,
        _ if name.starts_with("audio.") => Runs::Server,
        _ => Runs::Unknown,
    };
    // An unknown event is of its item, if there is one, and of none of its parts.
    let slot = match slot {
        Slot::At { item, .. } if role != Role::Server => Slot::At { item, part: Slot::ITEM },
        slot => slot,
    };
    Delta::new(0, slot, DeltaKind::Opaque { kind: name.into(), runs, bytes: len })
}

/// Adds the delta of a document without a type: a bare error, or an opaque document.
fn untyped(document: Value<'_>, bytes: usize, into: &mut Decoded) -> Result<(), DecodeError> {
    let error = document.get("error");
    if error.is_some() {
        quoted::none_in(into, document)?;
    }
    into.deltas.push(match error {
        Some(_) => Delta::stream(DeltaKind::Error(grammar::error(error))),
        None => foreign("unknown", bytes),
    });
    Ok(())
}

/// The delta of a frame of another format.
fn foreign(kind: &str, bytes: usize) -> Delta {
    Delta::new(0, Slot::None, item::opaque(Cow::Borrowed(kind), bytes))
}

/// Whether the body is a response object.
pub(super) fn sniff_whole(body: &[u8]) -> bool {
    let mut spans = Spans::default();
    spans
        .probe(body, Of::Object(&PROBE))
        .is_some_and(|probe| probe.word("object").as_deref() == Some("response"))
}

/// Reads a response object, or the error in its place.
pub(super) fn decode_whole(body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    let text =
        std::str::from_utf8(body).map_err(|error| DecodeError::new("a response", error.to_string()))?;
    let mut spans = Spans::default();
    spans
        .decode(text, Of::Object(&RESPONSE), "a response")
        .and_then(|document| whole(document.expect_object("response")?, into))
}

fn whole(response: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    if response.get("object").is_none() && response.get("output").is_none() {
        untyped(response, response.raw().len(), into)?;
        into.deltas.push(Delta::stream(DeltaKind::Terminal));
        return Ok(());
    }
    opening(response, ItemPlace::Whole, into)?;
    let status = response.word("status").unwrap_or(Cow::Borrowed("completed"));
    ends(&status, response, into)
}
