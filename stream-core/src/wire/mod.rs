//! Wire formats: one place each for reading and writing.
//!
//! A format is two halves. [`WireFormat`] recognises the frames of its API and decodes them into [`Delta`]s; a format keeps
//! no state, so any frame can be decoded at any time. [`Writer`] writes the frames to the client; a writer keeps a record of
//! what was written, and is responsible for the validity of the client's stream (rule 17).

pub mod anthropic;
pub(crate) mod apis;
pub(crate) mod document;
pub mod gemini;
mod holes;
mod memory;
mod numbering;
mod odd;
pub mod openai_chat;
pub mod openai_responses;
mod pieces;
mod ping;
mod quoted;
mod sink;
mod template;
mod turn;
mod writer;

#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Arc, LazyLock};

use bytes::Bytes;

pub use holes::{Fill, Hole};
pub(crate) use memory::{Due, Memory};
pub use odd::Odd;
pub use quoted::Quoted;

use crate::block::BlockKey;
use crate::delta::{Delta, DeltaKind, FinishKind, Slot, Text};
pub use crate::ending::{Ending, EndingKind};
use crate::sse::{Frame, Framing};

/// The streams and whole responses of one API.
///
/// A custom format is a type that implements this trait, and a [`Writer`] beside it. [`Config::format`](crate::Config::format) sets the
/// format of a stream; [`Config::also`](crate::Config::also) adds a format to those that are recognised by their frames. Every policy
/// works on every format. The format below reads and forwards events whose data is a JSON string each; `examples/custom_format`
/// in the repository is a complete format, in newline-delimited JSON, whose writer edits, drops, inserts and refuses.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use stream_core::delta::{Delta, DeltaKind, FinishReason, Slot};
/// use stream_core::sse::Frame;
/// use stream_core::wire::{DecodeError, Decoded, Fate, Outgoing, Traits, WireFormat, Writer, WriterOptions};
/// use stream_core::{Assembler, Channel, Ending, FinishKind};
///
/// #[derive(Debug)]
/// struct Lines;
///
/// impl WireFormat for Lines {
///     fn name(&self) -> &'static str {
///         "lines"
///     }
///
///     // No other format has data that is a string.
///     fn sniff(&self, frame: &Frame) -> bool {
///         frame.data_bytes().is_some_and(|data| data.starts_with(b"\""))
///     }
///
///     fn decode(&self, frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
///         let said: String = serde_json::from_slice(frame.data_bytes().unwrap_or_default())
///             .map_err(|error| DecodeError::json("a string", &error))?;
///         if said == "END" {
///             let stop = FinishReason::new(FinishKind::Stop, "END");
///             into.deltas.push(Delta::new(0, Slot::None, DeltaKind::Finish(stop)));
///             into.deltas.push(Delta::stream(DeltaKind::Terminal));
///         } else if !said.is_empty() {
///             let text = DeltaKind::Text { channel: Channel::Content, text: said.into() };
///             into.deltas.push(Delta::new(0, Slot::Run, text));
///         }
///         Ok(())
///     }
///
///     fn sniff_whole(&self, _body: &[u8]) -> bool {
///         false
///     }
///
///     fn decode_whole(&self, _body: &[u8], _into: &mut Decoded) -> Result<(), DecodeError> {
///         Err(DecodeError::new("a stream", "a whole response"))
///     }
///
///     fn finish_word(&self, _kind: FinishKind) -> Option<&'static str> {
///         None
///     }
///
///     fn traits(&self) -> Traits {
///         Traits::default()
///     }
///
///     fn writer(&self, _options: &WriterOptions) -> Box<dyn Writer> {
///         Box::new(LinesWriter::default())
///     }
/// }
///
/// #[derive(Debug, Default)]
/// struct LinesWriter {
///     ended: bool,
/// }
///
/// impl Writer for LinesWriter {
///     fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
///         self.ended |= outgoing.parts.iter().any(|part| part.delta.kind == DeltaKind::Terminal);
///         match &outgoing.frame {
///             // An untouched frame is written as its bytes.
///             Some(frame) if outgoing.is_untouched() => out.push(frame.raw().clone()),
///             _ => {
///                 for part in outgoing.parts.iter().filter(|part| part.fate != Fate::Dropped) {
///                     if let DeltaKind::Text { text, .. } = &part.delta.kind {
///                         out.push(format!("data: {}\n\n", serde_json::Value::from(&**text)).into());
///                     }
///                 }
///             }
///         }
///     }
///
///     fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
///         if !std::mem::replace(&mut self.ended, true) {
///             let said = format!("data: {}\n\ndata: \"END\"\n\n", serde_json::Value::from(ending.message()));
///             out.push(said.into());
///         }
///     }
///
///     fn keep_alive(&self) -> Bytes {
///         Bytes::from_static(b":\n\n")
///     }
///
///     fn whole(&mut self, body: Outgoing, _ending: Option<&Ending>) -> Bytes {
///         body.frame.map(|frame| frame.raw().clone()).unwrap_or_default()
///     }
///
///     fn ended(&self) -> bool {
///         self.ended
///     }
/// }
///
/// let mut client = Assembler::for_format(Arc::new(Lines));
/// client.push(b"data: \"Hel\"\n\ndata: \"lo.\"\n\ndata: \"END\"\n\n")?;
/// client.finish()?;
/// assert_eq!(client.state().blocks()[0].as_text().unwrap().text(), "Hello.");
/// # Ok::<(), stream_core::Error>(())
/// ```
///
/// # Contract
///
/// - [`decode`](Self::decode) reports deltas in wire order, and reports *everything* a client could read as output:
///   unknown output is [`Opaque`](crate::delta::DeltaKind::Opaque), never nothing.
/// - An empty text, reasoning or argument fragment is not reported, except where it opens a numbered block.
/// - A delta may carry its [site](crate::delta::Delta::site): where its element stands in the data of the frame, or in the whole body. Only the
///   format's own writer reads it.
/// - Malformed JSON, and a known key that stands twice in one object, is a [`DecodeError`].
pub trait WireFormat: fmt::Debug + Send + Sync {
    /// The name of the format in configurations and logs: `openai-chat`, `openai-responses`, `anthropic-messages`, `gemini`.
    fn name(&self) -> &'static str;

