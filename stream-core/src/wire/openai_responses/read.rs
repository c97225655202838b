//! Reading: events and whole responses become deltas.

use std::borrow::Cow;

use super::grammar::{self, EVENT, Event, PROBE, RESPONSE};
use super::item::{self, Role, SUMMARY, Said, Told};
use super::normal;
use crate::delta::{
    CallDelta, CallFlavor, Channel, Delta, DeltaKind, FinishKind, FinishReason, Restated, Runs, Slot,
};
use crate::wire::apis;
use crate::wire::document::{Of, Spans, Value};
use crate::wire::{DecodeError, Decoded, Odd, ping};

/// Reads the data of one event.
pub(super) fn event(line: Option<&str>, data: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    let data = std::str::from_utf8(data).map_err(|error| DecodeError::new("an event", error.to_string()))?;
    let json = data.trim_ascii();
    if json == "[DONE]" {
        into.deltas.push(Delta::stream(DeltaKind::Meta));
        return Ok(());
    }
    let expected = if json.starts_with('{') { "a Responses event" } else { "an event" };
    let mut spans = Spans::default();
    spans.decode(json, Of::Object(&EVENT), expected).and_then(|document| {
        if document.is_object() {
            apis::one(into, document, &["choices", "candidates"], &[])?;
            return read(line, Event::read(document)?, data.len(), into);
        }
        into.deltas.push(foreign(None, data.len()));
        Ok(())
    })
}

fn read(line: Option<&str>, event: Event<'_>, len: usize, into: &mut Decoded) -> Result<(), DecodeError> {
    let kind = grammar::string(event.get("type"));
    // Some clients go by the `event` line and some by the type: an event that says two things would be two events.
    if let (Some(line), Some(kind)) = (line.filter(|line| line.starts_with("response.")), kind.as_deref())
        && line != kind
    {
        return Err(DecodeError::new("an event of the type that its `event` line says", "another type"));
    }
    if into.memory.is_on
        && let Some(kind) = kind.as_deref()
    {
        let odd = into.memory.responses.get_or_insert_default().see(line, kind, event)?;
        into.odd = into.odd.or(odd);
    }
    match kind.as_deref().map(|kind| (kind, kind.strip_prefix("response."))) {
        Some((_, Some(name))) => response_event(event, name, len, into),
        Some((kind, _)) if normal::is_ping(kind) => {
            if !ping::is_bare(event.value()) {
                into.odd = into.odd.or(Some(Odd::Foreign));
            }
            into.deltas.push(Delta::stream(DeltaKind::Ping));
            Ok(())
        }
        Some(("error", _)) => {
            let error = match event.get("error") {
                Some(error) => grammar::error(Some(error)),
                None => grammar::error_fields(event.get("code"), event.get("message")),
            };
            into.deltas.push(Delta::stream(DeltaKind::Error(error)));
            Ok(())
        }
        Some((other, _)) => {
            into.deltas.push(foreign(Some(other), len));
            Ok(())
        }
        None => {
            into.deltas.push(match event.get("error") {
                Some(error) => Delta::stream(DeltaKind::Error(grammar::error(Some(error)))),
                None => foreign(None, len),
            });
            Ok(())
        }
    }
}

/// How a response ended, by its status.
pub(super) fn finish(status: &str, response: Value<'_>) -> FinishReason {
    let reason = response.get("incomplete_details").and_then(|details| details.get("reason"));
    let kind = match status {
        "completed" => FinishKind::Stop,
        "incomplete" => match grammar::string(reason).as_deref() {
            Some("content_filter") => FinishKind::Filter,
            _ => FinishKind::Length,
        },
        "failed" => FinishKind::Error,
        _ => FinishKind::Other,
    };
    FinishReason::new(kind, status)
}

/// Takes over id and model while they are asked for.
fn meta(response: Value<'_>, into: &mut Decoded) {
    if into.wants_meta {
        into.id = grammar::id(response.get("id"));
        into.model = grammar::name(response.get("model"));
    }
}

