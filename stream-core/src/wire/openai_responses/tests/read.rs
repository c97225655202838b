use super::kit::{decode, frame, read};
use crate::delta::{
    CallDelta, CallFlavor, Channel, Delta, DeltaKind, FinishKind, FinishReason, Restated, Runs, Slot,
    UpstreamError, Usage,
};
use crate::wire::openai_responses::OpenAiResponses;
use crate::wire::openai_responses::item::SUMMARY;
use crate::wire::{Decoded, WireFormat};

fn at(item: u32, part: u32, kind: DeltaKind) -> Delta {
    Delta::new(0, Slot::At { item, part }, kind)
}

fn text(channel: Channel, text: &str) -> DeltaKind {
    DeltaKind::Text { channel, text: text.into() }
}

fn opens(id: &str, name: &str, arguments: Option<&str>, flavor: CallFlavor) -> DeltaKind {
    DeltaKind::Call(CallDelta {
        id: Some(id.into()),
        name: Some(name.into()),
        arguments: arguments.map(Into::into),
        flavor,
        starts: true,
        ..CallDelta::default()
    })
}

/// A copy; one of a tool of the API's own says so by its name.
fn copy(id: Option<&str>, name: Option<&str>, body: Option<&str>) -> DeltaKind {
    let builtin = name.is_some_and(|name| name.ends_with("_call"));
    copy_of(if builtin { CallFlavor::Builtin } else { CallFlavor::Function }, id, name, body)
}

fn copy_of(flavor: CallFlavor, id: Option<&str>, name: Option<&str>, body: Option<&str>) -> DeltaKind {
    DeltaKind::Copy(Restated {
        flavor,
        id: id.map(Into::into),
        name: name.map(Into::into),
        body: body.map(Into::into),
        ..Restated::default()
    })
}

fn opaque(kind: &str, runs: Runs, bytes: usize) -> DeltaKind {
    DeltaKind::Opaque { kind: kind.into(), runs, bytes }
}

#[test]
fn an_opening_tells_id_and_model() {
    let mut decoded = Decoded::new();
    let data = r#"data: {"type":"response.created","response":{"id":"resp_1","model":"m-1","output":[]}}"#;
    OpenAiResponses.decode(&frame(data), &mut decoded).unwrap();
    assert_eq!(decoded.deltas, [Delta::stream(DeltaKind::Opening)]);
    assert_eq!((decoded.id.as_deref(), decoded.model.as_deref()), (Some("resp_1"), Some("m-1")));
}

#[test]
fn a_filled_opening_restates_its_items() {
    let json = r#"{"type":"response.in_progress","response":{"output":[
        {"type":"message","content":[{"type":"output_text","text":"hi"}]}]}}"#;
    assert_eq!(read(json), [Delta::stream(DeltaKind::Opening), at(0, 0, copy(None, None, Some("hi")))]);
}

#[test]
fn a_message_opens_closes_and_restates_its_parts() {
    assert_eq!(
        read(
            r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"m","type":"message","content":[]}}"#
        ),
        [at(2, Slot::ITEM, DeltaKind::ItemStart { channel: Channel::Content })]
    );
    assert_eq!(
        read(
            r#"{"type":"response.content_part.added","output_index":2,"content_index":1,"part":{"type":"refusal","refusal":""}}"#
        ),
        [at(2, 1, DeltaKind::Start { channel: Channel::Refusal })]
    );
    assert_eq!(
        read(r#"{"type":"response.refusal.delta","output_index":2,"content_index":1,"delta":"no\n"}"#),
        [at(2, 1, text(Channel::Refusal, "no\n"))]
    );
    assert_eq!(
        read(r#"{"type":"response.refusal.done","output_index":2,"content_index":1,"refusal":"no"}"#),
        [at(2, 1, copy(None, None, Some("no")))]
    );
    assert_eq!(
        read(
            r#"{"type":"response.content_part.done","output_index":2,"content_index":0,"part":{"type":"output_text","text":"a"}}"#
        ),
        [at(2, 0, copy(None, None, Some("a"))), at(2, 0, DeltaKind::Stop)]
    );
    assert_eq!(
        read(
            r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"message","content":[
                {"type":"output_text","text":"a"},{"type":"refusal","refusal":"no"}]}}"#
        ),
        [
            at(2, 0, copy(None, None, Some("a"))),
            at(2, 1, copy(None, None, Some("no"))),
            at(2, Slot::ITEM, DeltaKind::Stop)
        ]
    );
}

