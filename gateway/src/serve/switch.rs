//! A service that changes while it serves.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::routing::future::RouteFuture;
use http::{Request, Response};
use tower_service::Service;

use crate::reload::Current;

/// Gives each request to the service that counts when it comes.
#[derive(Debug, Clone)]
pub(super) struct Switch(Current<Router>);

impl Switch {
    pub(super) fn new(live: Current<Router>) -> Self {
        Self(live)
    }
}

impl Service<Request<Body>> for Switch {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // A router is always ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Router::clone(&self.0.current()).call(request)
    }
}
