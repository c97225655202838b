//! Chunks: the argument of a hook.

use std::fmt;

use bytes::Bytes;

use crate::block::BlockKey;
use crate::delta::{Channel, Delta, DeltaKind, Slot, Text};
use crate::json;
use crate::sse::Frame;

/// The payload or structure of one step.
///
/// A hook sends, edits or buffers the chunk; a payload chunk that is neither sent nor buffered is discarded:
///
/// ```
/// use stream_core::{ChunkKind, Channel, policy_fn};
/// use stream_testkit::{Replay, Script, WireKind};
///
/// let polite = || policy_fn(|chunk, _state, ctx| {
///     match chunk.kind() {
///         // Reasoning is discarded.
///         ChunkKind::Text(Channel::Reasoning) => {}
///         ChunkKind::Text(_) => {
///             let text = chunk.text().unwrap_or_default().replace("damn", "darn");
///             ctx.send(chunk.with_text(text));
///         }
///         _ => ctx.send(chunk),
///     }
///     Ok(())
/// });
///
/// let script = Script::new().reasoning("Hm.").text("Well, damn.");
/// let view = Replay::new(&script.to_log(WireKind::OpenAiChat)).policy(polite).run().view();
/// assert_eq!((view.choices[0].reasoning.as_str(), view.choices[0].content.as_str()), ("", "Well, darn."));
/// ```
///
/// A chunk is not `Clone`, and can be sent only in its own hook. Later hooks settle the block of the chunk by its
/// [key](BlockKey) ([rule 10](crate::guide::rules#rule-10)).
#[derive(Debug)]
#[must_use = "a payload chunk that is neither sent nor buffered is discarded"]
pub struct Chunk {
    pub(crate) step: u64,
    pub(crate) choice: Option<u32>,
    pub(crate) block: Option<BlockKey>,
    pub(crate) kind: ChunkKind,
    pub(crate) body: Option<Body>,
    pub(crate) edit: Option<Text>,
    pub(crate) fields: u16,
}

impl Chunk {
    /// The kind of the step.
    #[must_use]
    pub fn kind(&self) -> ChunkKind {
        self.kind
    }

    /// The choice of the chunk, if the chunk belongs to one.
    #[must_use]
    pub fn choice(&self) -> Option<u32> {
        self.choice
    }

    /// The block of the chunk, if the chunk belongs to one.
    #[must_use]
    pub fn block(&self) -> Option<BlockKey> {
        self.block
    }

