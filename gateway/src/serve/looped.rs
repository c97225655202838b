//! The tool loop around the policies.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use stream_http::RequestBody;
use stream_http::tool_loop::{ToolLoop, Tools};
use tower_service::Service;

use super::meter::Meter;
use crate::config::{Config, McpConnection};
use crate::exchange::Exchange;

/// The connections to MCP servers, which outlive changes of the configuration. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Servers(Arc<Mutex<Vec<McpConnection>>>);

impl Servers {
    /// The tools of a configuration, and the connections to their servers. Nothing is kept yet: the configuration may
    /// still turn out to be a bad one.
    pub(super) async fn reach(&self, config: &Config) -> Result<(Tools, Vec<McpConnection>), String> {
        let Some(tool_loop) = &config.tool_loop else { return Ok((Tools::new(), Vec::new())) };
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tool_loop.reach(&kept).await
    }

    /// Keeps these connections in place of those before: the configuration that has them counts.
    pub(super) fn keep(&self, connections: Vec<McpConnection>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = connections;
    }
}

/// The loop of a configuration over its tools, if it has one.
pub(super) fn layer(config: &Config, tools: Tools, meter: &Meter) -> Option<ToolLoop> {
    let tool_loop = config.tool_loop.clone()?;
    let meter = meter.clone();
    let layer = ToolLoop::new(tools).settings(tool_loop.settings.clone()).routes(config.settings.clone());
    let layer = layer.when(move |facts| tool_loop.is_for(facts));
    Some(layer.observe(move |run, facts| {
        let exchange = facts.extensions().get::<Exchange>();
        let took = u64::try_from(run.took.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(
            tool = run.tool,
            iteration = run.iteration,
            outcome = %run.outcome,
            took_ms = took,
            "ran a tool"
        );
        meter.ran(exchange.and_then(Exchange::client), run);
        if let Some(exchange) = exchange {
            exchange.ran(run);
        }
    }))
}

/// Gives a service bodies of one kind, whether the loop has read them or not.
#[derive(Debug, Clone)]
pub(super) struct Unwrapped<S>(pub(super) S);

impl<S: Service<Request<Body>>> Service<Request<RequestBody<Body>>> for Unwrapped<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<RequestBody<Body>>) -> S::Future {
        self.0.call(request.map(|body| Body::new(body.map_err(axum::Error::new))))
    }
}
