//! The engine: everything but the policy calls, without I/O and without a clock.
//!
//! A host pushes bytes, asks for [work](Engine::poll), calls the hook that is due, commits what it staged, and takes
//! the output. Time is an argument: a [`Duration`] since the stream started.
//!
//! ```
//! use std::time::Duration;
//! use futures::FutureExt as _;
//! use stream_core::{Engine, Config, Passthrough, Policy, engine::Work};
//!
//! let mut policy = Passthrough;
//! let mut engine = Engine::new(Config::default(), &[&policy]);
//! let body = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n";
//! engine.push(body, Duration::ZERO);
//! engine.end(None);
//! let mut out = Vec::new();
//! loop {
//!     match engine.poll() {
//!         Work::Chunk(stage) => {
//!             let Some((chunk, state, mut ctx)) = engine.chunk(stage) else { break };
//!             // A policy that never awaits is ready on the first poll.
//!             policy.on_chunk(chunk, state, &mut ctx).now_or_never().unwrap().unwrap();
//!             let effects = ctx.into_effects();
//!             engine.commit(stage, effects);
//!         }
//!         Work::End(stage) => engine.commit(stage, Default::default()).clear(),
//!         Work::Abort(_) => policy.on_abort(),
//!         Work::Wait | Work::Done => break,
//!     }
//! }
//! while let Some(bytes) = engine.output() {
//!     out.extend_from_slice(&bytes);
//! }
//! assert_eq!(out, body);
//! ```

mod config;
mod end;
mod flow;
mod report;
mod scrubbing;
mod time;
mod timed;
mod watching;
mod work;

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;

pub use config::Config;
pub use work::{Failure, Judging, Work};

use crate::block::{BlockKey, MAX_STAGES};
use crate::chunk::Chunk;
use crate::closing::Closing;
use crate::context::{Context, Effects};
use crate::error::{Error, ErrorKind};
use crate::intake::Intake;
use crate::ledger::Ticket;
use crate::policy::{End, Needs, OnFailure, Policy, PolicyError, Verdict};
use crate::record::{Action, Cause, Decision, Observer, StepView};
use crate::request::Request;
use crate::scrub::Scrubber;
use crate::stage::Stage;
use crate::state::StreamState;
use crate::text_calls::TextCalls;
use crate::wire::{Ending, Outgoing, SharedFormat, Writer};
use timed::Timed;

/// One stream, without I/O. See the [module](self).
pub struct Engine {
    config: Config,
    intake: Intake,
    text_calls: Option<TextCalls>,
    stages: Vec<Stage>,
    specs: Vec<Spec>,
    writer: Option<Box<dyn Writer>>,
    closing: Option<Closing>,
    tickets: Timed<Ticket, Pending>,
    next_ticket: u64,
    /// Blocks that are settled when their time is over.
    due: Timed<BlockKey, Verdict>,
    out: VecDeque<Bytes>,
    scratch: Vec<Bytes>,
    whole: Option<Outgoing>,
    is_whole: bool,
    now: Duration,
    /// Since when the upstream has been silent while it was waited for.
    idle_from: Duration,
    waiting: bool,
    last_output: Duration,
    error: Option<Error>,
    observer: Option<Box<dyn Observer>>,
    /// Whether a policy that is enforced looks at anything. If none does, every byte leaves as it came (rule 28).
    looks: bool,
    /// All output is there; stages that only watch may still have to come to their end.
    written: bool,
    done: bool,
}

/// What a stage is made of, once the format is known.
#[derive(Debug)]
struct Spec {
    name: String,
    needs: Needs,
    on_failure: OnFailure,
    time_limit: Option<Duration>,
    watching: bool,
    scrubber: Option<Scrubber>,
    /// A comment before the first event was taken out.
    dropped_early: bool,
}

impl Spec {
    fn of(policy: &dyn Policy, request: &Request) -> Self {
        Self {
            name: policy.name().to_owned(),
            needs: policy.needs_for(request),
            on_failure: policy.on_failure(),
            time_limit: policy.time_limit(),
            watching: !policy.enforces(),
            scrubber: policy.scrub(request).map(Scrubber::new),
            dropped_early: false,
        }
    }

    /// A stage that folds and looks at nothing: the way of a stream without policies, or with policies that only watch.
    fn none() -> Self {
        Self {
            name: "none".to_owned(),
            needs: Needs::nothing(),
            on_failure: OnFailure::Close,
            time_limit: None,
            watching: false,
            scrubber: None,
            dropped_early: false,
        }
    }
}

#[derive(Debug)]
struct Pending {
    stage: usize,
    key: BlockKey,
}

