//! The scanner: one for all dialects, resumable at every byte.

use std::ops::Range;
use std::sync::Arc;
use std::vec::Drain;

use super::code::Code;
use super::decide::{Decision, decide};
use super::event::{CallStart, Event, Markup, MarkupRole, Problem, ProblemKind, TextCall, Unparsed};
use super::machine::{Machine, Outcome, Unit};
use super::options::{ScanOptions, WINDOW};
use super::plan::Kind;
use super::set::{DialectSet, Plans};
use super::triggers::Triggers;

/// Finds calls and reasoning in a text that comes in pieces.
///
/// Nothing is looked at more than a bounded number of times, nothing is emitted that could still become a marker, and
/// the events do not depend on how the text was cut.
///
/// ```
/// use stream_core::text_calls::{DialectSet, Event, ScanOptions, Scanner, known};
///
/// let set = DialectSet::new().with(known::hermes());
/// let mut scanner = Scanner::new(&set, ScanOptions::new());
/// assert_eq!(scanner.push("a < b <tool").collect::<Vec<_>>(), [Event::Text(0..6)]);
/// assert_eq!(scanner.push("bar>").collect::<Vec<_>>(), [Event::Text(6..15)]);
/// assert_eq!(scanner.end().count(), 0);
/// ```
#[derive(Debug)]
pub struct Scanner {
    plans: Arc<Plans>,
    options: ScanOptions,
    triggers: Triggers,
    /// Text that is not decided, or of the call that is open.
    buf: String,
    /// Where `buf` begins in the whole text.
    base: u64,
    /// Where the search or the candidates stand in `buf`.
    at: usize,
    /// Where text that was not reported begins in `buf`.
    from: usize,
    state: State,
    code: Code,
    /// The reasoning tag that is open.
    reasoning: Option<usize>,
    /// Before this, nothing without a marker is looked for again.
    unmarked_from: u64,
    sections: u32,
    events: Vec<Event>,
}

#[derive(Debug)]
enum State {
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
struct Section {
    number: u32,
    kind: Kind,
    plan: usize,
}

#[derive(Debug)]
struct Call {
    machine: Machine,
    plan: usize,
    kind: Kind,
    section: Option<u32>,
    name: Option<String>,
    /// It names a tool that was not offered: its bytes are text.
    muted: bool,
    /// How many of its bytes were reported.
    reported: usize,
}

impl Scanner {
    /// A scanner for one text.
    #[must_use]
    pub fn new(set: &DialectSet, options: ScanOptions) -> Self {
        let plans = Arc::new(set.plans.clone());
        Self {
            triggers: Triggers::new(&plans, &options),
            plans,
            options,
            buf: String::new(),
            base: 0,
            at: 0,
            from: 0,
            state: State::Text,
            code: Code::default(),
            reasoning: set.starts_in_reasoning.then_some(0),
            unmarked_from: 0,
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
        self.base + (self.at + reported) as u64
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
            let found = self.triggers.find(rest, self.reasoning, hidden, self.code.is_inline());
            let Some(found) = found else {
                self.code.pass(rest);
                self.at = self.buf.len();
                break;
            };
            self.code.pass(&rest[..found]);
            self.at += found;
            let candidates = if hidden { Vec::new() } else { self.candidates(rest[found]) };
            if !candidates.is_empty() {
                self.state = State::Pending(candidates);
                return true;
            }
            self.skip_byte();
        }
        if ended {
            self.code.settle();
        }
        self.flush_text(self.at);
        false
    }

