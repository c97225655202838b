//! The ways that are compared.

use std::fmt;

use clap::ValueEnum;

/// A way from the upstream to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// The client talks to the upstream.
    Direct,
    /// A proxy that passes everything on.
    Bare,
    /// The same proxy in the layer, with a policy that looks at nothing.
    Layer,
    /// The same proxy in the layer, with a gate for tool calls and redaction.
    Chain,
    /// Envoy, without a processor.
    Envoy,
    /// Envoy with a processor that sends every message back.
    EnvoyPass,
    /// Envoy with the layer as its processor, with a policy that looks at nothing.
    EnvoyLayer,
}

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Bare => "bare",
            Self::Layer => "layer",
            Self::Chain => "chain",
            Self::Envoy => "envoy",
            Self::EnvoyPass => "envoy-pass",
            Self::EnvoyLayer => "envoy-layer",
        }
    }

    /// Whether Envoy is on it.
    pub(crate) fn has_envoy(self) -> bool {
        matches!(self, Self::Envoy | Self::EnvoyPass | Self::EnvoyLayer)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
