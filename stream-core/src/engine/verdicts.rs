//! Effects of hooks, verdicts of judges and commands of the host, carried out.

use std::task::Poll;

use super::judging::Keeps;
use super::{Engine, Failure, Judging};
use crate::block::BlockKey;
use crate::context::Effects;
use crate::engine::accounts::Ticket;
use crate::engine::shutdown::Shutdown;
use crate::engine::stage::{Asked, StageState};
use crate::error::{Error, ErrorKind};
use crate::policy::{End, OnFailure, PolicyError, Verdict};
use crate::record::{Action, Cause};
use crate::wire::{Ending, Outgoing};

/// A judge that runs.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) key: BlockKey,
    /// The fallback.
    otherwise: Option<Verdict>,
    /// The hold on the judge, which is dropped with it.
    _keeps: Keeps,
}

impl Engine {
    /// Carries out the effects of a hook.
    pub(super) fn commit(&mut self, stage: usize, effects: Effects) {
        if let Some(misuse) = effects.misuse {
            self.fail(stage, Failure::Failed(PolicyError::new(misuse)));
            return;
        }
        let staged = self.observer.is_some().then(|| (effects.staged(), !self.stages[stage].is_shown()));
        let mut out = Vec::new();
        let committed = self.stages[stage].commit(effects, self.now, &mut out);
        for ticket in committed.settled {
            self.tickets.remove(ticket);
        }
        let mut asked = Vec::new();
        for Asked { key, within, otherwise, future } in committed.decide {
            let ticket = Ticket(self.next_ticket);
            self.next_ticket += 1;
            self.stages[stage].accounts.get_mut(key).pending = Some(ticket);
            let deadline = self.now.saturating_add(self.time_to_decide(stage, within));
            let (judging, keeps) = Judging::new(ticket, future);
            self.tickets.insert(ticket, deadline, Pending { key, otherwise, _keeps: keeps });
            asked.push(judging);
        }
        for (key, time, verdict) in committed.settle_after {
            self.due.insert(key, self.now.saturating_add(time), verdict);
        }
        if let Some((effects, at_end)) = staged {
            self.report_staged(stage, at_end, &effects);
        }
        self.forward(stage, out);
        if let Some(ending) = committed.terminate {
            self.terminate(stage, ending);
            return;
        }
        for mut judging in asked {
            match judging.at_once() {
                Poll::Ready(Some((ticket, verdict))) => self.verdict(ticket, verdict),
                Poll::Ready(None) => {}
                Poll::Pending => self.asked.push_back(judging),
            }
        }
    }

    /// Handles a hook that did not return `Ok`, of which no effect takes place.
    pub(super) fn fail(&mut self, stage: usize, failure: Failure) {
        self.policies.close(stage);
        let policy = &self.stages[stage];
        let expected = |kind, what| Error::new(kind, format!("expected {} to return, {what}", policy.name));
        let error = match failure {
            Failure::Failed(error) => expected(ErrorKind::PolicyFailed, format!("found an error: {error}"))
                .because(error.into_inner()),
            Failure::Panicked => expected(ErrorKind::PolicyPanicked, "found a panic".to_owned()),
            Failure::TimedOut => {
                let limit = self.time_limit(stage);
                expected(ErrorKind::PolicyTimedOut, format!("found none after {limit:?}"))
            }
        };
        let open = policy.on_failure == OnFailure::Open;
        self.record(stage, Action::Failed, error.to_string());
        if open {
            self.tickets.retain(|pending| pending.key.stage() != stage);
            let mut out = Vec::new();
            self.stages[stage].bypass(self.now, &mut out);
            self.forward(stage, out);
            return;
        }
        if self.stages[stage].watching {
            self.retire_watching(stage);
            return;
        }
        self.error = Some(Box::new(error.clone()));
        self.report_error();
        self.close_abruptly(
            stage,
            false,
            End::Cut(Some(error)),
            Ending::failure("a policy could not decide"),
        );
    }