    /// The text of a content, reasoning or refusal chunk.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self.kind {
            ChunkKind::Text(_) => self.body(),
            _ => None,
        }
    }

    /// The fragment of arguments in a tool call's chunk. An opening without arguments has none.
    #[must_use]
    pub fn arguments(&self) -> Option<&str> {
        match self.kind {
            ChunkKind::ToolCall => self.body(),
            _ => None,
        }
    }

    /// The fields of the frame that hold the text, one bit per field of the channel; no bit for all of them. A client may read one field and
    /// not the others (chat: `reasoning` beside `reasoning_content`, a string or a list as `content`).
    #[must_use]
    pub fn fields(&self) -> u16 {
        self.fields
    }

    /// The fragment of text in an opaque chunk, which clients join over the chunks of the block: the input of a tool that the provider runs,
    /// the code that it interprets.
    #[must_use]
    pub fn fragment(&self) -> Option<&str> {
        match self.kind {
            ChunkKind::Opaque => self.body(),
            _ => None,
        }
    }

    /// Returns whether the chunk is payload. The policy decides over payload; every other step is written to the client without a decision.
    #[must_use]
    pub fn is_payload(&self) -> bool {
        matches!(self.kind, ChunkKind::Text(_) | ChunkKind::ToolCall | ChunkKind::Opaque)
    }

    /// Returns whether the chunk opens or continues a tool call.
    #[must_use]
    pub fn is_tool_call(&self) -> bool {
        self.kind == ChunkKind::ToolCall
    }

    /// Replaces the text of a text chunk; other chunks stay as they are. The text of [signed](crate::TextBlock::is_signed) reasoning cannot be
    /// replaced: such a chunk is sent without its text ([rule 22](crate::guide::rules#rule-22)).
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        if matches!(self.kind, ChunkKind::Text(_)) {
            self.edit(text.into());
        }
        self
    }

    /// Replaces the fragment of arguments of a tool call chunk; other chunks stay as they are.
    pub fn with_arguments(mut self, arguments: impl Into<String>) -> Self {
        if self.kind == ChunkKind::ToolCall {
            self.edit(arguments.into());
        }
        self
    }

    pub(crate) fn of(
        step: u64,
        delta: &Delta,
        block: Option<BlockKey>,
        kind: ChunkKind,
        frame: Option<&Frame>,
    ) -> Self {
        let body = match &delta.kind {
            DeltaKind::Opaque { .. } if matches!(delta.slot, Slot::At { .. }) => {
                frame.and_then(Frame::data_bytes).and_then(fragment)
            }
            DeltaKind::Text { text, .. } => Some(text.clone()),
            DeltaKind::Call(call) => call.arguments.clone(),
            DeltaKind::Copy(copy) => copy.body.clone(),
            _ => None,
        };
        let body = body.map(Body::Text);
        Self { step, choice: delta.choice, block, kind, body, edit: None, fields: delta.site.fields }
    }

    fn edit(&mut self, body: String) {
        // The same text is no edit: the frame may still be written byte for byte.
        self.edit = (self.body.as_ref().map(Body::as_str) != Some(body.as_str())).then(|| body.into());
    }

    fn body(&self) -> Option<&str> {
        self.edit.as_deref().or(self.body.as_ref().map(Body::as_str))
    }
}

/// The text or arguments of a chunk.
pub(crate) enum Body {
    /// A text of its own.
    Text(Text),
    /// A slice of a read, which is UTF-8.
    Slice(Bytes),
    /// A copy of a short text, and its length: cheaper than a slice, which may have to be the first of its read.
    Short([u8; Body::SHORT], u8),
}

impl Body {
    /// The longest text that is copied.
    pub(crate) const SHORT: usize = 30;

    /// Copies a text, if it is short.
    pub(crate) fn short(text: &str) -> Option<Self> {
        let mut short = [0; Self::SHORT];
        short.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self::Short(short, text.len() as u8))
    }

    fn as_str(&self) -> &str {
        let bytes = match self {
            Self::Text(text) => return text,
            Self::Slice(bytes) => bytes,
            Self::Short(short, len) => &short[..usize::from(*len).min(Self::SHORT)],
        };
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// The `delta` of an event: a string, or an object of strings and its type.
fn fragment(data: &[u8]) -> Option<Text> {
    let delta = json::member(std::str::from_utf8(data).ok()?, "delta")?;
    if let Some(text) = json::unquote(delta) {
        return Some(text.into());
    }
    let strings = json::members(delta)?.into_iter().filter(|(name, _)| name != "type");
    let joined: String = strings.filter_map(|(_, value)| json::unquote(value)).collect();
    (!joined.is_empty()).then(|| joined.into())
}

/// The kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChunkKind {
    /// Payload: text of a channel.
    Text(Channel),
    /// Payload: the opening of a tool call, or a fragment of its arguments.
    ToolCall,
    /// Payload: a piece of an opaque block.
    Opaque,
    /// The completion of a block. The step has no payload to send.
    Completed,
    /// Structure: written to the client, in order, without a decision.
    Structure(Structure),
}

/// The kinds of structural steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Structure {
    /// The opening of the stream, a block or an item, or a role.
    Opening,
    /// The end of a choice.
    Finish,
    /// Token counts.
    Usage,
    /// An error that the upstream reports.
    Error,
    /// The terminal marker.
    Terminal,
    /// A copy, an annotation or a signature of a block, which shares the fate of the block.
    Attached,
    /// A ping or comment of the upstream, or a frame without output.
    Filler,
}
