//! Secrets that only those clients read who put the texts of several choices together: litellm's `stream_chunk_builder` does.

use stream_core::{Action, Request};
use stream_policies::{Pattern, Redact, RedactSettings, StopOn, StopOnSettings, stop_on::Ends};

use crate::kit::{chat, data, run, run_for};

fn pattern() -> Pattern {
    Pattern::regex("key", "SECRET-[0-9]{4}")
}

fn redact() -> Redact {
    RedactSettings::default().pattern(pattern()).build().unwrap()
}

fn stop() -> StopOn {
    StopOnSettings::default().pattern(pattern()).ends(Ends::Error).build().unwrap()
}

/// Texts of choices, each in a frame of its own, in chat and in Gemini.
fn bodies(texts: &[(u32, &str)]) -> [String; 2] {
    let said = |(choice, text): &(u32, &str)| chat::choice(*choice, &format!(r#"{{"content":"{text}"}}"#));
    let part = |(choice, text): &(u32, &str)| {
        data(&format!(
            r#"{{"candidates":[{{"index":{choice},"content":{{"parts":[{{"text":"{text}"}}],"role":"model"}}}}]}}"#
        ))
    };
    [texts.iter().map(said).collect::<String>() + chat::DONE, texts.iter().map(part).collect()]
}

/// A request for three answers.
fn several() -> Request {
    Request::new().choices(3)
}

const FOUND: (Action, &str) = (Action::Edited, "found key over several choices");

#[track_caller]
fn leaves(came: &[(u32, &str)], left: &[(u32, &str)]) {
    for (came, left) in bodies(came).iter().zip(bodies(left)) {
        let ran = run_for(several, redact, came);
        // What is written anew says who speaks.
        let out = ran.out.replace(r#""role":"assistant","#, "");
        assert_eq!((out, ran.edits()), (left, vec![FOUND]));
        let stopped = run_for(several, stop, came);
        assert_eq!(stopped.edits.iter().filter(|(action, _)| *action == Action::Terminated).count(), 1);
        assert_eq!(stopped.out.matches("34").count(), 0, "{}", stopped.out);
        let harmless = came.replace("SECRET", "HARMLESS").replace(r#""S""#, r#""T""#);
        let ran = run_for(several, redact, &harmless);
        assert_eq!((ran.out, ran.edits), (harmless.clone(), Vec::new()));
        assert_eq!(run_for(several, stop, &harmless).out, harmless);
    }
}

/// What is held of a choice leaves before or behind what came later in another one: what counts is what a client gets.
#[test]
fn of_a_secret_over_two_choices_the_end_does_not_leave() {
    leaves(
        &[(0, "a SECRET-"), (0, "S"), (1, "1234 b"), (0, "."), (1, ".")],
        &[(0, "a SECRET-"), (1, "[redacted] b"), (0, "S"), (0, "."), (1, ".")],
    );
    leaves(
        &[(2, "a"), (0, "SECRET-"), (0, "S"), (1, "12"), (2, "34"), (0, "."), (1, ".")],
        &[(2, "a"), (0, "SECRET-"), (1, "12"), (2, "[redacted]"), (0, "S"), (0, "."), (1, ".")],
    );
}

#[test]
fn of_a_secret_over_two_choices_of_one_frame_the_end_does_not_leave() {
    let chat = |first: &str, second: &str| {
        let choice = |index: u32, text: &str| {
            format!(r#"{{"index":{index},"delta":{{"content":"{text}"}},"finish_reason":null}}"#)
        };
        data(&format!(r#"{{"id":"c","choices":[{},{}]}}"#, choice(0, first), choice(1, second)))
    };
    let gemini = |first: &str, second: &str| {
        let candidate = |index: u32, text: &str| {
            format!(r#"{{"index":{index},"content":{{"parts":[{{"text":"{text}"}}],"role":"model"}}}}"#)
        };
        data(&format!(r#"{{"candidates":[{},{}]}}"#, candidate(0, first), candidate(1, second)))
    };
    for request in [Request::new, several] {
        for body in [
            chat("SECRET-", "1234") + &chat(".", ".") + chat::DONE,
            gemini("SECRET-", "1234") + &gemini(".", "."),
        ] {
            let ran = run_for(request, redact, &body);
            assert_eq!((ran.error, ran.edits.contains(&(FOUND.0, FOUND.1.to_owned()))), (None, true));
            assert_eq!(
                (ran.out.matches("34").count(), ran.out.matches("[redacted]").count()),
                (0, 1),
                "{}",
                ran.out
            );
            let harmless = body.replace("SECRET", "HARMLESS");
            assert_eq!(run_for(several, redact, &harmless).out, harmless);
        }
    }
}

/// litellm takes the first choice of each chunk alone, where there is nothing but content.
#[test]
fn of_a_secret_over_the_first_choices_of_chunks_the_end_does_not_leave() {
    let both = data(
        r#"{"id":"c","choices":[{"index":0,"delta":{"content":"12"},"finish_reason":null},{"index":1,"delta":{"content":"zzz"},"finish_reason":null}]}"#,
    );
    let hidden = data(
        r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":null},{"index":1,"delta":{"content":"zzz"},"finish_reason":null}]}"#,
    );
    let alone = |text: &str| chat::choice(1, &format!(r#"{{"content":"{text}"}}"#));
    let text = |text: &str| chat::choice(0, &format!(r#"{{"content":"{text}"}}"#));
    let ran =
        run_for(several, redact, &(text("a") + &alone("SECRET-") + &both + &alone("34 b") + chat::DONE));
    assert_eq!((ran.error, ran.out.matches("34").count()), (None, 0), "{}", ran.out);
    // What the first choice does not say is no chunk to litellm: each choice stands alone.
    let ran = run_for(several, redact, &(text("a") + &hidden + &alone("x") + chat::DONE));
    let left = ran.out.replace(r#""role":"assistant","#, "");
    assert_eq!(left, text("a") + &alone("zzz") + &alone("x") + chat::DONE);
}

#[test]
fn texts_of_one_choice_are_not_searched_twice() {
    for body in bodies(&[(0, "SECRET-1"), (0, "234 "), (0, "x")]) {
        assert_eq!(run(redact, &body).edits(), [(Action::Edited, "found key"); 2]);
    }
}
