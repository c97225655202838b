//! The admin side: what operators and supervisors look at, on an address of its own.

use std::future::Future;

use axum::Router;
use axum::routing::get;
use futures::FutureExt as _;
use futures::future::Shared;
use http::StatusCode;

use super::meter::Meter;
use super::metrics;

/// `/metrics`, `/healthz` (the program runs) and `/readyz` (it takes new requests: not once it was asked to stop).
pub(crate) fn app<F>(meter: Meter, stop: Shared<F>) -> Router
where
    F: Future<Output = ()> + Send + 'static,
{
    let ready = move || {
        let stopping = stop.clone().now_or_never().is_some();
        async move {
            match stopping {
                true => (StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
                false => (StatusCode::OK, "ready\n"),
            }
        }
    };
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(async move || metrics::response(&meter)))
}
