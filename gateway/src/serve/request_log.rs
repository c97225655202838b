//! `request_log`: a line of JSON for each request.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::exchange::Exchange;

/// Appends to a file. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct RequestLog(Arc<Mutex<File>>);

/// A request whose answer is under way, to be logged when that is over.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) log: RequestLog,
    pub(crate) exchange: Exchange,
    pub(crate) number: u64,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u16,
}

/// How the answer went.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered {
    pub(crate) bytes: usize,
    pub(crate) first_byte: Option<Duration>,
    pub(crate) took: Duration,
    /// Whether the client stayed to the end.
    pub(crate) stayed: bool,
}

impl RequestLog {
    /// Opens the file, which is made if it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| format!("{}: cannot log requests there: {error}", path.display()))?;
        Ok(Self(Arc::new(Mutex::new(file))))
    }
}

impl Logged {
    /// Writes a line. Neither text of a stream nor a key is part of it.
    pub(crate) fn write(&self, answered: Answered) {
        let line = self.line(answered);
        let mut file = self.log.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One write for a line, so that lines of several processes do not mix.
        if let Err(error) = file.write_all(line.as_bytes()) {
            tracing::warn!(%error, "a request cannot be logged");
        }
    }

    fn line(&self, answered: Answered) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let known = self.exchange.known();
        let decisions: Vec<_> = known
            .decisions
            .iter()
            .map(|decision| {
                json!({
                    "policy": decision.policy,
                    "action": decision.action.word(),
                    "reason": decision.reason,
                    "bytes": decision.bytes,
                    "held_ms": millis(decision.held),
                    "enforced": decision.enforced,
                })
            })
            .collect();
        let runs: Vec<_> = known
            .runs
            .iter()
            .map(|run| {
                json!({
                    "tool": run.tool,
                    "iteration": run.iteration,
                    "outcome": run.outcome.to_string(),
                    "took_ms": millis(run.took),
                })
            })
            .collect();
        let mut line = json!({
            "time_ms": millis(now),
            "number": self.number,
            "client": known.client.as_ref().map(ToString::to_string),
            "method": self.method,
            "path": self.path,
            "api": known.api.map(stream_http::Api::name),
            "model": known.model,
            "status": self.status,
            "bytes": answered.bytes,
            "first_byte_ms": answered.first_byte.map(millis),
            "took_ms": millis(answered.took),
            "stayed": answered.stayed,
            "decided": known.decided,
            "decisions": decisions,
        });
        if known.ran > 0 {
            line["ran"] = known.ran.into();
            line["runs"] = runs.into();
        }
        format!("{line}\n")
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
