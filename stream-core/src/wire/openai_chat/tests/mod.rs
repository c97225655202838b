//! Tests, and the small driver they share: synthetic frames, decoded, with fates set by hand.

mod corpus;
mod endings;
mod read;
mod whole;
mod write;

use bytes::Bytes;

use super::OpenAiChat;
use crate::block::BlockKey;
use crate::delta::{CallDelta, Channel, Delta, DeltaKind, FinishKind, FinishReason, Slot};
use crate::sse::{Frame, Framer};
use crate::wire::{Decoded, Ending, Fate, Outgoing, Part, WireFormat, Writer, WriterOptions};

/// The one frame of this text.
fn frame(sse: &str) -> Frame {
    let mut framer = Framer::new(1 << 20);
    framer.push(sse.as_bytes());
    framer.next_frame().unwrap().or_else(|| framer.finish()).unwrap()
}

fn decode(sse: &str) -> Vec<Delta> {
    let mut decoded = Decoded::new();
    OpenAiChat.decode(&frame(sse), &mut decoded).unwrap();
    decoded.deltas
}

/// A chunk with the usual envelope.
fn chunk(choices: &str) -> String {
    format!(
        "data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{choices}]}}\n\n"
    )
}

/// A chunk of choice 0.
fn delta(delta: &str) -> String {
    chunk(&format!("{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}"))
}

/// A chunk that finishes choice 0.
fn finish(reason: &str) -> String {
    chunk(&format!("{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}"))
}

/// The opening of a tool call, with its name spelled after its index.
fn open_call(index: u64, arguments: &str) -> String {
    delta(&format!(
        "{{\"tool_calls\":[{{\"index\":{index},\"id\":\"id{index}\",\"type\":\"function\",\"function\":{{\"name\":\"f{index}\",\"arguments\":{arguments:?}}}}}]}}"
    ))
}

fn more_call(index: u64, arguments: &str) -> String {
    delta(&format!("{{\"tool_calls\":[{{\"index\":{index},\"function\":{{\"arguments\":{arguments:?}}}}}]}}"))
}

/// Calls are told apart by choice and index, texts by choice and channel.
fn part(delta: Delta) -> Part {
    let choice = delta.choice.unwrap_or(0) * 100;
    let key = match (&delta.kind, delta.slot) {
        (DeltaKind::Call(_), Slot::Call { index }) => {
            Some(choice + u32::try_from(index.unwrap_or(0)).unwrap())
        }
        (DeltaKind::Text { channel, .. }, _) => Some(choice + 90 + *channel as u32),
        _ => None,
    };
    Part { delta, key: key.map(BlockKey), fate: Fate::Kept }
}

fn inserted_text(text: &str) -> Part {
    let kind = DeltaKind::Text { channel: Channel::Content, text: text.into() };
    Part { delta: Delta::new(0, Slot::Run, kind), key: Some(BlockKey(1000)), fate: Fate::Inserted }
}

fn inserted_call(name: &str, arguments: &str) -> Part {
    let call = CallDelta {
        id: Some("new".into()),
        name: Some(name.into()),
        arguments: Some(arguments.into()),
        starts: true,
        ..CallDelta::default()
    };
    let delta = Delta::new(0, Slot::Call { index: None }, DeltaKind::Call(call));
    Part { delta, key: Some(BlockKey(1001)), fate: Fate::Inserted }
}

fn set_text(part: &mut Part, new: &str) {
    if let DeltaKind::Text { text, .. } = &mut part.delta.kind {
        *text = new.into();
    }
    part.fate = Fate::Edited;
}

fn set_arguments(part: &mut Part, new: &str) {
    if let DeltaKind::Call(call) = &mut part.delta.kind {
        call.arguments = Some(new.into());
    }
    part.fate = Fate::Edited;
}

fn set_finish(part: &mut Part, kind: FinishKind) {
    let word = OpenAiChat.finish_word(kind).unwrap();
    part.delta.kind = DeltaKind::Finish(FinishReason::new(kind, word));
    part.fate = Fate::Edited;
}

fn drop_payload(parts: &mut Vec<Part>) {
    for part in parts {
        if part.delta.kind.is_payload() {
            part.fate = Fate::Dropped;
        }
    }
}

fn drop_all(parts: &mut Vec<Part>) {
    for part in parts {
        part.fate = Fate::Dropped;
    }
}

fn refuse(message: &str) -> Ending {
    Ending::refuse(message)
}

fn error(message: &str) -> Ending {
    Ending::error(message)
}

/// A writer and what it has written.
struct Run {
    writer: Box<dyn Writer>,
    out: Vec<Bytes>,
}

impl Run {
    fn new() -> Self {
        Self { writer: OpenAiChat.writer(&WriterOptions::default()), out: Vec::new() }
    }

    /// A frame all of whose parts are kept.
    fn keep(&mut self, sse: &str) -> &mut Self {
        self.with(sse, |_| {})
    }

    /// A frame whose payload is dropped.
    fn lose(&mut self, sse: &str) -> &mut Self {
        self.with(sse, drop_payload)
    }

    fn with(&mut self, sse: &str, edit: impl FnOnce(&mut Vec<Part>)) -> &mut Self {
        let mut parts = decode(sse).into_iter().map(part).collect();
        edit(&mut parts);
        self.writer.frame(Outgoing { frame: Some(frame(sse)), parts }, &mut self.out);
        self
    }

    /// A frame made here.
    fn made(&mut self, parts: Vec<Part>) -> &mut Self {
        self.writer.frame(Outgoing { frame: None, parts }, &mut self.out);
        self
    }

    fn end(&mut self, ending: &Ending) -> &mut Self {
        self.writer.end(ending, &mut self.out);
        self
    }

    #[track_caller]
    fn wrote(&mut self, expected: &[&str]) {
        let written = String::from_utf8(std::mem::take(&mut self.out).concat()).unwrap();
        assert_eq!(written, expected.concat());
    }
}

const DONE: &str = "data: [DONE]\n\n";