    /// The framing of the streams. A format whose streams are lines has to be set with
    /// [`Config::format`](crate::Config::format): bytes are cut into frames before a format can be recognised by a frame.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// Whether this frame can only be of this format. The answer is false for a frame that several formats have (a bare
    /// error, `[DONE]`, a ping).
    fn sniff(&self, frame: &Frame) -> bool;

    /// Decodes a frame that has data. The engine handles comments and frames without data itself.
    ///
    /// # Errors
    ///
    /// When the data is not what the format allows.
    fn decode(&self, frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError>;

    /// Whether this body can only be a whole response of this format.
    fn sniff_whole(&self, body: &[u8]) -> bool;

    /// Decodes a whole, not streamed, response into the same deltas as a stream, explicit ends and a
    /// [`Terminal`](crate::delta::DeltaKind::Terminal) included.
    ///
    /// # Errors
    ///
    /// When the body is not what the format allows.
    fn decode_whole(&self, body: &[u8], into: &mut Decoded) -> Result<(), DecodeError>;

    /// The format's word for `Stop` or `ToolCalls`, where the two words differ. The engine corrects the finish reason with
    /// this word when all calls were dropped, or when the first call was added (rule 18).
    fn finish_word(&self, kind: FinishKind) -> Option<&'static str>;

    /// Turns the concatenated fragments of a completed call into its arguments, where more than concatenation is needed
    /// (Gemini's partial arguments). `None` where the concatenated fragments are the arguments.
    fn join_arguments(&self, fragments: &str) -> Option<String> {
        let _ = fragments;
        None
    }

    /// The properties of the format's streams.
    fn traits(&self) -> Traits;

    /// The values that may differ between two text frames whose meaning differs in the text alone. Without any, every
    /// frame is decoded in full.
    fn holes(&self) -> &'static [Hole] {
        &[]
    }