#[test]
fn text_that_an_opening_already_holds_is_text() {
    assert_eq!(
        read(
            r#"{"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":"x"}}"#
        ),
        [at(0, 0, DeltaKind::Start { channel: Channel::Content }), at(0, 0, text(Channel::Content, "x"))]
    );
    assert_eq!(
        read(
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"x"}]}}"#
        ),
        [
            at(0, Slot::ITEM, DeltaKind::ItemStart { channel: Channel::Content }),
            at(0, 0, text(Channel::Content, "x"))
        ]
    );
}

#[test]
fn reasoning_has_summary_parts_above_its_content_parts() {
    assert_eq!(
        read(
            r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}}"#
        ),
        [at(0, SUMMARY + 1, DeltaKind::Start { channel: Channel::Reasoning })]
    );
    assert_eq!(
        read(
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"so"}"#
        ),
        [at(0, SUMMARY + 1, text(Channel::Reasoning, "so"))]
    );
    assert_eq!(
        read(r#"{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"so"}"#),
        [at(0, 0, text(Channel::Reasoning, "so"))]
    );
    assert_eq!(
        read(
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","encrypted_content":"e",
                "summary":[{"type":"summary_text","text":"s"}],"content":[{"type":"reasoning_text","text":"c"}]}}"#
        ),
        [
            at(0, SUMMARY, copy(None, None, Some("s"))),
            at(0, 0, copy(None, None, Some("c"))),
            at(0, Slot::ITEM, DeltaKind::Stop)
        ]
    );
}

#[test]
fn a_function_call_is_opened_filled_and_restated() {
    assert_eq!(
        read(
            r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":""}}"#
        ),
        [at(1, 0, opens("c", "f", None, CallFlavor::Function))]
    );
    assert_eq!(
        read(
            r#"{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc","delta":"{}"}"#
        ),
        [at(1, 0, DeltaKind::Call(CallDelta { arguments: Some("{}".into()), ..CallDelta::default() }))]
    );
    assert_eq!(
        read(r#"{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{}"}"#),
        [at(1, 0, copy(None, None, Some("{}")))]
    );
    assert_eq!(
        read(
            r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{}"}}"#
        ),
        [at(1, 0, copy(Some("c"), Some("f"), Some("{}"))), at(1, 0, DeltaKind::Stop)]
    );
}

#[test]
fn absent_null_empty_and_null_ids_are_none_and_an_object_is_its_raw_json() {
    for id in ["null", r#""""#, r#""null""#] {
        let json = format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"custom_tool_call","call_id":{id},"name":"f","input":{{"a": 1}}}}}}"#
        );
        assert_eq!(
            read(&json),
            [
                at(0, 0, copy_of(CallFlavor::Custom, None, Some("f"), Some(r#"{"a": 1}"#))),
                at(0, 0, DeltaKind::Stop)
            ]
        );
    }
}

#[test]
fn an_argument_fragment_that_is_no_string_is_its_raw_json() {
    let json = r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":{"a": [1]}}"#;
    let call = CallDelta { arguments: Some(r#"{"a": [1]}"#.into()), ..CallDelta::default() };
    assert_eq!(read(json), [at(0, 0, DeltaKind::Call(call))]);
}

#[test]
fn tools_of_the_api_that_the_client_runs_are_calls_with_their_action_from_done() {
    assert_eq!(
        read(
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"shell_call","id":"sh","call_id":"c","action":{"commands":[]}}}"#
        ),
        [at(0, 0, opens("c", "shell_call", None, CallFlavor::Builtin))]
    );
    assert_eq!(
        read(
            r#"{"type":"response.shell_call_command.delta","output_index":0,"command_index":0,"delta":"ls"}"#
        ),
        [at(0, 0, DeltaKind::Call(CallDelta { flavor: CallFlavor::Builtin, ..CallDelta::default() }))]
    );
    assert_eq!(
        read(
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"shell_call","call_id":"c","action":{"commands": ["ls"]}}}"#
        ),
        [
            at(0, 0, copy(Some("c"), Some("shell_call"), Some(r#"{"commands": ["ls"]}"#))),
            at(0, 0, DeltaKind::Stop)
        ]
    );
    for (kind, field) in [
        ("local_shell_call", "action"),
        ("apply_patch_call", "operation"),
        ("computer_call", "action"),
        ("computer_call", "actions"),
    ] {
        let json = format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"{kind}","call_id":"c","{field}":{{}}}}}}"#
        );
        assert_eq!(
            read(&json),
            [at(0, 0, copy(Some("c"), Some(kind), Some("{}"))), at(0, 0, DeltaKind::Stop)]
        );
    }
    assert_eq!(
        read(
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"mcp_approval_request","id":"r","name":"ask","arguments":"{}"}}"#
        ),
        [at(0, 0, opens("r", "ask", Some("{}"), CallFlavor::Builtin))]
    );
}

