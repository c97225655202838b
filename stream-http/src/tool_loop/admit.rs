//! Requests on their way in: which are looped.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, IF_RANGE, RANGE, TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body::Body;

use super::join::{self, Style};
use super::json::Object;
use super::layer::Shared;
use super::run::Runner;
use super::settings::Clash;
use super::tools::Chosen;
use crate::body::{BoxError, RequestBody};
use crate::refusal::Refusal;
use crate::{Facts, Route, intake};

/// What becomes of a request.
pub(super) enum Admitted<B> {
    /// The loop has nothing to do with it.
    Passed(Box<Request<RequestBody<B>>>),
    /// The answer is read, and its calls may be run.
    Looped(Box<Looped>),
}

/// A request whose answer is read.
pub(super) struct Looped {
    pub(super) parts: Parts,
    /// What is asked, with the proxy's tools.
    pub(super) request: Object,
    /// The body as it came, if nothing was added.
    pub(super) original: Option<(Bytes, Option<HeaderMap>)>,
    pub(super) chosen: Chosen,
    pub(super) style: Style,
    pub(super) runner: Runner,
}

/// Reads a request as far as needed.
pub(super) async fn admit<B>(request: Request<B>, shared: &Arc<Shared>) -> Result<Admitted<B>, Refusal>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    let api = match shared.routes.route(request.method(), request.uri().path()) {
        _ if shared.tools.is_empty() => {
            return Ok(Admitted::Passed(Box::new(request.map(RequestBody::unread))));
        }
        Route::Policed(api)
            if request.method() == Method::POST && !request.headers().contains_key(UPGRADE) =>
        {
            api
        }
        _ => return Ok(Admitted::Passed(Box::new(request.map(RequestBody::unread)))),
    };
    let (parts, body) = request.into_parts();
    let limit = shared.routes.request_limit;
    let (data, trailers) = intake::read(api, &parts.headers, body, limit).await?;
    let decoded = intake::decoded(api, &parts.headers, &data, limit)?;
    let passed = |parts, data, trailers| {
        Ok(Admitted::Passed(Box::new(Request::from_parts(parts, RequestBody::read(data, trailers)))))
    };
    if decoded.trim_ascii().is_empty() {
        return passed(parts, data, trailers);
    }
    let unclear = || {
        let message = "expected a request body that is one JSON object and says each thing once";
        Refusal::new(api, StatusCode::BAD_REQUEST, message)
    };
    let facts = Facts::read(api, &parts, &decoded).map_err(|_| unclear())?;
    let text = std::str::from_utf8(&decoded).map_err(|_| unclear())?;
    let mut asked = Object::parse(text).map_err(|_| unclear())?;
    if shared.when.as_ref().is_some_and(|when| !when(&facts)) {
        return passed(parts, data, trailers);
    }
    let chosen = shared.tools.of_request(facts.tools());
    if !join::can_loop(api, &asked) {
        return passed(parts, data, trailers);
    }
    // Also where every tool of the proxy's clashes, so that none is left to offer.
    if let (Clash::Refuse, Some(name)) = (shared.settings.clash, chosen.clash()) {
        let message = format!("expected tools of the client's own, found {name}, which the gateway runs");
        return Err(Refusal::new(api, StatusCode::BAD_REQUEST, message));
    }
    if !chosen.is_concerned() {
        return passed(parts, data, trailers);
    }
    let specs: Vec<_> = chosen.offered().collect();
    join::offer(api, &mut asked, &specs);
    let added: Vec<String> = specs.iter().map(|spec| spec.name().to_owned()).collect();
    let settings = &shared.settings;
    Ok(Admitted::Looped(Box::new(Looped {
        original: added.is_empty().then_some((data, trailers)),
        style: Style {
            separator: settings.separator.clone(),
            added,
            stored: asked.get("store") != Some("false"),
        },
        runner: Runner {
            facts,
            deadline: settings.deadline,
            result_bytes: settings.result_bytes,
            observe: shared.observe.clone(),
        },
        parts,
        request: asked,
        chosen,
    })))
}

/// The head of a request whose body was written anew.
pub(super) fn head(parts: &Parts, length: usize) -> Parts {
    let mut parts = parts.clone();
    for name in [CONTENT_ENCODING, TRANSFER_ENCODING, RANGE, IF_RANGE] {
        parts.headers.remove(name);
    }
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    parts
}
