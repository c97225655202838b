use bytes::Bytes;

use super::kit::{call, drop_items, ending, keep, parts, text};
use crate::delta::{
    CallDelta, Channel, Delta, DeltaKind, FinishKind, FinishReason, Runs, Slot, UpstreamError, Usage,
};
use crate::sse::Frame;
use crate::wire::openai_responses::OpenAiResponses;
use crate::wire::openai_responses::item::SUMMARY;
use crate::wire::{Decoded, EndingKind, Fate, Outgoing, Part, WireFormat, WriterOptions};

const REASONING: &str = r#"{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"why"}]}"#;
const MESSAGE: &str = r#"{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hello","annotations":[]}]}"#;
const ONE: &str = r#"{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"a\":1}","call_id":"call_1","name":"one"}"#;
const TWO: &str = r#"{"id":"fc_2","type":"function_call","status":"completed","arguments":"{}","call_id":"call_2","name":"two"}"#;
const SEARCH: &str = r#"{"id":"ws_1","type":"web_search_call"}"#;

fn body(items: &[&str]) -> String {
    format!(
        r#"{{ "id":"resp_1","object":"response","status":"completed","incomplete_details":null,"model":"m","output":[{}],"usage":{{"total_tokens":3}}}}"#,
        items.join(",")
    )
}

/// The body as it is written anew.
fn rewritten(items: &[&str]) -> String {
    body(items).replacen("{ ", "{", 1)
}

fn decode(body: &str) -> Vec<Delta> {
    let mut decoded = Decoded::new();
    OpenAiResponses.decode_whole(body.as_bytes(), &mut decoded).unwrap();
    decoded.deltas
}

fn write(body: &str, ending_kind: Option<EndingKind>, decide: impl FnOnce(&mut Vec<Part>)) -> String {
    let mut parts = parts(decode(body));
    decide(&mut parts);
    let frame = Some(Frame::whole(Bytes::copy_from_slice(body.as_bytes())));
    let mut writer = OpenAiResponses.writer(&WriterOptions::default());
    let ending = ending_kind.map(ending);
    let written = writer.whole(Outgoing { frame, parts }, ending.as_ref());
    String::from_utf8(written.to_vec()).unwrap()
}

fn each(decide: impl FnMut(&mut Part)) -> impl FnOnce(&mut Vec<Part>) {
    |parts| parts.iter_mut().for_each(decide)
}

fn message(number: u32, text: &str) -> String {
    format!(
        r#"{{"id":"msg_policy_{number}","type":"message","status":"completed","role":"assistant","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#
    )
}

