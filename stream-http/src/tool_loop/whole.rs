//! Answers that are not streamed.

use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, Response, StatusCode};
use stream_core::Assembler;

use super::asked::{Asked, Sent};
use super::join::{self, Mode};
use super::json::Object;
use super::settings::AtLimit;
use super::turns::{Decision, Next, Turns};
use crate::answer::{head, original, rest};
use crate::body::ResponseBody;
use crate::coding::Coding;
use crate::refusal::Refusal;
use crate::source::{Look, Source};

/// How a loop over whole answers ended.
pub(super) enum Ended<R> {
    /// The first answer is the client's, as it came.
    Same(Bytes, Option<HeaderMap>),
    /// All answers as one.
    Joined(Bytes),
    /// A later answer is no success: it is the client's.
    Refused(Response<R>),
    /// The first answer is longer than what may be read.
    TooLong(Box<Source<R>>),
    /// Nothing can be told but this.
    Failed(String),
}

/// The client's answer.
pub(super) async fn answer<S, ReqB, ResB>(
    mut turns: Turns<S>,
    mut parts: Parts,
    source: Source<ResB>,
) -> Result<Response<ResponseBody<ResB>>, S::Error>
where
    S: Asked<ReqB, ResB>,
    ReqB: Sent,
    ResB: Sent,
{
    Ok(match Box::pin(run(&mut turns, source)).await? {
        Ended::Same(body, trailers) => original(parts, body, trailers),
        Ended::Joined(body) => {
            head::changed(&mut parts.headers, body.len());
            Response::from_parts(parts, ResponseBody::whole(body, None))
        }
        Ended::Refused(response) => response.map(ResponseBody::untouched),
        // The calls of an answer that cannot be read cannot be found either; the policies' own limit comes first.
        Ended::TooLong(source) => rest(parts, *source),
        Ended::Failed(message) => Refusal::new(turns.api(), StatusCode::BAD_GATEWAY, message).into_response(),
    })
}

/// Reads answers and runs their calls until one is the last.
pub(super) async fn run<S, ReqB, ResB>(
    turns: &mut Turns<S>,
    mut source: Source<ResB>,
) -> Result<Ended<ResB>, S::Error>
where
    S: Asked<ReqB, ResB>,
    ReqB: Sent,
    ResB: Sent,
{
    let api = turns.api();
    let failed = |message: &str| Ok(Ended::Failed(message.to_owned()));
    let limit = turns.shared.routes.response_limit;
    let mut answers: Vec<Bytes> = Vec::new();
    loop {
        let body = match source.read_all(limit).await {
            Ok(Some(body)) => body,
            Ok(None) if answers.is_empty() => return Ok(Ended::TooLong(Box::new(source))),
            Ok(None) | Err(_) => return failed("the upstream's answer could not be read"),
        };
        turns.bytes = turns.bytes.saturating_add(body.len());
        let mut fold = Assembler::with(turns.config());
        let folded = fold.push_whole(body.clone()).and_then(|()| fold.finish());
        answers.push(body.clone());
        let decision = match folded {
            Ok(()) => turns.decide(fold.state()),
            // An error, say, or a list of stored answers: nothing that could be run.
            Err(_) if answers.len() == 1 => return Ok(Ended::Same(body, source.trailers().take())),
            Err(_) => return failed("the upstream's answer could not be read"),
        };
        let error = fold.state().error().is_some();
        let joined = |turns: &Turns<S>, mode, closing: &str| {
            let joined = join::whole(api, &answers, mode, &turns.style, &format!("[{closing}]"));
            Ok(joined.map_or_else(
                |_| Ended::Failed("the upstream's answer could not be read".into()),
                Ended::Joined,
            ))
        };
        let calls = match decision {
            Decision::Last(Mode::Pass) if answers.len() == 1 && turns.style.added.is_empty() => {
                return Ok(Ended::Same(body, source.trailers().take()));
            }
            Decision::Last(Mode::Pass) if answers.len() == 1 => {
                let trailers = source.trailers().take();
                let Ok(shown) = join::whole(api, &answers, Mode::Pass, &turns.style, "") else {
                    return Ok(Ended::Same(body, trailers));
                };
                // Only an answer that lists the request's tools has to be written anew.
                let same = !lists_tools(&body, &turns.style.added);
                return Ok(if same { Ended::Same(body, trailers) } else { Ended::Joined(shown) });
            }
            Decision::Last(_) if error => return failed("the upstream reported an error"),
            Decision::Last(mode) => return joined(turns, mode, ""),
            Decision::Fail(message) => return failed(message),
            Decision::Limit(message) => return at_limit(turns, message, joined),
            Decision::Run(calls) => calls,
        };
        let next = turns.go_on(calls, |request, answered| join::extend_whole(api, request, &body, answered));
        let response = match next.await? {
            Next::Answer(response) => response,
            Next::Limit(message) => return at_limit(turns, message, joined),
            Next::Fail(message) => return failed(message),
        };
        if !response.status().is_success() {
            return Ok(Ended::Refused(response));
        }
        let (parts, body) = response.into_parts();
        let Some(coding) = Coding::of(&parts.headers) else {
            return failed("the upstream's answer could not be read");
        };
        source = Source::new(body, coding, turns.shared.routes.limits.idle);
        if !matches!(source.look(limit).await, Ok(Look::Json)) {
            return failed("the upstream did not go on with JSON");
        }
    }
}

fn at_limit<S, R, E>(
    turns: &Turns<S>,
    message: &'static str,
    joined: impl FnOnce(&Turns<S>, Mode, &str) -> Result<Ended<R>, E>,
) -> Result<Ended<R>, E> {
    match turns.shared.settings.at_limit {
        AtLimit::Finish => joined(turns, Mode::Inner, message),
        AtLimit::Error => Ok(Ended::Failed(message.to_owned())),
    }
}

/// Whether a body names one of these tools among those that were offered.
fn lists_tools(body: &Bytes, names: &[String]) -> bool {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let tools = Object::parse(text).map(|body| body.items("tools")).unwrap_or_default();
    let name = |tool: &String| Object::parse(tool).ok()?.text("name");
    tools.iter().filter_map(name).any(|name| names.contains(&name))
}

/// What an error body says.
pub(super) fn error_message(body: &Bytes) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    // Google's streams put it into an array.
    let text = match super::json::items(text) {
        Some(list) => list.into_iter().next()?,
        None => text.to_owned(),
    };
    Object::parse(&text).ok()?.object("error")?.text("message")
}
