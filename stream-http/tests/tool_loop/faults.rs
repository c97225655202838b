//! What goes wrong behind the loop: each has one outcome, and one ending.

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use stream_testkit::conformance::{Ended, check};
use stream_testkit::{Fragments, Script, WireKind};

use crate::kit::{Looped, UpstreamBody, adds, done, pieces, reply, request, said, script, separator};

fn refused() -> Response<UpstreamBody> {
    let mut response = reply("application/json", r#"{"error":{"message":"slow down","type":"x"}}"#);
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response
}

/// The second upstream call is refused: in a stream the API's error, else the refusal itself.
#[tokio::test]
async fn a_refused_second_call_ends_the_answer() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let looped = Looped::new(move |number| match number {
                0 => said(kind, streamed, &adds(1)),
                _ => refused(),
            });
            let answer = looped.ask(kind, streamed).await;
            if streamed {
                let report = check(kind, &answer.body);
                let view = report.view();
                assert_eq!(
                    (view.ended, view.choices[0].content.as_str()),
                    (Ended::Error, "Step 1."),
                    "{kind}"
                );
                assert_eq!(view.choices[0].calls.len(), 0);
                assert_eq!(answer.text().matches("slow down").count(), 1);
            } else {
                assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
                assert_eq!(answer.text(), r#"{"error":{"message":"slow down","type":"x"}}"#);
            }
        }
    }
}

/// A first answer that is refused is the client's.
#[tokio::test]
async fn a_refused_first_call_passes() {
    let looped = Looped::new(|_| refused());
    let answer = looped.ask(WireKind::OpenAiChat, true).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.text(), r#"{"error":{"message":"slow down","type":"x"}}"#);
}

/// The second answer is cut, or has an error in it: the client gets what came and the error, and no call.
#[tokio::test]
async fn a_second_answer_that_breaks_off_ends_with_the_error() {
    for kind in WireKind::ALL {
        for second in [script().text("It is").cut(), script().text("It is").error("overloaded")] {
            let looped = Looped::scripts(kind, true, vec![adds(1), second]);
            let answer = looped.ask(kind, true).await;
            let report = check(kind, &answer.body);
            assert_eq!(report.view().ended, Ended::Error, "{kind} {}", answer.text());
            let text = format!("Step 1.{}It is", separator(kind));
            assert_eq!(report.view().choices[0].content, text, "{kind}");
        }
    }
}

