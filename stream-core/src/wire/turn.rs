//! The turn ledger: a record of what was written of each choice. The ledger alone decides whether an emptied turn gets a notice
//! (rule 21), and whether a refusal may end the stream (rule 20).

use std::collections::BTreeSet;

use crate::delta::{Channel, DeltaKind, Text};
use crate::few::Few;
use crate::wire::{Fate, Part, WriterOptions};

/// The turns of one response, by the numbers of their choices. `T` is the state of a format beside each turn.
#[derive(Debug, Default)]
pub(super) struct TurnLedger<T = ()> {
    turns: Few<Turn<T>>,
    /// The text that is written in place of an emptied turn.
    notice: Option<Text>,
    /// A terminal marker or an error was written.
    ended: bool,
}

/// The record of what was written of one choice.
#[derive(Debug, Default)]
pub(super) struct Turn<T = ()> {
    /// A delta of the choice was written.
    pub(super) opened: bool,
    /// A delta that a reader takes for an answer was written.
    answered: bool,
    /// Payload was dropped, reasoning aside.
    withheld: bool,
    /// Reasoning was written, and reasoning was dropped: a loss only if no reasoning was written.
    thought: bool,
    thought_withheld: bool,
    /// A finish was written.
    finished: bool,
    /// The calls that were written in part, by the numbers that the format gives them.
    half: BTreeSet<u64>,
    /// The state of the format.
    pub(super) own: T,
}

/// The weight of a part in its turn: whether a reader takes the part for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// An answer, or a part of one.
    Answer,
    /// Reasoning.
    Thought,
    /// Payload that is no answer by itself, but whose loss counts.
    Aside,
    /// A part that no policy decides over.
    Nothing,
}

/// The choices that a refusal may finish, which depends on the clients of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalRule {
    /// All choices or none: after the first finish the answer ends with an error.
    Together,
    /// The open choices: after the last finish the answer ends with an error.
    Each,
}

impl Weight {
    /// The weight of a delta in a format where every payload but reasoning is an answer.
    pub(super) fn of(kind: &DeltaKind) -> Self {
        match kind {
            DeltaKind::Text { channel: Channel::Reasoning, .. } => Self::Thought,
            kind if kind.is_payload() => Self::Answer,
            _ => Self::Nothing,
        }
    }
}

impl<T: Default> TurnLedger<T> {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self { notice: options.empty_notice.clone(), ..Self::default() }
    }

    /// The turn of a choice.
    pub(super) fn turn(&mut self, choice: u32) -> &mut Turn<T> {
        self.turns.or_default(choice)
    }

    /// The turn of a choice, if the stream has had a delta of the choice.
    pub(super) fn known(&self, choice: u32) -> Option<&Turn<T>> {
        self.turns.get(choice)
    }

    /// As [`known`](Self::known), mutably.
    pub(super) fn known_mut(&mut self, choice: u32) -> Option<&mut Turn<T>> {
        self.turns.get_mut(choice)
    }

    /// The turns of the choices that the stream has had deltas of.
    pub(super) fn turns(&self) -> impl Iterator<Item = &Turn<T>> {
        self.turns.values()
    }

    /// The choices that the stream has had deltas of; the first choice where there were none.
    pub(super) fn choices(&self) -> Vec<u32> {
        match self.turns.is_empty() {
            true => vec![0],
            false => self.turns.keys().collect(),
        }
    }

    /// Records a part that is written or dropped, and returns its turn.
    pub(super) fn note(&mut self, part: &Part, fate: Fate, weight: Weight) -> Option<&mut Turn<T>> {
        let leaves = fate != Fate::Dropped;
        if matches!(part.delta.kind, DeltaKind::Terminal | DeltaKind::Error(_)) {
            self.ended |= leaves;
        }
        let turn = self.turn(part.delta.choice?);
        match &part.delta.kind {
            DeltaKind::Finish(_) if leaves => turn.finish(),
            DeltaKind::Text { text, .. } if text.is_empty() => turn.weigh(weight, false, fate != Fate::Kept),
            _ => turn.weigh(weight, leaves, !leaves),
        }
        Some(turn)
    }

    /// The choices that end with this part and are emptied, each with the notice to write in place of an answer. The notices
    /// are recorded as written.
    pub(super) fn notices(&mut self, part: &Part, fate: Fate) -> Vec<(u32, Text)> {
        let ending = match part.delta.kind {
            _ if fate == Fate::Dropped || self.ended => return Vec::new(),
            DeltaKind::Finish(_) => Vec::from_iter(part.delta.choice),
            DeltaKind::Terminal => self.turns.keys().collect(),
            _ => return Vec::new(),
        };
        let is_open = |choice: &u32| self.turns.get(*choice).is_some_and(|turn| !turn.finished);
        let ending: Vec<u32> = ending.into_iter().filter(is_open).collect();
        ending.into_iter().filter_map(|choice| Some((choice, self.notice(choice)?))).collect()
    }

    /// The notice to write in place of the answer, if a turn that ends now is emptied. The notice is recorded as written.
    pub(super) fn notice(&mut self, choice: u32) -> Option<Text> {
        let notice = self.notice.clone()?;
        let turn = self.turns.get_mut(choice).filter(|turn| turn.is_emptied())?;
        turn.answered = true;
        Some(notice)
    }

    /// The choices that a refusal has to finish; `None` where a refusal would complete a half-written call, or where the
    /// format allows no refusal after the finish of another choice.
    pub(super) fn refusable(&self, rule: RefusalRule) -> Option<Vec<u32>> {
        let mut open = self.choices();
        open.retain(|choice| self.turns.get(*choice).is_none_or(|turn| !turn.finished));
        let is_half = self.turns.values().any(|turn| !turn.half.is_empty());
        let is_cut = open.is_empty() || (rule == RefusalRule::Together && open.len() < self.turns.len());
        (!is_half && !is_cut).then_some(open)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Ends the response; false if the response had ended before.
    pub(super) fn end(&mut self) -> bool {
        !std::mem::replace(&mut self.ended, true)
    }
}

impl<T> Turn<T> {
    /// Records that an inserted answer is written.
    pub(super) fn answer(&mut self) {
        self.opened = true;
        self.answered = true;
    }

    /// Records that a finish is written, which completes the half-written calls.
    pub(super) fn finish(&mut self) {
        self.finished = true;
        self.half.clear();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Records that a call is written in part.
    pub(super) fn half_call(&mut self, call: u64) {
        self.half.insert(call);
    }

    /// Records that a call is complete, or does not belong to this turn.
    pub(super) fn whole_call(&mut self, call: u64) {
        self.half.remove(&call);
    }

    /// Records that all calls are complete.
    pub(super) fn whole_calls(&mut self) {
        self.half.clear();
    }

    /// Whether a call was written in part.
    pub(super) fn is_half(&self, call: u64) -> bool {
        self.half.contains(&call)
    }

    /// Records payload that is written, or lost.
    fn weigh(&mut self, weight: Weight, leaves: bool, is_lost: bool) {
        match weight {
            Weight::Answer => {
                self.answered |= leaves;
                self.withheld |= is_lost;
            }
            Weight::Aside => self.withheld |= is_lost,
            Weight::Thought => {
                self.thought |= leaves;
                self.thought_withheld |= is_lost;
            }
            Weight::Nothing => {}
        }
    }

    /// Whether the turn had an answer, and nothing of the answer was written.
    fn is_emptied(&self) -> bool {
        let is_lost = self.withheld || (self.thought_withheld && !self.thought);
        is_lost && !self.answered
    }
}
