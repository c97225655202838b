//! The policies of a file.

use std::fmt;
use std::sync::Arc;

use stream_core::{Chain, Config, Engine, Needs, Request, Stage};

use super::blocked::BlockedSettings;
use super::common::Common;
use super::describe::Description;
use super::error::ConfigError;
use super::registry::Maker;
use super::text_calls::TextCallsSettings;

/// The policies of a file, in order: makes the [`Chain`] of each stream. Clones share them.
///
/// ```
/// # #[cfg(feature = "toml")] {
/// use stream_policies::config::PolicySet;
///
/// let set = PolicySet::from_toml(
///     r#"
///     [[policy]]
///     kind = "validate-parameters"
///     time_limit = "200ms"
///     when = { models = ["small-*"] }
///
///     [policy.tools.shell]
///     required = ["command"]
///     aliases = { command = ["cmd", "bash", "terminal", "shell"] }
///     "#,
/// )?;
/// assert_eq!(set.chain().len(), 1);
/// assert_eq!(
///     set.describe().to_string(),
///     "1. validate-parameters (models small-*), fails closed, within 200ms: looks at completed calls, opaque blocks; \
///      does not look at content, reasoning, refusals\ncalls written as text are not looked for\n"
/// );
/// # }
/// # Ok::<(), stream_policies::config::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct PolicySet {
    entries: Arc<Vec<Entry>>,
    text_calls: Arc<Option<TextCallsSettings>>,
    blocked: Arc<BlockedSettings>,
}

/// One policy of a file.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) kind: String,
    pub(crate) make: Maker,
    pub(crate) common: Common,
}

impl Entry {
    pub(crate) fn stage(&self) -> Stage {
        self.common.stage((self.make)())
    }

    /// What the policy looks at, whatever the request.
    pub(crate) fn needs(&self) -> Needs {
        self.common.needs((self.make)().policy().needs(&Request::new()))
    }
}

impl PolicySet {
    /// Reads a policy file in TOML, with the bundled kinds. For kinds of your own see
    /// [`Registry`](super::Registry).
    ///
    /// # Errors
    ///
    /// When anything of it is wrong. There is no set with a part of the policies.
    #[cfg(feature = "toml")]
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        super::Registry::new().read_toml(text)
    }

    pub(crate) fn new(
        entries: Vec<Entry>,
        text_calls: Option<TextCallsSettings>,
        blocked: BlockedSettings,
    ) -> Result<Self, ConfigError> {
        let set =
            Self { entries: Arc::new(entries), text_calls: Arc::new(text_calls), blocked: Arc::new(blocked) };
        // Policies that cannot work together are found now, not with the first stream.
        // Whether requests name a session is the host's affair: see `needs_session`.
        let config = Config::default().request(Request::new().without_session());
        let config = set.configure(config, None);
        match Engine::new(config, set.chain()) {
            Ok(_) => Ok(set),
            Err(error) => Err(ConfigError::new(error.to_string())),
        }
    }

    /// The policies of one stream. They see calls that are written as text only if the stream's settings went through
    /// [`configure`](Self::configure).
    pub fn chain(&self) -> Chain {
        self.entries.iter().map(Entry::stage).collect()
    }

    /// A stream's settings with what the file says of calls that are written as text, for the answer of this model, and of the
    /// errors that clients are told.
    pub fn configure(&self, config: Config, model: Option<&str>) -> Config {
        let config = self.blocked.configure(config);
        // A file that says nothing of it leaves the host's word.
        let Some(text_calls) = &*self.text_calls else { return config };
        let config = config.text_calls(text_calls.dialects(model));
        match text_calls.options() {
            Some(options) => config.text_call_options(options),
            None => config,
        }
    }

    /// The place of the first policy that counts by the [session](stream_core::SessionKey) of a request, in the order of
    /// the file, from 0. A host that cannot tell the session of its requests refuses such a file at start.
    #[must_use]
    pub fn needs_session(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.needs().needs_session())
    }

    /// The place of the first policy that a request may tell which [tags](stream_core::CallTags) it wants around calls, in
    /// the order of the file, from 0.
    #[must_use]
    pub fn takes_call_tags(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.needs().takes_call_tags())
    }

    /// The needs of each policy, for the output of a program at its start.
    #[must_use]
    pub fn describe(&self) -> Description {
        let text_calls = self.text_calls.as_ref().clone().unwrap_or_default();
        Description::of(&self.entries, text_calls.to_string())
    }

    /// The number of policies, which is never zero.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

impl fmt::Debug for PolicySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| &entry.kind)).finish()
    }
}
