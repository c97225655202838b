//! The choices of a client that takes the number of a choice for its position in a list, and appends what it does not find there:
//! openai-python's `.stream()` (rule 28).

use crate::block::BlockKey;
use crate::delta::DeltaKind;
use crate::wire::Part;

/// The length of that list. A choice whose number is greater than the length is appended at another position than its own, and the next piece of
/// the choice at yet another one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Positions(u32);

impl Positions {
    /// The calls of a chunk of which a piece would be appended at another position than their choice's own.
    pub(super) fn early_calls(mut self, parts: &[Part]) -> Vec<BlockKey> {
        let mut early = Vec::new();
        for entry in entries(parts) {
            let is_early = |part: &&Part| {
                let is_call = part.came() && matches!(part.delta.kind, DeltaKind::Call(_));
                is_call && part.delta.choice.is_some_and(|number| number > self.0)
            };
            early.extend(entry.iter().filter(is_early).filter_map(|part| part.key));
            self.open(entry);
        }
        early
    }

    /// Records the choices of a chunk that is written with all of its parts.
    pub(super) fn add(&mut self, parts: &[Part]) {
        entries(parts).for_each(|entry| self.open(entry));
    }

    /// Records a choice that is written alone.
    pub(super) fn add_one(&mut self, number: u32) {
        self.0 += u32::from(number >= self.0);
    }

    /// Records a choice that is written behind an empty one for each number before its own.
    pub(super) fn add_behind(&mut self, number: u32) {
        self.0 = self.0.max(number + 1);
    }

    fn open(&mut self, entry: &[Part]) {
        entry.iter().find_map(|part| part.delta.choice).into_iter().for_each(|number| self.add_one(number));
    }
}

/// The parts of each choice of a chunk.
fn entries(parts: &[Part]) -> impl Iterator<Item = &[Part]> {
    let of = |part: &Part| (part.delta.choice, part.delta.site.position);
    parts.chunk_by(move |one, next| of(one) == of(next))
}
