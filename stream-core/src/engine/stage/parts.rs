//! Parts that were folded: their marks, and whether the policy is shown them.

use std::time::Duration;

use super::StageState;
use super::desk::UnderWay;
use crate::block::{BlockKey, StreamBlock};
use crate::chunk::{ChunkKind, Structure};
use crate::delta::{Channel, DeltaKind, Slot};
use crate::engine::accounts::Around;
use crate::engine::queue::{Mark, Waiting};
use crate::policy::Attention;
use crate::record::{Action, Cause};
use crate::text_calls::Searched;
use crate::wire::{Fate, Part};

impl StageState {
    /// Marks the current part, which was folded. Returns whether the policy is shown it.
    pub(super) fn folded(&mut self, key: Option<BlockKey>, disagrees: bool, now: Duration) -> bool {
        self.insert_deferred();
        let Some(part) = self.part() else { return false };
        let before = std::mem::replace(&mut part.key, key);
        let (is_payload, choice) = (part.delta.kind.is_payload(), part.delta.choice);
        if let (Some(old), Some(new)) = (before, key) {
            *self.renamed.or_insert_with(old, || new) = new;
        }
        let completed = self.fold.state.completed;
        if let Some(done) = completed {
            self.accounts.get_mut(done).closed = true;
        }
        if disagrees {
            self.drop_copy(key);
            return false;
        }
        if let (true, Some(key)) = (is_payload, key) {
            return self.payload(key, completed.is_some(), now);
        }
        let Some(part) = self.part() else { return false };
        let (kind, is_shown) = match completed {
            _ if is_payload => (ChunkKind::Structure(Structure::Filler), false),
            Some(completed) => (ChunkKind::Completed, self.watches(completed)),
            None => {
                let kind = ChunkKind::Structure(structure(&part.delta.kind));
                (kind, self.needs.structure && !self.bypassed)
            }
        };
        let waiting = Waiting { mark: self.follow(key), opener: false };
        if is_shown {
            self.show(kind, Some(waiting), choice);
        } else {
            self.queue(waiting);
        }
        is_shown
    }

    /// Drops the current part, a copy that disagrees with the deltas of its block.
    fn drop_copy(&mut self, key: Option<BlockKey>) {
        if let Some(part) = self.part() {
            part.fate = Fate::Dropped;
        }
        let before = std::mem::replace(&mut self.cause, Cause::Wire);
        let reason = Some("a copy disagreed with the deltas".into());
        self.note(key, Action::Dropped, reason, 0, Duration::ZERO);
        self.cause = before;
        self.queue(Waiting::default());
    }

    /// Decides over the current part, which is payload, or shows it, by the attention of the policy.
    fn payload(&mut self, key: BlockKey, completes: bool, now: Duration) -> bool {
        let under_way = self.desk.as_mut().and_then(|desk| desk.under_way.as_mut());
        let Some(part) = under_way.and_then(|under_way| under_way.part()) else { return false };
        let block = &self.fold.state.blocks[key.index()];
        let attention = if self.bypassed { Attention::Nothing } else { self.needs.of(block) };
        let kind = match block {
            StreamBlock::ToolCall(_) => ChunkKind::ToolCall,
            StreamBlock::Opaque(_) => ChunkKind::Opaque,
            other => match (&part.delta.kind, other.channel()) {
                (DeltaKind::Text { .. } | DeltaKind::Copy(_), Some(channel)) => ChunkKind::Text(channel),
                _ => ChunkKind::Opaque,
            },
        };
        let item = match part.delta.slot {
            Slot::At { item, .. } if self.fold.item_channel(item).is_some() => Some(item),
            _ => None,
        };
        let split = part.delta.split.as_deref();
        let around = Around {
            item,
            section: split.and_then(|split| split.section),
            host: split.and_then(|_| self.fold.host(part.delta.slot)).filter(|host| *host != key),
        };
        let choice = block.choice();
        let opener = self.accounts.came(block, around, attention != Attention::Nothing);
        let mut waiting = Waiting { mark: Mark::Decided, opener };
        self.queue.payload_came(choice, self.step, Some(key));
        match attention {
            Attention::Nothing => {
                self.send(key, &mut waiting, None, now);
                self.queue(waiting);
                false
            }
            Attention::Completed => {
                self.hold(key, &mut waiting, None, now);
                self.queue(waiting);
                completes && self.show_completion(key, Some(choice))
            }
            Attention::Chunks => {
                self.show(kind, Some(waiting), Some(choice));
                true
            }
        }
    }

    /// The mark of the current part, which is not payload.
    fn follow(&mut self, key: Option<BlockKey>) -> Mark {
        let under_way = self.desk.as_ref().and_then(|desk| desk.under_way.as_ref());
        let Some((Part { delta, .. }, _)) = under_way.and_then(UnderWay::shown) else { return Mark::Decided };
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
                let Some(item) = delta.split.as_ref().and_then(|split| split.section) else {
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
            // A policy cannot drop a block that it does not need: the opening need not wait.
            (DeltaKind::Start { channel }, _) if self.ignores(*channel) => Mark::Decided,
            (DeltaKind::Start { .. }, _) if !reasoning && block.is_some() => Mark::Opens,
            (DeltaKind::Stop | DeltaKind::Meta, _) if !reasoning && block.is_some() => Mark::Closes,
            (DeltaKind::Copy(_), Slot::At { .. }) => Mark::Copies,
            (DeltaKind::Copy(_), _) => Mark::Rides,
            // An annotation without payload before it belongs to the payload behind it.
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

    /// Returns whether text of this channel passes without the policy.
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
