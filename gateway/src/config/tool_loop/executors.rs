//! Who runs the tools of a file: HTTP endpoints and MCP servers.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use stream_http::tool_loop::mcp::McpServer;
use stream_http::tool_loop::{HttpExecutor, ToolSpec, Tools};
use toml::Spanned;

use super::Fault;
use super::time;

/// An endpoint, and what it runs: a tool that is offered, or calls that are taken over.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpFile {
    url: Spanned<String>,
    key_env: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
    description: Option<Spanned<String>>,
    parameters: Option<Spanned<toml::Table>>,
    take_over: Option<Spanned<Vec<Spanned<String>>>>,
}

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

impl HttpFile {
    pub(super) fn add(&self, tools: Tools, text: &str, here: &Range<usize>) -> Result<Tools, Fault> {
        let mut executor = HttpExecutor::new(self.url.get_ref())
            .map_err(|message| Fault::at(text, &self.url.span(), message))?;
        if let Some(key) = &self.key_env {
            let value = format!("Bearer {}", secret(key, text)?);
            executor = executor.header("authorization", &value).map_err(|_| {
                let message = format!(
                    "expected a key that a header can hold in the environment variable {:?}",
                    key.get_ref()
                );
                Fault::at(text, &key.span(), message)
            })?;
        }
        match (&self.name, &self.take_over) {
            (Some(name), None) => self.offer(tools, executor, name, text),
            (None, Some(globs)) => self.take_over(tools, &executor, globs, text),
            (Some(_), Some(_)) => Err(Fault::at(
                text,
                here,
                "expected the name of a tool to offer, or globs to take_over, found both",
            )),
            (None, None) => Err(Fault::at(
                text,
                here,
                "expected the name of a tool to offer, or globs to take_over, found neither",
            )),
        }
    }

    fn offer(
        &self,
        tools: Tools,
        executor: HttpExecutor,
        name: &Spanned<String>,
        text: &str,
    ) -> Result<Tools, Fault> {
        let description = self.description.as_ref().map(|text| text.get_ref().as_str());
        let mut spec = ToolSpec::new(name.get_ref(), description.unwrap_or_default());
        if let Some(parameters) = &self.parameters {
            let kind = parameters.get_ref().get("type").and_then(toml::Value::as_str);
            if kind != Some("object") {
                let found = kind.map_or("none".to_owned(), |kind| format!("{kind:?}"));
                let message = format!("expected a JSON Schema whose type is \"object\", found {found}");
                return Err(Fault::at(text, &parameters.span(), message));
            }
            let schema = serde_json::to_string(parameters.get_ref())
                .map_err(|error| Fault::at(text, &parameters.span(), error))?;
            spec = spec.parameters(schema);
        }
        tools.offer(spec, executor).map_err(|error| Fault::at(text, &name.span(), error))
    }

    fn take_over(
        &self,
        mut tools: Tools,
        executor: &HttpExecutor,
        globs: &Spanned<Vec<Spanned<String>>>,
        text: &str,
    ) -> Result<Tools, Fault> {
        // The client offers these tools: nothing else would be read.
        let description = self.description.as_ref().map(|said| ("description", said.span()));
        let parameters = self.parameters.as_ref().map(|said| ("parameters", said.span()));
        if let Some((key, span)) = description.or(parameters) {
            let message = format!("expected {key} beside a name, found take_over");
            return Err(Fault::at(text, &span, message));
        }
        if globs.get_ref().is_empty() {
            return Err(Fault::at(text, &globs.span(), "expected names of tools such as calc_*, found none"));
        }
        for glob in globs.get_ref() {
            let fault = |message: String| Fault::at(text, &glob.span(), message);
            if glob.get_ref().is_empty() {
                return Err(fault("expected the name of a tool such as calc_*, found none".to_owned()));
            }
            tools = tools
                .take_over(glob.get_ref(), executor.clone())
                .map_err(|error| fault(error.to_string()))?;
        }
        Ok(tools)
    }
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

/// A key from the environment.
fn secret(name: &Spanned<String>, text: &str) -> Result<String, Fault> {
    let found = std::env::var(name.get_ref()).ok().filter(|key| !key.trim().is_empty());
    found.ok_or_else(|| {
        let message = format!("expected a key in the environment variable {:?}, found none", name.get_ref());
        Fault::at(text, &name.span(), message)
    })
}
