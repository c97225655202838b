//! What is checked, and what becomes of a call that does not hold.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ValidateParameters;
use crate::SettingsError;

/// Settings of [`ValidateParameters`](super::ValidateParameters).
///
/// ```
/// use stream_policies::validate_parameters::{ToolSettings, ValidateParametersSettings};
///
/// let policy = ValidateParametersSettings::new()
///     .tool("shell", ToolSettings::new().required(["command"]).alias("command", ["cmd", "bash"]))
///     .budget(3)
///     .build();
/// assert!(policy.is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use]
pub struct ValidateParametersSettings {
    pub(crate) tools: BTreeMap<String, ToolSettings>,
    pub(crate) aliases: BTreeMap<String, Vec<String>>,
    pub(crate) offered: bool,
    pub(crate) unknown_tools: UnknownTools,
    pub(crate) on_invalid: OnInvalid,
    pub(crate) notice: Notice,
    pub(crate) budget: Option<u32>,
    pub(crate) attempts: Option<AttemptsSettings>,
    pub(crate) allow_empty: bool,
}

impl ValidateParametersSettings {
    /// Every call must parse; the schemas of the offered tools must hold; no budget.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the checks of the calls of one tool.
    pub fn tool(mut self, name: impl Into<String>, settings: ToolSettings) -> Self {
        self.tools.insert(name.into(), settings);
        self
    }

    /// Sets other names of a parameter, for all tools that require the parameter and list no aliases of their own.
    pub fn alias<S: Into<String>>(
        mut self,
        parameter: impl Into<String>,
        aliases: impl IntoIterator<Item = S>,
    ) -> Self {
        self.aliases.insert(parameter.into(), aliases.into_iter().map(Into::into).collect());
        self
    }

    /// Whether the tools that the request offers are known tools, with the required parameters of their schemas (and,
    /// with the feature `json-schema`, all of them). True by default.
    pub fn offered(mut self, counts: bool) -> Self {
        self.offered = counts;
        self
    }

    /// Sets the outcome of calls of tools that are neither listed nor offered.
    pub fn unknown_tools(mut self, what: UnknownTools) -> Self {
        self.unknown_tools = what;
        self
    }

    /// Sets the outcome of an invalid call.
    pub fn on_invalid(mut self, what: OnInvalid) -> Self {
        self.on_invalid = what;
        self
    }

    /// Sets the text in place of a dropped call.
    pub fn notice(mut self, notice: Notice) -> Self {
        self.notice = notice;
        self
    }

    /// Sets the largest number of invalid calls of one tool in a row in one session. The last of them ends the stream.
    pub fn budget(mut self, attempts: u32) -> Self {
        self.budget = Some(attempts);
        self
    }

    /// Sets where attempts are counted; by default in the memory of this process.
    pub fn attempts(mut self, attempts: AttemptsSettings) -> Self {
        self.attempts = Some(attempts);
        self
    }

    /// Whether an empty string is a value of a required parameter; false unless said so. `null` is one only where the schema
    /// of the parameter allows it.
    pub fn allow_empty(mut self, allow: bool) -> Self {
        self.allow_empty = allow;
        self
    }

    /// The policy; it is cloned for each stream, and clones share compiled schemas and the count of attempts.
    ///
    /// # Errors
    ///
    /// When settings contradict each other, or a schema is none.
    pub fn build(self) -> Result<ValidateParameters, SettingsError> {
        self.check()?;
        let attempts = self.attempts.clone();
        let policy = ValidateParameters::new(self);
        match attempts {
            Some(attempts) => attempts.add_to(policy).map_err(|error| error.within("attempts")),
            None => Ok(policy),
        }
    }

    fn check(&self) -> Result<(), SettingsError> {
        if self.budget == Some(0) {
            return Err(SettingsError::new("budget", "at least 1 attempt", "0"));
        }
        if self.attempts.is_some() && self.budget.is_none() {
            return Err(SettingsError::new("attempts", "a budget that they are counted for", "none"));
        }
        check_aliases("aliases", &self.aliases, &[])?;
        for (name, tool) in &self.tools {
            let place = |key: &str| format!("tools.{name}.{key}");
            check_aliases(&place("aliases"), &tool.aliases, &tool.required)?;
            let may_be_required = |parameter: &&String| {
                tool.required.contains(parameter) || tool.schema.is_some() || self.offered
            };
            if let Some(unused) = tool.aliases.keys().find(|parameter| !may_be_required(parameter)) {
                let found = format!("those of {unused}, which is not required");
                return Err(SettingsError::new(place("aliases"), "aliases of required parameters", found));
            }
            let Some(schema) = &tool.schema else { continue };
            if cfg!(not(feature = "json-schema")) {
                let found = "a build without it";
                return Err(SettingsError::new(place("schema"), "the feature json-schema", found));
            }
            super::schema::compile(schema)
                .map_err(|found| SettingsError::new(place("schema"), "a JSON Schema", found))?;
        }
        Ok(())
    }
}

