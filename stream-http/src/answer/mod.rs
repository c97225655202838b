//! Answers on their way out: which pass, which are policed and how, which are refused.

mod events;
pub(crate) mod head;
mod list;
mod recognise;
mod whole;

use bytes::Bytes;
use futures::TryStreamExt as _;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::response::Parts;
use http::{HeaderMap, Response, StatusCode};
use http_body::Body;

use crate::body::{BoxError, ResponseBody};
use crate::coding::Coding;
use crate::layer::Shared;
use crate::refusal::Refusal;
use crate::source::{Look, Source};
use crate::{Facts, Unreadable};

/// What a request asked for, and so what is expected of its answer.
#[derive(Debug)]
pub(crate) enum Asked {
    /// No model output.
    Plain,
    /// Model output.
    Policed { facts: Box<Facts>, is_head: bool },
    /// Nobody knows.
    Unknown { facts: Option<Box<Facts>>, is_head: bool },
}

/// The answer to a request that may have asked for model output.
pub(crate) async fn answer<B>(
    response: Response<B>,
    asked: Asked,
    shared: Shared,
) -> Response<ResponseBody<B>>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    match asked {
        Asked::Policed { is_head: true, .. } => {
            let (mut parts, _) = response.into_parts();
            // It would be the length of what the policies have not seen.
            head::without_length(&mut parts.headers);
            Response::from_parts(parts, ResponseBody::empty())
        }
        Asked::Policed { facts, .. } if response.status().is_success() => {
            success(response, *facts, shared).await
        }
        Asked::Policed { facts, .. } => error(response, *facts, shared).await,
        Asked::Unknown { facts: Some(facts), is_head: false } => {
            recognise::answer(response, *facts, shared).await
        }
        Asked::Plain | Asked::Unknown { .. } => response.map(ResponseBody::untouched),
    }
}

/// A success carries model output: it is policed, or refused.
async fn success<B>(response: Response<B>, facts: Facts, shared: Shared) -> Response<ResponseBody<B>>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let (mut parts, body) = response.into_parts();
    let may_pass = shared.settings().unreadable == Unreadable::Pass;
    let refuse = |found: &str| Refusal::unreadable(facts.api(), found).into_response();
    let coding = Coding::of(&parts.headers);
    if parts.status == StatusCode::PARTIAL_CONTENT || coding.is_none() {
        let found = if coding.is_none() { "an unknown content coding" } else { "a part of an answer" };
        return if may_pass {
            Response::from_parts(parts, ResponseBody::untouched(body))
        } else {
            refuse(found)
        };
    }
    let coding = coding.unwrap_or(Coding::Identity);
    let mut source = Source::new(body, coding, shared.settings().limits.idle);
    if says_events(&parts.headers) {
        return events::answer(parts, source, facts, shared).await;
    }
    match source.look(shared.settings().response_limit).await {
        Err(broken) => refuse(&broken.to_string()),
        Ok(Look::Nothing) => {
            head::without_length(&mut parts.headers);
            parts.headers.remove(CONTENT_ENCODING);
            Response::from_parts(parts, ResponseBody::whole(Bytes::new(), source.trailers().take()))
        }
        Ok(Look::Events) => events::answer(parts, source, facts, shared).await,
        Ok(Look::Json) => whole::answer(parts, source, facts, shared).await,
        Ok(Look::Other) if may_pass => rest(parts, source),
        Ok(Look::Other) => refuse("neither JSON nor a stream of events"),
    }
}

/// An error is the upstream's own, and passes; but some providers put what the model said into it.
async fn error<B>(response: Response<B>, facts: Facts, shared: Shared) -> Response<ResponseBody<B>>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let (parts, body) = response.into_parts();
    if parts.status.is_informational() {
        // Behind an upgrade that nobody asked for anything can be said.
        return Refusal::unreadable(facts.api(), "a connection of another protocol").into_response();
    }
    let Some(coding) = Coding::of(&parts.headers) else {
        return Response::from_parts(parts, ResponseBody::untouched(body));
    };
    let mut source = Source::new(body, coding, shared.settings().limits.idle);
    let limit = shared.settings().response_limit;
    match source.look(limit).await {
        Ok(Look::Events) => return events::answer(parts, source, facts, shared).await,
        Ok(Look::Json) => match source.read_all(limit).await {
            Ok(Some(body)) if recognise::speaks(&body) => {
                return whole::police(parts, body, source.trailers().take(), facts, shared).await;
            }
            Ok(Some(body)) => return original(parts, body, source.trailers().take()),
            Ok(None) => {}
            Err(broken) => return Refusal::unreadable(facts.api(), &broken.to_string()).into_response(),
        },
        Ok(Look::Other | Look::Nothing) => {}
        Err(broken) => return Refusal::unreadable(facts.api(), &broken.to_string()).into_response(),
    }
    rest(parts, source)
}

/// The answer as it came, though it was read.
pub(crate) fn original<B>(
    mut parts: Parts,
    body: Bytes,
    trailers: Option<HeaderMap>,
) -> Response<ResponseBody<B>> {
    head::same(&mut parts.headers, body.len(), trailers.is_some());
    Response::from_parts(parts, ResponseBody::whole(body, trailers))
}

/// The answer as it comes, though its start was looked at.
pub(crate) fn rest<B>(mut parts: Parts, source: Source<B>) -> Response<ResponseBody<B>>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    if parts.headers.contains_key(CONTENT_ENCODING) {
        head::without_length(&mut parts.headers);
        parts.headers.remove(CONTENT_ENCODING);
    }
    let trailers = source.trailers();
    let stream = source.map_err(BoxError::from);
    Response::from_parts(parts, ResponseBody::stream(stream, trailers))
}

pub(crate) fn says_events(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    kind.trim_ascii().eq_ignore_ascii_case(b"text/event-stream")
}
