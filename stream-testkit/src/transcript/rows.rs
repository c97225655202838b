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
        for row in &mut rows.rows {
            if row.is_untold() {
                // No policy needs to see anything in it.
                row.step = "passes by".to_owned();
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
                self.rows.push(Row { frame, ..Row::new(at, "") });
            }
            Step::Shown(shown) => {
                if !self.rows.last().is_some_and(Row::is_untold) {
                    self.rows.push(Row::new(at, ""));
                }
                self.payload = is_payload(shown.kind);
                self.settle(shown.held);
                self.last(at).show(shown);
            }
            Step::Staged { policy, end, effects, held, .. } => {
                if let Some(end) = end {
                    self.payload = false;
                    self.rows.push(Row { policy: policy.clone(), ..Row::new(at, ended(end)) });
                    if effects.is_empty() {
                        self.settle(*held);
                    }
                }
                let told = staged(effects, self.payload);
                let row = self.last(at);
                row.staged = Some(told);
                row.held = Some(*held);
            }
            Step::Judged { policy, block, held, .. } => {
                let row = Row { held: Some(*held), policy: policy.clone(), ..Row::new(at, "verdict") };
                self.rows.push(Row { block: block.to_string(), ..row });
            }
            Step::Decided(decision) => self.last(at).decisions.push(decision.clone()),
            Step::Written(bytes) => {
                self.on_the_way.push_back(bytes.clone());
                if self.rows.last().is_some_and(|row| at > row.until && !row.is_pending()) {
                    // Nothing came, and yet something is written: time has passed.
                    self.rows.push(Row::new(at, "silence"));
                }
                let left = self.leave(bytes);
                self.last(at).out.push(left);
            }
            Step::Out(bytes) => {
                if self.on_the_way.front() == Some(bytes) {
                    self.on_the_way.pop_front();
                } else {
                    let left = self.leave(bytes);
                    self.rows.push(Row { out: vec![left], ..Row::new(at, "silence") });
                }
            }
            Step::Closed(error) => {
                if !self.rows.last().is_some_and(Row::is_pending) {
                    self.rows.push(Row::new(at, "closed"));
                }
                self.last(at).error = Some(error.to_string());
            }
        }
    }

    /// What is held now is what the row before the last left behind. What was held when its hook had returned says
    /// less: then its frame was still under way.
    fn settle(&mut self, held: usize) {
        if let [.., before, last] = &mut self.rows[..]
            && before.staged.is_some()
        {
            before.held = Some(held - last.frame.map_or(0, |(_, len)| len.min(held)));
        }
    }

    /// The row under way.
    fn last(&mut self, at: Duration) -> &mut Row {
        if self.rows.is_empty() {
            self.rows.push(Row::new(at, "start"));
        }
        let last = self.rows.len() - 1;
        let row = &mut self.rows[last];
        row.until = row.until.max(at);
        row
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
