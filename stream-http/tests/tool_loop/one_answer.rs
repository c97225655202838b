//! 0, 1 and 3 iterations, on every API, streamed and whole.

use serde_json::{Value, json};
use stream_testkit::conformance::Ended;
use stream_testkit::{WireKind, second_turn};

use crate::kit::{Looped, adds, done};

/// Without calls nothing is changed: the client gets the upstream's bytes.
#[tokio::test]
async fn an_answer_without_calls_leaves_as_it_came() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let looped = Looped::scripts(kind, streamed, vec![done()]);
            let answer = looped.ask(kind, streamed).await;
            let upstream = if streamed { done().bytes(kind) } else { done().whole(kind) };
            assert_eq!(answer.body, upstream, "{kind}");
            assert_eq!(looped.asked().len(), 1);
        }
    }
}

/// Several answers are one: one text, no call, one finish, counts added up, and a second turn that every API takes.
#[tokio::test]
async fn several_answers_are_one() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            for iterations in [1, 3] {
                let mut scripts: Vec<_> = (1..=iterations).map(adds).collect();
                scripts.push(done());
                let looped = Looped::scripts(kind, streamed, scripts);
                let answer = looped.ask(kind, streamed).await;
                let report = answer.report(kind, streamed);
                let choice = &report.view().choices[0];
                let steps: Vec<String> = (1..=iterations).map(|step| format!("Step {step}.")).collect();
                let separator = match kind {
                    WireKind::OpenAiChat | WireKind::Gemini => "\n\n",
                    _ => "",
                };
                assert_eq!(choice.content, format!("{}{separator}It is 5.", steps.join(separator)), "{kind}");
                assert_eq!((choice.calls.len(), report.view().choices.len()), (0, 1));
                assert_eq!(choice.finish.as_deref(), Some(stop(kind)), "{kind}");
                assert_eq!((report.view().ended, report.view().usage), (Ended::Clean, true));
                let outputs: u64 = (1..=iterations).sum::<u64>() + 7;
                assert_eq!(counts(kind, answer.text(), streamed), (10 * iterations + 100, outputs), "{kind}");
                let second = second_turn::check(kind, &answer.body).unwrap();
                assert_eq!(second.to_string(), "", "{kind} {}", answer.text());
                assert_eq!(looped.asked().len() as u64, iterations + 1);
                let runs: Vec<_> = (1..=iterations).map(|n| ("add".into(), n as u32, "ok".into())).collect();
                assert_eq!(looped.runs(), runs);
            }
        }
    }
}

/// The assistant's turn and the results are added as each API demands them.
#[tokio::test]
async fn the_request_goes_on_in_the_words_of_its_api() {
    for streamed in [true, false] {
        for kind in WireKind::ALL {
            let looped = Looped::scripts(kind, streamed, vec![adds(2), done()]);
            looped.ask(kind, streamed).await;
            let asked = &looped.asked()[1];
            let (key, added): (&str, Value) = match kind {
                WireKind::OpenAiChat => (
                    "messages",
                    json!([
                        {"role": "assistant", "content": "Step 2.", "tool_calls": [
                            {"id": "call_2", "type": "function", "function": {"name": "add", "arguments": "{\"a\":2,\"b\":3}"}}]},
                        {"role": "tool", "tool_call_id": "call_2", "content": "5"},
                    ]),
                ),
                WireKind::OpenAiResponses => (
                    "input",
                    json!([
                        {"id": "msg_0", "type": "message", "status": "completed", "role": "assistant", "content": [
                            {"type": "output_text", "annotations": [], "logprobs": [], "text": "Step 2."}]},
                        {"id": "fc_1", "type": "function_call", "status": "completed", "arguments": "{\"a\":2,\"b\":3}",
                            "call_id": "call_2", "name": "add"},
                        {"type": "function_call_output", "call_id": "call_2", "output": "5"},
                    ]),
                ),
                WireKind::AnthropicMessages => (
                    "messages",
                    json!([
                        {"role": "assistant", "content": [
                            {"type": "text", "text": "Step 2."},
                            {"type": "tool_use", "id": "call_2", "name": "add", "input": {"a": 2, "b": 3}}]},
                        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_2", "content": "5"}]},
                    ]),
                ),
                WireKind::Gemini => (
                    "contents",
                    json!([
                        {"role": "model", "parts": [
                            {"text": "Step 2."},
                            {"functionCall": {"id": "call_2", "name": "add", "args": {"a": 2, "b": 3}}}]},
                        {"role": "user", "parts": [
                            {"functionResponse": {"id": "call_2", "name": "add", "response": {"output": "5"}}}]},
                    ]),
                ),
            };
            let list = asked[key].as_array().unwrap();
            assert_eq!(json!(list[1..]), added, "{kind}");
        }
    }
}

