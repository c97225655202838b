//! The layer's answer on its way to the client.

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Limited};
use tonic::Status;

use super::joined::PIECE;
use super::upload::send;
use super::upstream::{FromUpstream, Head};
use super::wire::{Side, Wire};
use crate::error::Gone;
use crate::headers;
use crate::proto::{self, HttpStatus, ImmediateResponse, Reply};

/// Sends an answer. Given the upstream's head, it is sent as what differs from it; an answer of the layer's own is
/// sent in one message, upon which Envoy leaves the upstream.
pub(super) async fn answer<B>(wire: &Wire, head: Option<Head>, response: Response<B>) -> Result<(), Status>
where
    B: Body<Data = Bytes, Error = Gone>,
{
    let (parts, body) = response.into_parts();
    let Some((changed, has_body)) = changed(head, &parts, &body) else {
        return immediate(wire, parts, body).await;
    };
    // It is not needed while the body is sent.
    drop(parts);
    if !has_body {
        wire.send_last(changed);
        return Ok(());
    }
    wire.send(changed);
    let last = send(wire, body, Reply::ResponseBody, Side::Response, Reply::ResponseTrailers).await;
    wire.send_last(last.map_err(|gone| Status::aborted(gone.to_string()))?);
    Ok(())
}

/// What differs from the upstream's head, and whether a body follows; nothing if the answer is the layer's own.
fn changed<B>(head: Option<Head>, parts: &http::response::Parts, body: &B) -> Option<(Reply, bool)>
where
    B: Body<Data = Bytes, Error = Gone>,
{
    let is_upstreams = parts.extensions.get::<FromUpstream>().is_some();
    let is_short = body.size_hint().exact().is_some_and(|length| length <= PIECE as u64);
    let head = head.filter(|head| {
        let is_same = is_upstreams && head.status == parts.status;
        // A response without a body has no place for one.
        is_same && (head.has_body || body.size_hint().exact() == Some(0)) || head.has_body && !is_short
    })?;
    let mut changes = headers::diff(&head.headers, &parts.headers);
    if head.status != parts.status {
        headers::status(&mut changes, parts.status);
    }
    Some((Reply::ResponseHeaders(proto::head(changes)), head.has_body))
}

/// Sends an answer of the layer's own.
pub(super) async fn immediate<B>(wire: &Wire, parts: http::response::Parts, body: B) -> Result<(), Status>
where
    B: Body<Data = Bytes, Error = Gone>,
{
    let body = Limited::new(body, OWN).collect().await.map_err(|error| Status::aborted(error.to_string()))?;
    wire.send_last(Reply::Immediate(ImmediateResponse {
        status: Some(HttpStatus { code: i32::from(parts.status.as_u16()) }),
        headers: Some(headers::all(&parts.headers)),
        body: body.to_bytes(),
        details: DETAILS.to_owned(),
    }));
    Ok(())
}

/// Refuses a request whose head cannot be read.
pub(super) fn refuse(wire: &Wire, message: &str) {
    let status = StatusCode::BAD_REQUEST;
    let mut headers = http::HeaderMap::new();
    headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    wire.send_last(Reply::Immediate(ImmediateResponse {
        status: Some(HttpStatus { code: i32::from(status.as_u16()) }),
        headers: Some(headers::all(&headers)),
        body: stream_http::Api::OpenAiChat.error_body(status, message).into(),
        details: DETAILS.to_owned(),
    }));
}

/// How long an answer of the layer's own may be.
const OWN: usize = 1 << 20;
/// What Envoy's access log says of it.
const DETAILS: &str = "stream_policies";
