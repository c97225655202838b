//! The format, read and written. Streams are written here by hand; recorded ones are read where they lie.

mod corpus;
mod endings;
mod numbers;
mod opening;
mod read;
mod whole;
mod write;

use bytes::Bytes;

use super::Anthropic;
use crate::block::BlockKey;
use crate::delta::{CallDelta, Channel, Delta, DeltaKind, FinishKind, FinishReason, Slot};
use crate::sse::{Frame, Framer};
use crate::wire::{
    DecodeError, Decoded, Ending, EndingKind, Fate, Outgoing, Part, WireFormat, Writer, WriterOptions,
};

/// What a client has got so far.
#[derive(Debug)]
struct Client {
    writer: Box<dyn Writer>,
    got: Vec<u8>,
}

impl Client {
    fn new() -> Self {
        Self { writer: Anthropic.writer(&WriterOptions::default()), got: Vec::new() }
    }

    /// Sends events as they came.
    fn send(self, events: impl AsRef<str>) -> Self {
        self.send_as(events, |_| {})
    }

    /// Sends events of which nothing leaves.
    fn drop(self, events: impl AsRef<str>) -> Self {
        self.send_as(events, |parts| set(parts, Fate::Dropped))
    }

    /// Sends events with their parts decided by `decide`.
    fn send_as(mut self, events: impl AsRef<str>, decide: impl Fn(&mut Vec<Part>)) -> Self {
        for frame in frames(events.as_ref()) {
            let mut parts = parts(&frame);
            decide(&mut parts);
            self.write(Outgoing { frame: Some(frame), parts });
        }
        self
    }

    fn insert(mut self, part: Part) -> Self {
        self.write(Outgoing { frame: None, parts: vec![part] });
        self
    }

    fn end(mut self, kind: EndingKind) -> Self {
        let mut out = Vec::new();
        self.writer.end(&Ending::new(kind, "stopped"), &mut out);
        self.take(&out);
        self
    }

    fn write(&mut self, outgoing: Outgoing) {
        let mut out = Vec::new();
        self.writer.frame(outgoing, &mut out);
        self.take(&out);
    }

    fn take(&mut self, out: &[Bytes]) {
        self.got.extend(out.concat());
    }

    #[track_caller]
    fn got(&self, expected: impl AsRef<str>) {
        assert_eq!(String::from_utf8_lossy(&self.got), expected.as_ref());
    }
}

fn frames(events: &str) -> Vec<Frame> {
    let mut framer = Framer::new(1 << 20);
    framer.push(events.as_bytes());
    let mut frames = Vec::new();
    while let Some(frame) = framer.next_frame().unwrap() {
        frames.push(frame);
    }
    frames.extend(framer.finish());
    frames
}

fn decode(event: &str) -> Result<Vec<Delta>, DecodeError> {
    let mut decoded = Decoded::new();
    Anthropic.decode(&frames(event)[0], &mut decoded)?;
    Ok(decoded.deltas)
}

/// The parts of a frame, all kept. A block's key is its number, so that no two blocks of one test share one.
fn parts(frame: &Frame) -> Vec<Part> {
    let mut decoded = Decoded::new();
    Anthropic.decode(frame, &mut decoded).unwrap();
    decoded.deltas.into_iter().map(kept).collect()
}

fn kept(delta: Delta) -> Part {
    let key = match delta.slot {
        Slot::At { item, .. } => Some(BlockKey(item)),
        _ => None,
    };
    Part { delta, key, fate: Fate::Kept }
}

fn set(parts: &mut [Part], fate: Fate) {
    parts.iter_mut().for_each(|part| part.fate = fate);
}

/// Sets the fate of everything of the block at `item`.
fn set_block(parts: &mut [Part], item: u32, fate: Fate) {
    for part in parts.iter_mut().filter(|part| part.delta.slot == Slot::item(item)) {
        part.fate = fate;
    }
}

/// Makes every text among the parts say `new`.
fn edit_text(parts: &mut [Part], new: &str) {
    for part in parts {
        if let DeltaKind::Text { text, .. } = &mut part.delta.kind {
            *text = new.into();
            part.fate = Fate::Edited;
        }
    }
}

