//! The state of the calls of a candidate, beside its turn.

use crate::block::BlockKey;
use crate::delta::{DeltaKind, Text};
use crate::wire::turn::{TurnLedger, Weight};
use crate::wire::{Fate, Part};

/// The turns of the candidates, with their calls.
pub(super) type CandidateLedger = TurnLedger<CallTrail>;

/// The state of the calls of one candidate.
#[derive(Debug, Default)]
pub(super) struct CallTrail {
    /// The call whose later parts are dropped: it was dropped, or written whole with its first part.
    gone: Option<BlockKey>,
    /// The signature of a dropped call, as raw JSON, on its way to the next call (rule 22).
    signature: Option<String>,
}

impl CandidateLedger {
    /// Records a part that is written or dropped. Returns the choices that finish with this part and are emptied, with
    /// their notices.
    pub(super) fn book(&mut self, part: &Part, fate: Fate) -> Vec<(u32, Text)> {
        let notices = self.notices(part, fate);
        let leaves = fate != Fate::Dropped;
        let Some(turn) = self.note(part, fate, Weight::of(&part.delta.kind)) else { return notices };
        match &part.delta.kind {
            _ if fate == Fate::Inserted => {}
            DeltaKind::Call(call) if call.starts || leaves => {
                turn.whole_calls();
                // A replaced call is written whole, with its first part.
                if fate == Fate::Kept || !call.starts {
                    turn.half_call(CALL);
                }
                if call.starts {
                    turn.own.gone = part.key.filter(|_| fate != Fate::Kept);
                }
            }
            DeltaKind::Stop => {
                if leaves {
                    turn.whole_calls();
                }
                if turn.own.gone == part.key {
                    turn.own.gone = None;
                }
            }
            _ => {}
        }
        notices
    }

    /// The fate of a part: parts that follow a dropped or replaced call are dropped.
    pub(super) fn fate(&self, part: &Part) -> Fate {
        let follows = match &part.delta.kind {
            DeltaKind::Call(call) => !call.starts,
            DeltaKind::Stop | DeltaKind::Annotation { .. } => true,
            _ => false,
        };
        let is_gone = || self.turns().any(|turn| turn.own.gone.is_some() && turn.own.gone == part.key);
        if follows && is_gone() { Fate::Dropped } else { part.fate }
    }

    /// Whether all of these parts are kept, and none is changed by an earlier edit.
    pub(super) fn leaves_alone(&self, parts: &[Part]) -> bool {
        parts.iter().all(|part| self.fate(part) == Fate::Kept && !self.signs(part))
    }

    /// Whether a part opens a call for which a signature waits.
    pub(super) fn signs(&self, part: &Part) -> bool {
        let turn = part.delta.choice.and_then(|choice| self.known(choice));
        matches!(&part.delta.kind, DeltaKind::Call(call) if call.starts)
            && turn.is_some_and(|turn| turn.own.signature.is_some())
    }

    /// Whether a call of the choice was written in part.
    pub(super) fn is_open(&self, choice: u32) -> bool {
        self.known(choice).is_some_and(|turn| turn.is_half(CALL))
    }

    /// Keeps the signature of a dropped call for the next one.
    pub(super) fn keep_signature(&mut self, choice: u32, signature: &str) {
        self.turn(choice).own.signature = Some(signature.into());
    }

    /// Takes the signature of a dropped call, for the next call of the choice without a signature of its own.
    pub(super) fn take_signature(&mut self, choice: u32) -> Option<String> {
        self.turn(choice).own.signature.take()
    }
}

/// The number of every call to the turn: one is open at a time.
const CALL: u64 = 0;
