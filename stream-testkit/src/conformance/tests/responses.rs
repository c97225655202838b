//! Responses: order, numbers, pairs, endings.

use super::{
    super::{Ended, View, WireKind},
    expect, named, numbered,
};

pub(super) const CREATED: &str =
    r#"{"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}"#;
pub(super) const MESSAGE: &str = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","content":[]}}"#;
pub(super) const PART: &str = r#"{"type":"response.content_part.added","item_id":"m","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}"#;
pub(super) const HI: &str =
    r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"Hi"}"#;
pub(super) const TEXT_DONE: &str =
    r#"{"type":"response.output_text.done","item_id":"m","output_index":0,"content_index":0,"text":"Hi"}"#;
pub(super) const PART_DONE: &str = r#"{"type":"response.content_part.done","item_id":"m","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hi"}}"#;
pub(super) const MESSAGE_DONE: &str = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","content":[{"type":"output_text","text":"Hi"}]}}"#;
pub(super) const COMPLETED: &str = r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"message","id":"m","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"total_tokens":1}}}"#;
pub(super) const TEXT: [&str; 6] = [MESSAGE, PART, HI, TEXT_DONE, PART_DONE, MESSAGE_DONE];

#[track_caller]
fn broken(events: &[&str], violations: &[&str]) -> View {
    expect(WireKind::OpenAiResponses, &numbered(events), violations)
}

/// A stream with one message, in which one event is replaced.
fn with(old: &'static str, new: &str) -> String {
    let events = [&[CREATED][..], &TEXT, &[COMPLETED]].concat();
    numbered(&events.iter().map(|event| if *event == old { new } else { event }).collect::<Vec<_>>())
}

#[test]
fn a_good_stream() {
    let view = broken(&[&[CREATED][..], &TEXT, &[COMPLETED]].concat(), &[]);
    let choice = &view.choices[0];
    assert_eq!((choice.content.as_str(), choice.finish.as_deref()), ("Hi", Some("completed")));
    assert_eq!((view.ended, view.usage), (Ended::Clean, true));
}

#[test]
fn a_filter_is_a_refusal() {
    let incomplete = r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}}"#;
    assert_eq!(broken(&[CREATED, incomplete], &[]).ended, Ended::Refused);
    let bare = r#"{"type":"response.incomplete","response":{"status":"incomplete","output":[]}}"#;
    broken(&[CREATED, bare], &["event 2: shape: expected incomplete_details with a reason, found none"]);
}

