use super::kit::{Run, drop_items, keep, stream, text};
use crate::wire::EndingKind::{Error, Refuse};
use crate::wire::Fate;

const CREATED: &str = r#"{"type":"response.created","sequence_number":4,"response":{"id":"resp_1","object":"response","created_at":7,"status":"in_progress","incomplete_details":null,"model":"m","output":[],"usage":null}}"#;
const TEXT: [&str; 3] = [
    r#"{"type":"response.output_item.added","sequence_number":5,"output_index":0,"item":{"id":"msg_1","type":"message","content":[]}}"#,
    r#"{"type":"response.content_part.added","sequence_number":6,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}"#,
    r#"{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"hi"}"#,
];
const TEXT_DONE: &str = r#"{"type":"response.output_item.done","sequence_number":8,"output_index":0,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"hi"}]}}"#;
const CALL: [&str; 2] = [
    r#"{"type":"response.output_item.added","sequence_number":9,"output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"one","arguments":""}}"#,
    r#"{"type":"response.output_item.done","sequence_number":10,"output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"one","arguments":"{}"}}"#,
];
const COMPLETED: &str = r#"{"type":"response.completed","sequence_number":11,"response":{"id":"resp_1","output":[],"usage":{"total_tokens":3}}}"#;

fn incomplete(sequence: u32, output: &str, usage: &str) -> String {
    format!(
        r#"{{"type":"response.incomplete","response":{{"id":"resp_1","object":"response","created_at":7,"status":"incomplete","incomplete_details":{{"reason":"content_filter"}},"model":"m","output":[{output}],"usage":{usage}}},"sequence_number":{sequence}}}"#
    )
}

fn error(sequence: u32) -> String {
    format!(
        r#"{{"type":"error","code":"blocked_by_policy","message":"stopped by policy","param":null,"sequence_number":{sequence}}}"#
    )
}

/// The item that tells why, and the events that say it.
fn refusal(number: u32, index: u32, sequence: u32) -> (String, String) {
    let id = format!("msg_policy_{number}");
    let part = |text: &str| format!(r#"{{"type":"refusal","refusal":"{text}"}}"#);
    let message = |status: &str, content: &str| {
        format!(
            r#"{{"id":"{id}","type":"message","status":"{status}","role":"assistant","content":[{content}]}}"#
        )
    };
    let item = message("completed", &part("stopped by policy"));
    let at = format!(r#""item_id":"{id}","output_index":{index},"content_index":0"#);
    let (open, said) = (message("in_progress", ""), "stopped by policy");
    let events = [
        format!(r#"{{"type":"response.output_item.added","output_index":{index},"item":{open}"#),
        format!(r#"{{"type":"response.content_part.added",{at},"part":{}"#, part("")),
        format!(r#"{{"type":"response.refusal.delta",{at},"delta":"{said}""#),
        format!(r#"{{"type":"response.refusal.done",{at},"refusal":"{said}""#),
        format!(r#"{{"type":"response.content_part.done",{at},"part":{}"#, part(said)),
        format!(r#"{{"type":"response.output_item.done","output_index":{index},"item":{item}"#),
    ];
    let numbered = (sequence..).zip(events).map(|(n, event)| format!(r#"{event},"sequence_number":{n}}}"#));
    (stream(&numbered.collect::<Vec<_>>()), item)
}

const MADE: &str = r#"{"type":"response.created","response":{"id":"resp_blocked","object":"response","created_at":0,"status":"in_progress","model":"unknown","output":[]},"sequence_number":0}"#;

#[test]
fn where_nothing_has_left_an_opening_is_made() {
    let (told, why) = refusal(1, 0, 1);
    let refused = format!(
        r#"{{"type":"response.incomplete","response":{{"id":"resp_blocked","object":"response","created_at":0,"status":"incomplete","model":"unknown","output":[{why}],"incomplete_details":{{"reason":"content_filter"}}}},"sequence_number":7}}"#
    );
    assert_eq!(Run::new().end(Refuse).output(), [stream(&[MADE]), told, stream(&[refused])].concat());
    assert_eq!(Run::new().end(Error).output(), stream(&[MADE, &error(1)]));
}

#[test]
fn an_opening_that_did_not_leave_is_sent_first() {
    let mut run = Run::new();
    run.push(&[CREATED], |part| part.fate = Fate::Dropped).end(Refuse);
    let opening = r#"{"type":"response.created","response":{"id":"resp_1","object":"response","created_at":7,"status":"in_progress","incomplete_details":null,"model":"m","output":[],"usage":null},"sequence_number":4}"#;
    let (told, why) = refusal(1, 0, 5);
    assert_eq!(run.output(), [stream(&[opening]), told, stream(&[incomplete(11, &why, "null")])].concat());
}

#[test]
fn an_event_that_nobody_knows_opens_no_item() {
    let unknown = r#"{"type":"response.news","sequence_number":5,"output_index":0}"#;
    let mut run = Run::new();
    run.push(&[CREATED, unknown], keep).end(Refuse);
    let (told, why) = refusal(1, 0, 6);
    let refused = incomplete(12, &why, "null");
    assert_eq!(run.output(), [stream(&[CREATED, unknown]), told, stream(&[refused])].concat());
}

#[test]
fn open_text_is_closed_and_listed_as_incomplete() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).push(&TEXT, keep).end(Refuse);
    let item = r#"{"id":"msg_1","type":"message","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[]}]}"#;
    let closing = [
        r#"{"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"hi","logprobs":[],"sequence_number":8}"#,
        r#"{"type":"response.content_part.done","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"hi","annotations":[]},"sequence_number":9}"#,
        &format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{item},"sequence_number":10}}"#
        ),
    ];
    let closed = [&[CREATED][..], &TEXT, &closing].concat();
    let (told, why) = refusal(1, 1, 11);
    let last = incomplete(17, &format!("{item},{why}"), "null");
    assert_eq!(run.output(), [stream(&closed), told, stream(&[last])].concat());
    assert!(run.writer.ended());
}

#[test]
fn what_has_left_completely_is_listed() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).push(&TEXT, keep).push(&[TEXT_DONE], keep).push(&CALL, keep).end(Refuse);
    let items = r#"{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"hi"}]},{"id":"fc_1","type":"function_call","call_id":"call_1","name":"one","arguments":"{}"}"#;
    let (told, why) = refusal(1, 2, 11);
    let last = incomplete(17, &format!("{items},{why}"), "null");
    let left = [CREATED, TEXT[0], TEXT[1], TEXT[2], TEXT_DONE, CALL[0], CALL[1]];
    assert_eq!(run.output(), [stream(&left), told, stream(&[last])].concat());
}

/// Rule 20: a half call that is closed is run.
#[test]
fn an_open_call_turns_a_refusal_into_an_error() {
    let mut run = Run::new();
    run.push(&[CREATED, CALL[0]], keep).end(Refuse);
    assert_eq!(run.output(), stream(&[CREATED, CALL[0], &error(10)]));
}

#[test]
fn a_call_that_was_dropped_is_not_open() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).push(&TEXT, keep).push(&[TEXT_DONE], keep);
    run.push(&CALL[..1], drop_items(&[1])).end(Refuse);
    let items = r#"{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"hi"}]}"#;
    let (told, why) = refusal(1, 1, 9);
    let last = incomplete(15, &format!("{items},{why}"), "null");
    let left = stream(&[CREATED, TEXT[0], TEXT[1], TEXT[2], TEXT_DONE]);
    assert_eq!(run.output(), [left, told, stream(&[last])].concat());
}

#[test]
fn an_error_ends_with_the_next_number() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).push(&TEXT, keep).end(Error);
    assert_eq!(run.output(), stream(&[CREATED, TEXT[0], TEXT[1], TEXT[2], &error(8)]));
}

