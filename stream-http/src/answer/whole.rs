//! Answers that are not streamed (rule 24).

use bytes::Bytes;
use http::response::Parts;
use http::{Response, StatusCode};
use http_body::Body;
use serde::Deserialize;
use serde::de::IgnoredAny;
use stream_core::{Ending, Error, ErrorKind, Origin};

use super::{head, list, original, rest};
use crate::body::{BoxError, ResponseBody};
use crate::layer::Shared;
use crate::refusal::Refusal;
use crate::source::Source;
use crate::watch::Watch;
use crate::{Api, Facts, Unreadable};

/// Reads a whole answer and polices it.
pub(super) async fn answer<B>(
    parts: Parts,
    mut source: Source<B>,
    facts: Facts,
    shared: Shared,
) -> Response<ResponseBody<B>>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let limit = shared.settings().response_limit;
    match source.read_all(limit).await {
        Ok(Some(body)) => police(parts, body, facts, shared).await,
        Ok(None) if shared.settings().unreadable == Unreadable::Pass => rest(parts, source),
        Ok(None) => {
            let found = format!("a body of more than {limit} bytes");
            Refusal::unreadable(facts.api(), &found).into_response()
        }
        Err(broken) => Refusal::unreadable(facts.api(), &broken.to_string()).into_response(),
    }
}

/// The answer that policies leave of a body.
pub(super) async fn police<B>(
    mut parts: Parts,
    body: Bytes,
    facts: Facts,
    shared: Shared,
) -> Response<ResponseBody<B>> {
    let api = facts.api();
    let left = match list::Completions::read(api, &body) {
        Some(list) => list.police(&facts, &shared).await,
        None => one(&body, &facts, &shared).await,
    };
    match left {
        Left::Same => original(parts, body, None),
        Left::Changed(body) => {
            head::changed(&mut parts.headers, body.len());
            Response::from_parts(parts, ResponseBody::whole(body, None))
        }
        Left::Blocked { body, ending } => {
            // An error with a status of success would be read as an answer.
            let misleads = is_error(&body) && parts.status.is_success();
            let status = shared.settings().block_status.or(misleads.then_some(StatusCode::FORBIDDEN));
            let body = match status {
                Some(status) => {
                    parts.status = status;
                    // Status and body say the same: some clients believe the one, some the other.
                    Bytes::from(api.blocked_body(status, &ending))
                }
                None => body,
            };
            head::changed(&mut parts.headers, body.len());
            Response::from_parts(parts, ResponseBody::whole(body, None))
        }
        Left::Unreadable(_) if shared.settings().unreadable == Unreadable::Pass => {
            original(parts, body, None)
        }
        Left::Unreadable(found) | Left::Violating(found) => Refusal::unreadable(api, &found).into_response(),
        Left::Failed(message) => {
            Refusal::new(api, StatusCode::INTERNAL_SERVER_ERROR, message).into_response()
        }
    }
}

/// What policies leave of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Left {
    Same,
    Changed(Bytes),
    Blocked {
        body: Bytes,
        ending: Ending,
    },
    /// Nobody has read it.
    Unreadable(String),
    /// It was read, and policies may have decided over it, before something in it was found wrong: it never passes.
    Violating(String),
    Failed(String),
}

/// Takes one whole answer through the policies of its request.
pub(super) async fn one(body: &Bytes, facts: &Facts, shared: &Shared) -> Left {
    let api = facts.api();
    match Api::of_whole(body) {
        Some(found) if found == api => {}
        Some(found) => return Left::Unreadable(format!("an answer of {found} in place of {api}")),
        None if says_nothing(body) => {}
        None => return Left::Unreadable(format!("JSON that is no answer of {api}")),
    }
    let watch = Watch::default();
    let builder = shared.plan(facts).builder(facts, shared.config(), Some(watch.clone()));
    let whole = match builder.whole(body.clone()).await {
        Ok(whole) => whole,
        Err(error) => return Left::Failed(format!("the gateway's policies cannot work together: {error}")),
    };
    let error = whole.outcome.and_then(|outcome| outcome.error);
    if let Some(ending) = watch.blocked() {
        return Left::Blocked { body: whole.body, ending: ending.clone() };
    }
    match error {
        None if whole.body == *body => Left::Same,
        None => Left::Changed(whole.body),
        Some(error) if error.origin() == Origin::Policy => Left::Failed("a policy could not decide".into()),
        Some(error) if matches!(error.kind(), ErrorKind::Malformed | ErrorKind::WrongFormat) => {
            Left::Unreadable(what(&error))
        }
        Some(error) => Left::Violating(what(&error)),
    }
}

/// What was wrong with an answer. Never what it says: that is what nobody has judged.
pub(super) fn what(error: &Error) -> String {
    match error.kind() {
        ErrorKind::WrongFormat => "an answer of another format".into(),
        _ if error.origin() == Origin::Limit => "an answer that exceeds a limit".into(),
        _ => "a malformed answer".into(),
    }
}

/// Whether a body that is no answer is one of the two other things that these routes say: an error, or that something
/// was deleted.
fn says_nothing(body: &[u8]) -> bool {
    serde_json::from_slice::<Said>(body).is_ok_and(|said| said.error.is_some())
        || serde_json::from_slice::<Deleted>(body).is_ok_and(|said| said.deleted)
}

/// Whether a body is an error.
fn is_error(body: &[u8]) -> bool {
    match body.trim_ascii_start() {
        [b'[', ..] => serde_json::from_slice::<Vec<Said>>(body)
            .is_ok_and(|all| all.iter().any(|said| said.error.is_some())),
        _ => serde_json::from_slice::<Said>(body)
            .is_ok_and(|said| said.error.is_some() && said.output.is_none()),
    }
}

#[derive(Deserialize)]
struct Said {
    error: Option<IgnoredAny>,
    output: Option<IgnoredAny>,
}

/// That something was deleted, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deleted {
    deleted: bool,
    #[serde(rename = "id")]
    _id: Option<IgnoredAny>,
    #[serde(rename = "object")]
    _object: Option<IgnoredAny>,
}