impl Default for ValidateParametersSettings {
    fn default() -> Self {
        Self {
            tools: BTreeMap::new(),
            aliases: BTreeMap::new(),
            offered: true,
            unknown_tools: UnknownTools::default(),
            on_invalid: OnInvalid::default(),
            notice: Notice::default(),
            budget: None,
            attempts: None,
            allow_empty: false,
        }
    }
}

/// The place where attempts are counted: Redis, for several processes (feature `redis`).
///
/// Debugging does not tell the address, which may hold a password.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { redis = \"redis://…\" }")]
#[must_use]
pub struct AttemptsSettings {
    redis: String,
    #[serde(default, deserialize_with = "crate::duration::given")]
    time_to_live: Option<Duration>,
    #[serde(default, deserialize_with = "crate::duration::given")]
    timeout: Option<Duration>,
}

impl AttemptsSettings {
    /// In the Redis at this address.
    pub fn redis(address: impl Into<String>) -> Self {
        Self { redis: address.into(), time_to_live: None, timeout: None }
    }

    #[cfg(feature = "redis")]
    fn add_to(&self, policy: ValidateParameters) -> Result<ValidateParameters, SettingsError> {
        let mut attempts = super::RedisAttempts::new(&self.redis)?;
        for (place, time) in [("time_to_live", self.time_to_live), ("timeout", self.timeout)] {
            match (place, time) {
                (_, Some(Duration::ZERO)) => return Err(SettingsError::new(place, "some time", "none")),
                ("timeout", Some(time)) => attempts = attempts.timeout(time),
                (_, Some(time)) => attempts = attempts.time_to_live(time),
                (_, None) => {}
            }
        }
        Ok(policy.attempts(attempts))
    }

    #[cfg(not(feature = "redis"))]
    #[allow(clippy::unused_self)]
    fn add_to(&self, _: ValidateParameters) -> Result<ValidateParameters, SettingsError> {
        Err(SettingsError::new("redis", "the feature redis", "a build without it"))
    }
}

impl fmt::Debug for AttemptsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttemptsSettings")
            .field("time_to_live", &self.time_to_live)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The checks of the calls of one tool.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use]
pub struct ToolSettings {
    pub(crate) required: Vec<String>,
    pub(crate) aliases: BTreeMap<String, Vec<String>>,
    pub(crate) schema: Option<serde_json::Value>,
    pub(crate) allow_empty: Option<bool>,
}

impl ToolSettings {
    /// Its arguments parse.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds parameters that must have a value, beside those that the schema requires.
    pub fn required<S: Into<String>>(mut self, parameters: impl IntoIterator<Item = S>) -> Self {
        self.required.extend(parameters.into_iter().map(Into::into));
        self
    }

    /// Sets other names of a required parameter. A call that uses one of them is rewritten.
    pub fn alias<S: Into<String>>(
        mut self,
        parameter: impl Into<String>,
        aliases: impl IntoIterator<Item = S>,
    ) -> Self {
        self.aliases.insert(parameter.into(), aliases.into_iter().map(Into::into).collect());
        self
    }

    /// Sets whether an empty string is a value of its required parameters, in place of the setting for all tools.
    pub fn allow_empty(mut self, allow: bool) -> Self {
        self.allow_empty = Some(allow);
        self
    }

    /// The JSON Schema of its arguments, before that of the offered tool. Needs the feature `json-schema`.
    pub fn schema(mut self, schema: serde_json::Value) -> Self {
        self.schema = Some(schema);
        self
    }
}

/// The outcome of calls of unknown tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownTools {
    /// Their arguments have to parse.
    #[default]
    Parse,
    /// They are invalid.
    Refuse,
}

/// The outcome of an invalid call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnInvalid {
    /// The call is dropped, with a notice in its place.
    #[default]
    Drop,
    /// The stream ends with a refusal.
    Terminate,
}

/// The text in place of a dropped call, where the format has a place for text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
    /// A sentence that a model can act on.
    #[default]
    Sentence,
    /// The failure as JSON, for programs.
    Json,
    /// No text.
    Nothing,
}

/// An alias that is the parameter itself, another required one, or that of two parameters, leaves open what is meant.
fn check_aliases(
    place: &str,
    aliases: &BTreeMap<String, Vec<String>>,
    required: &[String],
) -> Result<(), SettingsError> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for (parameter, names) in aliases {
        for (at, name) in names.iter().enumerate() {
            let place = format!("{place}.{parameter}[{at}]");
            if name == parameter || required.contains(name) {
                return Err(SettingsError::new(place, "a name that is not required itself", name));
            }
            if let Some(other) = seen.insert(name, parameter) {
                let found = format!("{name}, which is one of {other}");
                return Err(SettingsError::new(place, "each alias once", found));
            }
        }
    }
    Ok(())
}
