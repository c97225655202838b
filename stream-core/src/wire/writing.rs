//! The writing half of a wire format.

use std::fmt;

use bytes::Bytes;

use super::{Ending, Odd, Outgoing};
use crate::block::BlockKey;
use crate::delta::Text;

/// Writes one response: streamed frames, insertions, endings, or a whole body.
///
/// A writer gets **every** frame in order, also a frame whose parts are all dropped, so that it can keep the token counts,
/// signatures and the opening. An untouched frame is written as its original bytes, unless a number or a copy in the frame has
/// to change because of an earlier edit.
///
/// The writer below writes events whose data is one JSON string each, so that a frame has one part:
///
/// ```
/// use bytes::Bytes;
/// use stream_core::delta::{Delta, DeltaKind, Slot};
/// use stream_core::sse::Framer;
/// use stream_core::wire::{Fate, Outgoing, Part, Writer};
/// use stream_core::{Channel, Ending};
///
/// #[derive(Debug, Default)]
/// struct LinesWriter {
///     ended: bool,
/// }
///
/// impl Writer for LinesWriter {
///     fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
///         for part in &outgoing.parts {
///             self.ended |= part.delta.kind == DeltaKind::Terminal;
///             match (part.fate, &outgoing.frame, &part.delta.kind) {
///                 (Fate::Kept, Some(frame), _) => out.push(frame.raw().clone()),
///                 (Fate::Edited | Fate::Inserted, _, DeltaKind::Text { text, .. }) => out.push(event(text)),
///                 // A dropped part, or a part whose fate this writer does not know.
///                 _ => {}
///             }
///         }
///     }
///
///     fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
///         if !std::mem::replace(&mut self.ended, true) {
///             out.extend([event(ending.message()), event("END")]);
///         }
///     }
///
///     fn keep_alive(&self) -> Bytes {
///         Bytes::from_static(b":\n\n")
///     }
///
///     fn whole(&mut self, _body: Outgoing, ending: Option<&Ending>) -> Bytes {
///         // The format has no whole responses: only an ending is written.
///         self.ended = true;
///         ending.map(|ending| event(ending.message())).unwrap_or_default()
///     }
///
///     fn ended(&self) -> bool {
///         self.ended
///     }
/// }
///
/// fn event(text: &str) -> Bytes {
///     format!("data: {}\n\n", serde_json::Value::from(text)).into()
/// }
///
/// let mut framer = Framer::new(1 << 10);
/// framer.push(b"data:\"Hi.\"\n\ndata:\"The key is 4711.\"\n\ndata:\"Bye.\"\n\n");
/// let text = |text: &str| {
///     Delta::new(0, Slot::Run, DeltaKind::Text { channel: Channel::Content, text: text.into() })
/// };
/// let parts = [
///     Part::new(text("Hi."), Fate::Kept),
///     Part::new(text("The key is [redacted]."), Fate::Edited),
///     Part::new(text("Bye."), Fate::Dropped),
/// ];
/// let (mut writer, mut out) = (LinesWriter::default(), Vec::new());
/// for part in parts {
///     writer.frame(Outgoing::new(framer.next_frame()?, vec![part]), &mut out);
/// }
/// writer.frame(Outgoing::new(None, vec![Part::new(text("A notice."), Fate::Inserted)]), &mut out);
/// writer.end(&Ending::refuse("Not allowed."), &mut out);
/// assert_eq!(
///     out,
///     [
///         "data:\"Hi.\"\n\n", // the bytes of the upstream
///         "data: \"The key is [redacted].\"\n\n",
///         "data: \"A notice.\"\n\n",
///         "data: \"Not allowed.\"\n\n",
///         "data: \"END\"\n\n",
///     ]
/// );
/// # Ok::<(), stream_core::sse::FrameTooLarge>(())
/// ```
pub trait Writer: fmt::Debug + Send {
    /// Writes a frame whose parts are all decided.
    fn frame(&mut self, frame: Outgoing, out: &mut Vec<Bytes>);

    /// Ends the response early (rule 20). The engine calls this method at most once, and writes nothing afterwards. Nothing
    /// is written if the terminal marker or an error was written before.
    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>);

    /// Writes the frames that still wait to be written ([`held`](Self::held)), at the end of a response that needs no ending.
    fn flush(&mut self, _out: &mut Vec<Bytes>) {}

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
    /// [`frame`](Self::frame), with the concatenated text of all where the format [restates](super::Traits::restates) text, and discards the
    /// output.
    fn is_plain(&self) -> bool {
        false
    }

    /// As [`is_plain`](Self::is_plain), of a frame that differs from the one before it only in the values of
    /// [holes](super::WireFormat::holes), where that one was written as its bytes.
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
    /// (rule 28). The engine calls this method once after each frame, and at the end.
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
