//! Blocks: what a stream is folded into.

mod key;
mod opaque;
mod tool_call;

pub use key::BlockKey;
pub(crate) use key::{MAX_BLOCKS, MAX_STAGES};
pub use opaque::OpaqueBlock;
pub use tool_call::ToolCall;

use crate::context::EffectError;
use crate::delta::Channel;
use crate::json;
use crate::policy::{Replacement, With};
use crate::wire::Traits;

/// A block: what the deltas of a choice add up to.
///
/// ```
/// use stream_core::{StreamBlock, policy_fn};
///
/// // Counts what is complete, and sends everything.
/// let mut words = 0;
/// let mut calls = 0;
/// let count = policy_fn(move |chunk, state, ctx| {
///     match state.just_completed() {
///         Some(StreamBlock::Content(text)) => words += text.text().split_whitespace().count(),
///         Some(StreamBlock::ToolCall(_)) => calls += 1,
///         _ => {}
///     }
///     ctx.send(chunk);
///     Ok(())
/// });
/// # let _ = count;
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamBlock {
    /// What the user reads.
    Content(TextBlock),
    /// Reasoning, thinking, thoughts.
    Reasoning(TextBlock),
    /// A refusal in the model's words.
    Refusal(TextBlock),
    /// A call that the client executes.
    ToolCall(ToolCall),
    /// Anything else: server tools, images, block types that are not known.
    Opaque(OpaqueBlock),
}

impl StreamBlock {
    /// The block's name for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head().key
    }

    /// The choice (chat) or candidate (Gemini) it belongs to; 0 where the format has one answer.
    #[must_use]
    pub fn choice(&self) -> u32 {
        self.head().choice
    }

    /// Open, complete or aborted.
    #[must_use]
    pub fn status(&self) -> BlockStatus {
        self.head().status
    }

    /// Whether the block is complete: its end came. A call that is complete may still not be
    /// [finished](ToolCall::is_finished).
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.status() == BlockStatus::Complete
    }

    /// How many bytes of text or arguments have come, kept or not.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.head().bytes
    }

    /// The call, if it is one.
    #[must_use]
    pub fn as_tool_call(&self) -> Option<&ToolCall> {
        match self {
            Self::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    /// The text of a content, reasoning or refusal block.
    #[must_use]
    pub fn as_text(&self) -> Option<&TextBlock> {
        match self {
            Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) => Some(block),
            _ => None,
        }
    }

    /// The channel of a text block.
    #[must_use]
    pub fn channel(&self) -> Option<Channel> {
        match self {
            Self::Content(_) => Some(Channel::Content),
            Self::Reasoning(_) => Some(Channel::Reasoning),
            Self::Refusal(_) => Some(Channel::Refusal),
            _ => None,
        }
    }

    /// Whether it can be replaced so. Calls take nothing but a JSON object where arguments are a JSON value (rule 25),
    /// and where they were written as text, since most dialects can say nothing else.
    pub(crate) fn takes(&self, with: &Replacement, traits: Traits) -> Result<(), EffectError> {
        let call = self.as_tool_call();
        let written = call.filter(|call| call.written.is_some());
        match (&with.with, call) {
            (With::Text(_), _) => Ok(()),
            (With::Written(_), _) => written.map(|_| ()).ok_or(EffectError::NotWritten),
            (With::Structured { .. }, _) => {
                let call = written.ok_or(EffectError::NotWritten)?;
                json::is_object(call.arguments()).then_some(()).ok_or(EffectError::NotAnObject)
            }
            (With::Arguments(_), None) => Err(EffectError::NotACall),
            (With::Arguments(arguments), Some(_)) => {
                let takes_objects = written.is_some() || traits.arguments_are_json;
                (!takes_objects || json::is_object(arguments)).then_some(()).ok_or(EffectError::NotAnObject)
            }
        }
    }

    /// The name of the block's kind, for transcripts: `content`, `reasoning`, `refusal`, `tool call`, `opaque`.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Content(_) => "content",
            Self::Reasoning(_) => "reasoning",
            Self::Refusal(_) => "refusal",
            Self::ToolCall(_) => "tool call",
            Self::Opaque(_) => "opaque",
        }
    }

    /// A transcript of spoken audio.
    pub(crate) fn new_speech(key: BlockKey, choice: u32) -> Self {
        Self::Content(TextBlock { spoken: true, ..TextBlock::new(key, choice) })
    }

    pub(crate) fn new_text(channel: Channel, key: BlockKey, choice: u32) -> Self {
        let block = TextBlock::new(key, choice);
        match channel {
            Channel::Content => Self::Content(block),
            Channel::Reasoning => Self::Reasoning(block),
            Channel::Refusal => Self::Refusal(block),
        }
    }

    /// Text or arguments kept so far.
    pub(crate) fn body(&self) -> &str {
        match self {
            Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) => &block.text,
            Self::ToolCall(call) => &call.arguments,
            Self::Opaque(block) => &block.arguments,
        }
    }

    pub(crate) fn append(&mut self, text: &str, keep: bool) {
        self.head_mut().bytes += text.len();
        if keep {
            match self {
                Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) => {
                    block.text.push_str(text);
                }
                Self::ToolCall(call) => call.arguments.push_str(text),
                Self::Opaque(block) => block.arguments.push_str(text),
            }
        }
    }

    /// Takes back the text that was appended last.
    pub(crate) fn retract(&mut self, bytes: usize) {
        self.head_mut().bytes -= bytes;
        if let Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) = self {
            block.text.truncate(block.text.len() - bytes);
        }
    }

    pub(crate) fn head(&self) -> &Head {
        match self {
            Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) => &block.head,
            Self::ToolCall(call) => &call.head,
            Self::Opaque(block) => &block.head,
        }
    }

    pub(crate) fn head_mut(&mut self) -> &mut Head {
        match self {
            Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) => &mut block.head,
            Self::ToolCall(call) => &mut call.head,
            Self::Opaque(block) => &mut block.head,
        }
    }
}

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockStatus {
    /// More may come.
    Open,
    /// Its end came.
    Complete,
    /// The stream was cut or failed before its end came (rule 4).
    Aborted,
}

/// A block of text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextBlock {
    head: Head,
    text: String,
    pub(crate) spoken: bool,
    pub(crate) signed: bool,
}

impl TextBlock {
    fn new(key: BlockKey, choice: u32) -> Self {
        Self { head: Head::new(key, choice), text: String::new(), spoken: false, signed: false }
    }

    /// The text so far. Empty when no policy [needs](crate::policy::Needs) this kind of text; its length is counted
    /// all the same ([`StreamBlock::bytes`]).
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is the transcript of spoken audio.
    #[must_use]
    pub fn is_spoken(&self) -> bool {
        self.spoken
    }

    /// Whether a signature or an id stands for the text (reasoning of Anthropic and Responses): the block can be emptied, and
    /// never says anything else (rule 22).
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.signed
    }

    /// The block's name for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head.key
    }
}

/// What all blocks have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    pub(crate) key: BlockKey,
    pub(crate) choice: u32,
    pub(crate) status: BlockStatus,
    pub(crate) bytes: usize,
    /// The format opens and closes it itself: no other block's start ends it.
    pub(crate) numbered: bool,
}

impl Head {
    pub(crate) fn new(key: BlockKey, choice: u32) -> Self {
        Self { key, choice, status: BlockStatus::Open, bytes: 0, numbered: false }
    }
}
