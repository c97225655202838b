//! A text that deltas build up and a `done` closes.

use super::super::{Deviation, Rule, report::Log};

/// A part's text, a call's arguments, a command.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// The part's type; empty for what is no part.
    pub(super) kind: String,
    pub(super) text: String,
    deltas: usize,
    text_done: bool,
    part_done: bool,
}

impl Piece {
    pub(super) fn new(kind: &str, text: &str) -> Self {
        Self { kind: kind.to_owned(), text: text.to_owned(), ..Self::default() }
    }

    /// Whether every `done` it needs has come.
    pub(super) fn is_closed(&self) -> bool {
        self.part_done || (self.kind.is_empty() && (self.text_done || self.deltas == 0))
    }

    pub(super) fn delta(&mut self, more: &str, name: &str, log: &mut Log) {
        if self.text_done || self.part_done {
            log.broken(Rule::Pairing, format!("expected no delta after {name}.done, found one"));
        }
        self.deltas += 1;
        self.text.push_str(more);
    }

    pub(super) fn text_done(&mut self, whole: &str, name: &str, log: &mut Log) {
        if std::mem::replace(&mut self.text_done, true) {
            log.broken(Rule::Pairing, format!("expected {name}.done once, found it again"));
        }
        if self.text == whole {
            return;
        }
        if self.deltas == 0 && self.text.is_empty() && self.kind.is_empty() {
            let message = format!("expected {name}.delta before its done, found none");
            log.deviates(Rule::Pairing, Deviation::ArgumentsOnlyInDone, message);
            whole.clone_into(&mut self.text);
        } else {
            log.broken(Rule::Copy, format!("expected {name}.done to repeat its deltas, found another text"));
        }
    }

    pub(super) fn part_done(&mut self, kind: &str, whole: &str, log: &mut Log) {
        if std::mem::replace(&mut self.part_done, true) {
            log.broken(Rule::Pairing, "expected the part to be done once, found it again");
        }
        if self.kind != kind {
            log.broken(Rule::Copy, format!("expected a part of type {:?}, found {kind:?}", self.kind));
        }
        if self.text != whole {
            log.broken(Rule::Copy, "expected the part's done to repeat its deltas, found another text");
        }
    }
}
