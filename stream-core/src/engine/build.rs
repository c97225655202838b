//! The check of a chain before a stream starts.

use std::fmt;

use super::Config;
use super::spec::Spec;
use crate::block::MAX_STAGES;
use crate::policy::Attention;

/// Checks that these policies can work together in a stream with these settings.
pub(super) fn check(specs: &[Spec], config: &Config) -> Result<(), BuildError> {
    // Where all policies only watch, the stream has a stage of its own.
    let enforces = specs.iter().any(|spec| !spec.watching);
    let limit = if enforces { MAX_STAGES } else { MAX_STAGES - 1 };
    if specs.len() > limit {
        return Err(BuildError::TooMany { limit, found: specs.len() });
    }
    let mut hider: Option<&str> = None;
    for Spec { name, needs, watching, .. } in specs {
        if let (Some(hider), true) = (hider, needs.calls != Attention::Nothing) {
            return Err(BuildError::BlindPolicy { hider: hider.to_owned(), blind: name.to_string() });
        }
        if needs.session && !config.request.tells_session() {
            return Err(BuildError::NoSession { policy: name.to_string() });
        }
        if needs.text_calls && config.shared.text_calls.is_none() {
            return Err(BuildError::NoTextCalls { policy: name.to_string() });
        }
        if needs.hides_calls && !watching {
            hider = Some(name);
        }
    }
    Ok(())
}

/// The reason why policies cannot work together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A policy needs calls and stands behind a policy that turns calls into text: no call would be shown to it.
    BlindPolicy {
        /// The policy that turns calls into text.
        hider: String,
        /// The policy to which no call would be shown.
        blind: String,
    },
    /// A policy counts by session, and the request neither names a session nor declares that it has none: the policy would never count.
    NoSession {
        /// The policy that counts.
        policy: String,
    },
    /// A policy handles calls written as text, and the settings name no dialects: no call would be shown to it.
    NoTextCalls {
        /// The policy to which no call would be shown.
        policy: String,
    },
    /// The chain has too many stages.
    TooMany {
        /// The largest number of stages.
        limit: usize,
        /// The number of stages.
        found: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlindPolicy { hider, blind } => write!(
                f,
                "expected {blind}, which needs tool calls, before {hider}, which turns them into text; found it behind"
            ),
            Self::NoSession { policy } => write!(
                f,
                "expected a request that names its session, by which {policy} counts, or says that it has none; found neither"
            ),
            Self::NoTextCalls { policy } => write!(
                f,
                "expected settings that say which calls are looked for in the text, for {policy}; found none: it would never see a call"
            ),
            Self::TooMany { limit, found } => write!(f, "expected at most {limit} policies, found {found}"),
        }
    }
}

impl std::error::Error for BuildError {}
