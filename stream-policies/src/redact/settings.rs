//! What to take out, where, and what to put there.

use serde::Deserialize;

use super::{Preset, Redact};
use crate::SettingsError;
use crate::matcher::{BlockEnds, Pattern};

/// The settings of [`Redact`]. See the [module](super) for a table.
///
/// ```
/// use stream_policies::{Pattern, Preset, RedactSettings};
///
/// let redact = RedactSettings::default()
///     .preset(Preset::ApiKey)
///     .pattern(Pattern::regex("ticket", "TCK-[0-9]{6}"))
///     .replacement("<{name}>")
///     .build();
/// assert!(redact.is_ok());
///
/// let everywhere = RedactSettings::default().pattern(Pattern::regex("any", "x*")).build();
/// assert_eq!(
///     everywhere.unwrap_err().to_string(),
///     "pattern \"any\": expected a regex that matches something, found one that also matches the empty text, \
///      which is everywhere",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use]
pub struct RedactSettings {
    pub(super) presets: Vec<Preset>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) places: Vec<Place>,
    pub(super) replacement: String,
    pub(super) block_ends: BlockEnds,
    pub(super) hold_limit: usize,
    pub(super) at_limit: AtLimit,
}

impl RedactSettings {
    /// Adds a kind of secret.
    pub fn preset(mut self, preset: Preset) -> Self {
        self.presets.push(preset);
        self
    }

    /// Adds a pattern.
    pub fn pattern(mut self, pattern: Pattern) -> Self {
        self.patterns.push(pattern);
        self
    }

    /// Looks only in these places.
    pub fn places(mut self, places: impl IntoIterator<Item = Place>) -> Self {
        self.places = places.into_iter().collect();
        self
    }

    /// What stands for a hit; `{name}` becomes the name of the pattern.
    pub fn replacement(mut self, text: impl Into<String>) -> Self {
        self.replacement = text.into();
        self
    }

    /// Whether text at the end of a block waits for the next.
    pub fn block_ends(mut self, block_ends: BlockEnds) -> Self {
        self.block_ends = block_ends;
        self
    }

    /// How many bytes of one text may be undecided, and what happens when there are more.
    pub fn hold_limit(mut self, bytes: usize, at_limit: AtLimit) -> Self {
        self.hold_limit = bytes;
        self.at_limit = at_limit;
        self
    }

    /// Compiles the patterns. The policy is cloned for each stream.
    ///
    /// # Errors
    ///
    /// When a pattern cannot be used, or nothing is looked for.
    pub fn build(self) -> Result<Redact, SettingsError> {
        Redact::new(self)
    }

    pub(super) fn all_patterns(&self) -> Vec<Pattern> {
        let presets = self.presets.iter().flat_map(|preset| preset.patterns());
        presets.chain(self.patterns.iter().cloned()).collect()
    }
}

impl Default for RedactSettings {
    fn default() -> Self {
        Self {
            presets: Vec::new(),
            patterns: Vec::new(),
            places: Place::ALL.to_vec(),
            replacement: "[redacted]".to_owned(),
            block_ends: BlockEnds::default(),
            hold_limit: 64 << 10,
            at_limit: AtLimit::default(),
        }
    }
}

/// Where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Place {
    /// What the user reads.
    Content,
    /// Reasoning, thinking, thoughts.
    Reasoning,
    /// Refusals in the model's words.
    Refusal,
    /// The arguments of calls.
    Arguments,
    /// Everything else, string by string: what the provider ran or made, citations, ids, errors, fields nobody knows.
    Other,
}

impl Place {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Content, Self::Reasoning, Self::Refusal, Self::Arguments, Self::Other];
}

/// What happens when more text is undecided than the limit allows. That it leaves is no choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AtLimit {
    /// It is taken out, and so is what follows until no match can be under way.
    #[default]
    Redact,
    /// The stream ends.
    Terminate,
}
