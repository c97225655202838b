//! The service that stands in front.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use stream_http::{Api, Settings};
use tower_service::Service;

use super::Clients;
use super::body::{Fault, Guarded, Noted};
use super::key;
use super::limit::{Beyond, Place};
use crate::exchange::Exchange;
use crate::upstream::api_of;

/// Lets requests of known clients through, within their limits. Without clients everybody is let through, as they came.
#[derive(Debug, Clone)]
pub(crate) struct Doors<S> {
    inner: S,
    clients: Clients,
    settings: Settings,
    /// How long a request's body may be silent.
    silence: Duration,
}

/// A request that was let in.
struct Admitted {
    api: Api,
    place: Place,
    /// What is found to be wrong with its body while it is read.
    fault: Noted,
}

impl<S> Doors<S> {
    pub(crate) fn new(inner: S, clients: Clients, settings: Settings, silence: Duration) -> Self {
        Self { inner, clients, settings, silence }
    }

    /// Takes the key from a request and finds its client and a place for it; else says no.
    fn admit(&self, request: &mut Request<Body>) -> Result<Admitted, Box<Response<Body>>> {
        let api = api_of(&self.settings, request);
        let mut place = Place::default();
        let mut most = None;
        if !self.clients.is_empty() {
            let mut uri = std::mem::take(request.uri_mut());
            let keys = key::take(request.headers_mut(), &mut uri);
            *request.uri_mut() = uri;
            let client = self.clients.find(&keys).and_then(|position| self.clients.get(position));
            let client = client.ok_or_else(|| Box::new(unknown(api, keys.is_empty())))?;
            if let Some(exchange) = request.extensions().get::<Exchange>() {
                exchange.known().client = Some(client.name.clone());
            }
            let length = request.body().size_hint().exact();
            place = client.allowance.take(length).map_err(|beyond| Box::new(refused(api, &beyond)))?;
            most = client.allowance.request_bytes();
            request.extensions_mut().insert(client.name.clone());
        }
        let fault = Noted::default();
        let body = std::mem::take(request.body_mut());
        *request.body_mut() = Body::new(Guarded::new(body, most, self.silence, fault.clone()));
        Ok(Admitted { api, place, fault })
    }
}

impl<S, B> Service<Request<Body>> for Doors<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    S::Future: Send + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        match self.admit(&mut request) {
            Ok(Admitted { api, place, fault }) => {
                let answer = self.inner.call(request);
                Box::pin(async move {
                    let response = answer.await?;
                    if let Some(fault) = fault.get() {
                        return Ok(faulty(api, *fault));
                    }
                    Ok(response.map(|body| Body::new(Placed { body: Body::new(body), _place: place })))
                })
            }
            Err(refusal) => Box::pin(std::future::ready(Ok(*refusal))),
        }
    }
}

/// A body that keeps its client's place until it is over or dropped.
#[derive(Debug)]
struct Placed {
    body: Body,
    _place: Place,
}

impl HttpBody for Placed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn unknown(api: Api, none: bool) -> Response<Body> {
    let found = if none { "none" } else { "another" };
    let mut response = refusal(
        api,
        StatusCode::UNAUTHORIZED,
        &format!("expected the key of a client of this gateway, found {found}"),
    );
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response.headers_mut().insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    response
}

fn refused(api: Api, beyond: &Beyond) -> Response<Body> {
    let (message, seconds) = match beyond {
        Beyond::Requests(wait) => {
            // Whole seconds, upwards: a client that comes back then is let through.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            ("too many requests in a minute", seconds.max(1))
        }
        Beyond::Streams => ("too many answers under way", 1),
        Beyond::Bytes(most) => return faulty(api, Fault::Large(*most)),
    };
    let mut response = refusal(api, StatusCode::TOO_MANY_REQUESTS, message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

fn faulty(api: Api, fault: Fault) -> Response<Body> {
    let status = match fault {
        Fault::Silent(_) => StatusCode::REQUEST_TIMEOUT,
        Fault::Large(_) => StatusCode::PAYLOAD_TOO_LARGE,
    };
    let mut response = refusal(api, status, &fault.to_string());
    response.headers_mut().insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    response
}

/// An error as the API's own servers report it.
fn refusal(api: Api, status: StatusCode, message: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(api.error_body(status, message)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole seconds, upwards: a client that comes back then is let through.
    #[test]
    fn a_refusal_says_after_how_many_seconds_to_come_back() {
        let after = |beyond: Beyond| {
            let response = refused(Api::OpenAiChat, &beyond);
            (response.status().as_u16(), response.headers()[RETRY_AFTER].to_str().unwrap().to_owned())
        };
        let of = |nanos| after(Beyond::Requests(Duration::from_nanos(nanos)));
        assert_eq!(of(1), (429, "1".to_owned()));
        assert_eq!(of(1_000_000_000), (429, "1".to_owned()));
        assert_eq!(of(1_000_000_001), (429, "2".to_owned()));
        assert_eq!(of(30_000_000_000), (429, "30".to_owned()));
        assert_eq!(after(Beyond::Streams), (429, "1".to_owned()));
    }
}
