use super::kit::{Run, drop_items, event, keep, replace, shout, stream};
use crate::delta::{DeltaKind, Slot};
use crate::wire::Fate;

const CREATED: &str = r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":7,"status":"in_progress","model":"m","output":[],"usage":null}}"#;

/// A message, two calls and the end, everything said as often as the API says it.
const EVENTS: &[&str] = &[
    CREATED,
    r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}"#,
    r#"{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}"#,
    r#"{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"hel","logprobs":[{"token":"hel","logprob":-0.1,"top_logprobs":[]}],"obfuscation":"x"}"#,
    r#"{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"lo","logprobs":[]}"#,
    r#"{"type":"response.output_text.done","sequence_number":5,"item_id":"msg_1","output_index":0,"content_index":0,"text":"hello","logprobs":[{"token":"hel","logprob":-0.1,"top_logprobs":[]}]}"#,
    r#"{"type":"response.content_part.done","sequence_number":6,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"hello","annotations":[{"title":"hello"}]}}"#,
    r#"{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hello","annotations":[]}]}}"#,
    r#"{"type":"response.output_item.added","sequence_number":8,"output_index":1,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"one"}}"#,
    r#"{"type":"response.function_call_arguments.delta","sequence_number":9,"item_id":"fc_1","output_index":1,"delta":"{\"a\":1}","obfuscation":"x"}"#,
    r#"{"type":"response.function_call_arguments.done","sequence_number":10,"item_id":"fc_1","output_index":1,"name":"one","arguments":"{\"a\":1}"}"#,
    r#"{"type":"response.output_item.done","sequence_number":11,"output_index":1,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"a\":1}","call_id":"call_1","name":"one"}}"#,
    r#"{"type":"response.output_item.added","sequence_number":12,"output_index":2,"item":{"id":"fc_2","type":"function_call","status":"in_progress","arguments":"","call_id":"call_2","name":"two"}}"#,
    r#"{"type":"response.function_call_arguments.delta","sequence_number":13,"item_id":"fc_2","output_index":2,"delta":"{}","obfuscation":"y"}"#,
    r#"{"type":"response.function_call_arguments.done","sequence_number":14,"item_id":"fc_2","output_index":2,"name":"two","arguments":"{}"}"#,
    r#"{"type":"response.output_item.done","sequence_number":15,"output_index":2,"item":{"id":"fc_2","type":"function_call","status":"completed","arguments":"{}","call_id":"call_2","name":"two"}}"#,
    r#"{"type":"response.completed","sequence_number":16,"response":{"id":"resp_1","object":"response","created_at":7,"status":"completed","model":"m","output":[{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hello","annotations":[]}]},{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"a\":1}","call_id":"call_1","name":"one"},{"id":"fc_2","type":"function_call","status":"completed","arguments":"{}","call_id":"call_2","name":"two"}],"output_text":"hello","usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3},"secret":"hello"}}"#,
];

/// The events with other numbers, by plain replacement.
fn renumbered(events: &[&str], sequence: i64, index: Option<(u32, u32)>) -> Vec<String> {
    let shift = |event: &&str| {
        let start = event.find("\"sequence_number\":").unwrap() + 18;
        let end = start + event[start..].find(',').unwrap();
        let number: i64 = event[start..end].parse().unwrap();
        let event = format!("{}{}{}", &event[..start], number + sequence, &event[end..]);
        index.map_or(event.clone(), |(old, new)| {
            event.replace(&format!("\"output_index\":{old}"), &format!("\"output_index\":{new}"))
        })
    };
    events.iter().map(shift).collect()
}

fn completed(sequence: u32, output: &str) -> String {
    format!(
        r#"{{"type":"response.completed","sequence_number":{sequence},"response":{{"id":"resp_1","object":"response","created_at":7,"status":"completed","model":"m","output":[{output}],"usage":{{"input_tokens":1,"output_tokens":2,"total_tokens":3}}}}}}"#
    )
}