/// The tools of the proxy are offered in the API's own form, beside the client's.
#[tokio::test]
async fn tools_are_offered_in_the_words_of_each_api() {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}});
    for (kind, theirs, offered) in [
        (
            WireKind::OpenAiChat,
            json!([{"type": "function", "function": {"name": "own"}}]),
            json!({"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": schema}}),
        ),
        (
            WireKind::OpenAiResponses,
            json!([{"type": "function", "name": "own"}]),
            json!({"type": "function", "name": "add", "description": "Adds.", "parameters": schema, "strict": false}),
        ),
        (
            WireKind::AnthropicMessages,
            json!([{"name": "own", "input_schema": {"type": "object"}}]),
            json!({"name": "add", "description": "Adds.", "input_schema": schema}),
        ),
    ] {
        let looped = Looped::scripts(kind, true, vec![done()]);
        looped.send(crate::kit::request(kind, true, &json!({"tools": theirs}))).await;
        let tools = &looped.asked()[0]["tools"];
        assert_eq!((&tools[0], &tools[1]), (&theirs[0], &offered), "{kind}");
        assert_eq!(tools.as_array().unwrap().len(), 5);
    }
    let kind = WireKind::Gemini;
    let looped = Looped::scripts(kind, true, vec![done()]);
    let theirs = json!([{"googleSearch": {}}, {"functionDeclarations": [{"name": "own"}]}]);
    looped.send(crate::kit::request(kind, true, &json!({"tools": theirs}))).await;
    let tools = &looped.asked()[0]["tools"];
    assert_eq!(tools.as_array().unwrap().len(), 2);
    assert_eq!(
        tools[1]["functionDeclarations"][1],
        json!({"name": "add", "description": "Adds.", "parametersJsonSchema": schema})
    );
}

fn stop(kind: WireKind) -> &'static str {
    match kind {
        WireKind::OpenAiChat => "stop",
        WireKind::OpenAiResponses => "completed",
        WireKind::AnthropicMessages => "end_turn",
        WireKind::Gemini => "STOP",
    }
}

/// The last counts that a client reads: input and output.
pub(crate) fn counts(kind: WireKind, body: &str, streamed: bool) -> (u64, u64) {
    let events: Vec<Value> = if streamed {
        body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
    } else {
        vec![serde_json::from_str(body).unwrap()]
    };
    let (key, input, output) = match kind {
        WireKind::OpenAiChat => ("usage", "prompt_tokens", "completion_tokens"),
        WireKind::Gemini => ("usageMetadata", "promptTokenCount", "candidatesTokenCount"),
        _ => ("usage", "input_tokens", "output_tokens"),
    };
    let usage = |event: &Value| {
        let usage =
            [&event[key], &event["response"][key]].into_iter().find(|usage| usage.is_object())?.clone();
        Some((usage[input].as_u64().unwrap(), usage[output].as_u64().unwrap()))
    };
    events.iter().filter_map(usage).next_back().unwrap()
}