#[test]
fn after_the_end_nothing_is_written() {
    for end in [COMPLETED, r#"{"type":"error","code":"x","message":"m"}"#] {
        for kind in [Refuse, Error] {
            let mut run = Run::new();
            run.push(&[CREATED, end], keep).end(kind).end(kind);
            assert_eq!(run.output(), stream(&[CREATED, end]));
        }
    }
}

/// Rule 20: usage that arrived is kept, also that of a terminal event that did not leave.
#[test]
fn known_usage_is_kept() {
    let mut run = Run::new();
    let completed = COMPLETED.replace("number\":11", "number\":5");
    run.push(&[CREATED], keep).push(&[completed], |part| part.fate = Fate::Dropped).end(Refuse);
    let (told, why) = refusal(1, 0, 5);
    let last = incomplete(11, &why, r#"{"total_tokens":3}"#);
    assert_eq!(run.output(), [stream(&[CREATED]), told, stream(&[last])].concat());
}

#[test]
fn an_inserted_item_is_listed_in_a_refusal() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).insert(vec![text("note")]).end(Refuse);
    let item = r#"{"id":"msg_policy_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"note","annotations":[]}]}"#;
    let (_, why) = refusal(2, 1, 11);
    let last = incomplete(17, &format!("{item},{why}"), "null");
    assert_eq!(run.output().rsplit("event: ").next(), stream(&[last]).strip_prefix("event: "));
}

#[test]
fn the_border_of_a_cut_event_is_restored_first() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).with(&format!("data: {}", TEXT[0]), |_| {}).end(Error);
    let error = error(6);
    assert_eq!(run.output(), format!("{}data: {}\n\ndata: {error}\n\n", stream(&[CREATED]), TEXT[0]));
}

#[test]
fn a_stream_without_event_lines_ends_without_one() {
    let mut run = Run::new();
    run.with(&format!("data: {CREATED}\n\n"), |_| {}).end(Error);
    assert_eq!(run.output(), format!("data: {CREATED}\n\ndata: {}\n\n", error(5)));
}

/// Rule 23.
#[test]
fn the_keep_alive_is_a_comment_at_any_time() {
    let mut run = Run::new();
    assert_eq!(run.writer.keep_alive(), ": keep-alive\n\n");
    run.push(&[CREATED], keep).push(&TEXT, keep);
    assert_eq!(run.writer.keep_alive(), ": keep-alive\n\n");
}

#[test]
fn an_item_that_is_only_done_and_dropped_takes_no_number() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).push(&[TEXT_DONE], |part| part.fate = Fate::Dropped).end(Refuse);
    let (told, why) = refusal(1, 0, 8);
    let refused = incomplete(14, &why, "null");
    assert_eq!(run.output(), [stream(&[CREATED]), told, stream(&[refused])].concat());
}
