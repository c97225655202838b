//! What a gateway is to do: from a file, or the demonstration.

mod call_tags;
mod doors;
mod duration;
mod envoy;
mod fault;
mod file;
mod glob;
mod route;
mod session;
mod telemetry;
mod tool_loop;
mod upstream;
mod which;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stream_core::Limits;
use stream_core::SessionKey;
use stream_http::{Api, Facts, Settings};
use stream_policies::{PolicySet, Registry};

pub(crate) use self::duration::duration;
pub(crate) use self::envoy::Envoy;
pub(crate) use self::fault::Fault;
use self::route::Route;
pub(crate) use self::tool_loop::{LoopConfig, McpConnection};
pub(crate) use self::upstream::{Keys, Target, Targets};
use crate::doors::{ClientName, Clients};
use crate::listen::{Connections, TlsFiles};
use crate::telemetry::Collector;

/// Everything that a file says.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    /// Where metrics and the live page are.
    pub(crate) admin: Option<SocketAddr>,
    /// The live page shows text of streams.
    pub(crate) live_content: bool,
    /// Everybody who reaches the listener may use the upstreams' keys.
    open: bool,
    pub(crate) clients: Clients,
    pub(crate) tls: Option<TlsFiles>,
    pub(crate) connections: Connections,
    pub(crate) targets: Targets,
    /// The time between two chunks of the program's own answers.
    pub(crate) pace: Duration,
    pub(crate) settings: Settings,
    /// What one stream may use; also a part of the settings.
    pub(crate) limits: Limits,
    /// The longest whole answer; also a part of the settings.
    pub(crate) whole_limit: usize,
    pub(crate) interleaved_calls: bool,
    pub(crate) record: Option<Record>,
    pub(crate) request_log: Option<PathBuf>,
    /// The tools that the gateway runs itself.
    pub(crate) tool_loop: Option<LoopConfig>,
    pub(crate) telemetry: Option<Collector>,
    /// What only `gateway envoy` looks at.
    pub(crate) envoy: Envoy,
    /// The files that were read beside the first.
    pub(crate) files: Vec<PathBuf>,
    /// All requests of a client are one session.
    session_is_client: bool,
    routes: Vec<Route>,
    policies: PolicySet,
    asks_over_network: bool,
}

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) directory: PathBuf,
    /// Only answers to these clients; `None`: to everybody.
    pub(crate) clients: Option<Vec<String>>,
}

impl Config {
    /// Reads a file.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        Self::load_with(path, Keys::Read)
    }

    /// Reads a file, with or without the upstreams' keys.
    pub(crate) fn load_with(path: &Path, keys: Keys) -> Result<Self, String> {
        let text = read(path)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, directory, keys).map_err(|fault| format!("{}: {fault}", path.display()))
    }

    /// The policies of the demonstration, and no upstreams: the program's own answers.
    pub(crate) fn demo() -> Result<Self, String> {
        Self::parse(DEMO, Path::new(""), Keys::Read).map_err(|fault| format!("demo.toml: {fault}"))
    }

    fn parse(text: &str, directory: &Path, keys: Keys) -> Result<Self, Fault> {
        let file = file::File::parse(text)?;
        let policies = Registry::new().read_toml_beside(text, file::KEYS)?;
        file.build(text, directory, policies, keys)
    }

    /// The policies of a request.
    pub(crate) fn policies(&self, facts: &Facts) -> &PolicySet {
        let client = facts.extensions().get::<ClientName>().map(|name| &*name.0);
        self.policies_for(facts.api(), facts.model(), facts.uri().path(), client)
    }

    /// The session of a request, where it is not just what the request tells: clients do not share sessions, whatever
    /// they call them.
    pub(crate) fn session(&self, facts: &Facts) -> Option<SessionKey> {
        let client = facts.extensions().get::<ClientName>()?;
        if self.session_is_client {
            return Some(SessionKey::new(&*client.0));
        }
        let told = facts.request().get::<SessionKey>()?;
        // A client's name has no blank: no two pairs give the same key.
        Some(SessionKey::new(format!("{client} {}", told.as_str())))
    }

    /// The policies of a request of which this is known.
    pub(crate) fn policies_for(
        &self,
        api: Api,
        model: Option<&str>,
        path: &str,
        client: Option<&str>,
    ) -> &PolicySet {
        let route = self.routes.iter().find(|route| route.is_for(api, model, path, client));
        route.map_or(&self.policies, Route::policies)
    }

    /// Refuses to give the key of an upstream to everybody who reaches the listener.
    pub(crate) fn check_doors(&self) -> Result<(), String> {
        let given_away =
            self.targets.have_keys() && self.clients.is_empty() && !self.listen.ip().is_loopback();
        if given_away && !self.open {
            return Err(format!(
                "expected [[client]] entries, or open = true, because everybody who reaches {} may use the \
                 upstream's key of key_env, found neither",
                self.listen
            ));
        }
        let runs_for_all =
            self.tool_loop.is_some() && self.clients.is_empty() && !self.listen.ip().is_loopback();
        if runs_for_all && !self.open {
            return Err(format!(
                "expected [[client]] entries, or open = true, because everybody who reaches {} may have the tools of \
                 tool_loop run, found neither",
                self.listen
            ));
        }
        Ok(())
    }

    /// Whether a policy has judges that are asked over a network.
    pub(crate) fn asks_over_network(&self) -> bool {
        self.asks_over_network
    }

    /// The policies for every request that no route is for.
    pub(crate) fn policies_of_the_rest(&self) -> &PolicySet {
        &self.policies
    }

    /// What a command that runs no tools tells of the file's tool loop, if it has one.
    pub(crate) fn without_tool_loop(&self, file: &Path) -> Option<String> {
        self.tool_loop.as_ref().map(|_| {
            format!(
                "{}: tool_loop: no tool is run here: every recorded answer goes through the policies by itself, and calls of \
                 these tools are shown as the loop would get them",
                file.display()
            )
        })
    }

    /// What is policed how, to be said at start.
    pub(crate) fn describe(&self) -> String {
        let mut text =
            format!("policies, for every answer that no route is for:\n{}", self.policies.describe());
        for route in &self.routes {
            text += &format!("policies, {route}:\n{}", route.policies().describe());
        }
        text
    }
}

/// Whether a policy file names a judge that is asked over a network.
fn names_network(text: &str) -> bool {
    let file: toml::Table = text.parse().unwrap_or_default();
    let policies = file.get("policy").and_then(toml::Value::as_array);
    policies.is_some_and(|list| list.iter().any(|policy| NETWORK.iter().any(|key| policy.get(key).is_some())))
}

/// Reads a text file.
fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: cannot be read: {error}", path.display()))
}

/// The policy file of the demonstration.
pub(crate) const DEMO: &str = include_str!("../../demo.toml");
/// The judges that are asked over a network.
const NETWORK: [&str; 2] = ["webhook", "model"];
