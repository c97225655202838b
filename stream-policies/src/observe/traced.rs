//! Decisions as `tracing` events.

use stream_core::{Action, Decision, Error, Observer};
use tracing::Level;

/// Emits an event of target `stream::decision` for every decision, in the span that the stream is polled in: `WARN` where
/// the stream was ended or a policy failed, `INFO` where something was edited, dropped or inserted, `DEBUG` where what was
/// held left as it came. Fields: `policy`, `action`, `enforced`, `block`, `reason`, `bytes`, `held_ms`. A stream that is
/// closed for an error is a `WARN` of target `stream::error`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traced;

macro_rules! emit {
    ($level:expr, $decision:expr) => {
        tracing::event!(
            target: "stream::decision",
            $level,
            policy = $decision.policy.as_str(),
            action = $decision.action.word(),
            enforced = $decision.enforced,
            block = $decision.block.map(tracing::field::display),
            reason = $decision.reason.as_deref(),
            bytes = $decision.bytes,
            held_ms = u64::try_from($decision.held.as_millis()).unwrap_or(u64::MAX),
        )
    };
}

impl Observer for Traced {
    fn decision(&mut self, decision: &Decision) {
        match decision.action {
            Action::Terminated | Action::Failed => emit!(Level::WARN, decision),
            Action::Released => emit!(Level::DEBUG, decision),
            _ => emit!(Level::INFO, decision),
        }
    }

    fn error(&mut self, error: &Error) {
        tracing::event!(target: "stream::error", Level::WARN, error = %error);
    }
}
