//! A part that was folded: what it waits for, and whether the policy is shown it.

use std::time::Duration;

use super::{Advance, Shown, StageState};
use crate::block::{BlockKey, StreamBlock};
use crate::chunk::{ChunkKind, Structure};
use crate::delta::{Channel, Delta, DeltaKind, Slot};
use crate::engine::accounts::Around;
use crate::engine::queue::{Mark, Waiting};
use crate::error::Error;
use crate::policy::Attention;
use crate::record::{Action, Cause};
use crate::text_calls::Searched;
use crate::wire::Fate;

impl StageState {
    /// A part was folded: marks it, and shows it if the policy needs to see it.
    pub(super) fn folded(
        &mut self,
        key: Option<BlockKey>,
        disagrees: bool,
        now: Duration,
    ) -> Result<Advance, Error> {
        let Some(mut part) = self.under_way_mut().and_then(|under_way| under_way.rest.pop_front()) else {
            return Ok(Advance::Idle);
        };
        if let (Some(old), Some(new)) = (part.key, key) {
            self.renamed.insert(old, new);
        }
        self.insert_deferred();
        part.key = key;
        let completed = self.fold.state.completed;
        if let Some(done) = completed {
            self.accounts.get_mut(done).closed = true;
        }
        let mut waiting = Waiting { part, mark: Mark::Decided, opener: false };
        if disagrees {
            waiting.part.fate = Fate::Dropped;
            let before = std::mem::replace(&mut self.cause, Cause::Wire);
            self.note(
                key,
                Action::Dropped,
                Some("a copy disagreed with the deltas".into()),
                0,
                Duration::ZERO,
            );
            self.cause = before;
            self.queue(waiting);
            return Ok(Advance::Passed);
        }
        let payload = waiting.part.delta.kind.is_payload();
        let (kind, shown) = match (payload, key) {
            (true, Some(key)) => return Ok(self.payload(waiting, key, completed.is_some(), now)),
            (true, None) => (ChunkKind::Structure(Structure::Filler), false),
            (false, _) if completed.is_some() => {
                (ChunkKind::Completed, completed.is_some_and(|key| self.watches(key)))
            }
            (false, _) => {
                let kind = ChunkKind::Structure(structure(&waiting.part.delta.kind));
                (kind, self.needs.structure && !self.bypassed)
            }
        };
        waiting.mark = self.follow(&waiting.part.delta, key);
        if !shown {
            self.queue(waiting);
            return Ok(Advance::Passed);
        }
        let choice = waiting.part.delta.choice;
        let step = self.step;
        self.desk().shown = Some(Shown { step, kind, part: Some(waiting), choice });
        Ok(Advance::Hook)
    }

    /// A payload part: who decides over it depends on how closely the policy looks.
    pub(super) fn payload(
        &mut self,
        mut waiting: Waiting,
        key: BlockKey,
        completes: bool,
        now: Duration,
    ) -> Advance {
        let block = &self.fold.state.blocks[key.index()];
        let attention = if self.bypassed { Attention::Nothing } else { self.needs.of(block) };
        let kind = match block {
            StreamBlock::ToolCall(_) => ChunkKind::ToolCall,
            StreamBlock::Opaque(_) => ChunkKind::Opaque,
            other => match (&waiting.part.delta.kind, other.channel()) {
                (DeltaKind::Text { .. } | DeltaKind::Copy(_), Some(channel)) => ChunkKind::Text(channel),
                _ => ChunkKind::Opaque,
            },
        };
        let item = match waiting.part.delta.slot {
            Slot::At { item, .. } if self.fold.item_channel(item).is_some() => Some(item),
            _ => None,
        };
        let split = waiting.part.delta.site.split;
        let around = Around {
            item,
            section: split.and_then(|split| split.section),
            host: split.and_then(|_| self.fold.host(waiting.part.delta.slot)).filter(|host| *host != key),
        };
        let choice = block.choice();
        waiting.opener = self.accounts.came(block, around, attention != Attention::Nothing);
        self.queue.payload_came(choice, self.step, Some(key));
        match attention {
            Attention::Nothing => {
                self.send(&mut waiting, None, now);
                self.queue(waiting);
                Advance::Passed
            }
            Attention::Completed => {
                if self.accounts.get_mut(key).gone {
                    self.discard(&mut waiting, "its opening was dropped");
                } else {
                    self.hold(&mut waiting, None, now);
                }
                self.queue(waiting);
                if completes { self.show_completion(key, Some(choice)) } else { Advance::Passed }
            }
            Attention::Chunks => {
                let (step, choice) = (self.step, Some(choice));
                self.desk().shown = Some(Shown { step, kind, part: Some(waiting), choice });
                Advance::Hook
            }
        }
    }

