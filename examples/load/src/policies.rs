//! The policies of each way.

use stream_core::Passthrough;
use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings};
use stream_policies::{Chain, Preset, Redact, RedactSettings, Rules, SettingsError, ToolGate};

use crate::way::Way;

/// Makes the policies of a way, one chain per stream.
#[derive(Debug, Clone)]
pub(crate) struct Policies {
    way: Way,
    rules: Rules,
    redact: Redact,
}

impl Policies {
    pub(crate) fn of(way: Way) -> Result<Self, SettingsError> {
        let rules = RulesSettings::otherwise(Otherwise::Deny)
            .allow(Rule::tools(["read_*", "list_*"]))
            .deny(Rule::tools(["*"]).when(Condition::at("/path").glob("*..*")).because("no way up"))
            .build()?;
        let redact = RedactSettings::default().preset(Preset::ApiKey).preset(Preset::CloudKey).build()?;
        Ok(Self { way, rules, redact })
    }

    pub(crate) fn chain(&self) -> Chain {
        match self.way {
            Way::Direct | Way::Bare => Chain::new(),
            Way::Layer => Chain::new().then(Passthrough),
            Way::Chain => Chain::new().then(ToolGate::new(self.rules.clone())).then(self.redact.clone()),
        }
    }
}