/// Makes every call among the parts another one.
fn edit_call(parts: &mut [Part], name: &str, arguments: &str) {
    for part in parts {
        if let DeltaKind::Call(call) = &mut part.delta.kind {
            call.name = Some(name.into());
            call.arguments = Some(arguments.into());
            part.fate = Fate::Edited;
        }
    }
}

/// Corrects the finish, as the fold does when all calls were dropped.
fn edit_finish(parts: &mut [Part], kind: FinishKind) {
    for part in parts {
        if let DeltaKind::Finish(reason) = &mut part.delta.kind {
            *reason = FinishReason::new(kind, Anthropic.finish_word(kind).unwrap());
            part.fate = Fate::Edited;
        }
    }
}

fn inserted(kind: DeltaKind) -> Part {
    Part { delta: Delta::new(0, Slot::None, kind), key: Some(BlockKey(1000)), fate: Fate::Inserted }
}

fn inserted_text(text: &str) -> Part {
    inserted(DeltaKind::Text { channel: Channel::Content, text: text.into() })
}

fn inserted_call(name: &str, arguments: &str) -> Part {
    inserted(DeltaKind::Call(CallDelta {
        id: Some("toolu_new".into()),
        name: Some(name.into()),
        arguments: Some(arguments.into()),
        starts: true,
        ..CallDelta::default()
    }))
}

fn event(kind: &str, data: &str) -> String {
    format!("event: {kind}\ndata: {data}\n\n")
}

/// Upstream events. The spaces before the last brace are Anthropic's own padding; only bytes that were not written
/// anew have them.
fn message_start() -> String {
    event(
        "message_start",
        r#"{"type":"message_start","message":{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}  }"#,
    )
}

fn start_text(index: u32) -> String {
    start(index, r#"{"type":"text","text":""}"#)
}

fn start_thinking(index: u32) -> String {
    start(index, r#"{"type":"thinking","thinking":"","signature":""}"#)
}

fn start_call(index: u32, name: &str) -> String {
    start(index, &format!(r#"{{"type":"tool_use","id":"toolu_{name}","name":"{name}","input":{{}}}}"#))
}

fn start(index: u32, block: &str) -> String {
    event(
        "content_block_start",
        &format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}  }}"#),
    )
}

fn text(index: u32, text: &str) -> String {
    delta(index, &format!(r#"{{"type":"text_delta","text":"{text}"}}"#))
}

fn thinking(index: u32, text: &str) -> String {
    delta(index, &format!(r#"{{"type":"thinking_delta","thinking":"{text}"}}"#))
}

fn signature(index: u32) -> String {
    delta(index, r#"{"type":"signature_delta","signature":"c2ln"}"#)
}

/// `json` is written with `'` for `"`.
fn input(index: u32, json: &str) -> String {
    let json = json.replace('\'', r#"\""#);
    delta(index, &format!(r#"{{"type":"input_json_delta","partial_json":"{json}"}}"#))
}

fn delta(index: u32, delta: &str) -> String {
    event(
        "content_block_delta",
        &format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}  }}"#),
    )
}

fn stop(index: u32) -> String {
    event("content_block_stop", &format!(r#"{{"type":"content_block_stop","index":{index}  }}"#))
}

fn finish(reason: &str) -> String {
    event(
        "message_delta",
        &format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":7}}  }}"#
        ),
    )
}

fn message_stop() -> String {
    event("message_stop", r#"{"type":"message_stop"  }"#)
}

fn ping() -> String {
    event("ping", r#"{"type": "ping"}"#)
}

/// An event as the writer makes it: without the padding.
fn anew(event: &str) -> String {
    event.replace("  }\n", "}\n")
}

/// A text block as the writer makes it.
fn made_text(index: u32, said: &str) -> String {
    anew(&(start_text(index) + &text(index, said) + &stop(index)))
}

/// The end of a refused message.
fn refusal(usage: &str) -> String {
    event(
        "message_delta",
        &format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"refusal","stop_sequence":null,"stop_details":{{"type":"refusal","category":null,"explanation":"stopped"}}}},"usage":{usage}}}"#
        ),
    ) + &anew(&message_stop())
}

fn error() -> String {
    event("error", r#"{"type":"error","error":{"type":"blocked_by_policy","message":"stopped"}}"#)
}
