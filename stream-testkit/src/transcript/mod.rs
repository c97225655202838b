//! Transcripts: a replay that a person can read at a glance.
//!
//! One row for each step, in the order it happened:
//!
//! | column | tells |
//! |---|---|
//! | `ms` | the time since the request |
//! | `in` | the frame that came, by number, and its length in bytes |
//! | `step` | what it says; `complete`, `end`, `verdict`, `silence` (a keep-alive), `passes by` (it left, and no policy was shown anything of it) and `waits` (it has not left yet) are no payload |
//! | `block` | the block it belongs to; ✓ when the step completes it |
//! | `out` | what left for the client because of it: `f3-f5` as they came, `w1` written anew |
//! | `held` | how many bytes are held back afterwards |
//! | `decided` | what the policy staged; then what was carried out, and why |
//!
//! Below are the texts that were written anew, and what a strict client ends up with, with the rules that are broken, if
//! any is. CR and LF are shown as ␍ and ␊; what is long is elided in the middle, with the number of bytes left out.

mod client;
mod redact;
mod row;
mod rows;
mod text;

use std::fmt;

pub use self::redact::Redact;
use self::redact::Redactor;
use self::row::{Row, STEP};
use self::rows::Rows;
use self::text::{bytes, line};
use crate::replay::{Replayed, Step};

/// A transcript of a [`Replayed`]; it is displayed.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Transcript<'a> {
    replayed: &'a Replayed,
    redact: Redact,
}

impl Replayed {
    /// The transcript of the run, for people. The page of the [module](crate::transcript) has its format.
    pub fn transcript(&self) -> Transcript<'_> {
        Transcript { replayed: self, redact: self.redact }
    }
}

impl Transcript<'_> {
    /// Leaves values out.
    pub fn redact(mut self, redact: Redact) -> Self {
        self.redact = redact;
        self
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Replayed { name, policies, steps, whole, .. } = self.replayed;
        let frames: Vec<usize> = steps.iter().filter_map(|(_, step)| frame_len(step)).collect();
        let what = if *whole { "whole response" } else { "stream" };
        let count = if *whole { String::new() } else { format!(" in {} frames", frames.len()) };
        // Where a file lies is the machine's own matter.
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let policies = if policies.is_empty() { "none".to_owned() } else { policies.join(", then ") };
        writeln!(f, "log:    {name}, {what}, {}{count}", bytes(frames.iter().sum()))?;
        writeln!(f, "policy: {policies}")
    }

    fn write_row(&self, f: &mut fmt::Formatter<'_>, cells: [&str; 7]) -> fmt::Result {
        let [at, frame, step, block, out, held, decided] = cells;
        let mut text = String::new();
        if !self.redact.has_times() {
            text += &format!("{at:>6}  ");
        }
        text += &format!("{frame:<9}  {step:<STEP$}  {block:<16}  {out:<12}  {held:>6}  {decided}");
        writeln!(f, "{}", text.trim_end())
    }

    fn write_rows(&self, f: &mut fmt::Formatter<'_>, rows: &[Row]) -> fmt::Result {
        self.write_row(f, ["ms", "in", "step", "block", "out", "held", "decided"])?;
        let names_policy = self.replayed.policies.len() > 1;
        for row in rows {
            let frame = row.frame.map(|(number, len)| format!("f{number:<3}{len:>5}")).unwrap_or_default();
            let held = row.held.map(|held| held.to_string()).unwrap_or_default();
            let decided = row.decided(names_policy, !self.redact.has_times());
            let at = row.at.as_millis().to_string();
            self.write_row(f, [&at, &frame, &row.step, &row.block, &row.left(), &held, &decided])?;
        }
        Ok(())
    }
}

impl fmt::Display for Transcript<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rows { rows, written, .. } = Rows::of(self.replayed);
        let redactor = Redactor::new(self.redact);
        self.write_head(f)?;
        writeln!(f)?;
        self.write_rows(f, &rows)?;
        writeln!(f)?;
        for (number, bytes) in written.iter().enumerate() {
            let text = redactor.json(&String::from_utf8_lossy(bytes));
            writeln!(
                f,
                "{:<4} {:>6}  {}",
                format!("w{}", number + 1),
                self::bytes(bytes.len()),
                line(&text, WRITTEN)
            )?;
        }
        if !written.is_empty() {
            writeln!(f)?;
        }
        client::write(f, self.replayed, &redactor)
    }
}

fn frame_len(step: &Step) -> Option<usize> {
    match step {
        Step::In(frame) => Some(frame.len()),
        _ => None,
    }
}

/// How much is shown of what was written anew.
const WRITTEN: usize = 500;
