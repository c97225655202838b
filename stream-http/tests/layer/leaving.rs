//! Clients that go away or read slowly, policies that wait or fail.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::StatusCode;
use http_body::{Body as _, Frame};
use http_body_util::BodyExt as _;
use stream_core::{
    Chunk, Context, Limits, Needs, Policy, PolicyError, Request, StreamState, Verdict, async_trait,
};
use stream_http::{Facts, Plan, PolicyLayer, Settings};
use stream_testkit::conformance::Ended;
use stream_testkit::{Script, WireKind};

use crate::kit::{CHAT, Gate, NoRm, events, json, passthrough, path, post, script, streamed, viewed, with};

#[tokio::test]
async fn a_client_that_goes_away_drops_the_upstream_and_aborts_the_policies() {
    let (dropped, aborted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let layer = {
        let aborted = Arc::clone(&aborted);
        PolicyLayer::new(move |_: &Facts| Plan::new().policy(Aborts(Arc::clone(&aborted))))
    };
    let gate = {
        let dropped = Arc::clone(&dropped);
        Gate::new(layer, move || {
            let first = Script::new().text("Hi").cut().bytes(WireKind::OpenAiChat);
            let frames = stream::iter([Ok(Frame::data(first))]).chain(stream::pending());
            let guard = OnDrop(Arc::clone(&dropped));
            let frames = frames.inspect(move |_: &io::Result<Frame<Bytes>>| {
                let _ = &guard;
            });
            with("content-type", "text/event-stream", streamed(frames))
        })
    };
    let mut body = Box::pin(gate.respond(post(CHAT, "{}")).await.into_body());
    body.frame().await.unwrap().unwrap();
    assert_eq!((dropped.load(Ordering::SeqCst), aborted.load(Ordering::SeqCst)), (0, 0));
    drop(body);
    assert_eq!((dropped.load(Ordering::SeqCst), aborted.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_away_from_a_whole_answer_aborts_the_policies() {
    let aborted = Arc::new(AtomicUsize::new(0));
    let layer = {
        let aborted = Arc::clone(&aborted);
        PolicyLayer::new(move |_: &Facts| Plan::new().policy(Slow).policy(Aborts(Arc::clone(&aborted))))
    };
    let gate = Gate::new(layer, || json(script().whole(WireKind::OpenAiChat)));
    let answer = tokio::time::timeout(Duration::from_millis(100), gate.respond(post(CHAT, "{}"))).await;
    assert!(answer.is_err());
    assert_eq!(aborted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn nothing_is_read_that_the_client_has_not_asked_for() {
    let taken = Arc::new(AtomicUsize::new(0));
    let stream = script().bytes(WireKind::OpenAiChat);
    let text = std::str::from_utf8(&stream).unwrap();
    let chunks: Vec<Bytes> =
        text.split_inclusive("\n\n").map(|event| Bytes::copy_from_slice(event.as_bytes())).collect();
    let total = chunks.len();
    let gate = {
        let taken = Arc::clone(&taken);
        Gate::new(passthrough(), move || {
            let taken = Arc::clone(&taken);
            let frames = stream::iter(chunks.clone()).map(move |chunk| {
                taken.fetch_add(1, Ordering::SeqCst);
                Ok(Frame::data(chunk))
            });
            with("content-type", "text/event-stream", streamed(frames))
        })
    };
    let mut body = Box::pin(gate.respond(post(CHAT, "{}")).await.into_body());
    assert_eq!(taken.load(Ordering::SeqCst), 0);
    for read in 1..=total {
        assert!(!body.is_end_stream());
        body.frame().await.unwrap().unwrap();
        assert_eq!(taken.load(Ordering::SeqCst), read);
    }
    assert!(!body.is_end_stream());
    assert!(body.frame().await.is_none());
    assert!(body.is_end_stream());
}

#[tokio::test(start_paused = true)]
async fn keep_alives_leave_while_a_call_is_judged() {
    // Rule 23.
    let settings = Settings::new().limits(Limits::default().keep_alive(Some(Duration::from_secs(10))));
    let layer = PolicyLayer::with_settings(settings, |_: &Facts| Plan::new().policy(Judged));
    let stream = Script::new().call("c", "ls", "{}").bytes(WireKind::OpenAiChat);
    let upstream = stream.clone();
    let answer = Gate::new(layer, move || events(upstream.clone())).post(CHAT).await;
    let comments = answer.text().split_inclusive("\n\n").filter(|event| event.starts_with(':')).count();
    let others: String =
        answer.text().split_inclusive("\n\n").filter(|event| !event.starts_with(':')).collect();
    assert_eq!((comments, others.as_bytes()), (2, &stream[..]));
}

#[tokio::test]
async fn a_policy_that_fails_is_an_error_and_never_an_answer() {
    let layer = || PolicyLayer::new(|_: &Facts| Plan::new().policy(Fails));
    for kind in WireKind::ALL {
        let gate = Gate::new(layer(), move || json(script().whole(kind)));
        assert_eq!(gate.post(path(kind, false)).await.status, StatusCode::INTERNAL_SERVER_ERROR);
        let gate = Gate::new(layer(), move || events(script().bytes(kind)));
        let answer = gate.post(path(kind, true)).await;
        assert_eq!(viewed(kind, &answer.body).view().ended, Ended::Error, "{kind}");
    }
}

#[tokio::test]
async fn policies_that_cannot_work_together_are_an_error() {
    let layer = || PolicyLayer::new(|_: &Facts| Plan::new().policy(Hides).policy(NoRm));
    let gate = Gate::new(layer(), || json(script().whole(WireKind::OpenAiChat)));
    let answer = gate.post(CHAT).await;
    assert_eq!(
        (answer.status, answer.text()),
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            concat!(
                r#"{"error":{"message":"the gateway's policies cannot work together: expected NoRm, which needs "#,
                r#"tool calls, before Hides, which turns them into text; found it behind","type":"server_error","#,
                r#""param":null,"code":null}}"#,
            )
        )
    );
    let gate = Gate::new(layer(), || events(script().bytes(WireKind::OpenAiChat)));
    assert_eq!(viewed(WireKind::OpenAiChat, &gate.post(CHAT).await.body).view().ended, Ended::Error);
}

/// Counts when it is dropped.
struct OnDrop(Arc<AtomicUsize>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

macro_rules! policy {
    ($name:ident, $needs:expr, |$this:ident, $chunk:ident, $state:ident, $ctx:ident| $body:expr) => {
        #[async_trait]
        impl Policy for $name {
            fn needs(&self, _: &Request) -> Needs {
                $needs
            }

            async fn on_chunk(
                &mut self,
                $chunk: Chunk,
                $state: &StreamState,
                $ctx: &mut Context<'_>,
            ) -> Result<(), PolicyError> {
                $body
            }
        }
    };
}

/// Takes a second for every step.
struct Slow;
policy!(Slow, Needs::everything(), |self, chunk, _state, ctx| {
    tokio::time::sleep(Duration::from_secs(1)).await;
    ctx.send(chunk);
    Ok(())
});

/// Releases every call after 25 seconds.
struct Judged;
policy!(Judged, Needs::everything(), |self, chunk, state, ctx| {
    match state.just_completed().and_then(|block| block.as_tool_call()) {
        Some(call) => ctx.decide(call.key(), async {
            tokio::time::sleep(Duration::from_secs(25)).await;
            Ok(Verdict::Release)
        })?,
        None if chunk.is_tool_call() => ctx.buffer(chunk),
        None => ctx.send(chunk),
    }
    Ok(())
});

/// Never returns `Ok`.
struct Fails;
policy!(Fails, Needs::everything(), |self, chunk, _state, _ctx| {
    drop(chunk);
    Err(PolicyError::new("broken"))
});

/// Says that it turns calls into text.
struct Hides;
policy!(Hides, Needs::everything().hides_calls(), |self, chunk, _state, ctx| {
    ctx.send(chunk);
    Ok(())
});

/// Counts its aborts.
struct Aborts(Arc<AtomicUsize>);

#[async_trait]
impl Policy for Aborts {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        ctx.send(chunk);
        Ok(())
    }

    fn on_abort(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
