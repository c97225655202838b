//! The laws by name.

use std::fmt;

use super::case::{Breach, Case};
use super::standing::Standing;
use super::{
    agreement, bound, drop, ending, identity, no_leak, nothing_lost, panic_free, prefix, rechunking,
};

/// A law. The [module](super) says what each is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "named in the table of the module")]
pub enum Law {
    Identity,
    Rechunking,
    Prefix,
    NothingLost,
    NoLeak,
    Ending,
    Bound,
    Drop,
    PanicFree,
    Agreement,
}

impl Law {
    /// All of them, in the order they are checked.
    pub const ALL: [Self; 10] = [
        Self::Identity,
        Self::Rechunking,
        Self::Prefix,
        Self::NothingLost,
        Self::NoLeak,
        Self::Ending,
        Self::Bound,
        Self::Drop,
        Self::PanicFree,
        Self::Agreement,
    ];

    /// Its name: `identity`, `no-leak` …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Rechunking => "rechunking",
            Self::Prefix => "prefix",
            Self::NothingLost => "nothing-lost",
            Self::NoLeak => "no-leak",
            Self::Ending => "ending",
            Self::Bound => "bound",
            Self::Drop => "drop",
            Self::PanicFree => "panic-free",
            Self::Agreement => "agreement",
        }
    }

    pub(super) fn check(self, case: &Case<'_>) -> Result<Standing, Breach> {
        match self {
            Self::Identity => identity::check(case),
            Self::Rechunking => rechunking::check(case),
            Self::Prefix => prefix::check(case),
            Self::NothingLost => nothing_lost::check(case),
            Self::NoLeak => no_leak::check(case),
            Self::Ending => ending::check(case),
            Self::Bound => bound::check(case),
            Self::Drop => drop::check(case),
            Self::PanicFree => panic_free::check(case),
            Self::Agreement => agreement::check(case),
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
