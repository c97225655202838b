//! Frames that say a thing twice, and differently: a client may read the one that no policy saw.

use stream_core::{ErrorKind, policy_fn};

use crate::kit::{SendAll, data, named, no_calls, out, run};
use crate::{chat, chat_end};

/// Sends what does not say `secret`.
fn no_secret() -> impl stream_core::Policy {
    policy_fn(|chunk, _, ctx| {
        if !chunk.text().is_some_and(|text| text.contains("secret")) {
            ctx.send(chunk);
        }
        Ok(())
    })
}

/// A frame that cannot be judged closes the stream, and leaves nothing of itself.
fn closes(frame: &str) {
    closes_as(ErrorKind::Malformed, frame);
}

fn closes_as(kind: ErrorKind, frame: &str) {
    let before = chat(r#"{"role":"assistant"}"#);
    let ran = run(before.clone() + frame, SendAll);
    assert_eq!(ran.outcome.error.map(|error| error.kind()), Some(kind), "{frame}");
    let error = r#"{"error":{"message":"the upstream's answer could not be read","type":"server_error","param":null,"code":null}}"#;
    assert_eq!(ran.out, before + &data(error) + "data: [DONE]\n\n", "{frame}");
}

#[test]
fn twin_reasoning_that_says_something_else_is_judged_by_itself() {
    let twins = [
        (
            r#"{"reasoning_content":"ok","reasoning":"secret"}"#,
            r#"{"role":"assistant","reasoning_content":"ok"}"#,
        ),
        (r#"{"reasoning_content":"secret","reasoning":"ok"}"#, r#"{"role":"assistant","reasoning":"ok"}"#),
        (
            r#"{"reasoning":"ok","reasoning_details":[{"type":"reasoning.text","text":"secret"}]}"#,
            r#"{"role":"assistant","reasoning":"ok"}"#,
        ),
        (
            r#"{"reasoning_details":[{"type":"reasoning.text","text":"ok","summary":"secret"}]}"#,
            r#"{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"ok","summary":"ok"}]}"#,
        ),
    ];
    let answer = chat(r#"{"content":"hi"}"#) + &chat_end("stop");
    for (came, left) in twins {
        assert_eq!(out(chat(came) + &answer, no_secret()), chat(left) + &answer, "{came}");
    }
}

#[test]
fn twin_reasoning_that_says_the_same_is_judged_once() {
    let body =
        chat(r#"{"reasoning":"ok","reasoning_details":[{"text":"o"},{"text":"k"}]}"#) + &chat_end("stop");
    let mut texts = Vec::new();
    let (seen, told) = std::sync::mpsc::channel();
    let policy = policy_fn(move |chunk, _, ctx| {
        seen.send(chunk.text().map(str::to_owned)).unwrap();
        ctx.send(chunk);
        Ok(())
    });
    assert_eq!(out(&body, policy), body);
    texts.extend(told.iter().flatten());
    assert_eq!(texts, ["ok"]);
}

#[test]
fn a_call_of_two_kinds_of_tools_closes_the_stream() {
    closes_as(
        ErrorKind::Ambiguous,
        &chat(
            r#"{"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"rm","input":"x"},"function":{"name":"ls","arguments":"{}"}}]}"#,
        ),
    );
}

#[test]
fn a_key_that_stands_twice_however_it_is_spelled_closes_the_stream() {
    closes(&chat(r#"{"content":"ok","content":"secret"}"#));
    closes(&chat(r#"{"content":"ok","cont\u0065nt":"secret"}"#));
    closes(&chat(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"ls","n\u0061me":"rm"}}]}"#));
    closes(&data(r#"{"choices":[],"choices":[{"index":0,"delta":{"content":"secret"}}]}"#));
    closes(&data(r#"{"error":{"message":"no","failed_generation":null,"failed_generation":"rm"}}"#));
}

#[test]
fn two_values_in_one_event_close_the_stream() {
    closes("data: {\"choices\":[]} {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"secret\"}}]}\n\n");
    closes(
        "data: {\"choices\":[]}\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"secret\"}}]}\n\n",
    );
    closes("data: {\"choices\":[]}\0\n\n");
}

#[test]
fn a_call_in_an_error_stays_back_wherever_it_stands() {
    let before = chat(r#"{"role":"assistant"}"#);
    for error in [
        r#"{"error":{"message":"no","failed_generation":"rm"}}"#,
        r#"{"error":{"message":"no"},"failed_generation":"rm"}"#,
        r#"{"error":{"message":"no","metadata":{"raw":"{\"failed_generation\":\"rm\"}"}}}"#,
        r#"{"error":{"message":"no","error":{"failed_generation":"rm"}}}"#,
    ] {
        assert_eq!(
            out(before.clone() + &data(error), no_calls()),
            before.clone() + &data(r#"{"error":{"message":"no"}}"#),
            "{error}"
        );
    }
}

#[test]
fn an_event_of_another_format_with_the_envelope_of_a_chunk_is_no_filler() {
    let block = data(
        r#"{"object":"chat.completion.chunk","choices":[],"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"rm","input":{}}}"#,
    );
    let before = chat(r#"{"role":"assistant","content":"ok"}"#);
    assert_eq!(out(before.clone() + &block + &chat_end("stop"), no_calls()), before + &chat_end("stop"));
}

const CREATED: &str = r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#;
const UNREADABLE: &str = r#"{"type":"error","code":"server_error","message":"the upstream's answer could not be read","param":null}"#;

#[test]
fn an_event_line_that_contradicts_the_type_closes_the_stream() {
    let spoofed = "event: response.output_item.done\ndata: {\"type\":\"response.in_progress\",\"response\":{\"id\":\"r\"},\"output_index\":0,\"item\":{\"type\":\"function_call\",\"name\":\"rm\",\"arguments\":\"{}\"}}\n\n";
    assert_eq!(out(named(&[CREATED]) + spoofed, no_calls()), named(&[CREATED, UNREADABLE]));
}

#[test]
fn an_output_text_that_is_not_that_of_the_messages_closes_the_stream() {
    let completed = r#"{"type":"response.completed","response":{"id":"r","status":"completed","output_text":"secret","output":[]}}"#;
    assert_eq!(out(named(&[CREATED, completed]), SendAll), named(&[CREATED, UNREADABLE]));
}

/// The newer of the two fields is what clients run.
#[test]
fn a_computer_call_with_two_actions_is_judged_with_both() {
    let item = r#"{"type":"computer_call","id":"i","call_id":"c","action":{"type":"wait"},"actions":[{"type":"click"}]}"#;
    let added = format!(r#"{{"type":"response.output_item.added","output_index":0,"item":{item}}}"#);
    let done = format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#);
    let (seen, told) = std::sync::mpsc::channel();
    let policy = policy_fn(move |chunk, state, ctx| {
        if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
            seen.send(call.arguments().to_owned()).unwrap();
        }
        ctx.send(chunk);
        Ok(())
    });
    let body = named(&[CREATED, &added, &done]);
    assert_eq!(out(&body, policy), body);
    assert_eq!(
        told.iter().collect::<Vec<_>>(),
        [r#"{"action":{"type":"wait"},"actions":[{"type":"click"}]}"#]
    );
}
