//! Which tags, or which dialect.

use serde::Deserialize;
use stream_core::text_calls::{Dialect, known};

use super::RewriteTags;
use super::policy::To;
use crate::SettingsError;

/// The settings of [`RewriteTags`]. See the [module](super) for a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use]
pub struct RewriteTagsSettings {
    tags: Option<Tags>,
    dialect: Option<String>,
}

/// The tags around a call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Tags {
    /// Both, separated by the first comma: `"<call>,</call>"`.
    Joined(String),
    /// Each of them.
    Each {
        /// Before the call.
        open: String,
        /// Behind the call.
        close: String,
    },
}

impl RewriteTagsSettings {
    /// Calls leave between these tags, `"open,close"`.
    pub fn tags(tags: impl Into<String>) -> Self {
        Self { tags: Some(Tags::Joined(tags.into())), dialect: None }
    }

    /// Calls leave between these tags.
    pub fn between(open: impl Into<String>, close: impl Into<String>) -> Self {
        Self { tags: Some(Tags::Each { open: open.into(), close: close.into() }), dialect: None }
    }

    /// Calls leave in the dialect of this name.
    pub fn dialect(name: impl Into<String>) -> Self {
        Self { tags: None, dialect: Some(name.into()) }
    }

    /// The policy; it is cloned for each stream.
    ///
    /// # Errors
    ///
    /// When there are no tags, or a dialect that is not known, or both.
    pub fn build(self) -> Result<RewriteTags, SettingsError> {
        let to = match (self.tags, self.dialect) {
            (Some(tags), None) => tags.split()?,
            (None, Some(name)) => To::Dialect(Box::new(named(&name)?)),
            (None, None) => {
                return Err(SettingsError::new("rewrite-tags", "`tags` or `dialect`", "neither"));
            }
            (Some(_), Some(_)) => {
                return Err(SettingsError::new("rewrite-tags", "`tags` or `dialect`", "both"));
            }
        };
        Ok(RewriteTags::new(to))
    }
}

impl Tags {
    fn split(self) -> Result<To, SettingsError> {
        let (open, close) = match self {
            Self::Each { open, close } => (open, close),
            Self::Joined(tags) => match tags.split_once(',') {
                Some((open, close)) => (open.to_owned(), close.to_owned()),
                None => return Err(SettingsError::new("tags", "two tags and a comma between them", "one")),
            },
        };
        if open.is_empty() {
            return Err(SettingsError::new("tags", "a tag before the call", "an empty one"));
        }
        Ok(To::Tags { open, close })
    }
}

/// The dialect of this name.
pub(crate) fn named(name: &str) -> Result<Dialect, SettingsError> {
    known::named(name).ok_or_else(|| {
        let names: Vec<String> = known::all().iter().map(|dialect| dialect.name().to_owned()).collect();
        SettingsError::new("dialect", format!("a dialect out of {}", names.join(", ")), format!("{name:?}"))
    })
}
