//! Chunk logs: responses of a model, recorded or written by hand, as files.
//!
//! | form | what the file holds | what it keeps |
//! |---|---|---|
//! | [`Form::Sse`] | the bytes of a streamed body; beside it, if known, `<name>.splits.json` | every byte, cuts and times |
//! | [`Form::JsonLines`] | one chunk per line, bare or with its time | events and times |
//! | [`Form::JsonArray`] | an array of chunks, as SDKs dump them | events |
//! | [`Form::Whole`] | the body of a response that was not streamed | every byte |
//!
//! A sidecar is `{"chunk_bytes":[345,626],"chunk_timings_ms":[25,5]}`: the length of each network chunk, and how long
//! after the one before it (the first: after the request) it came. The times may be left out. `"truncated":true` says that
//! the recording stopped before the response did.
//!
//! A line with its time is `{"t_ms":12,"chunk":{…}}`, which is also what is written; `{"ms":12,"data":{…}}` is read
//! too. The time counts from the start. A chunk may be a string, which then is the event's data: `"[DONE]"`.
//!
//! # From chunks to bytes
//!
//! Chunks become `data: …` and a blank line, with CR LF for Gemini; where the API names its events (Responses,
//! Anthropic), `event: <type>` comes before it. Dumps of SDKs never hold chat's `data: [DONE]`: it is added to chat
//! chunks without times if one of them has a finish reason and the marker is not there. A log without a finish
//! reason is a cut stream and stays one; to lines with times nothing is ever added.

mod error;
mod lines;
mod read;
mod splits;
mod write;

use std::time::Duration;

use bytes::Bytes;
use stream_core::Config;
use stream_core::sse::Framer;

pub use self::error::LogError;
use crate::WireKind;
use crate::conformance::{check, check_whole};

/// A recorded response: bytes, cuts of the network and times.
///
/// ```
/// use std::time::Duration;
/// use stream_testkit::{ChunkLog, Form, WireKind};
///
/// let log = ChunkLog::parse(
///     "hello.jsonl",
///     br#"{"t_ms":5,"chunk":{"object":"chat.completion.chunk","choices":[{"delta":{"content":"Hi"}}]}}
/// {"t_ms":9,"chunk":"[DONE]"}
/// "#,
/// )?;
/// assert_eq!(log.form(), Form::JsonLines);
/// assert_eq!(log.kind(), Some(WireKind::OpenAiChat));
/// let (time, bytes) = log.chunks().last().unwrap();
/// assert_eq!((time, &bytes[..]), (Duration::from_millis(9), &b"data: [DONE]\n\n"[..]));
/// # Ok::<(), stream_testkit::LogError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkLog {
    name: String,
    form: Form,
    kind: Option<WireKind>,
    body: Bytes,
    pieces: Vec<Piece>,
    recorded_cuts: bool,
    truncated: bool,
}

impl ChunkLog {
    /// Creates the log of a streamed response from its network chunks, each with the time since the request.
    pub fn from_chunks(name: impl Into<String>, chunks: impl IntoIterator<Item = (Duration, Bytes)>) -> Self {
        let mut body = Vec::new();
        let mut pieces = Vec::new();
        for (at, bytes) in chunks {
            body.extend_from_slice(&bytes);
            pieces.push(Piece { at, len: bytes.len() });
        }
        let kind = kind_of_stream(&body);
        Self {
            name: name.into(),
            form: Form::Sse,
            kind,
            body: body.into(),
            pieces,
            recorded_cuts: true,
            truncated: false,
        }
    }

    /// A response that was not streamed.
    pub fn from_whole(name: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let kind = std::str::from_utf8(&body).ok().and_then(|text| crate::kind::Head::of(text).kind());
        let pieces = vec![Piece { at: Duration::ZERO, len: body.len() }];
        Self {
            name: name.into(),
            form: Form::Whole,
            kind,
            body,
            pieces,
            recorded_cuts: false,
            truncated: false,
        }
    }

    /// The name of the log: the path of its file, or a given name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The form it was read from. [`Form::Sse`] and [`Form::Whole`] for logs that never were a file.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The API whose response this is, if the bytes tell.
    #[must_use]
    pub fn kind(&self) -> Option<WireKind> {
        self.kind
    }

    /// Settings for a request that asked for as many choices as the response has: only such a client goes by their
    /// numbers (rule 28).
    pub fn asked_for(&self, config: Config) -> Config {
        let Some(kind) = self.kind else { return config };
        let check = if self.is_whole() { check_whole } else { check };
        match u32::try_from(check(kind, self.bytes()).view().choices.len()) {
            Ok(choices) if choices > 1 => {
                let request = config.requested().clone().choices(choices);
                config.request(request)
            }
            _ => config,
        }
    }

    /// Returns whether the response is a whole one, not streamed.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.form == Form::Whole
    }

    /// Returns whether the cuts are those of a network. Else [`chunks`](Self::chunks) gives one piece for each event.
    #[must_use]
    pub fn has_recorded_cuts(&self) -> bool {
        self.recorded_cuts
    }

    /// Returns whether the recording stopped before the end of the response.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Marks the log as one whose recording stopped before the response did.
    pub(crate) fn mark_truncated(&mut self) {
        self.truncated = true;
    }

    /// The bytes of the response's body.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.body
    }

    /// The network chunks in order, each with the time since the request at which it came (zero if no times are
    /// known).
    pub fn chunks(&self) -> impl Iterator<Item = (Duration, Bytes)> + '_ {
        let mut start = 0;
        self.pieces.iter().map(move |piece| {
            let end = start + piece.len;
            let bytes = self.body.slice(start..end);
            start = end;
            (piece.at, bytes)
        })
    }
}

/// The form of a log's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// The bytes of a streamed body.
    Sse,
    /// One chunk per line, as JSON.
    JsonLines,
    /// An array of chunks.
    JsonArray,
    /// A response that was not streamed.
    Whole,
}

/// A network chunk: when it came, and how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    at: Duration,
    len: usize,
}

/// The frames of a body, as long as they may be.
pub(crate) fn frames(body: &[u8]) -> impl Iterator<Item = stream_core::sse::Frame> {
    let mut framer = Framer::new(usize::MAX);
    framer.push(body);
    std::iter::from_fn(move || framer.finish())
}

/// The API of the first event that tells it.
fn kind_of_stream(body: &[u8]) -> Option<WireKind> {
    frames(body).find_map(|frame| {
        let data = frame.data()?;
        crate::kind::Head::of(std::str::from_utf8(&data).ok()?).kind()
    })
}

/// What ends a chat stream.
const DONE: &str = "[DONE]";
