//! Exact bytes, for each API, streamed and whole.

use crate::kit::{
    Block, Gate, events, json, passthrough, path, post, script, script_without_rm, viewed, viewed_whole,
};
use http::StatusCode;
use stream_core::{Chunk, Context, Ending, Policy, PolicyError, Stage, StreamState, async_trait};
use stream_http::{Facts, Plan, PolicyLayer, Settings};
use stream_testkit::conformance::Ended;
use stream_testkit::{Script, WireKind};

#[tokio::test]
async fn an_untouched_stream_leaves_as_it_came() {
    for kind in WireKind::ALL {
        let stream = script().bytes(kind);
        let upstream = stream.clone();
        let answer = Gate::new(passthrough(), move || events(upstream.clone())).post(path(kind, true)).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        assert_eq!(answer.body, stream, "{kind}");
    }
}

#[tokio::test]
async fn an_untouched_whole_answer_leaves_as_it_came() {
    for kind in WireKind::ALL {
        let whole = script().whole(kind);
        let upstream = whole.clone();
        let answer = Gate::new(passthrough(), move || json(upstream.clone())).post(path(kind, false)).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("content-length"), Some(whole.len().to_string().as_str()));
        assert_eq!(answer.body, whole, "{kind}");
    }
}

#[tokio::test]
async fn a_call_is_dropped_from_a_stream() {
    for kind in WireKind::ALL {
        let upstream = script().bytes(kind);
        let answer = Gate::no_rm(move || events(upstream.clone())).post(path(kind, true)).await;
        assert_eq!(answer.status, StatusCode::OK);
        let expected = viewed(kind, &script_without_rm().bytes(kind));
        assert_eq!(viewed(kind, &answer.body).view(), expected.view(), "{kind}");
        assert!(!answer.text().contains("secret"), "{kind}");
    }
}

#[tokio::test]
async fn a_call_is_dropped_from_a_whole_answer() {
    // Rule 24.
    for kind in WireKind::ALL {
        let upstream = script().whole(kind);
        let answer = Gate::no_rm(move || json(upstream.clone())).post(path(kind, false)).await;
        assert_eq!(answer.status, StatusCode::OK);
        let expected = viewed_whole(kind, &script_without_rm().whole(kind));
        assert_eq!(viewed_whole(kind, &answer.body).view(), expected.view(), "{kind}");
        assert!(!answer.text().contains("secret"), "{kind}");
    }
}

#[tokio::test]
async fn the_exact_bytes_of_a_policed_chat_answer() {
    let body = concat!(
        r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":"#,
        r#"{"role":"assistant","content":"Hi","tool_calls":[{"id":"1","type":"function","function":"#,
        r#"{"name":"rm","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
    );
    let answer = Gate::no_rm(move || json(body)).post("/v1/chat/completions").await;
    assert_eq!(
        answer.text(),
        concat!(
            r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":"#,
            r#"{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#,
        )
    );
    assert_eq!(answer.header("content-length"), Some(answer.body.len().to_string().as_str()));
}

#[tokio::test]
async fn the_array_of_gemini_is_policed_as_one_answer() {
    let call = r#"{"functionCall":{"name":"rm","args":{}}}"#;
    let body = format!(
        r#"[{{"candidates":[{{"index":0,"content":{{"role":"model","parts":[{{"text":"Hi"}}]}}}}]}},
{{"candidates":[{{"index":0,"content":{{"role":"model","parts":[{call}]}},"finishReason":"STOP"}}]}}]"#
    );
    let upstream = body.clone();
    let gate = Gate::new(passthrough(), move || json(upstream.clone()));
    assert_eq!(gate.post("/v1beta/models/g:streamGenerateContent").await.text(), body);

    let gate = Gate::no_rm(move || json(body.clone()));
    let answer = gate.post("/v1beta/models/g:streamGenerateContent").await;
    assert_eq!(
        answer.text(),
        concat!(
            r#"[{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Hi"}]}}]},"#,
            r#"{"candidates":[{"index":0,"content":{"role":"model"},"finishReason":"STOP"}]}]"#,
        )
    );
}