    /// The strings of a frame's document that are part of no block and that some clients concatenate over the frames of a
    /// stream, and log probabilities, whose tokens some clients concatenate.
    fn pieces<'d>(&self, document: &'d str) -> Vec<Piece<'d>> {
        let _ = document;
        Vec::new()
    }

    /// A writer for one response.
    fn writer(&self, options: &WriterOptions) -> Box<dyn Writer>;
}

/// A string that is part of no block, or log probabilities: some clients concatenate a piece with the pieces of the same name in
/// earlier frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'d> {
    name: PieceName,
    raw: &'d str,
}

impl<'d> Piece<'d> {
    /// The piece of this name. `raw` is the string with its quotes, or the log probabilities as JSON: a slice of the document.
    #[must_use]
    pub const fn new(name: PieceName, raw: &'d str) -> Self {
        Self { name, raw }
    }

    pub(crate) fn name(&self) -> PieceName {
        self.name
    }

    pub(crate) fn raw(&self) -> &'d str {
        self.raw
    }
}

/// The name of a piece: a hash of the path of keys that leads to the piece. Pieces of the same name in several frames belong
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PieceName(u64);

impl PieceName {
    /// The name of the value below this one, under a key or at a position.
    #[must_use]
    pub fn below(self, step: impl Hash) -> Self {
        // The hash is seeded per process, so that an upstream cannot construct two pieces with one name.
        static NAMES: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        Self(NAMES.hash_one((self.0, step)))
    }
}

/// The properties of a format's streams that the engine depends on. All of them are false by default.
///
/// ```
/// use stream_core::wire::Traits;
///
/// let mut traits = Traits::default();
/// traits.text_after_call = true;
/// assert!(!traits.restates);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traits {
    /// Later events repeat the text and arguments of earlier deltas (Responses).
    pub restates: bool,
    /// Text may follow a tool call in one answer. Anthropic refuses the next request if it does.
    pub text_after_call: bool,
    /// The end of bytes after a finish reason is a regular end; otherwise the terminal marker is required (chat accepts
    /// both: many providers send no `[DONE]`).
    pub finish_is_terminal: bool,
    /// Arguments are a JSON value on the wire, so that a replacement has to be a JSON object (Gemini, whole
    /// Anthropic).
    pub arguments_are_json: bool,
    /// Reasoning carries a signature or an id that stands for its text (Anthropic, Responses): the text can be emptied, and
    /// never edited (rule 22).
    pub reasoning_is_signed: bool,
    /// Text and reasoning stand in one list, where a mark alone tells them apart (Gemini): some programs put all of them together.
    pub mixes_reasoning: bool,
}

/// The output of [`WireFormat::decode`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Decoded {
    /// The deltas, in wire order.
    pub deltas: Vec<Delta>,
    /// The id of the response, needed while [`wants_meta`](Self::wants_meta).
    pub id: Option<Text>,
    /// The name of the model, needed while [`wants_meta`](Self::wants_meta).
    pub model: Option<Text>,
    /// Whether id and model are still unknown; when false a decoder need not copy them.
    pub wants_meta: bool,
    /// The reason why the frame is not plain, by itself or after the frames before it (rule 28).
    pub odd: Option<Odd>,
    /// The memory of the frames before, where a policy looks at the stream.
    pub(crate) memory: Memory,
    /// The time at which the frame is passed to the stages.
    pub(crate) due: Due,
}

impl Decoded {
    /// An empty output that needs id and model.
    #[must_use]
    pub fn new() -> Self {
        Self { wants_meta: true, ..Self::default() }
    }

