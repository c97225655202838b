//! Why the upstream cannot be heard.

use std::fmt;
use std::sync::Arc;

/// Envoy's side of an exchange is over before the upstream's response was: the client went away, the upstream broke, or
/// Envoy sent something else than it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone(Arc<str>);

impl Gone {
    /// Says why, for a host whose own service fails.
    #[must_use]
    pub fn from_message(why: &str) -> Self {
        Self(why.into())
    }

    pub(crate) fn new(why: impl AsRef<str>) -> Self {
        Self(why.as_ref().into())
    }
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Gone {}
