//! Wire formats: one place each for reading and writing.
//!
//! A format is two halves. [`WireFormat`] reads: it says whether a frame is its own and turns frames into
//! [`Delta`]s; it keeps no state, so any frame can be read at any time. [`Writer`] writes: it owns the validity of
//! what the client gets, and knows what has really left (rule 17).

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

use crate::block::BlockKey;
use crate::delta::{Delta, DeltaKind, FinishKind, Slot, Text};
pub use crate::ending::{Ending, EndingKind};
use crate::sse::{Frame, Framing};
use crate::{json, spelling};

/// How one API writes its streams and whole responses.
///
/// A format of one's own is a type that implements this trait, beside a [`Writer`]. The stream is told of it with
/// [`Config::format`](crate::Config::format) (named) or [`Config::also`](crate::Config::also) (found from its frames); every policy then
/// works on it. Here is a format of events whose data is a JSON string each, and which can be read and passed on; `examples/custom_format`
/// in the repository is a complete one, in newline-delimited JSON, with a writer that edits, drops, inserts and refuses.
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
///             // What nobody touched leaves as its bytes.
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
///   what it does not know is [`Opaque`](crate::delta::DeltaKind::Opaque), never nothing.
/// - An empty text, reasoning or argument fragment is not reported, except where it opens a numbered block.
/// - A delta may carry its [site](crate::delta::Delta::site): where its element stands in the data of the frame, or in the whole body. Only the
///   format's own writer reads it.
/// - Malformed JSON, and a known key that stands twice in one object, is a [`DecodeError`].
pub trait WireFormat: fmt::Debug + Send + Sync {
    /// The name by which hosts and logs know it: `openai-chat`, `openai-responses`, `anthropic-messages`, `gemini`.
    fn name(&self) -> &'static str;

    /// Where the frames of its streams end. A format whose streams are lines has to be named
    /// ([`Config::format`](crate::Config::format)): bytes are cut into frames before a frame can tell its format.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// Whether this frame can only be of this format. A frame that several formats know (a bare error, `[DONE]`,
    /// a ping) answers false.
    fn sniff(&self, frame: &Frame) -> bool;

    /// Reads a frame that has data. Comments and frames without data never come here.
    ///
    /// # Errors
    ///
    /// When the data is not what the format allows.
    fn decode(&self, frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError>;

    /// Whether this body can only be a whole response of this format.
    fn sniff_whole(&self, body: &[u8]) -> bool;

    /// Reads a whole, not streamed, response into the same deltas as a stream, explicit ends and a
    /// [`Terminal`](crate::delta::DeltaKind::Terminal) included.
    ///
    /// # Errors
    ///
    /// When the body is not what the format allows.
    fn decode_whole(&self, body: &[u8], into: &mut Decoded) -> Result<(), DecodeError>;

    /// The format's word for `Stop` or `ToolCalls`, where it has a different one for each; what the fold corrects
    /// finish reasons with when all calls were dropped or the first one was added (rule 18).
    fn finish_word(&self, kind: FinishKind) -> Option<&'static str>;

    /// Turns the concatenated fragments of a completed call into its arguments, where fragments are not simply
    /// concatenated (Gemini's partial arguments). `None`: they are what they are.
    fn join_arguments(&self, fragments: &str) -> Option<String> {
        let _ = fragments;
        None
    }

    /// What its streams are like.
    fn traits(&self) -> Traits;

    /// The values that may differ between two frames with one text each, such that they say the same but for the text.
    /// Without any, every frame is read in full.
    fn holes(&self) -> &'static [Hole] {
        &[]
    }

    /// Strings of a frame's document that no block shows, and that some clients put together over the frames of a stream, and
    /// log probabilities, whose tokens they put together.
    fn pieces<'d>(&self, document: &'d str) -> Vec<Piece<'d>> {
        let _ = document;
        Vec::new()
    }

    /// A writer for one response.
    fn writer(&self, options: &WriterOptions) -> Box<dyn Writer>;
}

/// A string that no block shows, or log probabilities, which some clients put together with those of the same name in the
/// frames before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'d> {
    name: PieceName,
    raw: &'d str,
}