#[test]
fn errors_are_endings_and_may_leave_items_open() {
    let error = r#"{"type":"error","code":"server_error","message":"no","param":null}"#;
    let failed = r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"no"}}}"#;
    assert_eq!(broken(&[CREATED, MESSAGE, error], &[]).ended, Ended::Error);
    assert_eq!(broken(&[CREATED, MESSAGE, failed], &[]).ended, Ended::Error);
    broken(
        &[CREATED, error, failed],
        &["event 3: after-ending: expected nothing after the ending, found \"response.failed\" \
           (excused by error-then-failed)"],
    );
    broken(&[r#"{"type":"error"}"#], &["event 1: shape: expected a message in the error, found none"]);
    broken(
        &[CREATED, r#"{"type":"response.failed","response":{"status":"failed"}}"#],
        &["event 2: shape: expected an error with a message in response.failed, found none"],
    );
}

#[test]
fn there_is_one_ending() {
    broken(&[CREATED, MESSAGE], &["event 2: ending: expected a terminal event, found the end"]);
    let events = [&[CREATED][..], &TEXT, &[COMPLETED, COMPLETED]].concat();
    broken(
        &events,
        &["event 9: after-ending: expected nothing after the ending, found \"response.completed\""],
    );
    expect(
        WireKind::OpenAiResponses,
        &with(COMPLETED, &COMPLETED.replace("\"status\":\"completed\"", "\"status\":\"failed\"")),
        &["event 8: ending: expected status \"completed\" in response.completed, found \"failed\""],
    );
}

#[test]
fn the_response_is_created_first_and_once() {
    let progress = r#"{"type":"response.in_progress"}"#;
    broken(
        &[&[progress, CREATED][..], &TEXT, &[progress, COMPLETED]].concat(),
        &[
            "event 1: event-order: expected response.created first, found \"response.in_progress\" \
             (excused by resumed-stream)",
            "event 1: shape: expected a response, found none",
            "event 2: event-order: expected response.created first and once, found it later",
            "event 9: event-order: expected response.in_progress before the first item, found it later",
            "event 9: shape: expected a response, found none",
        ],
    );
}

#[test]
fn sequence_numbers_rise_by_one() {
    let stream = numbered(&[&[CREATED][..], &TEXT, &[COMPLETED]].concat());
    let twice = stream.replace("\"sequence_number\":3", "\"sequence_number\":4");
    expect(
        WireKind::OpenAiResponses,
        &twice,
        &[
            "event 4: sequence-number: expected sequence_number 3, found 4",
            "event 5: sequence-number: expected sequence_number 5, found 4",
        ],
    );
    expect(
        WireKind::OpenAiResponses,
        &stream.replace("\"sequence_number\":7,", ""),
        &["event 8: sequence-number: expected a sequence_number, found none (excused by no-sequence-number)"],
    );
}

#[test]
fn no_sequence_number_follows_the_highest() {
    let highest = r#"{"type":"error","message":"no","sequence_number":18446744073709551615}"#;
    let ping = r#"{"type":"ping","sequence_number":18446744073709551615}"#;
    let wanted = "sequence-number: expected sequence_number";
    let report = super::check(WireKind::OpenAiResponses, named(&[highest, ping]).as_bytes());
    let numbers: Vec<String> =
        super::lines(&report).into_iter().filter(|line| line.contains("sequence-number")).collect();
    assert_eq!(
        numbers,
        [
            format!("event 1: {wanted} 0, found 18446744073709551615 (excused by resumed-stream)"),
            format!("event 2: {wanted} 18446744073709551615, found 18446744073709551615"),
        ]
    );
}

#[test]
fn the_event_line_is_the_type() {
    let stream = with("", "");
    expect(
        WireKind::OpenAiResponses,
        &stream.replace("event: response.completed\n", "").replace("event: response.created\n", "event: x\n"),
        &[
            "event 1: event-line: expected the event line \"response.created\", found \"x\"",
            "event 8: event-line: expected the event line \"response.completed\", found none (excused by no-event-line)",
        ],
    );
}

#[test]
fn indices_have_no_gap_and_stay_in_range() {
    let head = [CREATED, &MESSAGE.replace("\"output_index\":0", "\"output_index\":1")];
    broken(
        &[&head[..], &TEXT[1..], &[COMPLETED]].concat(),
        &["event 2: index: expected output_index 0, found 1"],
    );
    expect(
        WireKind::OpenAiResponses,
        &with(PART, &PART.replace("\"content_index\":0", "\"content_index\":1")),
        &["event 3: index: expected content_index 0, found 1"],
    );
    let events = [&[CREATED, HI][..], &TEXT[..1], &[HI], &TEXT[1..], &[COMPLETED]].concat();
    broken(
        &events,
        &[
            "event 2: index: expected an output_index below 0 in response.output_text.delta, found 0",
            "event 4: index: expected content_index below 0, found 0",
        ],
    );
}

#[test]
fn what_opens_closes_once() {
    let events = [&[CREATED][..], &TEXT[..4], &[HI, TEXT_DONE, COMPLETED]].concat();
    broken(
        &events,
        &[
            "event 6: pairing: expected no delta after response.output_text.done, found one",
            "event 7: pairing: expected response.output_text.done once, found it again",
            "event 7: copy: expected response.output_text.done to repeat its deltas, found another text",
            "event 8: pairing: expected item 0 to be done before response.completed, found it open",
            "event 8: copy: expected the content of output[0] to repeat its deltas, found another text",
        ],
    );
    let events = [&[CREATED][..], &TEXT[..4], &[MESSAGE_DONE, MESSAGE_DONE, COMPLETED]].concat();
    broken(
        &events,
        &[
            "event 6: pairing: expected every part to be done before its item, found one open",
            "event 7: pairing: expected nothing for an item that is done, found \"response.output_item.done\"",
            "event 7: pairing: expected every part to be done before its item, found one open",
        ],
    );
    let events = [&[CREATED][..], &TEXT[..5], &[PART_DONE, MESSAGE_DONE, COMPLETED]].concat();
    broken(&events, &["event 7: pairing: expected the part to be done once, found it again"]);
}

#[test]
fn the_list_of_mcp_tools_may_stay_open_by_deviation() {
    let tools =
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"mcp_list_tools","id":"l"}}"#;
    let completed = r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"mcp_list_tools","id":"l"}]}}"#;
    broken(
        &[CREATED, tools, completed],
        &["event 3: pairing: expected item 0 to be done before response.completed, found it open \
           (excused by item-never-done)"],
    );
}

