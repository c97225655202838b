//! Chat: calls where only some clients look, and calls that become others.

use stream_core::{Action, ErrorKind, Request};
use stream_policies::FinishGate;

use crate::kit::chat::{DONE, UNREADABLE, call, choice, delta, end, entry, finish, text};
use crate::kit::{buffered, data, gate, run, run_for, whole};

/// What is left of a stream whose only call was dropped.
fn only_text() -> String {
    text("ok") + &end("stop")
}

const DROPPED: &[(Action, &str)] = &[(Action::Dropped, "no shells")];

#[test]
fn a_late_delta_that_turns_an_allowed_call_into_another_closes_the_stream() {
    let first = text("ok") + &call(0, "a", "ls", "{}");
    let late = delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"; rm -rf /"}}]}"#);
    let body = first.clone() + &call(1, "b", "ls", "{}") + &late + &end("tool_calls");
    let ran = run(gate, &body);
    assert_eq!((ran.error, ran.out), (Some(ErrorKind::LateDelta), first + UNREADABLE));
}

#[test]
fn a_new_id_at_the_index_of_an_allowed_call_is_a_call_of_its_own() {
    let first = text("ok") + &call(0, "a", "ls", "{}");
    let ran = run(gate, &(first.clone() + &call(0, "b", "bash", "{}") + &end("tool_calls")));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.out, first + &end("tool_calls"));
}

#[test]
fn a_call_of_the_second_choice_is_judged_as_one_of_the_first() {
    let other = |delta: &str| choice(1, delta);
    let bash = format!(r#"{{"tool_calls":[{}]}}"#, entry(0, "a", "bash", "{}"));
    let last = |reason: &str| {
        data(&format!(r#"{{"id":"c","choices":[{{"index":1,"delta":{{}},"finish_reason":"{reason}"}}]}}"#))
    };
    let (hi, ls) = (other(r#"{"content":"hi"}"#), call(0, "a", "ls", "{}"));
    let body = text("ok") + &ls + &hi + &other(&bash) + &finish("tool_calls") + &last("tool_calls") + DONE;
    let ran = run_for(|| Request::new().choices(2), gate, &body);
    assert_eq!(ran.edits(), DROPPED);
    // The other choice passes the call that is held (rule 11).
    assert_eq!(ran.out, text("ok") + &hi + &ls + &finish("tool_calls") + &last("stop") + DONE);
}

#[test]
fn the_legacy_function_call_is_a_call() {
    let body = text("ok") + &delta(r#"{"function_call":{"name":"bash","arguments":"{}"}}"#);
    let ran = run(gate, &(body + &end("function_call")));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.out, only_text());
}

#[test]
fn a_legacy_call_beside_an_allowed_one_is_judged_by_itself() {
    let both = format!(
        r#"{{"tool_calls":[{}],"function_call":{{"name":"bash","arguments":"{{}}"}}}}"#,
        entry(0, "a", "ls", "{}")
    );
    let ran = run(gate, &(text("ok") + &delta(&both) + &end("tool_calls")));
    assert_eq!(ran.edits(), DROPPED);
    let calls: Vec<_> = ran.view.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(calls, ["ls"]);
}

#[test]
fn a_call_in_the_chunk_of_the_finish_is_judged() {
    let entry = entry(0, "a", "bash", "{}");
    let body = data(&format!(
        r#"{{"id":"c","choices":[{{"index":0,"delta":{{"tool_calls":[{entry}]}},"finish_reason":"tool_calls"}}]}}"#
    ));
    let ran = run(gate, &(text("ok") + &body + DONE));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.out, only_text());
}

#[test]
fn a_call_after_the_finish_is_judged() {
    let ran = run(gate, &(text("ok") + &finish("stop") + &call(0, "a", "bash", "{}") + DONE));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.out, only_text());
}

#[test]
fn a_call_after_the_terminal_marker_closes_the_stream() {
    for bundled in [true, false] {
        let body = text("ok") + &end("stop") + &call(0, "a", "bash", "{}");
        let ran = if bundled { run(gate, &body) } else { run(FinishGate::new, &body) };
        assert_eq!(ran.error, Some(ErrorKind::AfterTerminal));
        assert_eq!(ran.out, only_text());
    }
}

#[test]
fn a_finish_on_every_chunk_does_not_finish_a_call_that_goes_on() {
    let chunk = |delta: &str| {
        data(&format!(
            r#"{{"id":"c","choices":[{{"index":0,"delta":{delta},"finish_reason":"tool_calls"}}]}}"#
        ))
    };
    let open = chunk(&format!(r#"{{"tool_calls":[{}]}}"#, entry(0, "a", "bash", "{}")));
    let more = chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]}"#);
    let ran = run(gate, &(text("ok") + &open + &more + DONE));
    assert_eq!(ran.error, Some(ErrorKind::LateDelta));
    assert_eq!(ran.view.choices[0].calls, []);
    assert_eq!(ran.out.matches("bash").count(), 0, "{}", ran.out);
}

#[test]
fn a_call_in_a_message_beside_the_delta_is_no_way_around() {
    let message = format!(
        r#"{{"id":"c","choices":[{{"index":0,"delta":{{}},"message":{{"role":"assistant","content":"","tool_calls":[{}]}},"finish_reason":null}}]}}"#,
        entry(0, "a", "bash", "{}")
    );
    let ran = run(gate, &(text("ok") + &data(&message) + &end("tool_calls")));
    assert_eq!(ran.edits(), [(Action::Dropped, "it cannot be read and may hold a call")]);
    assert_eq!(ran.out, text("ok") + &end("tool_calls"));
}

#[test]
fn a_call_whose_name_comes_last_is_judged_by_that_name() {
    let body = text("ok")
        + &delta(r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"arguments":"{}"}}]}"#)
        + &delta(r#"{"tool_calls":[{"index":0,"function":{"name":"bash"}}]}"#)
        + &end("tool_calls");
    let ran = run(gate, &body);
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.out, only_text());
}

