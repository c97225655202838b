//! The scanner: one for all dialects, resumable at every byte.

use std::ops::Range;
use std::sync::Arc;
use std::vec::Drain;

use crate::active::Call;
use crate::before::Before;
use crate::code::Code;
use crate::event::Event;
use crate::machine::{Machine, Unit};
use crate::options::ScanOptions;
use crate::plan::Kind;
use crate::region::Regions;
use crate::seam::Seam;
use crate::set::{DialectSet, Plans};
use crate::triggers::Triggers;
use crate::watch::Watch;

/// Finds calls and reasoning in a text that comes in pieces.
///
/// Nothing is looked at more than a bounded number of times, nothing is emitted that could still become a marker, and
/// the events do not depend on how the text was cut.
///
/// ```
/// use stream_text_calls::{DialectSet, Event, ScanOptions, Scanner, known};
///
/// let set = DialectSet::new().with(known::hermes());
/// let mut scanner = Scanner::new(&set, ScanOptions::new());
/// assert_eq!(scanner.push("a < b <tool").collect::<Vec<_>>(), [Event::Text(0..6)]);
/// assert_eq!(scanner.push("bar>").collect::<Vec<_>>(), [Event::Text(6..15)]);
/// assert_eq!(scanner.end().count(), 0);
/// ```
#[derive(Debug)]
pub struct Scanner {
    pub(crate) plans: Arc<Plans>,
    pub(crate) options: ScanOptions,
    pub(crate) triggers: Arc<Triggers>,
    /// Text that is not decided, or of the call that is open.
    pub(crate) buf: String,
    /// Where `buf` begins in the whole text.
    pub(crate) base: u64,
    /// Where the search or the candidates stand in `buf`.
    pub(crate) at: usize,
    /// Where text that was not reported begins in `buf`.
    pub(crate) from: usize,
    pub(crate) state: State,
    pub(crate) code: Code,
    /// The reasoning tag that is open.
    pub(crate) reasoning: Option<usize>,
    /// Before this, nothing without a marker is looked for again.
    pub(crate) unmarked_from: u64,
    /// How many bytes were read by candidates without a marker that were none, and are read again.
    pub(crate) reread: u64,
    /// Text that could still become a marker, were something behind it taken out.
    pub(crate) seam: Seam,
    /// Markers before, behind which calls are found by pattern.
    pub(crate) regions: Regions,
    /// Where the call that was taken last begins, or the wrapper that it stands in.
    pub(crate) taken: u64,
    /// A bare object that left as text.
    pub(crate) watch: Watch,
    /// Nothing but white space has come.
    pub(crate) is_blank: bool,
    /// What a marker would make a call of.
    pub(crate) before: Before,
    pub(crate) sections: u32,
    pub(crate) events: Vec<Event>,
}

#[derive(Debug)]
pub(crate) enum State {
    Text,
    /// What may stand at `at`.
    Pending(Vec<Machine>),
    /// A call.
    Active(Box<Call>),
    /// Behind a call of a wrapper: another call, or its end.
    Between(Vec<Machine>, Section),
}

/// The wrapper or list that the calls stand in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section {
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    pub(crate) plan: usize,
}

impl Scanner {
    /// A scanner for one text.
    #[must_use]
    pub fn new(set: &DialectSet, options: ScanOptions) -> Self {
        let plans = Arc::clone(&set.plans);
        let triggers = Arc::new(Triggers::new(&plans, &options));
        let mut scanner = Self::of(plans, triggers, options);
        scanner.reasoning = set.starts_in_reasoning.then_some(0);
        scanner
    }

    pub(crate) fn of(plans: Arc<Plans>, triggers: Arc<Triggers>, options: ScanOptions) -> Self {
        Self {
            plans,
            triggers,
            options,
            buf: String::new(),
            base: 0,
            at: 0,
            from: 0,
            state: State::Text,
            code: Code::default(),
            reasoning: None,
            unmarked_from: 0,
            reread: 0,
            seam: Seam::default(),
            regions: Regions::default(),
            taken: 0,
            watch: Watch::default(),
            is_blank: true,
            before: Before::default(),
            sections: 0,
            events: Vec::new(),
        }
    }

