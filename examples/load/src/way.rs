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
}

impl Way {
    pub(crate) const ALL: [Self; 4] = [Self::Direct, Self::Bare, Self::Layer, Self::Chain];
    pub(crate) const PROXIES: [Self; 3] = [Self::Bare, Self::Layer, Self::Chain];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Bare => "bare",
            Self::Layer => "layer",
            Self::Chain => "chain",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