#[tokio::test]
async fn stored_answers_are_policed_whatever_the_method() {
    let upstream = script().whole(WireKind::OpenAiResponses);
    let gate = Gate::no_rm(move || json(upstream.clone()));
    let expected =
        viewed_whole(WireKind::OpenAiResponses, &script_without_rm().whole(WireKind::OpenAiResponses));
    for answer in [
        gate.get("/v1/responses/resp_1").await,
        gate.post("/v1/responses/resp_1/cancel").await,
        gate.ask(http::Request::put("/v1/responses/resp_1").body(Default::default()).unwrap()).await,
    ] {
        assert_eq!(viewed_whole(WireKind::OpenAiResponses, &answer.body).view(), expected.view());
    }
}

#[tokio::test]
async fn a_list_of_stored_completions_is_policed_one_by_one() {
    let whole = |script: Script| String::from_utf8(script.whole(WireKind::OpenAiChat).to_vec()).unwrap();
    let (with, without) = (whole(script()), whole(script_without_rm()));
    // What was edited has no log probabilities (rule 19).
    let edited = without.replace(r#","logprobs":null"#, "");
    let list =
        |items: &[&str]| format!(r#"{{"object":"list","data":[{}],"has_more":false}}"#, items.join(", "));
    let body = list(&[&without, &with, &without]);
    let gate = Gate::no_rm(move || json(body.clone()));
    assert_eq!(gate.get("/v1/chat/completions?limit=3").await.text(), list(&[&without, &edited, &without]));

    let body = list(&[&without]);
    let upstream = body.clone();
    let gate = Gate::no_rm(move || json(upstream.clone()));
    assert_eq!(gate.get("/v1/chat/completions").await.text(), body);
}

#[tokio::test]
async fn that_something_was_deleted_passes() {
    let chat = r#"{"object":"chat.completion.deleted","id":"c","deleted":true}"#;
    let responses = r#"{"id":"resp_1","object":"response","deleted":true}"#;
    for (path, body) in [("/v1/chat/completions/c", chat), ("/v1/responses/resp_1", responses)] {
        let gate = Gate::no_rm(move || json(body));
        let delete = http::Request::delete(path).body(Default::default()).unwrap();
        assert_eq!(gate.ask(delete).await.text(), body);
    }
}

#[tokio::test]
async fn a_refusal_is_the_apis_own() {
    let layer = || PolicyLayer::new(|_: &Facts| Plan::new().policy(Block(Ending::refuse("no"))));
    for kind in WireKind::ALL {
        let upstream = script().bytes(kind);
        let answer = Gate::new(layer(), move || events(upstream.clone())).post(path(kind, true)).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(viewed(kind, &answer.body).view().ended, Ended::Refused, "{kind}");

        let upstream = script().whole(kind);
        let answer = Gate::new(layer(), move || json(upstream.clone())).post(path(kind, false)).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(viewed_whole(kind, &answer.body).view().ended, Ended::Refused, "{kind}");
    }
}

#[tokio::test]
async fn an_error_ending_of_a_whole_answer_is_a_status() {
    for (kind, body) in FORBIDDEN {
        let layer = PolicyLayer::new(|_: &Facts| Plan::new().policy(Block(Ending::error("no"))));
        let upstream = script().whole(kind);
        let answer = Gate::new(layer, move || json(upstream.clone())).post(path(kind, false)).await;
        assert_eq!((answer.status, answer.text()), (StatusCode::FORBIDDEN, body));
    }
}

#[tokio::test]
async fn a_block_before_anything_was_sent_may_use_the_status() {
    let settings = || Settings::new().block_status(StatusCode::FORBIDDEN);
    let layer = || {
        PolicyLayer::with_settings(settings(), |_: &Facts| Plan::new().policy(Block(Ending::refuse("no"))))
    };
    for (kind, body) in FORBIDDEN {
        let upstream = script().whole(kind);
        let answer = Gate::new(layer(), move || json(upstream.clone())).post(path(kind, false)).await;
        assert_eq!((answer.status, answer.text()), (StatusCode::FORBIDDEN, body));
    }
    // Openings, which leave by themselves, wait for the first word.
    for kind in WireKind::ALL {
        let upstream = script().bytes(kind);
        let answer = Gate::new(layer(), move || events(upstream.clone())).post(path(kind, true)).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{kind}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
    // Something has left already: the block is in-band (rule 20).
    for kind in WireKind::ALL {
        let layer = PolicyLayer::with_settings(settings(), |_: &Facts| Plan::new().policy(NoSecondWord(0)));
        let upstream = script().bytes(kind);
        let answer = Gate::new(layer, move || events(upstream.clone())).post(path(kind, true)).await;
        assert_eq!(answer.status, StatusCode::OK, "{kind}");
        assert_eq!(viewed(kind, &answer.body).view().ended, Ended::Refused, "{kind}");
        assert_eq!(viewed(kind, &answer.body).view().choices[0].content, "Let ", "{kind}");
    }

    // Nothing was blocked: nothing changes.
    let layer = PolicyLayer::with_settings(settings(), |_: &Facts| Plan::new());
    let stream = script().bytes(WireKind::OpenAiChat);
    let upstream = stream.clone();
    let answer = Gate::new(layer, move || events(upstream.clone())).post("/v1/chat/completions").await;
    assert_eq!((answer.status, answer.body), (StatusCode::OK, stream));
}

/// A policy that is only monitored ends nothing: no status tells of it.
#[tokio::test]
async fn a_block_of_a_policy_that_is_not_enforced_changes_no_status() {
    let layer = || {
        let settings = Settings::new().block_status(StatusCode::FORBIDDEN);
        PolicyLayer::with_settings(settings, |_: &Facts| {
            Plan::new().policy(Stage::new(Block(Ending::error("no"))).monitor())
        })
    };
    for kind in WireKind::ALL {
        let (stream, whole) = (script().bytes(kind), script().whole(kind));
        let upstream = stream.clone();
        let answer = Gate::new(layer(), move || events(upstream.clone())).post(path(kind, true)).await;
        assert_eq!((answer.status, answer.body), (StatusCode::OK, stream), "{kind}");
        let upstream = whole.clone();
        let answer = Gate::new(layer(), move || json(upstream.clone())).post(path(kind, false)).await;
        assert_eq!((answer.status, answer.body), (StatusCode::OK, whole), "{kind}");
    }
}

#[tokio::test]
async fn the_request_arrives_byte_for_byte_and_its_facts_reach_the_plan() {
    let body = "{ \"model\": \"m\", \"stream\":true,\n\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"ls\",\"parameters\":{}}}] }";
    let layer = PolicyLayer::new(|facts: &Facts| {
        assert_eq!((facts.model(), facts.asks_for_stream()), (Some("m"), true));
        assert_eq!(facts.tools()[0].name(), "ls");
        assert_eq!(facts.tools()[0].parameters(), Some("{}"));
        assert_eq!(facts.headers()["authorization"], "Bearer k");
        Plan::new()
    });
    let stream = script().bytes(WireKind::OpenAiChat);
    let gate = Gate::new(layer, move || events(stream.clone()));
    let mut request = post("/v1/chat/completions?a=b", body);
    request.headers_mut().insert("authorization", "Bearer k".parse().unwrap());
    request.headers_mut().insert("accept-encoding", "gzip, br".parse().unwrap());
    gate.ask(request).await;
    let asked = &gate.asked()[0];
    assert_eq!((asked.uri.as_str(), &asked.body[..]), ("/v1/chat/completions?a=b", body.as_bytes()));
    assert_eq!(asked.headers["authorization"], "Bearer k");
    assert_eq!(asked.headers["accept-encoding"], "identity");
}

/// Ends an answer at its second piece.
struct NoSecondWord(usize);

#[async_trait]
impl Policy for NoSecondWord {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        self.0 += usize::from(chunk.is_payload());
        match self.0 {
            2 => ctx.terminate(Ending::refuse("no")),
            _ => ctx.send(chunk),
        }
        Ok(())
    }
}

/// What a block is told with, where it is told by the status 403.
const FORBIDDEN: [(WireKind, &str); 4] = [
    (
        WireKind::OpenAiChat,
        r#"{"error":{"message":"no","type":"policy_error","param":null,"code":"blocked_by_policy"}}"#,
    ),
    (
        WireKind::OpenAiResponses,
        r#"{"error":{"message":"no","type":"policy_error","param":null,"code":"blocked_by_policy"}}"#,
    ),
    (WireKind::AnthropicMessages, r#"{"type":"error","error":{"type":"blocked_by_policy","message":"no"}}"#),
    (
        WireKind::Gemini,
        r#"{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"blocked_by_policy","domain":"policy_error"}]}}"#,
    ),
];
