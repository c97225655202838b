//! Keys that a lax parser takes for known ones: Go's is blind to case, pydantic's aliases to underscores.

use stream_core::ErrorKind;

use crate::chat;
use crate::kit::{SendAll, data, named, run};

/// The frame closes the stream, and nothing of it leaves.
fn closes(before: &str, frame: &str) {
    let ran = run(before.to_owned() + frame, SendAll);
    assert_eq!(ran.outcome.error.map(|error| error.kind()), Some(ErrorKind::Malformed), "{frame}");
    assert_eq!((ran.out.find(before), ran.out.find("secret")), (Some(0), None), "{frame}");
}

#[test]
fn a_chat_chunk_with_a_key_almost_like_a_known_one_closes_the_stream() {
    let before = chat(r#"{"role":"assistant"}"#);
    for frame in [
        chat(r#"{"Tool_Calls":[{"index":0,"id":"a","function":{"name":"secret"}}]}"#),
        chat(r#"{"toolCalls":[{"index":0,"id":"a","function":{"name":"secret"}}]}"#),
        chat(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"ls","Name":"secret"}}]}"#),
        chat(
            r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"ls"},"Function":{"name":"secret"}}]}"#,
        ),
        chat(r#"{"content":"ok","CONTENT":"secret"}"#),
        data(r#"{"choices":[{"index":0,"Delta":{"content":"secret"}}]}"#),
        data(r#"{"object":"chat.completion.chunk","Choices":[{"index":0,"delta":{"content":"secret"}}]}"#),
    ] {
        closes(&before, &frame);
    }
}

#[test]
fn an_anthropic_event_with_a_key_almost_like_a_known_one_closes_the_stream() {
    let before = named(&[
        r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"x","usage":{"input_tokens":1,"output_tokens":1}}}"#,
    ]);
    for event in [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""},"Content_Block":{"type":"tool_use","name":"secret"}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"ls","input":{},"Name":"secret"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok","Text":"secret"}}"#,
    ] {
        closes(&before, &named(&[event]));
    }
}

#[test]
fn a_responses_event_with_a_key_almost_like_a_known_one_closes_the_stream() {
    let before = named(&[
        r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#,
    ]);
    for event in [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"w"},"Item":{"type":"function_call","name":"secret"}}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","name":"ls","arguments":"{}","Arguments":"secret"}}"#,
        r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[],"Output":["secret"]}}"#,
    ] {
        closes(&before, &named(&[event]));
    }
}

#[test]
fn a_gemini_event_with_a_key_almost_like_a_known_one_closes_the_stream() {
    let part = |part: &str| {
        data(&format!(r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}},"index":0}}]}}"#))
    };
    let before = part(r#"{"text":"hi"}"#);
    for frame in [
        part(r#"{"function_call":{"name":"secret","args":{}}}"#),
        part(r#"{"text":"ok","Text":"secret"}"#),
        part(r#"{"functionCall":{"name":"ls","args":{},"Args":{"a":"secret"}}}"#),
        part(r#"{"functionCall":{"name":"ls","args":{},"partial_args":[{"stringValue":"secret"}]}}"#),
        data(r#"{"modelVersion":"x","Candidates":[{"content":{"parts":[{"text":"secret"}]}}]}"#),
        data(r#"{"candidates":[{"Content":{"parts":[{"text":"secret"}]}}]}"#),
        data(r#"{"candidates":[{"content":{"Parts":[{"text":"secret"}]}}]}"#),
    ] {
        closes(&before, &frame);
    }
}
