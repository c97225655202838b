//! The laws that every policy keeps, whatever it decides.
//!
//! | law | what it says |
//! |---|---|
//! | [`Law::Identity`] | no edit recorded: bytes out are bytes in |
//! | [`Law::Rechunking`] | the result does not depend on how bytes are cut or deltas are split |
//! | [`Law::Prefix`] | what has left at any time is a prefix of the result for the whole text |
//! | [`Law::NothingLost`] | a finished stream from which nothing was dropped leaves with all it said |
//! | [`Law::NoLeak`] | nothing leaves of a block that was dropped, wherever the stream ends |
//! | [`Law::Ending`] | exactly one ending, valid for its format, and nothing after it |
//! | [`Law::Bound`] | held bytes stay under the limit, every step is shown once |
//! | [`Law::Drop`] | a stream may be dropped at any await |
//! | [`Law::PanicFree`] | no panic, however faulty the stream |
//! | [`Law::Agreement`] | every [client model](crate::models) reads only what was released (rule 28) |
//!
//! A law that had nothing to look at in a log is [`Vacuous`](Standing::Vacuous) there, and not [`Held`](Standing::Held):
//! a suite adds up what it was told in a [`Tally`], and fails if one of its laws never held.
//!
//! [`check`] tries all of them over one log, cut in every way, and answers with the smallest case that breaks one:
//!
//! ```
//! use stream_core::policy_fn;
//! use stream_testkit::{Fragments, Script, WireKind, laws};
//!
//! // Means to hide a word, and looks at each chunk alone.
//! let hide = || {
//!     policy_fn(|chunk, _, ctx| {
//!         let hidden = chunk.text().map(|text| text.replace("secret", "…"));
//!         ctx.send(match hidden {
//!             Some(text) => chunk.with_text(text),
//!             None => chunk,
//!         });
//!         Ok(())
//!     })
//! };
//!
//! let script = Script::new().text("It is a secret, you know.").text_fragments(Fragments::Chars(20));
//! let broken = laws::check(hide, &script.to_log(WireKind::OpenAiChat)).unwrap_err();
//! assert_eq!(broken.law().name(), "rechunking");
//! ```

mod agreement;
mod bound;
mod broken;
mod canary;
mod case;
mod drop;
mod ending;
mod events;
mod identity;
mod law;
mod no_leak;
mod nothing_lost;
mod panic_free;
mod prefix;
mod rechunking;
mod same;
mod shrink;
mod spy;
mod standing;
mod story;
mod witness;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use stream_core::{Config, Stage};

#[cfg(feature = "fuzzing")]
pub(crate) use self::agreement::is_released;
pub use self::broken::Broken;
use self::case::{Case, Factory};
pub use self::law::Law;
#[cfg(feature = "fuzzing")]
pub(crate) use self::same::difference;
pub use self::standing::{Standing, Tally};
#[cfg(feature = "fuzzing")]
pub(crate) use self::witness::{Seen, Witness};
use crate::{ChunkLog, Cut};

/// Checks that a policy keeps every law on this log, however it is cut.
///
/// # Errors
///
/// With the smallest case found that breaks a law.
pub fn check<P: Into<Stage>>(
    factory: impl Fn() -> P + Send + Sync + 'static,
    log: &ChunkLog,
) -> Result<Tally, Broken> {
    Laws::of(factory).check(log)
}

/// A check of laws: the policy, the laws, and the cuts.
#[derive(Clone)]
#[must_use]
pub struct Laws {
    factory: Factory,
    config: Config,
    laws: Vec<Law>,
    cuts: Vec<Cut>,
    seed: u64,
    one_choice: bool,
    strings: bool,
}

impl Laws {
    /// Creates a check of all laws, over cuts of every kind. The factory is called for each run: streams share no state.
    pub fn of<P: Into<Stage>>(factory: impl Fn() -> P + Send + Sync + 'static) -> Self {
        let factory: Factory = Arc::new(move || factory().into());
        Self {
            factory,
            config: Config::default(),
            laws: Law::ALL.to_vec(),
            cuts: Vec::new(),
            seed: 1,
            one_choice: false,
            strings: false,
        }
    }

    /// Sets the stream's settings.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Only this law.
    pub fn only(mut self, law: Law) -> Self {
        self.laws = vec![law];
        self
    }

    /// Only this cut.
    pub fn cut(mut self, cut: Cut) -> Self {
        self.cuts = vec![cut];
        self
    }

    /// Another seed for what is drawn: cuts, splits, faults, and the points that are looked at in long streams.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The request asked for one answer: clients that read the first choice of every chunk count, however many choices
    /// the stream has. Without this, [`Law::Agreement`] asks them only about streams with one choice.
    pub fn one_choice(mut self) -> Self {
        self.one_choice = true;
        self
    }

    /// The policy takes text out wherever it stands: for [`Law::Agreement`], strings of what the provider ran and of
    /// fields nobody knows count as text.
    pub fn strings(mut self) -> Self {
        self.strings = true;
        self
    }

    /// Checks them on a log, and tells which held and which had nothing to look at.
    ///
    /// # Errors
    ///
    /// With the smallest case found that breaks a law.
    pub fn check(&self, log: &ChunkLog) -> Result<Tally, Broken> {
        let mut tally = Tally::default();
        let config = if self.one_choice { self.config.clone() } else { log.asked_for(self.config.clone()) };
        for law in &self.laws {
            for cut in self.cuts(*law, log) {
                let case = Case {
                    factory: &self.factory,
                    config: &config,
                    log: log.clone(),
                    cut,
                    seed: self.seed,
                    one_choice: self.one_choice,
                    strings: self.strings,
                };
                match law.check(&case) {
                    Ok(standing) => tally.count(*law, standing),
                    Err(breach) => return Err(shrink::smallest(*law, case, breach)),
                }
            }
        }
        Ok(tally)
    }

    /// The plainest first. Laws that do not compare bytes are tried on fewer: rechunking shows that the bytes are the
    /// same in all.
    fn cuts(&self, law: Law, log: &ChunkLog) -> Vec<Cut> {
        if !self.cuts.is_empty() {
            return self.cuts.clone();
        }
        if log.is_whole() {
            return vec![Cut::Whole];
        }
        if law == Law::Agreement {
            return vec![Cut::Event];
        }
        let mut cuts = vec![Cut::Event, Cut::Random { seed: self.seed }];
        if matches!(law, Law::Identity | Law::Rechunking) {
            cuts.extend([Cut::Whole, Cut::Original, Cut::Byte]);
            cuts.extend(NonZeroUsize::new(7).map(Cut::Size));
        }
        cuts
    }
}

impl fmt::Debug for Laws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Laws")
            .field("laws", &self.laws)
            .field("cuts", &self.cuts)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
