//! Anthropic: calls where only some clients look.

use stream_core::{Action, ErrorKind};

use crate::kit::anthropic::{call, delta, end, open, start, start_with, stop, text, unreadable};
use crate::kit::{gate, named, run, whole};

const DROPPED: &[(Action, &str)] = &[(Action::Dropped, "no shells")];
const BASH: &str = r#"{"type":"tool_use","id":"t","name":"bash","input":{"command":"rm -rf /"}}"#;

fn only_text() -> String {
    start() + &text(0, "ok") + &end("end_turn")
}

#[test]
fn a_tool_use_whose_input_is_filled_at_its_start_is_judged() {
    let ran = run(gate, &(start() + &text(0, "ok") + &open(1, BASH) + &stop(1) + &end("tool_use")));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), only_text()));
}

#[test]
fn a_tool_use_inside_of_message_start_is_judged() {
    let ok = r#"{"type":"text","text":"ok"}"#;
    let ran = run(gate, &(start_with(&format!("{ok},{BASH}")) + &end("tool_use")));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), start_with(ok) + &end("end_turn")));
}

#[test]
fn input_that_comes_both_at_the_start_and_in_deltas_is_one_call() {
    let more = delta(1, r#"{"type":"input_json_delta","partial_json":"{\"command\":\"ls\"}"}"#);
    let ran = run(gate, &(start() + &text(0, "ok") + &open(1, BASH) + &more + &stop(1) + &end("tool_use")));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), only_text()));
}

#[test]
fn a_delta_after_the_stop_of_an_allowed_call_closes_the_stream() {
    let first = start() + &call(0, "t", "ls", "{}");
    let late = delta(0, r#"{"type":"input_json_delta","partial_json":"{\"command\":\"rm\"}"}"#);
    let ran = run(gate, &(first.clone() + &late + &end("tool_use")));
    assert_eq!((ran.error, ran.out), (Some(ErrorKind::LateDelta), first + &unreadable()));
}

#[test]
fn input_deltas_of_a_text_block_are_a_call_without_an_opening() {
    let before = start() + &text(0, "ok") + &open(1, r#"{"type":"text","text":""}"#);
    let odd = delta(1, r#"{"type":"input_json_delta","partial_json":"{\"command\":\"rm\"}"}"#);
    let ran = run(gate, &(before.clone() + &odd + &stop(1) + &end("tool_use")));
    assert_eq!(ran.edits(), [(Action::Dropped, "its opening was not in the stream")]);
    assert_eq!(ran.out, before + &stop(1) + &end("end_turn"));
}

#[test]
fn a_block_that_opens_again_at_the_index_of_an_allowed_call_is_a_call_of_its_own() {
    let first = start() + &call(0, "t", "ls", "{}");
    let ran = run(gate, &(first.clone() + &open(0, BASH) + &stop(0) + &end("tool_use")));
    assert_eq!(ran.view.choices[0].calls.len(), 1);
    assert_eq!(ran.out, first + &end("tool_use"));
}

#[test]
fn a_call_that_never_stops_is_judged_at_the_end() {
    let ran = run(gate, &(start() + &text(0, "ok") + &open(1, BASH) + &end("tool_use")));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), only_text()));
}

#[test]
fn a_block_whose_type_only_looks_like_that_of_a_call_is_denied_where_anything_is() {
    for kind in ["Tool_Use", "tool-use", "mcp_tool_use2", "function_call", "TOOL\u{200b}_USE"] {
        let block = BASH.replace("tool_use", kind);
        let ran = run(gate, &(start() + &text(0, "ok") + &open(1, &block) + &stop(1) + &end("tool_use")));
        assert_eq!(ran.edits(), [(Action::Dropped, "it cannot be read and may hold a call")], "{kind}");
        assert_eq!(ran.out, start() + &text(0, "ok") + &end("tool_use"), "{kind}");
    }
}

#[test]
fn an_event_that_is_named_otherwise_than_its_type_closes_the_stream() {
    let spoofed = format!(
        "event: content_block_start\ndata: {{\"type\":\"ping\",\"index\":0,\"content_block\":{BASH}}}\n\n"
    );
    let ran = run(gate, &(start() + &spoofed + &end("tool_use")));
    assert_eq!((ran.error, ran.out), (Some(ErrorKind::Malformed), start() + &unreadable()));
}

#[test]
fn a_call_in_an_unnamed_event_is_judged() {
    let unnamed =
        format!("data: {{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{BASH}}}\n\n");
    let ran = run(gate, &(start() + &text(0, "ok") + &unnamed + &stop(1) + &end("tool_use")));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), only_text()));
}

#[test]
fn a_tool_use_after_message_stop_closes_the_stream() {
    let ran = run(gate, &(only_text() + &open(1, BASH) + &stop(1)));
    assert_eq!((ran.error, ran.out), (Some(ErrorKind::AfterTerminal), only_text()));
}

#[test]
fn a_call_whose_deltas_come_without_a_start_is_denied() {
    let more = delta(1, r#"{"type":"input_json_delta","partial_json":"{\"command\":\"rm\"}"}"#);
    let ran = run(gate, &(start() + &text(0, "ok") + &more + &stop(1) + &end("tool_use")));
    assert_eq!(ran.edits(), [(Action::Dropped, "its opening was not in the stream")]);
    assert_eq!(ran.out, only_text());
}

#[test]
fn a_tool_use_of_a_whole_message_is_judged() {
    let message = |content: &str, reason: &str| {
        format!(
            r#"{{"id":"m","type":"message","role":"assistant","model":"x","content":[{content}],"stop_reason":"{reason}","stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        )
    };
    let ok = r#"{"type":"text","text":"ok"}"#;
    let ran = whole(gate, &message(&format!("{ok},{BASH}"), "tool_use"));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), message(ok, "end_turn")));
}

#[test]
fn what_stands_in_a_ping_is_read_by_nobody() {
    // It leaves with its type alone.
    let ping = |more: &str| named(&[&format!(r#"{{"type":"ping"{more}}}"#)]);
    let body = |ping: &str| start() + &text(0, "ok") + ping + &end("end_turn");
    let ran = run(gate, &body(&ping(&format!(r#","content_block":{BASH}"#))));
    assert_eq!((ran.view.choices[0].calls.len(), ran.out), (0, body(&ping(""))));
}
