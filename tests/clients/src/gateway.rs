//! The policed server: the layer of stream-http around a plain proxy.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use stream_core::Limits;
use stream_http::{Facts, Plan, PolicyLayer, Settings};
use stream_policies::PolicySet;
use stream_policies::config::ConfigError;

use crate::scenario::{BY_STATUS, Scenario};

/// A server that polices each scenario's answers by its own policies.
pub(crate) fn gateway(scenarios: &[Scenario], upstream: SocketAddr) -> Result<Router, ConfigError> {
    let mut sets = HashMap::new();
    for scenario in scenarios {
        sets.insert(scenario.name, PolicySet::from_toml(scenario.policies)?);
    }
    let plan = move |facts: &Facts| {
        let name = facts.uri().path().split('/').nth(1).unwrap_or_default();
        let chain = sets.get(name).map(PolicySet::chain).unwrap_or_default();
        chain.into_iter().fold(Plan::new(), Plan::policy)
    };
    let client = Client::builder(TokioExecutor::new()).build_http();
    let forward = move |request: Request| {
        let client: Client<_, Body> = client.clone();
        async move { forward(&client, upstream, request).await }
    };
    let settings = Settings::new().limits(Limits::default().keep_alive(Some(KEEP_ALIVE)));
    let by_status = settings.clone().block_status(StatusCode::FORBIDDEN);
    let told_by_status = Router::new()
        .route(&format!("/{BY_STATUS}/{{*path}}"), any(forward.clone()))
        .layer(PolicyLayer::with_settings(by_status, plan.clone()));
    let told_in_band = Router::new().fallback(forward).layer(PolicyLayer::with_settings(settings, plan));
    Ok(told_by_status.fallback_service(told_in_band))
}

type Connector = hyper_util::client::legacy::connect::HttpConnector;

async fn forward(client: &Client<Connector, Body>, upstream: SocketAddr, mut request: Request) -> Response {
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

/// How long a client waits at most for a sign of life.
const KEEP_ALIVE: Duration = Duration::from_millis(400);
