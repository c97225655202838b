//! Requests on their way in: which pass, which are read, which are refused.

use bytes::{Buf as _, Bytes, BytesMut};
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, IF_RANGE, RANGE, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body::Body;
use http_body_util::BodyExt as _;

use crate::answer::Asked;
use crate::body::{BoxError, RequestBody};
use crate::coding::Coding;
use crate::refusal::Refusal;
use crate::{Api, Facts, Route, Settings, UnknownRoute};

/// A request that may go on, and what was asked for.
pub(crate) struct Admitted<B> {
    pub(crate) request: Request<RequestBody<B>>,
    pub(crate) asked: Asked,
}

/// Reads a request as far as its route needs.
pub(crate) async fn admit<B>(request: Request<B>, settings: &Settings) -> Result<Admitted<B>, Refusal>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    let (mut parts, body) = request.into_parts();
    for name in OTHER_ROUTE {
        parts.headers.remove(name);
    }
    let unread = |parts, body, asked| {
        Ok(Admitted { request: Request::from_parts(parts, RequestBody::unread(body)), asked })
    };
    let is_head = parts.method == Method::HEAD;
    let api = match settings.route(&parts.method, parts.uri.path()) {
        Route::Policed(api) => api,
        Route::Plain => {
            refuse_upgrade(Api::OpenAiChat, &parts)?;
            return unread(parts, body, Asked::Plain);
        }
        Route::Unknown if settings.unknown_route == UnknownRoute::Pass => {
            let facts = Facts::read(Api::OpenAiChat, &parts, b"").ok();
            let facts = facts.map(|facts| in_session(facts, settings, b"")).transpose()?;
            parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            return unread(parts, body, Asked::Unknown { facts: facts.map(Box::new), is_head });
        }
        Route::Unknown => {
            let message = "this route is not known to the gateway, whose policies would not see its answer";
            return Err(Refusal::new(shape(&parts), StatusCode::FORBIDDEN, message));
        }
    };
    refuse_upgrade(api, &parts)?;
    let (data, trailers) = read(api, &parts.headers, body, settings.request_limit).await?;
    let decoded = decoded(api, &parts.headers, &data, settings.request_limit)?;
    let facts = Facts::read(api, &parts, &decoded).map_err(|_| {
        let message = "expected a request body that is one JSON object and says each thing once";
        Refusal::new(api, StatusCode::BAD_REQUEST, message)
    })?;
    let facts = in_session(facts, settings, &decoded)?;
    parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    // A part of an answer cannot be judged.
    parts.headers.remove(RANGE);
    parts.headers.remove(IF_RANGE);
    let request = Request::from_parts(parts, RequestBody::read(data, trailers));
    Ok(Admitted { request, asked: Asked::Policed { facts: Box::new(facts), is_head } })
}

/// The facts with the session of the request, and the tags it asks for, where the settings say where they are told.
fn in_session(facts: Facts, settings: &Settings, body: &[u8]) -> Result<Facts, Refusal> {
    let api = facts.api();
    let facts = match &settings.session {
        Some(session) => facts.in_session(session, body),
        None => Ok(facts),
    };
    let facts = facts.and_then(|facts| match &settings.call_tags {
        Some(place) => facts.with_call_tags(place, body),
        None => Ok(facts),
    });
    facts.map_err(|error| Refusal::new(api, StatusCode::BAD_REQUEST, error.to_string()))
}

/// Behind an upgrade anything can be said.
fn refuse_upgrade(api: Api, parts: &Parts) -> Result<(), Refusal> {
    if parts.headers.contains_key(UPGRADE) || parts.method == Method::CONNECT {
        let message = "a connection of another protocol cannot be policed";
        return Err(Refusal::new(api, StatusCode::FORBIDDEN, message));
    }
    Ok(())
}

/// The body, read up to a limit, and its trailers.
pub(crate) async fn read<B>(
    api: Api,
    headers: &HeaderMap,
    body: B,
    limit: usize,
) -> Result<(Bytes, Option<HeaderMap>), Refusal>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    let mut body = std::pin::pin!(body);
    let mut data = Gathered::default();
    let mut trailers = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            Refusal::new(api, StatusCode::BAD_REQUEST, "the request's body broke off before its end")
        })?;
        match frame.into_data() {
            Ok(mut piece) => {
                if data.len().saturating_add(piece.remaining()) > limit {
                    return Err(too_large(api, limit));
                }
                data.add(piece.copy_to_bytes(piece.remaining()));
            }
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
    }
    // Where the two differ, the upstream would read another request than was read here.
    let promised = headers.get(CONTENT_LENGTH).map(|value| value.to_str().ok()?.parse().ok());
    if promised.is_some_and(|promised| promised != Some(data.len())) {
        let message = "the request's body is not as long as its header says";
        return Err(Refusal::new(api, StatusCode::BAD_REQUEST, message));
    }
    Ok((data.into_bytes(), trailers))
}

/// The body as the upstream will read it.
pub(crate) fn decoded(api: Api, headers: &HeaderMap, data: &Bytes, limit: usize) -> Result<Bytes, Refusal> {
    let unreadable = || {
        let message = "expected a request body in no content coding, or one of gzip and deflate";
        Refusal::new(api, StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
    };
    let coding = Coding::of(headers).ok_or_else(unreadable)?;
    let Some(mut decoder) = coding.decoder() else { return Ok(data.clone()) };
    let mut out = Gathered::default();
    for piece in data.chunks(4096) {
        out.add(decoder.decode(piece).map_err(|_| unreadable())?);
        if out.len() > limit {
            return Err(too_large(api, limit));
        }
    }
    out.add(decoder.finish().map_err(|_| unreadable())?);
    Ok(out.into_bytes())
}

fn too_large(api: Api, limit: usize) -> Refusal {
    let message = format!("expected a request body of at most {limit} bytes, found a longer one");
    Refusal::new(api, StatusCode::PAYLOAD_TOO_LARGE, message)
}

/// In whose shape a client of an unknown route is likely to read an error.
fn shape(parts: &Parts) -> Api {
    let path = parts.uri.path().to_lowercase();
    if parts.headers.contains_key("anthropic-version") || path.contains("/messages") {
        Api::AnthropicMessages
    } else if parts.headers.contains_key("x-goog-api-key") || path.contains("/v1beta") {
        Api::Gemini
    } else {
        Api::OpenAiChat
    }
}

/// Bytes that come in pieces, and mostly in one.
#[derive(Debug, Default)]
struct Gathered {
    first: Bytes,
    more: BytesMut,
}

impl Gathered {
    fn add(&mut self, piece: Bytes) {
        if self.first.is_empty() && self.more.is_empty() {
            self.first = piece;
        } else {
            if self.more.is_empty() {
                self.more.extend_from_slice(&std::mem::take(&mut self.first));
            }
            self.more.extend_from_slice(&piece);
        }
    }

    fn len(&self) -> usize {
        self.first.len() + self.more.len()
    }

    fn into_bytes(self) -> Bytes {
        if self.more.is_empty() { self.first } else { self.more.freeze() }
    }
}

/// Headers by which some servers take another path or method than the request line's.
const OTHER_ROUTE: [&str; 5] =
    ["x-original-url", "x-rewrite-url", "x-http-method-override", "x-http-method", "x-method-override"];
