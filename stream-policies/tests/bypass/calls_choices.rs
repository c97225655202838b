//! Calls that only those clients read who tell calls apart by their index alone, over all choices: litellm's `stream_chunk_builder` did
//! until 2026, and still does so with `function_call`.

use stream_core::{Action, ErrorKind, Request};
use stream_testkit::WireKind;
use stream_testkit::models::{self, Call};

use crate::kit::{Ran, buffered, chat, data, gate, run_for};

/// A request for three answers.
fn several() -> Request {
    Request::new().choices(3)
}

/// A call of a choice, in one chunk.
fn call(choice: u32, name: &str, arguments: &str) -> String {
    let entry = chat::entry(0, &format!("call_{choice}"), name, arguments);
    chat::choice(choice, &format!(r#"{{"tool_calls":[{entry}]}}"#))
}

/// More arguments of a choice's first call.
fn more(choice: u32, arguments: &str) -> String {
    let arguments = serde_json::Value::from(arguments);
    chat::choice(
        choice,
        &format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":{arguments}}}}}]}}"#),
    )
}

fn custom(choice: u32, name: &str, input: &str) -> String {
    let entry = format!(
        r#"{{"index":0,"id":"call_{choice}","type":"custom","custom":{{"name":"{name}","input":"{input}"}}}}"#
    );
    chat::choice(choice, &format!(r#"{{"tool_calls":[{entry}]}}"#))
}

fn legacy(choice: u32, name: &str, arguments: &str) -> String {
    let arguments = serde_json::Value::from(arguments);
    chat::choice(choice, &format!(r#"{{"function_call":{{"name":"{name}","arguments":{arguments}}}}}"#))
}

fn role(choice: u32) -> String {
    chat::choice(choice, r#"{"role":"assistant"}"#)
}

fn finish(choice: u32) -> String {
    data(&format!(
        r#"{{"id":"c","choices":[{{"index":{choice},"delta":{{}},"finish_reason":"tool_calls"}}]}}"#
    ))
}

/// What every client reads is among these calls.
#[track_caller]
fn reads_only(ran: &Ran, judged: &[Call]) {
    for model in models::of(WireKind::OpenAiChat).filter(|model| !model.asks_for_one()) {
        for read in model.read(ran.out.as_bytes()).calls {
            assert!(judged.iter().any(|call| call.is_same(&read)), "{}: {read:?}\n{}", model.name(), ran.out);
        }
    }
}

/// The client that reads every choice by itself reads all of these.
#[track_caller]
fn all_leave(ran: &Ran, judged: &[Call]) {
    let by_choice = models::of(WireKind::OpenAiChat).find(|model| model.name() == "openai-python").unwrap();
    let mut read = by_choice.read(ran.out.as_bytes()).calls;
    read.sort();
    let mut judged = judged.to_vec();
    judged.sort();
    assert_eq!(read, judged, "{}", ran.out);
}

/// Every call leaves, to those who read it in its own choice, and nobody reads another one.
#[track_caller]
fn leaves(body: &str, judged: &[Call]) {
    for ran in [run_for(several, gate, body), run_for(several, buffered, body)] {
        assert_eq!(ran.error, None);
        reads_only(&ran, judged);
        all_leave(&ran, judged);
    }
}

#[test]
fn arguments_of_one_choice_under_the_name_of_another_are_read_by_nobody() {
    let judged = [Call::function("ls", r#"{"path":"/"}"#), Call::function("rm", "")];
    let body = call(0, "ls", r#"{"path":"/"}"#) + &call(1, "rm", "") + &finish(0) + &finish(1) + chat::DONE;
    leaves(&body, &judged);
    let later = call(0, "ls", r#"{"path":"/"}"#) + &finish(0) + &call(2, "rm", "") + &finish(2) + chat::DONE;
    leaves(&later, &judged);
    let first = call(0, "rm", "") + &call(1, "ls", r#"{"path":"/"}"#) + &finish(0) + &finish(1) + chat::DONE;
    leaves(&first, &judged);
}

#[test]
fn arguments_of_calls_that_take_turns_over_choices_are_read_by_nobody_together() {
    // Put together: {"p":"{", "}":1}
    let (one, other) = (r#"{"p":""}"#, r#"{", ":1}"#);
    let pieces = [
        (0, &one[..6]),
        (1, &other[..2]),
        (1, &other[2..4]),
        (0, &one[6..7]),
        (0, &one[7..]),
        (1, &other[4..]),
    ];
    assert_eq!(pieces.iter().map(|(_, piece)| *piece).collect::<String>(), r#"{"p":"{", "}":1}"#);
    let pieces: String = pieces.iter().map(|(choice, piece)| more(*choice, piece)).collect();
    let judged = [Call::function("ls", one), Call::function("rm", other)];
    let end = finish(0) + &finish(1) + chat::DONE;
    leaves(&(call(0, "ls", "") + &call(1, "rm", "") + &pieces + &end), &judged);
    leaves(&(call(1, "rm", "") + &call(0, "ls", "") + &pieces + &end), &judged);
}

#[test]
fn inputs_of_several_choices_are_read_by_nobody_together() {
    let input = |name: &str, input: &str| {
        let mut call = Call::function(name, input);
        call.kind = models::CallKind::Custom;
        call
    };
    let body = custom(0, "ls", "rm -rf ") + &custom(1, "run", "/tmp") + &finish(0) + &finish(1) + chat::DONE;
    leaves(&body, &[input("ls", "rm -rf "), input("run", "/tmp")]);
}

#[test]
fn a_function_call_of_each_choice_is_read_by_nobody_together() {
    let judged = [Call::function("rm", ""), Call::function("ls", r#"{"path":"/"}"#)];
    let body =
        legacy(0, "rm", "") + &legacy(1, "ls", r#"{"path":"/"}"#) + &finish(0) + &finish(1) + chat::DONE;
    leaves(&body, &judged);
}

/// The first choice cannot stand behind an empty one: where the call that it would spoil has left, the stream closes.
#[test]
fn a_call_of_the_first_choice_that_would_take_the_arguments_of_another_closes_the_stream() {
    let body = call(1, "ls", r#"{"path":"/"}"#) + &finish(1) + &call(0, "rm", "") + &finish(0) + chat::DONE;
    let ran = run_for(several, gate, &body);
    assert_eq!(ran.error, Some(ErrorKind::Ambiguous));
    reads_only(&ran, &[Call::function("ls", r#"{"path":"/"}"#)]);
}

/// What litellm passes over, since the first choice of the list has nothing, is not passed over by others.
#[test]
fn a_piece_behind_an_empty_choice_is_read_by_everybody() {
    let hidden = data(
        r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":null},{"index":1,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"/safe"}}]},"finish_reason":null}]}"#,
    );
    let body = call(1, "ls", r#"{"path":"/tmp"#) + &hidden + &more(1, r#""}"#) + &finish(1) + chat::DONE;
    let body = chat::text("Hm.") + &body;
    leaves(&body, &[Call::function("ls", r#"{"path":"/tmp/safe"}"#)]);
}

/// Calls of several choices that nobody reads as another one leave byte for byte.
#[test]
fn harmless_calls_of_several_choices_leave_as_they_came() {
    let end = finish(0) + &finish(1) + chat::DONE;
    for body in [
        call(0, "ls", r#"{"path":"/"}"#) + &call(1, "rm", r#"{"path":"a"}"#) + &end,
        role(1) + &call(1, "ls", r#"{"path":"/"}"#) + &call(0, "rm", r#"{"path":"a"}"#) + &end,
        call(0, "ls", "") + &more(0, "{}") + &call(1, "ls", "") + &more(1, "[1]") + &end,
        call(0, "time", "") + &call(1, "date", "") + &end,
        role(1) + &call(1, "time", "{}") + &call(0, "time", "") + &end,
        chat::choice(0, r#"{"content":"Hm."}"#) + &call(1, "rm", "") + &end,
    ] {
        // One choice may pass another (rule 11).
        let sorted = |text: &str| {
            let mut events: Vec<String> = text.split_inclusive("\n\n").map(str::to_owned).collect();
            events.sort();
            events
        };
        for ran in [run_for(several, gate, &body), run_for(several, buffered, &body)] {
            assert_eq!((sorted(&ran.out), ran.edits), (sorted(&body), Vec::new()));
        }
    }
}

/// openai-python's `.stream()` takes the number of a choice for its position, and adds what it does not find behind the others: the next piece of the
/// choice would be another one's.
#[test]
fn a_call_in_a_choice_that_comes_before_those_of_lower_numbers_is_read_whole() {
    let ls = r#"{"path":"/"}"#;
    for choice in [1, 2] {
        let pieces = call(choice, "ls", "") + &more(choice, &ls[..4]) + &more(choice, &ls[4..]);
        let first = pieces + &finish(choice);
        let text = chat::choice(0, r#"{"content":"Hm."}"#);
        leaves(&(first.clone() + &text + &finish(0) + chat::DONE), &[Call::function("ls", ls)]);
        let behind = call(0, "rm", r#"{"path":"a"}"#) + &finish(0);
        let both = [Call::function("ls", ls), Call::function("rm", r#"{"path":"a"}"#)];
        leaves(&(first + &behind + chat::DONE), &both);
        let legacy = legacy(choice, "ls", ls) + &finish(choice) + &text + &finish(0) + chat::DONE;
        leaves(&legacy, &[Call::function("ls", ls)]);
    }
}

/// Put together, these are the name of a tool that may not run.
#[test]
fn names_of_two_choices_are_read_by_nobody_together() {
    let judged = [Call::function("ba", "{}"), Call::function("sh", r#"{"path":"a"}"#)];
    let body = call(1, "ba", "{}") + &finish(1) + &call(0, "sh", r#"{"path":"a"}"#) + &finish(0) + chat::DONE;
    leaves(&body, &judged);
}

/// What is set apart is recorded.
#[test]
fn a_call_that_is_set_apart_is_recorded() {
    let body = call(0, "ls", r#"{"path":"/"}"#) + &call(1, "rm", "") + &finish(0) + &finish(1) + chat::DONE;
    let ran = run_for(several, gate, &body);
    let why =
        "expected calls of one choice at each index, found another choice whose call would be read with them";
    assert_eq!(ran.edits(), [(Action::Normalised, why)]);
}
