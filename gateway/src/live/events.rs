//! `/live/events`: what has changed, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use serde_json::json;

use super::Live;

/// All that is shown, then what changes, until the viewer goes.
pub(super) fn response(live: Live) -> Response<Body> {
    let Ok(place) = live.0.viewers.clone().try_acquire_owned() else {
        let mut response = Response::new(Body::from("too many viewers\n"));
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        return response;
    };
    // The place is given back when the stream is dropped.
    let events = stream::unfold((live, None, place), |(live, mut seen, place)| async move {
        loop {
            if let Some(event) = event(&live, &mut seen) {
                return Some((Ok::<_, Infallible>(event), (live, seen, place)));
            }
            tokio::time::sleep(EVERY).await;
        }
    });
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// What has changed since `seen`: `None` if nothing has.
fn event(live: &Live, seen: &mut Option<u64>) -> Option<Bytes> {
    let streams = live.streams();
    let changed = streams.over.iter().chain(streams.running.values());
    let changed: Vec<_> = changed.filter(|stream| seen.is_none_or(|seen| stream.version > seen)).collect();
    if changed.is_empty() && seen.is_some() {
        return None;
    }
    let newest = changed.iter().map(|stream| stream.version).max();
    *seen = newest.or(*seen).or(Some(0));
    let event = json!({ "now": live.now(), "counts": streams.counts, "streams": changed });
    Some(format!("data: {event}\n\n").into())
}

/// How long a viewer waits for the next look.
const EVERY: Duration = Duration::from_millis(200);