impl<'d> Piece<'d> {
    /// The piece of this name: `raw` is the string with its quotes, or the log probabilities as JSON, a slice of the document.
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

/// Which piece of a frame is the same in another frame: a path of keys, however long they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PieceName(u64);

impl PieceName {
    /// The name of what stands below this one, under a key or at a position.
    #[must_use]
    pub fn below(self, step: impl Hash) -> Self {
        // Of a process's own, so that nobody can make one name for two pieces.
        static NAMES: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        Self(NAMES.hash_one((self.0, step)))
    }
}

/// What the engine has to know of a format's streams. By default none of it is so.
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
    /// Later events say again what earlier deltas said (Responses).
    pub restates: bool,
    /// Text may follow a tool call in one answer. Anthropic's may not: the next request would be refused.
    pub text_after_call: bool,
    /// The end of bytes after a finish reason is a regular end; else the terminal marker has to come (for chat
    /// both count: many providers send no `[DONE]`).
    pub finish_is_terminal: bool,
    /// Arguments are a JSON value on the wire, so that a replacement has to be a JSON object (Gemini, whole
    /// Anthropic).
    pub arguments_are_json: bool,
    /// Reasoning carries a signature or an id that stands for its text (Anthropic, Responses): it can be emptied,
    /// and never says anything else (rule 22).
    pub reasoning_is_signed: bool,
}

/// What [`WireFormat::decode`] fills.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Decoded {
    /// The deltas, in wire order.
    pub deltas: Vec<Delta>,
    /// The response's id and model, asked for while [`wants_meta`](Self::wants_meta).
    pub id: Option<Text>,
    /// The model's name.
    pub model: Option<Text>,
    /// Whether id and model are still unknown; when false a decoder need not copy them.
    pub wants_meta: bool,
    /// Why the frame is not plain, by itself or beside the frames before it (rule 28).
    pub odd: Option<Odd>,
    /// What the frames before have said, where somebody looks at them.
    pub(crate) memory: Memory,
    /// When the frame goes on.
    pub(crate) due: Due,
}

impl Decoded {
    /// An empty one that asks for id and model.
    #[must_use]
    pub fn new() -> Self {
        Self { wants_meta: true, ..Self::default() }
    }
}

/// Why a frame could not be read: what was expected and what came.
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

    /// An error of a frame that can be read, and that clients read in different ways, so that there is no single meaning
    /// to write (rule 28).
    #[must_use]
    pub fn ambiguous(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { ambiguous: true, ..Self::new(expected, found) }
    }

    /// Whether the frame can be read, in several ways.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }

    /// Wraps what serde_json says of a frame. Where it would quote a value of the frame (a value of another type), only
    /// the place is kept.
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
/// A writer sees **every** frame in order, also those of which nothing is left, so that it can keep what must
/// survive (usage, signatures, the opening). It writes an untouched frame as its original bytes unless a number or a
/// copy in it has to change because of an earlier edit.
pub trait Writer: fmt::Debug + Send {
    /// Writes a frame whose parts are all decided.
    fn frame(&mut self, frame: Outgoing, out: &mut Vec<Bytes>);

    /// Ends the response early (rule 20). Called at most once, and nothing is written after it. Writes nothing when
    /// the terminal marker or an error has already left.
    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>);

    /// A keep-alive that this API's clients accept at this point (rule 23).
    fn keep_alive(&self) -> Bytes;

    /// Writes a whole response. With an `ending` the body becomes the API's refusal or error; nothing of the parts
    /// leaves but kept ones.
    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes;

    /// Whether exactly one ending has left: the upstream's terminal marker or error, or [`end`](Self::end)'s.
    fn ended(&self) -> bool;

    /// How many bytes of frames wait to be written, because clients would give what they say to another block
    /// (rule 28). They count as held.
    fn held(&self) -> usize {
        0
    }

    /// How many bytes of inserted text found no place since this was asked last: behind a tool call, where the format allows
    /// no text there (rule 21).
    fn unplaced(&mut self) -> usize {
        0
    }

    /// Whether a frame with more text of a block that is open, and has left untouched, would be written as its bytes: nothing
    /// waits to be written, and no number or copy has to change.
    ///
    /// Text frames that come while this holds may leave without the writer. It is told of the last of them, with the text of
    /// all where the format [restates](Traits::restates) it, and what it writes then is not used.
    fn is_plain(&self) -> bool {
        false
    }

    /// Whether [`set_apart`](Self::set_apart) has an effect: clients of this API tell calls of several choices apart by their index alone.
    fn sets_apart(&self) -> bool {
        false
    }

    /// From here on a call is written so that clients who go by its index alone do not read it together with the call of another
    /// choice (rule 28).
    fn set_apart(&mut self, _call: BlockKey) {}

    /// Why the frame that was written last was written anew although every part of it was kept: it was not plain
    /// (rule 28). Asked once after each frame.
    fn normalised(&mut self) -> Option<Odd> {
        None
    }
}

