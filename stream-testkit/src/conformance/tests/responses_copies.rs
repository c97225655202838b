//! Responses: calls, and the copies of what was streamed.

use super::{
    super::{CallView, View, WireKind},
    expect, numbered,
    responses::{COMPLETED, CREATED, MESSAGE_DONE, PART_DONE, TEXT, TEXT_DONE},
};

const CALL: &str = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"i","call_id":"a","name":"f","arguments":""}}"#;
const DELTA: &str =
    r#"{"type":"response.function_call_arguments.delta","item_id":"i","output_index":0,"delta":"{}"}"#;
const DONE: &str =
    r#"{"type":"response.function_call_arguments.done","item_id":"i","output_index":0,"arguments":"{}"}"#;
const CALL_DONE: &str = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"i","call_id":"a","name":"f","arguments":"{}"}}"#;
const END: &str = r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","id":"i","call_id":"a","name":"f","arguments":"{}"}]}}"#;

#[track_caller]
fn broken(events: &[&str], violations: &[&str]) -> View {
    expect(WireKind::OpenAiResponses, &numbered(events), violations)
}

/// A stream with one message in which one event has another text.
#[track_caller]
fn changed(event: &str, violations: &[&str]) {
    let events = [&[CREATED][..], &TEXT, &[COMPLETED]].concat();
    let new = event.replace("\"Hi\"", "\"Ho\"");
    broken(&events.iter().map(|it| if *it == event { &*new } else { it }).collect::<Vec<_>>(), violations);
}

#[test]
fn a_good_call() {
    let view = broken(&[CREATED, CALL, DELTA, DONE, CALL_DONE, END], &[]);
    let (id, name, arguments) = ("a".to_owned(), "f".to_owned(), "{}".to_owned());
    assert_eq!(view.choices[0].calls, [CallView { id, name, arguments, kind: "function_call".to_owned() }]);
}

#[test]
fn every_copy_of_a_text_repeats_it() {
    changed(
        TEXT_DONE,
        &["event 5: copy: expected response.output_text.done to repeat its deltas, found another text"],
    );
    changed(PART_DONE, &["event 6: copy: expected the part's done to repeat its deltas, found another text"]);
    changed(
        MESSAGE_DONE,
        &["event 7: copy: expected the content of output_item.done to repeat its deltas, found another text"],
    );
    changed(
        COMPLETED,
        &["event 8: copy: expected the content of output[0] to repeat its deltas, found another text"],
    );
}

#[test]
fn every_copy_of_a_call_repeats_it() {
    let other =
        |event: &str| event.replace("\"{}\"", "\"{ }\"").replace("\"f\"", "\"g\"").replace("\"a\"", "\"b\"");
    broken(
        &[CREATED, CALL, DELTA, &other(DONE), CALL_DONE, END],
        &[
            "event 4: copy: expected response.function_call_arguments.done to repeat its deltas, found another text",
        ],
    );
    let at = |event: usize, place: &str| {
        [
            format!("event {event}: copy: expected {place} to have the call_id \"a\", found \"b\""),
            format!("event {event}: copy: expected {place} to have the name \"f\", found \"g\""),
            format!(
                "event {event}: copy: expected {place} to repeat the deltas of its call, found another text"
            ),
        ]
    };
    let done = at(5, "output_item.done");
    broken(&[CREATED, CALL, DELTA, DONE, &other(CALL_DONE), END], &done.each_ref().map(String::as_str));
    let end = at(6, "output[0]");
    broken(&[CREATED, CALL, DELTA, DONE, CALL_DONE, &other(END)], &end.each_ref().map(String::as_str));
}

#[test]
fn an_item_keeps_its_type_and_id() {
    broken(
        &[
            CREATED,
            CALL,
            DELTA,
            DONE,
            &CALL_DONE.replace("\"i\"", "\"j\""),
            &END.replace("function_call", "message"),
        ],
        &[
            "event 5: item-id: expected output_item.done to have the id \"i\", found \"j\" (excused by item-id-changes)",
            "event 6: copy: expected output[0] to be a \"function_call\" item, found \"message\"",
        ],
    );
}

