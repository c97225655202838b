//! From a case that breaks a law to a smaller one.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;

use super::case::{Breach, Case};
use super::{Broken, Law};
use crate::WireKind;
use crate::conformance::{Rule, check};
use crate::{ChunkLog, Cut};

/// Takes away events from the end, then from within, and cuts more coarsely, as long as the law stays broken.
pub(super) fn smallest(law: Law, case: Case<'_>, breach: Breach) -> Broken {
    let events = Cut::Event.apply(&case.log);
    let total = events.len();
    let mut shrink = Shrink { law, case, breach, events, left: BUDGET };
    if !shrink.case.log.is_whole() {
        shrink.shorten();
        shrink.thin();
        shrink.coarsen();
    }
    let Case { log, cut, seed, .. } = shrink.case;
    Broken { law, log: Box::new(log), events: total, cut, seed, breach: shrink.breach }
}

struct Shrink<'a> {
    law: Law,
    case: Case<'a>,
    breach: Breach,
    events: Vec<(Duration, Bytes)>,
    /// How many more cases may be tried.
    left: usize,
}

impl Shrink<'_> {
    /// The shortest prefix, found by halving; what breaks a law mostly goes on breaking it.
    fn shorten(&mut self) {
        let (mut holds, mut breaks) = (0, self.events.len());
        while holds + 1 < breaks && self.left > 0 {
            let middle = usize::midpoint(holds, breaks);
            if self.try_events(self.events[..middle].to_vec()) {
                breaks = middle;
            } else {
                holds = middle;
            }
        }
    }

    /// Leaves out runs of events, shorter and shorter ones, where the rest is no less valid than before.
    fn thin(&mut self) {
        let mut run = self.events.len() / 2;
        while run > 0 && self.left > 0 {
            let mut at = 0;
            while at + run <= self.events.len() && self.left > 0 {
                let mut rest = self.events.clone();
                rest.drain(at..at + run);
                if rest.is_empty() || !self.is_as_valid(&rest) || !self.try_events(rest) {
                    at += run;
                }
            }
            run /= 2;
        }
    }

    fn coarsen(&mut self) {
        for cut in [Cut::Event, Cut::Whole] {
            let case = Case { cut, ..self.case.clone() };
            if case.cut != self.case.cut && self.try_case(case) {
                return;
            }
        }
    }

    fn try_events(&mut self, events: Vec<(Duration, Bytes)>) -> bool {
        let log = ChunkLog::from_chunks(self.case.log.name(), events.iter().cloned());
        let case = Case { log, ..self.case.clone() };
        let broken = self.try_case(case);
        if broken {
            self.events = events;
        }
        broken
    }

    fn try_case(&mut self, case: Case<'_>) -> bool {
        self.left = self.left.saturating_sub(1);
        let Err(breach) = self.law.check(&case) else { return false };
        self.breach = breach;
        (self.case.log, self.case.cut) = (case.log, case.cut);
        true
    }

    /// Whether these events break no rule of the format that those before did not.
    fn is_as_valid(&self, events: &[(Duration, Bytes)]) -> bool {
        let Some(format) = WireKind::detect(self.case.log.bytes()) else { return true };
        let rules = |events: &[(Duration, Bytes)]| -> BTreeSet<Rule> {
            let body: Vec<u8> = events.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
            check(format, &body).violations().iter().map(|violation| violation.rule).collect()
        };
        rules(events).is_subset(&rules(&self.events))
    }
}

/// How many cases are tried. A law runs the stream a few dozen times.
const BUDGET: usize = 60;
