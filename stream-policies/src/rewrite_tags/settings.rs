//! Which tags, or which dialect.

use serde::Deserialize;

use super::RewriteTags;
use super::policy::To;
use crate::SettingsError;
use crate::dialects::{DialectSettings, named};

/// The settings of [`RewriteTags`]. See the [module](super) for a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use]
pub struct RewriteTagsSettings {
    tags: Option<Tags>,
    dialect: Option<String>,
    own: Option<Box<DialectSettings>>,
    allow: Vec<Tags>,
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
        Self { tags: Some(Tags::Joined(tags.into())), ..Self::default() }
    }

    /// Calls leave between these tags.
    pub fn between(open: impl Into<String>, close: impl Into<String>) -> Self {
        Self { tags: Some(Tags::Each { open: open.into(), close: close.into() }), ..Self::default() }
    }

    /// Calls leave in the dialect of this name.
    pub fn dialect(name: impl Into<String>) -> Self {
        Self { dialect: Some(name.into()), ..Self::default() }
    }

    /// A request may ask for these tags, `"open,close"`, in place of the others: see [`CallTags`](stream_core::CallTags).
    pub fn allow(mut self, tags: impl Into<String>) -> Self {
        self.allow.push(Tags::Joined(tags.into()));
        self
    }

    /// The policy; it is cloned for each stream.
    ///
    /// # Errors
    ///
    /// When there are no tags, or a dialect that is not known, or both.
    pub fn build(self) -> Result<RewriteTags, SettingsError> {
        let allowed = self.allow.into_iter().enumerate().map(|(at, tags)| {
            let (open, close) = tags.split().map_err(|error| error.moved(format!("allow[{at}]")))?;
            Ok(To::Tags { open, close })
        });
        let allowed: Vec<To> = allowed.collect::<Result<_, SettingsError>>()?;
        let to = match (self.tags, self.dialect, self.own) {
            (Some(tags), None, None) => {
                let (open, close) = tags.split()?;
                To::Tags { open, close }
            }
            (None, Some(name), None) => To::Dialect(Box::new(named(&name)?)),
            (None, None, Some(own)) => {
                To::Dialect(Box::new(own.build().map_err(|error| error.within("own"))?))
            }
            // Without other tags for those that ask for none, such calls leave as they came.
            (None, None, None) if !allowed.is_empty() => To::AsItCame,
            (None, None, None) => {
                return Err(SettingsError::new("rewrite-tags", "`tags` or `dialect`", "neither"));
            }
            _ => {
                return Err(SettingsError::new("rewrite-tags", "`tags` or `dialect`", "both"));
            }
        };
        Ok(RewriteTags::new(to, allowed))
    }
}

impl Tags {
    fn split(self) -> Result<(String, String), SettingsError> {
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
        Ok((open, close))
    }
}
