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

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::block::{BlockKey, MAX_STAGES};
use crate::chunk::Chunk;
use crate::closing::Closing;
use crate::context::{Context, EffectError, Effects, VerdictFuture};
use crate::error::{Error, ErrorKind};
use crate::intake::Intake;
use crate::ledger::Ticket;
use crate::limits::Limits;
use crate::policy::{End, OnFailure, Policy, PolicyError, Verdict};
use crate::record::{Action, Decision, Observer, Staged, StagedView, StepView, VerdictView};
use crate::request::Request;
use crate::stage::{Advance, Stage};
use crate::state::StreamState;
use crate::wire::{Ending, Outgoing, SharedFormat, Writer, WriterOptions};

/// Settings of one stream.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Config {
    pub(crate) format: Option<SharedFormat>,
    pub(crate) formats: Vec<SharedFormat>,
    pub(crate) limits: Limits,
    pub(crate) request: Arc<Request>,
    pub(crate) writer: WriterOptions,
    pub(crate) interleaved: bool,
}

impl Config {
    /// Names the wire format, instead of finding it out from the frames.
    pub fn format(mut self, format: SharedFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Adds a wire format to those that are looked for, before the built-in ones.
    pub fn also(mut self, format: SharedFormat) -> Self {
        self.formats.push(format);
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Says what is known of the request.
    pub fn request(mut self, request: impl Into<Arc<Request>>) -> Self {
        self.request = request.into();
        self
    }

    /// The text that stands in for an answer of which everything was dropped; `None` for no text.
    pub fn empty_notice(mut self, notice: Option<&str>) -> Self {
        self.writer.empty_notice = notice.map(Into::into);
        self
    }

    /// Allows deltas of several calls to alternate: all calls of a choice then complete at its finish (rule 5).
    pub fn interleaved_calls(mut self, allowed: bool) -> Self {
        self.interleaved = allowed;
        self
    }
}

/// What the host has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Call `on_chunk` of this stage's policy with what [`Engine::chunk`] gives, then [`Engine::commit`] or
    /// [`Engine::fail`].
    Chunk(usize),
    /// Call `on_end` of this stage's policy with what [`Engine::ending`] gives, then commit or fail.
    End(usize),
    /// Call `on_abort` of this stage's policy.
    Abort(usize),
    /// Nothing: wait for bytes (if [`Engine::wants_input`]), a verdict or the [deadline](Engine::deadline).
    Wait,
    /// The stream is over, all output is there.
    Done,
}

/// A decision that a policy asked for: the host polls the future and answers with [`Engine::verdict`].
pub struct Judging {
    /// Names the decision.
    pub ticket: Ticket,
    /// The judge at work.
    pub future: VerdictFuture,
}

impl fmt::Debug for Judging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judging").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

/// Why a hook did not return `Ok`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// It returned an error.
    Failed(PolicyError),
    /// It panicked.
    Panicked,
    /// It took longer than [`Limits::policy`].
    TimedOut,
}

/// One stream, without I/O. See the [module](self).
pub struct Engine {
    config: Config,
    intake: Intake,
    stages: Vec<Stage>,
    specs: Vec<Spec>,
    writer: Option<Box<dyn Writer>>,
    closing: Option<Closing>,
    tickets: BTreeMap<Ticket, Pending>,
    next_ticket: u64,
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
    done: bool,
}

/// What a stage is made of, once the format is known.
#[derive(Debug)]
struct Spec {
    name: String,
    needs: crate::policy::Needs,
    on_failure: OnFailure,
}

#[derive(Debug)]
struct Pending {
    stage: usize,
    key: BlockKey,
    deadline: Duration,
}

