//! What became of answers: given to the end, or left by the client.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// What became of the last answer of each name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fates(Arc<watch::Sender<HashMap<String, Fate>>>);

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Serving,
    Completed,
    Cancelled,
}

impl Fates {
    /// Enters an answer that is being given.
    pub(crate) fn receipt(&self, name: &str) -> Receipt {
        self.enter(name, Fate::Serving);
        Receipt { fates: self.clone(), name: name.to_owned(), fate: Fate::Cancelled }
    }

    /// What became of an answer; waits a while for its end.
    pub(crate) async fn of(&self, name: &str) -> &'static str {
        let mut changes = self.0.subscribe();
        let over = changes.wait_for(|fates| fates.get(name).is_some_and(|fate| *fate != Fate::Serving));
        match tokio::time::timeout(LONGEST, over).await {
            Ok(Ok(fates)) if fates.get(name) == Some(&Fate::Cancelled) => "cancelled",
            Ok(Ok(_)) => "completed",
            _ => "unknown",
        }
    }

    fn enter(&self, name: &str, fate: Fate) {
        self.0.send_modify(|fates| {
            fates.insert(name.to_owned(), fate);
        });
    }
}

/// Tells what became of an answer, when the answer is dropped.
#[derive(Debug)]
pub(crate) struct Receipt {
    fates: Fates,
    name: String,
    fate: Fate,
}

impl Receipt {
    /// Says what became of it; else the client has gone.
    pub(crate) fn settle(&mut self, fate: Fate) {
        self.fate = fate;
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        self.fates.enter(&self.name, self.fate);
    }
}

/// Longer than any client takes to go.
const LONGEST: Duration = Duration::from_secs(10);
