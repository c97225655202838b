//! Leaks 1, 2 and 4: calls in places where only some clients look.

use stream_core::ErrorKind;

use crate::assert_caged;
use crate::kit::{Gate, Target, Way, named, no_calls, out, run, whole};

const START: &str = r#"{"id":"m","type":"message","role":"assistant","content":[CONTENT],"model":"x","stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}"#;

/// Leak 1.
#[test]
fn a_call_in_message_start_stays_back() {
    let call = r#"{"type":"tool_use","id":"t","name":"rm_all","input":{"path":"rm_all"}}"#;
    let text = r#"{"type":"text","text":"hi"}"#;
    let start = |content: &str| {
        format!(r#"{{"type":"message_start","message":{}}}"#, START.replace("CONTENT", content))
    };
    let end = [
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    for way in Way::ALL {
        let body = named(&[&start(&format!("{text},{call}")), end[0], end[1]]);
        assert_caged(format!("{way:?}"), &out(body, Gate(Target::Calls, way)));
    }
    let body = named(&[&start(&format!("{text},{call}")), end[0], end[1]]);
    let left = START
        .replace("CONTENT", text)
        .replace(r#""stop_reason":null,"#, "")
        .replace(r#","usage""#, r#","stop_reason":null,"stop_sequence":null,"usage""#);
    let left = left.replace(
        r#""content":[{"type":"text","text":"hi"}],"model":"x""#,
        r#""model":"x","content":[{"type":"text","text":"hi"}]"#,
    );
    let start = format!(r#"{{"type":"message_start","message":{left}}}"#);
    assert_eq!(out(body, no_calls()), named(&[&start, end[0], end[1]]));
}

/// The items that the client runs (rule 7), with their values.
const ITEMS: [&str; 7] = [
    r#"{"type":"function_call","id":"i","call_id":"rm_all","name":"rm_all","arguments":"{\"a\":\"rm_all\"}"}"#,
    r#"{"type":"custom_tool_call","id":"i","call_id":"rm_all","name":"rm_all","input":"rm_all"}"#,
    r#"{"type":"shell_call","id":"i","call_id":"rm_all","action":{"commands":["rm_all"]}}"#,
    r#"{"type":"local_shell_call","id":"i","call_id":"rm_all","action":{"command":["rm_all"]}}"#,
    r#"{"type":"apply_patch_call","id":"i","call_id":"rm_all","operation":{"type":"delete_file","path":"rm_all"}}"#,
    r#"{"type":"computer_call","id":"i","call_id":"rm_all","action":{"type":"type","text":"rm_all"}}"#,
    r#"{"type":"mcp_approval_request","id":"i","server_label":"s","name":"rm_all","arguments":"{\"a\":\"rm_all\"}"}"#,
];

const CREATED: &str = r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#;

fn completed(items: &str) -> String {
    format!(
        r#"{{"type":"response.completed","response":{{"id":"r","object":"response","status":"completed","output":[{items}]}}}}"#
    )
}

fn item_event(kind: &str, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.{kind}","output_index":0,"item":{item}}}"#)
}

/// Leak 2.
#[test]
fn every_item_that_the_client_runs_stays_back_in_a_stream() {
    for item in ITEMS {
        let body = named(&[CREATED, &item_event("added", item), &item_event("done", item), &completed(item)]);
        for way in Way::ALL {
            assert_caged(format!("{item}, {way:?}"), &out(&body, Gate(Target::Calls, way)));
        }
    }
}

/// Leak 2, rule 24.
#[test]
fn every_item_that_the_client_runs_stays_back_in_a_whole_response() {
    for item in ITEMS {
        let body = format!(r#"{{"id":"r","object":"response","status":"completed","output":[{item}]}}"#);
        for way in Way::ALL {
            assert_caged(format!("{item}, {way:?}"), &whole(&body, Gate(Target::Calls, way)));
        }
    }
}

/// Leak 4: the SDKs run what this event lists.
#[test]
fn a_call_that_is_only_in_response_completed_stays_back() {
    for item in ITEMS {
        for way in Way::ALL {
            let body = named(&[CREATED, &completed(item)]);
            assert_caged(format!("{item}, {way:?}"), &out(body, Gate(Target::Calls, way)));
        }
    }
}

/// Leak 4.
#[test]
fn a_call_that_response_completed_tells_otherwise_closes_the_stream() {
    let item = r#"{"type":"function_call","id":"i","call_id":"c","name":"ls","arguments":"{}"}"#;
    let before = [CREATED, &item_event("added", item), &item_event("done", item)];
    for other in [
        item.replace("\"ls\"", "\"rm_all\""),
        item.replace("\"c\"", "\"rm_all\""),
        item.replace("{}", "{\\\"rm_all\\\":1}"),
    ] {
        let ran = run(named(&before) + &named(&[&completed(&other)]), crate::kit::SendAll);
        assert_eq!(ran.outcome.error.map(|error| error.kind()), Some(ErrorKind::CopyDisagrees), "{other}");
        let error = r#"{"type":"error","code":"server_error","message":"the upstream's answer could not be read","param":null}"#;
        assert_eq!(ran.out, named(&before) + &named(&[error]), "{other}");
    }
}
