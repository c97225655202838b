//! Hooks that are due.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;

#[cfg(feature = "processor")]
use super::Work;
use super::{Engine, Failure};
use crate::context::Effects;
use crate::engine::shutdown::Shutdown;
use crate::policy::{Ran, Step};
use crate::record::StepView;

/// A hook of a policy that is due: the host calls the hook, and then commits its result.
///
/// The effects of a hook take place in [`commit`](Self::commit). A hook that is dropped without a
/// commit has no effects.
#[must_use = "a hook that is due must be called and committed"]
pub struct Hook<'e> {
    engine: &'e mut Engine,
    stage: usize,
    is_end: bool,
    effects: Effects,
}

impl<'e> Hook<'e> {
    pub(super) fn new(engine: &'e mut Engine, stage: usize, is_end: bool) -> Self {
        Self { engine, stage, is_end, effects: Effects::default() }
    }

    /// The position of the stage in its chain, from 0.
    #[must_use]
    pub fn stage(&self) -> usize {
        self.stage
    }

    /// The time limit of the hook.
    #[must_use]
    pub fn time_limit(&self) -> Duration {
        self.engine.time_limit(self.stage)
    }

    /// A keep-alive for the client while the hook runs, if the format has one and allows it now.
    #[must_use]
    pub fn keep_alive(&self) -> Option<Bytes> {
        self.engine.keep_alive()
    }

    /// Returns whether the engine still reads from the upstream; if not, the connection can be closed.
    #[must_use]
    pub fn is_reading(&self) -> bool {
        self.engine.is_reading()
    }

    /// Returns whether the hook may have to wait.
    #[cfg(feature = "processor")]
    pub(crate) fn waits(&self) -> bool {
        self.engine.policies.may_wait(self.stage)
    }

    /// Leaves the hook to the next call of [`poll`](Engine::poll).
    #[cfg(feature = "processor")]
    pub(crate) fn later(self) {
        self.engine.next = Some(if self.is_end { Work::End(self.stage) } else { Work::Chunk(self.stage) });
    }

    /// Calls the hook. The future of a hook that never waits is ready at its first poll.
    ///
    /// # Errors
    ///
    /// When the hook returned an error, or panicked.
    pub async fn call(&mut self) -> Result<(), Failure> {
        let (stage, held) = (self.stage, self.engine.held());
        let Engine { policies, stages, config, now, observer, shutdown, .. } = &mut *self.engine;
        let Some(of) = stages.get(stage) else { return Ok(()) };
        let (step, mut ctx) = if self.is_end {
            policies.close(stage);
            let Some(end) = shutdown.as_deref().map(Shutdown::end) else { return Ok(()) };
            (Step::End(end.clone()), of.context(&config.request, *now))
        } else {
            let Some((chunk, ctx)) = of.hook(&config.request, *now) else { return Ok(()) };
            if let Some(observer) = observer {
                let state = &of.fold.state;
                observer.step(&StepView { stage, policy: &of.name, chunk: &chunk, state, held });
            }
            (Step::Chunk(chunk), ctx)
        };
        let Some(policy) = policies.get(stage) else { return Ok(()) };
        let hook = async {
            match policy.run(step, &of.fold.state, &mut ctx) {
                Ran::Now(returned) => returned,
                Ran::Waits(hook) => hook.await,
            }
        };
        let returned = AssertUnwindSafe(hook).catch_unwind().await;
        self.effects = ctx.into_effects();
        returned.map_err(|_| Failure::Panicked)?.map_err(Failure::Failed)
    }

    /// Carries out the staged effects if the hook returned `Ok`; else the policy has failed.
    pub fn commit(self, returned: Result<(), Failure>, now: Duration) {
        self.engine.set_time(now);
        match returned {
            Ok(()) => self.engine.commit(self.stage, self.effects),
            Err(failure) => self.engine.fail(self.stage, failure),
        }
    }

    /// Calls and commits the hook, for a host that cannot wait: a hook that is not ready at once counts as timed out.
    pub fn run(mut self, now: Duration) {
        let returned = self.call().now_or_never().unwrap_or(Err(Failure::TimedOut));
        self.commit(returned, now);
    }
}

impl fmt::Debug for Hook<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("stage", &self.stage)
            .field("is_end", &self.is_end)
            .finish_non_exhaustive()
    }
}
