//! The proxy: bare, or in the layer. But for the layer it is the same program.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use stream_http::{Facts, Plan, PolicyLayer};
use stream_policies::SettingsError;

use crate::policies::Policies;
use crate::way::Way;

/// A proxy of this way.
pub(crate) fn router(way: Way, upstream: SocketAddr) -> Result<Router, SettingsError> {
    let proxy = bare(upstream);
    if matches!(way, Way::Direct | Way::Bare) {
        return Ok(proxy);
    }
    let policies = Policies::of(way)?;
    let plan = move |_: &Facts| Plan::from(policies.chain());
    Ok(proxy.layer(PolicyLayer::new(plan)))
}

/// A proxy that passes everything on.
pub(crate) fn bare(upstream: SocketAddr) -> Router {
    let client = client();
    Router::new().fallback(move |request: Request| {
        let client = client.clone();
        async move { forward(&client, upstream, request).await }
    })
}

/// A client as proxies and the load itself use it.
pub(crate) fn client() -> Client<HttpConnector, Body> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new())
        .pool_idle_timeout(UNUSED)
        .pool_timer(TokioTimer::new())
        .build(connector)
}

async fn forward(
    client: &Client<HttpConnector, Body>,
    upstream: SocketAddr,
    mut request: Request,
) -> Response {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let Ok(uri) = format!("http://{upstream}{target}").parse::<Uri>() else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    *request.uri_mut() = uri;
    match client.request(request).await {
        Ok(response) => response.into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

/// How long a connection waits for its next use. A run is over when no connection is left: it waits at most so long for each hop.
const UNUSED: Duration = Duration::from_secs(2);
