//! Keys that every kind has: conditions, failures, limits, watching.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use stream_core::{Needs, Stage};

use super::de;
use super::error::{ConfigError, Place};
use super::node::{Node, Table, Value};
use super::registry::placed;
use crate::SettingsError;
use crate::compose::{Condition, When, needs_of_calls};
use crate::glob::Glob;
use crate::names::fold;

/// What wraps a policy.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    settings: Settings,
    condition: Option<Condition>,
    tools: Option<Vec<Glob>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    monitor: bool,
    on_failure: Option<Failing>,
    #[serde(deserialize_with = "crate::duration::optional")]
    time_limit: Option<Duration>,
    when: Option<Conditions>,
}

/// What happens when a policy fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Failing {
    Open,
    Closed,
}

/// For which requests and tools. What is not said makes no difference.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Conditions {
    models: Vec<String>,
    offers: Vec<String>,
    tools: Vec<String>,
}

impl Common {
    /// Takes the common keys out of a policy's table.
    pub(crate) fn take(table: &mut Table, place: Option<Place>) -> Result<Self, ConfigError> {
        let is_own = |name: &str| KEYS.contains(&name);
        let (own, rest) = std::mem::take(table).into_iter().partition(|(key, _)| is_own(&key.name));
        *table = rest;
        let node = Node::new(place, Value::Table(own));
        let settings: Settings = de::read(&node)?;
        Self::new(settings).map_err(|error| placed(&error, &node))
    }

    fn new(settings: Settings) -> Result<Self, SettingsError> {
        if settings.time_limit == Some(Duration::ZERO) {
            return Err(SettingsError::new("time_limit", "some time", "none"));
        }
        let (mut condition, mut tools) = (None, None);
        if let Some(when) = &settings.when {
            let models = any(&when.models, Condition::model, "when.models")?;
            let offers = any(&when.offers, Condition::offers, "when.offers")?;
            condition = match (models, offers) {
                (Some(models), Some(offers)) => Some(models.and(offers)),
                (models, offers) => models.or(offers),
            };
            let globs = when
                .tools
                .iter()
                .enumerate()
                .map(|(at, glob)| Glob::new(&fold(glob), &format!("when.tools[{at}]")));
            tools = Some(globs.collect::<Result<Vec<_>, _>>()?).filter(|globs| !globs.is_empty());
            if condition.is_none() && tools.is_none() {
                return Err(SettingsError::new("when", "models, offers or tools", "none of them"));
            }
        }
        Ok(Self { settings, condition, tools })
    }

    /// What is left of a policy's needs, for requests under which it is run.
    pub(crate) fn needs(&self, needs: Needs) -> Needs {
        if self.tools.is_some() { needs_of_calls(needs) } else { needs }
    }

    /// Whether the policy is run for calls of some tools only.
    pub(crate) fn is_for_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// How the policy of one stream is run.
    pub(crate) fn stage(&self, mut stage: Stage) -> Stage {
        if self.condition.is_some() || self.tools.is_some() {
            let condition = self.condition.clone().unwrap_or_else(Condition::always);
            stage = stage.wrap(|policy| When::new(condition, policy).with_tools(self.tools.clone()));
        }
        if let Some(limit) = self.settings.time_limit {
            stage = stage.within(limit);
        }
        stage = match self.settings.on_failure {
            Some(Failing::Open) => stage.fail_open(),
            Some(Failing::Closed) => stage.fail_closed(),
            None => stage,
        };
        if self.settings.monitor { stage.monitor() } else { stage }
    }
}

/// Says under which conditions the policy is run, where there are any.
impl fmt::Display for Common {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(when) = &self.settings.when else { return Ok(()) };
        let said = [("models", &when.models), ("offering", &when.offers), ("tools", &when.tools)];
        let said = said.iter().filter(|(_, globs)| !globs.is_empty());
        let said: Vec<String> = said.map(|(what, globs)| format!("{what} {}", globs.join(" or "))).collect();
        f.write_str(&said.join(", "))
    }
}

/// One of the globs fits.
fn any(
    globs: &[String],
    condition: impl Fn(&str) -> Result<Condition, SettingsError>,
    place: &str,
) -> Result<Option<Condition>, SettingsError> {
    let mut found: Option<Condition> = None;
    for (at, glob) in globs.iter().enumerate() {
        let next = condition(glob).map_err(|error| error.moved(format!("{place}[{at}]")))?;
        found = Some(match found {
            Some(found) => found.or(next),
            None => next,
        });
    }
    Ok(found)
}

/// An error on a key that a kind does not know, with the keys that all kinds know.
pub(crate) fn with_common_keys(error: ConfigError, settings: &Node) -> ConfigError {
    let own: Vec<&str> = ["kind"].into_iter().chain(KEYS.iter().copied()).collect();
    with_keys(error, settings, &own)
}

/// An error on a key of a table that is not known, with more keys that are.
pub(crate) fn with_keys(error: ConfigError, table: &Node, more: &[&str]) -> ConfigError {
    let Some((known, found)) = error.unknown_key() else { return error };
    let Value::Table(members) = &table.value else { return error };
    // Only a key of this very table: those inside of it have no such keys beside them.
    if !error.path().is_empty() || !members.iter().any(|(key, _)| key.name == found) {
        return error;
    }
    let known: Vec<&str> = known.iter().map(String::as_str).chain(more.iter().copied()).collect();
    ConfigError::unknown("key", &found, &known).at(error.place())
}

const KEYS: &[&str] = &["monitor", "on_failure", "time_limit", "when"];
