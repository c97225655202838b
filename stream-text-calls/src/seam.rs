//! Text before a call that could become a marker if the call is taken out.

/// A stretch of text that fits the begin of a marker, and goes on to fit up to some place.
///
/// In `<tool_<tool_call>…</tool_call>call>…` the first six bytes are no marker. Without the call behind them they are the
/// begin of one, which the text behind the call completes: they may leave only if the call does.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seam {
    from: u64,
    until: u64,
    /// The dialect that fits furthest from `from` on, and how far it does.
    first: (u64, usize),
}

impl Seam {
    /// The text from `from` on fits the begin of a marker up to `until`. Stretches that overlap count as one: what is left
    /// of the first may become a marker when the second is taken out. The order in which the stretches of one place come
    /// depends on the cut, and does not matter.
    pub(crate) fn fits(&mut self, from: u64, until: u64, plan: usize) {
        if from > self.until || self.until == 0 {
            *self = Self { from, until, first: (until, plan) };
            return;
        }
        self.until = self.until.max(until);
        let (furthest, first) = self.first;
        if from == self.from && (until > furthest || (until == furthest && plan < first)) {
            self.first = (until, plan);
        }
    }

    /// How far text up to `end` may be reported as text by itself, if something is taken out there.
    pub(crate) fn free(&self, end: u64) -> u64 {
        if end > self.from && end <= self.until { self.from } else { end }
    }

    /// The dialect whose marker begins it.
    pub(crate) fn plan(&self) -> usize {
        self.first.1
    }
}
