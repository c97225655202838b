//! Lines that are no event beside those that are (rule 9): a lenient client reads them, so that they are a part of
//! their own.

use stream_core::{ChunkKind, policy_fn};

use crate::kit::{SendAll, data, named, no_calls, out};
use crate::{chat, chat_end};

const CHAT_CALL: &str =
    r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"rm"}}]}}]}"#;

#[test]
fn bare_json_beside_a_line_that_only_lenient_clients_read_does_not_leave_with_it() {
    let text = r#"{"id":"c","choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":null}]}"#;
    let body = chat(r#"{"role":"assistant"}"#) + CHAT_CALL + "\n data: " + text + "\n\n" + &chat_end("stop");
    assert_eq!(
        out(body, no_calls()),
        chat(r#"{"role":"assistant"}"#) + &chat(r#"{"content":"ok"}"#) + &chat_end("stop")
    );
}

/// Rule 28: it leaves as a line that every client reads.
#[test]
fn a_line_that_is_all_a_lenient_client_reads_leaves_as_an_event() {
    let event = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"}}]}\n\n";
    let stream = |event: &str| chat(r#"{"role":"assistant"}"#) + event + &chat_end("stop");
    assert_eq!(out(stream(&format!(": note\n {event}")), no_calls()), stream(event));
}

/// Rule 28: no client reads anything from it, and as an event of its own every client would fail on it.
#[test]
fn a_line_that_no_client_can_read_does_not_become_an_event() {
    let stray = " {\"id\":\"a\"b\"}\n\n";
    assert_eq!(out(named(&[START]) + stray + &named(&STOP), SendAll), named(&[START]) + &named(&STOP));
    let created = r#"{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#;
    let failed = r#"{"type":"response.failed","sequence_number":1,"response":{"id":"r","object":"response","status":"failed","output":[]}}"#;
    let left = out(named(&[created]) + stray + &named(&[failed]), SendAll);
    assert_eq!(left, named(&[created, failed]));
    let beside = policy_fn(|chunk, _, ctx| {
        if chunk.kind() == ChunkKind::Opaque {
            let _ = ctx.insert("so");
        }
        ctx.send(chunk);
        Ok(())
    });
    let made = named(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"so"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
    ]);
    assert_eq!(out(named(&[START]) + stray + &named(&STOP), beside), named(&[START]) + &made + &named(&STOP));
    let whole = chat(r#"{"role":"assistant"}"#) + &chat_end("stop");
    assert_eq!(out(chat(r#"{"role":"assistant"}"#) + stray + &chat_end("stop"), SendAll), whole);
}

/// Rule 28: a client that reads such a line may not read the `event` line beside it. What was judged without a type is written without one.
#[test]
fn an_event_line_gives_no_type_to_a_line_that_only_lenient_clients_read() {
    let untyped = TOOL_USE.replacen(r#""type":"content_block_start","#, "", 1);
    let body = format!("event: content_block_start\n\tdata: {untyped}\n\n");
    let left = out(named(&[START]) + &body + &named(&STOP), SendAll);
    assert_eq!(left, named(&[START]) + &data(&untyped) + &named(&STOP));
}

/// A tail that cannot be read is dropped, whoever would have read it.
#[test]
fn a_line_that_is_no_event_and_was_cut_off_is_dropped() {
    let all_but_calls = || {
        policy_fn(|chunk, _, ctx| {
            if !chunk.is_tool_call() {
                ctx.send(chunk);
            }
            Ok(())
        })
    };
    let ending = "data: {\"error\":{\"message\":\"the upstream broke off\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\ndata: [DONE]\n\n";
    for tail in [" data: ", "", "\u{feff}data: "] {
        let body = chat(r#"{"role":"assistant"}"#) + tail + &CHAT_CALL[..CHAT_CALL.len() - 9];
        assert_eq!(out(body, all_but_calls()), chat(r#"{"role":"assistant"}"#) + ending, "{tail:?}");
    }
}

const START: &str = r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"x","usage":{"input_tokens":1,"output_tokens":1}}}"#;
const TOOL_USE: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"rm","input":{}}}"#;
const STOP: [&str; 2] = [
    r#"{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":1}}"#,
    r#"{"type":"message_stop"}"#,
];

#[test]
fn a_ping_leaves_without_the_tool_use_in_a_line_beside_it() {
    let ping = named(&[r#"{"type":"ping"}"#]);
    let notice = named(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"[withheld by policy]"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
    ]);
    let expected = named(&[START]) + &ping + &notice + &named(&STOP);
    let beside = format!(" data: {TOOL_USE}\n{ping}");
    assert_eq!(out(named(&[START]) + &beside + &named(&STOP), no_calls()), expected);
    let beside = format!("{TOOL_USE}\n data: {{\"type\":\"ping\"}}\n\n");
    assert_eq!(out(named(&[START]) + &beside + &named(&STOP), no_calls()), expected);
}

#[test]
fn a_responses_event_leaves_without_the_call_in_a_line_beside_it() {
    let response = |kind: &str, status: &str| {
        format!(
            r#"{{"type":"response.{kind}","response":{{"id":"r","object":"response","status":"{status}","output":[{{"type":"web_search_call","id":"w"}}]}}}}"#
        )
    };
    let created = r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#;
    let search = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"w"}}"#;
    let call = r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","name":"rm","arguments":"{}"}}"#;
    let end = response("completed", "completed");
    let progress = response("in_progress", "in_progress");
    for event in [r#"{"type":"keepalive"}"#, progress.as_str()] {
        let beside = format!(" data: {call}\n{}", named(&[event]));
        let body = named(&[created, search]) + &beside + &named(&[&end]);
        let left = out(body, no_calls());
        // The notice for an answer of which nothing is left stands between the two.
        let before = named(&[created, search, event]);
        assert_eq!(&left[..before.len()], before);
        assert_eq!(left.find("rm"), None);
    }
}

#[test]
fn a_gemini_part_leaves_without_the_call_in_a_line_beside_it() {
    let part = |part: &str| {
        format!(r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}},"index":0}}]}}"#)
    };
    let text = data(&part(r#"{"text":"ok"}"#));
    let finish = data(r#"{"candidates":[{"finishReason":"STOP","index":0}]}"#);
    let beside = format!(" data: {}\n{text}", part(r#"{"functionCall":{"name":"rm","args":{}}}"#));
    assert_eq!(out(beside + &finish, no_calls()), text + &finish);
}
