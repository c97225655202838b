//! The engine: everything but I/O and the clock.
//!
//! A host gives each [`Input`] to the engine and acts on each [`Output`], until the engine is done. Time is an argument: a
//! [`Duration`] since the start of the stream.
//!
//! ```
//! use std::time::Duration;
//! use stream_core::engine::{Config, Engine, Input, Output};
//! use stream_core::{Verdict, each_call};
//!
//! # fn main() -> Result<(), stream_core::BuildError> {
//! let now = Duration::ZERO;
//! let mut engine = Engine::new(Config::default(), each_call(|_, _| Verdict::Release))?;
//! let body = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n";
//! let mut input = vec![Input::End, Input::Bytes(body.as_slice().into())];
//! let mut out = Vec::new();
//! loop {
//!     match engine.poll() {
//!         Output::Bytes(bytes) => out.extend_from_slice(&bytes),
//!         Output::Hook(hook) => hook.run(now),
//!         Output::Wait { .. } => engine.handle(input.pop().expect("the stream has ended"), now),
//!         Output::Done => break,
//!         _ => unreachable!("nobody asks a judge"),
//!     }
//! }
//! assert_eq!(out, body);
//! # Ok(())
//! # }
//! ```

pub(crate) mod accounts;
mod build;
mod config;
mod end;
mod flow;
mod hook;
mod io;
mod joined;
mod joined_calls;
mod judging;
mod lane;
pub(crate) mod outbox;
mod policies;
pub(crate) mod queue;
pub(crate) mod reader;
mod report;
mod scrubbing;
pub(crate) mod shutdown;
mod spec;
pub(crate) mod stage;
mod time;
mod timed;
pub(crate) mod turns;
mod verdicts;
mod watching;

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

pub use accounts::Ticket;
pub use build::BuildError;
pub use config::Config;
pub(crate) use config::Settings;
pub use hook::Hook;
pub(crate) use io::Work;
pub use io::{Failure, Input, Output};
pub use judging::Judging;

use crate::block::BlockKey;
use crate::error::{Error, ErrorKind};
use crate::policy::{Chain, Verdict};
use crate::record::{Decision, Observer};
use crate::spare;
use crate::state::StreamState;
use crate::text_calls::TextCalls;
use crate::wire::{Outgoing, SharedFormat, Writer};
use joined::JoinedTexts;
use joined_calls::JoinedCalls;
use lane::Lane;
use outbox::Outbox;
use policies::Policies;
use reader::FrameReader;
use shutdown::Shutdown;
use spec::Spec;
use stage::StageState;
use timed::Timed;
use verdicts::Pending;

/// The engine of one stream, without I/O and clock. The page of the [module](self) has an example.
pub struct Engine {
    config: Config,
    reader: FrameReader,
    text_calls: Option<Box<TextCalls>>,
    stages: Vec<StageState>,
    policies: Policies,
    specs: Vec<Spec>,
    joined: Box<[JoinedTexts]>,
    joined_calls: Option<Box<JoinedCalls>>,
    writer: Option<Box<dyn Writer>>,
    shutdown: Option<Box<Shutdown>>,
    tickets: Timed<Ticket, Pending>,
    next_ticket: u64,
    /// Judges that the host is to poll.
    asked: VecDeque<Judging>,
    /// The work that was found while output waits, which the host takes first.
    next: Option<Work>,
    /// Blocks that are settled when their time is over.
    due: Timed<BlockKey, Verdict>,
    out: Outbox,
    lane: Lane,
    whole: Option<Box<Outgoing>>,
    is_whole: bool,
    now: Duration,
    /// The time since which the upstream is silent while the engine waits for it.
    idle_from: Duration,
    waiting: bool,
    last_output: Duration,
    error: Option<Box<Error>>,
    observer: Option<Box<dyn Observer>>,
    /// An enforced policy needs something. If none does, every byte is written unchanged (rule 28).
    looks: bool,
    /// All output is written; dry runs may still be open.
    written: bool,
    done: bool,
}

impl Engine {
    /// Creates the engine of a stream with these stages, in order.
    ///
    /// # Errors
    ///
    /// When the policies cannot work together; see [`BuildError`].
    pub fn new(config: Config, chain: impl Into<Chain>) -> Result<Self, BuildError> {
        let chain: Chain = chain.into();
        let mut specs: Vec<Spec> = chain.iter().map(|stage| Spec::of(stage, &config.request)).collect();
        build::check(&specs, &config)?;
        if specs.iter().all(|spec| spec.watching) {
            specs.push(Spec::none());
        }
        let looks = specs.iter().any(|spec| !spec.watching && !spec.needs.is_nothing());
        Ok(Self {
            reader: FrameReader::new(&config, looks),
            text_calls: None,
            stages: Vec::new(),
            policies: Policies::new(chain.into_iter().map(|stage| stage.policy)),
            joined: JoinedTexts::of(&specs),
            joined_calls: None,
            specs,
            writer: None,
            shutdown: None,
            tickets: Timed::default(),
            next_ticket: 0,
            asked: VecDeque::new(),
            next: None,
            due: Timed::default(),
            out: Outbox::new(),
            lane: Lane::default(),
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
        })
    }

