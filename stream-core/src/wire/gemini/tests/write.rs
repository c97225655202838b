//! Writing streams.

use super::*;
use crate::delta::{FinishKind, FinishReason};

const CALL_A: &str = r#"{"functionCall":{"name":"a","args":{"x":1}},"thoughtSignature":"AAAA"}"#;
const CALL_B: &str = r#"{"functionCall":{"name":"b","args":{"y":2}}}"#;

/// An event that says parts and finishes, with an envelope and a field nobody knows.
fn last(parts: &str) -> String {
    event(&format!(
        concat!(
            r#"{{"candidates": [{{"content": {{"parts": [{}],"role": "model"}},"finishReason": "STOP","index": 0,"#,
            r#""finishMessage":"copy"}}],"usageMetadata": {{"totalTokenCount": 5}},"turnToken":"copy","#,
            r#""modelVersion": "m","responseId": "r"}}"#
        ),
        parts
    ))
}

/// What is left of such an event.
fn rebuilt(content: &str) -> String {
    event(&format!(
        concat!(
            r#"{{"candidates":[{{"content":{},"finishReason":"STOP","index":0}}],"#,
            r#""usageMetadata":{{"totalTokenCount": 5}},"modelVersion":"m","responseId":"r"}}"#
        ),
        content
    ))
}

