//! Secrets that only one way of putting a text together says: each block and field alone, and all of a channel.

use stream_core::Action;
use stream_policies::stop_on::{Ends, StopPlace};
use stream_policies::{Pattern, Redact, RedactSettings, StopOn, StopOnSettings};

use crate::kit::chat::{delta, end, finish, text};
use crate::kit::{Ran, anthropic, gemini, named, responses, run};

fn pattern() -> Pattern {
    Pattern::regex("key", "SECRET-[0-9]{4}")
}

fn redact() -> Redact {
    RedactSettings::default().pattern(pattern()).build().unwrap()
}

fn stop() -> StopOn {
    let places = [StopPlace::Content, StopPlace::Reasoning, StopPlace::Refusal];
    StopOnSettings::default().pattern(pattern()).places(places).ends(Ends::Error).build().unwrap()
}

/// What is left of the digits: a client that puts pieces together in any way does not get the key.
#[track_caller]
fn assert_gone(what: &str, body: &str) -> Ran {
    let ran = run(redact, body);
    assert_eq!(ran.error, None, "{what}");
    assert!(
        ran.out.matches("SECRET").count() == 0 || ran.out.matches("34").count() == 0,
        "{what}: {}",
        ran.out
    );
    assert!(ran.edits.iter().all(|(action, reason)| (*action, &**reason) == FOUND), "{what}");
    let stopped = run(stop, body);
    assert!(
        stopped.out.matches("SECRET").count() == 0 || stopped.out.matches("34").count() == 0,
        "{what}, stopped: {}",
        stopped.out
    );
    assert!(stopped.edits.iter().any(|(action, _)| *action == Action::Terminated), "{what} goes on");
    let harmless = body.replace("SECRET", "HARMLESS");
    assert_eq!(run(redact, &harmless).out, harmless, "{what}");
    assert_eq!(run(stop, &harmless).out, harmless, "{what}");
    ran
}

const FOUND: (Action, &str) = (Action::Edited, "found key");

