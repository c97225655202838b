//! Writing whole responses.

use super::*;

/// A whole response of these parts, laid out as Google does.
fn body(parts: &str) -> String {
    format!(
        concat!(
            "{{\n  \"candidates\": [{{\"content\": {{\"parts\": [{}],\"role\": \"model\"}},\"finishReason\": \"STOP\",",
            "\"index\": 0,\"avgLogprobs\": -0.5}}],\n  \"usageMetadata\": {{\"totalTokenCount\": 5}},",
            "\"modelVersion\": \"m\",\"responseId\": \"r\"\n}}\n"
        ),
        parts
    )
}

fn left(candidate: &str) -> String {
    format!(
        r#"{{"candidates":[{candidate}],"usageMetadata":{{"totalTokenCount": 5}},"modelVersion":"m","responseId":"r"}}"#
    )
}

/// What is left of such a response when parts of it were touched.
fn rebuilt(parts: &str) -> String {
    left(&format!(r#"{{"content":{{"parts":[{parts}],"role":"model"}},"finishReason":"STOP","index":0}}"#))
}

const CALL_A: &str = r#"{"functionCall":{"name":"a","args":{"x":1}},"thoughtSignature":"AAAA"}"#;
const CALL_B: &str = r#"{"functionCall":{"name":"b","args":{"y":2}}}"#;
const TEXT: &str = r#"{"text":"Hi"}"#;
const ERROR: &str = "{\"error\":{\"code\":500,\"message\":\"not allowed\",\"status\":\"INTERNAL\",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":\"blocked_by_policy\",\"domain\":\"policy_error\"}]}}";

/// Rule 24.
#[test]
fn an_untouched_body_leaves_as_its_bytes() {
    for body in
        [body(CALL_A), format!("[{}\n,\r\n{}]\n", body(TEXT), body(CALL_B)), "[]".into(), "{\"x\":1}".into()]
    {
        assert_eq!(whole(&body, None, |_| {}), body);
    }
}

/// Rule 22.
#[test]
fn the_first_of_two_calls_is_dropped_and_its_signature_moves() {
    let written = whole(&body(&[CALL_A, CALL_B].join(",")), None, |parts| drop_block(parts, 0));
    assert_eq!(written, rebuilt(r#"{"functionCall":{"name":"b","args":{"y":2}},"thoughtSignature":"AAAA"}"#));
}

/// Rule 21.
#[test]
fn all_calls_are_dropped() {
    let written = whole(&body(&[CALL_A, CALL_B].join(",")), None, drop_all);
    assert_eq!(written, rebuilt(r#"{"text":"[withheld by policy]"}"#));
    let written = whole(&body(&[TEXT, CALL_B].join(",")), None, |parts| drop_block(parts, 1));
    assert_eq!(written, rebuilt(TEXT));
}

#[test]
fn a_body_without_a_finish_gets_its_notice_too() {
    let written = whole(r#"{"candidates":[{"content":{"parts":[{"text":"no"}]}}]}"#, None, drop_all);
    assert_eq!(written, r#"{"candidates":[{"content":{"parts":[{"text":"[withheld by policy]"}]}}]}"#);
}

#[test]
fn arguments_and_text_are_edited_and_dropped() {
    let two = body(&[TEXT, CALL_A].join(","));
    let written = whole(&two, None, |parts| replace(&mut parts[1], r#"{"x":2}"#));
    let replaced = r#"{"functionCall":{"name":"a","args":{"x":2}},"thoughtSignature":"AAAA"}"#;
    assert_eq!(written, rebuilt(&[TEXT, replaced].join(",")));
    let written = whole(&two, None, |parts| reword(&mut parts[0], "Ho"));
    assert_eq!(written, rebuilt(&[r#"{"text":"Ho"}"#, CALL_A].join(",")));
    let written = whole(&two, None, |parts| drop_block(parts, 0));
    assert_eq!(written, rebuilt(CALL_A));
}

#[test]
fn text_and_calls_are_inserted_at_their_place() {
    let two = body(&[TEXT, CALL_A].join(","));
    for (at, expected) in [
        (0, [r#"{"text":"!"}"#, TEXT, CALL_A]),
        (1, [TEXT, r#"{"text":"!"}"#, CALL_A]),
        (3, [TEXT, CALL_A, r#"{"text":"!"}"#]),
    ] {
        let written = whole(&two, None, |parts| parts.insert(at, inserted_text("!")));
        assert_eq!(written, rebuilt(&expected.join(",")));
    }
    let written = whole(&body(TEXT), None, |parts| {
        parts.splice(1..1, inserted_call("c", r#"{"z":1}"#));
    });
    assert_eq!(written, rebuilt(&[TEXT, r#"{"functionCall":{"name":"c","args":{"z":1}}}"#].join(",")));
}

#[test]
fn an_array_is_edited_element_by_element() {
    let first = r#"{ "candidates":[{"content":{"parts":[{"text":"a"}]}}] }"#;
    let second = r#"{"candidates":[{"content":{"parts":[{"text":"b"},{"text":"c"}]}}],"x":1}"#;
    let third = r#"{"candidates":[{"finishReason":"STOP"}],"x":1}"#;
    let array = format!("[{first}\n,{second}\n,{third}]");
    let written = whole(&array, None, |parts| parts[1].fate = Fate::Dropped);
    let edited = r#"{"candidates":[{"content":{"parts":[{"text":"c"}]}}]}"#;
    assert_eq!(written, format!("[{first},{edited},{third}]"));
    let written = whole(&array, None, |parts| parts.insert(3, inserted_text("!")));
    let added = r#"{"candidates":[{"content":{"parts":[{"text":"b"},{"text":"c"},{"text":"!"}]}}]}"#;
    assert_eq!(written, format!("[{first},{added},{third}]"));
    let notice = r#"{"candidates":[{"content":{"parts":[{"text":"[withheld by policy]"}],"role":"model"},"index":0}]}"#;
    assert_eq!(whole(&array, None, drop_all), format!("[{notice},{third}]"));
}

/// Rule 20.
#[test]
fn a_refused_body_keeps_what_was_released() {
    let written =
        whole(&body(&[TEXT, CALL_B].join(",")), Some(EndingKind::Refuse), |parts| drop_block(parts, 1));
    assert_eq!(
        written,
        left(
            r#"{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"SAFETY","finishMessage":"not allowed","index":0}"#
        )
    );
    let written = whole(&body(TEXT), Some(EndingKind::Refuse), drop_all);
    assert_eq!(
        written,
        left(
            r#"{"content":{"role":"model"},"finishReason":"SAFETY","finishMessage":"not allowed","index":0}"#
        )
    );
}

#[test]
fn a_refused_array_ends_with_the_refusal() {
    let first = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"a":1}}"#;
    let second =
        r#"{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}],"modelVersion":"m"}"#;
    let written = whole(&format!("[{first},{second}]"), Some(EndingKind::Refuse), |parts| {
        parts[2].fate = Fate::Dropped;
    });
    let refusal = concat!(
        r#"{"candidates":[{"finishReason":"SAFETY","finishMessage":"not allowed","index":0}],"#,
        r#""usageMetadata":{"a":1},"modelVersion":"m"}"#
    );
    assert_eq!(written, format!("[{first},{refusal}]"));
}

#[test]
fn a_refused_body_that_is_no_response_becomes_one() {
    let refusal = r#"{"candidates":[{"finishReason":"SAFETY","finishMessage":"not allowed","index":0}]}"#;
    assert_eq!(whole(r#"{"x":1}"#, Some(EndingKind::Refuse), |_| {}), refusal);
}

/// Rule 20.
#[test]
fn a_failed_body_is_an_error_and_nothing_else() {
    assert_eq!(whole(&body(TEXT), Some(EndingKind::Error), |_| {}), ERROR);
    assert_eq!(whole(&format!("[{}]", body(TEXT)), Some(EndingKind::Error), |_| {}), format!("[{ERROR}]"));
}

#[test]
fn a_dropped_body_that_is_no_response_becomes_a_notice() {
    assert_eq!(
        whole(r#"{"x":1}"#, None, drop_all),
        r#"{"candidates":[{"content":{"parts":[{"text":"[withheld by policy]"}],"role":"model"},"index":0}]}"#
    );
}
