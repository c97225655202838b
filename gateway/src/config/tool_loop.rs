//! `[tool_loop]`: the tools that the gateway runs itself.

#[cfg(feature = "http")]
mod http;
#[cfg(not(feature = "http"))]
#[path = "tool_loop/without_http.rs"]
mod http;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(not(feature = "mcp"))]
#[path = "tool_loop/without_mcp.rs"]
mod mcp;
#[cfg(any(feature = "http", feature = "mcp"))]
mod secret;

use serde::Deserialize;
use stream_http::Facts;
use stream_http::tool_loop::{AtLimit, Clash, LoopSettings, Tools};
use toml::Spanned;

use self::http::HttpFile;
pub(crate) use self::mcp::McpConnection;
use self::mcp::{McpFile, McpServer};
use super::duration::time;
use super::which::Which;
use super::{Fault, Keys};
use crate::doors::Clients;
use crate::tools;

/// The loop as a file says it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolLoopFile {
    max_iterations: Option<Spanned<u32>>,
    total_time: Option<Spanned<String>>,
    total_bytes: Option<Spanned<usize>>,
    deadline: Option<Spanned<String>>,
    result_bytes: Option<Spanned<usize>>,
    notice: Option<Spanned<String>>,
    separator: Option<String>,
    at_limit: Option<AtLimitFile>,
    clash: Option<ClashFile>,
    #[serde(default)]
    apis: Vec<Spanned<String>>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    clients: Vec<Spanned<String>>,
    #[serde(default)]
    builtin: Vec<Spanned<String>>,
    #[serde(default)]
    http: Vec<Spanned<HttpFile>>,
    #[serde(default)]
    mcp: Vec<Spanned<McpFile>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AtLimitFile {
    Finish,
    Error,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ClashFile {
    Client,
    Refuse,
}

/// The loop of a gateway. MCP servers are reached when the gateway starts, not when the file is read.
#[derive(Debug, Clone)]
pub(crate) struct LoopConfig {
    pub(crate) settings: LoopSettings,
    which: Which,
    tools: Tools,
    servers: Vec<McpServer>,
}

impl LoopConfig {
    pub(super) fn build(
        file: &Spanned<ToolLoopFile>,
        text: &str,
        clients: &Clients,
        keys: Keys,
    ) -> Result<Self, Fault> {
        let here = file.span();
        if keys == Keys::Leave {
            let message = "expected no tool_loop beside Envoy, which sends every request once and cannot be made to ask again, \
                           found one: serve it with `gateway serve`";
            return Err(Fault::at(text, &here, message));
        }
        let file = file.get_ref();
        let mut tools = Tools::new();
        for name in &file.builtin {
            tools = tools::builtin(tools, name.get_ref())
                .map_err(|error| Fault::at(text, &name.span(), error))?;
        }
        for endpoint in &file.http {
            tools = endpoint.get_ref().add(tools, text, &endpoint.span())?;
        }
        let servers = file.mcp.iter().map(|server| server.get_ref().build(text, &server.span()));
        let servers: Vec<McpServer> = servers.collect::<Result<_, _>>()?;
        if tools.is_empty() && servers.is_empty() {
            return Err(Fault::at(text, &here, "expected builtin, http or mcp tools, found none"));
        }
        let ToolLoopFile { apis, models, paths, clients: of, .. } = file;
        let which = Which::build(apis, models, paths, of, clients, text)?;
        Ok(Self { settings: file.settings(text)?, which, tools, servers })
    }

    /// Whether a request is looped.
    pub(crate) fn is_for(&self, facts: &Facts) -> bool {
        self.which.is_for_facts(facts)
    }

    /// The tools, those of MCP servers included, and the connections to these. A server that did not change keeps its
    /// connection, and is asked for its tools again.
    pub(crate) async fn reach(&self, kept: &[McpConnection]) -> Result<(Tools, Vec<McpConnection>), String> {
        let mut tools = self.tools.clone();
        let mut connections = Vec::new();
        for server in &self.servers {
            let connection = kept.iter().find(|connection| connection.server() == server).cloned();
            let connection = connection.unwrap_or_else(|| server.clone().into());
            tools =
                mcp::add(tools, connection.clone()).await.map_err(|error| format!("tool_loop: {error}"))?;
            connections.push(connection);
        }
        Ok((tools, connections))
    }

    /// What is run for whom, to be said at start.
    pub(crate) fn describe(&self, tools: &Tools) -> String {
        let whose = if self.which.is_everything() { String::new() } else { format!(", {}", self.which) };
        format!("tools that the gateway runs itself{whose}:\n{}", tools.describe())
    }
}

impl ToolLoopFile {
    fn settings(&self, text: &str) -> Result<LoopSettings, Fault> {
        let mut settings = LoopSettings::new();
        if let Some(times) = &self.max_iterations {
            settings = settings.max_iterations(at_least_one(times, text)?);
        }
        if let Some(said) = &self.total_time {
            settings = settings.total_time(time(said, text)?);
        }
        if let Some(said) = &self.deadline {
            settings = settings.deadline(time(said, text)?);
        }
        if let Some(bytes) = &self.total_bytes {
            settings = settings.total_bytes(at_least_one(bytes, text)?);
        }
        if let Some(bytes) = &self.result_bytes {
            settings = settings.result_bytes(at_least_one(bytes, text)?);
        }
        if let Some(notice) = &self.notice {
            if notice.get_ref().trim().is_empty() {
                let message = "expected a text such as [running {tool}], found none";
                return Err(Fault::at(text, &notice.span(), message));
            }
            settings = settings.notice(notice.get_ref());
        }
        if let Some(separator) = &self.separator {
            settings = settings.separator(separator);
        }
        if let Some(AtLimitFile::Error) = self.at_limit {
            settings = settings.at_limit(AtLimit::Error);
        }
        if let Some(ClashFile::Refuse) = self.clash {
            settings = settings.clash(Clash::Refuse);
        }
        Ok(settings)
    }
}

fn at_least_one<N: Copy + Default + PartialEq>(number: &Spanned<N>, text: &str) -> Result<N, Fault> {
    let found = *number.get_ref();
    if found == N::default() {
        return Err(Fault::at(text, &number.span(), "expected at least 1, found 0"));
    }
    Ok(found)
}
