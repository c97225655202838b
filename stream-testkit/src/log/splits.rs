//! The sidecar: where the network cut a body, and when each piece came.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::{LogError, Place};
use super::{ChunkLog, Piece};

/// What `<name>.splits.json` holds.
#[derive(Debug, Deserialize, Serialize)]
struct Splits {
    chunk_bytes: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chunk_timings_ms: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

/// The sidecar's path: `a.sse` has `a.splits.json`.
pub(super) fn path_beside(path: &Path) -> PathBuf {
    path.with_extension("splits.json")
}

/// Reads the pieces of a log's body into it.
pub(super) fn read(file: &str, text: &[u8], log: &mut ChunkLog) -> Result<(), LogError> {
    let len = log.body.len();
    let splits: Splits = serde_json::from_slice(text)
        .map_err(|error| LogError::json(file, 1, "{\"chunk_bytes\":[…],\"chunk_timings_ms\":[…]}", &error))?;
    let wrong = |expected: String, found: String| Err(LogError::at(file, Place::START, expected, found));
    let sum = splits.chunk_bytes.iter().try_fold(0_usize, |sum, bytes| sum.checked_add(*bytes));
    if sum != Some(len) {
        let found = sum.map_or("more than any file has".to_owned(), |sum| sum.to_string());
        return wrong(format!("chunk_bytes that add up to the {len} bytes of the log"), found);
    }
    let count = splits.chunk_bytes.len();
    let gaps = splits.chunk_timings_ms.unwrap_or_else(|| vec![0.0; count]);
    if gaps.len() != count {
        return wrong(
            format!("{count} chunk_timings_ms, one for each of chunk_bytes"),
            gaps.len().to_string(),
        );
    }
    let mut at = Duration::ZERO;
    let mut pieces = Vec::with_capacity(count);
    for (len, gap) in splits.chunk_bytes.into_iter().zip(gaps) {
        let Some(next) = millis(gap).and_then(|gap| at.checked_add(gap)) else {
            return wrong("chunk_timings_ms that are milliseconds".to_owned(), gap.to_string());
        };
        at = next;
        pieces.push(Piece { at, len });
    }
    log.pieces = pieces;
    log.recorded_cuts = true;
    log.truncated = splits.truncated;
    Ok(())
}

/// Writes the pieces of a log.
pub(super) fn write(log: &ChunkLog) -> Result<Vec<u8>, serde_json::Error> {
    let mut before = Duration::ZERO;
    let gap = |piece: &Piece| {
        let gap = piece.at.saturating_sub(before);
        before = before.max(piece.at);
        gap.as_secs_f64() * 1000.0
    };
    let timed = log.pieces.iter().any(|piece| !piece.at.is_zero());
    let splits = Splits {
        chunk_bytes: log.pieces.iter().map(|piece| piece.len).collect(),
        chunk_timings_ms: timed.then(|| log.pieces.iter().map(gap).collect()),
        truncated: log.truncated,
    };
    serde_json::to_vec(&splits)
}

/// Milliseconds as a duration, if they can be one.
pub(super) fn millis(millis: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(millis / 1000.0).ok()
}
