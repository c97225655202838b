//! Events: what a stream holds once it is framed, and the rules of framing.

use serde_json::Value;
use stream_core::sse::{Frame, Framer};

use super::{Deviation, Rule, WireKind, json, report::Log};

/// What an event holds.
#[derive(Debug)]
pub(super) enum Payload {
    /// The marker `[DONE]`.
    Done,
    /// A JSON object.
    Object(Value),
}

/// An event: its `event` line and what its data hold.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: Option<String>,
    pub(super) payload: Payload,
}

/// Frames a stream, checks the framing and hands over the events that can be read.
pub(super) fn each(format: WireKind, bytes: &[u8], log: &mut Log, mut take: impl FnMut(Event, &mut Log)) {
    let mut framer = Framer::new(usize::MAX);
    framer.push(bytes);
    let mut count = 0;
    while let Some(frame) = framer.next_frame().ok().flatten().or_else(|| framer.finish()) {
        let lines = Lines::of(&frame);
        log.event = count + 1;
        lines.check(format, &frame, log);
        if lines.is_event {
            count += 1;
            if let Some(event) = read(&frame, log) {
                take(event, log);
            }
        }
    }
    log.event = count;
}

/// Reads a JSON object, or says why it is none.
pub(super) fn object(bytes: &[u8], log: &mut Log) -> Option<Value> {
    match json::strict(bytes) {
        Ok(read) => {
            for key in read.twice {
                log.broken(
                    Rule::DuplicateKey,
                    format!("expected each key once in an object, found {key:?} twice"),
                );
            }
            if !read.value.is_object() {
                let found = json::brief(Some(&read.value));
                log.broken(Rule::Shape, format!("expected an object, found {found}"));
                return None;
            }
            Some(read.value)
        }
        Err(error) => {
            log.broken(Rule::MalformedJson, format!("expected one JSON value: {error}"));
            None
        }
    }
}

fn read(frame: &Frame, log: &mut Log) -> Option<Event> {
    let Some(data) = frame.data() else {
        if frame.event().is_some() {
            log.broken(Rule::EventLine, "expected data beside the event line, found none");
        }
        return None;
    };
    let name = frame.event().map(str::to_owned);
    if data.trim_ascii() == b"[DONE]" {
        border(frame, true, log);
        return Some(Event { name, payload: Payload::Done });
    }
    // The rest of an event that was cut cannot be judged.
    let whole = frame.is_terminated() || json::strict(&data).is_ok();
    border(frame, whole, log);
    let payload = Payload::Object(whole.then(|| object(&data, log)).flatten()?);
    Some(Event { name, payload })
}

fn border(frame: &Frame, whole: bool, log: &mut Log) {
    if frame.is_terminated() {
        return;
    }
    if whole {
        let message = "expected a blank line after the last event, found the end";
        log.deviates(Rule::EventBorder, Deviation::NoFinalBorder, message);
    } else {
        log.broken(Rule::EventBorder, "expected the rest of the event, found the end");
    }
}

/// The lines of a frame, counted by kind.
struct Lines<'a> {
    comments: Vec<&'a [u8]>,
    stray: Vec<&'a [u8]>,
    /// Whether a client that follows the standard, or tries to, has something to read.
    is_event: bool,
}

impl<'a> Lines<'a> {
    fn of(frame: &'a Frame) -> Self {
        let mut lines = Self { comments: Vec::new(), stray: Vec::new(), is_event: false };
        let raw = frame.raw().strip_prefix(b"\xef\xbb\xbf").unwrap_or(frame.raw());
        for line in raw.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_empty()) {
            let name = line.split(|byte| *byte == b':').next().unwrap_or(line);
            match name {
                b"" => lines.comments.push(line),
                b"data" | b"event" => lines.is_event = true,
                b"id" | b"retry" => {}
                _ => lines.stray.push(line),
            }
        }
        lines.is_event |= !lines.stray.is_empty();
        lines
    }

    fn check(&self, format: WireKind, frame: &Frame, log: &mut Log) {
        if format == WireKind::Gemini {
            for comment in &self.comments {
                let found = json::quote(&String::from_utf8_lossy(comment));
                log.broken(Rule::Comment, format!("expected no comment, found {found}"));
            }
        }
        for line in &self.stray {
            let found = json::quote(&String::from_utf8_lossy(line));
            let message = format!("expected a field or a comment, found {found}");
            log.deviates(Rule::StrayLine, Deviation::StrayLine, message);
        }
        if std::str::from_utf8(frame.raw()).is_err() {
            log.broken(Rule::Shape, "expected UTF-8, found other bytes");
        }
    }
}
