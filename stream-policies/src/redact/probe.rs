//! What patterns cost and hold back, without a stream.

use super::Redact;
use crate::matcher::Matcher;

/// Takes the text of one answer as [`Redact`] does, and says how much of it waits: to measure patterns before they stand in
/// front of users.
///
/// ```
/// use stream_policies::{Preset, RedactSettings};
///
/// let redact = RedactSettings::default().preset(Preset::ApiKey).build()?;
/// let mut probe = redact.probe();
/// assert_eq!(probe.push("The task"), 0);
/// assert_eq!(probe.push(" is sk-"), 3);
/// assert_eq!(probe.push("etching."), 0);
/// # Ok::<(), stream_policies::SettingsError>(())
/// ```
#[derive(Debug)]
pub struct Probe {
    matcher: Matcher,
    found: usize,
}

impl Probe {
    /// Takes the next chunk. How many bytes at the end of the text wait for the next one: a chunk leaves at once if none
    /// of its own and none before it do.
    pub fn push(&mut self, chunk: &str) -> usize {
        let mut hits = Vec::new();
        self.matcher.push(chunk, &mut hits);
        self.found += hits.len();
        self.matcher.end() - self.matcher.decided()
    }

    /// How many matches were found.
    #[must_use]
    pub fn found(&self) -> usize {
        self.found
    }
}

impl Redact {
    /// Measures what its patterns hold back.
    #[must_use]
    pub fn probe(&self) -> Probe {
        Probe { matcher: Matcher::new(self.patterns.clone(), self.settings.hold_limit), found: 0 }
    }

    /// How many bytes the tables of its patterns take. All streams share them.
    #[must_use]
    pub fn tables(&self) -> usize {
        self.patterns.memory()
    }
}
