//! What the fold refuses, since no policy could judge it: other names for a known call, and words after the end.

use stream_core::{ErrorKind, Verdict, each_call};

use crate::kit::{SendAll, data, named, no_calls, run};
use crate::{chat, chat_call, chat_end};

const UNREADABLE: &str = "data: {\"error\":{\"message\":\"the upstream's answer could not be read\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\ndata: [DONE]\n\n";

/// A held call is judged by its first name; clients that take the last would run the other.
#[test]
fn a_call_that_gets_another_name_under_its_own_id_closes_the_stream() {
    let body = chat_call("ls") + &chat_call("rm") + &chat_end("tool_calls");
    let ran = run(body, SendAll);
    assert_eq!(ran.outcome.error.map(|error| error.kind()), Some(ErrorKind::Renamed));
    assert_eq!(ran.out, chat_call("ls") + UNREADABLE);
}

/// Rule 28: it leaves once, since some clients put names together.
#[test]
fn a_name_that_is_repeated_with_every_fragment_is_no_other_name() {
    let more = |arguments: &str| {
        chat(&format!(
            r#"{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"ls","arguments":"{arguments}"}}}}]}}"#
        ))
    };
    let last = chat(r#"{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}"#);
    let body = more("{") + &more("}") + &chat_end("tool_calls");
    assert_eq!(run(&body, SendAll).out, more("{") + &last + &chat_end("tool_calls"));
}

/// Rule 8, where nothing that comes is payload by itself.
#[test]
fn an_annotation_after_the_terminal_marker_closes_the_stream_and_stays_back() {
    let end = chat(r#"{"content":"hi"}"#) + &chat_end("stop");
    for late in [
        r#"{"id":"c","choices":[{"index":0,"delta":{"annotations":["secret"]}}]}"#,
        r#"{"id":"c","choices":[{"index":0,"delta":{},"logprobs":{"content":[{"token":"secret"}]}}]}"#,
        r#"{"id":"c","choices":[{"index":0,"delta":{},"message":{"content":"hi"}}]}"#,
    ] {
        let ran = run(end.clone() + &data(late), no_calls());
        assert_eq!(ran.outcome.error.map(|error| error.kind()), Some(ErrorKind::AfterTerminal), "{late}");
        assert_eq!(ran.out, end, "{late}");
    }
}

/// Rule 28: the text block has taken the number of the call. The fold gives the input to the call, clients to the text or to nothing.
#[test]
fn input_for_the_number_that_a_text_block_took_from_a_call_closes_the_stream() {
    let start = r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"x","usage":{"input_tokens":1,"output_tokens":1}}}"#;
    let call = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"ls","input":{}}}"#;
    let text =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#;
    let input = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}"#;
    let ran = run(named(&[start, call, text, input]), each_call(|_, _| Verdict::Release));
    assert_eq!(ran.outcome.error.map(|error| error.kind()), Some(ErrorKind::Ambiguous));
    let unreadable = r#"{"type":"error","error":{"type":"api_error","message":"the upstream's answer could not be read"}}"#;
    // The call is held, and nobody has judged it.
    assert_eq!(ran.out, named(&[start, text, unreadable]));
}

#[test]
fn a_citation_or_a_block_after_message_stop_closes_the_stream_and_stays_back() {
    let end = named(&[
        r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"x","usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    for late in [
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"secret"}}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"rm","input":{}}}"#,
    ] {
        let ran = run(end.clone() + &named(&[late]), no_calls());
        assert_eq!(ran.outcome.error.map(|error| error.kind()), Some(ErrorKind::AfterTerminal), "{late}");
        assert_eq!(ran.out, end, "{late}");
    }
}