const MESSAGE: &str = r#"{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hello","annotations":[]}]}"#;
const ONE: &str = r#"{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"a\":1}","call_id":"call_1","name":"one"}"#;
const TWO: &str = r#"{"id":"fc_2","type":"function_call","status":"completed","arguments":"{}","call_id":"call_2","name":"two"}"#;

#[test]
fn an_untouched_stream_leaves_as_it_came() {
    let mut run = Run::new();
    assert_eq!(run.push(EVENTS, keep).output(), stream(EVENTS));
    assert!(run.writer.ended());
}

/// Rules 17 and 19.
#[test]
fn the_first_of_two_calls_is_dropped_with_its_copies_and_later_numbers_shift() {
    let mut expected: Vec<String> = EVENTS[..8].iter().map(|event| (*event).to_owned()).collect();
    expected.extend(renumbered(&EVENTS[12..16], -4, Some((2, 1))));
    expected.push(completed(12, &format!("{MESSAGE},{TWO}")));
    assert_eq!(Run::new().push(EVENTS, drop_items(&[1])).output(), stream(&expected));
}

#[test]
fn all_calls_are_dropped_and_the_text_stays() {
    let mut expected: Vec<String> = EVENTS[..8].iter().map(|event| (*event).to_owned()).collect();
    expected.push(completed(8, MESSAGE));
    assert_eq!(Run::new().push(EVENTS, drop_items(&[1, 2])).output(), stream(&expected));
}

#[test]
fn the_text_is_dropped_and_the_calls_stay() {
    let mut expected = vec![CREATED.to_owned()];
    expected.extend(renumbered(&EVENTS[8..12], -7, Some((1, 0))));
    expected.extend(renumbered(&EVENTS[12..16], -7, Some((2, 1))));
    expected.push(completed(9, &format!("{ONE},{TWO}")));
    assert_eq!(Run::new().push(EVENTS, drop_items(&[0])).output(), stream(&expected));
}

/// Rule 21.
#[test]
fn a_response_of_which_everything_was_dropped_gets_a_notice() {
    let notice = r#"{"id":"msg_policy_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"[withheld by policy]","annotations":[]}]}"#;
    let done = format!(
        r#"{{"type":"response.output_item.done","output_index":0,"item":{notice},"sequence_number":6}}"#
    );
    let terminal = completed(7, notice);
    let expected = [
        CREATED,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_policy_1","type":"message","status":"in_progress","role":"assistant","content":[]},"sequence_number":1}"#,
        r#"{"type":"response.content_part.added","item_id":"msg_policy_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]},"sequence_number":2}"#,
        r#"{"type":"response.output_text.delta","item_id":"msg_policy_1","output_index":0,"content_index":0,"delta":"[withheld by policy]","logprobs":[],"sequence_number":3}"#,
        r#"{"type":"response.output_text.done","item_id":"msg_policy_1","output_index":0,"content_index":0,"text":"[withheld by policy]","logprobs":[],"sequence_number":4}"#,
        r#"{"type":"response.content_part.done","item_id":"msg_policy_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"[withheld by policy]","annotations":[]},"sequence_number":5}"#,
        &done,
        &terminal,
    ];
    assert_eq!(Run::new().push(EVENTS, drop_items(&[0, 1, 2])).output(), stream(&expected));
}

