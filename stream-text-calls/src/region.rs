//! What stands behind a marker that was no call: parsers by pattern look on for one.

use std::sync::Arc;

use crate::plan::Plan;

/// The dialects of which a marker stood before, and was not closed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Regions {
    open: Vec<usize>,
}

impl Regions {
    /// A marker of a dialect was no call.
    pub(crate) fn enter(&mut self, plan: usize, plans: &[Arc<Plan>]) {
        if plans[plan].has_region() && !self.holds(plan) {
            self.open.push(plan);
        }
    }

    /// A dialect's closing tag came.
    pub(crate) fn leave(&mut self, plan: usize) {
        self.open.retain(|open| *open != plan);
    }

    pub(crate) fn holds(&self, plan: usize) -> bool {
        self.open.contains(&plan)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.open.iter().copied()
    }
}
