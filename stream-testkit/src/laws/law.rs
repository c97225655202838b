//! The laws by name.

use super::case::{Breach, Case};
use super::standing::Standing;
use super::{
    agreement, bound, drop, ending, identity, no_leak, nothing_lost, panic_free, prefix, rechunking,
};
use crate::named::named;

named! {
    /// A law. The table of the [module](super) has the meaning of each.
    #[allow(missing_docs, reason = "named in the table of the module")]
    pub enum Law ("law") {
        Identity = "identity",
        Rechunking = "rechunking",
        Prefix = "prefix",
        NothingLost = "nothing-lost",
        NoLeak = "no-leak",
        Ending = "ending",
        Bound = "bound",
        Drop = "drop",
        PanicFree = "panic-free",
        Agreement = "agreement",
    }
}

impl Law {
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
