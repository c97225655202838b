//! Calls inside of calls: what a parser finds that looks for markers by pattern.

use std::ops::Range;
use std::sync::Arc;

use crate::active::Call;
use crate::code::Code;
use crate::decide::Decision;
use crate::event::{Event, Problem, ProblemKind, Unparsed};
use crate::known::MISTRAL;
use crate::machine::Machine;
use crate::options::ScanOptions;
use crate::plan::{Kind, Plan};
use crate::scanner::{Scanner, State};

impl Scanner {
    /// Why a call that is done, and ends before `end`, has no single meaning: where that shows, and what it is.
    pub(crate) fn ambiguity(&self, call: &Call, plan: &Plan, end: usize) -> Option<(usize, ProblemKind)> {
        let text = &self.buf.as_bytes()[self.at..];
        let hides = self.options.malformed && call.machine.hides_tags(plan, &text[..end]);
        if hides || call.machine.may_be_cut(plan, &text[..end]) {
            // Another parser may end the value elsewhere, and find a call in it.
            return Some((end, ProblemKind::InnerCall));
        }
        if !self.options.every_reading {
            return None;
        }
        if call.machine.has_two_names(text, &self.options) {
            return Some((call.machine.call_start(), ProblemKind::MissingName));
        }
        let inner = call.machine.says_otherwise(plan, &text[..end]);
        let inner = inner.or_else(|| call.machine.inside().find_map(|inside| self.inner_call(inside)));
        if let Some(at) = inner {
            return Some((at, ProblemKind::InnerCall));
        }
        let goes_on = call.kind != Kind::Listed && call.machine.goes_on(plan, end, text);
        goes_on.then_some((end, ProblemKind::MissingCloser))
    }

    /// Where a call begins in a stretch of the call that is open. The stretch is searched once, and not for calls in the
    /// calls found there: the first is enough.
    fn inner_call(&self, inside: Range<usize>) -> Option<usize> {
        let text = &self.buf[self.at + inside.start..self.at + inside.end.max(inside.start)];
        let options = ScanOptions { every_reading: false, ..self.options.clone() };
        let options = options.in_code(true).in_reasoning(true).unknown_names(true).report_malformed(true);
        let mut scanner = Self::of(Arc::clone(&self.plans), Arc::clone(&self.triggers), options);
        scanner.code = Code::within_line();
        let is_call = |event: &Event| match event {
            Event::CallStart(start) => Some(start.at),
            Event::Unparsed(unparsed) => Some(unparsed.start),
            Event::Markup(markup) => Some(markup.range.start),
            _ => None,
        };
        let first = scanner.push(text).find_map(|event| is_call(&event));
        // A marker that is not whole goes on behind the call.
        let first = first.or_else(|| scanner.waits_for_marker().then_some(scanner.decided()));
        let first = first.or_else(|| scanner.end().find_map(|event| is_call(&event)))?;
        Some(inside.start + usize::try_from(first).unwrap_or(usize::MAX))
    }

    /// A reasoning tag, which ends at `end`, stands directly behind the begin of a marker. Parsers that take reasoning out
    /// first read on behind it.
    pub(crate) fn interrupted(&mut self, end: usize) {
        self.unread(self.seam.plan(), end, ProblemKind::InterruptedMarker);
    }

    /// Whether a marker stands here behind a word that may make another name of the one behind it.
    pub(crate) fn may_join(&self) -> bool {
        let text = &self.buf.as_bytes()[self.at..];
        self.before.has_word() && text.starts_with(MISTRAL.as_bytes())
    }

    /// Whether a marker stands here that makes a call of what stands before it, or another name of the one behind it.
    pub(crate) fn makes_call(&self, decision: &Decision) -> bool {
        let text = &self.buf.as_bytes()[self.at..];
        let joins = |machine: &Machine| match machine.name(text) {
            Some(Ok(name)) => self.before.joins(&self.options, &name),
            _ => false,
        };
        text.starts_with(MISTRAL.as_bytes())
            && match decision {
                Decision::Wait => false,
                Decision::Take(machine) => self.before.is_call() || joins(machine),
                Decision::None { .. } => self.before.is_call(),
            }
    }

    /// The marker that stands here does not leave: without it nothing around it is a call.
    pub(crate) fn break_marker(&mut self) {
        let plan = self.plans.dialects.iter().position(|plan| plan.dialect.marks_all).unwrap_or(0);
        self.flush_text(self.at);
        self.unread(plan, MISTRAL.len(), ProblemKind::BehindCall);
    }

    /// With the colon at this place an object that left as text would be a call. Without it, it is no object.
    pub(crate) fn becomes_call(&mut self) {
        let plan = self.plans.dialects.iter().position(|plan| plan.dialect.is_bare()).unwrap_or(0);
        self.flush_text(self.at);
        self.unread(plan, 1, ProblemKind::Malformed { expected: "an object with a call's keys alone" });
    }

    /// Reports what was not reported, and `end` bytes more, as no call.
    pub(crate) fn unread(&mut self, plan: usize, end: usize, kind: ProblemKind) {
        let (from, at) = (self.base + self.from as u64, self.base + self.at as u64);
        self.events.push(Event::Unparsed(Unparsed {
            range: from..at + end as u64,
            start: from,
            dialect: Arc::clone(&self.plans.dialects[plan].dialect),
            begun: false,
            text: self.buf[self.from..self.at + end].to_owned(),
            problem: Problem::new(kind, at),
        }));
        self.consume(end);
        self.state = State::Text;
    }
}
