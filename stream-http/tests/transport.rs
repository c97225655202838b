//! Lengths, codings, trailers, statuses, clients that go away: what HTTP adds to a stream.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod kit;

use std::convert::Infallible;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use futures::{FutureExt as _, StreamExt as _, stream};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt as _, Full, StreamBody};
use kit::{
    Gate, NoRm, UpstreamBody, events, json, passthrough, post, reply, script, script_without_rm, viewed,
    viewed_whole,
};
use stream_core::{Chunk, Context, Limits, Needs, Policy, PolicyError, StreamState, Verdict, async_trait};
use stream_http::{Facts, Plan, PolicyLayer, RequestBody, Settings, UnknownRoute, Unreadable};
use stream_testkit::conformance::{Ended, Format, check};
use stream_testkit::{Script, WireKind};
use tower::{ServiceBuilder, ServiceExt as _, service_fn};

const CHAT: &str = "/v1/chat/completions";

#[tokio::test]
async fn a_stream_has_no_length_and_an_edited_answer_its_own() {
    let stream = script().bytes(WireKind::OpenAiChat);
    let answer = Gate::new(passthrough(), move || {
        let mut response = events(stream.clone());
        for (name, value) in [("content-length", "5"), ("etag", "e"), ("content-md5", "m"), ("x-id", "7")] {
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        response
    })
    .post(CHAT)
    .await;
    let names: Vec<&str> = answer.headers.keys().map(http::HeaderName::as_str).collect();
    assert_eq!(names, ["content-type", "x-id"]);

    let whole = script().whole(WireKind::OpenAiChat);
    let answer = Gate::no_rm(move || json(whole.clone())).post(CHAT).await;
    assert_eq!(answer.header("content-length"), Some(answer.body.len().to_string().as_str()));
}

#[tokio::test]
async fn identity_is_asked_for_and_what_comes_compressed_is_decoded() {
    let codings: [(&str, fn(&[u8]) -> Bytes); 4] =
        [("gzip", gzip), ("x-gzip", gzip), ("deflate", zlib), ("deflate", raw_deflate)];
    for (coding, encode) in codings {
        let stream = script().bytes(WireKind::OpenAiChat);
        let coded = encode(&stream);
        let gate = Gate::new(passthrough(), move || with("content-encoding", coding, events(coded.clone())));
        let answer = gate.post(CHAT).await;
        assert_eq!((answer.header("content-encoding"), &answer.body), (None, &stream));
        assert_eq!(gate.asked()[0].headers["accept-encoding"], "identity");

        let whole = script().whole(WireKind::OpenAiChat);
        let coded = encode(&whole);
        let gate = Gate::new(passthrough(), move || with("content-encoding", coding, json(coded.clone())));
        let answer = gate.post(CHAT).await;
        assert_eq!((answer.header("content-encoding"), &answer.body), (None, &whole));
        assert_eq!(answer.header("content-length"), Some(whole.len().to_string().as_str()));
    }
}

#[tokio::test]
async fn a_compressed_event_leaves_before_the_next_one_comes() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    let log = script().to_log(WireKind::OpenAiChat);
    encoder.write_all(log.bytes()).unwrap();
    encoder.flush().unwrap();
    let flushed = Bytes::from(encoder.get_ref().clone());
    let gate = Gate::new(passthrough(), move || {
        let first = stream::iter([Ok(Frame::data(flushed.clone()))]);
        with("content-encoding", "gzip", streamed(first.chain(stream::pending())))
    });
    let mut body = Box::pin(gate.respond(post(CHAT, "{}")).await.into_body());
    let mut came = Vec::new();
    while let Some(Some(frame)) = body.frame().now_or_never() {
        came.extend(frame.unwrap().into_data().unwrap());
    }
    assert_eq!(&came, log.bytes());
}

