//! Replay: a log through policies, in virtual time.
//!
//! A replay waits for nothing: the gaps of the recording, slow judges, timeouts and keep-alives pass on a clock that
//! jumps. The same log, settings and policies give the same bytes at the same times, on every machine.

mod deltas;
mod recorder;
mod run;
mod steps;
mod upstream;

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stream_core::{Chain, Config, Decision, Outcome};

pub use self::steps::{Shown, Step};
use crate::WireKind;
use crate::conformance::{Allow, Report, View, check_whole_with, check_with};
use crate::{ChunkLog, Cut, Redact};

/// A log, and how it is to be run through which policies.
///
/// ```
/// use stream_core::Passthrough;
/// use stream_testkit::{Cut, Replay, Script, WireKind};
///
/// let log = Script::new().text("Hello.").to_log(WireKind::AnthropicMessages);
/// let replayed = Replay::new(&log).cut(Cut::Byte).policy(|| Passthrough).run();
/// assert_eq!(replayed.bytes(), log.bytes());
/// assert_eq!(replayed.view().choices[0].content, "Hello.");
/// ```
#[derive(Clone)]
#[must_use]
pub struct Replay {
    log: ChunkLog,
    cut: Cut,
    config: Config,
    chains: Vec<Factory>,
    stop: Option<Stop>,
    redact: Redact,
}

/// Makes policies of one stream.
type Factory = Arc<dyn Fn() -> Chain + Send + Sync>;

/// Where the upstream stops before its end, in bytes.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Breaks(usize),
    Ends(usize),
}

impl Replay {
    /// A replay of a log as it was recorded, without policies.
    pub fn new(log: impl Borrow<ChunkLog>) -> Self {
        Self {
            log: log.borrow().clone(),
            cut: Cut::Original,
            config: Config::default(),
            chains: Vec::new(),
            stop: None,
            redact: Redact::nothing(),
        }
    }

    /// Cuts the bytes anew.
    pub fn cut(mut self, cut: Cut) -> Self {
        self.cut = cut;
        self
    }

    /// Splits deltas of text and arguments into smaller ones, the same ones for the same seed. The client must not
    /// see a difference.
    ///
    /// A delta is split only where the result is sure to say the same: one that shares its event with something else,
    /// and one with fields that are not known, stays as it is. Each event then is a network chunk of its own, unless
    /// it is [cut](Self::cut) anew.
    pub fn split_deltas(mut self, seed: u64) -> Self {
        self.log = deltas::split(&self.log, seed);
        self
    }

    /// Merges neighbouring deltas of one text, or of one call's arguments. Else as
    /// [`split_deltas`](Self::split_deltas).
    pub fn merge_deltas(mut self) -> Self {
        self.log = deltas::merge(&self.log);
        self
    }

    /// Sets the stream's settings.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Adds a policy, a stage or a whole chain behind those before. Each run makes its own.
    pub fn policy<P: Into<Chain>>(mut self, factory: impl Fn() -> P + Send + Sync + 'static) -> Self {
        self.chains.push(Arc::new(move || factory().into()));
        self
    }

    /// The connection breaks after this many bytes, with an error. A whole response just ends there.
    pub fn transport_error_after(mut self, bytes: usize) -> Self {
        self.stop = Some(Stop::Breaks(bytes));
        self
    }

    /// The upstream's bytes end after this many.
    pub fn end_after(mut self, bytes: usize) -> Self {
        self.stop = Some(Stop::Ends(bytes));
        self
    }

    /// Leaves values out of the [transcript](Replayed::transcript).
    pub fn redact(mut self, redact: Redact) -> Self {
        self.redact = redact;
        self
    }

    /// The log that is replayed, with its deltas as they were split or merged.
    #[must_use]
    pub fn log(&self) -> &ChunkLog {
        &self.log
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("log", &self.log.name())
            .field("cut", &self.cut)
            .field("config", &self.config)
            .field("chains", &self.chains.len())
            .field("stop", &self.stop)
            .finish()
    }
}

/// The result of a [`Replay`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// The name of the log.
    pub name: String,
    /// The names of the policies, in order.
    pub policies: Vec<String>,
    /// The output for the client, piece by piece, each with the time since the request.
    pub output: Vec<(Duration, Bytes)>,
    /// The decisions that were carried out, in order.
    pub decisions: Vec<Decision>,
    /// The outcome of the stream.
    pub outcome: Option<Outcome>,
    /// The steps of the run, in order, each with its time.
    pub steps: Vec<(Duration, Step)>,
    /// The most bytes that were held back at once, seen before and after every hook and verdict.
    pub held_max: usize,
    /// The format in which the client reads it.
    pub format: WireKind,
    /// `true` for a whole response.
    pub whole: bool,
    pub(crate) redact: Redact,
}

impl Replayed {
    /// The output for the client, in one piece.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        match &self.output[..] {
            [(_, only)] => only.clone(),
            pieces => pieces.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect(),
        }
    }

    /// The answer as a strict client reads it.
    #[must_use]
    pub fn view(&self) -> View {
        self.check(&Allow::none()).view().clone()
    }

    /// Checks what the client got, and tolerates some deviations.
    #[must_use]
    pub fn check(&self, allow: &Allow) -> Report {
        let check = if self.whole { check_whole_with } else { check_with };
        check(self.format, &self.bytes(), allow)
    }

    /// Returns whether a decision changed the output.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        self.decisions.iter().any(Decision::is_edit)
    }
}
