//! What came of all recordings, added up.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::run::Tried;

/// What came of all recordings.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) recordings: usize,
    /// Recordings that could not be read.
    pub(super) bad: usize,
    /// Answers that differ from what the upstream sent, and of those the ones that were ended early.
    pub(super) edited: usize,
    pub(super) ended: usize,
    /// Streams that were closed for an error.
    pub(super) closed: usize,
    /// Answers that the two files treat differently.
    pub(super) differing: usize,
    pub(super) rows: Vec<Row>,
}

/// Decisions of one policy, with one action and one reason.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) policy: String,
    pub(super) action: &'static str,
    pub(super) reason: Option<String>,
    pub(super) enforced: bool,
    pub(super) decisions: usize,
    pub(super) recordings: usize,
    pub(super) bytes: usize,
    /// How long what was decided over had been held, at the recorded pace.
    pub(super) held_p50: Duration,
    pub(super) held_p95: Duration,
}

#[derive(Default)]
struct Gathered {
    held: Vec<Duration>,
    recordings: BTreeSet<usize>,
    bytes: usize,
}

impl Report {
    pub(super) fn of(tried: &[Tried]) -> Self {
        let mut report = Self { recordings: tried.len(), ..Self::default() };
        let mut rows: BTreeMap<(String, &'static str, Option<String>, bool), Gathered> = BTreeMap::new();
        for (number, one) in tried.iter().enumerate() {
            let Ok(outcome) = &one.result else {
                report.bad += 1;
                continue;
            };
            report.edited += usize::from(outcome.edited);
            report.ended += usize::from(outcome.ended);
            report.closed += usize::from(outcome.error.is_some());
            report.differing += usize::from(outcome.difference.is_some());
            for decision in &outcome.decisions {
                let key = (
                    decision.policy.clone(),
                    decision.action.word(),
                    decision.reason.clone(),
                    decision.enforced,
                );
                let gathered = rows.entry(key).or_default();
                gathered.held.push(decision.held);
                gathered.recordings.insert(number);
                gathered.bytes += decision.bytes;
            }
        }
        let row = |((policy, action, reason, enforced), mut gathered): ((String, _, _, _), Gathered)| {
            gathered.held.sort();
            Row {
                policy,
                action,
                reason,
                enforced,
                decisions: gathered.held.len(),
                recordings: gathered.recordings.len(),
                bytes: gathered.bytes,
                held_p50: percentile(&gathered.held, 50),
                held_p95: percentile(&gathered.held, 95),
            }
        };
        report.rows = rows.into_iter().map(row).collect();
        report
    }

    /// The report as one JSON document.
    pub(super) fn json(&self, tried: &[Tried]) -> String {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                json!({
                    "policy": row.policy, "action": row.action, "reason": row.reason, "enforced": row.enforced,
                    "decisions": row.decisions, "recordings": row.recordings, "bytes": row.bytes,
                    "held_p50_ms": millis(row.held_p50), "held_p95_ms": millis(row.held_p95),
                })
            })
            .collect();
        let files: Vec<Value> = tried
            .iter()
            .map(|one| {
                let file = one.file.display().to_string();
                match &one.result {
                    Err(error) => json!({ "file": file, "bad": error }),
                    Ok(outcome) => json!({
                        "file": file, "edited": outcome.edited, "ended": outcome.ended, "error": outcome.error,
                        "took_ms": millis(outcome.took), "difference": outcome.difference, "page": one.page,
                    }),
                }
            })
            .collect();
        let report = json!({
            "recordings": self.recordings, "bad": self.bad, "edited": self.edited, "ended": self.ended,
            "closed": self.closed, "differing": self.differing, "policies": rows, "files": files,
        });
        format!("{report:#}\n")
    }
}

/// The smallest of the sorted times that this share of them does not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied().unwrap_or_default()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let times: Vec<Duration> = (1..=20).map(Duration::from_millis).collect();
        assert_eq!(percentile(&times, 50), Duration::from_millis(10));
        assert_eq!(percentile(&times, 95), Duration::from_millis(19));
        assert_eq!(percentile(&times[..1], 95), Duration::from_millis(1));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }
}