#[test]
fn items_of_the_server_and_unknown_ones_are_opaque() {
    let json = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call"}}"#;
    assert_eq!(read(json), [at(0, 0, opaque("web_search_call", Runs::Server, 26))]);
    let json = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"teleport"}}"#;
    assert_eq!(read(json), [at(0, 0, opaque("teleport", Runs::Unknown, 19)), at(0, 0, DeltaKind::Stop)]);
    let json = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"tool_search_call","execution":"client"}}"#;
    assert_eq!(read(json), [at(0, 0, opaque("tool_search_call", Runs::Unknown, 48))]);
    let json =
        r#"{"type":"response.shell_call_output_content.delta","output_index":3,"delta":{"stdout":"x"}}"#;
    assert_eq!(read(json), [at(3, 0, opaque("shell_call_output_content.delta", Runs::Server, json.len()))]);
    let json = r#"{"type":"response.news"}"#;
    assert_eq!(read(json), [Delta::new(0, Slot::None, opaque("news", Runs::Unknown, json.len()))]);
}

#[test]
fn what_says_nothing_rides_on_its_block() {
    let rides = |ahead| [at(0, 0, DeltaKind::Annotation { ahead })];
    let delta = r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"","logprobs":[]}"#;
    assert_eq!(read(delta), rides(false));
    let ahead = r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"","logprobs":[{"token":"f","logprob":-0.1,"top_logprobs":[]}]}"#;
    assert_eq!(read(ahead), rides(true));
    let citation = r#"{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation":{}}"#;
    assert_eq!(read(citation), rides(false));
    let empty = r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":""}"#;
    assert_eq!(read(empty), rides(false));
    let null = r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":null}"#;
    assert_eq!(read(null), rides(false));
}

#[test]
fn the_terminal_event_restates_everything_then_finishes() {
    let json = r#"{"type":"response.completed","response":{"status":"completed","output":[
        {"type":"reasoning","summary":[]},
        {"type":"message","content":[{"type":"output_text","text":"a"}]},
        {"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
        {"type":"web_search_call"}],
        "usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}}"#;
    let search = Restated {
        name: Some("web_search_call".into()),
        flavor: CallFlavor::Builtin,
        runs: Some(Runs::Server),
        ..Restated::default()
    };
    assert_eq!(
        read(json),
        [
            at(1, 0, copy(None, None, Some("a"))),
            at(2, 0, copy(Some("c"), Some("f"), Some("{}"))),
            at(3, 0, DeltaKind::Copy(search)),
            Delta::new(0, Slot::None, DeltaKind::Finish(FinishReason::new(FinishKind::Stop, "completed"))),
            Delta::stream(DeltaKind::Usage(Usage { input: Some(1), output: Some(2), total: Some(3) })),
            Delta::stream(DeltaKind::Terminal),
        ]
    );
}

#[test]
fn the_status_tells_the_finish_reason() {
    let finish = |json: &str| {
        read(json).into_iter().find_map(|delta| match delta.kind {
            DeltaKind::Finish(reason) => Some(reason),
            _ => None,
        })
    };
    let filtered =
        r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}"#;
    assert_eq!(finish(filtered), Some(FinishReason::new(FinishKind::Filter, "incomplete")));
    let cut =
        r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#;
    assert_eq!(finish(cut), Some(FinishReason::new(FinishKind::Length, "incomplete")));
    let failed = r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"m"}}}"#;
    assert_eq!(
        read(failed),
        [
            Delta::new(0, Slot::None, DeltaKind::Finish(FinishReason::new(FinishKind::Error, "failed"))),
            Delta::stream(DeltaKind::Error(UpstreamError {
                code: Some("server_error".into()),
                message: Some("m".into())
            })),
            Delta::stream(DeltaKind::Terminal),
        ]
    );
}

