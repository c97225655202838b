//! The reading half of a wire format.

use std::fmt;

use super::{DecodeError, Decoded, Hole, Piece, Writer, WriterOptions};
use crate::delta::FinishKind;
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
