//! Gemini: candidates whose numbers and positions disagree.

use stream_core::{Action, ErrorKind, Odd, Request};

use crate::kit::{data, gate, gemini, run, run_for};

const UNREADABLE: &str = "data: {\"error\":{\"code\":500,\"message\":\"the upstream's answer could not be read\",\"status\":\"INTERNAL\"}}\n\n";

/// Finding 06b: one client reads the first candidate, another the one of the number 0.
#[test]
fn candidates_out_of_the_order_of_their_numbers_close_the_stream() {
    let first = gemini::parts(r#"{"text":"hi"}"#);
    let odd = data(
        r#"{"candidates":[{"index":7,"content":{"parts":[],"role":"model"}},{"index":0,"content":{"parts":[{"text":"x"}],"role":"model"}}]}"#,
    );
    let far = data(r#"{"candidates":[{"index":4000000,"content":{"parts":[{"text":"x"}]}}]}"#);
    for odd in [odd, far] {
        let events = run(gate, &(first.clone() + &odd + &gemini::last("", "STOP")));
        assert_eq!(events.error, Some(ErrorKind::Ambiguous));
        assert_eq!(events.out, first.clone() + UNREADABLE);
    }
}

#[test]
fn a_candidate_alone_is_put_in_its_place_unless_the_request_asked_for_several() {
    let alone = data(
        r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"x"}],"role":"model"}}],"modelVersion":"x"}"#,
    );
    // litellm passes over a candidate without content, and takes the next for the first.
    let before = r#"[{"index":0,"content":{"parts":[],"role":"model"}},{"index":1"#;
    let placed = alone.replace(r#"[{"index":1"#, before);
    let (first, last) = (gemini::parts(r#"{"text":"hi"}"#), gemini::last("", "STOP"));
    let body = first.clone() + &alone + &last;
    let ran = run(gate, &body);
    assert_eq!(ran.out, first + &placed + &last);
    assert_eq!(ran.edits, [(Action::Normalised, Odd::Position.to_string())]);
    assert_eq!(run_for(|| Request::new().choices(2), gate, &body).out, body);
}

#[test]
fn a_candidate_before_another_has_content_unless_the_request_asked_for_several() {
    let hollow = data(
        r#"{"candidates":[{"index":0},{"index":1,"content":{"parts":[{"text":"x"}],"role":"model"}}],"modelVersion":"x"}"#,
    );
    let filled = hollow.replace(r#"[{"index":0}"#, r#"[{"index":0,"content":{"parts":[],"role":"model"}}"#);
    let (first, last) = (gemini::parts(r#"{"text":"hi"}"#), gemini::last("", "STOP"));
    let body = first.clone() + &hollow + &last;
    let ran = run(gate, &body);
    assert_eq!(ran.out, first + &filled + &last);
    assert_eq!(ran.edits, [(Action::Normalised, Odd::Position.to_string())]);
    assert_eq!(run_for(|| Request::new().choices(2), gate, &body).out, body);
}

/// Google's SDK fails on the name of an event.
#[test]
fn the_name_of_an_event_does_not_leave() {
    let (first, last) = (gemini::parts(r#"{"text":"hi"}"#), gemini::last("", "STOP"));
    let ran = run(gate, &("event: message\n".to_owned() + &first + &last));
    assert_eq!(ran.out, first + &last);
    assert_eq!(ran.edits, [(Action::Normalised, Odd::Lines.to_string())]);
}
