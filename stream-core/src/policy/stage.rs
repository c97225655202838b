//! How policies are run: stages, and chains of them.

use std::fmt;
use std::time::Duration;

use super::Policy;

/// A policy, and how it is run.
///
/// Whoever takes a policy takes a `Stage`: a policy by itself is a stage that fails closed, within the stream's limits.
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
    /// A stage that fails closed, is enforced, and has the stream's limits.
    pub fn new(policy: impl Policy + 'static) -> Self {
        Self {
            policy: Box::new(policy),
            name: None,
            on_failure: OnFailure::Close,
            time_limit: None,
            monitored: false,
        }
    }

    /// Records the policy's decisions under another name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Fails open: when the policy fails, what it held is released in order, and the policy is not called again. A
    /// judge that fails releases the block it was asked about.
    ///
    /// For policies whose absence is better than an outage: statistics, notices.
    pub fn fail_open(mut self) -> Self {
        self.on_failure = OnFailure::Open;
        self
    }

    /// Fails closed, as is the default: when the policy fails, what is held is dropped and the client gets an error ending.
    pub fn fail_closed(mut self) -> Self {
        self.on_failure = OnFailure::Close;
        self
    }

    /// A tighter limit for the policy's hooks and decisions than [`Limits::policy`](crate::limits::Limits::policy), which
    /// holds in any case for hooks. A hook or decision that takes longer has failed. Said twice, the shorter limit holds.
    pub fn within(mut self, limit: Duration) -> Self {
        self.time_limit = Some(self.time_limit.map_or(limit, |own| own.min(limit)));
        self
    }

    /// A dry run: the policy sees what it would see and holds what it would hold, but the stream leaves without it, at once.
    /// What the policy does is recorded as a [`Decision`](crate::record::Decision) that was not enforced.
    ///
    /// A hook that waits still delays the stream; a [decision](crate::context::Context::decide) does not, but for the very
    /// end: when all output has left, the decisions that are still under way are waited for.
    pub fn monitor(mut self) -> Self {
        self.monitored = true;
        self
    }

    /// Puts another policy around this one. The outer policy is run with the options of this stage.
    pub fn wrap<P: Policy + 'static>(self, around: impl FnOnce(Box<dyn Policy>) -> P) -> Self {
        Self { policy: Box::new(around(self.policy)), ..self }
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &dyn Policy {
        &*self.policy
    }

    /// The name under which decisions are recorded.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| self.policy.name())
    }

    /// What happens when the policy fails.
    #[must_use]
    pub fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    /// The limit of the policy's own.
    #[must_use]
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// Whether the policy is enforced. A policy that is not enforced is a [dry run](Self::monitor).
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

/// Stages in order: the output of one is the input of the next. A processor, a plan, a replay and a policy file all take
/// or make a chain.
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
    /// No stages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a stage behind those before.
    pub fn then(mut self, stage: impl Into<Stage>) -> Self {
        self.0.push(stage.into());
        self
    }

    /// Adds the stages of another chain behind those before.
    pub fn then_all(mut self, chain: Self) -> Self {
        self.0.extend(chain.0);
        self
    }

    /// Changes every stage in the same way: a whole chain that fails open, or is monitored.
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

    /// How many stages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
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

/// What happens when a policy fails (rule 16).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// Fail closed: held blocks are dropped, the client gets an error ending.
    #[default]
    Close,
    /// Fail open: blocks that the policy held are released in order, and the policy is not called again.
    Open,
}