    /// Sets the reason why the frame is not plain; the first reason stays.
    pub(crate) fn mark(&mut self, odd: Option<Odd>) {
        self.odd = self.odd.or(odd);
    }
}

/// The reason why a frame could not be decoded: what was expected and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    expected: String,
    found: String,
    ambiguous: bool,
}

impl DecodeError {
    /// An error that names both sides.
    #[must_use]
    pub fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { expected: expected.into(), found: found.into(), ambiguous: false }
    }

    /// An error for a frame that clients read in different ways, so that the frame has no single meaning to write
    /// (rule 28).
    #[must_use]
    pub fn ambiguous(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { ambiguous: true, ..Self::new(expected, found) }
    }

    /// Whether the frame can be decoded, in several ways.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }

    /// Wraps an error of serde_json. A message that would quote a value of the frame (a value of another type) is reduced
    /// to its line and column.
    #[must_use]
    pub fn json(expected: &str, error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let names_a_field = message.starts_with("duplicate field") || message.starts_with("missing field");
        if error.is_data() && !names_a_field {
            let (line, column) = (error.line(), error.column());
            return Self::new(expected, format!("JSON of another shape at line {line} column {column}"));
        }
        Self::new(expected, message)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for DecodeError {}

/// Writes one response: streamed frames, insertions, endings, or a whole body.
///
/// A writer gets **every** frame in order, also a frame whose parts are all dropped, so that it can keep the token counts,
/// signatures and the opening. An untouched frame is written as its original bytes, unless a number or a copy in the frame has
/// to change because of an earlier edit.
pub trait Writer: fmt::Debug + Send {
    /// Writes a frame whose parts are all decided.
    fn frame(&mut self, frame: Outgoing, out: &mut Vec<Bytes>);

    /// Ends the response early (rule 20). The engine calls this method at most once, and writes nothing afterwards. Nothing
    /// is written if the terminal marker or an error was written before.
    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>);

    /// A keep-alive that this API's clients accept at this point (rule 23).
    fn keep_alive(&self) -> Bytes;

    /// Writes a whole response. With an `ending` the body becomes the API's refusal or error, and only kept parts are
    /// written.
    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes;

    /// Whether an ending was written: the terminal marker or the error of the upstream, or that of [`end`](Self::end).
    fn ended(&self) -> bool;

    /// The number of bytes in frames that wait to be written, because clients would assign their deltas to another block
    /// (rule 28). These bytes count as held.
    fn held(&self) -> usize {
        0
    }

    /// The number of bytes of inserted text that were discarded since the last call of this method: text behind a tool call,
    /// where the format allows none (rule 21).
    fn unplaced(&mut self) -> usize {
        0
    }

    /// Whether a frame with more text of an open, untouched block would be written as its bytes: no frame waits to be
    /// written, and no number or copy has to change.
    ///
    /// While the answer is true, the engine may forward text frames without the writer. It then passes the last of them to
    /// [`frame`](Self::frame), with the concatenated text of all where the format [restates](Traits::restates) text, and discards the
    /// output.
    fn is_plain(&self) -> bool {
        false
    }

    /// As [`is_plain`](Self::is_plain), of a frame that differs from the one before it only in the values of
    /// [holes](WireFormat::holes), where that one was written as its bytes.
    fn is_plain_again(&self) -> bool {
        self.is_plain()
    }

    /// Whether [`set_apart`](Self::set_apart) has an effect: clients of this API tell calls of several choices apart by their
    /// index alone.
    fn sets_apart(&self) -> bool {
        false
    }

    /// Writes a call from here on so that clients which go by its index alone do not join it with the call of another
    /// choice (rule 28).
    fn set_apart(&mut self, _call: BlockKey) {}

    /// The reason why the last frame was written anew although all of its parts were kept: the frame was not plain
    /// (rule 28). The engine calls this method once after each frame.
    fn normalised(&mut self) -> Option<Odd> {
        None
    }
}

