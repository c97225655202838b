use super::kit::{Run, call, event, keep, stream, text};
use crate::block::BlockKey;
use crate::delta::DeltaKind;
use crate::wire::Fate;

const CREATED: &str =
    r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","output":[]}}"#;
const FIRST: [&str; 2] = [
    r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"one","arguments":"{}"}}"#,
    r#"{"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"one","arguments":"{}"}}"#,
];
const ONE: &str = r#"{"id":"fc_1","type":"function_call","call_id":"call_1","name":"one","arguments":"{}"}"#;
const TWO: &str = r#"{"id":"fc_2","type":"function_call","call_id":"call_2","name":"two","arguments":"{}"}"#;

fn second(sequence: u32, index: u32) -> [String; 2] {
    let event = |kind: &str, sequence: u32| {
        format!(
            r#"{{"type":"response.output_item.{kind}","sequence_number":{sequence},"output_index":{index},"item":{TWO}}}"#
        )
    };
    [event("added", sequence), event("done", sequence + 1)]
}

fn completed(sequence: u32, output: &str) -> String {
    format!(
        r#"{{"type":"response.completed","sequence_number":{sequence},"response":{{"id":"resp_1","output":[{output}]}}}}"#
    )
}

fn message(number: u32, text: &str) -> String {
    format!(
        r#"{{"id":"msg_policy_{number}","type":"message","status":"completed","role":"assistant","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#
    )
}

