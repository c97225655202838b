//! Answers on their way out: which pass, which are policed and how, which are refused.

mod events;
pub(crate) mod head;
mod list;
mod recognise;
mod whole;

use bytes::Bytes;
use futures::TryStreamExt as _;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, TRAILER};
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
    let mut response = response;
    if let Asked::Policed { facts, .. } = &asked {
        // Every official SDK follows a redirect, past whatever polices this place.
        if response.status().is_redirection() && response.status() != StatusCode::NOT_MODIFIED {
            return Refusal::unreadable(facts.api(), "a redirect to another place").into_response();
        }
        head::without_places(response.headers_mut());
        response.headers_mut().remove(TRAILER);
    }
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
    let mut source = Source::new(body, coding, shared.settings().limits.idle).without_trailers();
    if says_events(&parts.headers) {
        return events::answer(parts, source, facts, shared).await;
    }
    match source.look(shared.settings().response_limit).await {
        Err(broken) => refuse(&broken.to_string()),
        Ok(Look::Nothing) => {
            head::without_length(&mut parts.headers);
            parts.headers.remove(CONTENT_ENCODING);
            Response::from_parts(parts, ResponseBody::empty())
        }
        Ok(Look::Events) => events::answer(parts, source, facts, shared).await,
        Ok(Look::Json) => whole::answer(parts, source, facts, shared).await,
        Ok(Look::Other) if may_pass => rest(parts, source),
        Ok(Look::Other) => refuse("neither JSON nor a stream of events"),
    }
}

/// An error is the upstream's own, and passes without what policies take out of every string; but some providers put what the
/// model said into it, and some programs read an answer without a look at its status. An error that is an answer is policed; an
/// error that holds one, or could be one and cannot be read, is replaced by the API's own.
async fn error<B>(response: Response<B>, facts: Facts, shared: Shared) -> Response<ResponseBody<B>>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let (mut parts, body) = response.into_parts();
    if parts.status.is_informational() {
        // Behind an upgrade that nobody asked for anything can be said.
        return Refusal::unreadable(facts.api(), "a connection of another protocol").into_response();
    }
    let may_pass = shared.settings().unreadable == Unreadable::Pass;
    let (api, status) = (facts.api(), parts.status);
    let replace = |found: &str| {
        let message = format!("the upstream's error could not be read by the gateway's policies: {found}");
        Refusal::new(api, status, message).into_response()
    };
    let Some(coding) = Coding::of(&parts.headers) else {
        if may_pass {
            return Response::from_parts(parts, ResponseBody::untouched(body));
        }
        return replace("an unknown content coding");
    };
    let mut source = Source::new(body, coding, shared.settings().limits.idle).without_trailers();
    let limit = shared.settings().response_limit;
    let look = match source.look(limit).await {
        Ok(Look::Events) => return events::answer(parts, source, facts, shared).await,
        Ok(Look::Nothing) => return rest(parts, source),
        Ok(look) => look,
        Err(broken) => return Refusal::unreadable(api, &broken.to_string()).into_response(),
    };
    let body = match source.read_all(limit).await {
        Ok(Some(body)) => body,
        Ok(None) if may_pass => return rest(parts, source),
        Ok(None) => return replace("a body that is too long"),
        Err(broken) => return Refusal::unreadable(api, &broken.to_string()).into_response(),
    };
    let is_read = match look {
        Look::Json if recognise::speaks(api, &body) => {
            return whole::police(parts, body, facts, shared).await;
        }
        Look::Json => recognise::is_json(&body),
        _ => recognise::is_prose(&body),
    };
    let policies = || shared.plan(&facts).builder(&facts, shared.config(), None);
    if is_read && let Some(left) = policies().error(body.clone()) {
        if left != body {
            head::without_digests(&mut parts.headers);
        }
        return original(parts, left, None);
    }
    match look {
        _ if may_pass => original(parts, body, None),
        Look::Json if is_read => replace("JSON with parts of an answer in it"),
        Look::Json => replace("malformed JSON"),
        _ => replace("text in another encoding, or with parts of an answer in it"),
    }
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
