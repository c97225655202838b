//! Endings and keep-alives.

use super::*;

const ERROR: &str = "{\"error\":{\"code\":500,\"message\":\"not allowed\",\"status\":\"INTERNAL\",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":\"blocked_by_policy\",\"domain\":\"policy_error\"}]}}";

fn error() -> String {
    event(ERROR)
}

/// Rule 20.
#[test]
fn a_refusal_of_a_stream_of_which_nothing_left_makes_a_candidate() {
    let run = Run::new().end(EndingKind::Refuse);
    assert_eq!(
        run.written(),
        "data: {\"candidates\":[{\"finishReason\":\"SAFETY\",\"finishMessage\":\"not allowed\",\"index\":0}]}\n\n"
    );
    assert!(run.writer.ended());
}

#[test]
fn a_refusal_in_the_middle_of_text_keeps_usage_and_names() {
    let first = event(
        r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}],"usageMetadata":{"totalTokenCount": 5},"modelVersion":"m","responseId":"r"}"#,
    );
    let second = says(r#"{"text":"no"}"#);
    let run = Run::new().keep(&first).frame(&second, drop_all).end(EndingKind::Refuse);
    let refusal = event(concat!(
        r#"{"candidates":[{"finishReason":"SAFETY","finishMessage":"not allowed","index":0}],"#,
        r#""usageMetadata":{"totalTokenCount": 5},"modelVersion":"m","responseId":"r"}"#
    ));
    assert_eq!(run.written(), [first, refusal].concat());
}

/// Rule 20.
#[test]
fn usage_of_a_dropped_frame_is_kept_for_the_refusal() {
    let bytes = event(
        r#"{"candidates":[{"content":{"parts":[{"text":"no"}]}}],"usageMetadata":{"a":1},"modelVersion":"m","responseId":"r"}"#,
    );
    let run = Run::new().frame(&bytes, drop_all).end(EndingKind::Refuse);
    let left = event(
        r#"{"candidates":[{"content":{}}],"usageMetadata":{"a":1},"modelVersion":"m","responseId":"r"}"#,
    );
    let refusal = event(concat!(
        r#"{"candidates":[{"finishReason":"SAFETY","finishMessage":"not allowed","index":0}],"#,
        r#""usageMetadata":{"a":1},"modelVersion":"m","responseId":"r"}"#
    ));
    assert_eq!(run.written(), [left, refusal].concat());
}

/// Rule 20.
#[test]
fn every_open_choice_is_refused() {
    let both = event(
        r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"},{"index":1,"content":{"parts":[{"text":"b"}]}},{"index":2}]}"#,
    );
    let refusal = event(concat!(
        r#"{"candidates":[{"finishReason":"SAFETY","finishMessage":"not allowed","index":1},"#,
        r#"{"finishReason":"SAFETY","finishMessage":"not allowed","index":2}]}"#
    ));
    assert_eq!(Run::new().keep(&both).end(EndingKind::Refuse).written(), [both, refusal].concat());
}

/// Rule 20.
#[test]
fn a_half_call_on_the_wire_ends_with_an_error() {
    let open = says(r#"{"functionCall":{"name":"a","willContinue":true}}"#);
    let close = says(r#"{"functionCall":{}}"#);
    assert_eq!(Run::new().keep(&open).end(EndingKind::Refuse).written(), [open.clone(), error()].concat());
    let refusal =
        event(r#"{"candidates":[{"finishReason":"SAFETY","finishMessage":"not allowed","index":0}]}"#);
    let run = Run::new().keep(&open).keep(&close).end(EndingKind::Refuse);
    assert_eq!(run.written(), [&open[..], &close, &refusal].concat());
    let run = Run::new().frame(&open, drop_all).end(EndingKind::Refuse);
    assert_eq!(run.written(), refusal);
}

/// Rule 20.
#[test]
fn after_the_finish_a_refusal_is_an_error() {
    let last = event(r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#);
    let run = Run::new().keep(&last).end(EndingKind::Refuse);
    assert_eq!(run.written(), [last, error()].concat());
}

#[test]
fn an_error_is_an_error_wherever_it_comes() {
    assert_eq!(Run::new().end(EndingKind::Error).written(), format!("data: {ERROR}\n\n"));
    for before in [
        says(r#"{"text":"Hi"}"#),
        says(r#"{"functionCall":{"name":"a","willContinue":true}}"#),
        event(r#"{"candidates":[{"finishReason":"STOP"}]}"#),
    ] {
        assert_eq!(Run::new().keep(&before).end(EndingKind::Error).written(), [before, error()].concat());
    }
}

/// Rule 20.
#[test]
fn after_an_error_or_a_terminal_marker_nothing_is_written() {
    for before in [event(r#"{"error":{"code":500}}"#), event("[DONE]")] {
        for kind in [EndingKind::Refuse, EndingKind::Error] {
            let run = Run::new().keep(&before).end(kind);
            assert_eq!(run.written(), before);
            assert!(run.writer.ended());
        }
    }
    let run = Run::new().end(EndingKind::Error).end(EndingKind::Error);
    assert_eq!(run.written(), format!("data: {ERROR}\n\n"));
}

/// Rule 20.
#[test]
fn an_event_border_is_restored_before_an_ending() {
    let first = says(r#"{"text":"a"}"#);
    let bare = "data: {\"candidates\":[{}]}";
    let run = Run::new().keep(&first).keep(bare).end(EndingKind::Error);
    assert_eq!(run.written(), [&first[..], bare, "\r\n\r\n", &error()].concat());
    let run = Run::new().keep(&format!("{bare}\n")).end(EndingKind::Error);
    assert_eq!(run.written(), format!("{bare}\n\ndata: {ERROR}\n\n"));
}

#[test]
fn a_refusal_brings_no_notice() {
    let run = Run::new().frame(&says(r#"{"text":"no"}"#), drop_all).end(EndingKind::Refuse);
    assert_eq!(
        run.written(),
        event(r#"{"candidates":[{"finishReason":"SAFETY","finishMessage":"not allowed","index":0}]}"#)
    );
}

/// Rule 23.
#[test]
fn keep_alives_are_empty_lines_in_the_style_of_the_stream() {
    let run = Run::new();
    assert_eq!(run.writer.keep_alive(), "\n");
    let run = run.keep(&says(r#"{"text":"a"}"#));
    assert_eq!(run.writer.keep_alive(), "\r\n");
    let run = run.keep("data: {\"candidates\":[]}\n\n");
    assert_eq!(run.writer.keep_alive(), "\n");
}
