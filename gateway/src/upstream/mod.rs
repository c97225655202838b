//! Who answers: an upstream over HTTP, or the program itself.

#[cfg(feature = "tls")]
mod connector;
#[cfg(not(feature = "tls"))]
#[path = "plain_connector.rs"]
mod connector;
mod counting;
mod embedded;
mod remote;

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response, StatusCode};
use stream_http::{Api, RequestBody, Route, Settings};
use tower_service::Service;

use self::embedded::Embedded;
use self::remote::Remote;
use crate::config::Targets;

/// Answers requests, behind the policies.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    settings: Settings,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Embedded(Embedded),
    /// Boxed: a client is as large as the features of its crate make it.
    Remote(Box<Remote>),
}

impl Upstream {
    /// The upstreams that were named; without any, the program's own answers, at this pace.
    pub(crate) fn new(targets: Targets, pace: Duration, settings: Settings) -> Result<Self, String> {
        let kind = if targets.is_empty() {
            Kind::Embedded(Embedded::new(pace)?)
        } else {
            Kind::Remote(Box::new(Remote::new(targets)?))
        };
        Ok(Self { settings, kind })
    }
}

/// The API that a request belongs to. One that is not policed is told by the headers and paths that SDKs use.
pub(crate) fn api_of<B>(settings: &Settings, request: &Request<B>) -> Api {
    let path = request.uri().path();
    match settings.route(request.method(), path) {
        Route::Policed(api) => api,
        _ if request.headers().contains_key("anthropic-version") => Api::AnthropicMessages,
        _ if path.starts_with("/v1beta") || request.headers().contains_key("x-goog-api-key") => Api::Gemini,
        _ => Api::OpenAiChat,
    }
}

impl Service<Request<RequestBody<Body>>> for Upstream {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody<Body>>) -> Self::Future {
        let api = api_of(&self.settings, &request);
        let kind = self.kind.clone();
        Box::pin(async move {
            Ok(match kind {
                Kind::Embedded(embedded) => embedded.answer(api, request).await,
                Kind::Remote(remote) => remote.answer(api, request).await,
            })
        })
    }
}

/// An error as the API's own servers report it.
fn error(api: Api, status: StatusCode, message: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(api.error_body(status, message)));
    *response.status_mut() = status;
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    response
}