#[test]
fn a_call_without_a_name_is_denied_though_nothing_denies_it() {
    for name in ["", " ", "\\n"] {
        let ran = run(gate, &(text("ok") + &call(0, "a", name, "{}") + &end("tool_calls")));
        assert_eq!(ran.edits(), [(Action::Dropped, "it has no name")], "{name:?}");
        assert_eq!(ran.out, only_text(), "{name:?}");
    }
}

#[test]
fn a_name_that_is_a_number_or_a_list_closes_the_stream() {
    for name in ["7", "[\"bash\"]", "{\"bash\":1}", "true"] {
        let odd = delta(&format!(
            r#"{{"tool_calls":[{{"index":0,"id":"a","type":"function","function":{{"name":{name},"arguments":"{{}}"}}}}]}}"#
        ));
        let ran = run(gate, &(text("ok") + &odd + &end("tool_calls")));
        assert_eq!(ran.view.choices[0].calls, [], "{name}");
        assert_eq!((ran.error, ran.out), (Some(ErrorKind::Malformed), text("ok") + UNREADABLE), "{name}");
    }
}

#[test]
fn calls_in_an_object_or_behind_nulls_are_no_way_around() {
    let bash = entry(0, "a", "bash", "{}");
    for calls in [format!(r#"{{"0":{bash}}}"#), bash.clone(), format!("[[{bash}]]")] {
        let ran =
            run(gate, &(text("ok") + &delta(&format!(r#"{{"tool_calls":{calls}}}"#)) + &end("tool_calls")));
        assert_eq!((ran.error, ran.out), (Some(ErrorKind::Malformed), text("ok") + UNREADABLE), "{calls}");
    }
    let ran =
        run(gate, &(text("ok") + &delta(&format!(r#"{{"tool_calls":[null,{bash}]}}"#)) + &end("tool_calls")));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), only_text()));
}

#[test]
fn a_custom_tool_of_chat_is_a_call() {
    let custom = delta(
        r#"{"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"bash","input":"rm -rf /"}}]}"#,
    );
    let ran = run(gate, &(text("ok") + &custom + &end("tool_calls")));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), only_text()));
}

#[test]
fn fragments_of_a_resumed_call_are_denied() {
    let more = delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"rm -rf /\"}"}}]}"#);
    let ran = run(gate, &(text("ok") + &more + &end("tool_calls")));
    // Chat has no openings of blocks: what tells is that nobody said its name.
    assert_eq!(ran.edits(), [(Action::Dropped, "it has no name")]);
    assert_eq!(ran.out, only_text());
}

#[test]
fn the_buffered_judge_says_nothing_of_what_it_denies() {
    let ran = run(buffered, &(text("ok") + &call(0, "a", "bash", "{}") + &end("tool_calls")));
    let held = (Action::Dropped, "still held at the end");
    assert_eq!(ran.edits(), [(Action::Terminated, "no shells"), held, held]);
    let told = delta(r#"{"role":"assistant"}"#) + &delta(r#"{"refusal":"no shells"}"#);
    assert_eq!(ran.out, told + &end("content_filter"));
}

#[test]
fn a_call_of_a_whole_response_is_judged() {
    let message = |calls: &str, reason: &str| {
        format!(
            r#"{{"id":"c","object":"chat.completion","model":"x","choices":[{{"index":0,"message":{{"role":"assistant","content":"ok"{calls}}},"finish_reason":"{reason}"}}]}}"#
        )
    };
    let calls = format!(r#","tool_calls":[{}]"#, entry(0, "a", "bash", "{}").replace(r#""index":0,"#, ""));
    let ran = whole(gate, &message(&calls, "tool_calls"));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), message("", "stop")));
    let legacy = r#","function_call":{"name":"bash","arguments":"{}"}"#;
    let ran = whole(gate, &message(legacy, "function_call"));
    assert_eq!((ran.edits(), ran.out.clone()), (DROPPED.to_vec(), message("", "stop")));
}
