//! A server, as a file or a program names it, and its tools.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, Tool};
use stream_core::async_trait;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::super::executor::{Call, Executor, ToolResult};
use super::super::tools::{ToolSpec, matches};
use super::session::Session;
use crate::Facts;

/// An MCP server, and which of its tools are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct McpServer {
    pub(super) place: Place,
    prefix: String,
    only: Vec<String>,
    start: Duration,
}

/// Where a server is.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A program that is started, and speaks on its standard input and output.
    Stdio { program: String, arguments: Vec<String>, environment: Vec<(String, String)> },
    /// An address that speaks streamable HTTP.
    Http { url: String, authorization: Option<String> },
}

impl McpServer {
    /// A server that is started as a program. The program ends with the last set of tools that has it.
    pub fn stdio<A: Into<String>>(
        program: impl Into<String>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self::at(Place::Stdio { program: program.into(), arguments, environment: Vec::new() })
    }

    /// A server at an address, over streamable HTTP.
    pub fn http(url: impl Into<String>) -> Self {
        Self::at(Place::Http { url: url.into(), authorization: None })
    }

    fn at(place: Place) -> Self {
        Self { place, prefix: String::new(), only: Vec::new(), start: Duration::from_secs(10) }
    }

    /// Sets what stands before the names of its tools, as the model knows them.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Offers only tools whose own names match one of these globs.
    pub fn only<G: Into<String>>(mut self, globs: impl IntoIterator<Item = G>) -> Self {
        self.only = globs.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how long a server may take to start, and how long to list its tools: 10 s each unless set.
    pub fn start(mut self, time: Duration) -> Self {
        self.start = time;
        self
    }

    /// Sets a variable of the program's environment. A server over HTTP has none.
    ///
    /// Of the environment of this process, which may hold keys, a program gets only what every program needs: `PATH`,
    /// `HOME`, `USER`, `SHELL`, `TERM`, `TMPDIR`, `TZ` and `LANG`, and their like on Windows.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Place::Stdio { environment, .. } = &mut self.place {
            environment.push((name.into(), value.into()));
        }
        self
    }

    /// Sets the token of the `Authorization` header, without its word `Bearer`. A program has none.
    pub fn bearer(mut self, token: impl Into<String>) -> Self {
        if let Place::Http { authorization, .. } = &mut self.place {
            *authorization = Some(token.into());
        }
        self
    }

    /// What errors call it.
    pub(super) fn label(&self) -> String {
        self.place.label()
    }
}

impl fmt::Debug for Place {
    /// Values of variables, arguments and tokens may be secrets, and are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.label()).finish()
    }
}

impl Place {
    /// What errors call it: without what may be a secret.
    fn label(&self) -> String {
        match self {
            Self::Stdio { program, .. } => program.clone(),
            Self::Http { url, .. } => url.split('?').next().unwrap_or_default().to_owned(),
        }
    }
}

/// A connection to an MCP server: clones share one session.
///
/// A program that reads its configuration anew keeps the connections to servers that did not change, so that they go on:
/// the tools are [listed](super::super::Tools::mcp) again over the same session. A server ends with its last connection and
/// the last set of tools that has it.
#[derive(Clone)]
pub struct McpConnection(pub(super) Arc<Connected>);

impl McpConnection {
    /// The server.
    pub fn server(&self) -> &McpServer {
        &self.0.server
    }
}

impl From<McpServer> for McpConnection {
    /// Connects when the tools are listed.
    fn from(server: McpServer) -> Self {
        Self(Arc::new(Connected::new(server)))
    }
}

impl fmt::Debug for McpConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpConnection").field(self.server()).finish()
    }
}

/// A server that was reached. A session that ended is opened again by the next call.
pub(super) struct Connected {
    server: McpServer,
    session: Mutex<Option<Arc<Session>>>,
}

impl Connected {
    pub(super) fn new(server: McpServer) -> Self {
        Self { server, session: Mutex::new(None) }
    }

    /// What errors call the server.
    pub(super) fn label(&self) -> String {
        self.server.label()
    }

    /// The tools that are wanted, each with who runs it.
    pub(super) async fn list(self: &Arc<Self>) -> Result<Vec<(ToolSpec, McpTool)>, String> {
        // The session has a deadline of its own: of two deadlines at one time, either would be told.
        let session = self.session().await?;
        let tools = timeout(self.server.start, session.list()).await;
        let tools = tools
            .map_err(|_| format!("expected its tools within {:?}, found silence", self.server.start))??;
        let wanted = |tool: &Tool| {
            self.server.only.is_empty() || self.server.only.iter().any(|glob| matches(glob, &tool.name))
        };
        let tools: Vec<Tool> = tools.into_iter().filter(wanted).collect();
        if tools.is_empty() {
            return Err("expected a tool that is wanted, found none".to_owned());
        }
        Ok(tools.into_iter().map(|tool| self.tool(&tool)).collect())
    }

    fn tool(self: &Arc<Self>, tool: &Tool) -> (ToolSpec, McpTool) {
        let schema = serde_json::to_string(&*tool.input_schema).unwrap_or_default();
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        let spec = ToolSpec::new(self.name(&tool.name), description).parameters(schema);
        (spec, McpTool { server: Arc::clone(self), name: tool.name.to_string() })
    }

    /// The name by which the model knows a tool. Characters that an API does not take become `_`.
    fn name(&self, name: &str) -> String {
        let fits = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
        let name = name.chars().map(|char| if fits(char) { char } else { '_' });
        self.server.prefix.chars().chain(name).collect()
    }

    async fn session(&self) -> Result<Arc<Session>, String> {
        let mut session = self.session.lock().await;
        match session.as_ref().filter(|session| session.is_open()) {
            Some(open) => Ok(Arc::clone(open)),
            None => {
                // The old program, if there is one, ends before another starts.
                *session = None;
                let opening = timeout(self.server.start, Session::open(&self.server.place)).await;
                let opened = opening.map_err(|_| {
                    format!("expected a server within {:?}, found silence", self.server.start)
                })?;
                Ok(Arc::clone(session.insert(Arc::new(opened?))))
            }
        }
    }
}

/// Runs one tool of a server.
pub(super) struct McpTool {
    server: Arc<Connected>,
    name: String,
}

#[async_trait]
impl Executor for McpTool {
    async fn run(&self, call: &Call, _: &Facts) -> ToolResult {
        let Ok(arguments) = call.parse() else {
            return ToolResult::error("the arguments are no JSON object");
        };
        let Ok(session) = self.server.session().await else {
            return ToolResult::error("the tool's server cannot be reached");
        };
        let params = CallToolRequestParams::new(self.name.clone()).with_arguments(arguments);
        session.call(params).await
    }
}