    /// What a part that is not payload waits for.
    pub(super) fn follow(&mut self, delta: &Delta, key: Option<BlockKey>) -> Mark {
        let block = key.map(|key| &self.fold.state.blocks[key.index()]);
        // Signed thinking and reasoning items always keep their frame (rule 22).
        let reasoning = block.is_some_and(|block| block.channel() == Some(Channel::Reasoning));
        match (&delta.kind, delta.slot) {
            (DeltaKind::ItemStart { channel }, Slot::At { item, .. }) => match channel {
                Channel::Reasoning => Mark::Decided,
                _ if self.ignores(Channel::Content) && self.ignores(Channel::Refusal) => Mark::Decided,
                _ => {
                    self.accounts.open_item(item);
                    Mark::Wraps { item }
                }
            },
            (DeltaKind::Stop, Slot::At { item, part: Slot::ITEM }) => {
                self.accounts.close_item(item);
                match self.fold.item_channel(item) {
                    Some(Channel::Content | Channel::Refusal) => Mark::Wraps { item },
                    _ => Mark::Decided,
                }
            }
            (DeltaKind::Markup { closes }, _) => {
                let Some(item) = delta.site.split.and_then(|split| split.section) else {
                    return Mark::Decided;
                };
                if *closes {
                    self.accounts.close_item(item);
                } else {
                    self.accounts.open_item(item);
                }
                Mark::Wraps { item }
            }
            (DeltaKind::CallText, _) if block.is_some() => {
                if let (Some(key), Some(host)) = (key, self.fold.host(delta.slot)) {
                    self.accounts.goes_on_in(key, host);
                }
                Mark::Closes
            }
            // What the policy does not look at it cannot drop: the opening need not wait for it.
            (DeltaKind::Start { channel }, _) if self.ignores(*channel) => Mark::Decided,
            (DeltaKind::Start { .. }, _) if !reasoning && block.is_some() => Mark::Opens,
            (DeltaKind::Stop | DeltaKind::Meta, _) if !reasoning && block.is_some() => Mark::Closes,
            (DeltaKind::Copy(_), Slot::At { .. }) => Mark::Copies,
            (DeltaKind::Copy(_), _) => Mark::Rides,
            // One that speaks of nothing that has come can only speak of what comes.
            (DeltaKind::Annotation { ahead }, _) if *ahead || key.is_none() => {
                self.queue.waits_ahead(delta.choice.unwrap_or(0));
                Mark::RidesAhead { seq: self.step }
            }
            (DeltaKind::Annotation { .. }, _) => Mark::Rides,
            (DeltaKind::Finish(_), _) => {
                self.queue.payload_came(delta.choice.unwrap_or(0), self.step, None);
                Mark::Decided
            }
            (DeltaKind::Terminal | DeltaKind::Error(_), _) => {
                self.queue.no_more(self.step);
                Mark::Decided
            }
            _ => Mark::Decided,
        }
    }

    /// Whether text of this channel passes the policy by.
    fn ignores(&self, channel: Channel) -> bool {
        let may_hold_calls = match self.text_calls {
            Searched::Nothing => false,
            Searched::Content => channel == Channel::Content,
            Searched::AllText => true,
        };
        let looks = self.needs.of_channel(channel) != Attention::Nothing
            || (may_hold_calls && !self.needs.is_nothing());
        self.bypassed || !looks
    }
}

fn structure(kind: &DeltaKind) -> Structure {
    match kind {
        DeltaKind::Opening | DeltaKind::Role | DeltaKind::Start { .. } | DeltaKind::ItemStart { .. } => {
            Structure::Opening
        }
        DeltaKind::Finish(_) => Structure::Finish,
        DeltaKind::Usage(_) => Structure::Usage,
        DeltaKind::Error(_) => Structure::Error,
        DeltaKind::Terminal => Structure::Terminal,
        DeltaKind::CallText | DeltaKind::Markup { .. } => Structure::Attached,
        DeltaKind::Copy(_) | DeltaKind::Annotation { .. } | DeltaKind::Signature | DeltaKind::Stop => {
            Structure::Attached
        }
        _ => Structure::Filler,
    }
}
