//! The scanner: one for all dialects, resumable at every byte.

use std::ops::Range;
use std::sync::Arc;
use std::vec::Drain;

use crate::active::Call;
use crate::before::Before;
use crate::code::Code;
use crate::decide::{Decision, decide};
use crate::event::{Event, Markup, MarkupRole, ProblemKind};
use crate::machine::{Machine, Outcome, Unit};
use crate::options::ScanOptions;
use crate::plan::{Kind, Mark, Opener};
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
    unmarked_from: u64,
    /// How many bytes were read by candidates without a marker that were none, and are read again.
    reread: u64,
    /// Text that could still become a marker, were something behind it taken out.
    pub(crate) seam: Seam,
    /// Markers before, behind which calls are found by pattern.
    pub(crate) regions: Regions,
    /// Where the call that was taken last begins, or the wrapper that it stands in.
    pub(crate) taken: u64,
    /// A bare object that left as text.
    pub(crate) watch: Watch,
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

    /// Looks for the next place where something may begin. False if there is none in what came.
    fn search(&mut self, ended: bool) -> bool {
        loop {
            let rest = &self.buf.as_bytes()[self.at..];
            let Some(first) = rest.first() else { break };
            if *first != b'`' {
                self.code.settle();
            }
            let hidden = self.reasoning.is_none() && self.code.is_code() && !self.options.in_code;
            let in_region = !self.regions.is_empty();
            let found = self.triggers.find(rest, self.reasoning, hidden, self.code.is_inline(), in_region);
            let text = found.map_or(rest, |found| &rest[..found]);
            if let Some(colon) = self.watch.run(&self.plans, text) {
                if self.marks_all() {
                    self.before.run(&self.plans, &self.options, &rest[..colon]);
                }
                self.code.pass(&rest[..colon]);
                self.at += colon;
                self.becomes_call();
                continue;
            }
            if self.plans.marks_all && self.options.every_reading {
                self.before.run(&self.plans, &self.options, text);
            }
            self.code.pass(text);
            let Some(found) = found else {
                self.at = self.buf.len();
                break;
            };
            self.at += found;
            if rest[found] == b':' && self.watch.run(&self.plans, b":").is_some() {
                self.becomes_call();
                continue;
            }
            let candidates = if hidden { Vec::new() } else { self.candidates(rest[found]) };
            if !candidates.is_empty() {
                self.state = State::Pending(candidates);
                return true;
            }
            self.skip_byte();
        }
        if ended {
            self.code.settle();
            self.seam = Seam::default();
        }
        self.flush_text(self.at);
        false
    }

    /// What may begin with this byte, here.
    fn candidates(&mut self, byte: u8) -> Vec<Machine> {
        let mut found = Vec::new();
        let rest = &self.buf.as_bytes()[self.at..];
        let visible = self.reasoning.is_none() || self.options.in_reasoning;
        let at = self.base + self.at as u64;
        // A longer run of backticks is another fence, but not to a parser that looks for three of them by pattern.
        let another_fence = byte == b'`' && self.code.in_run() && !self.options.every_reading;
        for (plan, opener) in self.triggers.openers(byte).filter(|_| visible && !another_fence) {
            let only_whole = self.plans.dialects[plan].dialect.only_whole;
            if self.plans.dialects[plan].dialect.guarded && !self.options.every_reading {
                continue;
            }
            let Opener { template, mark, .. } = &self.plans.dialects[plan].openers[opener];
            let counts = match mark {
                Mark::Own => true,
                Mark::Region => self.regions.holds(plan) && at >= self.unmarked_from,
                Mark::Pattern { behind_word } => {
                    self.regions.holds(plan) && (!behind_word || self.code.ends_in_word())
                }
            };
            if !counts {
                continue;
            }
            if !only_whole && !template.may_begin(rest) {
                if self.options.every_reading {
                    self.seam.fits(at, at + template.begins(rest) as u64, plan);
                }
                continue;
            }
            let begins = self.code.begins_line() || self.options.every_reading;
            if !only_whole || (begins && at >= self.unmarked_from) {
                found.push(Machine::new(Unit::First { plan, opener }));
            }
        }
        if visible {
            let ends = self.regions.iter().filter(|plan| {
                let leave = &self.plans.dialects[*plan].leave;
                !leave.is_empty() && leave.may_begin(rest)
            });
            found.extend(ends.map(|plan| Machine::new(Unit::Leave(plan))));
        }
        match self.reasoning {
            Some(tag) if self.plans.reasoning[tag].1.may_begin(rest) => {
                found.push(Machine::new(Unit::Thought(tag)));
            }
            Some(_) => {}
            None => {
                let tags = self.plans.reasoning.iter().enumerate();
                let tags = tags.filter(|(_, (open, _))| open.may_begin(rest));
                found.extend(tags.map(|(tag, _)| Machine::new(Unit::Think(tag))));
            }
        }
        found
    }

    /// Runs what may stand here; takes the first that shows what it is, or lets the text go.
    fn pending(&mut self, ended: bool) -> bool {
        let needs_name = self.marks_all() && self.may_join();
        let State::Pending(machines) = &mut self.state else { return false };
        let text = &self.buf.as_bytes()[self.at..];
        let decision = decide(machines, &self.plans, &self.options, text, (ended, needs_name));
        if self.marks_all() && self.makes_call(&decision) {
            self.break_marker();
            return true;
        }
        let State::Pending(machines) = &mut self.state else { return false };
        match decision {
            Decision::Wait => {
                self.flush_text(self.at);
                false
            }
            Decision::Take(machine) if matches!(machine.unit, Unit::Leave(_)) && !machines.is_empty() => {
                // What ends a region may begin a call.
                if let Unit::Leave(plan) = machine.unit {
                    self.regions.leave(plan);
                }
                true
            }
            Decision::Take(machine) => {
                // What is a call to one parser is a marker and other words to the next.
                let at = self.base + self.at as u64;
                self.regions.enter(at, machines, Some(&machine), &self.plans, &self.options);
                self.take(*machine, None);
                true
            }
            Decision::None { through, fits } => {
                let at = self.base + self.at as u64;
                self.regions.enter(at, machines, None, &self.plans, &self.options);
                // Parsers that look at every brace find a call in what was none, too.
                self.reread += through as u64;
                let is_reread =
                    self.options.every_reading && self.reread <= REREAD + REREADS * (at + through as u64);
                if !is_reread {
                    self.unmarked_from = self.unmarked_from.max(at + through as u64);
                    if self.options.every_reading && through > 1 {
                        let through = (self.at + through..).find(|at| self.buf.is_char_boundary(*at));
                        self.flush_text(self.at);
                        self.unread(0, through.map_or(1, |at| at - self.at), ProblemKind::InnerCall);
                        return true;
                    }
                }
                for (fits, plan) in fits.into_iter().filter(|_| self.options.every_reading) {
                    self.seam.fits(at, at + fits as u64, plan);
                }
                self.skip_byte();
                self.state = State::Text;
                true
            }
        }
    }

    /// Behind a call of a wrapper.
    fn between(&mut self, ended: bool) -> bool {
        let State::Between(machines, section) = &mut self.state else { return false };
        let section = *section;
        let text = &self.buf.as_bytes()[self.at..];
        match decide(machines, &self.plans, &self.options, text, (ended, false)) {
            Decision::Wait => false,
            Decision::Take(machine) => {
                self.take(*machine, Some(section));
                true
            }
            Decision::None { .. } => {
                // Its end did not come: parsers that look for it look on.
                self.regions.open(self.taken, section.plan, &self.plans, &self.options);
                self.state = State::Text;
                true
            }
        }
    }

    /// A candidate showed what it is.
    fn take(&mut self, machine: Machine, section: Option<Section>) {
        let plan = match machine.unit {
            Unit::First { plan, .. } | Unit::Next { plan, .. } => plan,
            Unit::Leave(plan) => {
                self.regions.leave(plan);
                self.skip_byte();
                self.state = State::Text;
                return;
            }
            Unit::Close { .. } | Unit::Think(_) | Unit::Thought(_) => {
                return self.take_tag(&machine, section);
            }
        };
        let kind = match machine.unit {
            Unit::First { opener, .. } => self.plans.dialects[plan].openers[opener].kind,
            Unit::Next { kind, .. } => kind,
            _ => Kind::Alone,
        };
        if section.is_none() {
            self.taken = self.base + self.at as u64;
        }
        let section = match (section, kind) {
            (Some(section), _) => Some(section.number),
            (None, Kind::Alone) => None,
            (None, _) => {
                self.sections += 1;
                Some(self.sections - 1)
            }
        };
        let call = Call { machine, plan, kind, section, name: None, muted: false, reported: 0 };
        self.state = State::Active(Box::new(call));
    }

    /// A tag that is whole: a wrapper's end, or reasoning that opens or closes.
    fn take_tag(&mut self, machine: &Machine, section: Option<Section>) {
        let Some(Outcome::Done(end)) = machine.outcome else { return };
        self.flush_text(self.at);
        if self.from < self.at && matches!(machine.unit, Unit::Think(_)) {
            return self.interrupted(end);
        }
        self.flush_all(self.at);
        let range = self.absolute(0..end);
        let event = match machine.unit {
            Unit::Think(tag) => {
                self.before.think();
                self.reasoning = Some(tag);
                Event::ReasoningStart(range)
            }
            Unit::Thought(_) => {
                self.before.thought();
                self.reasoning = None;
                self.code = Code::default();
                Event::ReasoningEnd(range)
            }
            _ => {
                let closer = &self.buf.as_bytes()[self.at..self.at + end];
                if let Unit::Close { plan, .. } = machine.unit {
                    self.regions.open(self.taken, plan, &self.plans, &self.options);
                }
                self.regions.close(self.taken, &self.plans, closer);
                let section = section.map_or(0, |section| section.number);
                Event::Markup(Markup { range, section, role: MarkupRole::Close })
            }
        };
        self.events.push(event);
        self.consume(end);
        self.state = State::Text;
    }

    /// Whether a marker makes calls of what stands before it.
    pub(crate) fn marks_all(&self) -> bool {
        self.plans.marks_all && self.options.every_reading
    }

    /// The byte at `at` is text.
    pub(crate) fn skip_byte(&mut self) {
        let byte = self.buf.as_bytes()[self.at];
        self.watch.run(&self.plans, &[byte]);
        if self.marks_all() {
            self.before.run(&self.plans, &self.options, &[byte]);
        }
        if byte == b'{' && self.plans.has_bare && self.options.every_reading {
            self.watch.begin();
        }
        self.code.byte(byte);
        self.at += 1;
    }

    /// Everything up to `at + bytes` was reported.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.watch.run(&self.plans, &self.buf.as_bytes()[self.at..self.at + bytes]);
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

/// Within which bounds text is read again: in all so many times, and some bytes more.
const REREADS: u64 = 8;
const REREAD: u64 = 1 << 16;

impl Section {
    pub(crate) fn machines(self, plans: &Plans) -> Vec<Machine> {
        let Self { kind, plan, .. } = self;
        let of = &plans.dialects[plan];
        let closes = (0..of.close(kind).len()).map(|close| Unit::Close { plan, close, kind });
        let calls = (0..of.next(kind).len()).map(|call| Unit::Next { plan, call, kind });
        closes.chain(calls).map(Machine::new).collect()
    }
}
