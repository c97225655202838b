//! The upstream: one scripted answer, as fast as it can or with a pace.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use futures::stream;
use tokio::time::sleep;

use crate::traffic::{Traffic, now};

/// An upstream whose answers have so many chunks of text.
pub(crate) fn router(chunks: usize) -> Router {
    Router::new().fallback(answer).with_state(Arc::new(Traffic::new(chunks)))
}

/// The header by which a client asks for a pace, in milliseconds.
pub(crate) const PACE: &str = "x-pace-ms";

async fn answer(State(traffic): State<Arc<Traffic>>, headers: HeaderMap, _request: Bytes) -> Response {
    let pace = headers.get(PACE).and_then(|value| value.to_str().ok()?.parse().ok());
    let pace = pace.map_or(Duration::ZERO, Duration::from_millis);
    let body = stream::unfold((traffic, 0), move |(traffic, at)| async move {
        let frame = traffic.frames().get(at)?;
        let bytes = if pace.is_zero() {
            frame.bytes()
        } else {
            if at > 0 {
                sleep(pace).await;
            }
            frame.stamped(now())
        };
        Some((Ok::<_, Infallible>(bytes), (traffic, at + 1)))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}