fn response_event(event: Event<'_>, name: &str, len: usize, into: &mut Decoded) -> Result<(), DecodeError> {
    if normal::is_foreign(name, event) {
        into.odd = into.odd.or(Some(Odd::Foreign));
    }
    let deltas = &mut into.deltas;
    let content = || slot(event, event.content_index, 0);
    let summary = || slot(event, event.summary_index, SUMMARY);
    let call = || slot(event, None, 0);
    match name {
        "created" | "in_progress" | "queued" => return opening(event.object("response")?, into),
        "completed" | "incomplete" | "failed" => return terminal(name, event.object("response")?, into),
        "output_item.added" | "output_item.done" => {
            let told = Told::read(event.object("item")?, item_index(event))?;
            if told.is_foreign()? {
                into.odd = into.odd.or(Some(Odd::Foreign));
            }
            match name {
                "output_item.added" => told.added(deltas)?,
                _ => told.done(deltas)?,
            }
        }
        "content_part.added" | "content_part.done" => part_event(name, content()?, event, into)?,
        "reasoning_summary_part.added" | "reasoning_summary_part.done" => {
            part_event(name, summary()?, event, into)?;
        }
        "output_text.delta" | "audio.transcript.delta" => {
            deltas.push(text(content()?, Channel::Content, event)?);
        }
        "refusal.delta" => deltas.push(text(content()?, Channel::Refusal, event)?),
        "reasoning_text.delta" => deltas.push(text(content()?, Channel::Reasoning, event)?),
        "reasoning_summary_text.delta" => deltas.push(text(summary()?, Channel::Reasoning, event)?),
        "output_text.done" | "reasoning_text.done" => {
            deltas.push(copy(content()?, event.get("text"), "text")?);
        }
        "refusal.done" => deltas.push(copy(content()?, event.get("refusal"), "refusal")?),
        "reasoning_summary_text.done" => deltas.push(copy(summary()?, event.get("text"), "text")?),
        "audio.transcript.done" => deltas.push(match event.get("transcript") {
            Some(_) => copy(content()?, event.get("transcript"), "transcript")?,
            None => rides(content()?, false),
        }),
        "function_call_arguments.delta" => deltas.push(arguments(call()?, CallFlavor::Function, event)),
        "custom_tool_call_input.delta" => deltas.push(arguments(call()?, CallFlavor::Custom, event)),
        "function_call_arguments.done" => deltas.push(call_copy(call()?, event.get("arguments"), event)),
        "custom_tool_call_input.done" => deltas.push(call_copy(call()?, event.get("input"), event)),
        "output_text.annotation.added" | "output_text_annotation.added" => {
            deltas.push(rides(content()?, false));
        }
        _ => deltas.push(other(event, name, len)),
    }
    Ok(())
}

fn opening(response: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    meta(response, into);
    into.deltas.push(Delta::stream(DeltaKind::Opening));
    output(response, into)
}

fn terminal(status: &str, response: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    meta(response, into);
    output(response, into)?;
    ends(status, response, into);
    Ok(())
}

/// The deltas every response ends with.
fn ends(status: &str, response: Value<'_>, into: &mut Decoded) {
    let finish = finish(status, response);
    let failed = finish.kind() == FinishKind::Error;
    into.deltas.push(Delta::new(0, Slot::None, DeltaKind::Finish(finish)));
    if let Some(usage) = grammar::usage(response) {
        into.deltas.push(Delta::stream(DeltaKind::Usage(usage)));
    }
    if failed {
        into.deltas.push(Delta::stream(DeltaKind::Error(grammar::error(response.get("error")))));
    }
    into.deltas.push(Delta::stream(DeltaKind::Terminal));
}

/// Positions in `output` are the output indices.
fn output(response: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    for (at, item) in grammar::output(response)?.enumerate() {
        let told = Told::read(item, item::part_number(at)?)?;
        if told.is_foreign()? {
            into.odd = into.odd.or(Some(Odd::Foreign));
        }
        told.restated(&mut into.deltas)?;
    }
    all_text(response)
}

/// Holds `output_text`, which some servers write, against the messages whose text it repeats.
fn all_text(response: Value<'_>) -> Result<(), DecodeError> {
    let Some(said) = grammar::string(response.get("output_text")) else { return Ok(()) };
    let mut rest = said.as_ref();
    for item in grammar::output(response)? {
        rest = Told::read(item, 0)?.strip_text(rest)?;
    }
    match rest {
        "" => Ok(()),
        _ => Err(DecodeError::new("the text of all messages as `output_text`", "other text")),
    }
}

fn part_event(name: &str, slot: Slot, event: Event<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    let part = event.object("part")?;
    if item::is_foreign_part(part)? {
        into.odd = into.odd.or(Some(Odd::Foreign));
    }
    match name.ends_with(".added") {
        true => part_added(slot, part, &mut into.deltas),
        false => part_done(slot, part, &mut into.deltas),
    }
}

fn part_added(slot: Slot, part: Value<'_>, into: &mut Vec<Delta>) -> Result<(), DecodeError> {
    match item::said(part)? {
        Said::Text(channel, text) => {
            into.push(Delta::new(0, slot, DeltaKind::Start { channel }));
            if !text.is_empty() {
                into.push(Delta::new(0, slot, DeltaKind::Text { channel, text: text.into() }));
            }
        }
        Said::Opaque(kind, bytes) => into.push(Delta::new(0, slot, item::opaque(kind, bytes))),
    }
    Ok(())
}