impl Engine {
    /// An engine for a stream that passes these policies, in order. At most 64; what comes after is left out (use
    /// [`StreamProcessor::builder`](crate::processor::StreamProcessor::builder), which refuses it).
    #[must_use]
    pub fn new(config: Config, policies: &[&dyn Policy]) -> Self {
        let spec = |policy: &&dyn Policy| Spec::of(*policy, &config.request);
        let mut specs: Vec<Spec> = policies.iter().take(MAX_STAGES).map(spec).collect();
        if specs.iter().all(|spec| spec.watching) {
            specs.truncate(MAX_STAGES - 1);
            specs.push(Spec::none());
        }
        let looks = specs.iter().any(|spec| !spec.watching && spec.needs != Needs::nothing());
        Self {
            intake: Intake::new(&config, looks),
            text_calls: None,
            stages: Vec::new(),
            specs,
            writer: None,
            closing: None,
            tickets: Timed::default(),
            next_ticket: 0,
            due: Timed::default(),
            out: VecDeque::new(),
            scratch: Vec::new(),
            whole: None,
            is_whole: false,
            now: Duration::ZERO,
            idle_from: Duration::ZERO,
            waiting: false,
            last_output: Duration::ZERO,
            error: None,
            observer: None,
            looks,
            written: false,
            done: false,
            config,
        }
    }

