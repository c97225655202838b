//! A policy without consequences.

use stream_core::Policy;

use super::delegate;

/// Runs a policy and changes nothing.
///
/// The policy sees what it would see, its decisions are asked and timed, and everything it does is reported as a
/// [`Decision`](stream_core::Decision) that was not `enforced`: what would have been dropped, edited, inserted, how long it
/// would have been held, whether the stream would have been ended, whether the policy failed. Nothing of it takes place:
/// every byte leaves when it came. When all output has left, decisions that are still under way are waited for, so that
/// they are reported too. A hook that itself waits does delay the stream.
///
/// ```
/// use stream_core::{Action, Attention, Chunk, Context, Needs, Policy, PolicyError, StreamState, async_trait};
/// use stream_policies::compose::Monitor;
/// use stream_testkit::{Replay, Script, WireKind};
///
/// struct NoCalls;
///
/// #[async_trait]
/// impl Policy for NoCalls {
///     fn needs(&self) -> Needs {
///         Needs::nothing().calls(Attention::Completed)
///     }
///
///     async fn on_chunk(&mut self, _: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
///         if let Some(block) = state.just_completed() {
///             ctx.discard_because(block.key(), "no calls today");
///         }
///         Ok(())
///     }
/// }
///
/// let log = Script::new().call("call_1", "rm", "{}").to_log(WireKind::OpenAiChat);
/// let replayed = Replay::new(&log).policy(|| Monitor::new(NoCalls)).run();
/// assert_eq!(replayed.bytes(), log.bytes());
/// let decision = &replayed.decisions[0];
/// assert_eq!((decision.action, decision.enforced), (Action::Dropped, false));
/// assert_eq!(decision.reason.as_deref(), Some("no calls today"));
/// ```
#[derive(Debug, Clone)]
pub struct Monitor<P>(P);

impl<P: Policy> Monitor<P> {
    /// Watches what this policy would do.
    pub fn new(policy: P) -> Self {
        Self(policy)
    }
}

impl<P: Policy> Policy for Monitor<P> {
    delegate!(0: name needs on_failure time_limit awaits hooks);

    fn enforces(&self) -> bool {
        false
    }
}
