//! The call that is open: what is reported of it, and how it ends.

use std::sync::Arc;

use crate::event::{CallStart, Event, Markup, MarkupRole, Problem, ProblemKind, TextCall, Unparsed};
use crate::machine::{Machine, Outcome, Unit};
use crate::options::WINDOW;
use crate::plan::Kind;
use crate::scanner::{Scanner, Section, State};

/// A call of which not all has come.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) machine: Machine,
    pub(crate) plan: usize,
    pub(crate) kind: Kind,
    pub(crate) section: Option<u32>,
    pub(crate) name: Option<String>,
    /// It names a tool that was not offered: its bytes are text.
    pub(crate) muted: bool,
    /// How many of its bytes were reported.
    pub(crate) reported: usize,
}

impl Scanner {
    /// Reads on in the call that is open.
    pub(crate) fn active(&mut self, ended: bool) -> bool {
        let State::Active(mut call) = std::mem::replace(&mut self.state, State::Text) else { return false };
        self.flush_text(self.at);
        let all = &self.buf.as_bytes()[self.at..];
        let limit = self.options.limit;
        let too_long = all.len() > limit;
        let cut = if too_long { boundary(&self.buf, self.at + limit) - self.at } else { all.len() };
        let plans = Arc::clone(&self.plans);
        call.machine.run(&plans, &all[..cut], ended && !too_long, &self.options);
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
            return self.flush_all(self.at);
        }
        let start = call.machine.call_start();
        // Text that must not be left without the call stands around it, as a wrapper's tags do.
        if self.at + start > self.from {
            let section = *call.section.get_or_insert_with(|| {
                self.sections += 1;
                self.sections - 1
            });
            let first = matches!(call.machine.unit, Unit::First { .. });
            let role = if first { MarkupRole::Open } else { MarkupRole::Between };
            let range = self.base + self.from as u64..self.base + (self.at + start) as u64;
            self.events.push(Event::Markup(Markup { range, section, role }));
            self.from = self.at;
        }
        call.reported = start;
        let text = &self.buf.as_bytes()[self.at..self.at + cut];
        self.events.push(Event::CallStart(CallStart {
            dialect: Arc::clone(&self.plans.dialects[call.plan].dialect),
            name: call.name.clone().unwrap_or_default(),
            id: call.machine.id_before_name(text),
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
        if let Some((at, kind)) = self.ambiguity(&call, &plan, end) {
            return self.failed(&mut call, end, at, kind);
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
        let closer = &self.buf.as_bytes()[self.at + call.machine.body().end..self.at + end];
        if call.kind == Kind::Alone && !plan.dialect.call_close.is_empty() {
            self.regions.open(self.taken, call.plan, &self.plans, &self.options);
        }
        self.regions.close(self.taken, &self.plans, closer);
        self.consume(end);
        self.state = match call.section.filter(|_| call.kind != Kind::Alone) {
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
            let start = if call.name.is_some() { self.at + call.machine.call_start() } else { self.from };
            let reported = self.from + call.reported.min(end);
            let text = &self.buf.as_bytes()[self.at..self.at + end];
            let problem = Problem {
                tool: call.name.clone(),
                parameter: call.machine.parameter(text, at),
                ..Problem::new(kind, self.base + (self.at + at) as u64)
            };
            self.events.push(Event::Unparsed(Unparsed {
                range: self.base + reported as u64..self.base + (self.at + end) as u64,
                start: self.base + start as u64,
                dialect: Arc::clone(&self.plans.dialects[call.plan].dialect),
                begun: call.name.is_some(),
                text: self.buf[start..self.at + end].to_owned(),
                problem,
            }));
        }
        self.consume(end);
        self.state = State::Text;
    }
}

/// The last character border at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
