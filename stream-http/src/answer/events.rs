//! Answers that are streamed.

use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt as _};
use http::Response;
use http::StatusCode;
use http::response::Parts;
use http_body::Body;
use stream_core::delta::{Delta, DeltaKind};
use stream_core::sse::Framer;
use stream_core::wire::Decoded;
use stream_core::{Ending, Origin};
use tokio::time::{Instant, timeout_at};

use super::head;
use super::whole::{Left, one, what};
use crate::body::{BoxError, ResponseBody};
use crate::layer::Shared;
use crate::refusal::Refusal;
use crate::source::{Look, Source};
use crate::watch::Watch;
use crate::{Api, Facts, Unreadable};

/// Polices a stream while it is read.
///
/// Its head leaves at once, unless a status is to tell of a block: then it waits until the model's first word has
/// left.
pub(super) async fn answer<B>(
    mut parts: Parts,
    source: Source<B>,
    facts: Facts,
    shared: Shared,
) -> Response<ResponseBody<B>>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let api = facts.api();
    let trailers = source.trailers();
    let status = shared.settings().block_status.filter(|_| parts.status.is_success());
    let limits = shared.settings().limits;
    let patience = limits.keep_alive.unwrap_or(limits.idle);
    let watch = Watch::default();
    let mut stream = policed(source, facts, shared, watch.clone()).boxed();
    head::stream(&mut parts.headers);
    if let Some(status) = status {
        let opening = opening(&mut stream, api, &watch, patience).await;
        if let Some(ending) = watch.blocked() {
            return Refusal::blocked(api, status, ending).into_response();
        }
        match watch.error() {
            Some(error) if error.origin() == Origin::Policy => {
                let message = "a policy could not decide";
                return Refusal::new(api, StatusCode::INTERNAL_SERVER_ERROR, message).into_response();
            }
            Some(error) => return Refusal::unreadable(api, &what(error)).into_response(),
            None => stream = stream::iter(opening).chain(stream).boxed(),
        }
    }
    Response::from_parts(parts, ResponseBody::stream(stream.map(Ok), trailers))
}

/// What leaves before it is known whether a policy blocks the answer at its first word: openings, comments, pings. A
/// client waits for it no longer than for a keep-alive.
async fn opening(
    stream: &mut BoxStream<'static, Bytes>,
    api: Api,
    watch: &Watch,
    patience: Duration,
) -> Vec<Bytes> {
    let mut opening = Vec::new();
    let mut framer = Framer::new(usize::MAX);
    let until = Instant::now() + patience;
    while let Ok(Some(bytes)) = timeout_at(until, stream.next()).await {
        framer.push(&bytes);
        opening.push(bytes);
        let is_over = watch.blocked().is_some() || watch.error().is_some();
        if is_over || speaks(&mut framer, api) {
            break;
        }
    }
    opening
}

/// Whether one of the next frames says more than that an answer begins. What cannot be read may say anything.
fn speaks(framer: &mut Framer, api: Api) -> bool {
    while let Ok(Some(frame)) = framer.next_frame() {
        let mut decoded = Decoded::new();
        let is_read = frame.data_bytes().is_none() || api.format().decode(&frame, &mut decoded).is_ok();
        let is_opening = |delta: &Delta| {
            use DeltaKind::{Comment, ItemStart, Opening, Ping, Role, Start, Usage};
            matches!(delta.kind, Comment | ItemStart { .. } | Opening | Ping | Role | Start { .. } | Usage(_))
        };
        if !is_read || !decoded.deltas.iter().all(is_opening) {
            return true;
        }
    }
    false
}

/// What policies leave of a stream. One that says it is events and is JSON all the same is policed as that.
fn policed<B>(
    mut source: Source<B>,
    facts: Facts,
    shared: Shared,
    watch: Watch,
) -> impl Stream<Item = Bytes> + Send
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let decided = async move {
        let limit = shared.settings().limits.frame;
        match source.look(limit).await {
            Ok(Look::Json) => json(source, facts, shared).await,
            // What broke already breaks again, in the processor.
            Err(broken) => {
                let broken = stream::iter([Err::<Bytes, _>(broken)]);
                processed(broken, &facts, &shared, watch)
            }
            Ok(_) => processed(source, &facts, &shared, watch),
        }
    };
    // What decides is some kilobytes large and over before the first event: its box is given back then.
    stream::once(Box::pin(decided)).flatten()
}

fn processed<S, E>(source: S, facts: &Facts, shared: &Shared, watch: Watch) -> BoxStream<'static, Bytes>
where
    S: Stream<Item = Result<Bytes, E>> + Send + 'static,
    E: Into<BoxError> + Send + 'static,
{
    let watched = shared.settings().block_status.is_some();
    let builder = shared.plan(facts).builder(facts, shared.config(), watched.then_some(watch));
    match builder.build(source) {
        Ok(processor) => processor.boxed(),
        Err(_) => ended(facts.api(), "the gateway's policies cannot work together"),
    }
}

/// JSON in place of events: whoever reads it as JSON gets what is left of it.
async fn json<B>(mut source: Source<B>, facts: Facts, shared: Shared) -> BoxStream<'static, Bytes>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let Ok(Some(body)) = source.read_all(shared.settings().response_limit).await else {
        return ended(facts.api(), "the upstream's answer could not be read");
    };
    let body = match one(&body, &facts, &shared).await {
        Left::Same => body,
        Left::Changed(body) | Left::Blocked { body, .. } => body,
        Left::Unreadable(_) if shared.settings().unreadable == Unreadable::Pass => body,
        Left::Unreadable(_) | Left::Violating(_) => {
            return ended(facts.api(), "the upstream's answer could not be read");
        }
        Left::Failed(message) => return ended(facts.api(), &message),
    };
    stream::iter([body]).boxed()
}

/// A stream that is nothing but the API's error.
fn ended(api: Api, message: &str) -> BoxStream<'static, Bytes> {
    let mut out = Vec::new();
    api.format()
        .writer(&stream_core::wire::WriterOptions::default())
        .end(&Ending::failure(message), &mut out);
    stream::iter(out).boxed()
}
