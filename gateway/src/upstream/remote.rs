//! An upstream over HTTP.

use std::collections::BTreeMap;

use axum::body::Body;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use stream_http::{Api, RequestBody};

use super::connector::{self, Connector};
use super::error;
use crate::config::{Target, Targets};

/// Sends requests on to the upstreams of their APIs.
#[derive(Debug, Clone)]
pub(super) struct Remote {
    targets: Targets,
    /// One for each set of authorities; most upstreams share the usual one.
    clients: BTreeMap<Api, Client<Connector, Body>>,
}

impl Remote {
    pub(super) fn new(targets: Targets) -> Result<Self, String> {
        let usual = client(None)?;
        let mut clients = BTreeMap::new();
        for (api, target) in targets.iter() {
            let client = if connector::is_usual(target) { usual.clone() } else { client(Some(target))? };
            clients.insert(api, client);
        }
        Ok(Self { targets, clients })
    }

    pub(super) async fn answer(&self, api: Api, request: Request<RequestBody<Body>>) -> Response<Body> {
        let (Some(target), Some(client)) = (self.targets.of(api), self.clients.get(&api)) else {
            return error(api, StatusCode::NOT_FOUND, &format!("no upstream is configured for {api}"));
        };
        let Ok(request) = readdress(request, target, api) else {
            return error(api, StatusCode::BAD_REQUEST, "this path cannot be sent on");
        };
        match client.request(request).await {
            Ok(response) => {
                let mut response = response.map(Body::new);
                drop_hop_headers(response.headers_mut());
                response
            }
            Err(failed) => {
                tracing::warn!(%api, error = %whole(&failed), "the upstream cannot be reached");
                error(api, StatusCode::BAD_GATEWAY, "the upstream cannot be reached")
            }
        }
    }
}

/// A client over HTTP/1.1, or HTTP/2 where the upstream offers it.
fn client(target: Option<&Target>) -> Result<Client<Connector, Body>, String> {
    let connector = connector::connector(target)?;
    Ok(Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector))
}

fn readdress(
    request: Request<RequestBody<Body>>,
    target: &Target,
    api: Api,
) -> Result<Request<Body>, http::Error> {
    let (mut parts, body) = request.into_parts();
    parts.uri = target.uri(&parts.uri)?;
    parts.version = http::Version::HTTP_11;
    drop_hop_headers(&mut parts.headers);
    // The client's name for this gateway is not the upstream's.
    parts.headers.remove(header::HOST);
    if let Some(key) = target.key() {
        // Whatever key the client sent is not the upstream's.
        for name in KEYS {
            parts.headers.remove(name);
        }
        parts.headers.insert(key_header(api), key.clone());
    }
    Ok(Request::from_parts(parts, Body::new(body.map_err(axum::Error::new))))
}

/// What belongs to one connection, and not to the message.
fn drop_hop_headers(headers: &mut HeaderMap<HeaderValue>) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP {
        headers.remove(name);
    }
}

fn key_header(api: Api) -> HeaderName {
    match api {
        Api::AnthropicMessages => HeaderName::from_static("x-api-key"),
        Api::Gemini => HeaderName::from_static("x-goog-api-key"),
        _ => header::AUTHORIZATION,
    }
}

/// An error with what caused it.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

const HOP: [HeaderName; 8] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];
const KEYS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];
