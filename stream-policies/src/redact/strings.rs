//! Strings that no block shows: each is matched by itself.

use std::sync::Arc;

use stream_core::{Replacement, Scrub};

use super::policy::{put, reason};
use super::{RedactSettings, arguments};
use crate::matcher::{Hit, Patterns};

/// Takes secrets out of the strings of frames that no block shows.
#[derive(Debug)]
pub(super) struct Strings {
    patterns: Patterns,
    settings: Arc<RedactSettings>,
}

impl Strings {
    pub(super) fn new(patterns: Patterns, settings: Arc<RedactSettings>) -> Self {
        Self { patterns, settings }
    }
}

impl Scrub for Strings {
    fn scrub(&self, text: &str) -> Option<Replacement> {
        let put = |hit: &Hit| put(hit.rule, &self.patterns, &self.settings);
        let mut hits = self.patterns.find_all(text);
        if is_encoded(text) {
            // Images and signatures: among so many letters and digits some number of any kind is found by chance.
            hits.retain(|hit| !self.patterns.is_checked(hit.rule));
        }
        let (text, rules) = if hits.is_empty() {
            let hit = arguments::escaped_again(text, &self.patterns)?;
            (put(&hit), vec![hit.rule])
        } else {
            (arguments::replaced(text, &hits, put), hits.iter().map(|hit| hit.rule).collect())
        };
        let reason = format!("{} beside the answer", reason(&self.patterns, rules));
        Some(Replacement::text(text).because(reason))
    }
}

/// Takes secrets out of the texts of several choices, put together.
#[derive(Debug)]
pub(super) struct JoinedChoices {
    patterns: Patterns,
    settings: Arc<RedactSettings>,
}

impl JoinedChoices {
    pub(super) fn new(patterns: Patterns, settings: Arc<RedactSettings>) -> Self {
        Self { patterns, settings }
    }
}

impl Scrub for JoinedChoices {
    fn scrub(&self, text: &str) -> Option<Replacement> {
        let hits = self.patterns.find_all(text);
        let put = |hit: &Hit| put(hit.rule, &self.patterns, &self.settings);
        let rules = hits.first().map(|_| hits.iter().map(|hit| hit.rule).collect())?;
        let reason = format!("{} over several choices", reason(&self.patterns, rules));
        Some(Replacement::text(arguments::replaced(text, &hits, put)).because(reason))
    }
}

/// Whether a text is bytes in letters and digits (Base64), and so many that nobody reads them.
fn is_encoded(text: &str) -> bool {
    let is_digit =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=');
    text.len() >= SHORTEST_ENCODED && text.bytes().all(is_digit)
}

/// Longer than any number of an account or a card.
const SHORTEST_ENCODED: usize = 128;
