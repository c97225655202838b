//! Gemini: calls in pieces, in odd parts, in other candidates.

use stream_core::{Action, ErrorKind};

use crate::kit::gemini::{last, parts};
use crate::kit::{data, gate, run, whole};

const DROPPED: &[(Action, &str)] = &[(Action::Dropped, "no shells")];
const OK: &str = r#"{"text":"ok"}"#;
const BASH: &str = r#"{"functionCall":{"name":"bash","args":{"command":"rm"}}}"#;

#[test]
fn a_call_in_the_chunk_of_the_finish_is_judged() {
    let ran = run(gate, &(parts(OK) + &last(BASH, "STOP")));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.out, parts(OK) + &last("", "STOP").replace(r#""parts":[],"#, ""));
}

#[test]
fn a_call_beside_text_in_one_part_is_judged() {
    let both = r#"{"text":"ok","functionCall":{"name":"bash","args":{"command":"rm"}}}"#;
    let ran = run(gate, &(parts(both) + &last(OK, "STOP")));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), parts(OK) + &last(OK, "STOP")));
}

#[test]
fn a_call_marked_as_a_thought_is_judged() {
    let thought = r#"{"thought":true,"functionCall":{"name":"bash","args":{"command":"rm"}}}"#;
    let ran = run(gate, &(parts(OK) + &parts(thought) + &last("", "STOP")));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), parts(OK) + &last("", "STOP")));
}

#[test]
fn a_call_of_the_second_candidate_is_judged() {
    let second = data(&format!(
        r#"{{"candidates":[{{"content":{{"parts":[{OK}],"role":"model"}},"index":0}},{{"content":{{"parts":[{BASH}],"role":"model"}},"index":1}}]}}"#
    ));
    let ran = run(gate, &(second + &last("", "STOP")));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.out.matches("bash").count(), 0, "{}", ran.out);
}

#[test]
fn partial_arguments_are_judged_put_together() {
    let piece = |call: &str| parts(&format!(r#"{{"functionCall":{call}}}"#));
    let body = parts(OK)
        + &piece(r#"{"name":"bash","willContinue":true}"#)
        + &piece(
            r#"{"partialArgs":[{"jsonPath":"$.command","stringValue":"rm ","willContinue":true}],"willContinue":true}"#,
        )
        + &piece(r#"{"partialArgs":[{"jsonPath":"$.command","stringValue":"-rf"}],"willContinue":true}"#)
        + &piece("{}")
        + &last("", "STOP");
    let ran = run(gate, &body);
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), parts(OK) + &last("", "STOP")));
}

#[test]
fn a_call_under_a_key_in_snake_case_closes_the_stream() {
    let snake = r#"{"function_call":{"name":"bash","args":{"command":"rm"}}}"#;
    let ran = run(gate, &(parts(OK) + &parts(snake) + &last("", "STOP")));
    assert_eq!(ran.error, Some(ErrorKind::Malformed));
    assert_eq!(ran.out.matches("bash").count(), 0, "{}", ran.out);
    assert_eq!(ran.view.choices[0].content, "ok");
}

#[test]
fn a_call_of_a_whole_response_is_judged() {
    let response = |parts: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"finishReason":"STOP","index":0}}],"modelVersion":"x"}}"#
        )
    };
    let ran = whole(gate, &response(&format!("{OK},{BASH}")));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), response(OK)));
}

#[test]
fn code_that_the_provider_runs_is_no_call_and_unknown_parts_are() {
    let server = r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#;
    let body = parts(OK) + &parts(server) + &last("", "STOP");
    assert_eq!(run(gate, &body).out, body);
    let rules = crate::kit::deny_all();
    let unknown = r#"{"robotCall":{"name":"bash"}}"#;
    let ran = run(
        move || stream_policies::ToolGate::new(rules.clone()),
        &(parts(OK) + &parts(unknown) + &last("", "STOP")),
    );
    assert_eq!(ran.edits(), [(Action::Dropped, "no rule allows it")]);
    assert_eq!(ran.out, parts(OK) + &last("", "STOP"));
}
