//! Located deltas: every delta carries the spans of the data that say it, so that a writer never looks for them again.

use bytes::Bytes;
use serde_json::Value;
use stream_core::delta::{Delta, DeltaKind};
use stream_core::sse::Framer;
use stream_core::wire::{self, Decoded, SharedFormat};
use stream_testkit::{ChunkLog, Fragments, Script, WireKind, logs};

/// The formats that give spans.
const LOCATED: [WireKind; 3] = [WireKind::OpenAiChat, WireKind::AnthropicMessages, WireKind::Gemini];

fn format(kind: WireKind) -> SharedFormat {
    wire::named(kind.name()).unwrap()
}

/// What is wrong with the sites of the deltas of a document.
fn faults(data: &str, deltas: &[Delta]) -> Vec<String> {
    let wrong = deltas.iter().filter_map(|delta| {
        let site = delta.site;
        let (element, holder) = (site.element.slice(data), site.holder.slice(data));
        let is_said = match &delta.kind {
            // A marker, and what a whole body ends with, are no JSON.
            DeltaKind::Terminal | DeltaKind::Meta if element.is_empty() => return None,
            DeltaKind::Text { text, .. } => says(element, text),
            DeltaKind::Call(call) => call.name.as_deref().is_none_or(|name| says(element, name)),
            DeltaKind::Finish(reason) => says(element, reason.raw()),
            _ => true,
        };
        let is_whole = |raw: &str| serde_json::from_str::<Value>(raw).is_ok() && raw.trim() == raw;
        let is_held = site.holder.is_empty()
            || (site.holder.start() <= site.element.start() && site.element.end() <= site.holder.end());
        let is_sound = is_said && is_held && is_whole(element) && (holder.is_empty() || is_whole(holder));
        (!is_sound).then(|| format!("{delta:?} of {data}"))
    });
    wrong.collect()
}

/// Whether the strings of a JSON value, each or all of them in their order, say a text.
fn says(raw: &str, text: &str) -> bool {
    fn strings(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::String(text) => into.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
            Value::Object(members) => members.values().for_each(|value| strings(value, into)),
            _ => {}
        }
    }
    let mut said = Vec::new();
    strings(&serde_json::from_str(raw).unwrap_or_default(), &mut said);
    said.iter().any(|said| said == text) || said.concat().contains(text)
}

/// How many deltas the frames of a stream have, and what is wrong with their sites.
fn stream(kind: WireKind, bytes: &Bytes) -> (usize, Vec<String>) {
    let mut framer = Framer::new(1 << 24);
    framer.push(bytes);
    let (mut count, mut wrong) = (0, Vec::new());
    while let Some(frame) = framer.next_frame().unwrap() {
        let Some(data) = frame.data() else { continue };
        let mut decoded = Decoded::new();
        if format(kind).decode(&frame, &mut decoded).is_ok() {
            count += decoded.deltas.len();
            wrong.extend(faults(std::str::from_utf8(&data).unwrap(), &decoded.deltas));
        }
    }
    (count, wrong)
}

fn assert_located(logs: impl IntoIterator<Item = (WireKind, ChunkLog)>) {
    for (kind, log) in logs.into_iter().filter(|(kind, _)| LOCATED.contains(kind)) {
        let (count, wrong) = stream(kind, log.bytes());
        assert!(count > 0, "{}: no delta", log.name());
        assert_eq!(wrong, Vec::<String>::new(), "{}", log.name());
    }
}

#[test]
fn every_delta_of_the_kits_logs_stands_where_its_element_is() {
    assert_located(logs::own().unwrap().into_iter().map(|own| (own.kind(), own.log().clone())));
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn every_delta_of_a_record_stands_where_its_element_is() {
    let folder = logs::root().expect("recorded streams: STREAM_CORPUS names their folder");
    let expected = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let recorded = expected.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let log = ChunkLog::load(folder.join(line["file"].as_str().unwrap())).unwrap();
        let own = |kind: &WireKind| stream(*kind, log.bytes()).0 > 0 && log.kind() == Some(*kind);
        (LOCATED.into_iter().find(own), log)
    });
    assert_located(recorded.filter_map(|(kind, log)| Some((kind?, log))));
}

#[test]
fn every_delta_of_a_whole_response_stands_where_its_element_is() {
    let script = Script::new()
        .reasoning("Let me \"see\".")
        .text("Grüße,\n\u{1F600}")
        .call("call_1", "ls", r#"{"path":"/"}"#)
        .call("call_2", "rm", "{}")
        .usage(3, 4)
        .text_fragments(Fragments::Bytes(3));
    for kind in LOCATED {
        let body = script.whole(kind);
        let mut decoded = Decoded::new();
        format(kind).decode_whole(&body, &mut decoded).unwrap();
        assert!(decoded.deltas.len() > 5, "{kind}");
        let wrong = faults(std::str::from_utf8(&body).unwrap(), &decoded.deltas);
        assert_eq!(wrong, Vec::<String>::new(), "{kind}");
    }
}

/// The shapes that few servers send: lists of parts, details beside reasoning, sound, blocks in an opening, candidates without parts.
#[test]
fn every_delta_of_a_rare_shape_stands_where_its_element_is() {
    let chat = [
        r#"{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"a"},"b",{"type":"thinking","thinking":[{"type":"text","text":"c"}]},{"type":"image_url","image_url":{"url":"d"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"reasoning":"a","reasoning_details":[null,{"text":"b","summary":"c"},{"data":"d"}]},"logprobs":{"content":[]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"audio":{"id":"x","transcript":"a","data":"QQ=="},"refusal":"b","function_call":{"name":"f","arguments":"{}"}}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"a"},"message":{"content":"b","role":"assistant"},"text":"c","finish_reason":"stop"}],"usage":{"total_tokens":1}}"#,
        r#"{"error":{"message":"m","failed_generation":"g","metadata":{"raw":"failed_generation"}}}"#,
        r#" {"type":"other"} "#,
    ];
    let messages = [
        r#"{"type":"message_start","message":{"content":[{"type":"text","text":"a","citations":[1]},{"type":"tool_use","id":"t","name":"f","input":{}}],"stop_reason":"end_turn","usage":{"input_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","name":"web_search","input":{"q":"x"}}}"#,
        r#"{"type":"error","error":{"type":"e","message":"m"}}"#,
    ];
    let gemini = [
        r#"{"candidates":[null,{"content":{"role":"model"}},{"finishReason":"STOP","logprobsResult":{"a":1}}]}"#,
        r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#,
        r#"{"type":"other"}"#,
        r#"{"candidates":[{"content":{"parts":[null,{"text":"a","thoughtSignature":"s"},{"functionCall":{"willContinue":true}},{"inlineData":{"data":"x"}}]}}]}"#,
    ];
    let shapes = LOCATED.into_iter().zip([&chat[..], &messages, &gemini]);
    for (kind, data) in shapes.flat_map(|(kind, all)| all.iter().map(move |data| (kind, data))) {
        let (count, wrong) = stream(kind, &format!("data: {data}\n\n").into());
        assert!(count > 0, "{data}");
        assert_eq!(wrong, Vec::<String>::new());
    }
}
