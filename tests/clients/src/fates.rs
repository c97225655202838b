//! How often clients asked, and what became of their answers: given to the end, or left.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// What became of the last answer of each name, and how many there were.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fates(Arc<watch::Sender<HashMap<String, (Fate, usize)>>>);

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
        self.0.send_modify(|fates| {
            let entry = fates.entry(name.to_owned()).or_insert((Fate::Serving, 0));
            *entry = (Fate::Serving, entry.1 + 1);
        });
        Receipt { fates: self.clone(), name: name.to_owned(), fate: Fate::Cancelled }
    }

    /// What became of an answer; waits a while for its end.
    pub(crate) async fn of(&self, name: &str) -> &'static str {
        let mut changes = self.0.subscribe();
        let fate = |fates: &HashMap<String, (Fate, usize)>| fates.get(name).map(|(fate, _)| *fate);
        let over = changes.wait_for(|fates| fate(fates).is_some_and(|fate| fate != Fate::Serving));
        match tokio::time::timeout(LONGEST, over).await {
            Ok(Ok(fates)) if fate(&fates) == Some(Fate::Cancelled) => "cancelled",
            Ok(Ok(_)) => "completed",
            _ => "unknown",
        }
    }

    /// How many answers were begun.
    pub(crate) fn asked(&self, name: &str) -> usize {
        self.0.borrow().get(name).map_or(0, |(_, count)| *count)
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
        self.fates.0.send_modify(|fates| {
            if let Some((fate, _)) = fates.get_mut(&self.name) {
                *fate = self.fate;
            }
        });
    }
}

/// Longer than any client takes to go.
const LONGEST: Duration = Duration::from_secs(10);
