//! What a policy answers.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use super::PolicyError;
use crate::wire::Ending;

/// What becomes of a block (rule 13): said by a hook with [`Context::settle`](crate::context::Context::settle), or by a
/// judge that was asked with [`Context::decide`](crate::context::Context::decide).
///
/// ```
/// use stream_core::{Ending, Replacement, Verdict};
///
/// let verdicts = [
///     Verdict::Release,
///     Verdict::drop("it reaches outside of the workspace"),
///     Verdict::Drop { reason: "not allowed".into(), notice: Some("[a tool call was blocked]".into()) },
///     Verdict::Replace(Replacement::arguments(r#"{"dry_run":true}"#).named("pretend")),
///     Verdict::Terminate(Ending::refuse("I cannot help with that.")),
/// ];
/// # let _ = verdicts;
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The held parts of the block leave.
    Release,
    /// The block does not leave.
    Drop {
        /// Why, for the record; never sent.
        reason: String,
        /// A text for the client in its place, where there is a place for one.
        notice: Option<String>,
    },
    /// The block leaves with other content.
    Replace(Replacement),
    /// The stream ends.
    Terminate(Ending),
}

impl Verdict {
    /// A [`Verdict::Drop`] without a notice.
    #[must_use]
    pub fn drop(reason: impl Into<String>) -> Self {
        Self::Drop { reason: reason.into(), notice: None }
    }
}

/// What a block is replaced with.
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
    /// Other arguments for a tool call: raw JSON, or the free text of a custom tool.
    pub fn arguments(arguments: impl Into<String>) -> Self {
        Self::new(With::Arguments(arguments.into()))
    }

    /// Other text. In place of a tool call or an opaque block, the text leaves where there is a place for one (rule 21).
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(With::Text(text.into()))
    }

    /// Exactly this text in place of a call that was [written as text](crate::block::ToolCall::written), outside of any
    /// wrapper around it. For the stages behind, the block is still the call that it was.
    pub fn written(text: impl Into<String>) -> Self {
        Self::new(With::Written(text.into()))
    }

    /// The structured call of the stream's format, with this id, in place of a call that was [written as
    /// text](crate::block::ToolCall::written). The text does not leave; the call stands behind all text, just before its
    /// choice finishes, and the finish reason says that there are calls.
    pub fn structured(id: impl Into<String>) -> Self {
        Self::new(With::Structured { id: id.into() })
    }

    fn new(with: With) -> Self {
        Self { with, name: None, reason: None }
    }

    /// Also another tool name, beside other arguments.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Why, for the record; never sent.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// The other arguments, if there are any.
    #[must_use]
    pub fn new_arguments(&self) -> Option<&str> {
        match &self.with {
            With::Arguments(arguments) => Some(arguments),
            _ => None,
        }
    }

    /// The other tool name, if there is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What stands in the place of text or arguments.
    pub(crate) fn body(&self) -> &str {
        match &self.with {
            With::Arguments(body) | With::Text(body) | With::Written(body) => body,
            With::Structured { .. } => "",
        }
    }
}

/// The oldest held chunks of a block leave; what is behind them stays held. For
/// [`Context::release`](crate::context::Context::release).
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Release {
    pub(crate) texts: Vec<Option<String>>,
    pub(crate) reason: Option<String>,
    pub(crate) cuts: bool,
}

impl Release {
    /// One held chunk leaves for each item: as it came for `None`, with other text or arguments for `Some`.
    pub fn first(texts: impl IntoIterator<Item = Option<String>>) -> Self {
        Self { texts: texts.into_iter().collect(), reason: None, cuts: false }
    }

    /// Why chunks were edited, for the record; never sent.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// The text ends with these chunks: what came behind the block in its choice, was let go and has not left because
    /// something before it was held is dropped. Held parts of other blocks are not touched.
    pub fn and_cut(mut self) -> Self {
        self.cuts = true;
        self
    }
}

/// A judge at work.
pub type VerdictFuture = Pin<Box<dyn Future<Output = Result<Verdict, PolicyError>> + Send>>;

/// Who decides over a block, and until when. For [`Context::decide`](crate::context::Context::decide), which also takes a
/// bare future.
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
    /// The future decides. While it is at work the block is held, the stream is read on, and other blocks are judged beside
    /// it.
    pub fn by(judge: impl Future<Output = Result<Verdict, PolicyError>> + Send + 'static) -> Self {
        Self { judge: Some(Box::pin(judge)), within: None, otherwise: None }
    }

    /// The time decides: what is still held of the block after this time gets the verdict. Until then the block is free to
    /// be sent, flushed, settled or given to a judge, and the end of the stream does not wait for it. Said again of a block,
    /// the later word counts.
    pub fn after(time: Duration, verdict: Verdict) -> Self {
        Self { judge: None, within: Some(time), otherwise: Some(verdict) }
    }

    /// The judge's deadline. Without one, the deadline is the policy's time limit.
    pub fn within(mut self, deadline: Duration) -> Self {
        self.within = Some(deadline);
        self
    }

    /// The verdict when the judge fails or its deadline passes. Without one, the block is dropped, or released where the stage
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
