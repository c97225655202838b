//! The upstream: the answer of the case that a request names.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use stream_testkit::ChunkLog;

use super::case::{CASE, Case};
use super::left;
use super::policies::Judges;

/// An upstream with this time between two chunks.
pub(crate) fn router(pace: Duration) -> Router {
    let cases = Case::all().into_iter().map(|case| (case, case.log(pace))).collect();
    let answers = Arc::new(Answers { cases, pace });
    Router::new().fallback(answer).with_state(answers).merge(left::router(Judges::default()))
}

struct Answers {
    cases: Vec<(Case, ChunkLog)>,
    pace: Duration,
}

async fn answer(State(answers): State<Arc<Answers>>, headers: HeaderMap, _request: Bytes) -> Response {
    let number = headers.get(CASE).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    let Some((case, log)) = number.and_then(|number| answers.cases.get(number)) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let kind = if log.is_whole() { "application/json" } else { "text/event-stream" };
    let body = Body::from_stream(case.upstream(log, answers.pace));
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}