fn spoken(number: u32, text: &str, index: u32, sequence: u32) -> Vec<String> {
    let id = format!("msg_policy_{number}");
    let item = message(number, text);
    [
        format!(r#"{{"type":"response.output_item.added","output_index":{index},"item":{{"id":"{id}","type":"message","status":"in_progress","role":"assistant","content":[]}},"#),
        format!(r#"{{"type":"response.content_part.added","item_id":"{id}","output_index":{index},"content_index":0,"part":{{"type":"output_text","text":"","annotations":[]}},"#),
        format!(r#"{{"type":"response.output_text.delta","item_id":"{id}","output_index":{index},"content_index":0,"delta":"{text}","logprobs":[],"#),
        format!(r#"{{"type":"response.output_text.done","item_id":"{id}","output_index":{index},"content_index":0,"text":"{text}","logprobs":[],"#),
        format!(r#"{{"type":"response.content_part.done","item_id":"{id}","output_index":{index},"content_index":0,"part":{{"type":"output_text","text":"{text}","annotations":[]}},"#),
        format!(r#"{{"type":"response.output_item.done","output_index":{index},"item":{item},"#),
    ]
    .into_iter()
    .zip(sequence..)
    .map(|(event, number)| format!(r#"{event}"sequence_number":{number}}}"#))
    .collect()
}

fn strings(events: &[&str]) -> Vec<String> {
    events.iter().map(|event| (*event).to_owned()).collect()
}

#[test]
fn text_inserted_before_a_call_is_an_item_before_it() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).with(&event(FIRST[0]), |parts| parts.insert(0, text("note")));
    run.push(&FIRST[1..], keep).push(&[completed(3, ONE)], keep);
    let mut expected = strings(&[CREATED]);
    expected.extend(spoken(1, "note", 0, 1));
    expected.push(FIRST[0].replace("number\":1", "number\":7").replace("index\":0", "index\":1"));
    expected.push(FIRST[1].replace("number\":2", "number\":8").replace("index\":0", "index\":1"));
    expected.push(completed(9, &format!("{},{ONE}", message(1, "note"))));
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn text_inserted_between_two_calls_shifts_the_second() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).push(&FIRST, keep).insert(vec![text("note")]);
    run.push(&second(3, 1), keep).push(&[completed(5, &format!("{ONE},{TWO}"))], keep);
    let mut expected = strings(&[CREATED, FIRST[0], FIRST[1]]);
    expected.extend(spoken(1, "note", 1, 3));
    expected.extend(second(9, 2));
    expected.push(completed(11, &format!("{ONE},{},{TWO}", message(1, "note"))));
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn text_inserted_with_the_end_comes_before_it() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).push(&FIRST, keep);
    run.with(&event(&completed(3, ONE)), |parts| parts.push(text("note")));
    let mut expected = strings(&[CREATED, FIRST[0], FIRST[1]]);
    expected.extend(spoken(1, "note", 1, 3));
    expected.push(completed(9, &format!("{ONE},{}", message(1, "note"))));
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn text_inserted_while_an_item_is_open_takes_the_next_index() {
    let mut run = Run::new();
    run.push(&[CREATED, FIRST[0]], keep).insert(vec![text("note")]).push(&FIRST[1..], keep);
    let mut expected = strings(&[CREATED, FIRST[0]]);
    expected.extend(spoken(1, "note", 1, 2));
    expected.push(FIRST[1].replace("number\":2", "number\":8"));
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn a_dropped_call_that_becomes_text_keeps_its_place() {
    let mut run = Run::new();
    run.push(&[CREATED], keep);
    run.with(&event(FIRST[0]), |parts| {
        parts[0].fate = Fate::Dropped;
        parts.push(text("note"));
    });
    run.push(&FIRST[1..], |part| part.fate = Fate::Dropped).push(&second(3, 1), keep);
    run.with(&event(&completed(5, &format!("{ONE},{TWO}"))), |parts| parts[0].fate = Fate::Dropped);
    let mut expected = strings(&[CREATED]);
    expected.extend(spoken(1, "note", 0, 1));
    expected.extend(second(7, 1));
    expected.push(completed(9, &format!("{},{TWO}", message(1, "note"))));
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn an_inserted_call_is_an_item_with_all_its_events() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).insert(vec![call("ask", r#"{"q":1}"#)]).push(&[completed(1, "")], keep);
    let item = r#"{"id":"fc_policy_1","type":"function_call","status":"completed","arguments":"{\"q\":1}","call_id":"call_policy_1","name":"ask"}"#;
    let done = format!(
        r#"{{"type":"response.output_item.done","output_index":0,"item":{item},"sequence_number":4}}"#
    );
    let terminal = completed(5, item);
    let expected = [
        CREATED,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_policy_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_policy_1","name":"ask"},"sequence_number":1}"#,
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_policy_1","output_index":0,"delta":"{\"q\":1}","sequence_number":2}"#,
        r#"{"type":"response.function_call_arguments.done","item_id":"fc_policy_1","output_index":0,"arguments":"{\"q\":1}","sequence_number":3}"#,
        &done,
        &terminal,
    ];
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn pieces_of_one_text_are_one_message_and_empty_ones_none() {
    let piece = |piece: &str| {
        let mut part = text(piece);
        part.key = Some(BlockKey(9));
        part
    };
    let mut run = Run::new();
    run.push(&[CREATED], keep).insert(vec![piece("no"), piece("te")]).insert(vec![text("")]);
    let mut stop = text("");
    stop.delta.kind = DeltaKind::Stop;
    run.insert(vec![stop]);
    let mut expected = strings(&[CREATED]);
    expected.extend(spoken(1, "note", 0, 1));
    assert_eq!(run.output(), stream(&expected));
}

#[test]
fn a_terminal_event_that_lists_no_items_goes_on_doing_so() {
    let mut run = Run::new();
    run.push(&[CREATED], keep).push(&FIRST, keep).insert(vec![text("note")]).push(&[completed(3, "")], keep);
    let mut expected = strings(&[CREATED, FIRST[0], FIRST[1]]);
    expected.extend(spoken(1, "note", 1, 3));
    expected.push(completed(9, ""));
    assert_eq!(run.output(), stream(&expected));
}

/// Where the rest of a stream is asked for, its items have opened before.
#[test]
fn text_inserted_behind_an_item_that_opened_earlier_takes_the_next_index() {
    let said = r#"{"type":"response.output_text.delta","sequence_number":9,"item_id":"msg_1","output_index":3,"content_index":0,"delta":"hi"}"#;
    let mut run = Run::judged();
    run.push(&[said], keep).insert(vec![text("note")]);
    let mut expected = strings(&[said]);
    expected.extend(spoken(1, "note", 4, 10));
    assert_eq!(run.output(), stream(&expected));
}
