//! The policies of a replay.

use std::io::Write as _;
use std::path::Path;

use stream_core::{CallTags, Chain, Limits, Passthrough, Request, SessionKey};
use stream_http::{Api, Settings};
use stream_policies::PolicySet;
use stream_testkit::ChunkLog;

use crate::cli;
use crate::config::Config;

/// Makes the policies of each stream: those of a file, or one that lets everything pass.
#[derive(Debug, Clone)]
pub(crate) struct Policies {
    set: Option<PolicySet>,
    limits: Limits,
    whole_limit: usize,
    interleaved_calls: bool,
    request: Request,
    ask_over_network: bool,
}

impl Policies {
    /// The policies that a file has for answers of this API, to the request that the arguments tell; without a file one
    /// that lets everything pass.
    pub(crate) fn load(file: Option<&Path>, api: Option<&str>, asked: &cli::Asked) -> Result<Self, String> {
        let Some(file) = file else {
            return Ok(Self {
                set: None,
                limits: Limits::default(),
                whole_limit: Settings::RESPONSE_LIMIT,
                interleaved_calls: false,
                request: request(asked),
                ask_over_network: false,
            });
        };
        let api = api.and_then(|name| Api::ALL.into_iter().find(|api| api.name() == name));
        let config = Config::load(file)?;
        note_tool_loop(&config, file);
        Ok(Self::for_log(&config, api, asked))
    }

    /// The policies that a configuration has for a log of this API.
    pub(crate) fn for_log(config: &Config, api: Option<Api>, asked: &cli::Asked) -> Self {
        let set = match api {
            Some(api) => {
                config.policies_for(api, asked.model.as_deref(), &asked.path, asked.client.as_deref())
            }
            None => config.policies_of_the_rest(),
        };
        Self {
            set: Some(set.clone()),
            limits: config.limits,
            whole_limit: config.whole_limit,
            interleaved_calls: config.interleaved_calls,
            request: request(asked),
            ask_over_network: config.asks_over_network(),
        }
    }

    /// Whether one of them waits for an answer from elsewhere.
    pub(crate) fn ask_over_network(&self) -> bool {
        self.ask_over_network
    }

    /// Refuses a whole answer that is longer than the layer would read.
    pub(crate) fn check_whole(&self, log: &ChunkLog) -> Result<(), String> {
        let (limit, found) = (self.whole_limit, log.bytes().len());
        if log.is_whole() && found > limit {
            return Err(format!(
                "{}: expected a whole answer of at most {limit} bytes, found {found}",
                log.name()
            ));
        }
        Ok(())
    }

    /// A stream's settings with what the file and the arguments say of them.
    pub(crate) fn configure(&self, config: stream_core::Config) -> stream_core::Config {
        let config = config.limits(self.limits).request(self.request.clone());
        let config = config.interleaved_calls(self.interleaved_calls);
        match &self.set {
            Some(set) => set.configure(config, self.request.model_name()),
            None => config,
        }
    }

    /// The policies of one stream.
    pub(crate) fn chain(&self) -> Chain {
        self.set.as_ref().map_or_else(|| Passthrough.into(), PolicySet::chain)
    }
}

/// Tells on standard error that a file's tool loop is not run over recordings.
pub(crate) fn note_tool_loop(config: &Config, file: &Path) {
    if let Some(note) = config.without_tool_loop(file) {
        // Nobody may be there to read it: that is no reason not to go on.
        let _ = writeln!(std::io::stderr(), "{note}");
    }
}

/// What the arguments tell of the request.
fn request(asked: &cli::Asked) -> Request {
    let request = asked.model.iter().fold(Request::new(), Request::model);
    let request =
        asked.call_tags.iter().fold(request, |request, tags| request.extension(CallTags::new(tags)));
    match &asked.session {
        Some(key) => request.extension(SessionKey::new(key)),
        None => request.without_session(),
    }
}
