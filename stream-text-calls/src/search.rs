//! The search for places where a call, a reasoning tag or the end of a region may begin.

use crate::machine::{Machine, Unit};
use crate::plan::{Mark, Opener};
use crate::scanner::{Scanner, State};
use crate::seam::Seam;

impl Scanner {
    /// Looks for the next place where something may begin. False if there is none in what came.
    pub(crate) fn search(&mut self, ended: bool) -> bool {
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
            if let Some(until) = self.watch.run(&self.plans, &self.options, text) {
                if self.marks_all() {
                    self.before.run(&self.plans, &self.options, &rest[..until]);
                }
                self.code.pass(&rest[..until]);
                self.at += until;
                self.becomes_call();
                continue;
            }
            if self.plans.marks_all && self.options.every_reading {
                self.before.run(&self.plans, &self.options, text);
            }
            self.is_blank &= text.trim_ascii().is_empty();
            self.code.pass(text);
            let Some(found) = found else {
                self.at = self.buf.len();
                break;
            };
            self.at += found;
            if self.watch.ends_at(&self.plans, &self.options, rest[found]) {
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
}
