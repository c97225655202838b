//! What was done to a stream, for the host.

use std::time::Duration;

use crate::block::BlockKey;
use crate::ending::Ending;
use crate::error::Error;

/// One decision that was carried out, or that a policy which is only [monitored](crate::policy::Stage::monitor) would
/// have had carried out. A decision never holds text of the stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// The name of the policy.
    pub policy: String,
    /// The block that was decided over, if the decision is about one.
    pub block: Option<BlockKey>,
    /// What was done.
    pub action: Action,
    /// What brought the decision about.
    pub cause: Cause,
    /// Why, in the policy's words.
    pub reason: Option<String>,
    /// How many bytes of frames the decision was about.
    pub bytes: usize,
    /// How long those bytes had been held.
    pub held: Duration,
    /// Whether the decision took place. A decision of a [monitored](crate::policy::Stage::monitor) policy did not: the stream is as if the
    /// policy were not there.
    pub enforced: bool,
    /// What the client is told, where the decision [ended](Action::Terminated) the stream: with the code and the type that the host
    /// names, where the policy names none.
    pub ending: Option<Box<Ending>>,
}

impl Decision {
    /// A decision of a policy that is enforced, over the whole stream.
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

    /// Whether what the client gets differs from what the upstream sent.
    #[must_use]
    pub fn is_edit(&self) -> bool {
        self.enforced && self.action.is_edit()
    }
}

/// What a [`Decision`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Held parts of a block were released as they came.
    Released,
    /// Parts of a block were dropped.
    Dropped,
    /// A block, or a chunk of it, left with other content.
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

    /// Whether what the client gets differs from what the upstream sent, where it is carried out.
    #[must_use]
    pub fn is_edit(self) -> bool {
        !matches!(self, Self::Released)
    }
}

/// What brought a [`Decision`] about. A record's sentence is for people; this is for programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// The policy decided, in a hook or by a judge's verdict.
    #[default]
    Verdict,
    /// A deadline passed: a judge took too long, or the time of [`Decide::after`](crate::policy::Decide::after) came.
    Deadline,
    /// The stream ended while the block was held.
    StreamEnded,
    /// The policy or its judge failed.
    PolicyFailed,
    /// The host decided, whatever the policy was waiting for.
    Host,
    /// The frame has no single meaning as it came, or a copy disagreed with what it copies (rules 19 and 28).
    Wire,
}

/// Sees what happens in a stream as it happens: the seam for logs, metrics and transcripts.
///
/// Every method has a default that does nothing.
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
    /// A frame came from the upstream.
    fn input(&mut self, frame: &[u8]) {
        let _ = frame;
    }

    /// A step is about to be shown to a policy.
    fn step(&mut self, step: &StepView<'_>) {
        let _ = step;
    }

    /// A hook returned, and what it staged was carried out.
    fn staged(&mut self, staged: &StagedView<'_>) {
        let _ = staged;
    }

    /// The verdict on a block came, or its deadline passed, and was carried out.
    fn verdict(&mut self, verdict: &VerdictView<'_>) {
        let _ = verdict;
    }

    /// A decision was carried out.
    fn decision(&mut self, decision: &Decision) {
        let _ = decision;
    }

    /// Bytes were written for the client: this is what came of the step before. The bytes leave when the host takes them.
    fn written(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// Bytes leave for the client.
    fn output(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// The stream was closed for an error.
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
    /// What came.
    pub chunk: &'a crate::chunk::Chunk,
    /// Everything folded so far in this stage.
    pub state: &'a crate::state::StreamState,
    /// How many bytes all stages hold.
    pub held: usize,
}

/// What a hook staged, for an [`Observer`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StagedView<'a> {
    /// The stage, counted from 0.
    pub stage: usize,
    /// The name of the stage's policy.
    pub policy: &'a str,
    /// How the stream ended, if it was `on_end`.
    pub end: Option<&'a crate::policy::End>,
    /// What was staged, in order.
    pub effects: &'a [Staged],
    /// How many bytes all stages hold now.
    pub held: usize,
}

/// A verdict on a block, for an [`Observer`]. The [`Decision`] tells what the verdict was.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct VerdictView<'a> {
    /// The stage, counted from 0.
    pub stage: usize,
    /// The name of the stage's policy.
    pub policy: &'a str,
    /// The block that was judged.
    pub block: BlockKey,
    /// How many bytes all stages hold now.
    pub held: usize,
}

/// One effect that a hook staged. An effect never holds text of the stream here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Staged {
    /// The step's chunk was sent.
    Send {
        /// With other text or arguments.
        edited: bool,
    },
    /// The step's chunk was held.
    Buffer {
        /// With other text or arguments.
        edited: bool,
    },
    /// What is held of a block was released, or of all blocks.
    Flush(Option<BlockKey>),
    /// The oldest held chunks of a block were released.
    Release {
        /// The block.
        block: BlockKey,
        /// How many of its chunks.
        chunks: usize,
        /// How many of them with other text or arguments.
        edited: usize,
        /// Whether what waits behind the block in its choice was dropped.
        cuts: bool,
    },
    /// What is held of a block was dropped.
    Discard(BlockKey),
    /// A block was replaced.
    Replace(BlockKey),
    /// A call that was written as text became a structured one.
    Promote(BlockKey),
    /// Text was inserted.
    Insert,
    /// The stream was ended.
    Terminate,
    /// A block waits for a verdict.
    Decide(BlockKey),
    /// A block gets a verdict after a time.
    SettleAfter(BlockKey),
}
