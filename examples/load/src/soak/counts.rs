//! What came of the streams, by fate.

use std::collections::BTreeMap;

use super::case::Case;
use super::fate::Fate;
use crate::table::{Table, number};

/// What came of the streams.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// In the order of [`Fate::ALL`].
    fates: [Count; Fate::ALL.len()],
    /// What went wrong, and how often.
    pub(super) errors: BTreeMap<String, usize>,
    /// The most that were open at once.
    pub(super) open: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    right: usize,
    wrong: usize,
    bytes: usize,
}

impl Counts {
    /// Notes a stream: the bytes of a right answer, or what is wrong.
    pub(super) fn note(&mut self, case: Case, outcome: Result<usize, String>) {
        let count = &mut self.fates[Fate::ALL.iter().position(|fate| *fate == case.fate).unwrap_or(0)];
        match outcome {
            Ok(bytes) => {
                count.right += 1;
                count.bytes += bytes;
            }
            Err(error) => {
                count.wrong += 1;
                *self.errors.entry(format!("{}, {}: {error}", case.kind, case.fate.name())).or_default() += 1;
            }
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (count, other) in self.fates.iter_mut().zip(other.fates) {
            count.right += other.right;
            count.wrong += other.wrong;
            count.bytes += other.bytes;
        }
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
    }

    pub(super) fn wrong(&self) -> usize {
        self.fates.iter().map(|count| count.wrong).sum()
    }

    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(["fate", "right answers", "wrong answers", "MB"]);
        let mut row = |name: &str, count: Count| {
            let bytes = number(count.bytes as f64 / 1e6);
            table.row(vec![name.to_owned(), count.right.to_string(), count.wrong.to_string(), bytes]);
        };
        let mut all = Count::default();
        for (fate, count) in Fate::ALL.into_iter().zip(self.fates) {
            row(fate.name(), count);
            all.right += count.right;
            all.wrong += count.wrong;
            all.bytes += count.bytes;
        }
        row("all", all);
        table
    }
}
