//! How often calls failed in a session.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use stream_core::{PolicyError, SessionKey, async_trait};

/// Counts failed calls in a row, for each session and tool. A host with several processes brings its own.
///
/// An error drops the call (or, failing open, releases it), as that of any judge.
#[async_trait]
pub trait Attempts: Send + Sync {
    /// A call failed: how many have failed in a row, this one included.
    async fn failed(&self, session: &SessionKey, tool: &str) -> Result<u32, PolicyError>;

    /// A call was valid: the row is over.
    async fn succeeded(&self, session: &SessionKey, tool: &str) -> Result<(), PolicyError>;
}

/// [`Attempts`] in memory, for a bounded number of sessions and tools: the one longest without a call is forgotten first.
#[derive(Debug)]
pub struct MemoryAttempts {
    capacity: usize,
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    rows: HashMap<(SessionKey, String), Row>,
    by_age: BTreeMap<u64, (SessionKey, String)>,
    clock: u64,
}

#[derive(Debug)]
struct Row {
    failures: u32,
    last: u64,
}

impl MemoryAttempts {
    /// Remembers at most so many pairs of session and tool; at least one.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), rows: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryAttempts {
    fn default() -> Self {
        Self::new(10_000)
    }
}

#[async_trait]
impl Attempts for MemoryAttempts {
    async fn failed(&self, session: &SessionKey, tool: &str) -> Result<u32, PolicyError> {
        let mut rows = self.lock();
        let key = (session.clone(), tool.to_owned());
        rows.clock += 1;
        let now = rows.clock;
        let row = rows.rows.entry(key.clone()).or_insert(Row { failures: 0, last: now });
        row.failures = row.failures.saturating_add(1);
        let (failures, last) = (row.failures, std::mem::replace(&mut row.last, now));
        rows.by_age.remove(&last);
        rows.by_age.insert(now, key);
        if rows.rows.len() > self.capacity
            && let Some((_, oldest)) = rows.by_age.pop_first()
        {
            rows.rows.remove(&oldest);
        }
        Ok(failures)
    }

    async fn succeeded(&self, session: &SessionKey, tool: &str) -> Result<(), PolicyError> {
        let mut rows = self.lock();
        if let Some(row) = rows.rows.remove(&(session.clone(), tool.to_owned())) {
            rows.by_age.remove(&row.last);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn failures_in_a_row_are_counted_by_session_and_tool() {
        let attempts = MemoryAttempts::new(10);
        let (one, two) = (SessionKey::new("one"), SessionKey::new("two"));
        assert_eq!(attempts.failed(&one, "shell").await.unwrap(), 1);
        assert_eq!(attempts.failed(&one, "shell").await.unwrap(), 2);
        assert_eq!(attempts.failed(&two, "shell").await.unwrap(), 1);
        assert_eq!(attempts.failed(&one, "search").await.unwrap(), 1);
        attempts.succeeded(&one, "shell").await.unwrap();
        assert_eq!(attempts.failed(&one, "shell").await.unwrap(), 1);
    }

    #[tokio::test]
    async fn the_oldest_row_is_forgotten_when_there_are_too_many() {
        let attempts = MemoryAttempts::new(2);
        let session = SessionKey::new("one");
        for (tool, expected) in [("a", 1), ("b", 1), ("a", 2), ("c", 1), ("a", 3), ("b", 1), ("c", 1)] {
            assert_eq!(attempts.failed(&session, tool).await.unwrap(), expected, "{tool}");
        }
        let rows = attempts.lock();
        assert_eq!((rows.rows.len(), rows.by_age.len()), (2, 2));
    }
}
