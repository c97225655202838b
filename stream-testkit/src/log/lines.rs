//! From chunks, as lines or as an array, to the bytes of a stream.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::{LogError, Place};
use super::splits::millis;
use super::{ChunkLog, DONE, Form, Piece};
use crate::WireKind;
use crate::kind::{Head, sse_event};

/// Reads one chunk per line; blank lines count for nothing.
pub(super) fn read_lines(name: &str, text: &str) -> Result<ChunkLog, LogError> {
    let mut stream = Stream::new(name);
    for (index, line) in text.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let number = index + 1;
        if line.trim().is_empty() {
            continue;
        }
        let expected = "one chunk per line, as a JSON object";
        let value: &RawValue =
            serde_json::from_str(line).map_err(|error| LogError::json(name, number, expected, &error))?;
        let place = Place { line: number, column: 1 + line.len() - line.trim_start().len() };
        let entry = Entry::read(value.get())
            .ok_or_else(|| LogError::at(name, place, expected, describe(value.get())))?;
        stream.push(place, &entry)?;
    }
    stream.finish(Form::JsonLines)
}

/// Reads an array of chunks.
pub(super) fn read_array(name: &str, text: &str) -> Result<ChunkLog, LogError> {
    let expected = "an array of chunks";
    let chunks: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|error| LogError::json(name, 1, expected, &error))?;
    let mut stream = Stream::new(name);
    let (mut known, mut place) = (0, Place::START);
    for chunk in chunks {
        // A raw value borrows from the text, so the distance of their starts is its place. Lines are counted once.
        let offset = (chunk.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        place = place.behind(&text.as_bytes()[known..offset]);
        known = offset;
        let entry = Entry::read(chunk.get())
            .ok_or_else(|| LogError::at(name, place, "a chunk, as a JSON object", describe(chunk.get())))?;
        stream.push(place, &entry)?;
    }
    stream.finish(Form::JsonArray)
}

/// A chunk, and its time if it has one.
#[derive(Debug)]
struct Entry {
    at: Option<f64>,
    /// The event's data: JSON on one line, or what a string said.
    data: String,
}

impl Entry {
    /// `None` for what is no object.
    fn read(json: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Timed<'a> {
            #[serde(alias = "ms")]
            t_ms: f64,
            #[serde(borrow, alias = "data")]
            chunk: &'a RawValue,
        }
        if !json.starts_with('{') {
            return None;
        }
        let Ok(Timed { t_ms, chunk }) = serde_json::from_str(json) else {
            return Some(Self { at: None, data: on_one_line(json) });
        };
        let data = if chunk.get().starts_with('"') {
            serde_json::from_str(chunk.get()).ok()?
        } else {
            on_one_line(chunk.get())
        };
        Some(Self { at: Some(t_ms), data })
    }
}

/// A stream under construction.
#[derive(Debug)]
struct Stream<'a> {
    name: &'a str,
    body: Vec<u8>,
    pieces: Vec<Piece>,
    /// The API, and the line that told it.
    kind: Option<(WireKind, usize)>,
    /// Whether lines have times, and the last one.
    timed: Option<bool>,
    at: Duration,
    finished: bool,
    done: bool,
}

impl<'a> Stream<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            body: Vec::new(),
            pieces: Vec::new(),
            kind: None,
            timed: None,
            at: Duration::ZERO,
            finished: false,
            done: false,
        }
    }

    fn push(&mut self, place: Place, entry: &Entry) -> Result<(), LogError> {
        let unexpected = |expected: String, found: String| LogError::at(self.name, place, expected, found);
        match (self.timed, entry.at) {
            (Some(true), None) => {
                return Err(unexpected("a chunk with its time, as before".into(), "one without".into()));
            }
            (Some(false), Some(_)) => {
                return Err(unexpected("a chunk without a time, as before".into(), "one with".into()));
            }
            (_, at) => self.timed = Some(at.is_some()),
        }
        if let Some(found) = entry.at {
            match millis(found) {
                Some(at) if at >= self.at => self.at = at,
                _ => {
                    let least = self.at.as_secs_f64() * 1000.0;
                    return Err(unexpected(format!("a time of at least {least} ms"), format!("{found} ms")));
                }
            }
        }
        let head = Head::of(&entry.data);
        match (self.kind, head.kind()) {
            (None, Some(kind)) => self.kind = Some((kind, place.line)),
            (Some((kind, line)), Some(other)) if other != kind => {
                let expected = format!("a chunk of {kind}, as on line {line}");
                return Err(unexpected(expected, format!("one of {other}")));
            }
            _ => {}
        }
        self.finished |= head.finishes_chat();
        self.done |= entry.data == DONE;
        self.event(head.event_type(), &entry.data);
        Ok(())
    }

    fn event(&mut self, event_type: &str, data: &str) {
        let event = sse_event(self.kind.map(|(kind, _)| kind), event_type, data);
        self.body.extend_from_slice(event.as_bytes());
        self.pieces.push(Piece { at: self.at, len: event.len() });
    }

    fn finish(mut self, form: Form) -> Result<ChunkLog, LogError> {
        let Some((kind, _)) = self.kind else {
            let names = WireKind::ALL.map(WireKind::name).join(", ");
            let expected = format!("chunks of one of {names}");
            return Err(LogError::at(self.name, Place::START, expected, "none that tells its API"));
        };
        if kind == WireKind::OpenAiChat && self.timed == Some(false) && self.finished && !self.done {
            self.event("", DONE);
        }
        Ok(ChunkLog {
            name: self.name.to_owned(),
            form,
            kind: Some(kind),
            body: self.body.into(),
            pieces: self.pieces,
            recorded_cuts: false,
            truncated: false,
        })
    }
}

/// JSON without its line breaks and the white space after them; in strings they are escaped, so none is lost.
fn on_one_line(json: &str) -> String {
    json.split(['\n', '\r']).map(str::trim).collect()
}

/// What a JSON value is.
fn describe(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}
