//! The layer in an axum app whose handlers answer for a model: `cargo run -p snippets --bin axum_app`.

use std::net::Ipv4Addr;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::post;
use http::header::CONTENT_TYPE;
use stream_core::Verdict;
use stream_http::{Facts, Plan, PolicyLayer};
use stream_policies::{CompletedCall, ToolGate};
use stream_testkit::{Script, WireKind};
use tokio::net::TcpListener;

/// What stands in for a model. It knows nothing of policies.
async fn chat() -> Response {
    let answer = Script::new().text("I clean up.").call("call_1", "rm", "{}").bytes(WireKind::OpenAiChat);
    let mut response = Response::new(Body::from(answer));
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("text/event-stream"));
    response
}

fn app() -> Router {
    // One plan per answer, chosen by what is known of the request.
    let layer = PolicyLayer::new(|facts: &Facts| match facts.model() {
        Some("trusted") => Plan::new(),
        _ => Plan::new().policy(ToolGate::new(async |call: CompletedCall| match call.name() {
            "rm" => Ok(Verdict::drop("rm is not allowed")),
            _ => Ok(Verdict::Release),
        })),
    });
    Router::new().route("/v1/chat/completions", post(chat)).layer(layer)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 8080)).await?;
    #[allow(clippy::print_stdout)]
    {
        println!("curl http://{}/v1/chat/completions -d '{{\"model\":\"some\"}}'", listener.local_addr()?);
    }
    axum::serve(listener, app()).await
}
