//! Events as deltas.

use super::*;
use crate::delta::{Runs, Span, UpstreamError, Usage};

#[track_caller]
fn reads(event: impl AsRef<str>, expected: &[DeltaKind]) {
    let kinds: Vec<DeltaKind> = decode(event.as_ref()).unwrap().into_iter().map(|delta| delta.kind).collect();
    assert_eq!(kinds, expected);
}

#[track_caller]
fn fails(event: &str, message: &str) {
    assert_eq!(decode(event).unwrap_err().to_string(), message);
}

fn said(channel: Channel, text: &str) -> DeltaKind {
    DeltaKind::Text { channel, text: text.into() }
}

fn opaque(kind: &str, runs: Runs, bytes: usize) -> DeltaKind {
    DeltaKind::Opaque { kind: kind.into(), runs, bytes }
}

fn call(name: &str, arguments: Option<&str>) -> DeltaKind {
    DeltaKind::Call(CallDelta {
        id: Some(format!("toolu_{name}").into()),
        name: Some(name.into()),
        arguments: arguments.map(Into::into),
        starts: true,
        ..CallDelta::default()
    })
}

fn arguments(text: &str) -> DeltaKind {
    DeltaKind::Call(CallDelta { arguments: Some(text.into()), ..CallDelta::default() })
}

