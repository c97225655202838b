//! The layer.

use std::fmt;
use std::sync::Arc;

use tower_layer::Layer;

use super::record::{Observe, Run};
use super::service::ToolLoopService;
use super::settings::LoopSettings;
use super::tools::Tools;
use crate::{Facts, Settings};

/// Runs tools for the model, in one answer to the client.
///
/// The layer stands outside of the [`PolicyLayer`](crate::PolicyLayer), so that every answer is judged before it is read
/// here, and every call before it is run.
#[derive(Clone)]
#[must_use]
pub struct ToolLoop {
    tools: Tools,
    settings: LoopSettings,
    routes: Settings,
    when: Option<Arc<When>>,
    observe: Option<Arc<Observe>>,
}

impl ToolLoop {
    /// A loop over these tools, with default settings.
    pub fn new(tools: Tools) -> Self {
        Self { tools, settings: LoopSettings::new(), routes: Settings::new(), when: None, observe: None }
    }

    /// Sets bounds, notices and outcomes.
    pub fn settings(mut self, settings: LoopSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets which routes are read, and the limits of bodies and frames: those of the
    /// [`PolicyLayer`](crate::PolicyLayer) within.
    pub fn routes(mut self, settings: Settings) -> Self {
        self.routes = settings;
        self
    }

    /// Loops only requests for which the function answers `true`. All others pass as they came: their answers are not
    /// read, and their models are not offered any tool of the proxy's.
    pub fn when(mut self, when: impl Fn(&Facts) -> bool + Send + Sync + 'static) -> Self {
        self.when = Some(Arc::new(when));
        self
    }

    /// Tells a function of every call that was run, with the facts of its request. The function also hears of calls that
    /// were cancelled, and is called from a `Drop` then: it must neither block nor panic.
    pub fn observe(mut self, observe: impl Fn(&Run, &Facts) + Send + Sync + 'static) -> Self {
        self.observe = Some(Arc::new(observe));
        self
    }

    /// Which tools are run, a line for each; see [`Tools::describe`].
    #[must_use]
    pub fn describe(&self) -> String {
        self.tools.describe()
    }
}

impl<S> Layer<S> for ToolLoop {
    type Service = ToolLoopService<S>;

    fn layer(&self, inner: S) -> ToolLoopService<S> {
        let Self { tools, settings, routes, when, observe } = self.clone();
        ToolLoopService::new(inner, Arc::new(Shared { tools, settings, routes, when, observe }))
    }
}

impl fmt::Debug for ToolLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolLoop")
            .field("tools", &self.tools)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What all requests share.
pub(super) struct Shared {
    pub(super) tools: Tools,
    pub(super) settings: LoopSettings,
    pub(super) routes: Settings,
    pub(super) when: Option<Arc<When>>,
    pub(super) observe: Option<Arc<Observe>>,
}

/// Which requests are looped.
pub(super) type When = dyn Fn(&Facts) -> bool + Send + Sync;
