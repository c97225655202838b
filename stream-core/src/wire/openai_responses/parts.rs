//! The parts of one item: which have opened, and which of them left.

use super::item::SUMMARY;

/// Both lists are sorted: parts open in order, so a look is cheap however many there are.
#[derive(Debug, Default)]
pub(super) struct Parts {
    opened: Vec<u32>,
    dropped: Vec<u32>,
}

impl Parts {
    /// Books that a part opens. The first word on it counts.
    pub(super) fn open(&mut self, part: u32, leaves: bool) {
        if let Err(at) = self.opened.binary_search(&part) {
            self.opened.insert(at, part);
            if !leaves {
                let at = self.dropped.partition_point(|dropped| *dropped < part);
                self.dropped.insert(at, part);
            }
        }
    }

    /// Whether a part left; `None` if it has not opened.
    pub(super) fn left(&self, part: u32) -> Option<bool> {
        self.opened.binary_search(&part).ok()?;
        Some(self.dropped.binary_search(&part).is_err())
    }

    /// A dropped part leaves after all; false if it had not been dropped.
    pub(super) fn revive(&mut self, part: u32) -> bool {
        let found = self.dropped.binary_search(&part);
        found.is_ok_and(|at| self.dropped.remove(at) == part)
    }

    /// How many parts of the same list were dropped before this one.
    pub(super) fn dropped_before(&self, part: u32) -> u32 {
        let before = |number: u32| self.dropped.partition_point(|dropped| *dropped < number);
        let list = if part >= SUMMARY { before(SUMMARY) } else { 0 };
        u32::try_from(before(part) - list).unwrap_or(u32::MAX)
    }
}
