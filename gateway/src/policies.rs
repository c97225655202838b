//! The policies of a replay.

use std::path::Path;

use stream_core::{Passthrough, Policy};
use stream_http::Api;
use stream_policies::PolicySet;

use crate::config::Config;

/// Makes the policies of each stream: those of a file, or one that lets everything pass.
#[derive(Debug, Clone, Default)]
pub(crate) struct Policies {
    set: Option<PolicySet>,
    ask_over_network: bool,
}

impl Policies {
    /// The policies that a file has for answers of this API.
    pub(crate) fn load(file: Option<&Path>, api: Option<&str>) -> Result<Self, String> {
        let api = api.and_then(|name| Api::ALL.into_iter().find(|api| api.name() == name));
        let config = file.map(Config::load).transpose()?;
        let ask_over_network = config.as_ref().is_some_and(Config::asks_over_network);
        Ok(Self { set: config.map(|config| config.policies_of_log(api).clone()), ask_over_network })
    }

    /// Whether one of them waits for an answer from elsewhere.
    pub(crate) fn ask_over_network(&self) -> bool {
        self.ask_over_network
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.set.as_ref().map_or(1, PolicySet::len)
    }

    /// A stream's settings with what the file says of them. A log does not tell which model was asked.
    pub(crate) fn configure(&self, config: stream_core::Config) -> stream_core::Config {
        match &self.set {
            Some(set) => set.configure(config, None),
            None => config,
        }
    }

    /// The policy at this place of the chain, for one stream.
    pub(crate) fn policy(&self, place: usize) -> Box<dyn Policy> {
        let policy = self.set.as_ref().and_then(|set| set.chain().into_iter().nth(place));
        policy.unwrap_or_else(|| Box::new(Passthrough))
    }
}