    /// Carries out the verdict of a judge, or the consequence of its failure. A verdict that no longer counts is ignored.
    pub(super) fn verdict(&mut self, ticket: Ticket, verdict: Result<Verdict, Failure>) {
        let Some(Pending { key, otherwise, .. }) = self.tickets.remove(ticket) else { return };
        let stage = key.stage();
        let open = self.stages[stage].on_failure == OnFailure::Open;
        let mut cause = match &verdict {
            Ok(_) => Cause::Verdict,
            Err(Failure::TimedOut) => Cause::Deadline,
            Err(_) => Cause::PolicyFailed,
        };
        let verdict = verdict.unwrap_or_else(|failure| {
            let reason = match failure {
                Failure::Failed(error) => format!("the judge failed: {error}"),
                Failure::Panicked => "the judge panicked".to_owned(),
                Failure::TimedOut => "the judge took too long".to_owned(),
            };
            let fallback = || if open { Verdict::Release } else { Verdict::drop(reason) };
            otherwise.unwrap_or_else(fallback)
        });
        let misfit = match &verdict {
            Verdict::Replace(with) => self.stages[stage].takes(key, with).err(),
            _ => None,
        };
        if misfit.is_some() {
            cause = Cause::PolicyFailed;
        }
        let verdict = match misfit {
            Some(_) if open => Verdict::Release,
            Some(misfit) => Verdict::drop(format!("the judge failed: {misfit}")),
            None => verdict,
        };
        self.carry_out(key, verdict, cause);
    }

    /// Settles a block by the verdict of a judge or a deadline.
    pub(super) fn carry_out(&mut self, key: BlockKey, verdict: Verdict, cause: Cause) {
        let stage = key.stage();
        let (out, ending) = self.settle_block(key, verdict, cause);
        self.report_verdict(stage, key);
        self.forward(stage, out);
        if let Some(ending) = ending {
            self.terminate(stage, ending);
        }
    }

    /// Drops the held parts of a block by a command of the host, whatever its policy waits for.
    pub(super) fn discard(&mut self, key: BlockKey) {
        let stage = key.stage();
        let held = |stage: &StageState| {
            !stage.watching && stage.accounts.get(key).is_some_and(|account| account.undecided > 0)
        };
        if !self.stages.get(stage).is_some_and(held) {
            return;
        }
        self.tickets.retain(|pending| pending.key != key);
        let (out, _) = self.settle_block(key, Verdict::drop("the host cancelled it"), Cause::Host);
        self.forward(stage, out);
    }

    /// Settles a block. Returns the frames that pass now, and the ending, if the stream ends.
    fn settle_block(
        &mut self,
        key: BlockKey,
        verdict: Verdict,
        cause: Cause,
    ) -> (Vec<Outgoing>, Option<Ending>) {
        let mut out = Vec::new();
        let stage = &mut self.stages[key.stage()];
        stage.cause = cause;
        let ending = stage.verdict(key, verdict, self.now, &mut out);
        stage.cause = Cause::Verdict;
        (out, ending)
    }

    /// Drops the held parts of the call with this id, in whichever stage holds it.
    pub(super) fn discard_call(&mut self, id: &str) {
        let held = self.stages.iter().flat_map(|stage| {
            let calls = stage.fold.state.tool_calls().filter(|call| call.id() == Some(id));
            calls.map(crate::block::ToolCall::key)
        });
        let held: Vec<BlockKey> = held.collect();
        held.into_iter().for_each(|key| self.discard(key));
    }

    /// Ends the stream by a command of the host.
    pub(super) fn stop(&mut self, ending: Ending) {
        if self.written || self.shutdown.as_deref().is_some_and(Shutdown::is_abrupt) {
            return;
        }
        self.next = None;
        self.ensure_stages();
        let error = Error::new(ErrorKind::Host, "expected the stream to go on, found it ended by the host");
        self.error = Some(Box::new(error.clone()));
        self.close_abruptly(0, true, End::Cut(Some(error)), ending);
    }
}
