//! Time, as the host gives it: deadlines, silence, keep-alives.

use std::time::Duration;

use bytes::Bytes;

use super::{Engine, Failure};
use crate::engine::shutdown::Shutdown;
use crate::error::{Error, ErrorKind};
use crate::record::Cause;

impl Engine {
    /// Sets the time; nothing is due by that.
    pub(crate) fn set_time(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    /// Sets the time of the last output and of the last read, for frames of the lane that were written until now.
    #[cfg(feature = "processor")]
    pub(crate) fn passed_until(&mut self, now: Duration) {
        self.set_time(now);
        self.last_output = self.now;
        self.idle_from = self.now;
    }

    /// The time at which [`tick`](Self::tick) is due, unless there is another input before.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let limits = &self.config.shared.limits;
        let idle = self.wants_input().then(|| self.idle_from.saturating_add(self.patience()));
        let judged = self.tickets.first();
        let due = self.due.first();
        let keep_alive = limits
            .keep_alive
            .filter(|_| self.may_keep_alive())
            .map(|every| self.last_output.saturating_add(every));
        first_of(first_of(idle, keep_alive), first_of(judged, due))
    }

    /// Carries out what is due: late judges, verdicts by time, the end of a silent upstream, keep-alives.
    pub(super) fn tick(&mut self) {
        for ticket in self.tickets.late(self.now) {
            self.verdict(ticket, Err(Failure::TimedOut));
        }
        self.settle_due();
        let idle = self.patience();
        if self.wants_input() && self.now >= self.idle_from.saturating_add(idle) {
            let message = format!("expected bytes, found silence for {idle:?}");
            self.reader.end(Some(Error::new(ErrorKind::Idle, message)));
        }
        if let Some(every) = self.config.shared.limits.keep_alive
            && self.may_keep_alive()
            && self.now >= self.last_output.saturating_add(every)
        {
            self.last_output = self.now;
            let first = self.out.bytes.len();
            self.out.bytes.extend(self.keep_alive());
            self.report_written(first);
        }
    }

    /// The keep-alive of the format, while the format is known and the answer has not ended.
    pub(super) fn keep_alive(&self) -> Option<Bytes> {
        let writer =
            self.writer.as_ref().filter(|writer| !writer.ended() && !self.is_whole && !self.written)?;
        Some(writer.keep_alive())
    }

    /// The time limit of the hooks of a stage.
    pub(super) fn time_limit(&self, stage: usize) -> Duration {
        let limit = self.config.shared.limits.policy;
        self.own_time_limit(stage).map_or(limit, |own| own.min(limit))
    }

    /// The time limit of a judge of a stage, for which the hook set `within`.
    pub(super) fn time_to_decide(&self, stage: usize, within: Option<Duration>) -> Duration {
        let Some(within) = within else { return self.time_limit(stage) };
        self.own_time_limit(stage).map_or(within, |own| own.min(within))
    }

    fn own_time_limit(&self, stage: usize) -> Option<Duration> {
        self.specs.get(stage)?.time_limit
    }

    /// Settles the blocks whose time is over and that still have held parts.
    fn settle_due(&mut self) {
        for key in self.due.late(self.now) {
            let Some(verdict) = self.due.remove(key) else { continue };
            let stage = key.stage();
            let account = self.stages.get(stage).and_then(|stage| stage.accounts.get(key));
            let is_held = account.is_some_and(|account| account.undecided > 0 && account.pending.is_none());
            if is_held && !self.shutdown.as_deref().is_some_and(Shutdown::is_abrupt) {
                self.carry_out(key, verdict, Cause::Deadline);
            }
        }
    }

    /// The longest silence of the upstream, which is short behind the terminal marker.
    fn patience(&self) -> Duration {
        let over = self.stages.first().is_some_and(|stage| stage.fold.state.is_terminal());
        let idle = self.config.shared.limits.idle;
        if over { idle.min(LINGER) } else { idle }
    }

    fn may_keep_alive(&self) -> bool {
        self.held() > 0 && !self.is_whole && !self.written
    }
}

/// The earlier of two times, if there are two.
fn first_of(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The longest silence behind the terminal marker. Some providers send pings there, and one sends its cost.
const LINGER: Duration = Duration::from_secs(5);
