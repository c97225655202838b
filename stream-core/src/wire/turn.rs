//! The turn ledger: what has left of each choice. It alone says whether an emptied turn gets a notice (rule 21), and whether a
//! refusal may end the stream (rule 20).

use std::collections::BTreeSet;

use crate::delta::{Channel, DeltaKind, Text};
use crate::few::Few;
use crate::wire::{Fate, Part, WriterOptions};

/// The turns of one response, by the numbers of their choices. `T` is what a format keeps beside a turn.
#[derive(Debug, Default)]
pub(super) struct TurnLedger<T = ()> {
    turns: Few<Turn<T>>,
    /// What an emptied turn says.
    notice: Option<Text>,
    /// A terminal marker or an error has left.
    ended: bool,
}

/// What has left of one choice.
#[derive(Debug, Default)]
pub(super) struct Turn<T = ()> {
    /// Something of it has left.
    pub(super) opened: bool,
    /// Something that a reader takes for an answer has left.
    answered: bool,
    /// Payload was dropped, reasoning aside.
    withheld: bool,
    /// Reasoning has left, and reasoning was dropped: a loss only if none of it left.
    thought: bool,
    thought_withheld: bool,
    /// A finish has left.
    finished: bool,
    /// The calls that have left in part, by the numbers that the format gives them.
    half: BTreeSet<u64>,
    /// What the format keeps.
    pub(super) own: T,
}

/// What a part is to the reader of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// An answer, or a part of one.
    Answer,
    /// Reasoning.
    Thought,
    /// Payload whose loss counts, and which is no answer by itself.
    Aside,
    /// Nothing that a policy decides over.
    Nothing,
}

/// Which choices a refusal may finish, by what the clients of a format make of one that finishes some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalRule {
    /// All or none: behind the first finish the answer ends with an error.
    Together,
    /// Those that are open: behind the last finish the answer ends with an error.
    Each,
}

impl Weight {
    /// What a delta is where every payload but reasoning answers.
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

    /// The turn of a choice that the stream has shown.
    pub(super) fn known(&self, choice: u32) -> Option<&Turn<T>> {
        self.turns.get(choice)
    }

    /// The same, to be changed.
    pub(super) fn known_mut(&mut self, choice: u32) -> Option<&mut Turn<T>> {
        self.turns.get_mut(choice)
    }

    /// The turns that the stream has shown.
    pub(super) fn turns(&self) -> impl Iterator<Item = &Turn<T>> {
        self.turns.values()
    }

    /// The choices that the stream has shown; the first where it has shown none.
    pub(super) fn choices(&self) -> Vec<u32> {
        match self.turns.is_empty() {
            true => vec![0],
            false => self.turns.keys().collect(),
        }
    }

    /// Takes note of a part that leaves, or does not. Answers with its turn.
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

    /// The choices that end with this part, emptied, and what each says in the place of an answer. They are answered with that.
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

    /// What a turn that ends now says in the place of an answer, if it is emptied. It is answered with that.
    pub(super) fn notice(&mut self, choice: u32) -> Option<Text> {
        let notice = self.notice.clone()?;
        let turn = self.turns.get_mut(choice).filter(|turn| turn.is_emptied())?;
        turn.answered = true;
        Some(notice)
    }

    /// The choices that a refusal has to finish; `None` where it would complete a half call, or follow a finish that the
    /// format's rule lets no refusal follow.
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

    /// Ends the response; false if it had ended before.
    pub(super) fn end(&mut self) -> bool {
        !std::mem::replace(&mut self.ended, true)
    }
}

impl<T> Turn<T> {
    /// An answer made here leaves.
    pub(super) fn answer(&mut self) {
        self.opened = true;
        self.answered = true;
    }

    /// A finish leaves, and completes the calls that were half.
    pub(super) fn finish(&mut self) {
        self.finished = true;
        self.half.clear();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// A call leaves in part: more of it is to come.
    pub(super) fn half_call(&mut self, call: u64) {
        self.half.insert(call);
    }

    /// A call is complete, or not of this turn.
    pub(super) fn whole_call(&mut self, call: u64) {
        self.half.remove(&call);
    }

    /// All calls are complete.
    pub(super) fn whole_calls(&mut self) {
        self.half.clear();
    }

    /// Whether a call has left in part.
    pub(super) fn is_half(&self, call: u64) -> bool {
        self.half.contains(&call)
    }

    /// Takes note of payload of which something leaves, or is lost.
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

    /// Whether nothing is left of its answer, though there was something.
    fn is_emptied(&self) -> bool {
        let is_lost = self.withheld || (self.thought_withheld && !self.thought);
        is_lost && !self.answered
    }
}
