//! Tools of MCP servers, with the official SDK: over stdio and streamable HTTP.
//!
//! A server's tools are listed when it is added to a set of tools, and offered to the model in the API's own form.
//!
//! ```no_run
//! use stream_http::tool_loop::Tools;
//! use stream_http::tool_loop::mcp::McpServer;
//!
//! # async fn tools() -> Result<Tools, stream_http::tool_loop::ToolsError> {
//! let files = McpServer::stdio("mcp-server-files", ["/srv/data"]).prefix("files_").only(["read_*"]);
//! let search = McpServer::http("http://127.0.0.1:9000/mcp");
//! Tools::new().mcp(files).await?.mcp(search).await
//! # }
//! ```

mod bounded;
mod content;
mod server;
mod session;

pub use self::server::{McpConnection, McpServer};

use super::tools::{Tools, ToolsError};

impl Tools {
    /// Connects to a server, unless the connection is open already, lists its tools and adds them.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, does not answer in time, has no tool that is wanted, or has one whose name is
    /// taken.
    pub async fn mcp(self, server: impl Into<McpConnection>) -> Result<Self, ToolsError> {
        let McpConnection(connected) = server.into();
        let label = connected.label();
        let listed =
            connected.list().await.map_err(|error| ToolsError(format!("MCP server {label}: {error}")))?;
        listed.into_iter().try_fold(self, |tools, (spec, executor)| {
            tools.offer(spec, executor).map_err(|error| ToolsError(format!("MCP server {label}: {error}")))
        })
    }
}
