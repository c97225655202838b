//! The state of a stream: the sum of its deltas so far.

use crate::block::{BlockKey, BlockStatus, StreamBlock, ToolCall};
use crate::delta::{FinishReason, Text, UpstreamError, Usage};

/// The blocks of a stream and what else its deltas add up to, at one step.
///
/// At most one block completes per step. That block is both [`just_completed`](Self::just_completed) and
/// [`current_block`](Self::current_block), so that a hook that judges and then flushes never releases the opening of the next block
/// ([rule 1](crate::guide::rules#rule-1)).
///
/// ```
/// use stream_core::Assembler;
/// use stream_testkit::{Script, WireKind};
///
/// let script = Script::new().text("On it.").call("call_1", "ls", r#"{"path":"/"}"#);
/// for kind in WireKind::ALL {
///     let mut client = Assembler::new();
///     client.push(&script.bytes(kind))?;
///     client.finish()?;
///
///     let state = client.state();
///     let kinds: Vec<_> = state.blocks().iter().map(|block| block.kind_name()).collect();
///     assert_eq!(kinds, ["content", "tool call"]);
///     let ready: Vec<_> = state.finished_calls().map(|call| (call.name(), call.arguments())).collect();
///     assert_eq!(ready, [("ls", r#"{"path":"/"}"#)]);
///     assert_eq!((state.finish_reason().is_some(), state.error()), (true, None));
/// }
/// # Ok::<(), stream_core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct StreamState {
    pub(crate) blocks: Vec<StreamBlock>,
    pub(crate) current: Option<BlockKey>,
    pub(crate) completed: Option<BlockKey>,
    pub(crate) finishes: Vec<(u32, Option<FinishReason>)>,
    pub(crate) usage: Option<Box<Usage>>,
    pub(crate) model: Option<Text>,
    pub(crate) id: Option<Text>,
    pub(crate) error: Option<Box<UpstreamError>>,
    pub(crate) terminal: bool,
}

impl StreamState {
    /// The blocks, in the order of their openings.
    #[must_use]
    pub fn blocks(&self) -> &[StreamBlock] {
        &self.blocks
    }

    /// The block with this key.
    #[must_use]
    pub fn block(&self, key: BlockKey) -> Option<&StreamBlock> {
        self.blocks.get(key.index())
    }

    /// The block that this step touched.
    #[must_use]
    pub fn current_block(&self) -> Option<&StreamBlock> {
        self.block(self.current?)
    }

    /// The block that this step completed.
    #[must_use]
    pub fn just_completed(&self) -> Option<&StreamBlock> {
        self.block(self.completed?)
    }

    /// The last finish reason of the first choice that has one.
    #[must_use]
    pub fn finish_reason(&self) -> Option<&FinishReason> {
        self.finishes.iter().find_map(|(_, reason)| reason.as_ref())
    }

    /// The last finish reason of a choice.
    #[must_use]
    pub fn finish_reason_of(&self, choice: u32) -> Option<&FinishReason> {
        self.finishes.iter().find(|(known, _)| *known == choice)?.1.as_ref()
    }

    /// The choices so far, in the order of their first deltas.
    pub fn choices(&self) -> impl Iterator<Item = u32> + '_ {
        self.finishes.iter().map(|(choice, _)| *choice)
    }

    /// The tool calls, in the order of their openings.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> + '_ {
        self.blocks.iter().filter_map(StreamBlock::as_tool_call)
    }

    /// The calls that are ready to run ([rule 3](crate::guide::rules#rule-3)).
    pub fn finished_calls(&self) -> impl Iterator<Item = &ToolCall> + '_ {
        self.tool_calls().filter(|call| call.is_finished())
    }

    /// The calls that are not ready to run.
    pub fn unfinished_calls(&self) -> impl Iterator<Item = &ToolCall> + '_ {
        self.tool_calls().filter(|call| !call.is_finished())
    }

    /// The token counts, as far as the upstream has sent them.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.usage.as_deref().copied()
    }

    /// The model, as the upstream names it.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The response's id.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The error that the upstream reported in the stream, if it did.
    #[must_use]
    pub fn error(&self) -> Option<&UpstreamError> {
        self.error.as_deref()
    }

    /// Returns whether the upstream has sent its terminal marker.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Marks every open block as aborted, for a stream that was cut or failed.
    pub(crate) fn abort_open_blocks(&mut self) {
        for block in &mut self.blocks {
            let head = block.head_mut();
            if head.status == BlockStatus::Open {
                head.status = BlockStatus::Aborted;
            }
        }
    }
}
