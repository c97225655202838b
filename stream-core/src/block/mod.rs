//! Blocks: the sums of deltas.

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

/// A block: the sum of deltas of one choice.
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
    /// The answer for the user.
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
    /// The key of the block, for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head().key
    }

    /// The choice (chat) or candidate (Gemini) of the block; 0 where the format has one answer.
    #[must_use]
    pub fn choice(&self) -> u32 {
        self.head().choice
    }

    /// The status: open, complete or aborted.
    #[must_use]
    pub fn status(&self) -> BlockStatus {
        self.head().status
    }

    /// Returns whether the block is complete. A complete call is not always ready to run: see [`ToolCall::is_finished`].
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.status() == BlockStatus::Complete
    }

    /// The number of bytes of text or arguments so far, kept or not.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.head().bytes
    }

    /// The tool call, if the block is one.
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

    /// Checks that the block can be replaced in this way. The arguments of a call must be a JSON object where the format has JSON values as
    /// arguments (rule 25), and where the call was written as text, since most dialects can express nothing else.
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

    /// Creates the transcript of spoken audio.
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

    /// The text or arguments, as far as they were kept.
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

    /// Removes the text that was appended last.
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

/// The status of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockStatus {
    /// The block may continue.
    Open,
    /// The end of the block was read.
    Complete,
    /// The stream was cut or failed before the end of the block ([rule 4](crate::guide::rules#rule-4)).
    Aborted,
}

/// A block of text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextBlock {
    head: Head,
    text: String,
    pub(crate) spoken: bool,
    pub(crate) signed: bool,
    pub(crate) mixed: bool,
}

impl TextBlock {
    fn new(key: BlockKey, choice: u32) -> Self {
        let head = Head::new(key, choice);
        Self { head, text: String::new(), spoken: false, signed: false, mixed: false }
    }

    /// The text so far. Empty where no policy [needs](crate::policy::Needs) this kind of text; [`StreamBlock::bytes`] counts it all the same.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the text is the transcript of spoken audio.
    #[must_use]
    pub fn is_spoken(&self) -> bool {
        self.spoken
    }

    /// Returns whether a signature or an id vouches for the text (reasoning of Anthropic and Responses). Such a block can be emptied, and never
    /// edited ([rule 22](crate::guide::rules#rule-22)).
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.signed
    }

    /// Returns whether text and reasoning stand in one list, where a mark alone tells them apart (Gemini). Some programs put all of them
    /// together without a look at the mark.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        self.mixed
    }

    /// The key of the block, for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head.key
    }
}

/// The fields that all blocks have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    pub(crate) key: BlockKey,
    pub(crate) choice: u32,
    pub(crate) status: BlockStatus,
    pub(crate) bytes: usize,
    /// The format opens and closes the block itself: the start of another block does not end it.
    pub(crate) numbered: bool,
}

impl Head {
    pub(crate) fn new(key: BlockKey, choice: u32) -> Self {
        Self { key, choice, status: BlockStatus::Open, bytes: 0, numbered: false }
    }
}
