//! Stages and chains.

use std::fmt;
use std::time::Duration;

use super::Policy;

/// A policy, and how it is run.
///
/// Every function that takes a policy takes `impl Into<Stage>`. A policy by itself is a stage that fails closed, within the limits of the stream.
///
/// ```
/// use std::time::Duration;
/// use stream_core::{Passthrough, Stage, StreamProcessor};
///
/// let builder = StreamProcessor::builder()
///     .policy(Stage::new(Passthrough).fail_open().within(Duration::from_millis(200)))
///     .policy(Stage::new(Passthrough).monitor())
///     .policy(Passthrough);
/// # let _ = builder;
/// ```
#[must_use]
pub struct Stage {
    pub(crate) policy: Box<dyn Policy>,
    pub(crate) name: Option<String>,
    pub(crate) on_failure: OnFailure,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) monitored: bool,
}

impl Stage {
    /// Creates a stage that fails closed, is enforced, and has the limits of the stream.
    pub fn new(policy: impl Policy + 'static) -> Self {
        Self {
            policy: Box::new(policy),
            name: None,
            on_failure: OnFailure::Close,
            time_limit: None,
            monitored: false,
        }
    }

    /// Sets the name under which decisions are recorded.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Makes the stage fail open: when the policy fails, the blocks that it holds are released in order, and the policy is not called again.
    /// A judge that fails releases its block.
    ///
    /// Fail-open suits policies whose absence is better than an outage: statistics, notices.
    pub fn fail_open(mut self) -> Self {
        self.on_failure = OnFailure::Open;
        self
    }

    /// Makes the stage fail closed, the default: when the policy fails, held blocks are dropped and the client gets an error ending.
    pub fn fail_closed(mut self) -> Self {
        self.on_failure = OnFailure::Close;
        self
    }

    /// Sets a shorter time limit for hooks and decisions than [`Limits::policy`](crate::limits::Limits::policy), which bounds hooks in any
    /// case. A hook or decision that exceeds the limit has failed. Of two calls, the shorter limit counts.
    pub fn within(mut self, limit: Duration) -> Self {
        self.time_limit = Some(self.time_limit.map_or(limit, |own| own.min(limit)));
        self
    }

    /// Makes the stage a dry run: the policy is shown every step and holds blocks in its own books, while the stream passes at once, unchanged.
    /// Records of the stage have [`enforced`](crate::record::Decision::enforced) `false`.
    ///
    /// A hook that waits still delays the stream. A [decision](crate::context::Context::decide) delays only the end: when all output is written,
    /// the stream waits for the decisions of the dry run that are still open.
    pub fn monitor(mut self) -> Self {
        self.monitored = true;
        self
    }

    /// Wraps the policy in another one, which is run with the options of this stage.
    pub fn wrap<P: Policy + 'static>(self, around: impl FnOnce(Box<dyn Policy>) -> P) -> Self {
        Self { policy: Box::new(around(self.policy)), ..self }
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &dyn Policy {
        &*self.policy
    }

    /// The name of the stage in records.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| self.policy.name())
    }

    /// The outcome of a failure of the policy.
    #[must_use]
    pub fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    /// The time limit of the stage, if it has one of its own.
    #[must_use]
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// Returns whether the policy is enforced. A stage that is not enforced is a [dry run](Self::monitor).
    #[must_use]
    pub fn is_enforced(&self) -> bool {
        !self.monitored
    }
}

impl<P: Policy + 'static> From<P> for Stage {
    fn from(policy: P) -> Self {
        Self::new(policy)
    }
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage")
            .field("policy", &self.name())
            .field("on_failure", &self.on_failure)
            .field("time_limit", &self.time_limit)
            .field("enforced", &self.is_enforced())
            .finish()
    }
}

/// Stages in order: the output of one is the input of the next. The builder, the plan of an HTTP layer and a replay take a chain; a
/// policy file makes one.
///
/// ```
/// use stream_core::{Chain, Passthrough, Stage, StreamProcessor};
///
/// let chain = Chain::new().then(Passthrough).then(Stage::new(Passthrough).fail_open());
/// assert_eq!(chain.len(), 2);
/// let builder = StreamProcessor::builder().chain(chain);
/// # let _ = builder;
/// ```
#[derive(Default)]
#[must_use]
pub struct Chain(Vec<Stage>);

impl Chain {
    /// Creates a chain without stages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a stage.
    pub fn then(mut self, stage: impl Into<Stage>) -> Self {
        self.0.push(stage.into());
        self
    }

    /// Appends the stages of another chain.
    pub fn then_all(mut self, chain: Self) -> Self {
        self.0.extend(chain.0);
        self
    }

    /// Changes every stage in the same way: all fail open, or all are dry runs.
    ///
    /// ```
    /// use stream_core::{Chain, Passthrough, Stage};
    ///
    /// let tried = Chain::new().then(Passthrough).then(Passthrough).each(Stage::monitor);
    /// assert!(tried.into_iter().all(|stage| !stage.is_enforced()));
    /// ```
    pub fn each(self, change: impl FnMut(Stage) -> Stage) -> Self {
        Self(self.0.into_iter().map(change).collect())
    }

    /// The number of stages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the chain has no stages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The stages, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Stage> {
        self.0.iter()
    }
}

impl<S: Into<Stage>> From<S> for Chain {
    fn from(stage: S) -> Self {
        Self::new().then(stage)
    }
}

impl IntoIterator for Chain {
    type Item = Stage;
    type IntoIter = std::vec::IntoIter<Stage>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Chain {
    type Item = &'a Stage;
    type IntoIter = std::slice::Iter<'a, Stage>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<Stage> for Chain {
    fn from_iter<I: IntoIterator<Item = Stage>>(stages: I) -> Self {
        Self(stages.into_iter().collect())
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(Stage::name)).finish()
    }
}

/// The outcome of a policy that returns `Err`, panics or exceeds its time limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// Fail closed: held blocks are dropped, the client gets an error ending.
    #[default]
    Close,
    /// Fail open: blocks that the policy held are released in order, and the policy is not called again.
    Open,
}