/// An Anthropic message of these events on text blocks.
fn blocks(events: &[(u32, &str)]) -> String {
    use anthropic::{delta, end, open, start, stop};
    let event = |(index, what): &(u32, &str)| match *what {
        "open" => open(*index, r#"{"type":"text","text":""}"#),
        "stop" => stop(*index),
        text => delta(*index, &format!(r#"{{"type":"text_delta","text":"{text}"}}"#)),
    };
    start() + &events.iter().map(event).collect::<String>() + &end("end_turn")
}

#[test]
fn blocks_that_interrupt_each_other_are_read_alone_and_together() {
    // Each block alone.
    let ran = assert_gone(
        "alone",
        &blocks(&[(0, "open"), (1, "open"), (0, "SECRET-"), (1, "x"), (0, "1234"), (0, "stop"), (1, "stop")]),
    );
    let left = [(0, "open"), (1, "open"), (0, "[redacted]"), (1, "x"), (0, "stop"), (1, "stop")];
    assert_eq!(ran.out, blocks(&left));
    // As the words come.
    assert_gone(
        "as they come",
        &blocks(&[(0, "open"), (1, "open"), (0, "SECRET-"), (1, "1234"), (0, "x"), (0, "stop"), (1, "stop")]),
    );
    // One block after the other, though the first says its last word behind the second.
    assert_gone(
        "in order",
        &blocks(&[
            (0, "open"),
            (1, "open"),
            (1, "1234"),
            (0, "a SECRET-"),
            (1, "x"),
            (0, "stop"),
            (1, "stop"),
        ]),
    );
    // The first block says all it has behind the end of the second.
    assert_gone(
        "behind the end",
        &blocks(&[(0, "open"), (1, "open"), (1, "1234 b"), (1, "stop"), (0, "a SECRET-"), (0, "stop")]),
    );
    // Over three blocks, and over the border of two that do not interrupt each other.
    assert_gone(
        "three",
        &blocks(&[
            (0, "open"),
            (1, "open"),
            (2, "open"),
            (2, "34"),
            (1, "12"),
            (0, "SECRET-"),
            (1, "stop"),
            (2, "stop"),
            (0, "stop"),
        ]),
    );
    assert_gone(
        "border",
        &blocks(&[(0, "open"), (0, "SECRET-"), (0, "stop"), (1, "open"), (1, "1234"), (1, "stop")]),
    );
}

#[test]
fn blocks_side_by_side_without_a_secret_leave_as_they_came_and_in_order() {
    let body = blocks(&[
        (0, "open"),
        (1, "open"),
        (0, "SECRET"),
        (1, "-12"),
        (0, " 34"),
        (1, "5"),
        (1, "stop"),
        (0, "stop"),
        (2, "open"),
        (2, "SECRET-"),
        (2, "stop"),
    ]);
    assert_eq!(run(redact, &body).out, body);
}

#[test]
fn thinking_blocks_that_interrupt_each_other_are_emptied_as_wholes() {
    use anthropic::{delta, end, open, start, stop};
    let thinking =
        |index: u32, text: &str| delta(index, &format!(r#"{{"type":"thinking_delta","thinking":"{text}"}}"#));
    let opened = |index| open(index, r#"{"type":"thinking","thinking":"","signature":""}"#);
    let body = start()
        + &opened(0)
        + &opened(1)
        + &thinking(0, "a SECRET-")
        + &thinking(1, "x")
        + &thinking(0, "1234")
        + &stop(0)
        + &stop(1)
        + &anthropic::text(2, "ok")
        + &end("end_turn");
    let ran = run(redact, &body);
    assert_eq!((ran.out.matches("SECRET").count(), ran.out.matches("1234").count()), (0, 0), "{}", ran.out);
    assert_eq!((ran.view.choices[0].reasoning.as_str(), ran.view.choices[0].content.as_str()), ("x", "ok"));
}

#[test]
fn twins_of_reasoning_are_read_each_by_itself_and_together() {
    let say = |first: &str, second: &str| {
        delta(&format!(r#"{{"reasoning_content":"{first}","reasoning":"{second}"}}"#))
    };
    let one = |field: &str, text: &str| delta(&format!(r#"{{"{field}":"{text}"}}"#));
    let last = text("ok") + &end("stop");
    assert_gone("one of them", &(say("SECRET-", "x") + &say("1234", "y") + &last));
    assert_gone("the other", &(say("x", "SECRET-") + &say("y", "1234") + &last));
    // The twins say the same at first, and part later.
    assert_gone("both, then one", &(say("SECRET-", "SECRET-") + &say("x", "1234") + &last));
    assert_gone("turn by turn", &(one("reasoning", "SECRET-") + &one("reasoning_content", "1234") + &last));
    let detail = r#"{"reasoning":"x","reasoning_details":[{"type":"reasoning.text","text":"SECRET-"}]}"#;
    let more = r#"{"reasoning":"y","reasoning_details":[{"type":"reasoning.text","text":"1234"}]}"#;
    assert_gone("details", &(delta(detail) + &delta(more) + &last));
    let summary = |text: &str, summary: &str| {
        delta(&format!(
            r#"{{"reasoning_details":[{{"type":"reasoning.summary","text":"{text}","summary":"{summary}"}}]}}"#
        ))
    };
    assert_gone("summaries", &(summary("x", "SECRET-") + &summary("y", "1234") + &last));
}

#[test]
fn content_as_a_list_is_read_by_itself_and_together_with_content_as_a_string() {
    let list = |text: &str| delta(&format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#));
    let last = end("stop");
    assert_gone("strings", &(text("SECRET-") + &list("x") + &text("1234") + &last));
    assert_gone("lists", &(list("SECRET-") + &text("x") + &list("1234") + &last));
    assert_gone("both", &(text("SECRET-") + &list("1234") + &last));
    // Rule 8: across a finish.
    assert_gone("finish", &(text("SECRET-") + &finish("stop") + &list("x") + &text("1234") + &last));
}

/// A Responses stream of two messages side by side, whose texts come in this order.
fn messages(pieces: &[(u32, &str)]) -> String {
    let of = |index: u32, kind: &str, more: &str| {
        named(&[&format!(
            r#"{{"type":"response.{kind}","item_id":"m{index}","output_index":{index},"content_index":0,{more}}}"#
        )])
    };
    let item = |index: u32, content: &str| {
        format!(
            r#"{{"id":"m{index}","type":"message","status":"completed","role":"assistant","content":[{content}]}}"#
        )
    };
    let part = |text: &str| format!(r#"{{"type":"output_text","text":"{text}","annotations":[]}}"#);
    let said = |index: u32| -> String {
        pieces.iter().filter(|(of, _)| *of == index).map(|(_, text)| *text).collect()
    };
    let mut body = responses::created();
    for index in [0, 1] {
        body += &responses::added(index, &item(index, ""));
        body += &of(index, "content_part.added", &format!(r#""part":{}"#, part("")));
    }
    for (index, text) in pieces {
        body += &of(*index, "output_text.delta", &format!(r#""delta":"{text}""#));
    }
    for index in [0, 1] {
        body += &responses::done(index, &item(index, &part(&said(index))));
    }
    let items: Vec<String> = [0, 1].iter().map(|index| item(*index, &part(&said(*index)))).collect();
    body + &responses::completed(&items.join(","))
}

#[test]
fn messages_of_responses_side_by_side_are_read_alone_and_together() {
    assert_gone("alone", &messages(&[(0, "SECRET-"), (1, "x"), (0, "1234")]));
    assert_gone("as they come", &messages(&[(0, "SECRET-"), (1, "1234"), (0, "x")]));
    assert_gone("in order", &messages(&[(1, "1234"), (0, "a SECRET-"), (1, "x")]));
}

#[test]
fn parts_of_gemini_are_read_together_over_events_and_finishes() {
    let said = |text: &str| gemini::parts(&format!(r#"{{"text":"{text}"}}"#));
    let last = gemini::last(r#"{"text":"."}"#, "STOP");
    assert_gone("events", &(said("SECRET-") + &said("12") + &said("34") + &last));
    assert_gone(
        "parts",
        &(gemini::parts(r#"{"text":"SECRET-"},{"text":"12"}"#) + &gemini::parts(r#"{"text":"34"}"#) + &last),
    );
    let thought = gemini::parts(r#"{"text":"hm","thought":true}"#);
    assert_gone("a thought between", &(said("SECRET-") + &thought + &said("1234") + &last));
    assert_gone(
        "a finish between",
        &(gemini::last(r#"{"text":"SECRET-"}"#, "STOP") + &gemini::last(r#"{"text":"1234"}"#, "STOP")),
    );
}

#[test]
fn many_blocks_side_by_side_cost_no_more_each() {
    use cpu_time::ThreadTime;
    let body = |count: u32| {
        let mut events: Vec<(u32, &str)> = (0..count).map(|index| (index, "open")).collect();
        events.extend((0..count).rev().map(|index| (index, "SECRET-")));
        events.extend((0..count).rev().map(|index| (index, "stop")));
        blocks(&events)
    };
    let time = |count: u32| {
        let body = body(count);
        let log = stream_testkit::ChunkLog::from_chunks("body", [(std::time::Duration::ZERO, body.into())]);
        let start = ThreadTime::now();
        let _ = stream_testkit::Replay::new(&log).policy(redact).run();
        start.elapsed()
    };
    time(100);
    let (few, many) = (time(500), time(4000));
    assert!(many < few * 8 * 4, "{few:?} for 500, {many:?} for 4000");
}

/// A delta of a type that nobody knows, within a text: the official SDKs pass over it, and read the text on both sides as one.
#[test]
fn a_secret_around_a_delta_of_an_unknown_type_is_found() {
    use crate::kit::anthropic::{delta, end, open, start, stop};
    let said = |text: &str| delta(0, &format!(r#"{{"type":"text_delta","text":"{text}"}}"#));
    let unknown = delta(0, r#"{"type":"nobody_knows_delta","x":"y"}"#);
    let opening = start() + &open(0, r#"{"type":"text","text":""}"#);
    let body = opening.clone() + &said("SECRET-") + &unknown + &said("1234") + &stop(0) + &end("end_turn");
    let redact =
        || RedactSettings::default().pattern(Pattern::regex("key", "SECRET-[0-9]{4}")).build().unwrap();
    let ran = run(redact, &body);
    assert_eq!(ran.view.choices[0].content, "[redacted]");
    assert_eq!(ran.out.matches("1234").count(), 0, "{}", ran.out);
    assert_eq!(ran.error, None);
}

/// The AI SDK validates every event, and goes on behind one that is not what it expects: it reads what stands on both sides of it
/// as one.
#[test]
fn a_text_in_an_event_that_some_clients_pass_over_closes_the_stream() {
    let said = |text: &str, around: &str, in_candidate: &str| {
        crate::kit::data(&format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}],"role":"model"}},{in_candidate}"index":0}}]{around}}}"#
        ))
    };
    for (around, in_candidate) in [
        (r#","usageMetadata":"x""#, ""),
        (r#","usageMetadata":{"promptTokenCount":"1"}"#, ""),
        (r#","promptFeedback":{"blockReason":7}"#, ""),
        (r#","responseId":7"#, ""),
        (r#","error":{}"#, ""),
        ("", r#""safetyRatings":"x","#),
        ("", r#""safetyRatings":[{"category":7}],"#),
        ("", r#""groundingMetadata":{"webSearchQueries":7},"#),
        ("", r#""groundingMetadata":{"groundingChunks":[{"web":7}]},"#),
        ("", r#""urlContextMetadata":"x","#),
        ("", r#""finishMessage":7,"#),
    ] {
        let body = said("SECRET-", "", "") + &said("x", around, in_candidate) + &said("1234", "", "");
        let ran = run(redact, &body);
        assert_eq!(ran.error, Some(stream_core::ErrorKind::Ambiguous), "{around}{in_candidate}");
        assert_eq!(ran.out.matches("1234").count(), 0, "{around}{in_candidate}");
    }
    let delta = |text: &str, fields: &str| {
        format!(
            r#"{{"type":"response.output_text.delta","output_index":0,"content_index":0,{fields},"delta":"{text}"}}"#
        )
    };
    let id = r#""item_id":"m""#;
    let item = r#"{"type":"message","id":"m","role":"assistant","content":[]}"#;
    for fields in [r#""item_id":7"#, r#""item_id":null"#, r#""item_id":"m","logprobs":[{"token":7}]"#] {
        let events = [delta("SECRET-", id), delta("x", fields), delta("1234", id)];
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let ran = run(redact, &(responses::created() + &responses::added(0, item) + &named(&events)));
        assert_eq!(ran.error, Some(stream_core::ErrorKind::Ambiguous), "{fields}");
        assert_eq!(ran.out.matches("1234").count(), 0, "{fields}");
    }
}
