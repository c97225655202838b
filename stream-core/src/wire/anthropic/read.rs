//! Reading events.

use std::borrow::Cow;

use serde::Deserialize;

use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Runs, Slot, Text, UpstreamError};
use crate::sse::Frame;
use crate::wire::{DecodeError, Decoded, Lane, Odd};

use super::block::{self, CHOICE};
use super::hot;
use super::normal;
use super::view::{self, BlockDelta, Event, Field, Message, MessageDelta};

/// Whether the frame can only be of this format: its `event` line or its type is one that no other API has.
pub(super) fn sniff(frame: &Frame) -> bool {
    let own = |name: &str| EventKind::named(name).is_some_and(EventKind::is_own);
    if frame.event().is_some_and(own) {
        return true;
    }
    let Some(data) = frame.data_bytes() else { return false };
    serde_json::from_slice::<Probe<'_>>(data)
        .is_ok_and(|probe| view::word(probe.kind).is_some_and(|kind| own(&kind)))
}

/// Reads the data of an event.
pub(super) fn decode(frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
    let Some(data) = frame.data_bytes() else { return Ok(()) };
    let data = view::utf8(data)?;
    if let Some(delta) = hot::read(frame.event(), data) {
        into.deltas.push(delta);
        return remember(frame.event(), Some(hot::BLOCK_DELTA), into);
    }
    let kind = event(frame.event(), data, into)?;
    remember(frame.event(), kind.as_deref(), into)
}

/// Holds an event against those before it.
fn remember(line: Option<&str>, kind: Option<&str>, into: &mut Decoded) -> Result<(), DecodeError> {
    into.lane = Lane::Now;
    if !into.memory.is_on {
        return Ok(());
    }
    let order = &mut into.memory.messages;
    let named = kind.and_then(|kind| order.name(line, kind));
    let (odd, lane) = order.see(&into.deltas)?;
    into.odd = into.odd.or(odd).or(named);
    into.lane = lane;
    Ok(())
}

/// Reads any event. Answers with the name it has to have where events have names.
pub(super) fn event<'a>(
    line: Option<&str>,
    data: &'a str,
    into: &mut Decoded,
) -> Result<Option<Cow<'a, str>>, DecodeError> {
    if data.trim_ascii() == "[DONE]" {
        into.deltas.push(Delta::stream(DeltaKind::Meta));
        return Ok(None);
    }
    let Some(event) = view::document::<Event<'_>>(data, "an event")? else {
        into.deltas.push(unknown(Slot::None, "unknown", data.len()));
        return Ok(None);
    };
    let kind = EventKind::of(&event, line)?;
    if kind.is_some_and(|kind| normal::is_foreign(kind, &event)) {
        into.odd = into.odd.or(Some(Odd::Foreign));
    }
    let word = view::word(event.kind);
    if word.is_none() && kind.is_some_and(EventKind::is_own) {
        into.odd = into.odd.or(Some(Odd::Type));
    }
    read(kind, &event, data, into)?;
    Ok(word.or_else(|| kind.map(|kind| kind.word().into())))
}

fn read(
    kind: Option<EventKind>,
    event: &Event<'_>,
    data: &str,
    into: &mut Decoded,
) -> Result<(), DecodeError> {
    match kind {
        Some(EventKind::MessageStart) => message_start(event, into),
        Some(EventKind::BlockStart) => block::opened(event.content_block, view::index(event.index)?, into),
        Some(EventKind::BlockDelta) => {
            let delta = block_delta(event.delta, Slot::item(view::index(event.index)?), &mut into.odd)?;
            into.deltas.push(delta);
            Ok(())
        }
        Some(EventKind::BlockStop) => {
            let slot = Slot::item(view::index(event.index)?);
            into.deltas.push(Delta::new(CHOICE, slot, DeltaKind::Stop));
            Ok(())
        }
        Some(EventKind::MessageDelta) => message_delta(event, into),
        Some(EventKind::MessageStop) => {
            into.deltas.push(Delta::stream(DeltaKind::Terminal));
            Ok(())
        }
        Some(EventKind::Ping) => {
            into.deltas.push(Delta::stream(DeltaKind::Ping));
            Ok(())
        }
        Some(EventKind::Error) => {
            into.deltas.push(Delta::stream(DeltaKind::Error(error(event, data))));
            Ok(())
        }
        None => {
            let kind = view::word(event.kind);
            into.deltas.push(unknown(Slot::None, kind.as_deref().unwrap_or("unknown"), data.len()));
            Ok(())
        }
    }
}

/// Reads a message into deltas: its blocks, its finish and its token counts.
pub(super) fn message(message: &Message<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    if into.wants_meta {
        into.id = view::word(message.id).map(Text::from);
        into.model = view::word(message.model).map(Text::from);
    }
    for (position, raw) in view::array(message.content, "`content`")?.into_iter().enumerate() {
        block::whole(Some(raw), position, into)?;
    }
    ends(message.stop_reason, message.usage, &mut into.deltas)
}

/// The events of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    MessageStart,
    BlockStart,
    BlockDelta,
    BlockStop,
    MessageDelta,
    MessageStop,
    Ping,
    Error,
}