/// Settings of a [`Writer`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriterOptions {
    /// The text that appears in place of an answer of which everything was dropped, so that no turn is empty
    /// (rule 21). `None`: nothing is inserted.
    pub empty_notice: Option<Text>,
    /// Whether frames that are not plain are written anew (rule 28). The engine sets it where a policy that is
    /// enforced looks at the stream; without one every frame leaves as it came.
    pub normalise: bool,
    /// Whether the request asked for several choices, so that its client goes by their numbers. The engine takes it from
    /// [`Request::choices`](crate::Request::choices).
    pub several: bool,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self { empty_notice: Some("[withheld by policy]".into()), normalise: false, several: false }
    }
}

/// A frame on its way out, every part decided.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outgoing {
    /// The frame as it came; `None` for one made here (inserted text or calls).
    pub frame: Option<Frame>,
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

impl Outgoing {
    /// Whether every part is as it came.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.frame.is_some() && self.parts.iter().all(|part| part.fate == Fate::Kept)
    }

    /// Whether it is the word of a stage to the next that a block is complete.
    pub(crate) fn is_completion(&self) -> bool {
        self.frame.is_none() && self.parts.iter().all(|part| part.delta.kind == DeltaKind::Completed)
    }
}

/// One part of a frame, with its fate.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Part {
    /// What it says; where `fate` is [`Edited`](Fate::Edited) or [`Inserted`](Fate::Inserted), what it is to say.
    pub delta: Delta,
    /// The block it belongs to, unique in the stream. Two parts of one block have the same key.
    pub key: Option<BlockKey>,
    /// What becomes of it.
    pub fate: Fate,
}

impl Part {
    /// Whether the upstream sent it.
    pub(crate) fn came(&self) -> bool {
        self.fate != Fate::Inserted
    }

    /// The numbered item that it belongs to.
    pub(crate) fn item(&self) -> Option<u32> {
        match self.delta.slot {
            Slot::At { item, .. } => Some(item),
            _ => None,
        }
    }
}

/// What becomes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Leaves as it came.
    Kept,
    /// Leaves with what its delta says now. For a call: the first part of a replaced call carries the name, id and
    /// whole new arguments, its later parts are dropped.
    Edited,
    /// Was not in the upstream's frame: text, or a call with all its arguments, to be put here.
    Inserted,
    /// Does not leave.
    Dropped,
}

/// Takes out the part for lines of a frame that are no event: a frame that is not plain is written without them
/// (rule 28).
pub(crate) fn without_stray(frame: &Frame, parts: &mut Vec<Part>) {
    if frame.is_stray() {
        parts.retain(|part| !matches!(&part.delta.kind, DeltaKind::Opaque { kind, .. } if &**kind == STRAY));
    }
}

/// The kind of the opaque block for lines that are no event and that nobody understands.
pub(crate) const STRAY: &str = "stray";

/// A format shared between streams.
pub type SharedFormat = Arc<dyn WireFormat>;

/// The formats that are looked for, in this order.
#[must_use]
pub fn built_in() -> Vec<SharedFormat> {
    BUILT_IN.to_vec()
}

/// The formats that are looked for, once for all streams.
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

/// The format that a whole body seems to be of, by its keys, where no format knows it for its own: a key may stand there
/// twice, or in other letters, to a client that does not mind (rule 28).
pub(crate) fn seeming(body: &[u8]) -> Option<SharedFormat> {
    const KEYS: [(&str, &str); 4] = [
        ("choices", "openai-chat"),
        ("output", "openai-responses"),
        ("content", "anthropic-messages"),
        ("candidates", "gemini"),
    ];
    let body = std::str::from_utf8(body).ok()?;
    let first = json::items(body).and_then(|items| items.first().copied());
    let members = json::members(first.unwrap_or(body))?;
    let (_, format) = KEYS.into_iter().find(|(key, _)| {
        members.iter().any(|(name, _)| spelling::is_near(name.as_bytes(), key.as_bytes()))
    })?;
    named(format)
}

/// The format of a stream that told nothing: only comments, bare errors and `[DONE]` look the same in all.
pub(crate) fn fallback() -> SharedFormat {
    Arc::new(openai_chat::OpenAiChat)
}