#[test]
fn a_delta_is_of_its_parts_kind() {
    let refusal = HI.replace("output_text", "refusal");
    let arguments =
        r#"{"type":"response.function_call_arguments.delta","item_id":"m","output_index":0,"delta":""}"#;
    let events = [&[CREATED][..], &TEXT[..2], &[&refusal, arguments], &TEXT[3..], &[COMPLETED]].concat();
    broken(
        &events,
        &[
            "event 4: delta-type: expected response.refusal in a \"refusal\" part, found it in a \"output_text\" one",
            "event 5: delta-type: expected response.function_call_arguments in a \"function_call\" item, \
             found it in a \"message\" one",
        ],
    );
}

#[test]
fn events_name_their_item() {
    expect(
        WireKind::OpenAiResponses,
        &with(HI, &HI.replace("\"item_id\":\"m\"", "\"item_id\":\"n\"")),
        &["event 4: item-id: expected item_id \"m\", found \"n\" (excused by item-id-changes)"],
    );
    expect(
        WireKind::OpenAiResponses,
        &with(HI, &HI.replace("\"item_id\":\"m\",", "")),
        &["event 4: shape: expected an item_id, found none"],
    );
    expect(
        WireKind::OpenAiResponses,
        &with(HI, &HI.replace("\"delta\":\"Hi\"", "\"delta\":null")),
        &[
            "event 4: shape: expected delta in response.output_text, found null",
            "event 5: copy: expected response.output_text.done to repeat its deltas, found another text",
            "event 6: copy: expected the part's done to repeat its deltas, found another text",
            "event 7: copy: expected the content of output_item.done to repeat its deltas, found another text",
            "event 8: copy: expected the content of output[0] to repeat its deltas, found another text",
            "event 8: empty-turn: expected an item that holds something, found none",
        ],
    );
}

#[test]
fn other_events_are_foreign() {
    let events = [
        &[CREATED, r#"{"type":"keepalive"}"#, r#"{"type":"ping"}"#, r#"{"type":"x"}"#][..],
        &TEXT,
        &[COMPLETED, r#"{"type":"ping"}"#],
    ];
    expect(
        WireKind::OpenAiResponses,
        &format!("{}data: [DONE]\n\n", numbered(&events.concat())),
        &[
            "event 3: unknown-event: expected no ping, found one (excused by foreign-ping)",
            "event 4: unknown-event: expected an event of the format, found \"x\"",
            "event 12: after-ending: expected nothing after the ending, found \"ping\" (excused by event-after-ending)",
            "event 12: unknown-event: expected no ping, found one (excused by foreign-ping)",
            "event 13: unknown-event: expected no [DONE], found one (excused by foreign-done)",
        ],
    );
}

#[test]
fn a_resumed_stream_starts_above_zero() {
    let stream = named(&[
        r#"{"type":"response.queued","response":{},"sequence_number":4}"#,
        r#"{"type":"error","message":"no","sequence_number":5}"#,
    ]);
    expect(
        WireKind::OpenAiResponses,
        &stream,
        &[
            "event 1: sequence-number: expected sequence_number 0, found 4 (excused by resumed-stream)",
            "event 1: event-order: expected response.created first, found \"response.queued\" \
             (excused by resumed-stream)",
        ],
    );
}
