//! What a request's answer goes through.

use std::fmt;
use std::sync::Arc;

use stream_core::processor::Builder;
use stream_core::{Chain, Config, Observer, Request, Stage, StreamProcessor};

use crate::Facts;
use crate::watch::{Watch, Watched};

/// The policies that one answer goes through, in order, and who watches.
///
/// One that is empty lets everything pass; the answer is still read, and refused if it cannot be.
///
/// ```
/// use stream_core::Passthrough;
/// use stream_http::Plan;
///
/// let plan = Plan::new().policy(Passthrough);
/// assert_eq!(format!("{plan:?}"), r#"Plan { policies: ["Passthrough"], observed: false }"#);
/// ```
#[derive(Default)]
#[must_use]
pub struct Plan {
    chain: Chain,
    observer: Option<Box<dyn Observer>>,
    configure: Option<Configure>,
    extend: Vec<Extend>,
}

type Configure = Box<dyn FnOnce(Config) -> Config + Send>;
type Extend = Box<dyn FnOnce(Request) -> Request + Send>;

impl Plan {
    /// No policy yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a policy behind those before, and how it is run: the output of one is the input of the next.
    pub fn policy(mut self, policy: impl Into<Stage>) -> Self {
        self.chain = self.chain.then(policy);
        self
    }

    /// Adds the policies of a chain behind those before.
    pub fn chain(mut self, chain: Chain) -> Self {
        self.chain = self.chain.then_all(chain);
        self
    }

    /// Reports what happens to an observer.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Adds a value of the host's own type to what policies see as the [request](stream_core::Context::request): one of
    /// each type. A value wins over one that was there before, such as the session that the layer has read.
    ///
    /// ```
    /// use stream_core::{Passthrough, SessionKey};
    /// use stream_http::{Facts, Plan};
    ///
    /// fn plan(facts: &Facts) -> Plan {
    ///     // Put there by the host's own authentication.
    ///     let user = facts.extensions().get::<String>().cloned().unwrap_or_default();
    ///     Plan::new().policy(Passthrough).extension(SessionKey::new(user))
    /// }
    /// ```
    pub fn extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extend.push(Box::new(|request| request.extension(value)));
        self
    }

    /// Changes the stream's settings, which are those of the layer and of the request: whether calls are looked for in the
    /// text, other limits.
    ///
    /// ```
    /// use stream_core::Passthrough;
    /// use stream_core::text_calls::DialectSet;
    /// use stream_http::{Facts, Plan};
    ///
    /// fn plan(facts: &Facts) -> Plan {
    ///     let dialects = facts.model().map(DialectSet::for_model).unwrap_or_default();
    ///     Plan::new().policy(Passthrough).configure(|config| config.text_calls(dialects))
    /// }
    /// ```
    pub fn configure(mut self, change: impl FnOnce(Config) -> Config + Send + 'static) -> Self {
        self.configure = Some(Box::new(change));
        self
    }

    /// A processor's settings for this plan. Where the answer's status depends on what becomes of it, it is watched.
    pub(crate) fn builder(self, facts: &Facts, config: Config, watch: Option<Watch>) -> Builder {
        let request = match self.extend.is_empty() {
            true => Arc::clone(facts.request()),
            false => {
                let request = Request::clone(facts.request());
                Arc::new(self.extend.into_iter().fold(request, |request, extend| extend(request)))
            }
        };
        let config = config.format(facts.api().format()).request(request);
        let config = match self.configure {
            Some(change) => change(config),
            None => config,
        };
        let builder = StreamProcessor::builder().config(config).chain(self.chain);
        match (watch, self.observer) {
            (Some(watch), observer) => builder.observer(Watched::new(watch, observer)),
            (None, Some(observer)) => builder.observer(Watched::new(Watch::default(), Some(observer))),
            // Nobody looks, so that nothing is reported.
            (None, None) => builder,
        }
    }
}

impl<C: Into<Chain>> From<C> for Plan {
    fn from(chain: C) -> Self {
        Self::new().chain(chain.into())
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("policies", &self.chain)
            .field("observed", &self.observer.is_some())
            .finish()
    }
}
