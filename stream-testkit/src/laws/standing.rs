//! Whether a law held, or had nothing to look at.

use super::Law;

/// The standing of a law over a log that does not break it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// The law looked at something, and it was so.
    Held,
    /// The log and the policy gave the law nothing to look at.
    Vacuous,
}

impl Standing {
    pub(super) fn held_if(held: bool) -> Self {
        if held { Self::Held } else { Self::Vacuous }
    }

    /// Held if one of the two was.
    pub(super) fn or(self, other: Self) -> Self {
        Self::held_if(self == Self::Held || other == Self::Held)
    }
}

/// The standings of the laws of a suite, over all its logs.
///
/// ```
/// use stream_core::Passthrough;
/// use stream_testkit::laws::{self, Law, Standing, Tally};
/// use stream_testkit::{Script, WireKind};
///
/// let mut tally = Tally::default();
/// for kind in WireKind::ALL {
///     tally.add(&laws::check(|| Passthrough, &Script::new().text("Hello.").to_log(kind))?);
/// }
/// assert_eq!(tally.standing(Law::Identity), Some(Standing::Held));
/// // Nothing was dropped, and nothing was looked at.
/// tally.assert_held_but(&[Law::NoLeak, Law::Agreement]);
/// # Ok::<(), laws::Broken>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally(Vec<(Law, Standing)>);

impl Tally {
    /// Adds how laws stood on another log.
    pub fn add(&mut self, other: &Self) {
        for (law, standing) in &other.0 {
            self.count(*law, *standing);
        }
    }

    /// The standing of a law: held if it held once. `None` if it was not checked.
    #[must_use]
    pub fn standing(&self, law: Law) -> Option<Standing> {
        self.0.iter().find(|(known, _)| *known == law).map(|(_, standing)| *standing)
    }

    /// The laws that were checked and never held: a suite with one of them shows less than it seems to.
    #[must_use]
    pub fn never_held(&self) -> Vec<Law> {
        self.0.iter().filter(|(_, standing)| *standing == Standing::Vacuous).map(|(law, _)| *law).collect()
    }

    /// Panics unless the laws that never held are exactly these: those to which the suite's policy, or its logs, give
    /// nothing to look at.
    ///
    /// # Panics
    ///
    /// When another law never held, and when one of these held.
    #[track_caller]
    pub fn assert_held_but(&self, vacuous: &[Law]) {
        assert_eq!(self.never_held(), vacuous, "the laws that never held");
    }

    pub(super) fn count(&mut self, law: Law, standing: Standing) {
        match self.0.iter_mut().find(|(known, _)| *known == law) {
            Some((_, known)) => *known = known.or(standing),
            None => self.0.push((law, standing)),
        }
    }
}