    /// Sets the observer.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observer = Some(observer);
    }

    /// Takes an input of the host.
    pub fn handle(&mut self, input: Input, now: Duration) {
        self.settle();
        self.set_time(now);
        if matches!(self.next, Some(Work::Chunk(_) | Work::Wait)) {
            self.next = None;
        }
        match input {
            Input::Bytes(bytes) => {
                self.waiting = false;
                self.reader.push(bytes);
            }
            Input::Whole(body) => {
                self.is_whole = true;
                self.reader.push_whole(body);
            }
            Input::End => self.reader.end(None),
            Input::Broken(error) => {
                let message = format!("expected the rest of the stream, found an error: {error}");
                self.reader.end(Some(Error::new(ErrorKind::Transport, message).because(error)));
            }
            Input::Verdict(ticket, verdict) => self.verdict(ticket, verdict),
            Input::Time => self.tick(),
            Input::Drop(key) => {
                self.discard(key);
            }
            Input::DropCall(id) => self.discard_call(&id),
            Input::Stop(ending) => self.stop(ending),
        }
    }

    /// The next output. A host polls until the output is [`Output::Wait`] or [`Output::Done`].
    pub fn poll(&mut self) -> Output<'_> {
        loop {
            let work = self.next.take().unwrap_or_else(|| self.next_work());
            if let Some(bytes) = self.out.pop_front() {
                self.next = Some(work);
                self.last_output = self.now;
                if let Some(observer) = &mut self.observer {
                    observer.output(&bytes);
                }
                return Output::Bytes(bytes);
            }
            if let Some(judging) = self.asked.pop_front() {
                self.next = Some(work);
                return Output::Judge(judging);
            }
            let was_waiting = std::mem::replace(&mut self.waiting, work == Work::Wait);
            match work {
                Work::Chunk(stage) => return Output::Hook(Hook::new(self, stage, false)),
                Work::End(stage) if self.policies.get(stage).is_some() => {
                    return Output::Hook(Hook::new(self, stage, true));
                }
                Work::End(stage) => self.commit(stage, crate::context::Effects::default()),
                Work::Abort(stage) => self.policies.abort(stage),
                Work::Wait => {
                    if !was_waiting {
                        // Silence counts only while the engine waits for the upstream.
                        self.idle_from = self.now;
                    }
                    self.rest();
                    return Output::Wait { until: self.deadline(), reads: self.wants_input() };
                }
                Work::Done => {
                    self.policies.close_all();
                    return Output::Done;
                }
            }
        }
    }

    /// Returns whether the engine still reads from the upstream; if not, the connection can be closed.
    #[must_use]
    pub fn is_reading(&self) -> bool {
        self.shutdown.is_none() && self.reader.is_open()
    }

    /// Returns whether the engine takes more bytes: not while the stream shuts down, nor while the held limit is reached and a verdict is
    /// pending (rule 13).
    fn wants_input(&self) -> bool {
        self.is_reading() && !(self.is_judging() && self.is_full())
    }

    /// The state of the first enforced stage, which folds what the upstream sent; `None` until the format is known.
    #[must_use]
    pub fn state(&self) -> Option<&StreamState> {
        self.stages.get(self.first_enforcing()).map(|stage| &stage.fold.state)
    }

    /// The number of bytes of frames that the enforced stages hold.
    #[must_use]
    pub fn held(&self) -> usize {
        let waiting = self.text_calls.as_ref().map_or(0, |text_calls| text_calls.held())
            + self.writer.as_ref().map_or(0, |writer| writer.held());
        let stages = self.stages.iter().filter(|stage| !stage.watching);
        waiting + stages.map(StageState::held).sum::<usize>()
    }

    /// The wire format, once it is known.
    #[must_use]
    pub fn format(&self) -> Option<&SharedFormat> {
        self.reader.format()
    }

    /// The error that closed the stream, if one did.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.as_deref()
    }

    /// Returns whether the stream is over.
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

    /// Gives back the buffers that are needed only for work.
    fn rest(&mut self) {
        spare::take_back(&spare::OUTPUT, &mut self.out);
        self.reader.rest_now(self.is_armed());
        self.stages.iter_mut().for_each(StageState::rest);
    }

    fn is_full(&self) -> bool {
        self.held() > self.config.shared.limits.held
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
