//! What stands behind a marker that was no call: parsers by pattern look on for one.

use crate::machine::Machine;
use crate::options::ScanOptions;
use crate::set::Plans;
use crate::tagged::occurs;

/// The dialects of which a marker stood before, and was not closed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Regions {
    /// Each with the place of its marker.
    open: Vec<(usize, u64)>,
}

impl Regions {
    /// These candidates are no calls, whether another was taken or none: those whose marker stands there open a region.
    pub(crate) fn enter(
        &mut self,
        at: u64,
        none: &[Machine],
        taken: Option<&Machine>,
        plans: &Plans,
        options: &ScanOptions,
    ) {
        if !options.every_reading {
            return;
        }
        // How far the others have read behind what decided depends on the cut.
        let within = taken.and_then(|taken| taken.confirmed).unwrap_or(usize::MAX);
        let own = taken.and_then(|taken| taken.marked(plans, usize::MAX));
        let marked = none.iter().filter_map(|machine| machine.marked(plans, within));
        for plan in marked.chain(own.filter(|own| plans.dialects[*own].dialect.marks_all)) {
            let is_open = Some(plan) == own && !plans.dialects[plan].dialect.marks_all;
            if !is_open && plans.dialects[plan].has_region() && !self.holds(plan) {
                self.open.push((plan, at));
            }
        }
    }

    /// A call of this dialect stands here whose end may be missing.
    pub(crate) fn open(&mut self, at: u64, plan: usize, plans: &Plans, options: &ScanOptions) {
        if options.every_reading && plans.dialects[plan].has_region() && !self.holds(plan) {
            self.open.push((plan, at));
        }
    }

    /// A dialect's closing tag came.
    pub(crate) fn leave(&mut self, plan: usize) {
        self.open.retain(|(open, _)| *open != plan);
    }

    /// The closing tags in this text came, whichever dialects have them. They are a call's, and are gone if the call is: what was open
    /// before the call stays open.
    pub(crate) fn close(&mut self, from: u64, plans: &Plans, text: &[u8]) {
        self.open.retain(|(plan, at)| {
            let leave = &plans.dialects[*plan].leave;
            *at < from || leave.is_empty() || !occurs(leave, text)
        });
    }

    pub(crate) fn holds(&self, plan: usize) -> bool {
        self.iter().any(|open| open == plan)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.open.iter().map(|(plan, _)| *plan)
    }
}