/// A whole second answer that breaks off, or is an error: status 502, and nothing of what came before.
#[tokio::test]
async fn a_whole_second_answer_that_breaks_off_is_a_bad_gateway() {
    for kind in WireKind::ALL {
        let whole = done().whole(kind);
        let cut = whole.slice(..whole.len() / 2);
        let error = Bytes::from_static(br#"{"error":{"message":"overloaded","type":"x"}}"#);
        for second in [cut, error] {
            let looped = Looped::new(move |number| match number {
                0 => said(kind, false, &adds(1)),
                _ => reply("application/json", second.clone()),
            });
            let answer = looped.ask(kind, false).await;
            assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{kind} {}", answer.text());
            assert_eq!(answer.text().matches("Step 1.").count(), 0, "{kind}");
        }
    }
}

/// A turn that is cut in the middle of a call: nothing is run, and no call is shown.
#[tokio::test]
async fn a_cut_turn_runs_nothing() {
    for kind in
        [WireKind::OpenAiChat, WireKind::OpenAiResponses, WireKind::AnthropicMessages, WireKind::Gemini]
    {
        for cut in [
            script().text("Hm.").call("c", "add", r#"{"a":1,"b":2}"#).cut(),
            script().text("Hm.").call("c", "add", r#"{"a":1,"b":2}"#).error("overloaded"),
        ] {
            let looped = Looped::scripts(kind, true, vec![cut]);
            let answer = looped.ask(kind, true).await;
            let report = check(kind, &answer.body);
            assert_eq!(report.view().ended, Ended::Error, "{kind} {}", answer.text());
            assert_eq!(report.view().choices[0].calls.len(), 0, "{kind}");
            assert_eq!((looped.runs().len(), looped.asked().len()), (0, 1), "{kind}");
        }
    }
}

/// A line that only lenient clients read (rule 9) cannot be written without the call that stands in it: the answer ends.
#[tokio::test]
async fn a_call_in_a_stray_line_is_neither_run_nor_shown() {
    let kind = WireKind::OpenAiChat;
    for tail in [false, true] {
        let looped = Looped::new(move |_| {
            let text = String::from_utf8(adds(1).bytes(kind).to_vec()).unwrap();
            let at = text.find("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"scripted\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\"").unwrap();
            let (before, call) = text.split_at(at);
            let end = call.find("\n\n").unwrap();
            let stray =
                if tail { call[..end].trim_start_matches("data: ").to_owned() } else { format!(" {call}") };
            reply("text/event-stream", format!("{before}{stray}"))
        });
        let answer = looped.ask(kind, true).await;
        let report = check(kind, &answer.body);
        assert_eq!(report.view().ended, Ended::Error, "{}", answer.text());
        assert_eq!(answer.text().matches("call_1").count(), 0, "{}", answer.text());
        assert_eq!((looped.runs().len(), looped.asked().len()), (0, 1));
    }
}

/// A second answer in another format: the API's error.
#[tokio::test]
async fn a_second_answer_of_another_format_ends_with_an_error() {
    for kind in WireKind::ALL {
        let other = if kind == WireKind::Gemini { WireKind::OpenAiChat } else { WireKind::Gemini };
        for streamed in [true, false] {
            let replies = move |number| match number {
                0 => said(kind, true, &adds(1)),
                _ => said(other, streamed, &done()),
            };
            let answer = Looped::new(replies).ask(kind, true).await;
            let report = check(kind, &answer.body);
            assert_eq!(report.view().ended, Ended::Error, "{kind} {}", answer.text());
            let replies = move |number| match number {
                0 => said(kind, false, &adds(1)),
                _ => said(other, streamed, &done()),
            };
            assert_eq!(Looped::new(replies).ask(kind, false).await.status, StatusCode::BAD_GATEWAY, "{kind}");
        }
    }
}

/// The result does not depend on where the upstream's bytes are cut.
#[tokio::test]
async fn the_answer_does_not_depend_on_cuts() {
    for kind in WireKind::ALL {
        let texts =
            script().reasoning("Hm.").text("Let me.").call("a", "add", r#"{"a":1,"b":2}"#).usage(3, 4);
        let whole = Looped::scripts(kind, true, vec![texts.clone(), done()]).ask(kind, true).await.body;
        for size in [1, 7, 64] {
            let texts = texts.clone();
            let looped = Looped::new(move |number| {
                let script = if number == 0 { texts.clone() } else { done() };
                let bytes = script.bytes(kind);
                pieces("text/event-stream", bytes.chunks(size).map(Bytes::copy_from_slice).collect())
            });
            assert_eq!(looped.ask(kind, true).await.body, whole, "{kind} {size}");
        }
    }
}

/// However deltas are split or packed, the client reads the same.
#[tokio::test]
async fn the_answer_does_not_depend_on_fragments() {
    for kind in WireKind::ALL {
        let say = |script: Script| script.text("Let me.").call("a", "add", r#"{"a":1,"b":2}"#).usage(3, 4);
        let ways = [
            say(Script::new()),
            say(Script::new().text_fragments(Fragments::Chars(1)).argument_fragments(Fragments::Chars(1))),
            say(Script::new().in_one_chunk()),
            say(Script::new().calls_in_one_chunk()),
        ];
        let mut views = Vec::new();
        for way in ways {
            let looped = Looped::scripts(kind, true, vec![way, done()]);
            let answer = looped.ask(kind, true).await;
            views.push(answer.report(kind, true).view().clone());
            assert_eq!(looped.runs(), [("add".to_owned(), 1, "ok".to_owned())], "{kind}");
        }
        assert!(views.windows(2).all(|pair| pair[0] == pair[1]), "{kind} {views:?}");
    }
}

/// Reasoning goes back to the model as it came, signatures included (rule 22).
#[tokio::test]
async fn signed_reasoning_goes_back_as_it_came() {
    for streamed in [true, false] {
        let think = || script().reasoning("Hm.").call("a", "add", r#"{"a":1,"b":2}"#);
        let looped = Looped::scripts(WireKind::AnthropicMessages, streamed, vec![think(), done()]);
        looped.ask(WireKind::AnthropicMessages, streamed).await;
        let block = &looped.asked()[1]["messages"][1]["content"][0];
        assert_eq!((&block["type"], &block["thinking"]), (&json!("thinking"), &json!("Hm.")));
        assert!(block["signature"].as_str().is_some_and(|signature| !signature.is_empty()));
        let looped = Looped::scripts(WireKind::OpenAiChat, streamed, vec![think(), done()]);
        looped.ask(WireKind::OpenAiChat, streamed).await;
        assert_eq!(looped.asked()[1]["messages"][1]["reasoning_content"], "Hm.");
        let looped = Looped::scripts(WireKind::OpenAiResponses, streamed, vec![think(), done()]);
        looped.ask(WireKind::OpenAiResponses, streamed).await;
        assert_eq!(looped.asked()[1]["input"][1]["type"], "reasoning");
    }
}

/// What the upstream has not kept cannot be named: with `store: false` reasoning goes back encrypted or not at all.
#[tokio::test]
async fn responses_that_are_not_stored_are_not_named() {
    let kind = WireKind::OpenAiResponses;
    for streamed in [true, false] {
        let think = script().reasoning("Hm.").text("Let me.").call("a", "add", r#"{"a":1,"b":2}"#);
        let looped = Looped::scripts(kind, streamed, vec![think, done()]);
        looped.send(request(kind, streamed, &json!({"store": false}))).await;
        let input = &looped.asked()[1]["input"];
        let kinds: Vec<&Value> = input.as_array().unwrap()[1..].iter().map(|item| &item["type"]).collect();
        assert_eq!(kinds, ["message", "function_call", "function_call_output"]);
        assert_eq!((input[1].get("id"), input[2].get("id")), (None, None));
        let looped = Looped::scripts(kind, streamed, vec![adds(1), done()]);
        looped.send(request(kind, streamed, &json!({"conversation": "conv_1"}))).await;
        let input = &looped.asked()[1]["input"];
        assert_eq!(input, &json!([{"type": "function_call_output", "call_id": "call_1", "output": "4"}]));
    }
}

/// Gemini's array without `alt=sse` is a stream too.
#[tokio::test]
async fn an_array_of_chunks_is_joined_as_one_array() {
    let kind = WireKind::Gemini;
    let array = move |script: Script| {
        let text = String::from_utf8(script.bytes(kind).to_vec()).unwrap();
        let chunks: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        format!("[{}]", chunks.join(",\r\n"))
    };
    let looped = Looped::new(move |number| {
        reply("application/json", array(if number == 0 { adds(1) } else { done() }))
    });
    let mut asked = request(kind, true, &json!({}));
    *asked.uri_mut() = "/v1beta/models/m:streamGenerateContent".parse().unwrap();
    let answer = looped.send(asked).await;
    let chunks: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
    let stream: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let report = check(kind, stream.as_bytes());
    assert_eq!(report.to_string(), "");
    assert_eq!(report.view().choices[0].content, "Step 1.\n\nIt is 5.");
    assert_eq!(looped.runs(), [("add".to_owned(), 1, "ok".to_owned())]);
}

/// A response that lists the request's tools leaves without those that the client did not offer.
#[tokio::test]
async fn the_proxys_tools_are_not_shown() {
    let kind = WireKind::OpenAiResponses;
    for streamed in [true, false] {
        let looped = Looped::new(move |_| {
            let body = if streamed { done().bytes(kind) } else { done().whole(kind) };
            let tools =
                r#""tools":[{"type":"function","name":"own"},{"type":"function","name":"add"}],"usage""#;
            let body = String::from_utf8(body.to_vec()).unwrap().replace(r#""usage""#, tools);
            reply(if streamed { "text/event-stream" } else { "application/json" }, body)
        });
        let answer = looped.ask(kind, streamed).await;
        answer.report(kind, streamed);
        assert_eq!(answer.text().matches(r#""own""#).count(), if streamed { 3 } else { 1 });
        assert_eq!(answer.text().matches(r#""add""#).count(), 0);
    }
}

/// Under the same key an upstream would give its first answer again.
#[tokio::test]
async fn an_idempotency_key_is_sent_once() {
    let kind = WireKind::OpenAiChat;
    let looped = Looped::scripts(kind, false, vec![adds(1), done()]);
    let mut asked = request(kind, false, &json!({}));
    asked.headers_mut().insert("idempotency-key", "k".parse().unwrap());
    looped.send(asked).await;
    let keys: Vec<bool> =
        looped.headers().iter().map(|headers| headers.contains_key("idempotency-key")).collect();
    assert_eq!(keys, [true, false]);
    let keys: Vec<_> = looped.headers().iter().map(|headers| headers["authorization"].clone()).collect();
    assert_eq!(keys, ["Bearer key", "Bearer key"]);
}

/// Nothing is read ahead: a body that is dropped takes the upstream with it, and one that is not read asks nothing.
#[tokio::test]
async fn nothing_runs_before_the_client_reads() {
    let kind = WireKind::OpenAiChat;
    let looped = Looped::scripts(kind, true, vec![adds(1), done()]);
    let body = looped.respond(request(kind, true, &json!({}))).await.into_body();
    tokio::task::yield_now().await;
    assert_eq!(looped.runs().len(), 0);
    body.collect().await.unwrap();
    assert_eq!(looped.runs().len(), 1);
}
