//! One request's loop: what is asked, what is decided over an answer, what is asked next.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::poll_fn;
use http::request::Parts;
use http::{Request, Response};
use stream_core::{Config, FinishKind, StreamState};
use tokio::time::{Instant, timeout_at};
use tower_service::Service;

use super::admit::{Looped, head};
use super::join::{self, Answered, Mode, Style};
use super::json::{Object, Unreadable};
use super::layer::Shared;
use super::run::{Planned, Runner, planned};
use super::tools::Chosen;
use crate::Api;
use crate::body::RequestBody;

/// The loop of one request.
pub(super) struct Turns<S> {
    inner: S,
    parts: Parts,
    request: Object,
    chosen: Chosen,
    pub(super) shared: Arc<Shared>,
    pub(super) style: Style,
    pub(super) runner: Runner,
    /// How often tools were run.
    pub(super) iteration: u32,
    /// How many bytes answers and results had.
    pub(super) bytes: usize,
    until: Option<Instant>,
}

/// What becomes of an answer.
#[derive(Debug)]
pub(super) enum Decision {
    /// The answer is the last.
    Last(Mode),
    /// These calls are to be run.
    Run(Vec<Planned>),
    /// A limit is reached.
    Limit(&'static str),
    /// The answer cannot be gone on with.
    Fail(&'static str),
}

/// What follows an answer whose calls were run.
#[derive(Debug)]
pub(super) enum Next<A> {
    /// Another answer.
    Answer(A),
    /// A limit is reached.
    Limit(&'static str),
    /// The request cannot be gone on with.
    Fail(&'static str),
}

impl<S> Turns<S> {
    /// The loop of a request, and the first body to be sent.
    pub(super) fn new<B>(inner: S, looped: Looped, shared: Arc<Shared>) -> (Self, Request<RequestBody<B>>) {
        let Looped { parts, request, original, chosen, style, runner } = looped;
        let (head, body) = match original {
            Some((data, trailers)) => (parts.clone(), RequestBody::read(data, trailers)),
            None => written(&parts, &request),
        };
        let first = Request::from_parts(head, body);
        let turns = Self {
            inner,
            parts,
            request,
            chosen,
            shared,
            style,
            runner,
            iteration: 0,
            bytes: 0,
            until: None,
        };
        (turns, first)
    }

    pub(super) fn api(&self) -> Api {
        self.runner.facts.api()
    }

    /// How answers are folded.
    pub(super) fn config(&self) -> Config {
        let routes = &self.shared.routes;
        Config::default()
            .format(self.api().format())
            .limits(routes.limits)
            .interleaved_calls(routes.interleaved_calls)
    }

    /// Decides over an answer that is over.
    pub(super) fn decide(&self, state: &StreamState) -> Decision {
        let calls = planned(state, &self.chosen);
        if !calls.iter().any(Planned::is_own) {
            return Decision::Last(Mode::Pass);
        }
        let reason = state.finish_reason().map(stream_core::FinishReason::kind);
        let wants_results = matches!(reason, None | Some(FinishKind::Stop | FinishKind::ToolCalls));
        // Cut off by a length limit, a filter, an error or the end of the bytes: nobody knows what was meant.
        if state.error().is_some() || !self.has_ended(state) || !wants_results {
            return Decision::Last(Mode::WithoutCalls);
        }
        if state.choices().count() > 1 {
            return Decision::Fail("an answer of several choices has calls of the gateway's tools");
        }
        if self.iteration >= self.shared.settings.max_iterations {
            return Decision::Limit("the limit of tool runs was reached");
        }
        if self.bytes > self.shared.settings.total_bytes {
            return Decision::Limit(TOO_LONG);
        }
        if self.is_late() {
            return Decision::Limit(TOO_LATE);
        }
        Decision::Run(calls)
    }

    /// Whether an answer came to its end, rather than its bytes.
    pub(super) fn has_ended(&self, state: &StreamState) -> bool {
        let finishes = self.api().format().traits().finish_is_terminal && state.finish_reason().is_some();
        state.error().is_some() || state.is_terminal() || finishes
    }

    /// Whether the time is over.
    pub(super) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// Runs the calls of an answer, adds its turn and their results to the request, and asks the model again.
    pub(super) async fn go_on<B, R>(
        &mut self,
        calls: Vec<Planned>,
        add: impl FnOnce(&mut Object, &[Answered]) -> Result<(), Unreadable>,
    ) -> Result<Next<Response<R>>, S::Error>
    where
        S: Service<Request<RequestBody<B>>, Response = Response<R>>,
    {
        self.iteration += 1;
        let settings = &self.shared.settings;
        let until = *self.until.get_or_insert_with(|| Instant::now() + settings.total_time);
        let Ok(answered) = timeout_at(until, self.runner.run(calls, self.iteration)).await else {
            return Ok(Next::Limit(TOO_LATE));
        };
        let results = answered.iter().map(|call| call.result.as_str().len());
        self.bytes = self.bytes.saturating_add(results.sum());
        join::free_choice(self.runner.facts.api(), &mut self.request);
        if add(&mut self.request, &answered).is_err() {
            return Ok(Next::Fail("the request could not be gone on with"));
        }
        if self.bytes > settings.total_bytes {
            return Ok(Next::Limit(TOO_LONG));
        }
        match timeout_at(until, self.ask()).await {
            Ok(asked) => asked.map(Next::Answer),
            Err(_) => Ok(Next::Limit(TOO_LATE)),
        }
    }

    /// Asks the model again.
    async fn ask<B, R>(&mut self) -> Result<Response<R>, S::Error>
    where
        S: Service<Request<RequestBody<B>>, Response = Response<R>>,
    {
        let (mut head, body) = written(&self.parts, &self.request);
        // Under the same key an upstream would answer as it did before.
        head.headers.remove("idempotency-key");
        poll_fn(|cx| self.inner.poll_ready(cx)).await?;
        self.inner.call(Request::from_parts(head, body)).await
    }
}

fn written<B>(parts: &Parts, request: &Object) -> (Parts, RequestBody<B>) {
    let body = Bytes::from(request.to_string());
    (head(parts, body.len()), RequestBody::read(body, None))
}

/// What is said of the limits.
pub(super) const TOO_LONG: &str = "the limit of bytes for tool runs was reached";
pub(super) const TOO_LATE: &str = "the limit of time for tool runs was reached";
