//! Chat: calls.

use super::{
    super::{CallView, View, WireKind},
    chat, expect,
};

const ROLE: &str = r#""delta":{"role":"assistant","content":null},"finish_reason":null"#;
const CALLS: &str = r#""delta":{},"finish_reason":"tool_calls""#;
const DONE: &str = "[DONE]";

/// A stream of these call deltas, between a role and a finish.
#[track_caller]
fn broken(deltas: &[&str], finish: &str, violations: &[&str]) -> View {
    let deltas: Vec<_> =
        deltas.iter().map(|delta| format!(r#""delta":{{"tool_calls":[{delta}]}}"#)).collect();
    let mut chunks = vec![ROLE];
    chunks.extend(deltas.iter().map(String::as_str));
    chunks.extend([finish, DONE]);
    expect(WireKind::OpenAiChat, &chat(&chunks), violations)
}

const FIRST: &str = r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}"#;
const SECOND: &str = r#"{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}"#;
const MORE: &str = r#"{"index":0,"function":{"arguments":"{\"x\":1}"}}"#;

#[test]
fn good_calls() {
    let view = broken(&[FIRST, MORE, SECOND], CALLS, &[]);
    let call = |id: &str, name: &str, arguments: &str| CallView {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        kind: "function".to_owned(),
    };
    assert_eq!(view.choices[0].calls, [call("a", "f", r#"{"x":1}"#), call("b", "g", "{}")]);
}

#[test]
fn calls_may_interleave_and_continue_with_null_or_empty_ids() {
    let view = broken(
        &[
            FIRST,
            SECOND,
            r#"{"index":0,"id":"","function":{"name":"","arguments":"{"}}"#,
            r#"{"index":0,"id":null,"function":{"name":null,"arguments":"}"}}"#,
        ],
        CALLS,
        &[],
    );
    assert_eq!(view.choices[0].calls[0].arguments, "{}");
}

#[test]
fn call_indices_start_at_zero_and_have_no_gap() {
    broken(
        &[SECOND],
        CALLS,
        &["event 2: index: expected the first call at index 0, found 1 (excused by first-call-index)"],
    );
    let third = SECOND.replace("\"index\":1", "\"index\":2");
    broken(&[FIRST, &third], CALLS, &["event 3: index: expected the next call at index 1, found 2"]);
}

#[test]
fn the_highest_index_has_no_next() {
    let highest = FIRST.replace("\"index\":0", "\"index\":18446744073709551615");
    let missing = "expected a call index, found none (excused by call-without-index)";
    let first = "event 2: index: expected the first call at index 0, found 18446744073709551615 \
                 (excused by first-call-index)";
    let next = "event 3: index: expected the next call at index 18446744073709551615, found 1";
    broken(&[&highest, SECOND], CALLS, &[first, next]);
    let unnumbered = SECOND.replace("\"index\":1,", "");
    broken(&[&highest, &unnumbered], CALLS, &[first, &format!("event 3: index: {missing}")]);
}

#[test]
fn a_call_without_index_behind_the_legacy_call_is_the_first() {
    let chunks = [
        ROLE,
        r#""delta":{"function_call":{"name":"f","arguments":"{}"}},"finish_reason":null"#,
        r#""delta":{"tool_calls":[{"id":"a","type":"function","function":{"name":"g","arguments":"{"}}]},"finish_reason":null"#,
        r#""delta":{"tool_calls":[{"function":{"arguments":"}"}}]},"finish_reason":null"#,
        CALLS,
        DONE,
    ];
    let missing = "index: expected a call index, found none (excused by call-without-index)";
    let view = expect(
        WireKind::OpenAiChat,
        &chat(&chunks),
        &[&format!("event 3: {missing}"), &format!("event 4: {missing}")],
    );
    let calls: Vec<_> = view.choices[0].calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
    assert_eq!(calls, [("f", "{}"), ("g", "{}")]);
}

#[test]
fn a_call_delta_has_an_index() {
    let view = broken(
        &[
            r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{"}}"#,
            r#"{"function":{"arguments":"}"}}"#,
        ],
        CALLS,
        &[
            "event 2: index: expected a call index, found none (excused by call-without-index)",
            "event 3: index: expected a call index, found none (excused by call-without-index)",
        ],
    );
    assert_eq!(view.choices[0].calls[0].arguments, "{}");
    broken(
        &[r#"{"function":{"arguments":"}"}}"#],
        r#""delta":{"content":"a"},"finish_reason":"stop""#,
        &[
            "event 2: index: expected a call index, found none (excused by call-without-index)",
            "event 2: call-identity: expected the first delta of a call to have an id, found none",
        ],
    );
}

#[test]
fn a_call_opens_with_everything() {
    broken(
        &[r#"{"index":0,"function":{}}"#],
        CALLS,
        &[
            "event 2: call-identity: expected call 0 to open with an id, found none (excused by call-without-id)",
            "event 2: call-identity: expected call 0 to open with a name, found none",
            "event 2: shape: expected call 0 to open with a type, found none (excused by call-without-type)",
            "event 2: shape: expected call 0 to open with arguments, found none (excused by call-without-arguments)",
        ],
    );
}

#[test]
fn a_call_keeps_its_identity() {
    let view = broken(
        &[
            FIRST,
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":0,"id":"b","function":{"name":"g","arguments":"}"}}"#,
            r#"{"index":1,"id":"a","type":"function","function":{"name":"f","arguments":""}}"#,
            r#"{"index":1,"function":{"arguments":{}}}"#,
        ],
        CALLS,
        &[
            "event 3: call-identity: expected the id of call 0 once, found it again (excused by call-id-repeated)",
            "event 3: call-identity: expected the name of call 0 once, found it again \
             (excused by call-name-repeated)",
            "event 4: call-identity: expected call 0 to keep its id \"a\", found \"b\" \
             (excused by call-index-shared)",
            "event 4: call-identity: expected call 0 to keep its name \"f\", found \"g\" \
             (excused by call-index-shared)",
            "event 5: call-identity: expected call 1 to have an id of its own, found \"a\" again",
            "event 6: shape: expected arguments to be a string, found {}",
        ],
    );
    assert_eq!(view.choices[0].calls[0].arguments, "{}");
}

#[test]
fn arguments_are_whole_unless_the_last_call_was_cut() {
    let half = FIRST.replace("\"arguments\":\"\"", "\"arguments\":\"{\"");
    let message = "arguments: expected the arguments of \"f\" to be one JSON value, found { \
                   (excused by broken-arguments)";
    broken(&[&half], CALLS, &[&format!("event 4: {message}")]);
    broken(&[&half], r#""delta":{},"finish_reason":"length""#, &[]);
    broken(&[&half], r#""delta":{},"finish_reason":"content_filter""#, &[]);
    broken(&[&half, SECOND], r#""delta":{},"finish_reason":"length""#, &[&format!("event 5: {message}")]);
}

#[test]
fn the_finish_reason_fits_the_calls() {
    broken(
        &[],
        r#""delta":{"content":"a"},"finish_reason":"tool_calls""#,
        &["event 3: finish-reason: expected calls before \"tool_calls\", found none"],
    );
    broken(
        &[FIRST],
        r#""delta":{},"finish_reason":"stop""#,
        &[
            "event 4: finish-reason: expected \"tool_calls\" after calls, found \"stop\" (excused by stop-with-calls)",
        ],
    );
}

#[test]
fn a_legacy_call_has_a_name_and_no_id() {
    let chunks = [
        ROLE,
        r#""delta":{"function_call":{"name":"f","arguments":"{"}}"#,
        r#""delta":{"function_call":{"arguments":"}"}}"#,
        r#""delta":{},"finish_reason":"function_call""#,
        DONE,
    ];
    let view = expect(WireKind::OpenAiChat, &chat(&chunks), &[]);
    let kind = "function_call".to_owned();
    let (name, arguments) = ("f".to_owned(), "{}".to_owned());
    assert_eq!(view.choices[0].calls, [CallView { id: String::new(), name, arguments, kind }]);

    let chunks = [ROLE, r#""delta":{"function_call":{"arguments":""}}"#, chunks[3], DONE];
    expect(
        WireKind::OpenAiChat,
        &chat(&chunks),
        &["event 2: call-identity: expected the function_call to open with a name, found none"],
    );
}

#[test]
fn a_custom_call_streams_free_text() {
    let view = broken(
        &[
            r#"{"index":0,"id":"a","type":"custom","custom":{"name":"f","input":"ls"}}"#,
            r#"{"index":0,"custom":{"input":" -l"}}"#,
        ],
        CALLS,
        &[],
    );
    let call = &view.choices[0].calls[0];
    assert_eq!((call.arguments.as_str(), call.kind.as_str()), ("ls -l", "custom"));
}