    /// What may begin with this byte, here.
    fn candidates(&self, byte: u8) -> Vec<Machine> {
        let mut found = Vec::new();
        let rest = &self.buf.as_bytes()[self.at..];
        let visible = self.reasoning.is_none() || self.options.in_reasoning;
        for (plan, opener) in self.triggers.openers(byte) {
            let only_whole = self.plans.dialects[plan].dialect.only_whole;
            if !only_whole && !self.plans.dialects[plan].openers[opener].template.may_begin(rest) {
                continue;
            }
            let place =
                !only_whole || (self.code.begins_line() && self.base + self.at as u64 >= self.unmarked_from);
            // A longer run of backticks is another fence.
            if visible && place && !(byte == b'`' && self.code.in_run()) {
                found.push(Machine::new(Unit::First { plan, opener }));
            }
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
        let State::Pending(machines) = &mut self.state else { return false };
        let text = &self.buf.as_bytes()[self.at..];
        match decide(machines, &self.plans, &self.options, text, ended) {
            Decision::Wait => {
                self.flush_text(self.at);
                false
            }
            Decision::Take(machine) => {
                self.take(*machine, None);
                true
            }
            Decision::None { through } => {
                self.unmarked_from = self.unmarked_from.max(self.base + (self.at + through) as u64);
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
        match decide(machines, &self.plans, &self.options, text, ended) {
            Decision::Wait => false,
            Decision::Take(machine) => {
                self.take(*machine, Some(section));
                true
            }
            Decision::None { .. } => {
                self.state = State::Text;
                true
            }
        }
    }

    /// A candidate showed what it is.
    fn take(&mut self, machine: Machine, section: Option<Section>) {
        let plan = match machine.unit {
            Unit::First { plan, .. } | Unit::Next { plan, .. } => plan,
            Unit::Close { .. } | Unit::Think(_) | Unit::Thought(_) => {
                return self.take_tag(&machine, section);
            }
        };
        let kind = match machine.unit {
            Unit::First { opener, .. } => self.plans.dialects[plan].openers[opener].kind,
            Unit::Next { kind, .. } => kind,
            _ => Kind::Alone,
        };
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
        let range = self.absolute(0..end);
        let event = match machine.unit {
            Unit::Think(tag) => {
                self.reasoning = Some(tag);
                Event::ReasoningStart(range)
            }
            Unit::Thought(_) => {
                self.reasoning = None;
                self.code = Code::default();
                Event::ReasoningEnd(range)
            }
            _ => {
                let section = section.map_or(0, |section| section.number);
                Event::Markup(Markup { range, section, role: MarkupRole::Close })
            }
        };
        self.events.push(event);
        self.consume(end);
        self.state = State::Text;
    }

    /// Reads on in the call that is open.
    fn active(&mut self, ended: bool) -> bool {
        let State::Active(mut call) = std::mem::replace(&mut self.state, State::Text) else { return false };
        self.flush_text(self.at);
        let all = &self.buf.as_bytes()[self.at..];
        let limit = self.options.limit;
        let too_long = all.len() > limit;
        let cut = if too_long { boundary(&self.buf, self.at + limit) - self.at } else { all.len() };
        let plans = Arc::clone(&self.plans);
        let options = &self.options;
        let counts = |name: &str| options.counts_unmarked(name);
        call.machine.run(&plans, &all[..cut], ended && !too_long, &counts);
        let text = &self.buf.as_bytes()[self.at..self.at + cut];
        let mut outcome = call.machine.outcome.clone();
        let named = if call.name.is_none() { call.machine.name(text) } else { None };
        match named {
            Some(Ok(name)) => {
                call.muted = !self.options.counts(&name);
                call.name = Some(name);
                self.begin(&mut call, cut);
            }
            Some(Err(kind)) => {
                let end = call.machine.committed(text);
                outcome = Some(Outcome::Fail { end, at: end, kind });
            }
            None => {}
        }
        let text = &self.buf.as_bytes()[self.at..self.at + cut];
        if outcome.is_none() && too_long {
            outcome = Some(Outcome::Fail { end: cut, at: cut, kind: ProblemKind::TooLong { limit } });
        } else if outcome.is_none() && ended {
            let (at, kind) = call.machine.missing(text);
            outcome = Some(Outcome::Fail { end: cut, at, kind });
        }
        let committed = match &outcome {
            Some(Outcome::Done(end) | Outcome::Fail { end, .. }) => *end,
            None => call.machine.committed(text),
        };
        match outcome {
            None => {
                if call.name.is_some() {
                    self.report(&mut call, committed);
                }
                self.state = State::Active(call);
                return false;
            }
            Some(Outcome::Done(end)) => self.done(call, end),
            Some(Outcome::Fail { end, at, kind }) => self.failed(&mut call, end, at, kind),
        }
        true
    }

    /// The name is known: reports that the call begins.
    fn begin(&mut self, call: &mut Call, cut: usize) {
        if call.muted {
            return;
        }
        let start = call.machine.call_start();
        if let (Some(section), true) = (call.section, start > 0) {
            let first = matches!(call.machine.unit, Unit::First { .. });
            let role = if first { MarkupRole::Open } else { MarkupRole::Between };
            self.events.push(Event::Markup(Markup { range: self.absolute(0..start), section, role }));
        }
        call.reported = start;
        let text = &self.buf.as_bytes()[self.at..self.at + cut];
        self.events.push(Event::CallStart(CallStart {
            dialect: Arc::clone(&self.plans.dialects[call.plan].dialect),
            name: call.name.clone().unwrap_or_default(),
            id: call.machine.id(text),
            at: self.base + (self.at + start) as u64,
            section: call.section,
        }));
    }

    /// Reports bytes of the call up to `end`.
    fn report(&mut self, call: &mut Call, end: usize) {
        if end <= call.reported {
            return;
        }
        let range = self.absolute(call.reported..end);
        self.events.push(if !call.muted {
            Event::CallText(range)
        } else if self.reasoning.is_some() {
            Event::Reasoning(range)
        } else {
            Event::Text(range)
        });
        call.reported = end;
    }

    fn done(&mut self, mut call: Box<Call>, end: usize) {
        let plan = Arc::clone(&self.plans.dialects[call.plan]);
        let start = call.machine.call_start();
        let text = &self.buf.as_bytes()[self.at..self.at + end];
        let name = call.name.clone().unwrap_or_default();
        if self.options.malformed && call.machine.hides_tags(&plan, text) {
            // Another parser may end the value earlier, and find a call in it.
            return self.failed(&mut call, end, end, ProblemKind::UnclosedParameter);
        }
        let arguments = call.machine.arguments(&plan, &name, text, &self.options.schemas);
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err((at, kind)) => return self.failed(&mut call, end, at, kind),
        };
        self.report(&mut call, end);
        if !call.muted {
            let body = call.machine.body();
            let text = &self.buf.as_bytes()[self.at..self.at + end];
            self.events.push(Event::CallEnd(Box::new(TextCall {
                dialect: Arc::clone(&plan.dialect),
                name,
                id: call.machine.id(text),
                arguments,
                raw: self.buf[self.at + start..self.at + end].to_owned(),
                body: body.start - start..body.end - start,
                at: self.base + (self.at + start) as u64,
                section: call.section,
            })));
        }
        self.consume(end);
        self.state = match call.section {
            Some(number) => {
                let section = Section { number, kind: call.kind, plan: call.plan };
                State::Between(section.machines(&self.plans), section)
            }
            None => State::Text,
        };
    }

    /// The call that is open is none.
    fn failed(&mut self, call: &mut Call, end: usize, at: usize, kind: ProblemKind) {
        // What does not fit may show in the middle of a character.
        let end = (self.at + end..).find(|at| self.buf.is_char_boundary(*at)).map_or(end, |at| at - self.at);
        let truncated = matches!(kind, ProblemKind::Truncated | ProblemKind::UnclosedParameter);
        // A marker in prose: what follows it soon shows that it is none.
        if call.name.is_none() && !truncated && end < WINDOW && !self.options.malformed {
            self.skip_byte();
            self.state = State::Text;
            return;
        }
        if call.muted {
            self.report(call, end);
        } else {
            let start = if call.name.is_some() { call.machine.call_start() } else { 0 };
            self.events.push(Event::Unparsed(Unparsed {
                range: self.absolute(call.reported.min(end)..end),
                start: self.base + (self.at + start) as u64,
                dialect: Arc::clone(&self.plans.dialects[call.plan].dialect),
                begun: call.name.is_some(),
                problem: Problem { kind, at: self.base + (self.at + at) as u64 },
            }));
        }
        self.consume(end);
        self.state = State::Text;
    }

    /// The byte at `at` is text.
    fn skip_byte(&mut self) {
        self.code.byte(self.buf.as_bytes()[self.at]);
        self.at += 1;
    }

    /// Everything up to `at + bytes` was reported.
    fn consume(&mut self, bytes: usize) {
        self.code.pass(&self.buf.as_bytes()[self.at..self.at + bytes]);
        self.at += bytes;
        self.from = self.at;
    }

    /// Reports text up to `end`.
    fn flush_text(&mut self, end: usize) {
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

    fn absolute(&self, range: Range<usize>) -> Range<u64> {
        let start = self.base + self.at as u64;
        start + range.start as u64..start + range.end as u64
    }
}

impl Section {
    fn machines(self, plans: &Plans) -> Vec<Machine> {
        let Self { kind, plan, .. } = self;
        let of = &plans.dialects[plan];
        let closes = (0..of.close(kind).len()).map(|close| Unit::Close { plan, close, kind });
        let calls = (0..of.next(kind).len()).map(|call| Unit::Next { plan, call, kind });
        closes.chain(calls).map(Machine::new).collect()
    }
}

/// The last character border at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
