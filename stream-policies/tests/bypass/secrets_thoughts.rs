//! Secrets that only those programs read who put all parts of a Gemini answer together, without a look at `thought`.

use stream_core::Action;
use stream_policies::stop_on::{Ends, StopPlace};
use stream_policies::{BlockEnds, Pattern, Place, Redact, RedactSettings, StopOn, StopOnSettings};

use crate::kit::{data, gemini, run, whole};

fn pattern() -> Pattern {
    Pattern::regex("key", "SECRET-[0-9]{4}")
}

fn redact() -> Redact {
    RedactSettings::default().pattern(pattern()).build().unwrap()
}

fn stop() -> StopOn {
    let settings = StopOnSettings::default().pattern(pattern()).ends(Ends::Error);
    settings.places([StopPlace::Content, StopPlace::Reasoning]).build().unwrap()
}

/// Parts, of which those that begin with `?` are thoughts.
fn part(said: &str) -> String {
    match said.strip_prefix('?') {
        Some(thought) => format!(r#"{{"text":"{thought}","thought":true}}"#),
        None if said.starts_with('{') => said.to_owned(),
        None => format!(r#"{{"text":"{said}"}}"#),
    }
}

/// Each part in a chunk of its own, all in one chunk, and a whole answer.
fn bodies(parts: &[&str]) -> (String, String, String) {
    let parts: Vec<String> = parts.iter().map(|said| part(said)).collect();
    let candidate = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{}],"role":"model"}},"finishReason":"STOP","index":0}}],"modelVersion":"x"}}"#,
        parts.join(",")
    );
    let apart: String = parts.iter().map(|part| gemini::parts(part)).collect();
    (apart + &gemini::last("", "STOP"), data(&candidate), candidate)
}

/// All texts of what left, put together.
fn joined(out: &str) -> String {
    let texts = out.split(r#""text":""#).skip(1).filter_map(|rest| rest.split('"').next());
    texts.collect()
}

#[track_caller]
fn leaves(came: &[&str], left: &str) {
    let (apart, at_once, in_whole) = bodies(came);
    for ran in [run(redact, &apart), run(redact, &at_once), whole(redact, &in_whole)] {
        assert_eq!((joined(&ran.out), ran.error), (left.to_owned(), None), "{came:?}: {}", ran.out);
        assert_eq!(ran.edits().first(), Some(&(Action::Edited, "found key")), "{came:?}");
    }
    let before = left.split('[').next().unwrap();
    for ran in [run(stop, &apart), run(stop, &at_once), whole(stop, &in_whole)] {
        let joined = joined(&ran.out);
        assert!(!joined.contains("1234"), "{came:?}: {}", ran.out);
        assert!(joined.starts_with(before) || joined.is_empty(), "{came:?}: {}", ran.out);
    }
    let harmless: Vec<String> = came.iter().map(|said| said.replace("SEC", "HAR")).collect();
    let harmless: Vec<&str> = harmless.iter().map(String::as_str).collect();
    let (apart, at_once, in_whole) = bodies(&harmless);
    for body in [apart, at_once] {
        assert_eq!(run(redact, &body).out, body);
        assert_eq!(run(stop, &body).out, body);
    }
    assert_eq!(whole(redact, &in_whole).out, in_whole);
}

#[test]
fn a_secret_that_begins_in_a_thought_and_ends_in_the_text_does_not_leave() {
    leaves(&["?so SECRET-", "1234 it is"], "so [redacted] it is");
    leaves(&["?SEC", "?RET", "-12", "34."], "[redacted].");
}

#[test]
fn a_secret_that_begins_in_the_text_and_ends_in_a_thought_does_not_leave() {
    leaves(&["a SECRET-", "?1234 b", "c"], "a [redacted] bc");
}

#[test]
fn a_secret_that_goes_to_and_fro_does_not_leave() {
    leaves(&["?x SEC", "RET", "?-12", "34 y", "?z"], "x [redacted] yz");
}

/// What each channel says is searched as before.
#[test]
fn a_secret_around_a_thought_does_not_leave() {
    leaves(&["SECRET-", "?hm", "1234 b"], "[redacted]hm b");
    leaves(&["?SECRET-1234", "b"], "[redacted]b");
}

/// A thought waits for the text behind it, and for nothing else of the channels: other thoughts may never come.
#[test]
fn a_thought_that_may_begin_a_secret_leaves_with_the_text_that_decides_it() {
    let redact = || RedactSettings::default().pattern(pattern()).block_ends(BlockEnds::ReasoningDecides);
    let body = gemini::parts(&part("?a SECRET-")) + &gemini::parts(&part("x")) + &gemini::last("", "STOP");
    let ran = run(move || redact().build().unwrap(), &body);
    assert_eq!((ran.out, ran.edits.len()), (body, 0));
}

/// A call behind a thought that may begin a secret leaves, and the thought too.
#[test]
fn a_call_behind_a_thought_that_may_begin_a_secret_leaves() {
    let (apart, at_once, _) = bodies(&["?a SECRET-", r#"{"functionCall":{"name":"ls","args":{}}}"#]);
    for body in [apart, at_once] {
        assert_eq!(run(redact, &body).out, body);
    }
}

/// What a policy does not look at is in no reading.
#[test]
fn a_policy_over_content_alone_does_not_join_thoughts() {
    let (apart, ..) = bodies(&["?a SECRET-", "1234"]);
    let content = || RedactSettings::default().pattern(pattern()).places([Place::Content]).build().unwrap();
    assert_eq!(run(content, &apart).out, apart);
}
