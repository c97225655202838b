//! From what happened to rows.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use stream_core::End;

use super::row::{Left, Row, is_payload, staged};
use crate::replay::{Replayed, Step};

/// The rows of a transcript, and what was written anew.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// The row that what happens belongs to.
    current: usize,
    pub(super) written: Vec<Bytes>,
    /// Frames that came and have not left.
    frames: Vec<(usize, Bytes)>,
    count: usize,
    /// Written, and not yet with the client.
    on_the_way: VecDeque<Bytes>,
    payload: bool,
}

impl Rows {
    pub(super) fn of(replayed: &Replayed) -> Self {
        let mut rows = Self::default();
        for (at, step) in &replayed.steps {
            rows.add(*at, step);
        }
        if let Some(last) = rows.rows.last_mut().filter(|row| row.step.starts_with("end")) {
            // What was still held is dropped behind the last hook.
            last.held = Some(0);
        }
        for row in &mut rows.rows {
            if row.is_untold() {
                // No policy needs to see anything in it, or not yet: what has not left is held, or behind something held.
                // What leaves then may be what waited before it.
                let own = row.frame.map(|(number, _)| Left::Frame(number));
                let is_own = |left: &Left| Some(*left) == own || matches!(left, Left::Written(_));
                let waits = !row.out.iter().any(is_own) && !replayed.whole;
                row.step = if waits { "waits" } else { "passes by" }.to_owned();
            }
        }
        rows
    }

    fn add(&mut self, at: Duration, step: &Step) {
        match step {
            Step::In(frame) => {
                self.count += 1;
                self.frames.push((self.count, frame.clone()));
                let frame = Some((self.count, frame.len()));
                self.push(Row { frame, ..Row::new(at, "") });
            }
            Step::Shown(shown) => {
                if !self.current().is_some_and(Row::is_untold) {
                    self.push(Row::new(at, ""));
                }
                self.payload = is_payload(shown.kind);
                self.settle(shown.held);
                self.under_way(at).show(shown);
            }
            Step::Staged { policy, end, effects, held, .. } => {
                if let Some(end) = end {
                    self.payload = false;
                    self.push(Row { policy: policy.clone(), ..Row::new(at, ended(end)) });
                    if effects.is_empty() {
                        self.settle(*held);
                    }
                }
                let told = staged(effects, self.payload);
                let row = self.under_way(at);
                row.staged = Some(told);
                row.held = Some(*held);
            }
            Step::Judged { policy, block, held, .. } => {
                let row = Row { held: Some(*held), policy: policy.clone(), ..Row::new(at, "verdict") };
                self.push(Row { block: block.to_string(), ..row });
            }
            Step::Decided(decision) => self.under_way(at).decisions.push(decision.clone()),
            Step::Written(bytes) => {
                self.on_the_way.push_back(bytes.clone());
                if self.current().is_some_and(|row| at > row.until && !row.is_pending()) {
                    // Nothing came, and yet something is written: time has passed.
                    self.push(Row::new(at, "silence"));
                }
                let left = self.leave(bytes);
                self.under_way(at).out.push(left);
            }
            Step::Out(bytes) => {
                if self.on_the_way.front() == Some(bytes) {
                    self.on_the_way.pop_front();
                } else {
                    // Beside a hook that has not returned, whose row is still under way.
                    let left = self.leave(bytes);
                    self.rows.push(Row { out: vec![left], ..Row::new(at, "silence") });
                }
            }
            Step::Closed(error) => {
                if !self.current().is_some_and(Row::is_pending) {
                    self.push(Row::new(at, "closed"));
                }
                self.under_way(at).error = Some(error.to_string());
            }
        }
    }

    fn push(&mut self, row: Row) {
        self.current = self.rows.len();
        self.rows.push(row);
    }

    fn current(&self) -> Option<&Row> {
        self.rows.get(self.current)
    }

    /// The row that what happens belongs to.
    fn under_way(&mut self, at: Duration) -> &mut Row {
        if self.rows.is_empty() {
            self.push(Row::new(at, "start"));
        }
        let row = &mut self.rows[self.current];
        row.until = row.until.max(at);
        row
    }

    /// What is held now is what the hook before the row under way left behind. What was held when that had returned
    /// says less: then its frame was still under way.
    fn settle(&mut self, held: usize) {
        let frame = self.current().and_then(|row| row.frame).map_or(0, |(_, len)| len);
        let before = self.rows[..self.current].iter_mut().rev().find(|row| row.held.is_some());
        if let Some(before) = before.filter(|row| row.staged.is_some()) {
            before.held = Some(held.saturating_sub(frame));
        }
    }

    /// Which frame these bytes are, if they are as they came.
    fn leave(&mut self, bytes: &Bytes) -> Left {
        if let Some(place) = self.frames.iter().position(|(_, frame)| frame == bytes) {
            return Left::Frame(self.frames.remove(place).0);
        }
        let place = self.written.iter().position(|written| written == bytes).unwrap_or_else(|| {
            self.written.push(bytes.clone());
            self.written.len() - 1
        });
        Left::Written(place + 1)
    }
}

fn ended(end: &End) -> &'static str {
    match end {
        End::Finished => "end: finished",
        End::Cut(None) => "end: cut",
        End::Cut(Some(_)) => "end: closed",
        End::Failed(_) => "end: failed upstream",
        End::Terminated(_) => "end: terminated before",
        _ => "end",
    }
}