#[test]
fn errors_pings_and_the_done_marker_are_structure() {
    let error = DeltaKind::Error(UpstreamError { code: Some("429".into()), message: Some("m".into()) });
    for json in [
        r#"{"type":"error","code":429,"message":"m"}"#,
        r#"{"type":"error","error":{"code":"429","message":"m"}}"#,
        r#"{"error":{"code":"429","message":"m"}}"#,
    ] {
        assert_eq!(read(json), [Delta::stream(error.clone())]);
    }
    assert_eq!(read(r#"{"type":"keepalive"}"#), [Delta::stream(DeltaKind::Ping)]);
    assert_eq!(read(r#"{"type":"ping"}"#), [Delta::stream(DeltaKind::Ping)]);
    assert_eq!(read("[DONE]"), [Delta::stream(DeltaKind::Meta)]);
}

#[test]
fn a_frame_of_another_format_is_opaque() {
    let foreign = |kind: &str, bytes| [Delta::new(0, Slot::None, opaque(kind, Runs::Unknown, bytes))];
    assert_eq!(read(r#"{"choices":[]}"#), foreign("unknown", 14));
    assert_eq!(read(r#"{"type":"message_stop"}"#), foreign("message_stop", 23));
    assert_eq!(read("[1]"), foreign("unknown", 3));
}

#[test]
fn what_the_format_does_not_allow_is_an_error() {
    let error = |json| decode(json).unwrap_err().to_string();
    assert_eq!(
        error(r#"{"type":"response.output_text.delta","delta":7}"#),
        "expected a string as `delta`, found a number"
    );
    assert_eq!(error(r#"{"type":"response.output_item.done"}"#), "expected the field `item`, found none");
    assert_eq!(
        error(r#"{"type":"response.output_text.delta","delta":"a","delta":"b"}"#),
        "expected a Responses event, found duplicate field `delta` at line 1 column 56"
    );
    assert_eq!(
        error(r#"{"type":"response.output_text.delta","#),
        "expected a Responses event, found EOF while parsing an object at line 1 column 37"
    );
    assert_eq!(error("oops"), "expected an event, found expected value at line 1 column 1");
}

#[test]
fn only_its_own_frames_are_sniffed() {
    let sniff = |data: &str| OpenAiResponses.sniff(&frame(&format!("data: {data}\n\n")));
    assert!(sniff(r#"{"type":"response.created"}"#));
    assert!(sniff(r#"{"sequence_number": 1, "type" : "response.created"}"#));
    assert!(!sniff(r#"{"type":"error"}"#));
    assert!(!sniff(r#"{"type":"message_start"}"#));
    assert!(!sniff(r#"{"text":"\"type\":\"response.x\""}"#));
    assert!(!sniff("[DONE]"));
    assert!(OpenAiResponses.sniff_whole(br#"{"id":"r","object":"response"}"#));
    assert!(!OpenAiResponses.sniff_whole(br#"{"object":"chat.completion"}"#));
}

/// A form feed is a blank to some languages and none to JSON.
#[test]
fn of_the_blanks_around_an_event_only_those_of_json_are_blanks() {
    let news = |before: &str, after: &str| format!("{before}{}{after}", r#"{"type":"news"}"#);
    let plain = news(" \t", "\t ");
    let opaque = DeltaKind::Opaque { kind: "news".into(), runs: Runs::Unknown, bytes: plain.len() };
    assert_eq!(decode(&plain).unwrap(), [Delta::new(0, Slot::None, opaque)]);
    for (before, behind, error) in [
        ("\u{c}", "", "expected a Responses event, found expected value at line 1 column 1"),
        ("\u{a0}", "", "expected an event, found expected value at line 1 column 1"),
        ("", "\u{c}", "expected a Responses event, found trailing characters at line 1 column 16"),
        ("", "\u{a0}", "expected a Responses event, found trailing characters at line 1 column 16"),
    ] {
        assert_eq!(decode(&news(before, behind)).unwrap_err().to_string(), error);
    }
}
