//! A server written with `rmcp`.

use std::sync::Arc;
use std::time::Duration;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::schemars::{self, JsonSchema};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServiceExt as _, tool, tool_router};
use serde::Deserialize;

/// `add`, `fail`, `wait` (tells a file when it was cancelled), `crash` and `huge`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Server;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Numbers {
    a: i64,
    b: i64,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Told {
    /// A file that is written when the call is cancelled.
    file: String,
}

#[tool_router(server_handler)]
impl Server {
    #[tool(description = "Adds two numbers.")]
    fn add(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> String {
        (a + b).to_string()
    }

    #[tool(description = "Always fails.")]
    fn fail(&self) -> Result<CallToolResult, ErrorData> {
        Ok(CallToolResult::error(vec![ContentBlock::text("no such file")]))
    }

    #[tool(description = "Waits.")]
    async fn wait(
        &self,
        Parameters(Told { file }): Parameters<Told>,
        context: RequestContext<RoleServer>,
    ) -> String {
        tokio::select! {
            () = context.ct.cancelled() => {
                std::fs::write(file, "cancelled").unwrap();
                "cancelled".to_owned()
            }
            () = tokio::time::sleep(Duration::from_secs(600)) => "late".to_owned(),
        }
    }

    #[tool(description = "Ends the server.")]
    fn crash(&self) -> String {
        std::process::exit(3)
    }

    #[tool(name = "read.big", description = "A lot of text.")]
    fn huge(&self) -> String {
        "x".repeat(1 << 20)
    }
}

/// Serves on standard input and output.
pub(crate) async fn stdio() {
    let service = Server.serve(rmcp::transport::stdio()).await.unwrap();
    let _ = service.waiting().await;
}

/// Serves over HTTP at this port.
pub(crate) async fn http_until_killed(port: u16) {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    axum::serve(listener, app()).await.unwrap();
}

/// Serves over HTTP; the address.
pub(crate) async fn http() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app()).await });
    format!("http://{address}/mcp")
}

fn app() -> axum::Router {
    let service = StreamableHttpService::new(
        || Ok(Server),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    axum::Router::new().nest_service("/mcp", service)
}
