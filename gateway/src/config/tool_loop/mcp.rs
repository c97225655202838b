//! MCP servers that run tools.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
pub(crate) use stream_http::tool_loop::mcp::{McpConnection, McpServer};
use stream_http::tool_loop::{Tools, ToolsError};
use toml::Spanned;

use super::secret::secret;
use super::{Fault, time};

/// A server: a program, or an address.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpFile {
    command: Option<Spanned<Vec<String>>>,
    url: Option<Spanned<String>>,
    key_env: Option<Spanned<String>>,
    env: Option<Spanned<BTreeMap<String, String>>>,
    env_from: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(default)]
    prefix: String,
    only: Option<Spanned<Vec<String>>>,
    start: Option<Spanned<String>>,
}

impl McpFile {
    pub(super) fn build(&self, text: &str, here: &Range<usize>) -> Result<McpServer, Fault> {
        let mut server = match (&self.command, &self.url) {
            (Some(command), None) => self.program(command, text)?,
            (None, Some(url)) => self.address(url, text)?,
            (Some(_), Some(_)) => {
                return Err(Fault::at(
                    text,
                    here,
                    "expected a command or a url of an MCP server, found both",
                ));
            }
            (None, None) => {
                return Err(Fault::at(
                    text,
                    here,
                    "expected a command or a url of an MCP server, found neither",
                ));
            }
        };
        if let Some(start) = &self.start {
            server = server.start(time(start, text)?);
        }
        if let Some(only) = &self.only {
            if only.get_ref().is_empty() {
                return Err(Fault::at(
                    text,
                    &only.span(),
                    "expected names of tools such as read_*, found none",
                ));
            }
            server = server.only(only.get_ref());
        }
        Ok(server.prefix(&self.prefix))
    }

    fn program(&self, command: &Spanned<Vec<String>>, text: &str) -> Result<McpServer, Fault> {
        let [program, arguments @ ..] = command.get_ref().as_slice() else {
            return Err(Fault::at(text, &command.span(), "expected a program and its arguments, found none"));
        };
        if let Some(key) = &self.key_env {
            let message =
                "expected key_env beside a url, found a command: env_from gives a program variables";
            return Err(Fault::at(text, &key.span(), message));
        }
        let mut server = McpServer::stdio(program, arguments);
        for (name, value) in self.env.iter().flat_map(Spanned::get_ref) {
            server = server.env(name, value);
        }
        for name in self.env_from.iter().flat_map(Spanned::get_ref) {
            server = server.env(name.get_ref(), secret(name, text)?);
        }
        Ok(server)
    }

    fn address(&self, url: &Spanned<String>, text: &str) -> Result<McpServer, Fault> {
        let read: Option<http::Uri> = url.get_ref().parse().ok();
        let is_address = |uri: &http::Uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.host().is_some_and(|host| !host.is_empty())
        };
        if !read.as_ref().is_some_and(is_address) {
            let found = url.get_ref();
            let message = format!("expected an address such as http://127.0.0.1:9000/mcp, found {found:?}");
            return Err(Fault::at(text, &url.span(), message));
        }
        let env = self.env.as_ref().map(|env| ("env", env.span()));
        let env_from = self.env_from.as_ref().map(|names| ("env_from", names.span()));
        if let Some((key, span)) = env.or(env_from) {
            return Err(Fault::at(text, &span, format!("expected {key} beside a command, found a url")));
        }
        let server = McpServer::http(url.get_ref());
        match &self.key_env {
            Some(key) => Ok(server.bearer(secret(key, text)?)),
            None => Ok(server),
        }
    }
}

/// Adds the tools of a server.
pub(super) async fn add(tools: Tools, connection: McpConnection) -> Result<Tools, ToolsError> {
    tools.mcp(connection).await
}
