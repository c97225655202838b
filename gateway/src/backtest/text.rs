//! The report for people.

use std::fmt::Write as _;

use super::report::{Report, Row};
use super::run::Tried;

/// The report as text: totals, a row for each policy and reason, what differs, what could not be read.
pub(super) fn text(report: &Report, tried: &[Tried]) -> String {
    // Writing to a string does not fail.
    let mut text = String::new();
    let Report { recordings, bad, edited, ended, closed, differing, rows } = report;
    let _ = writeln!(
        text,
        "{recordings} recordings: {edited} edited, {ended} ended, {closed} closed for an error, {bad} bad"
    );
    if !rows.is_empty() {
        let _ = writeln!(
            text,
            "\n{:>9} {:>10} {:>10} {:>9} {:>9}  what",
            "decisions", "recordings", "bytes", "held p50", "held p95"
        );
    }
    for row in rows {
        let Row { decisions, recordings, bytes, held_p50, held_p95, .. } = row;
        let (held_p50, held_p95) = (held_p50.as_millis(), held_p95.as_millis());
        let _ = writeln!(
            text,
            "{decisions:>9} {recordings:>10} {bytes:>10} {held_p50:>6} ms {held_p95:>6} ms  {}",
            what(row)
        );
    }
    if *differing > 0 {
        let _ = writeln!(text, "\n{differing} recordings fare otherwise:");
    }
    for one in tried {
        if let Ok(outcome) = &one.result
            && let Some(difference) = &outcome.difference
        {
            let (old, new) = (difference.old.join(", "), difference.new.join(", "));
            let _ = writeln!(text, "  {}\n    before: {old}\n    now:    {new}", one.file.display());
        }
    }
    for one in tried {
        match &one.result {
            Err(error) => {
                let _ = writeln!(text, "bad: {error}");
            }
            Ok(outcome) => {
                if let Some(error) = &outcome.error {
                    let _ = writeln!(text, "closed: {}: {error}", one.file.display());
                }
            }
        }
    }
    text
}

/// What a row is about.
pub(super) fn what(row: &Row) -> String {
    let would = if row.enforced { "" } else { "would have " };
    let reason = row.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    format!("{} {would}{}{reason}", row.policy, row.action)
}