    /// Takes more text; says what is decided now.
    pub fn push(&mut self, text: &str) -> Drain<'_, Event> {
        self.buf.push_str(text);
        self.run(false);
        self.forget();
        self.events.drain(..)
    }

    /// The text is over: says what is left.
    pub fn end(&mut self) -> Drain<'_, Event> {
        self.run(true);
        self.forget();
        self.events.drain(..)
    }

    /// How many bytes of the text were reported; the rest waits for what comes next.
    #[must_use]
    pub fn decided(&self) -> u64 {
        let reported = match &self.state {
            State::Active(call) => call.reported,
            _ => 0,
        };
        self.base + (self.from + reported) as u64
    }

    /// Begins anew at this place of the whole text, with everything before it reported. Wrappers are counted on, and reasoning
    /// that is open stays open, as does what a marker opened.
    pub fn restart(&mut self, at: u64) {
        let (reasoning, regions) = (self.reasoning, std::mem::take(&mut self.regions));
        let before = std::mem::take(&mut self.before);
        let (plans, triggers) = (Arc::clone(&self.plans), Arc::clone(&self.triggers));
        let sections = self.sections;
        *self = Self::of(plans, triggers, self.options.clone());
        (self.base, self.reasoning, self.sections, self.regions) = (at, reasoning, sections, regions);
        self.before = before;
        self.before.interrupt();
    }

    /// The text goes on in another block: what counts at the begin of a line counts here.
    pub fn begin_block(&mut self) {
        self.code.begin_line();
    }

    /// Whether a candidate with a marker of its own waits for more text.
    pub(crate) fn waits_for_marker(&self) -> bool {
        let is_marked = |machine: &Machine| match machine.unit {
            Unit::First { plan, .. } => !self.plans.dialects[plan].dialect.only_whole,
            _ => false,
        };
        matches!(&self.state, State::Pending(machines) if machines.iter().any(is_marked))
    }

    fn run(&mut self, ended: bool) {
        loop {
            let goes_on = match &self.state {
                State::Text => self.search(ended),
                State::Pending(_) => self.pending(ended),
                State::Active(_) => self.active(ended),
                State::Between(..) => self.between(ended),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Whether a marker makes calls of what stands before it.
    pub(crate) fn marks_all(&self) -> bool {
        self.plans.marks_all && self.options.every_reading
    }

    /// The byte at `at` is text.
    pub(crate) fn skip_byte(&mut self) {
        let byte = self.buf.as_bytes()[self.at];
        self.watch.run(&self.plans, &self.options, &[byte]);
        if self.marks_all() {
            self.before.run(&self.plans, &self.options, &[byte]);
        }
        if byte == b'{' && self.plans.has_bare && self.options.every_reading {
            self.watch.begin(self.is_blank);
        }
        self.is_blank &= byte.is_ascii_whitespace();
        self.code.byte(byte);
        self.at += 1;
    }

    /// Everything up to `at + bytes` was reported.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.watch.run(&self.plans, &self.options, &self.buf.as_bytes()[self.at..self.at + bytes]);
        self.is_blank = false;
        self.before.interrupt();
        self.code.pass(&self.buf.as_bytes()[self.at..self.at + bytes]);
        self.at += bytes;
        self.from = self.at;
    }

    /// Reports text up to `end`, but for what could become a marker if what follows it is taken out.
    pub(crate) fn flush_text(&mut self, end: usize) {
        let free = self.seam.free(self.base + end as u64).saturating_sub(self.base);
        self.flush_all(usize::try_from(free).unwrap_or(end));
    }

    /// Reports text up to `end`.
    pub(crate) fn flush_all(&mut self, end: usize) {
        if end > self.from {
            let range = self.base + self.from as u64..self.base + end as u64;
            let thinks = self.reasoning.is_some();
            self.events.push(if thinks { Event::Reasoning(range) } else { Event::Text(range) });
            self.from = end;
        }
    }

    /// Forgets what was reported.
    fn forget(&mut self) {
        let keep = self.from.min(self.at);
        if keep == self.buf.len() {
            self.buf.clear();
        } else {
            self.buf.drain(..keep);
        }
        self.base += keep as u64;
        self.at -= keep;
        self.from -= keep;
    }

    pub(crate) fn absolute(&self, range: Range<usize>) -> Range<u64> {
        let start = self.base + self.at as u64;
        start + range.start as u64..start + range.end as u64
    }
}

impl Section {
    pub(crate) fn machines(self, plans: &Plans) -> Vec<Machine> {
        let Self { kind, plan, .. } = self;
        let of = &plans.dialects[plan];
        let closes = (0..of.close(kind).len()).map(|close| Unit::Close { plan, close, kind });
        let calls = (0..of.next(kind).len()).map(|call| Unit::Next { plan, call, kind });
        closes.chain(calls).map(Machine::new).collect()
    }
}
