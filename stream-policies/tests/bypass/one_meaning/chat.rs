//! Chat: indices, ids, names and positions that do not name the same one call.

use stream_core::{Action, ErrorKind, Odd, Request, policy_fn};
use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings};
use stream_policies::{Rules, ToolGate};

use crate::kit::chat::{DONE, UNREADABLE, call, choice, delta, end, finish, text};
use crate::kit::{Ran, data, run, run_for};

/// A gate that denies `shell` with `rm` in its command.
fn no_rm() -> ToolGate {
    let rule = Rule::tools(["shell"]).when(Condition::at("/command").regex("rm")).because("no rm");
    ToolGate::new(RulesSettings::otherwise(Otherwise::Allow).deny(rule).build().unwrap())
}

/// A gate that denies `rm`.
fn no_rm_tool() -> ToolGate {
    let rules: Rules = RulesSettings::otherwise(Otherwise::Allow).deny(Rule::tools(["rm"])).build().unwrap();
    ToolGate::new(rules)
}

fn more(index: &str, arguments: &str) -> String {
    let arguments = serde_json::Value::from(arguments);
    delta(&format!(r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":{arguments}}}}}]}}"#))
}

fn opens() -> String {
    delta(r#"{"role":"assistant","content":""}"#)
}

const RM: &str = r#"{"command":"rm -rf /"}"#;

#[track_caller]
fn normalised(ran: &Ran, odd: &[Odd], expected: &str) {
    assert_eq!(ran.out, expected);
    let edits: Vec<_> = odd.iter().map(|odd| (Action::Normalised, odd.to_string())).collect();
    assert_eq!(ran.edits, edits);
    assert_eq!(ran.error, None);
}

/// An index that is no plain integer goes to the call that the fold gave it to: by number, by position and by key.
#[test]
fn a_fraction_for_an_index_leaves_as_the_index_of_the_call_it_was_judged_with() {
    for index in ["0.0", "-0", "false", "\"0\"", "0e0"] {
        let body = opens() + &call(0, "a", "note", "") + &more(index, r#"{"x":1}"#) + &end("tool_calls");
        let expected = opens() + &call(0, "a", "note", "") + &more("0", r#"{"x":1}"#) + &end("tool_calls");
        normalised(&run(no_rm, &body), &[Odd::Number], &expected);
    }
}

/// Finding 03: to a client that takes indices for keys `0.0` is the first call, and the judged one was the second.
#[test]
fn arguments_at_a_fraction_leave_for_the_call_that_was_judged_with_them() {
    let open = opens() + &call(0, "a", "shell", "") + &call(1, "b", "note", "");
    let ran = run(no_rm, &(open.clone() + &more("0.0", RM) + &end("tool_calls")));
    normalised(&ran, &[Odd::Number], &(open + &more("1", RM) + &end("tool_calls")));
}

/// Finding 03b.
#[test]
fn a_fraction_for_the_number_of_a_choice_is_the_choice_it_was_judged_with() {
    let of = |number: &str, delta: &str| {
        data(&format!(
            r#"{{"id":"c","choices":[{{"index":{number},"delta":{delta},"finish_reason":null}}]}}"#
        ))
    };
    let ran = run(no_rm, &(opens() + &of("1e0", r#"{"content":"hi"}"#) + &end("stop")));
    normalised(&ran, &[Odd::Number], &(opens() + &of("0", r#"{"content":"hi"}"#) + &end("stop")));
}

/// Finding 04: a known id wins, and its call leaves with its own index.
#[test]
fn an_id_at_the_index_of_another_call_leaves_at_its_own() {
    let open = opens() + &call(0, "a", "shell", "") + &call(1, "b", "note", "");
    let more_b = delta(
        r#"{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"arguments":"{\"command\":\"rm -rf /\"}"}}]}"#,
    );
    let ran = run(no_rm, &(open.clone() + &more_b + &end("tool_calls")));
    normalised(&ran, &[Odd::Identity], &(open + &more("1", RM) + &end("tool_calls")));
}

/// Finding 05a, and Ollama's index 0 for every call: clients by index would put both into one.
#[test]
fn two_ids_at_one_index_leave_as_two_calls() {
    let body = opens() + &call(0, "a", "r", "{}") + &call(0, "b", "m", "{}") + &end("tool_calls");
    let expected = opens() + &call(0, "a", "r", "{}") + &call(1, "b", "m", "{}") + &end("tool_calls");
    normalised(&run(no_rm_tool, &body), &[Odd::Identity], &expected);
}

/// Finding 05b: clients that put names together would run `rm`.
#[test]
fn a_second_name_without_an_id_leaves_as_a_call_of_its_own() {
    let named = delta(r#"{"tool_calls":[{"index":0,"function":{"name":"m","arguments":""}}]}"#);
    let body = opens() + &call(0, "a", "r", "{}") + &named + &end("tool_calls");
    let expected = opens() + &call(0, "a", "r", "{}") + &call(1, "call_1", "m", "") + &end("tool_calls");
    normalised(&run(no_rm_tool, &body), &[Odd::Identity], &expected);
}

/// Finding 05c.
#[test]
fn a_new_id_takes_its_arguments_to_an_index_of_its_own() {
    let body = opens() + &call(0, "a", "shell", "") + &call(0, "b", "note", RM) + &end("tool_calls");
    let expected = opens() + &call(0, "a", "shell", "") + &call(1, "b", "note", RM) + &end("tool_calls");
    normalised(&run(no_rm, &body), &[Odd::Identity], &expected);
}

#[test]
fn an_id_that_two_calls_have_closes_the_stream() {
    let both = |second: &str| {
        let entry = |index: u32, id: &str| {
            format!(
                r#"{{"index":{index},"id":"{id}","type":"function","function":{{"name":"r","arguments":"{{}}"}}}}"#
            )
        };
        delta(&format!(r#"{{"tool_calls":[{},{}]}}"#, entry(0, "a"), entry(1, second)))
    };
    // A known id wins (rule 6): the second is more of the first, whose arguments were whole. Some clients run the first.
    let ran = run(no_rm, &(opens() + &both("a") + &end("tool_calls")));
    assert_eq!((ran.error, ran.view.choices[0].calls.len()), (Some(ErrorKind::Ambiguous), 0));
    let plain = opens() + &both("b") + &end("tool_calls");
    normalised(&run(no_rm, &plain), &[], &plain);
}

#[test]
fn calls_without_an_index_or_an_id_get_their_own() {
    let bare = |name: &str| {
        delta(&format!(
            r#"{{"tool_calls":[{{"type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}]}}"#
        ))
    };
    let first =
        delta(r#"{"tool_calls":[{"index":0,"type":"function","function":{"name":"r","arguments":"{}"}}]}"#);
    let ran = run(no_rm_tool, &(opens() + &bare("r") + &bare("m") + &end("tool_calls")));
    let expected = opens() + &first + &call(1, "call_1", "m", "{}") + &end("tool_calls");
    normalised(&ran, &[Odd::Identity, Odd::Identity], &expected);
}

#[test]
fn an_index_behind_a_gap_is_the_next_one() {
    let body = opens() + &call(1, "a", "r", "") + &more("1", "{}") + &end("tool_calls");
    let expected = opens() + &call(0, "a", "r", "") + &more("0", "{}") + &end("tool_calls");
    // Its later parts get another index, and are else as they came.
    normalised(&run(no_rm_tool, &body), &[Odd::Identity], &expected);
}

#[test]
fn a_name_that_is_said_again_leaves_once() {
    let again = delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"note","arguments":"{}"}}]}"#);
    let ran = run(no_rm, &(opens() + &call(0, "a", "note", "") + &again + &end("tool_calls")));
    let expected = opens() + &call(0, "a", "note", "") + &more("0", "{}") + &end("tool_calls");
    normalised(&ran, &[Odd::Identity], &expected);
}

/// Some servers send the word for no id: to a client for which every new id opens a call it is one.
#[test]
fn an_id_that_says_null_does_not_leave() {
    let null = delta(r#"{"tool_calls":[{"index":0,"id":"null","function":{"name":"","arguments":"{}"}}]}"#);
    let ran = run(no_rm, &(opens() + &call(0, "a", "note", "") + &null + &end("tool_calls")));
    let expected = opens() + &call(0, "a", "note", "") + &more("0", "{}") + &end("tool_calls");
    normalised(&ran, &[Odd::Identity], &expected);
}

#[test]
fn a_name_behind_the_arguments_leaves_before_them() {
    let bare = delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{\"x\":"}}]}"#);
    let named = delta(r#"{"tool_calls":[{"index":0,"function":{"name":"note","arguments":"1}"}}]}"#);
    let ran = run(no_rm, &(opens() + &bare + &named + &end("tool_calls")));
    let expected = opens() + &call(0, "a", "note", r#"{"x":1}"#) + &end("tool_calls");
    normalised(&ran, &[Odd::Identity, Odd::Identity], &expected);
}

#[test]
fn arguments_that_are_an_object_leave_as_its_text() {
    let object = delta(
        r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"note","arguments":{"x":1}}}]}"#,
    );
    let ran = run(no_rm, &(opens() + &object + &end("tool_calls")));
    normalised(&ran, &[Odd::Type], &(opens() + &call(0, "a", "note", r#"{"x":1}"#) + &end("tool_calls")));
}

/// Finding 06a: a reader of the first item of `choices` and a reader by number find the same.
#[test]
fn choices_out_of_place_leave_each_in_its_place() {
    let open = opens() + &call(0, "a", "shell", r#"{"command":""#);
    let both = data(
        r#"{"id":"c","choices":[{"index":1,"delta":{"content":"hi"},"finish_reason":null},{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ls\"}"}}]},"finish_reason":null}]}"#,
    );
    let ran = run(no_rm, &(open.clone() + &both + &end("tool_calls")));
    let second = data(
        r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":null},{"index":1,"delta":{"role":"assistant","content":"hi"},"finish_reason":null}]}"#,
    );
    let expected = open + &second + &more("0", "ls\"}") + &end("tool_calls");
    normalised(&ran, &[Odd::Position], &expected);
}

#[test]
fn a_choice_alone_is_plain_where_the_request_asked_for_several() {
    let second = |reason: &str| {
        data(&format!(r#"{{"id":"c","choices":[{{"index":1,"delta":{{}},"finish_reason":"{reason}"}}]}}"#))
    };
    let body = text("a")
        + &choice(1, r#"{"role":"assistant","content":"b"}"#)
        + &finish("stop")
        + &second("stop")
        + DONE;
    let ran = run_for(|| Request::new().choices(2), no_rm, &body);
    normalised(&ran, &[], &body);

    let ran = run(no_rm, &body);
    let placed = |delta: &str, reason: &str| {
        data(&format!(
            r#"{{"id":"c","choices":[{{"index":0,"delta":{{}},"finish_reason":null}},{{"index":1,"delta":{delta},"finish_reason":{reason}}}]}}"#
        ))
    };
    let expected = text("a")
        + &placed(r#"{"role":"assistant","content":"b"}"#, "null")
        + &finish("stop")
        + &placed("{}", "\"stop\"")
        + DONE;
    normalised(&ran, &[Odd::Position, Odd::Position], &expected);
}

/// Clients disagree on which of them counts, and there is no writing that all read alike.
#[test]
fn what_has_no_single_meaning_closes_the_stream() {
    let two_kinds = delta(
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"note","arguments":"{}"},"custom":{"name":"rm","input":""}}]}"#,
    );
    let legacy =
        |name: &str| delta(&format!(r#"{{"function_call":{{"name":"{name}","arguments":"{{}}"}}}}"#));
    let other_kind = call(0, "a", "note", "") + &delta(r#"{"function_call":{"arguments":"{}"}}"#);
    let far = choice(4_000_000, r#"{"content":"x"}"#);
    for odd in [two_kinds, legacy("r") + &legacy("m"), other_kind, far] {
        let events = run(no_rm, &(opens() + &odd + &end("tool_calls")));
        assert_eq!(events.error, Some(ErrorKind::Ambiguous), "{odd}");
        assert!(events.out.ends_with(UNREADABLE));
    }
}

/// The quirks of providers that every client reads alike leave as they came.
#[test]
fn plain_quirks_leave_byte_for_byte() {
    let again = delta(
        r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"arguments":"{\"x\":"}}]}"#,
    );
    let empty = delta(
        r#"{"content":null,"tool_calls":[{"index":0,"id":"","type":null,"function":{"name":"","arguments":"1"}}]}"#,
    );
    let word = delta(
        r#"{"content":"","tool_calls":[{"index":0,"id":null,"function":{"name":null,"arguments":"}"}}]}"#,
    );
    let void = delta(r#"{"tool_calls":[{"index":0,"id":null,"function":{"arguments":""}}]}"#);
    let body =
        opens() + &call(0, "a", "note", "") + &again + &empty + &word + &void + &call(1, "b", "note", "{}");
    let body = body + &end("tool_calls");
    normalised(&run(no_rm, &body), &[], &body);
}

/// Rule 28: an item that says nothing but an index does not name a call that has left under another one.
#[test]
fn an_empty_fragment_does_not_follow_a_call_that_left_under_another_index() {
    let body =
        opens() + &call(1, "a", "note", "") + &more("1", "") + &more("1", r#"{"x":1}"#) + &end("tool_calls");
    let expected = opens() + &call(0, "a", "note", "") + &more("0", r#"{"x":1}"#) + &end("tool_calls");
    normalised(&run(no_rm, &body), &[Odd::Identity], &expected);
}

/// A call waits until the one before it is whole. Where the stream ends before that, it leaves all the same, with its record.
#[test]
fn a_call_that_waited_until_the_end_of_the_stream_leaves_with_a_record() {
    let sends = || {
        policy_fn(|chunk, _, ctx| {
            ctx.send(chunk);
            Ok(())
        })
    };
    let open = opens() + &call(0, "a", "note", "");
    let waits = call(0, "b", "note", "");
    let left = open.clone() + &call(1, "b", "note", "");
    let ran = run(sends, &(open.clone() + &waits));
    normalised(&ran, &[Odd::Identity], &left);
    let ran = run(sends, &(open + &waits + "data: {"));
    normalised(
        &ran,
        &[Odd::Identity],
        &(left + &UNREADABLE.replace("'s answer could not be read", " broke off")),
    );
}