#[test]
fn the_output_repeats_every_item() {
    let none = r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#;
    broken(
        &[CREATED, CALL, DELTA, DONE, CALL_DONE, none],
        &[
            "event 6: copy: expected 1 items in the output of response.completed, found none (excused by no-output)",
        ],
    );
    // What only the output shows is run by clients that read nothing else.
    let view = broken(
        &[CREATED, END],
        &["event 2: copy: expected 0 items in the output of response.completed, found 1"],
    );
    assert_eq!(view.choices[0].calls[0].name, "f");
    let parts = COMPLETED.replace(r#"[{"type":"output_text","text":"Hi"}]"#, "[]");
    broken(
        &[&[CREATED][..], &TEXT, &[&parts]].concat(),
        &["event 8: copy: expected output[0] to have 1 parts of content, found 0"],
    );
}

#[test]
fn a_call_opens_with_its_identity_and_has_one_of_its_own() {
    let bare = CALL.replace(r#""call_id":"a","name":"f","#, "");
    let error = r#"{"type":"error","message":"no"}"#;
    broken(
        &[CREATED, &bare, error],
        &[
            "event 2: call-identity: expected a function_call to open with call_id, found none",
            "event 2: call-identity: expected a function_call to open with name, found none",
        ],
    );
    let second = CALL.replace("\"output_index\":0", "\"output_index\":1");
    broken(
        &[CREATED, CALL, &second, error],
        &["event 3: call-identity: expected a call_id of its own, found \"a\" again"],
    );
    broken(
        &[CREATED, &CALL.replace(r#""type":"function_call","#, ""), error],
        &["event 2: shape: expected an item type, found none"],
    );
}

#[test]
fn arguments_come_in_deltas_and_are_closed() {
    broken(
        &[CREATED, CALL, DONE, CALL_DONE, END],
        &["event 3: pairing: expected response.function_call_arguments.delta before its done, found none \
           (excused by arguments-only-in-done)"],
    );
    broken(
        &[CREATED, CALL, DELTA, CALL_DONE, END],
        &["event 4: pairing: expected the done of the call's deltas before its item, found none"],
    );
}

#[test]
fn arguments_are_whole_unless_the_response_is_incomplete() {
    let half = |event: &str| event.replace("\"{}\"", "\"{\"");
    let events = [CALL, DELTA, DONE, CALL_DONE, END].map(half);
    let [call, delta, done, call_done, end] = events.each_ref().map(String::as_str);
    broken(
        &[CREATED, call, delta, done, call_done, end],
        &["event 6: arguments: expected the arguments of \"f\" to be one JSON value, found {"],
    );
    let end = end
        .replace("completed", "incomplete")
        .replace("\"output\"", r#""incomplete_details":{"reason":"max_output_tokens"},"output""#);
    broken(&[CREATED, call, delta, done, call_done, &end], &[]);
}

#[test]
fn summaries_are_indexed_and_repeated() {
    let item = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"s","summary":[]}}"#;
    let event = |name: &str, rest: &str| {
        format!(
            r#"{{"type":"response.reasoning_summary_{name}","item_id":"s","output_index":0,"summary_index":0,{rest}}}"#
        )
    };
    let part = |text: &str| format!(r#""part":{{"type":"summary_text","text":"{text}"}}"#);
    let events = [
        event("part.added", &part("")),
        event("text.delta", r#""delta":"Hm""#),
        event("text.done", r#""text":"Hm""#),
        event("part.done", &part("Hm")),
    ];
    let copy = r#"{"type":"reasoning","id":"s","summary":[{"type":"summary_text","text":"Hm"}]}"#;
    let done = format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{copy}}}"#);
    let end =
        format!(r#"{{"type":"response.completed","response":{{"status":"completed","output":[{copy}]}}}}"#);
    let [added, delta, text_done, part_done] = events.each_ref().map(String::as_str);
    let view = broken(&[CREATED, item, added, delta, text_done, part_done, &done, &end], &[]);
    assert_eq!(view.choices[0].reasoning, "Hm");
    broken(
        &[
            CREATED,
            item,
            &added.replace("\"summary_index\":0", "\"summary_index\":1"),
            delta,
            text_done,
            part_done,
            &done,
            &end,
        ],
        &["event 3: index: expected summary_index 0, found 1"],
    );
}

#[test]
fn shell_commands_are_repeated() {
    let item = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"shell_call","id":"s","call_id":"a","action":{"commands":[]}}}"#;
    let added =
        r#"{"type":"response.shell_call_command.added","output_index":0,"command_index":0,"command":""}"#;
    let delta =
        r#"{"type":"response.shell_call_command.delta","output_index":0,"command_index":0,"delta":"ls"}"#;
    let done =
        r#"{"type":"response.shell_call_command.done","output_index":0,"command_index":0,"command":"ls"}"#;
    let copy = r#"{"type":"shell_call","id":"s","call_id":"a","action":{"commands":["ls"]}}"#;
    let item_done = format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{copy}}}"#);
    let end =
        format!(r#"{{"type":"response.completed","response":{{"status":"completed","output":[{copy}]}}}}"#);
    let view = broken(&[CREATED, item, added, delta, done, &item_done, &end], &[]);
    assert_eq!(view.choices[0].calls[0].arguments, r#"{"commands":["ls"]}"#);
    broken(
        &[CREATED, item, added, delta, done, &item_done.replace("ls", "rm"), &end],
        &["event 6: copy: expected output_item.done to repeat its commands, found others"],
    );
}