    /// Reports what happens to an observer.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observer = Some(observer);
    }

    /// Takes bytes from the upstream.
    pub fn push(&mut self, bytes: &[u8], now: Duration) {
        self.set_time(now);
        self.waiting = false;
        self.intake.push(bytes);
    }

    /// The upstream's bytes have ended, with an error in transport if there was one.
    pub fn end(&mut self, transport: Option<String>) {
        let error = transport.map(|what| {
            Error::new(
                ErrorKind::Transport,
                format!("expected the rest of the stream, found an error: {what}"),
            )
        });
        self.intake.end(error);
    }

    /// Takes a whole, not streamed, response. It leaves as a whole response (rule 24).
    pub fn push_whole(&mut self, body: Bytes, now: Duration) {
        self.set_time(now);
        self.is_whole = true;
        self.intake.push_whole(body);
    }

    /// Whether more bytes are of use. False when the stream is closing, and while the held limit is reached and a
    /// verdict is pending (rule 13).
    #[must_use]
    pub fn wants_input(&self) -> bool {
        self.is_reading() && !(self.is_full() && self.is_judging())
    }

    /// Whether the upstream has not ended and the stream is not closing: if false, its connection can go.
    #[must_use]
    pub fn is_reading(&self) -> bool {
        self.closing.is_none() && self.intake.is_open()
    }

    /// What there is to do. Call until it answers [`Work::Wait`] or [`Work::Done`].
    pub fn poll(&mut self) -> Work {
        let work = self.next_work();
        let waiting = work == Work::Wait;
        if waiting && !self.waiting {
            // Silence counts only while somebody listens.
            self.idle_from = self.now;
        }
        self.waiting = waiting;
        work
    }

    /// The chunk, state and context of the hook that is due in a stage.
    #[must_use]
    pub fn chunk(&mut self, stage: usize) -> Option<(Chunk, &StreamState, Context<'_>)> {
        let held = self.held();
        let stage_ref = self.stages.get(stage)?;
        let (chunk, ctx) = stage_ref.hook(&self.config.request, self.now)?;
        if let Some(observer) = &mut self.observer {
            let state = &stage_ref.fold.state;
            observer.step(&StepView { stage, policy: &stage_ref.name, chunk: &chunk, state, held });
        }
        Some((chunk, &stage_ref.fold.state, ctx))
    }

    /// How the stream ended, with state and context for `on_end`.
    #[must_use]
    pub fn ending(&self, stage: usize) -> Option<(End, &StreamState, Context<'_>)> {
        let end = self.closing.as_ref()?.end().clone();
        let stage = self.stages.get(stage)?;
        Some((end, &stage.fold.state, stage.context(&self.config.request, self.now)))
    }

    /// Carries out what a hook staged. The decisions it asked for are the host's to poll.
    pub fn commit(&mut self, stage: usize, effects: Effects) -> Vec<Judging> {
        if let Some(misuse) = effects.misuse {
            self.fail(stage, Failure::Failed(PolicyError::new(misuse)));
            return Vec::new();
        }
        let staged = self.observer.is_some().then(|| (effects.staged(), self.stages[stage].shown.is_none()));
        let mut out = Vec::new();
        let committed = self.stages[stage].commit(effects, self.now, &mut out);
        for ticket in committed.settled {
            self.tickets.remove(ticket);
        }
        let mut judging = Vec::new();
        for (key, within, future) in committed.decide {
            let ticket = Ticket(self.next_ticket);
            self.next_ticket += 1;
            self.stages[stage].ledgers.get_mut(key).pending = Some(ticket);
            let deadline = self.now.saturating_add(self.time_to_decide(stage, within));
            self.tickets.insert(ticket, deadline, Pending { stage, key });
            judging.push(Judging { ticket, future });
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
            return Vec::new();
        }
        judging
    }

    /// A hook did not return `Ok`: nothing it staged takes place.
    pub fn fail(&mut self, stage: usize, failure: Failure) {
        let policy = &self.stages[stage];
        let (kind, what) = match failure {
            Failure::Failed(error) => (ErrorKind::PolicyFailed, format!("found an error: {error}")),
            Failure::Panicked => (ErrorKind::PolicyPanicked, "found a panic".to_owned()),
            Failure::TimedOut => {
                (ErrorKind::PolicyTimedOut, format!("found none after {:?}", self.time_limit(stage)))
            }
        };
        let error = Error::new(kind, format!("expected {} to return, {what}", policy.name));
        let open = policy.on_failure == OnFailure::Open;
        self.record(stage, Action::Failed, error.to_string());
        if open {
            self.tickets.retain(|pending| pending.stage != stage);
            let mut out = Vec::new();
            self.stages[stage].bypass(self.now, &mut out);
            self.forward(stage, out);
            return;
        }
        if self.stages[stage].watching {
            self.retire_watching(stage);
            return;
        }
        self.error = Some(error.clone());
        self.report_error();
        self.close_abruptly(stage, false, End::Cut(Some(error)), Ending::error("a policy could not decide"));
    }

    /// The answer of a decision. An answer that is no longer waited for is ignored.
    pub fn verdict(&mut self, ticket: Ticket, verdict: Result<Verdict, Failure>) {
        let Some(Pending { stage, key }) = self.tickets.remove(ticket) else { return };
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
            if open { Verdict::Release } else { Verdict::drop(reason) }
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
        self.carry_out(stage, key, verdict, cause);
    }

    fn carry_out(&mut self, stage: usize, key: BlockKey, verdict: Verdict, cause: Cause) {
        let mut out = Vec::new();
        self.stages[stage].cause = cause;
        let ending = self.stages[stage].verdict(key, verdict, self.now, &mut out);
        self.stages[stage].cause = Cause::Verdict;
        self.report_verdict(stage, key);
        self.forward(stage, out);
        if let Some(ending) = ending {
            self.terminate(stage, ending);
        }
    }

    /// The host drops what is held of a block, whatever its policy is waiting for. False if nothing of it is held.
    pub fn discard(&mut self, key: BlockKey, reason: &str) -> bool {
        let stage = key.stage();
        let held = |stage: &Stage| {
            !stage.watching && stage.ledgers.get(key).is_some_and(|ledger| ledger.undecided > 0)
        };
        if !self.stages.get(stage).is_some_and(held) {
            return false;
        }
        self.tickets.retain(|pending| pending.key != key);
        let mut out = Vec::new();
        self.stages[stage].cause = Cause::Host;
        self.stages[stage].verdict(key, Verdict::drop(reason), self.now, &mut out);
        self.stages[stage].cause = Cause::Verdict;
        self.forward(stage, out);
        true
    }

    /// As [`discard`](Self::discard), for the call with this id in whichever stage holds it.
    pub fn discard_call(&mut self, id: &str, reason: &str) -> bool {
        let held = self.stages.iter().flat_map(|stage| {
            let calls = stage.fold.state.tool_calls().filter(|call| call.id() == Some(id));
            calls.map(crate::block::ToolCall::key)
        });
        let held: Vec<BlockKey> = held.collect();
        held.into_iter().filter(|key| self.discard(*key, reason)).count() > 0
    }

    /// The host ends the stream.
    pub fn stop(&mut self, ending: Ending) {
        if self.written || self.closing.as_ref().is_some_and(Closing::is_abrupt) {
            return;
        }
        self.ensure_stages();
        let error = Error::new(ErrorKind::Host, "expected the stream to go on, found it ended by the host");
        self.error = Some(error.clone());
        self.close_abruptly(0, true, End::Cut(Some(error)), ending);
    }

    /// The next bytes for the client.
    pub fn output(&mut self) -> Option<Bytes> {
        let bytes = self.out.pop_front()?;
        self.last_output = self.now;
        if let Some(observer) = &mut self.observer {
            observer.output(&bytes);
        }
        Some(bytes)
    }

    /// The state of a stage.
    #[must_use]
    pub fn state(&self, stage: usize) -> Option<&StreamState> {
        self.stages.get(stage).map(|stage| &stage.fold.state)
    }

    /// How many bytes of frames are held back, over all stages that enforce.
    #[must_use]
    pub fn held(&self) -> usize {
        let waiting = self.text_calls.as_ref().map_or(0, TextCalls::held)
            + self.writer.as_ref().map_or(0, |writer| writer.held());
        let stages = self.stages.iter().filter(|stage| !stage.watching);
        waiting + stages.map(Stage::held).sum::<usize>()
    }

    /// The wire format, once it is known.
    #[must_use]
    pub fn format(&self) -> Option<&SharedFormat> {
        self.intake.format()
    }

    /// Why the stream was closed, if it was closed for an error.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Whether the stream is over.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The decisions carried out since the last call.
    pub fn decisions(&mut self) -> Vec<Decision> {
        let mut all = Vec::new();
        for stage in &mut self.stages {
            all.append(&mut stage.decisions);
        }
        if let Some(observer) = &mut self.observer {
            all.iter().for_each(|decision| observer.decision(decision));
        }
        all
    }

    fn is_full(&self) -> bool {
        self.held() > self.config.limits.held
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("format", &self.format())
            .field("held", &self.held())
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}
