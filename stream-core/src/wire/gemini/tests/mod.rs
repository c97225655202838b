//! The format as a whole: bytes in, deltas, fates, bytes out.

mod corpus;
mod endings;
mod partial;
mod read;
mod whole;
mod write;

use bytes::Bytes;

use super::Gemini;
use crate::block::BlockKey;
use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Slot};
use crate::sse::{Frame, Framer};
use crate::wire::{Decoded, Ending, EndingKind, Fate, Outgoing, Part, WireFormat, Writer, WriterOptions};

/// An event with CRLF, as Google sends it.
fn event(data: &str) -> String {
    format!("data: {data}\r\n\r\n")
}

/// An event with one candidate of these parts.
fn says(parts: &str) -> String {
    event(&format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0}}]}}"#))
}

fn frame(bytes: &str) -> Frame {
    let mut framer = Framer::new(1 << 20);
    framer.push(bytes.as_bytes());
    framer.next_frame().unwrap().or_else(|| framer.finish()).unwrap()
}

fn decode(data: &str) -> Vec<Delta> {
    let mut decoded = Decoded::new();
    Gemini.decode(&frame(&event(data)), &mut decoded).unwrap();
    decoded.deltas
}

/// Gives keys as the fold does: a call has one from its opening to its end, a run of text one while it lasts.
#[derive(Debug, Default)]
struct Keys {
    last: u32,
    run: Option<Channel>,
}

impl Keys {
    fn parts(&mut self, deltas: Vec<Delta>) -> Vec<Part> {
        deltas.into_iter().map(|delta| Part { key: self.key(&delta), delta, fate: Fate::Kept }).collect()
    }

    fn key(&mut self, delta: &Delta) -> Option<BlockKey> {
        let opens = match &delta.kind {
            DeltaKind::Text { channel, .. } => self.run.replace(*channel) != Some(*channel),
            DeltaKind::Call(call) => call.starts,
            DeltaKind::Opaque { .. } => true,
            DeltaKind::Stop => false,
            _ => return None,
        };
        if !matches!(delta.kind, DeltaKind::Text { .. }) {
            self.run = None;
        }
        self.last += u32::from(opens);
        Some(BlockKey(self.last))
    }
}

/// A writer under test, and the bytes it wrote.
#[derive(Debug)]
struct Run {
    writer: Box<dyn Writer>,
    keys: Keys,
    out: Vec<Bytes>,
}

impl Run {
    fn new() -> Self {
        Self { writer: Gemini.writer(&WriterOptions::default()), keys: Keys::default(), out: Vec::new() }
    }

    /// Sends a frame through, after `decide` has set the fates of its parts.
    fn frame(mut self, bytes: &str, decide: impl FnOnce(&mut Vec<Part>)) -> Self {
        let frame = frame(bytes);
        let mut decoded = Decoded::new();
        Gemini.decode(&frame, &mut decoded).unwrap();
        let mut parts = self.keys.parts(decoded.deltas);
        decide(&mut parts);
        self.writer.frame(Outgoing { frame: Some(frame), parts }, &mut self.out);
        self
    }

    fn keep(self, bytes: &str) -> Self {
        self.frame(bytes, |_| {})
    }

    fn insert(mut self, parts: Vec<Part>) -> Self {
        self.writer.frame(Outgoing { frame: None, parts }, &mut self.out);
        self
    }

    fn end(mut self, kind: EndingKind) -> Self {
        self.writer.end(&Ending::new(kind, "not allowed"), &mut self.out);
        self
    }

    fn written(&self) -> String {
        String::from_utf8(self.out.concat()).unwrap()
    }
}

/// Writes a whole body after `decide` has set the fates of its parts.
fn whole(body: &str, ending: Option<EndingKind>, decide: impl FnOnce(&mut Vec<Part>)) -> String {
    let mut decoded = Decoded::new();
    Gemini.decode_whole(body.as_bytes(), &mut decoded).unwrap();
    let mut parts = Keys::default().parts(decoded.deltas);
    decide(&mut parts);
    let frame = Some(Frame::whole(Bytes::copy_from_slice(body.as_bytes())));
    let mut writer = Gemini.writer(&WriterOptions::default());
    let ending = ending.map(|kind| Ending::new(kind, "not allowed"));
    let written = writer.whole(Outgoing { frame, parts }, ending.as_ref());
    assert!(writer.ended());
    String::from_utf8(written.to_vec()).unwrap()
}

/// Drops every part of the block that the n-th payload belongs to, its end included.
fn drop_block(parts: &mut [Part], n: usize) {
    let key = parts.iter().filter(|part| part.delta.kind.is_payload()).nth(n).unwrap().key;
    parts.iter_mut().filter(|part| part.key == key).for_each(|part| part.fate = Fate::Dropped);
}

/// Drops all payload and all that follows it.
#[expect(clippy::ptr_arg, reason = "passed by name where a vector is edited")]
fn drop_all(parts: &mut Vec<Part>) {
    parts.iter_mut().filter(|part| part.key.is_some()).for_each(|part| part.fate = Fate::Dropped);
}

/// Gives the call at a position other arguments.
fn replace(part: &mut Part, arguments: &str) {
    let DeltaKind::Call(call) = &mut part.delta.kind else { panic!("expected a call, found {part:?}") };
    call.arguments = Some(arguments.into());
    part.fate = Fate::Edited;
}

/// Gives the text at a position other words.
fn reword(part: &mut Part, words: &str) {
    let DeltaKind::Text { text, .. } = &mut part.delta.kind else { panic!("expected text, found {part:?}") };
    *text = words.into();
    part.fate = Fate::Edited;
}

fn inserted_text(text: &str) -> Part {
    let kind = DeltaKind::Text { channel: Channel::Content, text: text.into() };
    Part { delta: Delta::new(0, Slot::Run, kind), key: Some(BlockKey(900)), fate: Fate::Inserted }
}

fn inserted_call(name: &str, arguments: &str) -> Vec<Part> {
    let call = CallDelta {
        name: Some(name.into()),
        arguments: Some(arguments.into()),
        starts: true,
        ..CallDelta::default()
    };
    let part = |kind| Part {
        delta: Delta::new(0, Slot::Call { index: None }, kind),
        key: Some(BlockKey(901)),
        fate: Fate::Inserted,
    };
    vec![part(DeltaKind::Call(call)), part(DeltaKind::Stop)]
}
