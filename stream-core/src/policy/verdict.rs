//! Verdicts, and the judges that give them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use super::PolicyError;
use crate::wire::Ending;

/// The decision over a block. A hook applies a verdict with [`Context::settle`](crate::context::Context::settle); a judge, started with
/// [`Context::decide`](crate::context::Context::decide), returns one.
///
/// ```
/// use stream_core::{Ending, Replacement, Verdict, each_call};
/// use stream_testkit::{Replay, Script, WireKind};
///
/// let gate = || each_call(|call, _request| match call.name() {
///     "ls" => Verdict::Release,
///     "rm" => Verdict::Drop { reason: "not allowed".into(), notice: Some("[a tool call was blocked]".into()) },
///     "push" => Verdict::Replace(Replacement::arguments(r#"{"dry_run":true}"#)),
///     _ => Verdict::Terminate(Ending::refuse("I cannot help with that.")),
/// });
///
/// let script = Script::new().call("1", "ls", "{}").call("2", "rm", "{}").call("3", "push", "{}");
/// let view = Replay::new(&script.to_log(WireKind::OpenAiChat)).policy(gate).run().view();
/// let choice = &view.choices[0];
/// let calls: Vec<_> = choice.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
/// assert_eq!(calls, [("ls", "{}"), ("push", r#"{"dry_run":true}"#)]);
/// assert_eq!(choice.content, "[a tool call was blocked]");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The held parts of the block are written to the client, as they are.
    Release,
    /// The block is dropped, with the deltas of it that are still to come.
    Drop {
        /// The reason, for the record. No client sees it.
        reason: String,
        /// A text for the client in place of the block, where the format has a place for text.
        notice: Option<String>,
    },
    /// The block is written with other content.
    Replace(Replacement),
    /// The stream ends.
    Terminate(Ending),
}

impl Verdict {
    /// Creates a [`Verdict::Drop`] without a notice.
    #[must_use]
    pub fn drop(reason: impl Into<String>) -> Self {
        Self::Drop { reason: reason.into(), notice: None }
    }
}

/// The content that replaces a block. Nothing of the block may be written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Replacement {
    pub(crate) with: With,
    pub(crate) name: Option<String>,
    pub(crate) reason: Option<String>,
}

/// The kinds of replacements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum With {
    Arguments(String),
    Text(String),
    Written(String),
    Structured { id: String },
}

impl Replacement {
    /// Creates a replacement of the arguments of a tool call: raw JSON, or the free text of a custom tool.
    pub fn arguments(arguments: impl Into<String>) -> Self {
        Self::new(With::Arguments(arguments.into()))
    }

    /// Creates a replacement by text. In place of a tool call or an opaque block, the text is written where the format has a place for it:
    /// Anthropic Messages has none behind a tool call.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(With::Text(text.into()))
    }

    /// Creates a replacement by exactly this text for a call that was [written as text](crate::block::ToolCall::written), without the
    /// wrapper around the call. Later stages still see the original call.
    pub fn written(text: impl Into<String>) -> Self {
        Self::new(With::Written(text.into()))
    }

    /// Creates a replacement by a structured call of the stream's format, with this id, for a call that was [written as
    /// text](crate::block::ToolCall::written). The text is dropped; the call is written behind all text, just before the finish of its
    /// choice, and the finish reason becomes the one for calls.
    pub fn structured(id: impl Into<String>) -> Self {
        Self::new(With::Structured { id: id.into() })
    }

    fn new(with: With) -> Self {
        Self { with, name: None, reason: None }
    }

    /// Sets another tool name, beside other arguments.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the reason, for the record. No client sees it.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// The new arguments, if the replacement has any.
    #[must_use]
    pub fn new_arguments(&self) -> Option<&str> {
        match &self.with {
            With::Arguments(arguments) => Some(arguments),
            _ => None,
        }
    }

    /// The new tool name, if the replacement has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The text in place of text or arguments.
    pub(crate) fn body(&self) -> &str {
        match &self.with {
            With::Arguments(body) | With::Text(body) | With::Written(body) => body,
            With::Structured { .. } => "",
        }
    }
}

/// The oldest held chunks of a block, to be written now; later chunks stay held. For
/// [`Context::release`](crate::context::Context::release).
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Release {
    pub(crate) texts: Vec<Option<String>>,
    pub(crate) reason: Option<String>,
    pub(crate) cuts: bool,
}

impl Release {
    /// Creates a release of one held chunk per item: unchanged for `None`, with other text or arguments for `Some`.
    pub fn first(texts: impl IntoIterator<Item = Option<String>>) -> Self {
        Self { texts: texts.into_iter().collect(), reason: None, cuts: false }
    }

    /// Sets the reason of the edits, for the record. No client sees it.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Ends the text with these chunks: later chunks of the choice that were sent, and wait only because this block is held, are
    /// dropped. Held parts of other blocks are not touched.
    pub fn and_cut(mut self) -> Self {
        self.cuts = true;
        self
    }
}

/// The future of a judge.
pub type VerdictFuture = Pin<Box<dyn Future<Output = Result<Verdict, PolicyError>> + Send>>;

/// A judge or a time that decides over a block, with a deadline and a fallback. For
/// [`Context::decide`](crate::context::Context::decide), which also takes a bare future.
///
/// ```
/// use std::time::Duration;
/// use stream_core::{Decide, PolicyError, Verdict};
///
/// async fn ask_somebody() -> Result<Verdict, PolicyError> {
///     Ok(Verdict::Release)
/// }
///
/// let decide = Decide::by(ask_somebody())
///     .within(Duration::from_secs(2))
///     .otherwise(Verdict::drop("nobody answered"));
/// # let _ = decide;
/// ```
#[must_use]
pub struct Decide {
    pub(crate) judge: Option<VerdictFuture>,
    pub(crate) within: Option<Duration>,
    pub(crate) otherwise: Option<Verdict>,
}

impl Decide {
    /// Creates a decision by a future. While the future runs, the block is held, the stream is read on, and other blocks are judged.
    pub fn by(judge: impl Future<Output = Result<Verdict, PolicyError>> + Send + 'static) -> Self {
        Self { judge: Some(Box::pin(judge)), within: None, otherwise: None }
    }

    /// Creates a decision by time: parts of the block that are still held after this time get the verdict. Until then the block may be
    /// sent, flushed, settled or given to a judge, and the end of the stream does not wait for the time. A second decision by time over
    /// the same block replaces the first.
    pub fn after(time: Duration, verdict: Verdict) -> Self {
        Self { judge: None, within: Some(time), otherwise: Some(verdict) }
    }

    /// Sets the deadline of the judge. The default is the time limit of the policy.
    pub fn within(mut self, deadline: Duration) -> Self {
        self.within = Some(deadline);
        self
    }

    /// Sets the verdict for a judge that fails or misses its deadline. By default the block is dropped, or released where the stage
    /// [fails open](crate::policy::Stage::fail_open).
    pub fn otherwise(mut self, verdict: Verdict) -> Self {
        self.otherwise = Some(verdict);
        self
    }
}

impl<F> From<F> for Decide
where
    F: Future<Output = Result<Verdict, PolicyError>> + Send + 'static,
{
    fn from(judge: F) -> Self {
        Self::by(judge)
    }
}

impl fmt::Debug for Decide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decide")
            .field("within", &self.within)
            .field("otherwise", &self.otherwise)
            .finish_non_exhaustive()
    }
}