/// Rule 19: every copy says what the call says now.
#[test]
fn a_replaced_call_is_replaced_in_all_its_copies() {
    let new = r#"{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"b\":2}","call_id":"call_9","name":"safe"}"#;
    let done = format!(
        r#"{{"type":"response.output_item.done","sequence_number":11,"output_index":1,"item":{new}}}"#
    );
    let terminal = completed(16, &format!("{MESSAGE},{new},{TWO}"));
    let mut expected = EVENTS[..8].to_vec();
    expected.extend([
        r#"{"type":"response.output_item.added","sequence_number":8,"output_index":1,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_9","name":"safe"}}"#,
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"{\"b\":2}","sequence_number":9}"#,
        r#"{"type":"response.function_call_arguments.done","sequence_number":10,"item_id":"fc_1","output_index":1,"name":"safe","arguments":"{\"b\":2}"}"#,
        &done,
    ]);
    expected.extend(&EVENTS[12..16]);
    expected.push(&terminal);
    let output = Run::new().push(EVENTS, replace(1, "call_9", "safe", r#"{"b":2}"#)).output();
    assert_eq!(output, stream(&expected));
}

#[test]
fn a_replaced_tool_of_the_api_says_its_new_action_in_the_opening_and_in_every_copy() {
    let added = r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"sh_1","type":"shell_call","status":"in_progress","action":{"commands":[]},"call_id":"call_1"}}"#;
    let delta = r#"{"type":"response.shell_call_command.delta","sequence_number":2,"output_index":0,"command_index":0,"delta":"rm"}"#;
    let done = r#"{"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"id":"sh_1","type":"shell_call","status":"completed","action":{"commands":["rm"]},"call_id":"call_1"}}"#;
    let end = completed(
        4,
        r#"{"id":"sh_1","type":"shell_call","status":"completed","action":{"commands":["rm"]},"call_id":"call_1"}"#,
    );
    let new = r#"{"commands":["ls"]}"#;
    let expected = [
        CREATED.to_owned(),
        added.replace(r#"{"commands":[]}"#, new),
        done.replace(r#"{"commands":["rm"]}"#, new).replace("number\":3", "number\":2"),
        end.replace(r#"{"commands":["rm"]}"#, new).replace("number\":4", "number\":3"),
    ];
    let output = Run::new()
        .push(&[CREATED, added, delta, done, &end], replace(0, "call_1", "shell_call", new))
        .output();
    assert_eq!(output, stream(&expected));
}

#[test]
fn edited_text_is_edited_in_all_its_copies_and_takes_its_log_probabilities_along() {
    let new = r#"{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"HELLO","annotations":[]}]}"#;
    let done = format!(
        r#"{{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{new}}}"#
    );
    let terminal = completed(16, &format!("{new},{ONE},{TWO}"));
    let mut expected = EVENTS[..3].to_vec();
    expected.extend([
        r#"{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"HEL","logprobs":[]}"#,
        r#"{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"LO","logprobs":[]}"#,
        r#"{"type":"response.output_text.done","sequence_number":5,"item_id":"msg_1","output_index":0,"content_index":0,"text":"HELLO","logprobs":[]}"#,
        r#"{"type":"response.content_part.done","sequence_number":6,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"HELLO","annotations":[]}}"#,
        &done,
    ]);
    expected.extend(&EVENTS[8..16]);
    expected.push(&terminal);
    let mut run = Run::new();
    run.push(EVENTS, |part| {
        if matches!(part.delta.slot, Slot::At { item: 0, .. }) {
            shout(part);
        }
    });
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn an_edited_argument_fragment_is_written_in_place() {
    let mut run = Run::new();
    run.push(&EVENTS[..10], |part| match &mut part.delta.kind {
        DeltaKind::Call(call) if call.arguments.is_some() => {
            call.arguments = Some("{}".into());
            part.fate = Fate::Edited;
        }
        _ => {}
    });
    let mut expected = EVENTS[..9].to_vec();
    expected.push(
        r#"{"type":"response.function_call_arguments.delta","sequence_number":9,"item_id":"fc_1","output_index":1,"delta":"{}"}"#,
    );
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn a_dropped_part_shifts_the_parts_after_it() {
    let part = |number: u32, sequence: u32, index: u32| {
        [
            format!(
                r#"{{"type":"response.content_part.added","sequence_number":{sequence},"item_id":"m","output_index":0,"content_index":{index},"part":{{"type":"output_text","text":"","annotations":[]}}}}"#
            ),
            format!(
                r#"{{"type":"response.output_text.delta","sequence_number":{},"item_id":"m","output_index":0,"content_index":{index},"delta":"t{number}"}}"#,
                sequence + 1
            ),
            format!(
                r#"{{"type":"response.content_part.done","sequence_number":{},"item_id":"m","output_index":0,"content_index":{index},"part":{{"type":"output_text","text":"t{number}","annotations":[]}}}}"#,
                sequence + 2
            ),
        ]
    };
    let done = |sequence: u32, content: &str| {
        format!(
            r#"{{"type":"response.output_item.done","sequence_number":{sequence},"output_index":0,"item":{{"id":"m","type":"message","content":[{content}]}}}}"#
        )
    };
    let added = r#"{"type":"response.output_item.added","sequence_number":0,"output_index":0,"item":{"id":"m","type":"message","content":[]}}"#;
    let (first, second) = (
        r#"{"type":"output_text","text":"t0","annotations":[]}"#,
        r#"{"type":"output_text","text":"t1","annotations":[]}"#,
    );
    let mut events = vec![added.to_owned()];
    events.extend(part(0, 1, 0));
    events.extend(part(1, 4, 1));
    events.push(done(7, &format!("{first},{second}")));
    let mut expected = vec![added.to_owned()];
    expected.extend(part(1, 1, 0));
    expected.push(done(4, second));
    let mut run = Run::new();
    run.push(&events, |part| {
        if part.delta.slot == (Slot::At { item: 0, part: 0 }) {
            part.fate = Fate::Dropped;
        }
    });
    assert_eq!(run.output(), stream(&expected));
}

/// Rule 22.
#[test]
fn reasoning_loses_its_text_and_keeps_id_and_encrypted_content() {
    let events = [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
        r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"why"}"#,
        r#"{"type":"response.reasoning_summary_text.done","item_id":"rs_1","output_index":0,"summary_index":0,"text":"why"}"#,
        r#"{"type":"response.reasoning_summary_part.done","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"why"}}"#,
        r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"so"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"why"},{"type":"summary_text","text":"so"}]}}"#,
    ];
    let mut run = Run::new();
    run.push(&events, |part| match part.delta.slot {
        Slot::At { part: number, .. } if number == super::super::item::SUMMARY => part.fate = Fate::Dropped,
        _ => {}
    });
    let expected = [
        events[0],
        r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"so"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"so"}]}}"#,
    ];
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn a_part_that_is_open_on_the_wire_is_emptied_rather_than_removed() {
    let mut run = Run::new();
    run.push(&EVENTS[..8], |part| match part.delta.kind {
        DeltaKind::Text { .. } | DeltaKind::Copy(_) => part.fate = Fate::Dropped,
        _ => {}
    });
    let expected = [
        EVENTS[0],
        EVENTS[1],
        EVENTS[2],
        r#"{"type":"response.content_part.done","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}"#,
        r#"{"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"","annotations":[]}]}}"#,
    ];
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn text_that_leaves_after_its_opening_was_dropped_opens_its_item_and_part() {
    let mut run = Run::new();
    run.push(&EVENTS[..4], drop_items(&[0])).push(&EVENTS[4..5], keep).push(&EVENTS[8..9], keep);
    let expected = [
        EVENTS[0],
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]},"sequence_number":1}"#,
        r#"{"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]},"sequence_number":2}"#,
        r#"{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"lo","logprobs":[]}"#,
        &renumbered(&EVENTS[8..9], -1, None)[0],
    ];
    assert_eq!(run.output(), stream(&expected));
}

