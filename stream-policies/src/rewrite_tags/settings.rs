//! Which tags, or which dialect.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tags {
    /// Both, separated by the first comma: `"<call>,</call>"`.
    Joined(String),
    /// Each of them.
    Each(Pair),
}

/// The tags before and behind a call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pair {
    open: String,
    close: String,
}

impl RewriteTagsSettings {
    /// Creates settings for calls between these tags, `"open,close"`.
    pub fn tags(tags: impl Into<String>) -> Self {
        Self { tags: Some(Tags::Joined(tags.into())), ..Self::default() }
    }

    /// Creates settings for calls between these tags.
    pub fn between(open: impl Into<String>, close: impl Into<String>) -> Self {
        let pair = Pair { open: open.into(), close: close.into() };
        Self { tags: Some(Tags::Each(pair)), ..Self::default() }
    }

    /// Creates settings for calls in the dialect of this name.
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
                To::Dialect(Box::new(own.build_to_write().map_err(|error| error.within("own"))?))
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
            Self::Each(Pair { open, close }) => (open, close),
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

// An untagged enum would pass over keys that it does not know.
impl<'de> Deserialize<'de> for Tags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either)
    }
}

/// Reads a text with a comma, or a table.
struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = Tags;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"open,close\" or a table of open and close")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Tags, E> {
        Ok(Tags::Joined(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Tags, A::Error> {
        Pair::deserialize(MapAccessDeserializer::new(map)).map(Tags::Each)
    }
}
