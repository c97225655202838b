//! Streamed answers.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::Value;
use stream_core::sse::Frame;

use super::super::join::{Answered, Join, Mode, data, event};
use super::super::json::{Object, Unreadable, added, quote};
use super::said::Said;
use super::{counts, is_call, later};

/// Joins streams: one `message_start`, blocks numbered on, one `message_delta` with the counts of all, one
/// `message_stop`.
#[derive(Debug, Default)]
pub(in super::super) struct Joiner {
    said: Said,
    /// The counts of the answers before, and of the one under way.
    before: Value,
    usage: Value,
    /// Which answer is under way.
    answer: usize,
    opened: bool,
    has_text: bool,
    /// The number of the next block for the client.
    next: u64,
    /// The client's numbers of the blocks of the answer under way; `None` for those that do not leave.
    numbers: HashMap<u64, Option<u64>>,
}

impl Joiner {
    fn renumbered(
        &mut self,
        frame: &Frame,
        mut payload: Object,
        mode: Mode,
    ) -> Result<Option<Bytes>, Unreadable> {
        let index = payload.number("index").ok_or(Unreadable)?;
        if payload.text("type").as_deref() == Some("content_block_start") {
            let call = payload.object("content_block").ok_or(Unreadable).map(|block| is_call(&block))?;
            let number = if call && mode.strips_calls() {
                None
            } else {
                self.next += 1;
                Some(self.next - 1)
            };
            self.numbers.insert(index, number);
        }
        Ok(match *self.numbers.get(&index).ok_or(Unreadable)? {
            None => None,
            Some(number) if number == index => Some(frame.raw().clone()),
            Some(number) => {
                payload.set("index", number.to_string());
                Some(event(frame.event(), &payload.to_string()))
            }
        })
    }
}

impl Join for Joiner {
    fn read(&mut self, frame: &Frame) -> Result<(), Unreadable> {
        let Some(text) = data(frame)? else { return Ok(()) };
        let payload = Object::parse(text)?;
        let index = payload.number("index");
        match payload.text("type").as_deref() {
            Some("message_start") => {
                let message = payload.object("message").ok_or(Unreadable)?;
                self.usage = counts(&message.value("usage"));
                // Blocks without a number cannot be counted on.
                if !message.items("content").is_empty() {
                    return Err(Unreadable);
                }
            }
            Some("content_block_start") => {
                let block = payload.object("content_block").ok_or(Unreadable)?;
                self.said.start(index.ok_or(Unreadable)?, block);
            }
            Some("content_block_delta") => {
                let delta = payload.object("delta").ok_or(Unreadable)?;
                self.said.delta(index.ok_or(Unreadable)?, &delta);
            }
            Some("message_delta") => self.usage = later(&self.usage, &counts(&payload.value("usage"))),
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, frame: &Frame, mode: Mode, out: &mut Vec<Bytes>) -> Result<(), Unreadable> {
        let raw = frame.raw().clone();
        let Some(text) = data(frame)? else {
            out.push(raw);
            return Ok(());
        };
        let mut payload = Object::parse(text)?;
        let written = match payload.text("type").as_deref() {
            Some("message_start") => (!std::mem::replace(&mut self.opened, true)).then_some(raw),
            Some("content_block_start" | "content_block_delta" | "content_block_stop") => {
                self.renumbered(frame, payload, mode)?
            }
            Some("message_delta") if !mode.keeps_ending() => None,
            Some("message_delta") if self.answer > 0 => {
                let usage = added(&self.before, &self.usage);
                payload.set("usage", usage.to_string());
                Some(event(frame.event(), &payload.to_string()))
            }
            Some("message_stop") if !mode.keeps_ending() => None,
            _ => Some(raw),
        };
        out.extend(written);
        Ok(())
    }

    fn extend(&self, request: &mut Object, answered: &[Answered]) -> Result<(), Unreadable> {
        self.said.extend(request, answered)
    }

    fn next(&mut self) {
        self.has_text |= self.said.has_text();
        self.said = Said::default();
        self.before = added(&self.before, &std::mem::take(&mut self.usage));
        self.answer += 1;
        self.numbers.clear();
    }

    fn say(&mut self, text: &str, out: &mut Vec<Bytes>) {
        let (index, text) = (self.next, quote(text));
        self.next += 1;
        self.has_text = true;
        let named = |name: &str, rest: &str| {
            event(Some(name), &format!(r#"{{"type":"{name}","index":{index}{rest}}}"#))
        };
        out.push(named("content_block_start", r#","content_block":{"type":"text","text":""}"#));
        out.push(named("content_block_delta", &format!(r#","delta":{{"type":"text_delta","text":{text}}}"#)));
        out.push(named("content_block_stop", ""));
    }

    fn stop(&mut self, out: &mut Vec<Bytes>) {
        let usage = match added(&self.before, &self.usage) {
            Value::Null => r#"{"output_tokens":0}"#.to_owned(),
            usage => usage.to_string(),
        };
        let delta = format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"max_tokens","stop_sequence":null}},"usage":{usage}}}"#
        );
        out.push(event(Some("message_delta"), &delta));
        out.push(event(Some("message_stop"), r#"{"type":"message_stop"}"#));
    }

    fn fail(&mut self, message: &str, out: &mut Vec<Bytes>) {
        let message = quote(message);
        let error = format!(r#"{{"type":"error","error":{{"type":"api_error","message":{message}}}}}"#);
        out.push(event(Some("error"), &error));
    }

    fn has_text(&self) -> bool {
        self.has_text || self.said.has_text()
    }

    fn keep_alive(&self) -> Bytes {
        if self.opened {
            return Bytes::from_static(b"event: ping\ndata: {\"type\": \"ping\"}\n\n");
        }
        Bytes::from_static(b": keep-alive\n\n")
    }
}
