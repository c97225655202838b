//! Settings of a processor.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};

use super::drive::{Drive, run};
use super::outlet::Outlet;
use super::policies::Policies;
use super::{Handle, Outcome, StreamProcessor};
use crate::block::MAX_STAGES;
use crate::engine::{Config, Engine};
use crate::policy::{Attention, Policy};
use crate::record::Observer;

/// Builds a [`StreamProcessor`]: policies in order, settings, an observer.
#[derive(Default)]
#[must_use]
pub struct Builder {
    policies: Vec<Box<dyn Policy>>,
    config: Config,
    observer: Option<Box<dyn Observer>>,
}

impl Builder {
    /// Adds a policy behind those before: the output of one is the input of the next.
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policies.push(Box::new(policy));
        self
    }

    /// Sets the stream's settings.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Reports what happens to an observer.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Starts on an upstream.
    ///
    /// # Errors
    ///
    /// When the policies cannot work together; see [`BuildError`].
    pub fn build<S, B, E>(self, upstream: S) -> Result<StreamProcessor, BuildError>
    where
        S: Stream<Item = Result<B, E>> + Send + 'static,
        B: AsRef<[u8]> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        self.check()?;
        Ok(self.start(upstream))
    }

    /// Takes a whole, not streamed, response through the same policies (rule 24).
    ///
    /// # Errors
    ///
    /// When the policies cannot work together; see [`BuildError`].
    pub async fn whole(mut self, body: impl Into<Bytes> + Send) -> Result<Whole, BuildError> {
        self.check()?;
        let mut engine = self.engine();
        engine.push_whole(body.into(), std::time::Duration::ZERO);
        let nothing = stream::empty::<Result<Bytes, std::convert::Infallible>>();
        let processor = self.spawnless(engine, nothing);
        let handle = processor.handle();
        let parts: Vec<Bytes> = processor.collect().await;
        let body = parts.into_iter().next().unwrap_or_default();
        Ok(Whole { body, outcome: handle.outcome() })
    }

    pub(super) fn start<S, B, E>(mut self, upstream: S) -> StreamProcessor
    where
        S: Stream<Item = Result<B, E>> + Send + 'static,
        B: AsRef<[u8]> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        let engine = self.engine();
        self.spawnless(engine, upstream)
    }

    fn engine(&mut self) -> Engine {
        let policies: Vec<&dyn Policy> =
            self.policies.iter().map(|policy| &**policy as &dyn Policy).collect();
        let mut engine = Engine::new(self.config.clone(), &policies);
        if let Some(observer) = self.observer.take() {
            engine.observe(observer);
        }
        engine
    }

    fn spawnless<S, B, E>(self, engine: Engine, upstream: S) -> StreamProcessor
    where
        S: Stream<Item = Result<B, E>> + Send + 'static,
        B: AsRef<[u8]> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        let outlet = Arc::new(Outlet::default());
        let handle = Handle::default();
        let drive = Drive {
            engine,
            policies: Policies::new(self.policies),
            limits: self.config.limits,
            outlet: Arc::clone(&outlet),
            handle: handle.clone(),
        };
        StreamProcessor { run: Box::pin(run(drive, upstream)), outlet, handle, over: false }
    }

    fn check(&self) -> Result<(), BuildError> {
        // Where all policies only watch, the stream has a stage of its own.
        let enforces = self.policies.iter().any(Policy::enforces);
        let limit = if enforces { MAX_STAGES } else { MAX_STAGES - 1 };
        if self.policies.len() > limit {
            return Err(BuildError::TooMany { limit, found: self.policies.len() });
        }
        let mut hider = None;
        for policy in &self.policies {
            let needs = policy.needs_for(&self.config.request);
            if let (Some(hider), true) = (&hider, needs.calls != Attention::Nothing) {
                return Err(BuildError::BlindPolicy {
                    hider: String::clone(hider),
                    blind: policy.name().to_owned(),
                });
            }
            if needs.session && !self.config.request.tells_session() {
                return Err(BuildError::NoSession { policy: policy.name().to_owned() });
            }
            if needs.text_calls && self.config.text_calls.is_none() {
                return Err(BuildError::NoTextCalls { policy: policy.name().to_owned() });
            }
            if needs.hides_calls && policy.enforces() {
                hider = Some(policy.name().to_owned());
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policies: Vec<&str> = self.policies.iter().map(Policy::name).collect();
        f.debug_struct("Builder")
            .field("policies", &policies)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// A whole response after its policies.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The body for the client: the original bytes if nothing was changed.
    pub body: Bytes,
    /// How it went.
    pub outcome: Option<Outcome>,
}

/// Why policies cannot work together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A policy that needs calls stands behind one that turns calls into text: it would never see one.
    BlindPolicy {
        /// The policy that turns calls into text.
        hider: String,
        /// The policy that would see none.
        blind: String,
    },
    /// A policy counts by session, and the request does not say to which it belongs, nor that it has none: the policy
    /// would never count.
    NoSession {
        /// The policy that counts.
        policy: String,
    },
    /// A policy is about calls that are written as text, and the settings do not say which are looked for: the policy
    /// would never see one.
    NoTextCalls {
        /// The policy that would see none.
        policy: String,
    },
    /// There are too many policies.
    TooMany {
        /// How many there may be.
        limit: usize,
        /// How many there are.
        found: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlindPolicy { hider, blind } => write!(
                f,
                "expected {blind}, which needs tool calls, before {hider}, which turns them into text; found it behind"
            ),
            Self::NoSession { policy } => write!(
                f,
                "expected a request that names its session, by which {policy} counts, or says that it has none; found neither"
            ),
            Self::NoTextCalls { policy } => write!(
                f,
                "expected settings that say which calls are looked for in the text, for {policy}; found none: it would never see a call"
            ),
            Self::TooMany { limit, found } => write!(f, "expected at most {limit} policies, found {found}"),
        }
    }
}

impl std::error::Error for BuildError {}