#[test]
fn a_message_opens_with_id_and_model() {
    let mut decoded = Decoded::new();
    Anthropic.decode(&frames(&message_start())[0], &mut decoded).unwrap();
    assert_eq!(decoded.id.as_deref(), Some("msg_1"));
    assert_eq!(decoded.model.as_deref(), Some("m"));
    let usage = Usage { input: Some(9), output: Some(1), total: None };
    let kinds: Vec<_> =
        decoded.deltas.into_iter().map(|delta| (delta.choice, delta.slot, delta.kind)).collect();
    let of_stream = |kind| (None, Slot::None, kind);
    assert_eq!(kinds, [of_stream(DeltaKind::Opening), of_stream(DeltaKind::Usage(usage))]);
    reads(r#"data: {"type":"message_start"}"#, &[DeltaKind::Opening]);
}

/// Rule 7.
#[test]
fn a_message_that_opens_with_content_is_read_whole() {
    let blocks = [
        r#"{"type":"text","text":"Hi"}"#,
        r#"{"type":"tool_use","id":"toolu_a","name":"a","input":{"x": 1}}"#,
        r#"{"type":"redacted_thinking","data":"x"}"#,
    ];
    let data = format!(
        r#"{{"type":"message_start","message":{{"content":[{}],"stop_reason":"tool_use"}}}}"#,
        blocks.join(",")
    );
    let at = |item: usize, kind| (Some(0), Slot::item(u32::try_from(item).unwrap()), blocks[item], kind);
    let finish = DeltaKind::Finish(FinishReason::new(FinishKind::ToolCalls, "tool_use"));
    let deltas = decode(&event("message_start", &data)).unwrap();
    let opening: Vec<_> = deltas.iter().filter(|delta| delta.site.opens).map(|delta| delta.slot).collect();
    assert_eq!(opening, [Slot::item(2)]);
    let read: Vec<_> = deltas
        .into_iter()
        .map(|delta| (delta.choice, delta.slot, delta.site.element.slice(&data), delta.kind))
        .collect();
    assert_eq!(
        read,
        [
            (None, Slot::None, &*data, DeltaKind::Opening),
            at(0, DeltaKind::Start { channel: Channel::Content }),
            at(0, said(Channel::Content, "Hi")),
            at(0, DeltaKind::Stop),
            at(1, call("a", Some(r#"{"x": 1}"#))),
            at(1, DeltaKind::Stop),
            at(2, opaque("redacted_thinking", Runs::Server, 39)),
            at(2, DeltaKind::Stop),
            (Some(0), Slot::None, r#""tool_use""#, finish),
        ]
    );
}

#[test]
fn blocks_open_by_their_type() {
    reads(start_text(3), &[DeltaKind::Start { channel: Channel::Content }]);
    assert_eq!(decode(&start_text(3)).unwrap()[0].slot, Slot::item(3));
    reads(start_thinking(0), &[DeltaKind::Start { channel: Channel::Reasoning }]);
    reads(
        start(0, r#"{"type":"text","text":"a\u00e9\"","citations":[]}"#),
        &[DeltaKind::Start { channel: Channel::Content }, said(Channel::Content, "a\u{e9}\"")],
    );
    reads(
        start(0, r#"{"type":"text","text":null,"citations":[{"cited_text":"x"}]}"#),
        &[DeltaKind::Start { channel: Channel::Content }, DeltaKind::Annotation { ahead: false }],
    );
    reads(
        start(0, r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#),
        &[DeltaKind::Start { channel: Channel::Reasoning }, said(Channel::Reasoning, "hm")],
    );
}

#[test]
fn a_call_opens_with_or_without_arguments() {
    reads(start_call(0, "a"), &[call("a", None)]);
    reads(start(0, r#"{"type":"tool_use","id":"toolu_a","name":"a"}"#), &[call("a", None)]);
    reads(start(0, r#"{"type":"tool_use","id":"toolu_a","name":"a","input":{ }}"#), &[call("a", None)]);
    reads(
        start(0, r#"{"type":"tool_use","id":"toolu_a","name":"a","input":{"x":1.0}}"#),
        &[call("a", Some(r#"{"x":1.0}"#))],
    );
    for nothing in [r#""""#, "null", r#""null""#] {
        reads(
            start(0, &format!(r#"{{"type":"tool_use","id":{nothing},"name":null}}"#)),
            &[DeltaKind::Call(CallDelta { starts: true, ..CallDelta::default() })],
        );
    }
}

/// Rule 7.
#[test]
fn what_the_client_does_not_run_is_opaque() {
    for kind in ["server_tool_use", "mcp_tool_use", "web_search_tool_result", "mcp_tool_result", "compaction"]
    {
        let block = format!(r#"{{"type":"{kind}"}}"#);
        reads(start(0, &block), &[opaque(kind, Runs::Server, block.len())]);
    }
    reads(start(0, r#"{"type":"robot_use"}"#), &[opaque("robot_use", Runs::Unknown, 20)]);
    reads(start(0, r#"{"kind":1}"#), &[opaque("unknown", Runs::Unknown, 10)]);
    reads(delta(0, r#"{"type":"robot_delta"}"#), &[opaque("robot_delta", Runs::Unknown, 22)]);
    reads(delta(0, r#"{"type":"compaction_delta"}"#), &[opaque("compaction_delta", Runs::Server, 27)]);
    assert_eq!(decode(&delta(5, r#"{"type":"robot_delta"}"#)).unwrap()[0].slot, Slot::item(5));
}

#[test]
fn deltas_are_read_by_their_type() {
    reads(text(0, "Hi"), &[said(Channel::Content, "Hi")]);
    reads(thinking(0, "hm"), &[said(Channel::Reasoning, "hm")]);
    reads(signature(0), &[DeltaKind::Signature]);
    reads(input(0, "{'x':"), &[arguments(r#"{"x":"#)]);
    reads(delta(0, r#"{"type":"citations_delta","citation":{}}"#), &[DeltaKind::Annotation { ahead: false }]);
    reads(stop(0), &[DeltaKind::Stop]);
    // A value where a string should hold it.
    reads(delta(0, r#"{"type":"input_json_delta","partial_json":{"x":1}}"#), &[arguments(r#"{"x":1}"#)]);
}

#[test]
fn an_empty_fragment_says_nothing_but_where_it_belongs() {
    for event in [text(2, ""), thinking(2, ""), input(2, ""), delta(2, r#"{"type":"input_json_delta"}"#)] {
        let [delta] = &decode(&event).unwrap()[..] else { panic!("{event}") };
        assert_eq!((delta.choice, delta.slot, &delta.kind), (Some(0), Slot::item(2), &DeltaKind::Meta));
    }
}

#[test]
fn a_message_ends_with_reason_and_usage() {
    use FinishKind::*;
    let reasons = [
        ("end_turn", Stop),
        ("stop_sequence", Stop),
        ("tool_use", ToolCalls),
        ("max_tokens", Length),
        ("model_context_window_exceeded", Length),
        ("refusal", Refusal),
        ("pause_turn", Pause),
        ("new", Other),
    ];
    for (word, kind) in reasons {
        let usage = Usage { input: None, output: Some(7), total: None };
        reads(finish(word), &[DeltaKind::Finish(FinishReason::new(kind, word)), DeltaKind::Usage(usage)]);
    }
    reads(r#"data: {"type":"message_delta","delta":{"stop_reason":null}}"#, &[DeltaKind::Meta]);
    reads(message_stop(), &[DeltaKind::Terminal]);
    reads(ping(), &[DeltaKind::Ping]);
    reads("event: data\ndata: [DONE]\n\n", &[DeltaKind::Meta]);
}

#[test]
fn errors_are_known_in_every_shape() {
    let busy = |code: Option<&str>| {
        [DeltaKind::Error(UpstreamError { code: code.map(Into::into), message: Some("busy".into()) })]
    };
    let known = busy(Some("overloaded_error"));
    let body = r#"{"type":"overloaded_error","message":"busy"}"#;
    reads(event("error", &format!(r#"{{"type":"error","error":{body}}}"#)), &known);
    reads(format!(r#"data: {{"error":{body}}}"#), &known);
    reads(event("error", &format!(r#"{{"error":{body}}}"#)), &known);
    reads(event("error", body), &known);
    reads(r#"data: {"error":"busy"}"#, &busy(None));
}

#[test]
fn the_type_wins_over_an_event_line_that_the_format_does_not_know() {
    reads(event("data", r#"{"type":"ping"}"#), &[DeltaKind::Ping]);
    reads(event("data", r#"{"type":"news"}"#), &[opaque("news", Runs::Unknown, 15)]);
    reads(event("ping", r#"{"type":"news"}"#), &[opaque("news", Runs::Unknown, 15)]);
    reads(event("message_stop", "{}"), &[DeltaKind::Terminal]);
}

/// Rule 28: clients that go by the line read another event than those that go by the type.
#[test]
fn an_event_line_of_the_format_over_data_of_another_type_fails() {
    fails(
        &event("ping", r#"{"type":"content_block_stop","index":0}"#),
        "expected an event of type Ping, found BlockStop",
    );
    for kind in ["news", "response.created"] {
        fails(
            &event("message_stop", &format!(r#"{{"type":"{kind}"}}"#)),
            "expected an event of type MessageStop, found another type",
        );
    }
    for (line, kind) in [("content_block_delta", "BlockDelta"), ("ping", "Ping")] {
        fails(
            &event(line, r#"{"error":{"type":"overloaded_error"}}"#),
            &format!("expected an event of type {kind}, found an error"),
        );
    }
}

#[test]
fn what_is_not_of_the_format_is_opaque() {
    for (data, kind) in [
        (r#"{"type":"response.created"}"#, "response.created"),
        (r#"{"choices":[]}"#, "unknown"),
        ("[1]", "unknown"),
    ] {
        assert_eq!(
            decode(&format!("data: {data}\n\n")).unwrap(),
            [Delta::new(0, Slot::None, opaque(kind, Runs::Unknown, data.len())).at(Span::new(0, data.len()))]
        );
    }
}

#[test]
fn what_is_malformed_fails_without_quoting_it() {
    fails(
        "data: {\"type\":\"ping\"",
        "expected an event, found EOF while parsing an object at line 1 column 14",
    );
    fails(
        r#"data: {"type":"ping","type":"ping"}"#,
        "expected an event, found duplicate field `type` at line 1 column 21",
    );
    fails(
        &delta(0, r#"{"type":"text_delta","text":"a","text":"b"}"#),
        "expected an event, found duplicate field `text` at line 1 column 86",
    );
    fails(
        &delta(0, r#"{"type":"text_delta","text":["secret"]}"#),
        "expected a string as `text`, found a list",
    );
    fails(
        r#"data: {"type":"content_block_stop","index":"secret"}"#,
        "expected a block's number as `index`, found a string",
    );
    fails(
        r#"data: {"type":"content_block_start","index":0,"content_block":"secret"}"#,
        "expected an object as `content_block`, found a string",
    );
    fails(r#"data: {"type":"content_block_delta","index":0}"#, "expected an object as `delta`, found none");
    fails(
        r#"data: {"type":"message_start","message":{"content":"secret"}}"#,
        "expected a list as `content`, found a string",
    );
    fails(
        r#"data: {"type":"message_delta","delta":{"stop_reason":1}}"#,
        "expected a string as `stop_reason`, found a number",
    );
}

#[test]
fn fields_nobody_reads_may_be_anything() {
    reads(
        r#"data: {"type":"content_block_delta","index":0,"usage":[],"error":0,"delta":{"type":"text_delta","text":"Hi","thinking":{},"partial_json":1}}"#,
        &[said(Channel::Content, "Hi")],
    );
}

#[test]
fn the_format_is_known_by_its_own_events_only() {
    let knows = |event: &str| Anthropic.sniff(&frames(event)[0]);
    assert!(knows(&message_start()));
    assert!(knows(r#"data: {"index":0,"type":"content_block_stop"}"#));
    assert!(knows("event: message_start\ndata: {\n\n"));
    for foreign in [
        ping(),
        error(),
        "data: [DONE]\n\n".into(),
        r#"data: {"type":"response.created"}"#.into(),
        r#"data: {"choices":[{"delta":{"content":"\"type\":\"message_start\""}}]}"#.into(),
    ] {
        assert!(!knows(&foreign), "{foreign}");
    }
}