/// Rule 12.
#[test]
fn untouched_frames_leave_as_their_bytes() {
    let stream = [
        says(r#"{"text":"Hi"}"#),
        event(r#"{ "candidates": [ {} ], "x" : 1 }"#),
        last(CALL_A),
        "data: {\"candidates\":[]}\n\n".into(),
        "data: {\"candidates\":[]}\r\n".into(),
    ];
    let run = stream.iter().fold(Run::new(), |run, bytes| run.keep(bytes));
    assert_eq!(run.written(), stream.concat());
    assert_eq!(run.out.len(), stream.len());
    assert!(!run.writer.ended());
}

#[test]
fn comments_and_blank_lines_leave_or_not() {
    let comment = |fate| Part { delta: Delta::stream(DeltaKind::Comment), key: None, fate };
    let mut run = Run::new();
    for fate in [Fate::Kept, Fate::Dropped] {
        let outgoing = Outgoing { frame: Some(frame(": hello\n\n")), parts: vec![comment(fate)] };
        run.writer.frame(outgoing, &mut run.out);
    }
    assert_eq!(run.written(), ": hello\n\n");
}

/// Rule 22.
#[test]
fn the_signature_of_a_dropped_call_moves_to_the_next_in_the_frame() {
    let run = Run::new().frame(&last(&[CALL_A, CALL_B].join(",")), |parts| drop_block(parts, 0));
    assert_eq!(
        run.written(),
        rebuilt(
            r#"{"parts":[{"functionCall":{"name":"b","args":{"y":2}},"thoughtSignature":"AAAA"}],"role":"model"}"#
        )
    );
}

/// Rule 22.
#[test]
fn the_signature_of_a_dropped_call_moves_to_the_next_in_a_later_frame() {
    let later =
        event(r#"{"candidates": [{"content": {"parts": [{"functionCall": {"name": "b"}}]},"x": 1}]}"#);
    let run =
        Run::new().frame(&says(CALL_A), drop_all).keep(&says(r#"{"text":"Hi"}"#)).keep(&later).keep(&later);
    let signed = event(
        r#"{"candidates": [{"content": {"parts": [{"functionCall":{"name": "b"},"thoughtSignature":"AAAA"}]},"x": 1}]}"#,
    );
    assert_eq!(run.written(), [says(r#"{"text":"Hi"}"#), signed, later].concat());
}

/// Rule 22.
#[test]
fn a_signature_that_meets_another_is_discarded() {
    let own = says(r#"{"functionCall":{"name":"b"},"thoughtSignature":"BBBB"}"#);
    let run = Run::new().frame(&says(CALL_A), drop_all).keep(&own).keep(&says(CALL_B));
    assert_eq!(run.written(), [own, says(CALL_B)].concat());
}

/// Rule 22.
#[test]
fn the_last_of_several_dropped_signatures_moves() {
    let second = says(r#"{"functionCall":{"name":"b"},"thoughtSignature":"BBBB"}"#);
    let run = Run::new().frame(&says(CALL_A), drop_all).frame(&second, drop_all).keep(&says(CALL_B));
    assert_eq!(
        run.written(),
        says(r#"{"functionCall":{"name":"b","args":{"y":2}},"thoughtSignature":"BBBB"}"#)
    );
}

/// Rule 21.
#[test]
fn an_answer_of_which_all_calls_were_dropped_gets_a_notice() {
    let run = Run::new().frame(&last(&[CALL_A, CALL_B].join(",")), drop_all);
    assert_eq!(run.written(), rebuilt(r#"{"parts":[{"text":"[withheld by policy]"}],"role":"model"}"#));
}

/// Rule 21.
#[test]
fn the_notice_stands_before_an_untouched_finish_and_comes_once() {
    let finish = event(r#"{"candidates": [{"finishReason": "STOP"}],"modelVersion": "m","responseId": "r"}"#);
    let run = Run::new().frame(&says(CALL_A), drop_all).keep(&finish).keep(&finish);
    let notice = event(concat!(
        r#"{"candidates":[{"content":{"parts":[{"text":"[withheld by policy]"}],"role":"model"},"index":0}],"#,
        r#""modelVersion":"m","responseId":"r"}"#
    ));
    assert_eq!(run.written(), [&notice[..], &finish, &finish].concat());
}

/// Rule 21.
#[test]
fn reasoning_is_no_answer_and_text_is_one() {
    let thought = says(r#"{"text":"Hm","thought":true}"#);
    let finish = event(r#"{"candidates":[{"finishReason":"STOP"}]}"#);
    let run = Run::new().keep(&thought).frame(&says(CALL_B), drop_all).keep(&finish);
    let notice = event(
        r#"{"candidates":[{"content":{"parts":[{"text":"[withheld by policy]"}],"role":"model"},"index":0}]}"#,
    );
    assert_eq!(run.written(), [&thought[..], &notice, &finish].concat());
    let text = says(r#"{"text":"Hi"}"#);
    let run = Run::new().keep(&text).frame(&says(CALL_B), drop_all).keep(&finish);
    assert_eq!(run.written(), [&text[..], &finish].concat());
}

#[test]
fn without_a_notice_the_finish_stands_alone() {
    let writer = Gemini.writer(&WriterOptions { empty_notice: None, ..WriterOptions::default() });
    let run = Run { writer, keys: Keys::default(), out: Vec::new() };
    assert_eq!(run.frame(&last(CALL_B), drop_all).written(), rebuilt(r#"{"role":"model"}"#));
}

#[test]
fn a_terminal_marker_without_a_finish_brings_the_notice_too() {
    let run = Run::new().frame(&says(CALL_B), drop_all).keep("data: [DONE]\r\n\r\n");
    assert_eq!(
        run.written(),
        [&says(r#"{"text":"[withheld by policy]"}"#)[..], "data: [DONE]\r\n\r\n"].concat()
    );
    assert!(run.writer.ended());
}

#[test]
fn a_frame_of_which_nothing_survives_is_not_written() {
    assert_eq!(Run::new().frame(&says(CALL_B), drop_all).written(), "");
}

/// Rule 17.
#[test]
fn usage_survives_the_loss_of_the_text() {
    let bytes = event(
        r#"{"candidates":[{"content":{"parts":[{"text":"no"}],"role":"model"},"index":0,"safetyRatings":[{"category":"c","probability":"LOW"}]}],"usageMetadata":{"a":1}}"#,
    );
    let left = event(
        r#"{"candidates":[{"content":{"role":"model"},"index":0,"safetyRatings":[{"category":"c","probability":"LOW"}]}],"usageMetadata":{"a":1}}"#,
    );
    assert_eq!(Run::new().frame(&bytes, drop_all).written(), left);
}

/// Rule 22.
#[test]
fn replaced_arguments_keep_name_id_and_signature() {
    let bytes = last(r#"{"functionCall":{"id":"7","name":"a","args":{"x":1}},"thoughtSignature":"AAAA"}"#);
    let run = Run::new().frame(&bytes, |parts| replace(&mut parts[0], r#"{"x": 2}"#));
    assert_eq!(
        run.written(),
        rebuilt(
            r#"{"parts":[{"functionCall":{"id":"7","name":"a","args":{"x": 2}},"thoughtSignature":"AAAA"}],"role":"model"}"#
        )
    );
}

/// Rule 25.
#[test]
fn arguments_that_are_no_object_become_an_empty_one() {
    let run = Run::new().frame(&says(CALL_B), |parts| replace(&mut parts[0], "[1]"));
    assert_eq!(run.written(), says(r#"{"functionCall":{"name":"b","args":{}}}"#));
}

#[test]
fn edited_text_keeps_its_neighbours() {
    let bytes = last(
        &[r#"{"text":"Hm","thought":true,"thoughtSignature":"SS=="}"#, r#"{ "text" : "Hi" }"#, CALL_B]
            .join(","),
    );
    let run = Run::new().frame(&bytes, |parts| reword(&mut parts[1], "Ho \"x\""));
    assert_eq!(
        run.written(),
        rebuilt(concat!(
            r#"{"parts":[{"text":"Hm","thought":true,"thoughtSignature":"SS=="},{"text":"Ho \"x\""},"#,
            r#"{"functionCall":{"name":"b","args":{"y":2}}}],"role":"model"}"#
        ))
    );
}

#[test]
fn text_edited_to_nothing_is_not_written() {
    let run = Run::new().frame(&says(r#"{"text":"Hi"}"#), |parts| reword(&mut parts[0], ""));
    assert_eq!(run.written(), "");
}

/// Rule 22.
#[test]
fn a_dropped_thought_leaves_its_signature() {
    let run = Run::new().frame(&says(r#"{"text":"Hm","thought":true,"thoughtSignature":"SS=="}"#), drop_all);
    assert_eq!(run.written(), says(r#"{"text":"","thought":true,"thoughtSignature":"SS=="}"#));
}

/// Rule 19.
#[test]
fn dropped_text_goes_with_its_copies() {
    let bytes = event(
        r#"{"candidates":[{"content":{"parts":[{"text":"no"},{"text":"","thoughtSignature":"SS=="}]},"citationMetadata":{"t":"no"},"index":0}],"x":"no"}"#,
    );
    let left =
        event(r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"SS=="}]},"index":0}]}"#);
    assert_eq!(Run::new().frame(&bytes, drop_all).written(), left);
}

/// Rule 19.
#[test]
fn a_dropped_annotation_leaves_the_rest_raw() {
    let bytes = event(
        r#"{"candidates":[{"content":{"parts":[{ "text" : "yes" }]},"groundingMetadata":{"t":"no"},"finishReason":"STOP"}]}"#,
    );
    let left = event(r#"{"candidates":[{"content":{"parts":[{ "text" : "yes" }]},"finishReason":"STOP"}]}"#);
    assert_eq!(Run::new().frame(&bytes, |parts| parts[1].fate = Fate::Dropped).written(), left);
}

#[test]
fn opaque_parts_leave_raw_or_as_their_signature() {
    let bytes = says(
        r#"{"executableCode":{"code":"1"},"thoughtSignature":"SS=="},{ "inlineData" : {} },{"text":"Hi"}"#,
    );
    let run = Run::new().frame(&bytes, |parts| parts[0].fate = Fate::Dropped);
    assert_eq!(
        run.written(),
        says(r#"{"text":"","thoughtSignature":"SS=="},{ "inlineData" : {} },{"text":"Hi"}"#)
    );
}

#[test]
fn of_a_part_that_says_two_things_one_can_be_dropped() {
    let bytes = says(r#"{"text":"Hi","functionCall":{"name":"b"},"novel":[1],"thoughtSignature":"SS=="}"#);
    let run = Run::new().frame(&bytes, |parts| drop_block(parts, 0));
    assert_eq!(
        run.written(),
        says(r#"{"text":"","thoughtSignature":"SS=="},{"functionCall":{"name":"b"}},{"novel":[1]}"#)
    );
    let run = Run::new().frame(&bytes, |parts| drop_block(parts, 1));
    assert_eq!(run.written(), says(r#"{"text":"Hi","thoughtSignature":"SS=="},{"novel":[1]}"#));
}

/// Rule 21.
#[test]
fn text_is_inserted_before_between_and_after() {
    let bytes = says(r#"{"text":"Hi"},{"functionCall":{"name":"b"}}"#);
    for (at, expected) in [
        (0, r#"{"text":"!"},{"text":"Hi"},{"functionCall":{"name":"b"}}"#),
        (1, r#"{"text":"Hi"},{"text":"!"},{"functionCall":{"name":"b"}}"#),
        (3, r#"{"text":"Hi"},{"functionCall":{"name":"b"}},{"text":"!"}"#),
    ] {
        let run = Run::new().frame(&bytes, |parts| parts.insert(at, inserted_text("!")));
        assert_eq!(run.written(), says(expected));
    }
}

#[test]
fn an_insertion_of_its_own_is_an_event_of_its_own() {
    let head = event(
        r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}],"modelVersion":"m","responseId":"r"}"#,
    );
    let made = event(concat!(
        r#"{"candidates":[{"content":{"parts":[{"text":"!"},{"functionCall":{"name":"c","args":{"z":1}}}],"#,
        r#""role":"model"},"index":0}],"modelVersion":"m","responseId":"r"}"#
    ));
    let parts = [vec![inserted_text("!")], inserted_call("c", r#"{"z":1}"#)].concat();
    assert_eq!(Run::new().keep(&head).insert(parts).written(), [head, made].concat());
}

/// Rule 22.
#[test]
fn an_inserted_call_takes_the_signature_of_the_dropped_one() {
    let run = Run::new().frame(&last(CALL_A), |parts| {
        drop_block(parts, 0);
        parts.splice(2..2, inserted_call("c", "{}"));
    });
    assert_eq!(
        run.written(),
        rebuilt(
            r#"{"parts":[{"functionCall":{"name":"c","args":{}},"thoughtSignature":"AAAA"}],"role":"model"}"#
        )
    );
}

#[test]
fn text_inserted_beside_a_frame_without_content_finds_its_candidate() {
    let bytes = event(r#"{"candidates":[{"finishReason":"STOP","index":0}]}"#);
    let left = event(
        r#"{"candidates":[{"finishReason":"STOP","index":0,"content":{"parts":[{"text":"!"}],"role":"model"}}]}"#,
    );
    assert_eq!(Run::new().frame(&bytes, |parts| parts.insert(0, inserted_text("!"))).written(), left);
    let bytes = event(r#"{"usageMetadata":{},"modelVersion":"m"}"#);
    let left = event(
        r#"{"usageMetadata":{},"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"!"}],"role":"model"},"index":0}]}"#,
    );
    assert_eq!(Run::new().frame(&bytes, |parts| parts.insert(0, inserted_text("!"))).written(), left);
}

#[test]
fn candidates_are_edited_apart() {
    let bytes = event(concat!(
        r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"a"}]}},"#,
        r#"{"index":1,"content":{"parts":[{"text":"b"},{"text":"c"}]},"finishReason":"STOP"}]}"#
    ));
    let left = event(concat!(
        r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"a"}]}},"#,
        r#"{"index":1,"content":{"parts":[{"text":"c"}]},"finishReason":"STOP"}]}"#
    ));
    assert_eq!(Run::new().frame(&bytes, |parts| parts[1].fate = Fate::Dropped).written(), left);
    let left = event(concat!(
        r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"a"}]}},"#,
        r#"{"index":1,"content":{"parts":[{"text":"[withheld by policy]"}]},"finishReason":"STOP"}]}"#
    ));
    let run = Run::new().frame(&bytes, |parts| {
        parts[1].fate = Fate::Dropped;
        parts[2].fate = Fate::Dropped;
    });
    assert_eq!(run.written(), left);
}

/// Rule 28.
#[test]
fn candidates_that_leave_together_stand_at_their_numbers() {
    let bytes = event(r#"{"candidates":[{"index":2,"content":{"parts":[{"text":"c"}]}}]}"#);
    let left = event(concat!(
        r#"{"candidates":[{"content":{"parts":[{"text":"!"}],"role":"model"},"index":0},"#,
        r#"{"index":1,"content":{"parts":[],"role":"model"}},{"index":2,"content":{"parts":[{"text":"c"}]}}]}"#
    ));
    let refusal = event(concat!(
        r#"{"candidates":[{"finishReason":"SAFETY","finishMessage":"not allowed","index":0},"#,
        r#"{"index":1,"content":{"parts":[],"role":"model"}},"#,
        r#"{"finishReason":"SAFETY","finishMessage":"not allowed","index":2}]}"#
    ));
    let run = |several: bool| {
        let options = WriterOptions { normalise: true, several, ..WriterOptions::default() };
        let run = Run { writer: Gemini.writer(&options), ..Run::new() };
        run.frame(&bytes, |parts| parts.push(inserted_text("!")))
    };
    assert_eq!(run(false).written(), left);
    assert_eq!(run(true).end(EndingKind::Refuse).written(), [left, refusal].concat());
}

/// Rule 17.
#[test]
fn another_finish_reason_is_patched_in() {
    let run = Run::new().frame(&last(r#"{"text":"Hi"}"#), |parts| {
        let finish = parts.iter_mut().find(|part| matches!(part.delta.kind, DeltaKind::Finish(_))).unwrap();
        finish.delta.kind = DeltaKind::Finish(FinishReason::new(FinishKind::Other, "OTHER"));
        finish.fate = Fate::Edited;
    });
    assert_eq!(run.written(), last(r#"{"text":"Hi"}"#).replace("\"STOP\"", "\"OTHER\""));
}

const OPEN: &str = r#"{"functionCall":{"name":"a","willContinue":true},"thoughtSignature":"AAAA"}"#;
const MORE: &str =
    r#"{"functionCall":{"partialArgs":[{"jsonPath":"$.x","stringValue":"1"}],"willContinue":true}}"#;
const CLOSE: &str = r#"{"functionCall":{}}"#;

/// Rule 25.
#[test]
fn a_call_in_fragments_is_replaced_by_a_whole_one() {
    let run = Run::new()
        .frame(&says(OPEN), |parts| replace(&mut parts[0], r#"{"x":2}"#))
        .frame(&says(MORE), drop_all)
        .keep(&says(CLOSE))
        .keep(&says(CALL_B));
    let whole = r#"{"functionCall":{"name":"a","args":{"x":2}},"thoughtSignature":"AAAA"}"#;
    assert_eq!(run.written(), [says(whole), says(CALL_B)].concat());
}

#[test]
fn nothing_follows_a_dropped_call_in_fragments() {
    let run =
        Run::new().frame(&says(OPEN), drop_all).keep(&says(MORE)).keep(&says(CLOSE)).keep(&says(CALL_B));
    assert_eq!(
        run.written(),
        says(r#"{"functionCall":{"name":"b","args":{"y":2}},"thoughtSignature":"AAAA"}"#)
    );
}

#[test]
fn the_end_of_a_dropped_call_does_not_leave_after_the_finish() {
    let finish = event(r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}"#);
    let mut run = Run::new().frame(&says(OPEN), drop_all);
    let gone = run.keys.last;
    run = run.keep(&finish).frame(&says(CLOSE), |parts| parts[0].key = Some(BlockKey(gone)));
    assert_eq!(run.written(), finish);
}

#[test]
fn a_dropped_last_fragment_still_closes_its_call() {
    let last = MORE.replace(r#","willContinue":true"#, "");
    let run = Run::new().keep(&says(OPEN)).frame(&says(&last), |parts| parts[0].fate = Fate::Dropped);
    assert_eq!(run.written(), [says(OPEN), says(CLOSE)].concat());
}

#[test]
fn an_edited_fragment_stays_a_fragment() {
    let run = Run::new().keep(&says(OPEN)).frame(&says(MORE), |parts| {
        replace(&mut parts[0], r#"[{"jsonPath":"$.x","stringValue":"*"}]"#);
    });
    let starred = MORE.replace(r#""1""#, r#""*""#);
    assert_eq!(run.written(), [says(OPEN), says(&starred)].concat());
}

#[test]
fn json_over_several_lines_is_rebuilt_on_one() {
    let bytes =
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"},{\ndata: \"text\":\"b\"}]}}]}\n\n";
    let run = Run::new().frame(bytes, |parts| parts[0].fate = Fate::Dropped);
    assert_eq!(run.written(), "data: {\"candidates\":[{\"content\":{\"parts\":[{ \"text\":\"b\"}]}}]}\n\n");
}

#[test]
fn a_foreign_frame_leaves_whole_or_not_at_all() {
    let bytes = event(r#"{"type":"x"}"#);
    assert_eq!(Run::new().keep(&bytes).written(), bytes);
    assert_eq!(Run::new().frame(&bytes, drop_all).written(), "");
    let run = Run::new().frame(&bytes, |parts| parts.push(inserted_text("!")));
    assert_eq!(run.written(), [bytes, says(r#"{"text":"!"}"#)].concat());
}

/// Rule 28: clients that see the error pass over the text.
#[test]
fn a_text_beside_an_error_has_no_single_meaning() {
    let bytes =
        event(r#"{"candidates":[{"content":{"parts":[{"text":"no"}]}}],"error":{"code":500,"message":"x"}}"#);
    let error = Gemini.decode(&frame(&bytes), &mut Decoded::new()).unwrap_err();
    assert!(error.is_ambiguous());
}

/// Clients throw at an error, and read nothing beside it.
#[test]
fn text_inserted_at_an_error_stands_in_an_event_before_it() {
    let error = event(r#"{"error":{"code":503,"message":"later"}}"#);
    let made = event(r#"{"candidates":[{"content":{"parts":[{"text":"!"}],"role":"model"},"index":0}]}"#);
    let run = Run::new().frame(&error, |parts| parts.insert(0, inserted_text("!")));
    assert_eq!(run.written(), made.clone() + &error);
    let run = Run::new().frame(&error, |parts| {
        parts[0].fate = Fate::Dropped;
        parts.insert(0, inserted_text("!"));
    });
    assert_eq!(run.written(), made);
}
