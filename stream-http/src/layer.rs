//! The layer.

use std::fmt;
use std::sync::Arc;

use stream_core::Config;
use tower_layer::Layer;

use crate::{Facts, Plan, PolicyService, Settings};

/// Puts policies between a service that answers for a model and its clients.
///
/// The function is called for each answer that is policed, with what is known of its request, and says what the answer
/// goes through: one policy value per answer.
///
/// ```
/// use stream_core::Passthrough;
/// use stream_http::{Facts, Plan, PolicyLayer};
///
/// let layer = PolicyLayer::new(|facts: &Facts| match facts.model() {
///     Some("trusted") => Plan::new(),
///     _ => Plan::new().policy(Passthrough),
/// });
/// println!("{}", layer.settings().describe());
/// ```
#[derive(Clone)]
#[must_use]
pub struct PolicyLayer(Shared);

impl PolicyLayer {
    /// A layer with default [`Settings`].
    pub fn new<F, P>(plan: F) -> Self
    where
        F: Fn(&Facts) -> P + Send + Sync + 'static,
        P: Into<Plan>,
    {
        Self::with_settings(Settings::new(), plan)
    }

    /// A layer with settings of its own.
    pub fn with_settings<F, P>(settings: Settings, plan: F) -> Self
    where
        F: Fn(&Facts) -> P + Send + Sync + 'static,
        P: Into<Plan>,
    {
        let plan: Box<Planner> = Box::new(move |facts| plan(facts).into());
        let config = Config::default()
            .limits(settings.limits)
            .interleaved_calls(settings.interleaved_calls)
            .empty_notice(settings.empty_notice.as_deref());
        Self(Shared(Arc::new(Inner { settings, config, plan })))
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        self.0.settings()
    }

    /// What is policed, what passes and what is refused; see [`Settings::describe`].
    #[must_use]
    pub fn describe(&self) -> String {
        self.settings().describe()
    }
}

impl<S> Layer<S> for PolicyLayer {
    type Service = PolicyService<S>;

    fn layer(&self, inner: S) -> PolicyService<S> {
        PolicyService::new(inner, self.0.clone())
    }
}

impl fmt::Debug for PolicyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyLayer").field("settings", self.settings()).finish_non_exhaustive()
    }
}

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Inner>);

struct Inner {
    settings: Settings,
    /// What the streams of all answers have in common.
    config: Config,
    plan: Box<Planner>,
}

type Planner = dyn Fn(&Facts) -> Plan + Send + Sync;

impl Shared {
    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The settings of a stream, but for what its request says.
    pub(crate) fn config(&self) -> Config {
        self.0.config.clone()
    }

    pub(crate) fn plan(&self, facts: &Facts) -> Plan {
        (self.0.plan)(facts)
    }
}
