//! Model output, recognised by what it says where the route does not tell.

use bytes::Bytes;
use http::Response;
use http::header::TRAILER;
use http_body::Body;
use stream_core::sse::Framer;
use stream_core::wire::Quoted;

use super::{events, original, rest, whole};
use crate::body::{BoxError, ResponseBody};
use crate::coding::Coding;
use crate::layer::Shared;
use crate::source::{Look, Source};
use crate::{Api, Facts};

/// The answer of a route that nobody knows and that may pass: policed if it is recognised as model output.
pub(super) async fn answer<B>(
    response: Response<B>,
    facts: Facts,
    shared: Shared,
) -> Response<ResponseBody<B>>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let (mut parts, body) = response.into_parts();
    let coding = Coding::of(&parts.headers).filter(|_| parts.status.is_success());
    let Some(coding) = coding else { return Response::from_parts(parts, ResponseBody::untouched(body)) };
    let mut source = Source::new(body, coding, shared.settings().limits.idle);
    let limit = shared.settings().response_limit;
    match source.look(limit.min(LOOKED_AT)).await {
        Ok(Look::Events) => match of_events(&mut source).await {
            Some(api) => {
                parts.headers.remove(TRAILER);
                events::answer(parts, source.without_trailers(), facts.with_api(api), shared).await
            }
            None => rest(parts, source),
        },
        Ok(Look::Json) => match source.read_all(limit).await {
            Ok(Some(body)) => match Api::of_whole(&body) {
                Some(api) => {
                    parts.headers.remove(TRAILER);
                    whole::police(parts, body, facts.with_api(api), shared).await
                }
                None => original(parts, body, source.trailers().take()),
            },
            Ok(None) | Err(_) => rest(parts, source),
        },
        Ok(Look::Other | Look::Nothing) | Err(_) => rest(parts, source),
    }
}

/// Whether an error is the answer of an API, or holds nothing of one but the call that a provider could not parse, which chat's errors
/// have a place for.
pub(super) fn speaks(api: Api, body: &[u8]) -> bool {
    let quoted = || Quoted::in_json(body);
    Api::of_whole(body).is_some() || (api == Api::OpenAiChat && quoted().refused_call && !quoted().answer)
}

/// Whether a body is one JSON value to every parser.
pub(super) fn is_json(body: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
}

/// Whether a body that does not start like JSON is text that nobody takes for JSON or for events: no byte order mark, no zero bytes
/// as UTF-16 and UTF-32 have them, no line of data that holds JSON (some clients look for one anywhere), and no key of an
/// answer.
pub(super) fn is_prose(body: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(body) else { return false };
    let holds_events = text.match_indices("data:").any(|(at, word)| {
        let said = text[at + word.len()..].trim_start();
        said.starts_with(['{', '['])
    });
    !body.contains(&0) && !text.starts_with('\u{feff}') && !holds_events && !Quoted::in_text(text).is_any()
}

/// The API whose events these are, told by the first that tells.
async fn of_events<B>(source: &mut Source<B>) -> Option<Api>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    let mut framer = Framer::new(LOOKED_AT);
    let mut piece = Bytes::from(source.looked_at());
    let mut seen = 0;
    while seen <= LOOKED_AT {
        seen += piece.len();
        framer.push(&piece);
        while let Some(frame) = framer.next_frame().ok()? {
            if let Some(api) = Api::ALL.into_iter().find(|api| api.format().sniff(&frame)) {
                return Some(api);
            }
        }
        piece = source.look_further().await.ok()??;
    }
    None
}

/// How much of a stream of events is looked at, in bytes.
const LOOKED_AT: usize = 64 << 10;