impl Engine {
    /// An engine for a stream that passes these policies, in order. At most 64; what comes after is left out (use
    /// [`StreamProcessor::builder`](crate::processor::StreamProcessor::builder), which refuses it).
    #[must_use]
    pub fn new(config: Config, policies: &[&dyn Policy]) -> Self {
        let spec = |policy: &&dyn Policy| Spec {
            name: policy.name().to_owned(),
            needs: policy.needs(),
            on_failure: policy.on_failure(),
        };
        Self {
            intake: Intake::new(&config),
            stages: Vec::new(),
            specs: policies.iter().take(MAX_STAGES).map(spec).collect(),
            writer: None,
            closing: None,
            tickets: BTreeMap::new(),
            next_ticket: 0,
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

    /// Tells the time, without any consequence.
    pub fn set_time(&mut self, now: Duration) {
        self.now = self.now.max(now);
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
        self.is_reading() && (self.tickets.is_empty() || !self.is_full())
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

    fn next_work(&mut self) -> Work {
        loop {
            if self.done {
                return Work::Done;
            }
            if let Some(stage) = self.closing.as_mut().and_then(Closing::next_abort) {
                return Work::Abort(stage);
            }
            if let Some(work) = self.step() {
                return work;
            }
            if self.closing.is_some() {
                if let Some(work) = self.close() {
                    return work;
                }
                continue;
            }
            if self.is_full() {
                if !self.tickets.is_empty() {
                    return Work::Wait;
                }
                let limit = self.config.limits.held;
                let message = format!("expected at most {limit} bytes held back, found more");
                self.close_for(0, Error::new(ErrorKind::HeldLimit, message));
                continue;
            }
            let next = self.intake.next();
            while let Some(comment) = self.intake.take_early() {
                self.out.push_back(comment);
            }
            match next {
                Ok(Some(frame)) => self.take(frame),
                Ok(None) => {
                    let Some(end) = self.intake.take_end() else { return Work::Wait };
                    self.ensure_stages();
                    let state = &self.stages[0].fold.state;
                    let traits = self.intake.settled_format().traits();
                    self.closing = Some(Closing::natural(end, state, traits));
                    if let Some(End::Cut(Some(error))) = self.closing.as_ref().map(Closing::end) {
                        self.error = Some(error.clone());
                    }
                }
                Err(error) => {
                    self.ensure_stages();
                    self.close_for(0, error);
                }
            }
        }
    }

    /// The chunk, state and context of the hook that is due in a stage.
    #[must_use]
    pub fn chunk(&mut self, stage: usize) -> Option<(Chunk, &StreamState, Context<'_>)> {
        let held = self.held();
        let stage_ref = self.stages.get(stage)?;
        let (chunk, ctx) = stage_ref.hook(&self.config.request)?;
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
        Some((end, &stage.fold.state, stage.context(&self.config.request)))
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
        let settled = |pending: &Pending| pending.stage == stage && committed.settled.contains(&pending.key);
        self.tickets.retain(|_, pending| !settled(pending));
        let mut judging = Vec::new();
        for (key, within, future) in committed.decide {
            let ticket = Ticket(self.next_ticket);
            self.next_ticket += 1;
            self.stages[stage].ledgers.get_mut(key).pending = Some(ticket);
            let deadline = self.now.saturating_add(within.unwrap_or(self.config.limits.policy));
            self.tickets.insert(ticket, Pending { stage, key, deadline });
            judging.push(Judging { ticket, future });
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
                (ErrorKind::PolicyTimedOut, format!("found none after {:?}", self.config.limits.policy))
            }
        };
        let error = Error::new(kind, format!("expected {} to return, {what}", policy.name));
        let decision = Decision {
            policy: policy.name.to_string(),
            block: None,
            action: Action::Failed,
            reason: Some(error.to_string()),
            bytes: 0,
            held: Duration::ZERO,
        };
        let open = policy.on_failure == OnFailure::Open;
        self.stages[stage].decisions.push(decision);
        if open {
            self.tickets.retain(|_, pending| pending.stage != stage);
            let mut out = Vec::new();
            self.stages[stage].bypass(self.now, &mut out);
            self.forward(stage, out);
            return;
        }
        self.error = Some(error.clone());
        self.report_error();
        self.close_abruptly(stage, false, End::Cut(Some(error)), Ending::error("a policy could not decide"));
    }

    /// The answer of a decision. An answer that is no longer waited for is ignored.
    pub fn verdict(&mut self, ticket: Ticket, verdict: Result<Verdict, Failure>) {
        let Some(Pending { stage, key, .. }) = self.tickets.remove(&ticket) else { return };
        let open = self.stages[stage].on_failure == OnFailure::Open;
        let verdict = verdict.unwrap_or_else(|failure| {
            let reason = match failure {
                Failure::Failed(error) => format!("the judge failed: {error}"),
                Failure::Panicked => "the judge panicked".to_owned(),
                Failure::TimedOut => "the judge took too long".to_owned(),
            };
            if open { Verdict::Release } else { Verdict::drop(reason) }
        });
        let verdict = match verdict {
            Verdict::Replace(with) if !self.stages[stage].takes(key, &with) => {
                let reason = format!("the judge failed: {}", EffectError::NotAnObject);
                if open { Verdict::Release } else { Verdict::drop(reason) }
            }
            verdict => verdict,
        };
        let mut out = Vec::new();
        let ending = self.stages[stage].verdict(key, verdict, self.now, &mut out);
        self.report_verdict(stage, key);
        self.forward(stage, out);
        if let Some(ending) = ending {
            self.terminate(stage, ending);
        }
    }

    /// The host drops what is held of a block, whatever its policy is waiting for. False if nothing of it is held.
    pub fn discard(&mut self, key: BlockKey, reason: &str) -> bool {
        let stage = key.stage();
        let held = |stage: &Stage| stage.ledgers.get(key).is_some_and(|ledger| ledger.undecided > 0);
        if !self.stages.get(stage).is_some_and(held) {
            return false;
        }
        self.tickets.retain(|_, pending| pending.key != key);
        let mut out = Vec::new();
        self.stages[stage].verdict(key, Verdict::drop(reason), self.now, &mut out);
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
        if self.done || self.closing.as_ref().is_some_and(Closing::is_abrupt) {
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

    /// When [`tick`](Self::tick) is to be called, if nothing else happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let limits = &self.config.limits;
        let idle = self.wants_input().then(|| self.idle_from.saturating_add(self.patience()));
        let judged = self.tickets.values().map(|pending| pending.deadline).min();
        let keep_alive = limits
            .keep_alive
            .filter(|_| self.may_keep_alive())
            .map(|every| self.last_output.saturating_add(every));
        [idle, judged, keep_alive].into_iter().flatten().min()
    }

    /// Time has passed: silence ends the stream, decisions run out, keep-alives are due.
    pub fn tick(&mut self, now: Duration) {
        self.set_time(now);
        let late: Vec<Ticket> = self
            .tickets
            .iter()
            .filter(|(_, pending)| pending.deadline <= self.now)
            .map(|(ticket, _)| *ticket)
            .collect();
        for ticket in late {
            self.verdict(ticket, Err(Failure::TimedOut));
        }
        let idle = self.patience();
        if self.wants_input() && self.now >= self.idle_from.saturating_add(idle) {
            let message = format!("expected bytes, found silence for {idle:?}");
            self.intake.end(Some(Error::new(ErrorKind::Idle, message)));
        }
        if let Some(every) = self.config.limits.keep_alive
            && self.may_keep_alive()
            && self.now >= self.last_output.saturating_add(every)
        {
            self.last_output = self.now;
            self.scratch.extend(self.keep_alive());
            self.put_out();
        }
    }

    /// A keep-alive that the client accepts now, if the format is known and nothing has ended.
    #[must_use]
    pub fn keep_alive(&self) -> Option<Bytes> {
        let writer = self.writer.as_ref().filter(|writer| !writer.ended() && !self.is_whole && !self.done)?;
        Some(writer.keep_alive())
    }

    /// The state of a stage.
    #[must_use]
    pub fn state(&self, stage: usize) -> Option<&StreamState> {
        self.stages.get(stage).map(|stage| &stage.fold.state)
    }

    /// How many bytes of frames are held back, over all stages.
    #[must_use]
    pub fn held(&self) -> usize {
        self.stages.iter().map(Stage::held).sum()
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

    /// How long the upstream may be silent: after the terminal marker there is little to wait for.
    fn patience(&self) -> Duration {
        let over = self.stages.first().is_some_and(|stage| stage.fold.state.is_terminal());
        let idle = self.config.limits.idle;
        if over { idle.min(LINGER) } else { idle }
    }

    fn is_full(&self) -> bool {
        self.held() > self.config.limits.held
    }

    fn may_keep_alive(&self) -> bool {
        self.held() > 0 && !self.is_whole && !self.done
    }

    fn take(&mut self, frame: Outgoing) {
        self.ensure_stages();
        let (id, model) = self.intake.take_meta();
        for stage in &mut self.stages {
            stage.fold.meta(id.clone(), model.clone());
        }
        if let (Some(observer), Some(frame)) = (&mut self.observer, &frame.frame) {
            observer.input(frame.raw());
        }
        self.stages[0].push(frame);
    }

    /// Builds stages and writer once the format is known; a stream that never told has the first format.
    fn ensure_stages(&mut self) {
        if !self.stages.is_empty() {
            return;
        }
        let format = self.intake.settled_format();
        self.writer = Some(format.writer(&self.config.writer));
        let Config { limits, interleaved, .. } = self.config;
        for (number, spec) in self.specs.iter().enumerate() {
            let number = u8::try_from(number).unwrap_or(u8::MAX);
            let (name, needs) = (spec.name.as_str(), spec.needs);
            let format = Arc::clone(&format);
            self.stages.push(Stage::new(number, name, needs, spec.on_failure, format, limits, interleaved));
        }
        if self.stages.is_empty() {
            let needs = crate::policy::Needs::nothing();
            self.stages.push(Stage::new(0, "none", needs, OnFailure::Close, format, limits, interleaved));
        }
    }

    /// Makes one step in the last stage that has input.
    fn step(&mut self) -> Option<Work> {
        loop {
            let index = self.stages.iter().rposition(|stage| !stage.is_drained())?;
            if self.stages[index].shown.is_some() {
                return Some(Work::Chunk(index));
            }
            let mut out = Vec::new();
            match self.stages[index].advance(self.now, &mut out) {
                Ok(advance) => {
                    self.forward(index, out);
                    if advance == Advance::Hook {
                        return Some(Work::Chunk(index));
                    }
                }
                Err(error) => {
                    self.forward(index, out);
                    self.close_for(index, error);
                    return None;
                }
            }
        }
    }

    /// One move of the closing: a hook to call, or the next stage.
    fn close(&mut self) -> Option<Work> {
        let closing = self.closing.as_mut()?;
        let index = closing.stage;
        let Some(stage) = self.stages.get_mut(index) else {
            self.finish();
            return Some(Work::Done);
        };
        if closing.is_alive() {
            if self.tickets.values().any(|pending| pending.stage == index) {
                return Some(Work::Wait);
            }
            if let Some(work) = closing.ask(stage) {
                return Some(work);
            }
        }
        let mut out = Vec::new();
        let closing = self.closing.as_mut()?;
        let finished = *closing.end() == End::Finished;
        closing.dropped |= self.stages[index].close(finished, closing.is_abrupt(), self.now, &mut out);
        closing.next_stage();
        self.tickets.retain(|_, pending| pending.stage != index);
        self.forward(index, out);
        None
    }

    fn finish(&mut self) {
        self.done = true;
        let Some(closing) = self.closing.take() else { return };
        self.closing = Some(Closing::over(&closing));
        let Some(writer) = &mut self.writer else { return };
        let ending = closing.ending();
        if self.is_whole {
            let empty = Outgoing { frame: None, parts: Vec::new() };
            let body = self.whole.take().unwrap_or(empty);
            self.scratch.push(writer.whole(body, ending.as_ref()));
        } else if let Some(ending) = ending {
            writer.end(&ending, &mut self.scratch);
        }
        self.put_out();
    }

    /// Passes frames on to the next stage, or to the writer.
    fn forward(&mut self, stage: usize, frames: Vec<Outgoing>) {
        if stage + 1 < self.stages.len() {
            frames.into_iter().for_each(|frame| self.stages[stage + 1].push(frame));
        } else if self.is_whole {
            self.whole = frames.into_iter().next().or_else(|| self.whole.take());
        } else if let Some(writer) = &mut self.writer {
            for frame in frames {
                writer.frame(frame, &mut self.scratch);
            }
            self.put_out();
        }
    }

    /// Puts what was written out for the host to take.
    fn put_out(&mut self) {
        if let Some(observer) = &mut self.observer {
            self.scratch.iter().for_each(|bytes| observer.written(bytes));
        }
        self.out.extend(self.scratch.drain(..));
    }

    /// Something was wrong with what a stage was given.
    fn close_for(&mut self, stage: usize, error: Error) {
        self.error = Some(error.clone());
        self.report_error();
        let message = match error.origin() {
            crate::error::Origin::Limit => "the answer exceeded a limit",
            _ => "the upstream's answer could not be read",
        };
        self.close_abruptly(stage, true, End::Cut(Some(error)), Ending::error(message));
    }

    fn terminate(&mut self, stage: usize, ending: Ending) {
        let reason = Some(ending.message.clone());
        let policy = self.stages[stage].name.to_string();
        let decision = Decision {
            policy,
            block: None,
            action: Action::Terminated,
            reason,
            bytes: 0,
            held: Duration::ZERO,
        };
        self.stages[stage].decisions.push(decision);
        self.close_abruptly(stage, false, End::Terminated(ending.clone()), ending);
    }

    fn close_abruptly(&mut self, stage: usize, alive: bool, end: End, ending: Ending) {
        self.intake.close();
        self.tickets.retain(|_, pending| pending.stage > stage);
        let first = self.closing.as_ref().map_or(0, |closing| closing.stage);
        self.closing = Some(Closing::abrupt(first, stage, alive, end, ending));
        self.stages.iter_mut().take(stage + 1).for_each(Stage::cut_input);
    }

    fn report_staged(&mut self, stage: usize, at_end: bool, effects: &[Staged]) {
        let held = self.held();
        let end = self.closing.as_ref().map(Closing::end).filter(|_| at_end);
        if let (Some(observer), Some(of)) = (&mut self.observer, self.stages.get(stage)) {
            observer.staged(&StagedView { stage, policy: &of.name, end, effects, held });
        }
    }

    fn report_verdict(&mut self, stage: usize, block: BlockKey) {
        let held = self.held();
        if let (Some(observer), Some(of)) = (&mut self.observer, self.stages.get(stage)) {
            observer.verdict(&VerdictView { stage, policy: &of.name, block, held });
        }
    }

    fn report_error(&mut self) {
        if let (Some(observer), Some(error)) = (&mut self.observer, &self.error) {
            observer.error(error);
        }
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

/// How long an upstream is waited for that has sent its terminal marker and does not close: pings, and one provider's
/// cost, come after it.
const LINGER: Duration = Duration::from_secs(5);
