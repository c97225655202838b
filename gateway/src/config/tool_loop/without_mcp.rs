//! MCP servers, which this program cannot reach.

use std::convert::Infallible;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;
use stream_http::tool_loop::{Tools, ToolsError};

use super::Fault;
use crate::missing;

/// A server.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct McpFile(IgnoredAny);

impl McpFile {
    pub(super) fn build(&self, text: &str, here: &Range<usize>) -> Result<McpServer, Fault> {
        let Self(IgnoredAny) = self;
        Err(Fault::at(text, here, missing::feature("mcp", "tool_loop.mcp")))
    }
}

/// A server that could be reached: there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct McpServer(Infallible);

/// The connection to a server: there is none.
#[derive(Debug, Clone)]
pub(crate) struct McpConnection(McpServer);

impl McpConnection {
    pub(super) fn server(&self) -> &McpServer {
        &self.0
    }
}

impl From<McpServer> for McpConnection {
    fn from(server: McpServer) -> Self {
        Self(server)
    }
}

/// Adds the tools of a server.
pub(super) async fn add(_: Tools, connection: McpConnection) -> Result<Tools, ToolsError> {
    match connection.0.0 {}
}
