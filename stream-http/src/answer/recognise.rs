//! Model output, recognised by what it says where the route does not tell.

use bytes::Bytes;
use http::Response;
use http::header::TRAILER;
use http_body::Body;
use serde_json::Value;
use stream_core::sse::Framer;

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

/// Whether an error holds what a model said: an answer, or the call that a provider could not parse.
pub(super) fn speaks(body: &[u8]) -> bool {
    Api::of_whole(body).is_some()
        || serde_json::from_slice(body).is_ok_and(|body: Value| match &body {
            // Gemini's answers are lists now and then.
            Value::Array(elements) => elements.iter().any(holds_output),
            body => holds_output(body),
        })
}

fn holds_output(body: &Value) -> bool {
    let error = body.get("error").unwrap_or(&Value::Null);
    let keys = [body, error].into_iter().filter_map(Value::as_object).flat_map(serde_json::Map::keys);
    keys.map(String::as_str).any(is_output)
}

/// Whether a key is one under which an answer stands, as a lax parser compares keys, some of them beyond ASCII.
fn is_output(key: &str) -> bool {
    let letters = key.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    let letters = letters.filter(char::is_ascii_alphanumeric);
    OUTPUT.contains(&letters.collect::<String>().as_str())
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
    !body.contains(&0) && !text.starts_with('\u{feff}') && !holds_events && !has_key_of_output(text)
}

/// Whether a text has a quoted key of output.
fn has_key_of_output(text: &str) -> bool {
    let mut quoted = text.split('"').skip(1).peekable();
    while let Some(key) = quoted.next() {
        let is_key = quoted.peek().is_some_and(|behind| behind.trim_start().starts_with(':'));
        if is_key && key.len() <= LONGEST && is_output(key) {
            return true;
        }
    }
    false
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

/// The keys under which an answer, or a call, stands.
const OUTPUT: [&str; 7] =
    ["failedgeneration", "choices", "candidates", "output", "content", "toolcalls", "functioncall"];

/// A string of prose that is longer is no such key.
const LONGEST: usize = 64;

/// How much of a stream of events is looked at, in bytes.
const LOOKED_AT: usize = 64 << 10;
