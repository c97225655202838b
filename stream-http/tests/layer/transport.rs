//! Lengths, codings, trailers, statuses, clients that go away: what HTTP adds to a stream.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use stream_core::Limits;
use stream_http::{RequestBody, Settings, UnknownRoute, Unreadable};
use stream_testkit::WireKind;
use stream_testkit::conformance::{Ended, check};
use tower::{ServiceBuilder, ServiceExt as _, service_fn};

use crate::kit::{
    CHAT, Gate, UpstreamBody, events, json, passthrough, post, reply, script, script_without_rm, streamed,
    viewed, viewed_whole, with,
};

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

/// No policy reads trailers: an upstream could say anything there. What is not policed keeps its own.
#[tokio::test]
async fn trailers_of_a_policed_answer_do_not_leave() {
    let trailers = || HeaderMap::from_iter([("x-call".parse().unwrap(), "rm -rf /".parse().unwrap())]);
    let kinds: [(u16, &str, Bytes); 5] = [
        (200, "text/event-stream", script().bytes(WireKind::OpenAiChat)),
        (200, "application/json", script().whole(WireKind::OpenAiChat)),
        (200, "application/json", script_without_rm().whole(WireKind::OpenAiChat)),
        (200, "application/json", Bytes::new()),
        (400, "application/json", Bytes::from_static(br#"{"error":{"message":"bad"}}"#)),
    ];
    let settings = || Settings::new().unknown_route(UnknownRoute::Pass);
    for (status, kind, body) in kinds {
        let sent = body.clone();
        let gate = Gate::no_rm_with(settings(), move || {
            let frames = [Ok(Frame::data(sent.clone())), Ok(Frame::trailers(trailers()))];
            let mut response = with("content-type", kind, streamed(stream::iter(frames)));
            response.headers_mut().insert("trailer", "x-call".parse().unwrap());
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response
        });
        for path in [CHAT, "/v1/new-route"] {
            let is_known = path == CHAT;
            let is_recognised = status == 200 && !body.is_empty();
            let kept = (!is_known && !is_recognised).then(trailers);
            let (announced, came) = trailing(&gate, post(path, "{}")).await;
            assert_eq!((announced, came), (kept.is_some(), kept), "{path} {status} {kind}");
        }
    }
    let gate = Gate::no_rm(move || {
        streamed(stream::iter([Ok(Frame::data(Bytes::from_static(b"{}"))), Ok(Frame::trailers(trailers()))]))
    });
    let models = Request::get("/v1/models").body(Full::default()).unwrap();
    assert_eq!(trailing(&gate, models).await, (false, Some(trailers())));
}

/// Whether the head of an answer announces trailers, and those that came.
async fn trailing(gate: &Gate, request: Request<Full<Bytes>>) -> (bool, Option<HeaderMap>) {
    let response = gate.respond(request).await;
    let announced = response.headers().contains_key("trailer");
    (announced, response.into_body().collect().await.unwrap().trailers().cloned())
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
    let cases: [(u16, &str, &str); 6] = [
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
async fn what_was_read_and_found_wrong_never_passes() {
    // Else a third block would be a way around the policies of the first two.
    let settings = Settings::new().unreadable(Unreadable::Pass).limits(Limits::default().blocks(2));
    let gate = Gate::no_rm_with(settings, || json(script().whole(WireKind::OpenAiChat)));
    assert_eq!(gate.post(CHAT).await.status, StatusCode::BAD_GATEWAY);
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
    assert_eq!(check(WireKind::OpenAiChat, &answer.body).view().ended, Ended::Error);

    let gate = Gate::no_rm(|| {
        let frames = [Ok(Frame::data(Bytes::from("{\"choices\":"))), Err(io::Error::other("reset"))];
        streamed(stream::iter(frames))
    });
    assert_eq!(gate.post(CHAT).await.status, StatusCode::BAD_GATEWAY);

    let gate = Gate::no_rm(|| {
        with("content-type", "text/event-stream", streamed(stream::iter([Err(io::Error::other("reset"))])))
    });
    let answer = gate.post(CHAT).await;
    assert_eq!(check(WireKind::OpenAiChat, &answer.body).view().ended, Ended::Error);
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_falls_silent_is_not_waited_for_for_ever() {
    // Rule 26.
    let settings = || Settings::new().limits(Limits::default().idle(Duration::from_secs(7)));
    let gate = Gate::no_rm_with(settings(), || {
        let start = stream::iter([Ok(Frame::data(Bytes::from("{\"choices\":")))]);
        streamed(start.chain(stream::pending()))
    });
    let answer = gate.post(CHAT).await;
    assert_eq!(
        (answer.status, answer.text()),
        (
            StatusCode::BAD_GATEWAY,
            concat!(
                r#"{"error":{"message":"the upstream's answer could not be read by the gateway's policies: "#,
                r#"silence for 7s","type":"server_error","param":null,"code":null}}"#,
            )
        )
    );
    let gate = Gate::no_rm_with(settings(), || {
        with("content-type", "text/event-stream", streamed(stream::pending()))
    });
    let answer = gate.post(CHAT).await;
    assert_eq!(check(WireKind::OpenAiChat, &answer.body).view().ended, Ended::Error);
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