#[tokio::test]
async fn a_compressed_stream_that_is_cut_off_ends_with_an_error() {
    let coded = gzip(&script().bytes(WireKind::OpenAiChat));
    let cut = coded.slice(..coded.len() - 20);
    let gate = Gate::new(passthrough(), move || with("content-encoding", "gzip", events(cut.clone())));
    let answer = gate.post(CHAT).await;
    assert_eq!(check(Format::OpenAiChat, &answer.body).view().ended, Ended::Error);

    let coded = gzip(&script().whole(WireKind::OpenAiChat));
    let cut = coded.slice(..coded.len() - 4);
    let gate = Gate::new(passthrough(), move || with("content-encoding", "gzip", json(cut.clone())));
    assert_eq!(gate.post(CHAT).await.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn a_small_body_that_becomes_a_large_one_is_not_read_to_its_end() {
    let bomb = gzip(&vec![b' '; 64 << 20]);
    assert!(bomb.len() < 400_000);
    let settings = Settings::new().response_limit(8 << 20);
    let gate = Gate::no_rm_with(settings, move || with("content-encoding", "gzip", json(bomb.clone())));
    assert_eq!(gate.post(CHAT).await.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn trailers_pass_without_what_no_longer_holds() {
    let trailers = || {
        let mut trailers = HeaderMap::new();
        trailers.insert("x-cost", "3".parse().unwrap());
        trailers.insert("content-digest", "d".parse().unwrap());
        trailers
    };
    let kinds: [(&str, Bytes); 2] = [
        ("text/event-stream", script().bytes(WireKind::OpenAiChat)),
        ("application/json", script().whole(WireKind::OpenAiChat)),
    ];
    for (kind, body) in kinds {
        let gate = Gate::no_rm(move || {
            let frames = [Ok(Frame::data(body.clone())), Ok(Frame::trailers(trailers()))];
            with("content-type", kind, streamed(stream::iter(frames)))
        });
        let answer = gate.post(CHAT).await;
        let trailers = answer.trailers.unwrap();
        assert_eq!((trailers.len(), &trailers["x-cost"]), (1, &"3".parse().unwrap()));
        assert_eq!(answer.headers.get("content-length"), None);
    }
}

#[tokio::test]
async fn a_head_passes_without_a_length() {
    let gate = Gate::no_rm(|| with("x-id", "7", json("")));
    let request = Request::builder().method(Method::HEAD).uri("/v1/responses/r").body(Full::default());
    let answer = gate.ask(request.unwrap()).await;
    assert_eq!((answer.status, answer.header("x-id"), answer.text()), (StatusCode::OK, Some("7"), ""));
    assert_eq!(answer.header("content-length"), None);
}

#[tokio::test]
async fn errors_before_the_stream_pass_untouched() {
    let cases: [(u16, &str, &str); 7] = [
        (400, "application/json", r#"{"error":{"message":"bad","type":"invalid_request_error"}}"#),
        (
            401,
            "application/json",
            r#"{"type":"error","error":{"type":"authentication_error","message":"k"}}"#,
        ),
        (404, "text/plain", "not found"),
        (429, "application/json", r#"[{"error":{"code":429,"message":"slow down","status":"X"}}]"#),
        (502, "text/html", "<html>bad gateway</html>"),
        (503, "", ""),
        (307, "text/plain", "elsewhere"),
    ];
    for (status, kind, body) in cases {
        let gate = Gate::no_rm(move || {
            let mut response = with("retry-after", "1", reply(kind, body));
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response
        });
        let answer = gate.post(CHAT).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (status, body));
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert_eq!(answer.header("content-length"), Some(body.len().to_string().as_str()));
    }
}

#[tokio::test]
async fn an_error_of_the_upstream_with_a_status_of_success_passes() {
    let body = r#"{"error":{"message":"overloaded","code":502}}"#;
    let answer = Gate::no_rm(move || json(body)).post(CHAT).await;
    assert_eq!((answer.status, answer.text()), (StatusCode::OK, body));
}

#[tokio::test]
async fn an_answer_without_a_body_passes() {
    for status in [StatusCode::OK, StatusCode::ACCEPTED, StatusCode::NO_CONTENT] {
        let gate = Gate::no_rm(move || {
            let mut response = reply("", "");
            *response.status_mut() = status;
            response
        });
        let answer = gate.post(CHAT).await;
        assert_eq!((answer.status, answer.text()), (status, ""));
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_in_the_apis_shape() {
    let cases = [
        (
            CHAT,
            concat!(
                r#"{"error":{"message":"the upstream's answer could not be read by the gateway's policies: "#,
                r#"neither JSON nor a stream of events","type":"server_error","param":null,"code":null}}"#,
            ),
        ),
        (
            "/v1/messages",
            concat!(
                r#"{"type":"error","error":{"type":"api_error","message":"the upstream's answer could not be "#,
                r#"read by the gateway's policies: neither JSON nor a stream of events"}}"#,
            ),
        ),
        (
            "/v1beta/models/g:generateContent",
            concat!(
                r#"{"error":{"code":502,"message":"the upstream's answer could not be read by the gateway's "#,
                r#"policies: neither JSON nor a stream of events","status":"INTERNAL"}}"#,
            ),
        ),
    ];
    for (path, body) in cases {
        let answer = Gate::no_rm(|| reply("text/html", "<html>hi</html>")).post(path).await;
        assert_eq!((answer.status, answer.text()), (StatusCode::BAD_GATEWAY, body));
        assert_eq!(answer.header("x-should-retry"), Some("false"));
    }
}

#[tokio::test]
async fn what_cannot_be_read_passes_if_that_is_configured() {
    let settings = || Settings::new().unreadable(Unreadable::Pass).response_limit(1000);
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(2000));
    let cases: Vec<(&str, &str, Bytes)> = vec![
        ("text/html", "identity", "<html>hi</html>".into()),
        ("application/json", "br", "whatever".into()),
        ("application/json", "identity", "{\"cut".into()),
        ("application/json", "identity", "{\"unknown\":1}".into()),
        ("application/json", "identity", long.into()),
    ];
    for (kind, coding, body) in cases {
        let upstream = body.clone();
        let gate = Gate::no_rm_with(settings(), move || {
            with("content-encoding", coding, reply(kind, upstream.clone()))
        });
        let answer = gate.post(CHAT).await;
        assert_eq!((answer.status, answer.body), (StatusCode::OK, body));
    }
}

#[tokio::test]
async fn an_answer_over_the_limit_is_refused() {
    let whole = script().whole(WireKind::OpenAiChat);
    let limit = whole.len();
    let answer = |limit| {
        let whole = whole.clone();
        let gate = Gate::no_rm_with(Settings::new().response_limit(limit), move || json(whole.clone()));
        async move { gate.post(CHAT).await.status }
    };
    assert_eq!(answer(limit).await, StatusCode::OK);
    assert_eq!(answer(limit - 1).await, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn a_request_over_the_limit_or_without_json_is_refused() {
    let gate = Gate::no_rm_with(Settings::new().request_limit(20), || json("{}"));
    let answer = gate.ask(post("/v1/messages", r#"{"model":"01234567890"}"#)).await;
    assert_eq!(
        (answer.status, answer.text()),
        (
            StatusCode::PAYLOAD_TOO_LARGE,
            concat!(
                r#"{"type":"error","error":{"type":"request_too_large","message":"expected a request body of "#,
                r#"at most 20 bytes, found a longer one"}}"#,
            )
        )
    );
    for body in ["no JSON", "[]", "\"a\"", "{} {}"] {
        assert_eq!(gate.ask(post(CHAT, body)).await.status, StatusCode::BAD_REQUEST, "{body}");
    }
    assert_eq!(gate.asked().len(), 0);
}

#[tokio::test]
async fn an_upstream_that_breaks_off_is_an_error_in_band_or_a_status() {
    let log = script().bytes(WireKind::OpenAiChat);
    let gate = Gate::no_rm(move || {
        let half = log.slice(..log.len() / 3);
        let frames = [Ok(Frame::data(half)), Err(io::Error::other("reset"))];
        with("content-type", "text/event-stream", streamed(stream::iter(frames)))
    });
    let answer = gate.post(CHAT).await;
    assert_eq!(check(Format::OpenAiChat, &answer.body).view().ended, Ended::Error);

    let gate = Gate::no_rm(|| {
        let frames = [Ok(Frame::data(Bytes::from("{\"choices\":"))), Err(io::Error::other("reset"))];
        streamed(stream::iter(frames))
    });
    assert_eq!(gate.post(CHAT).await.status, StatusCode::BAD_GATEWAY);

    let gate = Gate::no_rm(|| {
        with("content-type", "text/event-stream", streamed(stream::iter([Err(io::Error::other("reset"))])))
    });
    let answer = gate.post(CHAT).await;
    assert_eq!(check(Format::OpenAiChat, &answer.body).view().ended, Ended::Error);
}

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
        assert_eq!(gate.post(kit::path(kind, false)).await.status, StatusCode::INTERNAL_SERVER_ERROR);
        let gate = Gate::new(layer(), move || events(script().bytes(kind)));
        let answer = gate.post(kit::path(kind, true)).await;
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

#[tokio::test]
async fn unknown_routes_pass_if_that_is_configured_but_model_output_is_policed() {
    let settings = || Settings::new().unknown_route(UnknownRoute::Pass);
    for kind in WireKind::ALL {
        let gate = Gate::no_rm_with(settings(), move || json(script().whole(kind)));
        let answer = gate.post("/anything").await;
        let expected = viewed_whole(kind, &script_without_rm().whole(kind));
        assert_eq!(viewed_whole(kind, &answer.body).view(), expected.view(), "{kind}");

        let gate = Gate::no_rm_with(settings(), move || events(script().bytes(kind)));
        let answer = gate.post("/anything").await;
        let expected = viewed(kind, &script_without_rm().bytes(kind));
        assert_eq!(viewed(kind, &answer.body).view(), expected.view(), "{kind}");
    }
    let cases: [(&str, &str); 4] = [
        ("text/event-stream", "event: message\ndata: {\"jsonrpc\":\"2.0\",\"result\":{}}\n\n"),
        ("application/json", r#"{"secret":1}"#),
        ("text/html", "<html>"),
        ("", ""),
    ];
    for (kind, body) in cases {
        let gate = Gate::no_rm_with(settings(), move || reply(kind, body));
        let answer = gate.get("/anything").await;
        assert_eq!((answer.status, answer.text()), (StatusCode::OK, body));
    }
}

#[tokio::test]
async fn routes_without_model_output_are_not_looked_at() {
    let gate = Gate::no_rm(|| with("content-encoding", "br", reply("application/json", "anything")));
    let mut request = post("/v1/embeddings", "no JSON");
    request.headers_mut().insert("accept-encoding", "br".parse().unwrap());
    let answer = gate.ask(request).await;
    assert_eq!((answer.text(), answer.header("content-encoding")), ("anything", Some("br")));
    let asked = &gate.asked()[0];
    assert_eq!(
        (&asked.body[..], &asked.headers["accept-encoding"]),
        (&b"no JSON"[..], &"br".parse().unwrap())
    );
}

#[tokio::test]
async fn an_error_of_the_inner_service_is_the_services_own() {
    let inner = service_fn(|_: Request<RequestBody<Full<Bytes>>>| async {
        Err::<Response<Full<Bytes>>, _>(io::Error::other("unreachable"))
    });
    let service = ServiceBuilder::new().layer(passthrough()).service(inner);
    assert_eq!(service.oneshot(post(CHAT, "{}")).await.unwrap_err().to_string(), "unreachable");
}

#[tokio::test]
async fn the_trailers_of_a_request_arrive() {
    let inner = service_fn(|request: Request<RequestBody<UpstreamBody>>| async {
        let body = request.into_body().collect().await.unwrap();
        assert_eq!(body.trailers().unwrap()["x-sum"], "1");
        assert_eq!(body.to_bytes(), "{}");
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
    });
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", "1".parse().unwrap());
    let frames = [Ok(Frame::data(Bytes::from("{}"))), Ok(Frame::trailers(trailers))];
    let body = StreamBody::new(stream::iter(frames)).boxed_unsync();
    let request = Request::post(CHAT).body(body).unwrap();
    let answer = ServiceBuilder::new().layer(passthrough()).service(inner).oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}

fn with(name: &'static str, value: &str, mut response: Response<UpstreamBody>) -> Response<UpstreamBody> {
    response.headers_mut().insert(name, value.parse().unwrap());
    response
}

fn streamed<S>(frames: S) -> Response<UpstreamBody>
where
    S: futures::Stream<Item = io::Result<Frame<Bytes>>> + Send + 'static,
{
    Response::new(StreamBody::new(frames).boxed_unsync())
}

fn gzip(body: &[u8]) -> Bytes {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap().into()
}

fn zlib(body: &[u8]) -> Bytes {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap().into()
}

fn raw_deflate(body: &[u8]) -> Bytes {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap().into()
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
            fn needs(&self) -> Needs {
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
