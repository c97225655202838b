//! An axum app with the layer: one line around the routes that answer for a model.
//!
//! `cargo run -p snippets --example axum_app`, and in another terminal
//! `curl -N http://127.0.0.1:3000/v1/chat/completions -d '{"model":"some-model","stream":true}'`

use std::error::Error;

use axum::Router;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use stream_http::{Facts, Plan, PolicyLayer, Settings};
use stream_policies::{Preset, RedactSettings};
use stream_testkit::{Fragments, Script, WireKind};
use tokio::net::TcpListener;

/// A model, or a request to one with the client of your choice.
async fn answer() -> Response {
    let says = Script::new().text_fragments(Fragments::Chars(4)).text("Write to jane@example.com.");
    ([(CONTENT_TYPE, "text/event-stream")], Body::from(says.bytes(WireKind::OpenAiChat))).into_response()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let redact = RedactSettings::default().preset(Preset::Email).build()?;
    let settings = Settings::new().pass("/healthz");
    let layer = PolicyLayer::with_settings(settings, move |facts: &Facts| match facts.model() {
        Some("trusted") => Plan::new(),
        _ => Plan::new().policy(redact.clone()),
    });
    let app = Router::new()
        .route("/v1/chat/completions", post(answer))
        .route("/healthz", get(async || "fine\n"))
        .layer(layer);

    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let listener = TcpListener::bind(address).await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
