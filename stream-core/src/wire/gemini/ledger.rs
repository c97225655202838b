//! What has really left, choice by choice.

use crate::block::BlockKey;
use crate::delta::{Channel, DeltaKind};
use crate::wire::{Fate, Part};

/// Keeps account of every part that was written or dropped.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    choices: Vec<Choice>,
    ended: bool,
}

/// One candidate's account.
#[derive(Debug, Default)]
pub(super) struct Choice {
    number: u32,
    /// Something of it was dropped, reasoning aside.
    dropped: bool,
    /// Reasoning has left.
    thought: bool,
    /// Reasoning was dropped: no loss if other chunks of it have left.
    thought_dropped: bool,
    /// Something that a reader takes for an answer has left.
    answered: bool,
    /// A finish reason has left.
    finished: bool,
    /// A call has left in part: more of its arguments are to come.
    open: bool,
    /// The call whose later parts must not leave: it was dropped, or has left whole in its first part.
    gone: Option<BlockKey>,
    /// The signature of a dropped call, as raw JSON, on its way to the next call (rule 22).
    signature: Option<String>,
}

impl Ledger {
    /// Writes down what becomes of a part. Choices that finish here without an answer, though they had one, are
    /// added to `empty`.
    pub(super) fn note(&mut self, part: &Part, fate: Fate, empty: &mut Vec<u32>) {
        let ends =
            matches!(part.delta.kind, DeltaKind::Finish(_) | DeltaKind::Terminal | DeltaKind::Error(_));
        if ends && fate == Fate::Dropped {
            return;
        }
        let Some(number) = part.delta.choice else {
            match part.delta.kind {
                DeltaKind::Error(_) => self.ended = true,
                DeltaKind::Terminal => {
                    self.ended = true;
                    let unfinished = self.choices.iter_mut().filter(|choice| !choice.finished);
                    empty.extend(unfinished.filter_map(Choice::finish));
                }
                _ => {}
            }
            return;
        };
        let choice = self.choice(number);
        match &part.delta.kind {
            DeltaKind::Finish(_) => empty.extend(choice.finish()),
            kind => choice.note(kind, part.key, fate),
        }
    }

    /// What really becomes of a part: nothing follows a call that is gone.
    pub(super) fn fate(&self, part: &Part) -> Fate {
        let follows = match &part.delta.kind {
            DeltaKind::Call(call) => !call.starts,
            DeltaKind::Stop | DeltaKind::Annotation { .. } => true,
            _ => false,
        };
        let gone = self.choices.iter().any(|choice| choice.gone.is_some() && choice.gone == part.key);
        if follows && gone { Fate::Dropped } else { part.fate }
    }

    /// Whether these parts leave as they came, and no earlier edit reaches into them.
    pub(super) fn leaves_alone(&self, parts: &[Part]) -> bool {
        parts.iter().all(|part| self.fate(part) == Fate::Kept && !self.signs(part))
    }

    /// Whether a part opens a call for which a signature waits.
    pub(super) fn signs(&self, part: &Part) -> bool {
        let waits = |number| self.choices.iter().any(|c| c.number == number && c.signature.is_some());
        matches!(&part.delta.kind, DeltaKind::Call(call) if call.starts)
            && part.delta.choice.is_some_and(waits)
    }

    /// Whether a call of the choice has left in part.
    pub(super) fn is_open(&self, choice: u32) -> bool {
        self.choices.iter().any(|c| c.number == choice && c.open)
    }

    /// Puts the signature of a dropped call aside.
    pub(super) fn keep_signature(&mut self, choice: u32, signature: &str) {
        self.choice(choice).signature = Some(signature.into());
    }

    /// The signature that the next call of a choice is to carry, if it has none itself.
    pub(super) fn take_signature(&mut self, choice: u32) -> Option<String> {
        self.choice(choice).signature.take()
    }

    /// The choices that a refusal has to finish; `None` where a refusal cannot be written: it would complete a
    /// half call, or follow a finish (rule 20).
    pub(super) fn refusable(&self) -> Option<Vec<u32>> {
        if self.choices.is_empty() {
            return Some(vec![0]);
        }
        let open: Vec<u32> =
            self.choices.iter().filter(|choice| !choice.finished).map(|c| c.number).collect();
        let half = self.choices.iter().any(|choice| choice.open);
        (!half && !open.is_empty()).then_some(open)
    }

    /// The choices seen so far; the first where none was.
    pub(super) fn numbers(&self) -> Vec<u32> {
        if self.choices.is_empty() {
            return vec![0];
        }
        self.choices.iter().map(|choice| choice.number).collect()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    fn choice(&mut self, number: u32) -> &mut Choice {
        let at = self.choices.iter().position(|choice| choice.number == number).unwrap_or_else(|| {
            self.choices.push(Choice { number, ..Choice::default() });
            self.choices.len() - 1
        });
        &mut self.choices[at]
    }
}

impl Choice {
    fn note(&mut self, kind: &DeltaKind, key: Option<BlockKey>, fate: Fate) {
        let leaves = fate != Fate::Dropped;
        match kind {
            DeltaKind::Text { text, channel } => {
                let leaves = leaves && !text.is_empty();
                if *channel == Channel::Reasoning {
                    self.thought |= leaves;
                    self.thought_dropped |= !leaves;
                } else {
                    self.dropped |= !leaves;
                    self.answered |= leaves;
                }
            }
            DeltaKind::Opaque { .. } => {
                self.dropped |= !leaves;
                self.answered |= leaves;
            }
            DeltaKind::Call(call) => {
                self.dropped |= !leaves;
                self.answered |= leaves;
                if fate == Fate::Inserted {
                    return;
                }
                if call.starts {
                    self.open = fate == Fate::Kept;
                    self.gone = if self.open { None } else { key };
                } else {
                    self.open |= leaves;
                }
            }
            DeltaKind::Stop if fate != Fate::Inserted => {
                self.open &= !leaves;
                if self.gone == key {
                    self.gone = None;
                }
            }
            _ => {}
        }
    }

    /// A finish closes the call that was open; gives the choice's number if nothing is left of its answer.
    fn finish(&mut self) -> Option<u32> {
        self.finished = true;
        self.open = false;
        let dropped = self.dropped || (self.thought_dropped && !self.thought);
        let empty = dropped && !self.answered;
        // The notice is an answer: a repeated finish does not bring a second one.
        self.answered |= empty;
        empty.then_some(self.number)
    }
}