/// Rule 19: what is first seen at the end is dropped there.
#[test]
fn a_call_that_only_the_terminal_event_holds_can_be_dropped() {
    let mut run = Run::new();
    run.push(&EVENTS[..8], keep).push(&EVENTS[16..], |part| {
        if let (DeltaKind::Copy(copy), Slot::At { item: 1 | 2, .. }) = (&mut part.delta.kind, part.delta.slot)
        {
            copy.is_first = true;
            part.fate = Fate::Dropped;
        }
    });
    let mut expected: Vec<String> = EVENTS[..8].iter().map(|event| (*event).to_owned()).collect();
    expected.push(completed(16, MESSAGE));
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn a_call_whose_copy_went_is_not_closed() {
    let mut run = Run::new();
    run.push(&EVENTS[..10], keep).push(&EVENTS[10..12], |part| {
        if let DeltaKind::Copy(_) = part.delta.kind {
            part.fate = Fate::Dropped;
        }
    });
    assert_eq!(run.output(), stream(&EVENTS[..10]));
}

#[test]
fn a_stream_without_numbers_or_event_lines_gets_none() {
    let bare = |json: &str| format!("data: {json}\n\n");
    let added = |index: u32, id: &str| {
        format!(
            r#"{{"type":"response.output_item.added","output_index":{index},"item":{{"id":"{id}","type":"function_call","call_id":"{id}","name":"f","arguments":""}}}}"#
        )
    };
    let mut run = Run::new();
    run.with(&bare(&added(0, "a")), |parts| parts[0].fate = Fate::Dropped);
    run.with(&bare(&added(1, "b")), |_| {});
    run.with("data: [DONE]\n\n", |_| {});
    assert_eq!(run.output(), format!("{}data: [DONE]\n\n", bare(&added(0, "b"))));
}

#[test]
fn pings_and_comments_leave_as_they_came_and_count_for_nothing() {
    let ping = "event: ping\ndata: {\"type\":\"ping\",\"cost\":\"0\"}\n\n";
    let mut run = Run::new();
    run.push(&EVENTS[..1], keep).with(ping, |_| {}).with(": hold on\n\n", |_| {});
    run.push(&EVENTS[1..8], drop_items(&[0])).with(ping, |_| {}).push(&EVENTS[8..9], keep);
    let last = event(&renumbered(&EVENTS[8..9], -7, Some((1, 0)))[0]);
    assert_eq!(run.output(), format!("{}{ping}: hold on\n\n{ping}{last}", event(CREATED)));
}

#[test]
fn an_opaque_item_is_dropped_with_all_its_events() {
    let search = r#"{"id":"ws","type":"web_search_call"}"#;
    let message = r#"{"id":"m","type":"message","content":[{"type":"output_text","text":"hi"}]}"#;
    let added = |index: u32| {
        format!(r#"{{"type":"response.output_item.added","output_index":{index},"item":{message}}}"#)
    };
    let completed = |output: &str| {
        format!(r#"{{"type":"response.completed","response":{{"id":"r","output":[{output}]}}}}"#)
    };
    let events = [
        format!(r#"{{"type":"response.output_item.added","output_index":0,"item":{search}}}"#),
        r#"{"type":"response.web_search_call.searching","output_index":0,"item_id":"ws"}"#.to_owned(),
        format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{search}}}"#),
        added(1),
        completed(&format!("{search},{message}")),
    ];
    let output = Run::new().push(&events, drop_items(&[0])).output();
    assert_eq!(output, stream(&[added(0), completed(message)]));
}

#[test]
fn a_call_that_the_opening_lists_already_is_dropped_once() {
    let call = |id: &str| {
        format!(r#"{{"id":"{id}","type":"function_call","call_id":"{id}","name":"f","arguments":""}}"#)
    };
    let created = |output: &str| {
        format!(
            r#"{{"type":"response.created","sequence_number":0,"response":{{"id":"r","output":[{output}]}}}}"#
        )
    };
    let added = |sequence: u32, index: u32, id: &str| {
        let item = call(id);
        format!(
            r#"{{"type":"response.output_item.added","sequence_number":{sequence},"output_index":{index},"item":{item}}}"#
        )
    };
    let events = [created(&call("a")), added(1, 0, "a"), added(2, 1, "b"), added(3, 2, "c")];
    let expected = [created(""), added(1, 0, "b"), added(2, 1, "c")];
    assert_eq!(Run::new().push(&events, drop_items(&[0])).output(), stream(&expected));
}
