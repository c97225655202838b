//! The gateway's layers over Envoy.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use http::{Request, Response, StatusCode};
use stream_envoy::{ClientBody, ExtProc, Gone, Upstream};
use stream_http::{Api, RequestBody};
use tower_service::Service;

use crate::reload::Current;
use crate::serve::Layers;

/// The processor. Each exchange goes through the layers that count when it begins.
pub(super) fn service(layers: Current<Layers>) -> ExtProc {
    ExtProc::with(move |upstream| Exchange(layers.current().over(Behind(upstream))))
}

/// The layers, for the bodies that Envoy sends.
struct Exchange<S>(S);

impl<S> Service<Request<ClientBody>> for Exchange<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Gone;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Gone>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<ClientBody>) -> Self::Future {
        let answer = self.0.call(request.map(Body::new));
        Box::pin(async move {
            match answer.await {
                Ok(response) => Ok(response),
                Err(never) => match never {},
            }
        })
    }
}

/// Envoy, for the bodies that the layers send.
#[derive(Debug, Clone)]
struct Behind(Upstream);

impl Service<Request<RequestBody<Body>>> for Behind {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody<Body>>) -> Self::Future {
        let answer = self.0.call(request);
        Box::pin(async move {
            Ok(match answer.await {
                Ok(response) => response.map(Body::new),
                Err(gone) => {
                    tracing::debug!(%gone, "the exchange is over before its answer");
                    let status = StatusCode::BAD_GATEWAY;
                    let body = Api::OpenAiChat.error_body(status, "the upstream cannot be reached");
                    let mut response = Response::new(Body::from(body));
                    *response.status_mut() = status;
                    response
                }
            })
        })
    }
}
