//! Chat: envelope, order, endings.

use super::{
    super::{Ended, WireKind},
    chat, expect,
};

const ROLE: &str = r#""delta":{"role":"assistant","content":""},"finish_reason":null"#;
const TEXT: &str = r#""delta":{"content":"Hi"},"finish_reason":null"#;
const STOP: &str = r#""delta":{},"finish_reason":"stop""#;
const USAGE: &str = r#"{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"total_tokens":3}}"#;
const DONE: &str = "[DONE]";

#[track_caller]
fn broken(chunks: &[&str], violations: &[&str]) -> super::super::View {
    expect(WireKind::OpenAiChat, &chat(chunks), violations)
}

#[test]
fn a_good_stream() {
    let view = broken(&[ROLE, TEXT, TEXT, STOP, USAGE, DONE], &[]);
    assert_eq!(view.choices.len(), 1);
    assert_eq!(view.choices[0].content, "HiHi");
    assert_eq!(view.choices[0].finish.as_deref(), Some("stop"));
    assert_eq!((view.ended, view.usage), (Ended::Clean, true));
}

#[test]
fn a_filter_is_a_refusal_and_needs_no_content() {
    let view = broken(&[ROLE, r#""delta":{},"finish_reason":"content_filter""#, DONE], &[]);
    assert_eq!(view.ended, Ended::Refused);
}

#[test]
fn an_error_ends_the_stream_with_or_without_done() {
    let error = r#"{"error":{"message":"no"}}"#;
    assert_eq!(broken(&[ROLE, TEXT, error], &[]).ended, Ended::Error);
    assert_eq!(broken(&[ROLE, TEXT, error, DONE], &[]).ended, Ended::Error);
    broken(
        &[r#"{"error":"no"}"#, TEXT],
        &[
            "event 1: shape: expected an error with a message, found \"no\"",
            "event 2: after-ending: expected nothing but [DONE] after the error, found a chunk \
             (excused by chunk-after-error)",
            "event 2: event-order: expected the role \"assistant\" first in choice 0, found none \
             (excused by no-role)",
        ],
    );
}

#[test]
fn an_error_comes_alone() {
    broken(
        &[ROLE, r#"{"id":"c","object":"chat.completion.chunk","choices":[],"error":{"message":"no"}}"#],
        &[
            "event 2: shape: expected the error alone, found it beside choices (excused by error-beside-choices)",
        ],
    );
}

#[test]
fn a_cut_stream_has_no_ending() {
    let view = broken(
        &[ROLE, TEXT],
        &[
            "event 2: ending: expected [DONE], found the end (excused by no-done)",
            "event 2: ending: expected a finish_reason for choice 0, found none (excused by no-finish-reason)",
        ],
    );
    assert_eq!(view.ended, Ended::Open);
}

#[test]
fn done_does_not_stand_in_for_a_finish() {
    broken(
        &[ROLE, TEXT, DONE],
        &["event 3: ending: expected a finish_reason for choice 0, found none (excused by no-finish-reason)"],
    );
}

#[test]
fn nothing_comes_after_done() {
    broken(
        &[ROLE, TEXT, STOP, DONE, USAGE, DONE],
        &[
            "event 5: after-ending: expected nothing after [DONE], found an event (excused by event-after-ending)",
            "event 6: after-ending: expected nothing after [DONE], found an event",
        ],
    );
}

#[test]
fn no_delta_comes_after_the_finish() {
    let view = broken(
        &[ROLE, TEXT, STOP, TEXT, STOP, r#""delta":{},"finish_reason":"content_filter""#, DONE],
        &[
            "event 4: after-ending: expected no delta after the finish of choice 0, found one \
             (excused by delta-after-finish)",
            "event 5: ending: expected one finish of choice 0, found another: \"stop\" (excused by finish-repeated)",
            "event 6: ending: expected one finish of choice 0, found another: \"content_filter\"",
        ],
    );
    assert_eq!(view.choices[0].content, "HiHi");
}

#[test]
fn usage_comes_once_and_after_the_finish() {
    broken(
        &[ROLE, TEXT, USAGE, STOP, USAGE, DONE],
        &[
            "event 3: event-order: expected the finish before usage, found usage first \
             (excused by usage-before-finish)",
            "event 5: event-order: expected usage once, found it again (excused by usage-repeated)",
        ],
    );
}

#[test]
fn every_choice_needs_a_finish() {
    let second = r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":1,"delta":{"role":"assistant","content":"b"}}]}"#;
    let view = broken(
        &[ROLE, second, TEXT, STOP, DONE],
        &["event 5: ending: expected a finish_reason for choice 1, found none (excused by no-finish-reason)"],
    );
    assert_eq!(view.choices.len(), 2);
}

#[test]
fn the_envelope_stays_the_same() {
    broken(
        &[
            r#"{"id":"","object":"","choices":[]}"#,
            ROLE,
            r#"{"id":"d","object":"chat.completion","choices":[{"index":0,"delta":{"content":"a"}}]}"#,
            STOP,
            DONE,
        ],
        &[
            "event 1: envelope: expected object \"chat.completion.chunk\", found \"\" (excused by other-object)",
            "event 1: envelope: expected an id, found \"\" (excused by chunk-without-id)",
            "event 1: shape: expected a choice or usage, found neither (excused by empty-choices)",
            "event 3: envelope: expected object \"chat.completion.chunk\", found \"chat.completion\" \
             (excused by other-object)",
            "event 3: envelope: expected id \"c\", found \"d\" (excused by chunk-id-changes)",
        ],
    );
}

#[test]
fn fields_have_their_types() {
    broken(
        &[
            r#"{"id":"c","object":"chat.completion.chunk"}"#,
            r#"{"id":"c","object":"chat.completion.chunk","choices":[{"delta":{}}]}"#,
            r#""finish_reason":null"#,
            r#""delta":{"role":"assistant","content":1,"refusal":2,"tool_calls":3},"finish_reason":4"#,
            r#""delta":{"content":[{"type":"text","text":"a"}]}"#,
            STOP,
            DONE,
        ],
        &[
            "event 1: shape: expected a list of choices, found none (excused by no-choices)",
            "event 2: index: expected a choice index, found none",
            "event 3: shape: expected a delta, found none (excused by no-delta)",
            "event 4: shape: expected content to be a string, found 1",
            "event 4: shape: expected refusal to be a string, found 2",
            "event 4: shape: expected a list of tool_calls, found 3",
            "event 4: shape: expected finish_reason to be a string, found 4",
            "event 5: shape: expected content to be a string, found a list of parts (excused by content-parts)",
        ],
    );
}

#[test]
fn the_first_delta_tells_the_role() {
    broken(
        &[TEXT, STOP, DONE],
        &["event 1: event-order: expected the role \"assistant\" first in choice 0, found none \
           (excused by no-role)"],
    );
}

#[test]
fn a_finish_reason_is_known() {
    broken(
        &[ROLE, TEXT, r#""delta":{},"finish_reason":"eos""#, DONE],
        &[
            "event 3: finish-reason: expected a known finish_reason, found \"eos\" (excused by unknown-finish-reason)",
        ],
    );
}

#[test]
fn a_turn_that_stops_holds_something() {
    broken(&[ROLE, STOP, DONE], &["event 3: empty-turn: expected choice 0 to hold something, found nothing"]);
    broken(&[ROLE, r#""delta":{"audio":{"data":"aGk="}}"#, STOP, DONE], &[]);
    broken(&[DONE], &["event 1: empty-turn: expected a choice, found none"]);
}

#[test]
fn copies_repeat_what_the_deltas_said() {
    let view = broken(
        &[
            ROLE,
            r#""delta":{"reasoning":"a","reasoning_content":"a"}"#,
            r#""delta":{"reasoning":"a","reasoning_content":"b"}"#,
            r#""delta":{"reasoning":"c","reasoning_details":[{"text":"d"}]}"#,
            r#""delta":{"reasoning_details":[{"summary":"e"}]}"#,
            r#""delta":{"content":"x"},"message":{"content":"x"}"#,
            r#""delta":{"content":"y"},"message":{"content":"y"}"#,
            STOP,
            DONE,
        ],
        &[
            "event 3: copy: expected reasoning to repeat reasoning_content, found another text",
            "event 4: copy: expected reasoning_details to repeat reasoning, found another text",
            "event 7: copy: expected message to repeat the content so far, found another text \
             (excused by other-message)",
        ],
    );
    assert_eq!(view.choices[0].reasoning, "abce");
}