fn part_done(slot: Slot, part: Value<'_>, into: &mut Vec<Delta>) -> Result<(), DecodeError> {
    let kind = match item::said(part)? {
        Said::Text(_, text) => DeltaKind::Copy(Restated::body(text)),
        Said::Opaque(kind, bytes) => item::opaque(kind, bytes),
    };
    into.push(Delta::new(0, slot, kind));
    into.push(Delta::new(0, slot, DeltaKind::Stop));
    Ok(())
}

fn text(slot: Slot, channel: Channel, event: Event<'_>) -> Result<Delta, DecodeError> {
    let text = grammar::text(event.get("delta"), "delta")?;
    if text.is_empty() {
        // Log probabilities of tokens that are not out yet may spell what comes next.
        let ahead = event.get("logprobs").is_some_and(|list| list.raw() != "[]");
        return Ok(rides(slot, ahead));
    }
    Ok(Delta::new(0, slot, DeltaKind::Text { channel, text: text.into() }))
}

fn copy(slot: Slot, body: Option<Value<'_>>, field: &str) -> Result<Delta, DecodeError> {
    Ok(Delta::new(0, slot, DeltaKind::Copy(Restated::body(grammar::text(body, field)?))))
}

fn arguments(slot: Slot, flavor: CallFlavor, event: Event<'_>) -> Delta {
    match grammar::loose(event.get("delta")).filter(|delta| !delta.is_empty()) {
        Some(delta) => {
            let call = CallDelta { arguments: Some(delta.into()), flavor, ..CallDelta::default() };
            Delta::new(0, slot, DeltaKind::Call(call))
        }
        None => rides(slot, false),
    }
}

fn call_copy(slot: Slot, body: Option<Value<'_>>, event: Event<'_>) -> Delta {
    let copy = Restated {
        name: grammar::name(event.get("name")),
        body: grammar::loose(body).map(Into::into),
        ..Restated::default()
    };
    Delta::new(0, slot, DeltaKind::Copy(copy))
}

/// Something that says nothing by itself, yet makes no sense without its block.
fn rides(slot: Slot, ahead: bool) -> Delta {
    Delta::new(0, slot, DeltaKind::Annotation { ahead })
}

fn other(event: Event<'_>, name: &str, len: usize) -> Delta {
    let role = Role::of_event(name);
    let slot = event.output_index.map_or(Slot::None, Slot::item);
    if let (Role::Call(flavor, _), Slot::At { .. }) = (role, slot) {
        // Commands and diffs as they are written. The arguments come as one JSON value when the item is done.
        return Delta::new(0, slot, DeltaKind::Call(CallDelta { flavor, ..CallDelta::default() }));
    }
    let runs = match role {
        Role::Server => Runs::Server,
        _ if name.starts_with("audio.") => Runs::Server,
        _ => Runs::Unknown,
    };
    Delta::new(0, slot, DeltaKind::Opaque { kind: name.into(), runs, bytes: len })
}

/// A frame of no known format.
fn foreign(kind: Option<&str>, bytes: usize) -> Delta {
    Delta::new(0, Slot::None, item::opaque(Cow::Borrowed(kind.unwrap_or("unknown")), bytes))
}

fn item_index(event: Event<'_>) -> u32 {
    event.output_index.unwrap_or(0)
}

fn slot(event: Event<'_>, part: Option<u32>, base: u32) -> Result<Slot, DecodeError> {
    Ok(Slot::At { item: item_index(event), part: base + item::part_number(part.unwrap_or(0))? })
}

/// Whether the body says that it is a response object.
pub(super) fn sniff_whole(body: &[u8]) -> bool {
    let mut spans = Spans::default();
    let probe = std::str::from_utf8(body).ok().and_then(|text| spans.read(text, Of::Object(&PROBE)).ok());
    probe.is_some_and(|probe| grammar::string(probe.get("object")).as_deref() == Some("response"))
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
        into.deltas.push(match response.get("error") {
            Some(error) => Delta::stream(DeltaKind::Error(grammar::error(Some(error)))),
            None => {
                let kind = item::opaque(Cow::Borrowed("unknown"), response.raw().len());
                Delta::new(0, Slot::None, kind)
            }
        });
        into.deltas.push(Delta::stream(DeltaKind::Terminal));
        return Ok(());
    }
    meta(response, into);
    into.deltas.push(Delta::stream(DeltaKind::Opening));
    for (at, item) in grammar::output(response)?.enumerate() {
        let told = Told::read(item, item::part_number(at)?)?;
        if told.is_foreign()? {
            into.odd = into.odd.or(Some(Odd::Foreign));
        }
        told.whole(&mut into.deltas)?;
    }
    all_text(response)?;
    let status = grammar::string(response.get("status")).unwrap_or(Cow::Borrowed("completed"));
    ends(&status, response, into);
    Ok(())
}
