//! A session with a server.

use std::process::Stdio;

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ServerResult, Tool};
use rmcp::service::{PeerRequestOptions, RequestHandle, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};
use tokio::process::{Child, Command};

use super::super::executor::ToolResult;
use super::bounded::Bounded;
use super::content;
use super::server::Place;

/// A session that was opened. Dropping it closes it, and stops the program.
pub(super) struct Session {
    service: RunningService<RoleClient, ()>,
    _child: Option<Child>,
}

impl Session {
    pub(super) async fn open(place: &Place) -> Result<Self, String> {
        match place {
            Place::Stdio { program, arguments, environment } => {
                let mut command = Command::new(program);
                command.args(arguments).kill_on_drop(true).env_clear();
                command
                    .envs(std::env::vars_os().filter(|(name, _)| PASSED.iter().any(|passed| name == passed)));
                command.envs(environment.iter().cloned());
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
                let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
                let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
                    return Err("cannot be spoken with".to_owned());
                };
                let service =
                    ().serve((Bounded::new(output), input))
                        .await
                        .map_err(|error| format!("no session: {error}"))?;
                Ok(Self { service, _child: Some(child) })
            }
            Place::Http { url, authorization } => {
                // Without a provider the client cannot be made; one that the process has chosen stays.
                let _ = rustls::crypto::ring::default_provider().install_default();
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config.auth_header.clone_from(authorization);
                let transport = StreamableHttpClientTransport::from_config(config);
                // A query may be a key: it is not told.
                let known = url.split('?').next().unwrap_or_default();
                let told = |error: &dyn std::fmt::Display| error.to_string().replace(url.as_str(), known);
                let service = ().serve(transport).await;
                let service = service.map_err(|error| format!("no session: {}", told(&error)))?;
                Ok(Self { service, _child: None })
            }
        }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }

    pub(super) async fn list(&self) -> Result<Vec<Tool>, String> {
        self.service.list_all_tools().await.map_err(|error| format!("its tools cannot be listed: {error}"))
    }

    /// Runs a call. The server is told when nobody waits for its result any more.
    pub(super) async fn call(&self, params: CallToolRequestParams) -> ToolResult {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = self.service.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let Ok(handle) = sent else {
            return ToolResult::error("the tool's server cannot be reached");
        };
        let mut waiting = Waiting(Some(handle));
        let Some(handle) = &mut waiting.0 else { return ToolResult::error("the tool failed") };
        let answer = (&mut handle.rx).await;
        // Answered: there is nothing to cancel.
        waiting.0 = None;
        match answer {
            Ok(Ok(ServerResult::CallToolResult(result))) => content::result(&result),
            Ok(Ok(_)) => ToolResult::error("the tool's server answered with something else than a result"),
            Ok(Err(ServiceError::McpError(error))) => ToolResult::error(error.message.to_string()),
            Ok(Err(_)) | Err(_) => ToolResult::error("the tool's server broke off"),
        }
    }
}

/// A call that waits for its answer.
struct Waiting(Option<RequestHandle<RoleClient>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                let _ = handle.cancel(Some("nobody waits for the result".to_owned())).await;
            });
        }
    }
}

/// What a program gets of this process's environment: nothing that may be a key.
const PASSED: [&str; 17] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "LANG",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "PATHEXT",
    "TEMP",
    "TMP",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
];
