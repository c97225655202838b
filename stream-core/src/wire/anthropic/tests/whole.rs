//! Whole responses (rule 24).

use super::*;

const THOUGHT: &str = r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#;
const A: &str = r#"{"type":"tool_use","id":"toolu_a","name":"a","input":{ "x": 1.0 }}"#;
const B: &str = r#"{"type":"tool_use","id":"toolu_b","name":"b","input":{}}"#;

fn body(content: &[&str], stop: &str) -> String {
    format!(
        r#"{{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{}],"stop_reason":"{stop}","stop_sequence":null,"usage":{{"input_tokens":9, "output_tokens":7.0}}}}"#,
        content.join(",")
    )
}

fn said(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn decoded(body: &str) -> Vec<Delta> {
    let mut decoded = Decoded::new();
    Anthropic.decode_whole(body.as_bytes(), &mut decoded).unwrap();
    decoded.deltas
}

fn write(body: &str, ending: Option<EndingKind>, decide: impl Fn(&mut Vec<Part>)) -> String {
    let mut parts: Vec<Part> = decoded(body).into_iter().map(kept).collect();
    decide(&mut parts);
    let frame = Some(Frame::whole(Bytes::copy_from_slice(body.as_bytes())));
    let mut writer = Anthropic.writer(&WriterOptions::default());
    let ending = ending.map(|kind| Ending::new(kind, "stopped"));
    let written = writer.whole(Outgoing { frame, parts }, ending.as_ref());
    assert!(writer.ended());
    String::from_utf8(written.to_vec()).unwrap()
}

#[test]
fn untouched_it_leaves_as_it_came() {
    let came = format!(" {}\n", body(&[THOUGHT, &said("Hi"), A], "tool_use"));
    assert_eq!(write(&came, None, |_| {}), came);
    let failed = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    assert_eq!(write(failed, None, |_| {}), failed);
}

#[test]
fn calls_are_dropped_and_the_rest_stays_raw() {
    let came = body(&[THOUGHT, A, B], "tool_use");
    assert_eq!(
        write(&came, None, |parts| set_block(parts, 2, Fate::Dropped)),
        body(&[THOUGHT, A], "tool_use")
    );
    assert_eq!(
        write(&came, None, |parts| set_block(parts, 1, Fate::Dropped)),
        body(&[THOUGHT, B], "tool_use")
    );
}

#[test]
fn with_all_calls_dropped_it_says_so() {
    let all = |parts: &mut Vec<Part>| {
        set_block(parts, 0, Fate::Dropped);
        edit_finish(parts, FinishKind::Stop);
    };
    assert_eq!(write(&body(&[A], "tool_use"), None, all), body(&[&said("[withheld by policy]")], "end_turn"));
    assert_eq!(write(&body(&[A, &said("Hi")], "tool_use"), None, all), body(&[&said("Hi")], "end_turn"));
}

#[test]
fn arguments_are_replaced() {
    let replaced = r#"{"type":"tool_use","id":"toolu_a","name":"c","input":{"z":3}}"#;
    assert_eq!(
        write(&body(&[A], "tool_use"), None, |parts| edit_call(parts, "c", r#"{"z":3}"#)),
        body(&[replaced], "tool_use")
    );
}

#[test]
fn text_is_edited_dropped_or_emptied() {
    let cited = r#"{"type":"text","text":"secret","citations":[{"cited_text":"secret"}]}"#;
    assert_eq!(
        write(&body(&[cited, A], "tool_use"), None, |parts| {
            edit_text(parts, "***");
            parts[2].fate = Fate::Dropped;
        }),
        body(&[&said("***"), A], "tool_use")
    );
    for drop in
        [(|parts| set_block(parts, 0, Fate::Dropped)) as fn(&mut Vec<Part>), |parts| edit_text(parts, "")]
    {
        assert_eq!(write(&body(&[cited, A], "tool_use"), None, drop), body(&[A], "tool_use"));
    }
    assert_eq!(
        write(&body(&[cited], "end_turn"), None, |parts| edit_text(parts, "")),
        body(&[&said("[withheld by policy]")], "end_turn")
    );
    assert_eq!(
        write(&body(&[THOUGHT, A], "tool_use"), None, |parts| parts[1].fate = Fate::Dropped),
        body(&[r#"{"type":"thinking","thinking":"","signature":"c2ln"}"#, A], "tool_use")
    );
}

#[test]
fn text_and_calls_are_inserted_in_their_places() {
    let new = r#"{"type":"tool_use","id":"toolu_new","name":"d","input":{"q":1}}"#;
    assert_eq!(
        write(&body(&[THOUGHT, A], "tool_use"), None, |parts| {
            parts.insert(3, inserted_text("between"));
            parts.insert(0, inserted_text("before"));
            parts.push(inserted_text("no place"));
            parts.push(inserted_call("d", r#"{"q":1}"#));
        }),
        body(&[&said("before"), THOUGHT, &said("between"), A, new], "tool_use")
    );
    assert_eq!(
        write(&body(&[&said("Hi")], "end_turn"), None, |parts| parts.push(inserted_text("after"))),
        body(&[&said("Hi"), &said("after")], "end_turn")
    );
}

#[test]
fn unknown_fields_do_not_survive_a_touched_body() {
    let came =
        body(&[A], "tool_use").replace(r#""usage""#, r#""copy":"secret","container":{"id":"c"},"usage""#);
    let left = body(&[&said("[withheld by policy]")], "tool_use")
        .replace(r#""usage""#, r#""container":{"id":"c"},"usage""#);
    assert_eq!(write(&came, None, |parts| set_block(parts, 0, Fate::Dropped)), left);
}

#[test]
fn refused_it_keeps_text_and_usage() {
    let refused = |content: &[&str]| {
        body(content, "refusal").replace(
            r#""stop_sequence":null"#,
            r#""stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":"stopped"}"#,
        )
    };
    let came = body(&[THOUGHT, &said("Hi"), A, B], "tool_use");
    assert_eq!(write(&came, Some(EndingKind::Refuse), |_| {}), refused(&[&said("Hi")]));
    assert_eq!(write(&came, Some(EndingKind::Refuse), |parts| set(parts, Fate::Dropped)), refused(&[]));
    assert_eq!(
        write(&came, Some(EndingKind::Refuse), |parts| {
            set(parts, Fate::Dropped);
            parts.push(inserted_call("d", "{}"));
            parts.push(inserted_text("why"));
        }),
        refused(&[&said("why")])
    );
}

#[test]
fn failed_it_is_an_error_body() {
    assert_eq!(
        write(&body(&[A], "tool_use"), Some(EndingKind::Error), |_| {}),
        r#"{"type":"error","error":{"type":"blocked_by_policy","message":"stopped"}}"#
    );
}

#[test]
fn a_body_that_is_no_message_is_refused_as_a_made_one() {
    assert_eq!(
        write("[1]", Some(EndingKind::Refuse), |parts| set(parts, Fate::Dropped)),
        r#"{"id":"msg_blocked","type":"message","role":"assistant","model":"","content":[],"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":"stopped"},"usage":{"input_tokens":0,"output_tokens":0}}"#
    );
}

#[test]
fn it_reads_as_a_stream_does() {
    let kinds: Vec<DeltaKind> =
        decoded(&body(&[THOUGHT, B], "tool_use")).into_iter().map(|delta| delta.kind).collect();
    assert_eq!(
        kinds,
        [
            DeltaKind::Start { channel: Channel::Reasoning },
            DeltaKind::Text { channel: Channel::Reasoning, text: "hm".into() },
            DeltaKind::Stop,
            DeltaKind::Call(CallDelta {
                id: Some("toolu_b".into()),
                name: Some("b".into()),
                arguments: Some("{}".into()),
                starts: true,
                ..CallDelta::default()
            }),
            DeltaKind::Stop,
            DeltaKind::Finish(FinishReason::new(FinishKind::ToolCalls, "tool_use")),
            DeltaKind::Usage(crate::delta::Usage { input: Some(9), ..Default::default() }),
            DeltaKind::Terminal,
        ]
    );
}

#[test]
fn it_is_known_by_its_type() {
    assert!(Anthropic.sniff_whole(body(&[], "end_turn").as_bytes()));
    assert!(!Anthropic.sniff_whole(br#"{"type":"error","error":{}}"#));
    assert!(!Anthropic.sniff_whole(br#"{"object":"chat.completion","choices":[]}"#));
    assert!(!Anthropic.sniff_whole(b"<html>"));
}