impl EventKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::MessageStart => "message_start",
            Self::BlockStart => "content_block_start",
            Self::BlockDelta => "content_block_delta",
            Self::BlockStop => "content_block_stop",
            Self::MessageDelta => "message_delta",
            Self::MessageStop => "message_stop",
            Self::Ping => "ping",
            Self::Error => "error",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "message_start" => Self::MessageStart,
            "content_block_start" => Self::BlockStart,
            "content_block_delta" => Self::BlockDelta,
            "content_block_stop" => Self::BlockStop,
            "message_delta" => Self::MessageDelta,
            "message_stop" => Self::MessageStop,
            "ping" => Self::Ping,
            "error" => Self::Error,
            _ => return None,
        })
    }

    /// The kind of an event. Some clients go by the `event` line and some by the type, so that an event that says
    /// two things would be two events; only one of them could be policed.
    fn of(event: &Event<'_>, line: Option<&str>) -> Result<Option<Self>, DecodeError> {
        let word = view::word(event.kind);
        let by_type = word.as_deref().and_then(Self::named);
        let by_line = line.and_then(Self::named);
        match (by_type, by_line) {
            (Some(kind), Some(other)) if kind != other => {
                Err(DecodeError::new(format!("an event of type {other:?}"), format!("{kind:?}")))
            }
            (Some(kind), _) => Ok(Some(kind)),
            // A bare error, and one whose own type took the place of the event's.
            (None, _) if word.is_none() && event.error.is_some() => Ok(Some(Self::Error)),
            (None, Some(Self::Error)) => Ok(Some(Self::Error)),
            (None, kind) if word.is_none() => Ok(kind),
            (None, _) => Ok(None),
        }
    }

    /// Whether no other API has an event of this name.
    fn is_own(self) -> bool {
        !matches!(self, Self::Ping | Self::Error)
    }
}

#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
}

fn message_start(event: &Event<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    into.deltas.push(Delta::stream(DeltaKind::Opening));
    if event.message.is_none() {
        return Ok(());
    }
    message(&view::object(event.message, "`message`")?, into)
}

fn message_delta(event: &Event<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    let before = into.deltas.len();
    let stop_reason = match event.delta {
        Some(_) => view::object::<MessageDelta<'_>>(event.delta, "`delta`")?.stop_reason,
        None => None,
    };
    ends(stop_reason, event.usage, &mut into.deltas)?;
    if into.deltas.len() == before {
        into.deltas.push(Delta::stream(DeltaKind::Meta));
    }
    Ok(())
}

fn ends(stop_reason: Field<'_>, usage: Field<'_>, deltas: &mut Vec<Delta>) -> Result<(), DecodeError> {
    if let Some(reason) = view::finish(stop_reason)? {
        deltas.push(Delta::new(CHOICE, Slot::None, DeltaKind::Finish(reason)));
    }
    if let Some(usage) = view::usage(usage)? {
        deltas.push(Delta::stream(DeltaKind::Usage(usage)));
    }
    Ok(())
}

fn block_delta(field: Field<'_>, slot: Slot, odd: &mut Option<Odd>) -> Result<Delta, DecodeError> {
    let delta: BlockDelta<'_> = view::object(field, "`delta`")?;
    let text = |channel, field, what| {
        let text = view::filled(field, what)?;
        Ok::<_, DecodeError>(text.map_or(DeltaKind::Meta, |text| DeltaKind::Text { channel, text }))
    };
    let kind = view::word(delta.kind);
    if let Some(found) = normal::delta_oddness(kind.as_deref(), &delta)? {
        *odd = odd.or(Some(found));
    }
    let kind = match kind.as_deref() {
        Some("text_delta") => text(Channel::Content, delta.text, "`text` of a text_delta")?,
        Some("thinking_delta") => text(Channel::Reasoning, delta.thinking, "`thinking` of a thinking_delta")?,
        Some("input_json_delta") => arguments(delta.partial_json)?,
        Some("signature_delta") => DeltaKind::Signature,
        Some("citations_delta") => DeltaKind::Annotation { ahead: false },
        other => {
            let bytes = field.map_or(0, |raw| raw.get().len());
            return Ok(unknown(slot, other.unwrap_or("unknown"), bytes));
        }
    };
    Ok(Delta::new(CHOICE, slot, kind))
}

/// More arguments; a value in place of the string that should hold it is taken as its text.
fn arguments(field: Field<'_>) -> Result<DeltaKind, DecodeError> {
    let text = match field {
        Some(raw) if !raw.get().starts_with('"') => Some(Text::from(raw.get())),
        _ => view::filled(field, "`partial_json`")?,
    };
    Ok(text.map_or(DeltaKind::Meta, |text| {
        DeltaKind::Call(CallDelta { arguments: Some(text), ..CallDelta::default() })
    }))
}

fn unknown(slot: Slot, kind: &str, bytes: usize) -> Delta {
    let runs = if slot == Slot::None { Runs::Unknown } else { block::runs(kind) };
    Delta::new(CHOICE, slot, DeltaKind::Opaque { kind: kind.into(), runs, bytes })
}

/// The error of an event: its `error`, or, where that is missing, the event itself.
fn error(event: &Event<'_>, data: &str) -> UpstreamError {
    match event.error {
        Some(_) => view::error(event.error),
        None => view::error(serde_json::from_str(data).ok()),
    }
}
