//! Records: the decisions over a stream, for the host.

use std::time::Duration;

use crate::block::BlockKey;
use crate::ending::Ending;
use crate::error::Error;

/// The record of one decision, carried out or, for a [dry run](crate::policy::Stage::monitor), noted. A record holds no text of the stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// The name of the policy.
    pub policy: String,
    /// The block, if the decision is about one.
    pub block: Option<BlockKey>,
    /// The action.
    pub action: Action,
    /// The cause, for programs.
    pub cause: Cause,
    /// The reason, in the words of the policy or its judge.
    pub reason: Option<String>,
    /// The number of bytes of frames that the decision was about.
    pub bytes: usize,
    /// The time for which those bytes were held.
    pub held: Duration,
    /// `true` if the decision was carried out; `false` for a [dry run](crate::policy::Stage::monitor).
    pub enforced: bool,
    /// The ending, where the decision [ended](Action::Terminated) the stream, with the host's code and type where the policy sets none.
    pub ending: Option<Box<Ending>>,
}

impl Decision {
    /// Creates the record of an enforced decision over the whole stream.
    #[must_use]
    pub fn new(policy: impl Into<String>, action: Action, cause: Cause) -> Self {
        Self {
            policy: policy.into(),
            block: None,
            action,
            cause,
            reason: None,
            bytes: 0,
            held: Duration::ZERO,
            enforced: true,
            ending: None,
        }
    }

    /// Returns whether the decision changed what the client gets.
    #[must_use]
    pub fn is_edit(&self) -> bool {
        self.enforced && self.action.is_edit()
    }
}

/// The action of a [`Decision`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Held parts of a block were released unchanged.
    Released,
    /// Parts of a block were dropped.
    Dropped,
    /// A block, or a chunk of it, was written with other content.
    Edited,
    /// Text was inserted.
    Inserted,
    /// A frame that was not [plain](crate::wire::Odd) was written anew from what was judged; no part of it was dropped
    /// or edited.
    Normalised,
    /// The stream was ended.
    Terminated,
    /// The policy failed.
    Failed,
}

impl Action {
    /// The word for the action, in logs, metrics and transcripts.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::Dropped => "dropped",
            Self::Edited => "edited",
            Self::Inserted => "inserted",
            Self::Normalised => "normalised",
            Self::Terminated => "terminated",
            Self::Failed => "failed",
        }
    }

    /// Returns whether the action, once carried out, changes what the client gets.
    #[must_use]
    pub fn is_edit(self) -> bool {
        !matches!(self, Self::Released)
    }
}

/// The cause of a [`Decision`], for programs; the [reason](Decision::reason) is for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// A verdict of the policy, in a hook or by a judge.
    #[default]
    Verdict,
    /// A deadline: a judge was late, or the time of [`Decide::after`](crate::policy::Decide::after) was over.
    Deadline,
    /// The end of the stream, while the block was held.
    StreamEnded,
    /// A failure of the policy or its judge.
    PolicyFailed,
    /// A command of the host, with its [handle](crate::processor::Handle).
    Host,
    /// The wire: clients would read different things from the frame ([rule 28](crate::guide::rules#rule-28)), or a copy disagreed with its block ([rule 19](crate::guide::rules#rule-19)).
    Wire,
}