/// Settings of a [`Writer`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriterOptions {
    /// The text that is written in place of an answer that was dropped completely, so that no turn is empty (rule 21).
    /// `None` inserts nothing.
    pub empty_notice: Option<Text>,
    /// Whether frames that are not plain are written anew (rule 28). The engine sets this field where an enforced policy
    /// looks at the stream; without such a policy every frame is written as its bytes.
    pub normalise: bool,
    /// Whether the request asked for several choices, so that the client goes by their numbers
    /// ([`Request::choices`](crate::Request::choices)).
    pub several: bool,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self { empty_notice: Some("[withheld by policy]".into()), normalise: false, several: false }
    }
}

/// A frame on its way to the client, every part decided.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outgoing {
    /// The frame of the upstream; `None` for inserted text and calls.
    pub frame: Option<Frame>,
    /// The parts of the frame, in order.
    pub parts: Vec<Part>,
}

impl Outgoing {
    /// Whether every part of the frame is kept.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.frame.is_some() && self.parts.iter().all(|part| part.fate == Fate::Kept)
    }

    /// Whether this is the message of a stage to the next one that a block is complete.
    pub(crate) fn is_completion(&self) -> bool {
        self.frame.is_none() && self.parts.iter().all(|part| part.delta.kind == DeltaKind::Completed)
    }
}

/// One part of a frame, with its fate.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Part {
    /// The delta of the part; where `fate` is [`Edited`](Fate::Edited) or [`Inserted`](Fate::Inserted), the delta to write.
    pub delta: Delta,
    /// The block of the part. Keys are unique in a stream, and all parts of a block have the same key.
    pub key: Option<BlockKey>,
    /// What the writer does with the part.
    pub fate: Fate,
}

impl Part {
    /// Whether the upstream sent the part.
    pub(crate) fn came(&self) -> bool {
        self.fate != Fate::Inserted
    }

    /// The numbered item of the part.
    pub(crate) fn item(&self) -> Option<u32> {
        match self.delta.slot {
            Slot::At { item, .. } => Some(item),
            _ => None,
        }
    }
}

/// What the writer does with a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The part is written as it came.
    Kept,
    /// The part is written with its new delta. The first part of a replaced call carries the name, the id and all of the new
    /// arguments; the later parts of that call are dropped.
    Edited,
    /// The part was not in the upstream's frame: text, or a call with all its arguments, that is written here.
    Inserted,
    /// The part is not written.
    Dropped,
}

/// Removes the part for lines of a frame that are no event: a frame that is not plain is written without such lines
/// (rule 28).
pub(crate) fn without_stray(frame: &Frame, parts: &mut Vec<Part>) {
    if frame.is_stray() {
        parts.retain(|part| !matches!(&part.delta.kind, DeltaKind::Opaque { kind, .. } if &**kind == STRAY));
    }
}

/// The kind of the opaque block for lines that are no event of any format.
pub(crate) const STRAY: &str = "stray";

/// A format shared between streams.
pub type SharedFormat = Arc<dyn WireFormat>;

/// The built-in formats, in the order in which they are tried.
#[must_use]
pub fn built_in() -> Vec<SharedFormat> {
    BUILT_IN.to_vec()
}

/// The built-in formats, once for all streams.
pub(crate) static BUILT_IN: LazyLock<[SharedFormat; 4]> = LazyLock::new(|| {
    [
        Arc::new(openai_chat::OpenAiChat),
        Arc::new(openai_responses::OpenAiResponses),
        Arc::new(anthropic::Anthropic),
        Arc::new(gemini::Gemini),
    ]
});

/// The built-in format of this name.
#[must_use]
pub fn named(name: &str) -> Option<SharedFormat> {
    built_in().into_iter().find(|format| format.name() == name)
}

/// The format of a stream with nothing but comments, bare errors and `[DONE]`, which are the same in all formats.
pub(crate) fn fallback() -> SharedFormat {
    Arc::new(openai_chat::OpenAiChat)
}
