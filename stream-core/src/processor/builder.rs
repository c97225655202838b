//! The builder of a processor.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use tokio::time::Instant;

use super::alarm::Alarm;
use super::aside::Aside;
use super::core::Core;
use super::{Handle, Outcome, StreamProcessor};
use crate::engine::{BuildError, Config, Engine, Input};
use crate::error::BoxError;
use crate::policy::{Chain, Stage};
use crate::record::{Action, Cause, Decision, Observer};
use crate::scrub;
use crate::wire::Quoted;

/// Builds a [`StreamProcessor`]: policies in order, settings, an observer.
#[derive(Default)]
#[must_use]
pub struct Builder {
    chain: Chain,
    config: Config,
    observer: Option<Box<dyn Observer>>,
}

impl Builder {
    /// Appends a policy, or a [`Stage`]: the output of one is the input of the next.
    pub fn policy(mut self, policy: impl Into<Stage>) -> Self {
        self.chain = self.chain.then(policy);
        self
    }

    /// Appends the stages of a chain.
    pub fn chain(mut self, chain: Chain) -> Self {
        self.chain = self.chain.then_all(chain);
        self
    }

    /// Sets the settings of the stream.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets the observer.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Builds the processor over an upstream. Nothing is read before the processor is polled.
    ///
    /// # Errors
    ///
    /// When the policies cannot work together; see [`BuildError`].
    pub fn build<S, B, E>(self, upstream: S) -> Result<StreamProcessor, BuildError>
    where
        S: Stream<Item = Result<B, E>> + Send + 'static,
        B: Into<Bytes> + Send + 'static,
        E: Into<BoxError> + Send + 'static,
    {
        self.core(upstream).map(StreamProcessor::of)
    }

    /// Runs the policies over a response that is not streamed.
    ///
    /// # Errors
    ///
    /// When the policies cannot work together; see [`BuildError`].
    pub async fn whole(self, body: impl Into<Bytes> + Send) -> Result<Whole, BuildError> {
        let mut core = self.core(stream::empty::<Result<Bytes, std::convert::Infallible>>())?;
        core.take_input(Some(Input::Whole(body.into())));
        let processor = StreamProcessor::of(core);
        let handle = processor.handle();
        let parts: Vec<Bytes> = processor.collect().await;
        let body = parts.into_iter().next().unwrap_or_default();
        Ok(Whole { body, outcome: handle.outcome() })
    }

    /// What the policies leave of an error that the upstream sends in place of an answer, which is no answer of any API and which
    /// no hook is shown: its strings without what policies [take out of every string](crate::policy::Needs::scrub). `None` if the error
    /// [holds what a model said](crate::wire::Quoted) and a policy looks at something.
    ///
    /// ```
    /// use stream_core::{StreamProcessor, Verdict, each_call};
    ///
    /// let builder = || StreamProcessor::builder().policy(each_call(|_, _| Verdict::Release));
    /// let error = r#"{"detail":"Not Found"}"#;
    /// assert_eq!(builder().error(error).as_deref(), Some(error.as_bytes()));
    /// assert_eq!(builder().error(r#"{"detail":{"choices":[{}]}}"#), None);
    /// ```
    #[must_use]
    pub fn error(mut self, body: impl Into<Bytes>) -> Option<Bytes> {
        let mut body = body.into();
        let needs = |stage: &Stage| stage.policy.needs(&self.config.request);
        let looks = self.chain.iter().any(|stage| !stage.monitored && !needs(stage).is_nothing());
        if looks && Quoted::in_json(&body).is_any() {
            return None;
        }
        for stage in &self.chain {
            let needs = needs(stage);
            let found = needs.scrubs_frames().and_then(|scrub| scrub::error(&body, &**scrub));
            let Some(found) = found else { continue };
            let decision = Decision {
                reason: found.reason.clone(),
                bytes: body.len(),
                enforced: !stage.monitored,
                ..Decision::new(stage.name(), Action::Edited, Cause::Verdict)
            };
            if let Some(observer) = &mut self.observer {
                observer.decision(&decision);
            }
            if !stage.monitored {
                body = Bytes::from(found.body().to_owned());
            }
        }
        Some(body)
    }

    fn core<S, B, E>(self, upstream: S) -> Result<Core, BuildError>
    where
        S: Stream<Item = Result<B, E>> + Send + 'static,
        B: Into<Bytes> + Send + 'static,
        E: Into<BoxError> + Send + 'static,
    {
        let keep_alive = self.config.shared.limits.keep_alive;
        let mut engine = Engine::new(self.config, self.chain)?;
        if let Some(observer) = self.observer {
            engine.observe(observer);
        }
        Ok(Core {
            alarm: Alarm::default(),
            aside: Aside::default(),
            upstream: Some(Box::pin(upstream)),
            engine,
            outlet: Arc::default(),
            handle: Handle::default(),
            start: Instant::now(),
            keep_alive,
            passed: false,
            works: false,
        })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("policies", &self.chain)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// A whole response, as its policies left it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Whole {
    /// The body for the client: the original bytes if no policy changed them.
    pub body: Bytes,
    /// The outcome: format, usage, and the error that closed the response, if any.
    pub outcome: Option<Outcome>,
}
