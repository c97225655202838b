//! What a law is tried on.

use std::sync::Arc;

use bytes::Bytes;
use stream_core::{Action, Config, Stage};

use super::events;
use crate::conformance::{Report, check, check_whole};
use crate::replay::{Replay, Replayed};
use crate::{ChunkLog, Cut};

/// Makes the policy of one stream.
pub(super) type Factory = Arc<dyn Fn() -> Stage + Send + Sync>;

/// One policy, one log, one cut.
#[derive(Clone)]
pub(super) struct Case<'a> {
    pub(super) factory: &'a Factory,
    pub(super) config: &'a Config,
    pub(super) log: ChunkLog,
    pub(super) cut: Cut,
    pub(super) seed: u64,
    pub(super) one_choice: bool,
    pub(super) strings: bool,
}

impl Case<'_> {
    /// The replay of this case, to be changed.
    pub(super) fn replay(&self) -> Replay {
        self.replay_of(&self.log).cut(self.cut)
    }

    /// The same policy on another log.
    pub(super) fn replay_of(&self, log: &ChunkLog) -> Replay {
        let factory = Arc::clone(self.factory);
        Replay::new(log).config(self.config.clone()).policy(move || factory())
    }

    /// As [`replay`](Self::replay), with texts and arguments in smaller fragments.
    pub(super) fn split(&self) -> Replay {
        self.replay().split_deltas(self.seed)
    }

    /// As [`replay`](Self::replay), with each text and all arguments in one piece.
    pub(super) fn merged(&self) -> Replay {
        self.replay().merge_deltas()
    }

    /// What a strict client makes of the input.
    pub(super) fn input(&self, run: &Replayed) -> Report {
        let check = if run.whole { check_whole } else { check };
        check(run.format, self.log.bytes())
    }

    /// The events of the log.
    pub(super) fn events(&self) -> Vec<Bytes> {
        events::of(self.log.bytes())
    }

    /// Up to `count` of `0..=end`, both ends among them, the same ones for the same seed.
    pub(super) fn points(&self, end: usize, count: usize) -> Vec<usize> {
        if end < count {
            return (0..=end).collect();
        }
        let stride = end / (count - 1);
        let shift = usize::try_from(self.seed).unwrap_or(usize::MAX) % stride.max(1);
        let between = (1..count - 1).map(|n| (n * stride + shift).min(end));
        std::iter::once(0).chain(between).chain(std::iter::once(end)).collect()
    }
}

/// Whether the stream was closed for an error, or a policy failed in it.
pub(super) fn went_wrong(run: &Replayed) -> bool {
    run.outcome.as_ref().is_some_and(|outcome| outcome.error.is_some()) || did(run, Action::Failed)
}

/// Whether anything of this kind was recorded.
pub(super) fn did(run: &Replayed, action: Action) -> bool {
    run.decisions.iter().any(|decision| decision.enforced && decision.action == action)
}

/// How a law was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Breach {
    pub(super) expected: String,
    pub(super) found: String,
}

impl Breach {
    pub(super) fn new<T>(expected: impl Into<String>, found: impl Into<String>) -> Result<T, Self> {
        Err(Self { expected: expected.into(), found: found.into() })
    }

    /// Two byte strings that should be equal, around their first difference.
    pub(super) fn differ<T>(what: &str, expected: &[u8], found: &[u8]) -> Result<T, Self> {
        let at = expected.iter().zip(found).take_while(|(one, other)| one == other).count();
        let show = |bytes: &[u8]| {
            let from = at.saturating_sub(BEFORE);
            let to = bytes.len().min(at + AFTER);
            let rest = if to < bytes.len() { "…" } else { " and its end" };
            format!("{:?}{rest}", String::from_utf8_lossy(&bytes[from.min(to)..to]))
        };
        Self::new(format!("{what}, at byte {at}: {}", show(expected)), show(found))
    }
}

/// How much is shown around a difference.
const BEFORE: usize = 24;
const AFTER: usize = 72;
