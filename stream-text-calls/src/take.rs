//! What becomes of the candidates at a place: one of them is taken, or the place is text.

use crate::active::Call;
use crate::code::Code;
use crate::decide::{Decision, decide};
use crate::event::{Event, Markup, MarkupRole, ProblemKind};
use crate::machine::{Machine, Outcome, Unit};
use crate::plan::Kind;
use crate::scanner::{Scanner, Section, State};

impl Scanner {
    /// Runs what may stand here; takes the first that shows what it is, or lets the text go.
    pub(crate) fn pending(&mut self, ended: bool) -> bool {
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
    pub(crate) fn between(&mut self, ended: bool) -> bool {
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
}

/// Within which bounds text is read again: in all so many times, and some bytes more.
const REREADS: u64 = 8;
const REREAD: u64 = 1 << 16;
