//! Held parts, and their outcomes.

use std::time::Duration;

use super::Accounts;
use super::account::{HeldPart, Hold, Settled};
use crate::block::BlockKey;
use crate::delta::Text;
use crate::policy::With;

impl Accounts {
    /// The blocks with held parts.
    pub(crate) fn waiting(&self) -> Vec<BlockKey> {
        self.waiting.iter().copied().collect()
    }

    /// Returns whether a part is held.
    pub(crate) fn any_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The bytes of all held parts, and the time since which the oldest is held.
    pub(crate) fn all_held(&self) -> Option<Hold> {
        let keys = self.waiting.iter();
        let parts = keys
            .filter_map(|key| self.get(*key))
            .filter_map(|account| account.held.as_ref())
            .flat_map(|held| &held.parts);
        parts.fold(None, |all: Option<Hold>, part| {
            let since = all.map_or(part.since, |all| all.since.min(part.since));
            Some(Hold { bytes: all.map_or(0, |all| all.bytes) + part.bytes, since })
        })
    }

    /// Counts a part that is held.
    pub(crate) fn held(&mut self, key: BlockKey, seq: u64, bytes: usize, since: Duration) {
        self.waiting.insert(key);
        let account = self.get_mut(key);
        account.undecided += 1;
        account.held.get_or_insert_default().parts.push_back(HeldPart { seq, bytes, since });
        self.count_around(key, |count| count.undecided += 1);
    }

    /// Settles all held parts of a block. `None` if there are none, and nothing changes.
    pub(crate) fn settle(&mut self, key: BlockKey, outcome: Settled) -> Option<Hold> {
        self.settle_parts(key, usize::MAX, outcome)
    }

    /// Settles the oldest held part of a block.
    pub(crate) fn settle_first(&mut self, key: BlockKey, outcome: Settled) -> Option<Hold> {
        self.settle_parts(key, 1, outcome)
    }

    fn settle_parts(&mut self, key: BlockKey, count: usize, outcome: Settled) -> Option<Hold> {
        let account = self.get_mut(key);
        let held = account.held.as_mut()?;
        let count = count.min(held.parts.len());
        let first = held.parts.front().map(|part| part.since)?;
        let mut hold = Hold { bytes: 0, since: first };
        let mut through = 0;
        for part in held.parts.drain(..count) {
            hold.bytes += part.bytes;
            through = part.seq;
        }
        account.undecided -= count;
        let is_settled = account.undecided == 0;
        let opening = account.kept == 0;
        let touches = outcome != Settled::Release;
        let kept = match &outcome {
            Settled::Release => {
                account.kept += count;
                count
            }
            Settled::Edit(_) => {
                account.kept += count;
                account.edited += count;
                count
            }
            Settled::Drop { .. } | Settled::Say(_) => {
                account.dropped += count;
                0
            }
            Settled::Promote { .. } => {
                account.dropped += count;
                account.gone = true;
                0
            }
            Settled::Replace(with) => {
                account.kept += 1;
                account.edited += 1;
                account.gone = true;
                account.renamed = with.name.as_deref().map(Text::from);
                1
            }
        };
        // The text of a policy stands outside of the tags around the call.
        let unwrapped = matches!(&outcome, Settled::Replace(with) if matches!(with.with, With::Written(_)));
        let section = account.section().filter(|_| unwrapped);
        let drops_opening =
            opening && matches!(outcome, Settled::Drop { .. } | Settled::Say(_)) && account.channel.is_none();
        let outcomes = &mut account.held.get_or_insert_default().outcomes;
        match outcomes.last_mut() {
            // Text that is released piece by piece does not lengthen the list.
            Some((last, Settled::Release)) if outcome == Settled::Release => *last = through,
            _ => outcomes.push((through, outcome)),
        }
        if is_settled {
            self.waiting.remove(&key);
        }
        if touches {
            self.touch(key);
        }
        if drops_opening {
            self.lose(key);
        }
        self.count_around(key, |around| {
            around.undecided -= count;
            around.kept += kept;
        });
        if let Some(section) = section {
            self.items.or_default(section).kept -= kept;
        }
        Some(hold)
    }
}
