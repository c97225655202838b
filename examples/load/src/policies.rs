//! The policies of each way.

use stream_core::{Chain, Passthrough};
use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings};
use stream_policies::{Preset, Redact, RedactSettings, SettingsError, ToolGate};

use crate::way::Way;

/// Makes the policies of a way, one chain per stream.
#[derive(Debug, Clone)]
pub(crate) enum Policies {
    Nothing,
    Passthrough,
    Chain { gate: ToolGate, redact: Redact },
}

impl Policies {
    pub(crate) fn of(way: Way) -> Result<Self, SettingsError> {
        Ok(match way {
            Way::Direct | Way::Bare | Way::Envoy | Way::EnvoyPass => Self::Nothing,
            Way::Layer | Way::EnvoyLayer => Self::Passthrough,
            Way::Chain => {
                let rules = RulesSettings::otherwise(Otherwise::Deny)
                    .allow(Rule::tools(["read_*", "list_*"]))
                    .deny(Rule::tools(["*"]).when(Condition::at("/path").glob("*..*")).because("no way up"))
                    .build()?;
                let redact = RedactSettings::default().preset(Preset::ApiKey).preset(Preset::CloudKey);
                Self::Chain { gate: ToolGate::new(rules), redact: redact.build()? }
            }
        })
    }

    pub(crate) fn chain(&self) -> Chain {
        match self {
            Self::Nothing => Chain::new(),
            Self::Passthrough => Chain::new().then(Passthrough),
            Self::Chain { gate, redact } => Chain::new().then(gate.clone()).then(redact.clone()),
        }
    }
}
