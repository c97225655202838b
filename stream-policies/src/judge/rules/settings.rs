//! Rules as they are written down.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Rules;
use crate::settings_error::SettingsError;

/// The settings of [`Rules`]. The default has no default value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub struct RulesSettings {
    /// The outcome of a call without a rule.
    pub default: Otherwise,
    /// What becomes of a call that the provider runs (`server_tool_use`, `mcp_call`, `web_search_call` …) and that no
    /// rule is for.
    #[serde(default = "allowed")]
    pub server: Otherwise,
    /// The rules that allow.
    #[serde(default)]
    pub allow: Vec<Rule>,
    /// The rules that deny, before all rules that allow.
    #[serde(default)]
    pub deny: Vec<Rule>,
}

impl RulesSettings {
    /// Creates settings without rules, with this outcome for every call.
    pub fn otherwise(default: Otherwise) -> Self {
        Self { default, server: Otherwise::Allow, allow: Vec::new(), deny: Vec::new() }
    }

    /// This for every call that the provider runs and that no rule is for.
    pub fn server(mut self, otherwise: Otherwise) -> Self {
        self.server = otherwise;
        self
    }

    /// Adds a rule that allows.
    pub fn allow(mut self, rule: Rule) -> Self {
        self.allow.push(rule);
        self
    }

    /// Adds a rule that denies.
    pub fn deny(mut self, rule: Rule) -> Self {
        self.deny.push(rule);
        self
    }

    /// Makes the rules.
    ///
    /// # Errors
    ///
    /// As [`Rules::new`].
    pub fn build(&self) -> Result<Rules, SettingsError> {
        Rules::new(self)
    }
}

/// The outcome of a call without a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Otherwise {
    /// The call is allowed.
    Allow,
    /// The call is denied.
    Deny,
}

/// A rule: for which tools, under which conditions, and why.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub struct Rule {
    /// Globs of tool names.
    pub tools: Vec<String>,
    /// The party that runs the tools; any party if unset.
    #[serde(default)]
    pub runs: Option<RunBy>,
    /// The conditions on the arguments, all of which must hold.
    #[serde(default)]
    pub when: Vec<Condition>,
    /// The reason that is recorded when the rule denies, and may be sent to the client. A rule that allows has none.
    #[serde(default)]
    pub because: Option<String>,
}

impl Rule {
    /// A rule for the tools whose name matches one of these globs.
    pub fn tools<S: Into<String>>(globs: impl IntoIterator<Item = S>) -> Self {
        Self {
            tools: globs.into_iter().map(Into::into).collect(),
            runs: None,
            when: Vec::new(),
            because: None,
        }
    }

    /// Only if this one runs the tool.
    pub fn run_by(mut self, who: RunBy) -> Self {
        self.runs = Some(who);
        self
    }

    /// Only if this, too, holds of the arguments.
    pub fn when(mut self, condition: Condition) -> Self {
        self.when.push(condition);
        self
    }

    /// The reason that is recorded when the rule denies, and may be sent to the client.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.because = Some(reason.into());
        self
    }
}

/// The party that runs a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunBy {
    /// The client, for all anyone knows.
    Client,
    /// The provider.
    Server,
}

fn allowed() -> Otherwise {
    Otherwise::Allow
}

/// A condition on one value in the arguments. Exactly one of the tests is set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub struct Condition {
    /// The JSON Pointer of the value; `""` is all of the arguments.
    pub at: String,
    /// The value equals this one. Numbers are compared as numbers.
    #[serde(default, deserialize_with = "some")]
    pub equals: Option<Value>,
    /// The value matches this glob.
    #[serde(default)]
    pub glob: Option<String>,
    /// The value matches this regular expression.
    #[serde(default)]
    pub regex: Option<String>,
    /// The value is present, or not. A `null` is present.
    #[serde(default)]
    pub present: Option<bool>,
}

impl Condition {
    /// A condition on the value at a JSON Pointer; say which next.
    pub fn at(pointer: impl Into<String>) -> Self {
        Self { at: pointer.into(), equals: None, glob: None, regex: None, present: None }
    }

    /// The value is this.
    pub fn equals(mut self, value: impl Into<Value>) -> Self {
        self.equals = Some(value.into());
        self
    }

    /// The value matches a glob.
    pub fn glob(mut self, glob: impl Into<String>) -> Self {
        self.glob = Some(glob.into());
        self
    }

    /// The value matches a regular expression.
    pub fn regex(mut self, regex: impl Into<String>) -> Self {
        self.regex = Some(regex.into());
        self
    }

    /// The value is there, or is not.
    pub fn present(mut self, present: bool) -> Self {
        self.present = Some(present);
        self
    }
}

/// A `null` that was written down is a value to compare with.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
