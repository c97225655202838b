//! What the tests of this format share.

use bytes::Bytes;

use crate::block::BlockKey;
use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Slot};
use crate::json;
use crate::sse::{Frame, Framer};
use crate::wire::openai_responses::OpenAiResponses;
use crate::wire::{
    DecodeError, Decoded, Ending, EndingKind, Fate, Outgoing, Part, WireFormat, Writer, WriterOptions,
};

/// The deltas of one event.
pub(super) fn read(json: &str) -> Vec<Delta> {
    decode(json).unwrap()
}

pub(super) fn decode(json: &str) -> Result<Vec<Delta>, DecodeError> {
    decode_frame(&frame(&format!("data: {}\n\n", json.replace('\n', "\ndata: "))))
}

pub(super) fn decode_frame(frame: &Frame) -> Result<Vec<Delta>, DecodeError> {
    let mut decoded = Decoded::new();
    OpenAiResponses.decode(frame, &mut decoded)?;
    Ok(decoded.deltas)
}

pub(super) fn frame(text: &str) -> Frame {
    let mut framer = Framer::new(1 << 20);
    framer.push(text.as_bytes());
    framer.next_frame().unwrap().or_else(|| framer.finish()).unwrap()
}

/// Events with an `event:` line each.
pub(super) fn stream<S: AsRef<str>>(events: &[S]) -> String {
    events.iter().map(|json| event(json.as_ref())).collect()
}

pub(super) fn event(json: &str) -> String {
    let kind = json::member(json, "type").and_then(json::unquote).unwrap();
    format!("event: {kind}\ndata: {json}\n\n")
}

/// Kept parts, each with the key of its slot.
pub(super) fn parts(deltas: Vec<Delta>) -> Vec<Part> {
    let part = |delta: Delta| {
        let key = match delta.slot {
            Slot::At { item, part } => Some(BlockKey(item.wrapping_mul(1 << 8).wrapping_add(part))),
            _ => None,
        };
        Part { delta, key, fate: Fate::Kept }
    };
    deltas.into_iter().map(part).collect()
}

/// A writer with its output.
pub(super) struct Run {
    pub(super) writer: Box<dyn Writer>,
    out: Vec<Bytes>,
}

impl Run {
    pub(super) fn new() -> Self {
        Self { writer: OpenAiResponses.writer(&WriterOptions::default()), out: Vec::new() }
    }

    /// A writer for a stream that is judged (rule 28).
    pub(super) fn judged() -> Self {
        let options = WriterOptions { normalise: true, ..WriterOptions::default() };
        Self { writer: OpenAiResponses.writer(&options), out: Vec::new() }
    }

    /// Writes events, their parts changed by `decide`.
    pub(super) fn push<S: AsRef<str>>(
        &mut self,
        events: &[S],
        mut decide: impl FnMut(&mut Part),
    ) -> &mut Self {
        for json in events {
            self.with(&event(json.as_ref()), |parts| parts.iter_mut().for_each(&mut decide));
        }
        self
    }

    /// Writes one frame, its parts changed by `decide`.
    pub(super) fn with(&mut self, text: &str, decide: impl FnOnce(&mut Vec<Part>)) -> &mut Self {
        self.frame(frame(text), decide)
    }

    pub(super) fn frame(&mut self, frame: Frame, decide: impl FnOnce(&mut Vec<Part>)) -> &mut Self {
        let mut parts = parts(decode_frame(&frame).unwrap());
        decide(&mut parts);
        self.writer.frame(Outgoing { frame: Some(frame), parts }, &mut self.out);
        self
    }

    /// Writes parts that came with no frame.
    pub(super) fn insert(&mut self, parts: Vec<Part>) -> &mut Self {
        self.writer.frame(Outgoing { frame: None, parts }, &mut self.out);
        self
    }

    pub(super) fn end(&mut self, kind: EndingKind) -> &mut Self {
        self.writer.end(&ending(kind), &mut self.out);
        self
    }

    pub(super) fn output(&self) -> String {
        joined(&self.out)
    }
}

pub(super) fn joined(out: &[Bytes]) -> String {
    String::from_utf8(out.concat()).unwrap()
}

pub(super) fn ending(kind: EndingKind) -> Ending {
    Ending::new(kind, "stopped by policy")
}

pub(super) fn text(text: &str) -> Part {
    inserted(DeltaKind::Text { channel: Channel::Content, text: text.into() })
}

pub(super) fn call(name: &str, arguments: &str) -> Part {
    inserted(DeltaKind::Call(CallDelta {
        name: Some(name.into()),
        arguments: Some(arguments.into()),
        starts: true,
        ..CallDelta::default()
    }))
}

fn inserted(kind: DeltaKind) -> Part {
    Part { delta: Delta::new(0, Slot::None, kind), key: None, fate: Fate::Inserted }
}

/// Keeps everything.
pub(super) fn keep(_: &mut Part) {}

/// Drops what belongs to some items.
pub(super) fn drop_items(items: &[u32]) -> impl FnMut(&mut Part) {
    move |part| {
        if matches!(part.delta.slot, Slot::At { item, .. } if items.contains(&item)) {
            part.fate = Fate::Dropped;
        }
    }
}

/// Replaces the arguments of a call: its first part carries them, later ones go, copies say them.
pub(super) fn replace(item: u32, id: &str, name: &str, arguments: &str) -> impl FnMut(&mut Part) {
    move |part| {
        if !matches!(part.delta.slot, Slot::At { item: other, .. } if item == other) {
            return;
        }
        match &mut part.delta.kind {
            DeltaKind::Call(call) if call.starts => {
                call.id = Some(id.into());
                call.name = Some(name.into());
                call.arguments = Some(arguments.into());
                part.fate = Fate::Edited;
            }
            DeltaKind::Call(_) | DeltaKind::Annotation { .. } => part.fate = Fate::Dropped,
            DeltaKind::Copy(copy) => {
                copy.body = Some(arguments.into());
                part.fate = Fate::Edited;
            }
            _ => {}
        }
    }
}

/// Turns text into capitals, in deltas and copies.
pub(super) fn shout(part: &mut Part) {
    match &mut part.delta.kind {
        DeltaKind::Text { text, .. } => *text = text.to_uppercase().into(),
        DeltaKind::Copy(copy) => copy.body = copy.body.as_ref().map(|body| body.to_uppercase().into()),
        DeltaKind::Annotation { .. } => {
            part.fate = Fate::Dropped;
            return;
        }
        _ => return,
    }
    part.fate = Fate::Edited;
}
