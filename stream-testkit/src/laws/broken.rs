//! A law that was broken, and how to see it again.

use std::fmt;

use super::Law;
use super::case::Breach;
use crate::{ChunkLog, Cut};

/// The smallest case found in which a policy breaks a law.
///
/// Its text says what was expected and what came, shows the events, and how to run the case again.
#[derive(Clone, PartialEq, Eq)]
pub struct Broken {
    pub(super) law: Law,
    pub(super) log: Box<ChunkLog>,
    pub(super) events: usize,
    pub(super) cut: Cut,
    pub(super) seed: u64,
    pub(super) breach: Breach,
}

impl Broken {
    /// The law.
    #[must_use]
    pub fn law(&self) -> Law {
        self.law
    }

    /// The smallest log found on which it is broken.
    #[must_use]
    pub fn log(&self) -> &ChunkLog {
        &self.log
    }

    /// The cut of that log.
    #[must_use]
    pub fn cut(&self) -> Cut {
        self.cut
    }

    /// The seed of what was drawn.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The expectation.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.breach.expected
    }

    /// The finding.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.breach.found
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, log, events, cut, seed, breach } = self;
        let kept = super::events::of(log.bytes());
        writeln!(f, "the law {law} is broken")?;
        writeln!(f, "  expected: {}", breach.expected)?;
        writeln!(f, "  found:    {}", breach.found)?;
        writeln!(
            f,
            "  log:      {}, {} of its {events} events, cut: {cut}, seed: {seed}",
            log.name(),
            kept.len()
        )?;
        for event in kept.iter().take(SHOWN) {
            writeln!(f, "    {}", String::from_utf8_lossy(event).trim_end().replace('\n', "⏎"))?;
        }
        if kept.len() > SHOWN {
            writeln!(f, "    and {} more", kept.len() - SHOWN)?;
        }
        write!(
            f,
            "  replay:   Laws::of(factory).only(Law::{law:?}).cut({:?}.parse()?).seed({seed}).check(broken.log())",
            cut.to_string()
        )
    }
}

/// As it is displayed: it is what `unwrap` shows.
impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Broken {}

/// How many events are shown.
const SHOWN: usize = 20;
