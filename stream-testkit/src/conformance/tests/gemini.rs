//! Gemini.

use super::{
    super::{Ended, View, WireKind},
    expect, gemini,
};

const TEXT: &str = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"index":0}]}"#;
const STOP: &str = r#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":1}}"#;
const CALL: &str =
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"id":"a","name":"f","args":{"x":1}}}]}}]}"#;

#[track_caller]
fn broken(chunks: &[&str], violations: &[&str]) -> View {
    expect(WireKind::Gemini, &gemini(chunks), violations)
}

#[test]
fn a_good_stream() {
    let thought = r#"{"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}]}}]}"#;
    let view = broken(&[thought, TEXT, CALL, STOP], &[]);
    let choice = &view.choices[0];
    assert_eq!((choice.reasoning.as_str(), choice.content.as_str()), ("Hm", "Hi"));
    assert_eq!((choice.calls[0].name.as_str(), choice.calls[0].arguments.as_str()), ("f", r#"{"x":1}"#));
    assert_eq!((view.ended, view.usage), (Ended::Clean, true));
}

#[test]
fn refusals_and_errors_are_endings() {
    let safety = r#"{"candidates":[{"finishReason":"SAFETY"}]}"#;
    assert_eq!(broken(&[TEXT, safety], &[]).ended, Ended::Refused);
    assert_eq!(broken(&[r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#], &[]).ended, Ended::Refused);
    assert_eq!(broken(&[TEXT, r#"{"error":{"code":500,"message":"no"}}"#], &[]).ended, Ended::Error);
    broken(
        &[r#"{"error":{"code":500}}"#, TEXT],
        &[
            "event 1: shape: expected an error with a message, found {\"code\":500}",
            "event 2: after-ending: expected nothing after the ending, found a chunk",
        ],
    );
}

#[test]
fn a_candidate_finishes_once() {
    let view = broken(
        &[TEXT],
        &[
            "event 1: ending: expected a finishReason for candidate 0, found none (excused by no-finish-reason)",
        ],
    );
    assert_eq!(view.ended, Ended::Open);
    broken(
        &[TEXT, STOP, TEXT, STOP, &STOP.replace("STOP", "SAFETY")],
        &[
            "event 3: after-ending: expected no part after the finish of candidate 0, found one \
             (excused by delta-after-finish)",
            "event 4: ending: expected one finish of candidate 0, found another: \"STOP\" (excused by finish-repeated)",
            "event 5: ending: expected one finish of candidate 0, found another: \"SAFETY\" \
             (excused by finish-changes)",
        ],
    );
    broken(
        &[r#"{"usageMetadata":{}}"#],
        &["event 1: ending: expected a candidate or a block reason, found neither"],
    );
}

#[test]
fn a_call_has_a_name_an_id_of_its_own_and_an_object() {
    let bare = CALL.replace(r#""id":"a","name":"f","args":{"x":1}"#, r#""args":[]"#);
    broken(
        &[CALL, CALL, &bare, STOP],
        &[
            "event 2: call-identity: expected an id of its own, found \"a\" again",
            "event 3: arguments: expected args to be an object, found []",
            "event 3: call-identity: expected a functionCall with a name, found none",
        ],
    );
}

#[test]
fn a_call_that_continues_goes_on_to_its_end() {
    let open = CALL.replace("\"args\":{\"x\":1}", "\"willContinue\":true");
    let more = CALL.replace(
        r#""id":"a","name":"f","args":{"x":1}"#,
        r#""partialArgs":[{"jsonPath":"$.x","numberValue":1}],"willContinue":true"#,
    );
    let end = CALL.replace(r#""id":"a","name":"f","args":{"x":1}"#, "");
    let view = broken(&[&open, &more, &end, STOP], &[]);
    assert_eq!(view.choices[0].calls[0].arguments, r#"{"x":1}"#);
    broken(&[&open, STOP], &["event 2: pairing: expected the rest of a call that continues, found the end"]);
    broken(
        &[&open, TEXT, &CALL.replace("\"a\"", "\"b\""), STOP],
        &[
            "event 2: pairing: expected the rest of a call that continues, found another part",
            "event 3: pairing: expected the rest of a call that continues, found another call",
        ],
    );
}

#[test]
fn fields_have_their_types() {
    broken(
        &[
            "{}",
            r#"{"candidates":{}}"#,
            r#"{"candidates":[{"index":"0","content":{"parts":{}},"finishReason":1}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":1}]}}]}"#,
            TEXT,
            STOP,
        ],
        &[
            "event 1: shape: expected candidates, promptFeedback or usageMetadata, found none",
            "event 2: shape: expected a list of candidates, found {}",
            "event 3: index: expected a candidate index, found \"0\"",
            "event 3: shape: expected a list of parts, found {}",
            "event 3: shape: expected finishReason to be a string, found 1",
            "event 4: shape: expected text to be a string, found 1",
        ],
    );
}

#[test]
fn a_turn_that_stops_holds_something() {
    broken(&[STOP], &["event 1: empty-turn: expected candidate 0 to hold something, found nothing"]);
    let code = r#"{"candidates":[{"content":{"parts":[{"executableCode":{"code":"1"}}]}}]}"#;
    broken(&[code, STOP], &[]);
}

#[test]
fn there_is_no_done() {
    broken(&[TEXT, STOP, "[DONE]"], &["event 3: unknown-event: expected no [DONE], found one"]);
}