/// Rule 24.
#[test]
fn a_whole_response_reads_like_a_stream() {
    let at = |item: u32, part: u32, kind| Delta::new(0, Slot::At { item, part }, kind);
    let text = |channel, text: &str| DeltaKind::Text { channel, text: text.into() };
    let call = CallDelta {
        id: Some("call_1".into()),
        name: Some("one".into()),
        arguments: Some(r#"{"a":1}"#.into()),
        starts: true,
        ..CallDelta::default()
    };
    let opaque =
        DeltaKind::Opaque { kind: "web_search_call".into(), runs: Runs::Server, bytes: SEARCH.len() };
    assert_eq!(
        decode(&body(&[REASONING, MESSAGE, ONE, SEARCH])),
        [
            Delta::stream(DeltaKind::Opening),
            at(0, Slot::ITEM, DeltaKind::ItemStart { channel: Channel::Reasoning }),
            at(0, SUMMARY, DeltaKind::Start { channel: Channel::Reasoning }),
            at(0, SUMMARY, text(Channel::Reasoning, "why")),
            at(0, SUMMARY, DeltaKind::Stop),
            at(0, Slot::ITEM, DeltaKind::Stop),
            at(1, Slot::ITEM, DeltaKind::ItemStart { channel: Channel::Content }),
            at(1, 0, DeltaKind::Start { channel: Channel::Content }),
            at(1, 0, text(Channel::Content, "hello")),
            at(1, 0, DeltaKind::Stop),
            at(1, Slot::ITEM, DeltaKind::Stop),
            at(2, 0, DeltaKind::Call(call)),
            at(2, 0, DeltaKind::Stop),
            at(3, 0, opaque),
            at(3, 0, DeltaKind::Stop),
            Delta::new(0, Slot::None, DeltaKind::Finish(FinishReason::new(FinishKind::Stop, "completed"))),
            Delta::stream(DeltaKind::Usage(Usage { total: Some(3), ..Usage::default() })),
            Delta::stream(DeltaKind::Terminal),
        ]
    );
}

#[test]
fn an_error_body_is_an_error() {
    let error = UpstreamError { code: Some("quota".into()), message: Some("m".into()) };
    assert_eq!(
        decode(r#"{"error":{"message":"m","type":"quota","code":null}}"#),
        [Delta::stream(DeltaKind::Error(error)), Delta::stream(DeltaKind::Terminal)]
    );
}

#[test]
fn an_untouched_body_leaves_as_it_came() {
    let body = body(&[REASONING, MESSAGE, ONE]);
    assert_eq!(write(&body, None, each(keep)), body);
}

#[test]
fn the_first_of_two_calls_is_dropped() {
    let written = write(&body(&[MESSAGE, ONE, TWO]), None, each(drop_items(&[1])));
    assert_eq!(written, rewritten(&[MESSAGE, TWO]));
}

#[test]
fn all_calls_are_dropped() {
    let written = write(&body(&[MESSAGE, ONE, TWO]), None, each(drop_items(&[1, 2])));
    assert_eq!(written, rewritten(&[MESSAGE]));
}

#[test]
fn text_is_dropped() {
    let written = write(&body(&[MESSAGE, ONE]), None, each(drop_items(&[0])));
    assert_eq!(written, rewritten(&[ONE]));
}

/// Rule 21.
#[test]
fn a_body_of_which_everything_was_dropped_gets_a_notice() {
    let written = write(&body(&[MESSAGE, ONE]), None, each(drop_items(&[0, 1])));
    assert_eq!(written, rewritten(&[&message(1, "[withheld by policy]")]));
}

/// Rule 22.
#[test]
fn reasoning_loses_its_text_and_keeps_the_rest() {
    let written = write(&body(&[REASONING, MESSAGE]), None, |parts| {
        for part in parts.iter_mut().filter(|part| part.delta.slot == Slot::At { item: 0, part: SUMMARY }) {
            part.fate = Fate::Dropped;
        }
    });
    let emptied = r#"{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[]}"#;
    assert_eq!(written, rewritten(&[emptied, MESSAGE]));
}

#[test]
fn arguments_are_replaced() {
    let written = write(&body(&[ONE, TWO]), None, |parts| {
        for part in parts.iter_mut() {
            if let (DeltaKind::Call(call), Slot::At { item: 0, .. }) = (&mut part.delta.kind, part.delta.slot)
            {
                call.arguments = Some(r#"{"b":2}"#.into());
                part.fate = Fate::Edited;
            }
        }
    });
    assert_eq!(written, rewritten(&[&ONE.replace("a\\\":1", "b\\\":2"), TWO]));
}

#[test]
fn text_is_edited() {
    let written = write(&body(&[MESSAGE, ONE]), None, |parts| {
        for part in parts.iter_mut() {
            if let DeltaKind::Text { text, .. } = &mut part.delta.kind {
                *text = "HELLO".into();
                part.fate = Fate::Edited;
            }
        }
    });
    assert_eq!(written, rewritten(&[&MESSAGE.replace("hello", "HELLO"), ONE]));
}

#[test]
fn unknown_fields_of_a_touched_body_are_gone() {
    let body = body(&[MESSAGE, ONE])
        .replace("\"usage\"", "\"output_text\":\"hello\",\"secret\":\"hello\",\"usage\"");
    assert_eq!(write(&body, None, each(drop_items(&[0]))), rewritten(&[ONE]));
}

#[test]
fn text_is_inserted_before_between_and_after() {
    let inserted = |item: Option<u32>| {
        write(&body(&[ONE, TWO]), None, |parts| {
            let of =
                |part: &Part| matches!(part.delta.slot, Slot::At { item: other, .. } if Some(other) == item);
            let at = parts.iter().rposition(of).map_or(0, |last| last + 1);
            parts.insert(at, text("note"));
        })
    };
    let note = message(1, "note");
    assert_eq!(inserted(None), rewritten(&[&note, ONE, TWO]));
    assert_eq!(inserted(Some(0)), rewritten(&[ONE, &note, TWO]));
    assert_eq!(inserted(Some(1)), rewritten(&[ONE, TWO, &note]));
}

#[test]
fn a_dropped_call_becomes_another_one() {
    let written = write(&body(&[ONE]), None, |parts| {
        parts.iter_mut().for_each(drop_items(&[0]));
        parts.insert(2, call("ask", "{}"));
    });
    let made = r#"{"id":"fc_policy_1","type":"function_call","status":"completed","arguments":"{}","call_id":"call_policy_1","name":"ask"}"#;
    assert_eq!(written, rewritten(&[made]));
}

/// Rule 20.
#[test]
fn a_refused_body_is_incomplete_and_keeps_what_was_kept_and_its_usage() {
    let refused = |items: &[&str]| {
        rewritten(items).replace(
            "\"status\":\"completed\",\"incomplete_details\":null",
            "\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"content_filter\"}",
        )
    };
    let written = write(&body(&[MESSAGE, ONE]), Some(EndingKind::Refuse), each(drop_items(&[1])));
    let why = r#"{"id":"msg_policy_1","type":"message","status":"completed","role":"assistant","content":[{"type":"refusal","refusal":"stopped by policy"}]}"#;
    assert_eq!(written, refused(&[MESSAGE, why]));
    let written = write(&body(&[MESSAGE]), Some(EndingKind::Refuse), each(drop_items(&[0])));
    assert_eq!(written, refused(&[why]));
}

#[test]
fn an_error_takes_the_place_of_the_body() {
    let written = write(&body(&[MESSAGE]), Some(EndingKind::Error), each(keep));
    assert_eq!(
        written,
        r#"{"error":{"message":"stopped by policy","type":"policy_error","param":null,"code":"blocked_by_policy"}}"#
    );
}