/// An observer of a stream, for logs, metrics and transcripts. Every method has a default that does nothing.
///
/// Methods are called while the stream is processed: an observer that blocks delays it. [`decision`](Self::decision) holds no text of the
/// stream; [`input`](Self::input), [`step`](Self::step), [`written`](Self::written) and [`output`](Self::output) do.
///
/// ```
/// use std::sync::mpsc::{Sender, channel};
///
/// use bytes::Bytes;
/// use stream_core::{Action, Decision, Observer, StreamProcessor, Verdict, each_call};
/// use stream_testkit::{Script, WireKind};
///
/// struct Log(Sender<(Action, Option<String>)>);
///
/// impl Observer for Log {
///     fn decision(&mut self, decision: &Decision) {
///         let _ = self.0.send((decision.action, decision.reason.clone()));
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), stream_core::BuildError> {
/// let (sender, log) = channel();
/// let body: Bytes = Script::new().call("call_1", "rm", "{}").whole(WireKind::OpenAiChat);
/// StreamProcessor::builder()
///     .policy(each_call(|_, _| Verdict::drop("no calls")))
///     .observer(Log(sender))
///     .whole(body)
///     .await?;
/// assert_eq!(log.try_iter().collect::<Vec<_>>(), [(Action::Dropped, Some("no calls".to_owned()))]);
/// # Ok(())
/// # }
/// ```
pub trait Observer: Send {
    /// Observes a frame of the upstream.
    fn input(&mut self, frame: &[u8]) {
        let _ = frame;
    }

    /// Observes a step, before the policy is called.
    fn step(&mut self, step: &StepView<'_>) {
        let _ = step;
    }

    /// Observes the effects of a hook, after they were carried out.
    fn staged(&mut self, staged: &StagedView<'_>) {
        let _ = staged;
    }

    /// Observes the verdict of a judge or of a deadline, after it was carried out.
    fn verdict(&mut self, verdict: &VerdictView<'_>) {
        let _ = verdict;
    }

    /// Observes a decision.
    fn decision(&mut self, decision: &Decision) {
        let _ = decision;
    }

    /// Observes the bytes that the writer made of the step before. The host has not taken them yet.
    fn written(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// Observes bytes that the host takes for the client.
    fn output(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// Observes the error that closed the stream.
    fn error(&mut self, error: &Error) {
        let _ = error;
    }
}

/// A step, for an [`Observer`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StepView<'a> {
    /// The stage, counted from 0.
    pub stage: usize,
    /// The name of the stage's policy.
    pub policy: &'a str,
    /// The chunk of the step.
    pub chunk: &'a crate::chunk::Chunk,
    /// The state of the stage.
    pub state: &'a crate::state::StreamState,
    /// The number of bytes that all stages hold.
    pub held: usize,
}

/// The effects of a hook, for an [`Observer`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StagedView<'a> {
    /// The stage, counted from 0.
    pub stage: usize,
    /// The name of the stage's policy.
    pub policy: &'a str,
    /// The end of the stream, if the hook was `on_end`.
    pub end: Option<&'a crate::policy::End>,
    /// The effects, in order.
    pub effects: &'a [Staged],
    /// The number of bytes that all stages hold afterwards.
    pub held: usize,
}

/// A verdict over a block, for an [`Observer`]. The [`Decision`] has the action.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct VerdictView<'a> {
    /// The stage, counted from 0.
    pub stage: usize,
    /// The name of the stage's policy.
    pub policy: &'a str,
    /// The block.
    pub block: BlockKey,
    /// The number of bytes that all stages hold afterwards.
    pub held: usize,
}

/// One effect of a hook, without text of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Staged {
    /// The step's chunk was sent.
    Send {
        /// `true` if the chunk has other text or arguments.
        edited: bool,
    },
    /// The step's chunk was held.
    Buffer {
        /// `true` if the chunk has other text or arguments.
        edited: bool,
    },
    /// The held parts of a block were released, or of all blocks.
    Flush(Option<BlockKey>),
    /// The oldest held chunks of a block were released.
    Release {
        /// The block.
        block: BlockKey,
        /// The number of chunks.
        chunks: usize,
        /// The number of chunks with other text or arguments.
        edited: usize,
        /// `true` if sent chunks behind the block in its choice were dropped.
        cuts: bool,
    },
    /// The held parts of a block were dropped.
    Discard(BlockKey),
    /// A block was replaced.
    Replace(BlockKey),
    /// A call written as text became a structured call.
    Promote(BlockKey),
    /// Text was inserted.
    Insert,
    /// The stream was ended.
    Terminate,
    /// A judge was started over a block.
    Decide(BlockKey),
    /// A verdict over a block was set for a later time.
    SettleAfter(BlockKey),
}
