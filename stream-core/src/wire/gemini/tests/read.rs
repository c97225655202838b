//! Reading.

use super::*;
use crate::delta::{FinishKind, FinishReason, Runs, Span, UpstreamError, Usage};

fn text(channel: Channel, text: &str) -> (Slot, DeltaKind) {
    (Slot::Run, DeltaKind::Text { channel, text: text.into() })
}

fn call(id: Option<&str>, name: Option<&str>, arguments: Option<&str>) -> (Slot, DeltaKind) {
    let call = CallDelta {
        id: id.map(Into::into),
        name: name.map(Into::into),
        arguments: arguments.map(Into::into),
        starts: name.is_some(),
        ..CallDelta::default()
    };
    (Slot::Call { index: None }, DeltaKind::Call(call))
}

const STOP: (Slot, DeltaKind) = (Slot::Call { index: None }, DeltaKind::Stop);

fn opaque(kind: &str, runs: Runs, bytes: usize) -> (Slot, DeltaKind) {
    (Slot::None, DeltaKind::Opaque { kind: kind.into(), runs, bytes })
}

fn finish(kind: FinishKind, word: &str) -> (Slot, DeltaKind) {
    (Slot::None, DeltaKind::Finish(FinishReason::new(kind, word)))
}

/// What the parts of one candidate say.
fn parts(parts: &str) -> Vec<(Slot, DeltaKind)> {
    kinds(&format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}}}}]}}"#))
}

fn kinds(data: &str) -> Vec<(Slot, DeltaKind)> {
    decode(data).into_iter().map(|delta| (delta.slot, delta.kind)).collect()
}

fn failure(data: &str) -> String {
    Gemini.decode(&frame(&event(data)), &mut Decoded::new()).unwrap_err().to_string()
}

/// Rule 1.
#[test]
fn parts_are_read_in_order_then_annotations_finish_and_usage() {
    let thought = r#"{"text":"Hm\n","thought":true}"#;
    let called = r#"{"functionCall":{"name":"f","args":{"a": 1.0}}}"#;
    let candidate = format!(
        r#"{{"finishReason":"STOP","groundingMetadata":{{"x":1}},"content":{{"role":"model","parts":[{thought},{{"text":"Hi"}},{called}]}}}}"#
    );
    let counts =
        r#"{"promptTokenCount":3,"candidatesTokenCount":4,"thoughtsTokenCount":2,"totalTokenCount":9}"#;
    let data = format!(r#"{{"candidates":[{candidate}],"usageMetadata":{counts}}}"#);
    let holder = Span::of(&data[15..15 + candidate.len()], &data).unwrap();
    let at = |(slot, kind), element: &str| {
        let start = data.find(element).unwrap();
        Delta::new(0, slot, kind).at(Span::new(start, start + element.len())).held_by(holder, 0)
    };
    let usage = Usage { input: Some(3), output: Some(6), total: Some(9) };
    let start = data.find(counts).unwrap();
    assert_eq!(
        decode(&data),
        [
            at(text(Channel::Reasoning, "Hm\n"), thought),
            at(text(Channel::Content, "Hi"), r#"{"text":"Hi"}"#),
            at(call(None, Some("f"), Some(r#"{"a": 1.0}"#)), called),
            at(STOP, called),
            at((Slot::Run, DeltaKind::Annotation { ahead: false }), &candidate),
            at(finish(FinishKind::Stop, "STOP"), r#""STOP""#),
            Delta::stream(DeltaKind::Usage(usage)).at(Span::new(start, start + counts.len())),
        ]
    );
}

/// Rule 6.
#[test]
fn every_candidate_is_a_choice() {
    let data = r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"b"}]}},{"content":{"parts":[{"text":"a"}]}}]}"#;
    let seen: Vec<_> = decode(data).into_iter().map(|delta| (delta.choice, delta.site.position)).collect();
    assert_eq!(seen, [(Some(0), 0), (Some(1), 1)]);
    // Rule 28: some clients go by position, some by number.
    let data = r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"b"}]}},{"content":{"parts":[{"text":"a"}]}}]}"#;
    let error = Gemini.decode(&frame(&event(data)), &mut Decoded::new()).unwrap_err();
    assert!(error.is_ambiguous());
    let seen: Vec<_> = decode(r#"{"candidates":[{},{"content":{"role":"model"}}]}"#)
        .into_iter()
        .map(|delta| (delta.choice, delta.kind))
        .collect();
    assert_eq!(seen, [(Some(0), DeltaKind::Meta), (Some(1), DeltaKind::Role)]);
}

/// Rule 2.
#[test]
fn an_empty_text_is_nothing_and_keeps_its_signature() {
    assert_eq!(
        kinds(r#"{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"}}]}"#),
        [(Slot::None, DeltaKind::Role)]
    );
    assert_eq!(parts(r#"{"text":"","thoughtSignature":"c2ln"}"#), [(Slot::None, DeltaKind::Signature)]);
    assert_eq!(parts(r#"{"thoughtSignature":"c2ln","thought":true}"#), [(Slot::None, DeltaKind::Signature)]);
}

#[test]
fn a_signature_beside_payload_belongs_to_it() {
    assert_eq!(parts(r#"{"text":"Hi","thoughtSignature":"c2ln"}"#), [text(Channel::Content, "Hi")]);
}

#[test]
fn a_call_without_arguments_or_with_an_empty_id_is_read() {
    assert_eq!(
        parts(r#"{"functionCall":{"name":"f","id":"","args":null}}"#),
        [call(None, Some("f"), None), STOP]
    );
    assert_eq!(parts(r#"{"functionCall":{"name":"f","id":"null"}}"#), [call(None, Some("f"), None), STOP]);
    assert_eq!(parts(r#"{"functionCall":{"name":"f","id":"7"}}"#), [call(Some("7"), Some("f"), None), STOP]);
}

/// Rule 2.
#[test]
fn a_call_in_fragments_stays_open_until_nothing_continues_it() {
    let fragment = r#"[{"jsonPath":"$.a","stringValue":"x","willContinue":true}]"#;
    assert_eq!(parts(r#"{"functionCall":{"name":"f","willContinue":true}}"#), [call(None, Some("f"), None)]);
    assert_eq!(
        parts(&format!(r#"{{"functionCall":{{"partialArgs":{fragment},"willContinue":true}}}}"#)),
        [call(None, None, Some(fragment))]
    );
    assert_eq!(
        parts(&format!(r#"{{"functionCall":{{"partialArgs":{fragment}}}}}"#)),
        [call(None, None, Some(fragment)), STOP]
    );
    assert_eq!(parts(r#"{"functionCall":{}}"#), [STOP]);
    assert_eq!(
        parts(r#"{"functionCall":{"partialArgs":[],"willContinue":true}}"#),
        [(Slot::Call { index: None }, DeltaKind::Annotation { ahead: false })]
    );
}

/// Rule 25.
#[test]
fn fragments_are_joined_through_the_format() {
    let format: &dyn WireFormat = &Gemini;
    assert_eq!(format.join_arguments(r#"[{"jsonPath":"$.a","numberValue":1}]"#).unwrap(), r#"{"a":1}"#);
    assert_eq!(format.join_arguments(r#"{"a":1}"#), None);
}

/// Rule 7.
#[test]
fn what_is_neither_text_nor_a_call_is_opaque() {
    assert_eq!(
        parts(r#"{"executableCode":{"code":"1"}},{"toolCall":{}},{"novelty":[1]}"#),
        [
            opaque("executableCode", Runs::Server, 12),
            opaque("toolCall", Runs::Server, 2),
            opaque("novelty", Runs::Unknown, 3),
        ]
    );
    assert_eq!(
        parts(r#"{"text":"Hi","robotCall":{"name":"f"},"void":null}"#),
        [text(Channel::Content, "Hi"), opaque("robotCall", Runs::Unknown, 12),]
    );
}

/// Rule 19.
#[test]
fn log_probabilities_without_a_part_wait_for_the_next_one() {
    let ahead = |ahead| (Slot::Run, DeltaKind::Annotation { ahead });
    assert_eq!(kinds(r#"{"candidates":[{"logprobsResult":{"chosenCandidates":[]}}]}"#), [ahead(true)]);
    let with = r#"{"candidates":[{"logprobsResult":{},"content":{"parts":[{"text":"Hi"}]}}]}"#;
    assert_eq!(kinds(with), [text(Channel::Content, "Hi"), ahead(false)]);
    let last = r#"{"candidates":[{"logprobsResult":{},"finishReason":"STOP"}]}"#;
    assert_eq!(kinds(last), [ahead(false), finish(FinishKind::Stop, "STOP")]);
}

#[test]
fn scores_and_empty_annotations_are_none() {
    let data = r#"{"candidates":[{"safetyRatings":[{}],"avgLogprobs":-1,"citationMetadata":{ },"finishReason":""}]}"#;
    assert_eq!(kinds(data), [(Slot::None, DeltaKind::Meta)]);
}

#[test]
fn finish_reasons_are_typed() {
    for (word, kind) in [
        ("STOP", FinishKind::Stop),
        ("MAX_TOKENS", FinishKind::Length),
        ("SAFETY", FinishKind::Filter),
        ("RECITATION", FinishKind::Filter),
        ("IMAGE_SAFETY", FinishKind::Filter),
        ("MALFORMED_FUNCTION_CALL", FinishKind::Error),
        ("UNEXPECTED_TOOL_CALL", FinishKind::Error),
        ("OTHER", FinishKind::Other),
        ("FINISH_REASON_UNSPECIFIED", FinishKind::Other),
    ] {
        assert_eq!(
            kinds(&format!(r#"{{"candidates":[{{"finishReason":"{word}"}}]}}"#)),
            [finish(kind, word)]
        );
    }
}

#[test]
fn a_blocked_prompt_finishes_the_first_choice() {
    let data = r#"{"promptFeedback":{"blockReason":"SAFETY"},"modelVersion":"m"}"#;
    assert_eq!(kinds(data), [finish(FinishKind::Filter, "SAFETY")]);
    let data = r#"{"promptFeedback":{"safetyRatings":[]},"modelVersion":"m"}"#;
    assert_eq!(kinds(data), [(Slot::None, DeltaKind::Meta)]);
}

#[test]
fn an_error_is_read_with_its_status() {
    let error = |code: &str, message: Option<&str>| {
        let error = UpstreamError { code: Some(code.into()), message: message.map(Into::into) };
        (Slot::None, DeltaKind::Error(error))
    };
    let data = r#"{"error":{"code":499,"message":"gone","status":"CANCELLED","details":[{}]}}"#;
    assert_eq!(kinds(data), [error("CANCELLED", Some("gone"))]);
    assert_eq!(kinds(r#"{"error":{"code":499}}"#), [error("499", None)]);
}

/// Rule 9.
#[test]
fn what_is_not_of_the_format_is_opaque() {
    assert_eq!(kinds(r#"{"type":"ping","x":1}"#), [opaque("ping", Runs::Unknown, 21)]);
    assert_eq!(kinds(r#"{"x":1}"#), [opaque("unknown", Runs::Unknown, 7)]);
    assert_eq!(kinds("[1]"), [opaque("unknown", Runs::Unknown, 3)]);
    assert_eq!(kinds("[DONE]"), [(Slot::None, DeltaKind::Terminal)]);
}

/// Rule 9.
#[test]
fn broken_frames_are_errors_that_quote_nothing() {
    assert_eq!(
        failure(r#"{"candidates":[{"content":{"parts":[{"text":"a","text":"b"}]}}]}"#),
        "expected a GenerateContentResponse, found duplicate field `text` at line 1 column 54"
    );
    assert_eq!(
        failure(r#"{"candidates":[{"index":0,"index":0}]}"#),
        "expected a GenerateContentResponse, found duplicate field `index` at line 1 column 33"
    );
    assert_eq!(
        failure(r#"{"candidates":[{"content":{"parts":"secret"}}]}"#),
        "expected a list as `parts`, found a string"
    );
    assert_eq!(
        failure(r#"{"candidates":[{"content":{"parts":[{"text":"a""#),
        "expected a GenerateContentResponse, found EOF while parsing an object at line 1 column 47"
    );
}

#[test]
fn id_and_model_are_told_once() {
    let data = r#"{"candidates":[],"modelVersion":"m","responseId":"r"}"#;
    let mut decoded = Decoded::new();
    Gemini.decode(&frame(&event(data)), &mut decoded).unwrap();
    assert_eq!((decoded.id.as_deref(), decoded.model.as_deref()), (Some("r"), Some("m")));
    let mut decoded = Decoded::default();
    Gemini.decode(&frame(&event(data)), &mut decoded).unwrap();
    assert_eq!((decoded.id, decoded.model), (None, None));
}

#[test]
fn only_responses_are_sniffed() {
    let sniff = |data: &str| Gemini.sniff(&frame(&event(data)));
    assert!(sniff(r#"{"candidates":[]}"#));
    assert!(sniff(r#"{"promptFeedback":{}}"#));
    assert!(sniff(r#"{"usageMetadata":{},"modelVersion":"m"}"#));
    assert!(!sniff(r#"{"usageMetadata":{}}"#));
    assert!(!sniff(r#"{"choices":[{"delta":{"content":"\"candidates\""}}]}"#));
    assert!(!sniff(r#"{"error":{"code":500}}"#));
    assert!(!sniff("[DONE]"));
    assert!(Gemini.sniff_whole(b" [ {\"candidates\":[]} ]"));
    assert!(Gemini.sniff_whole(b"{\"candidates\":[]}"));
    assert!(!Gemini.sniff_whole(b"[{\"error\":{}}]"));
}

/// Rule 24.
#[test]
fn a_whole_array_reads_like_its_events() {
    let body = r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},
{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}],"usageMetadata":{}}]"#;
    let mut decoded = Decoded::new();
    Gemini.decode_whole(body.as_bytes(), &mut decoded).unwrap();
    let said: Vec<_> = decoded
        .deltas
        .into_iter()
        .map(|delta| (delta.site.element.slice(body), (delta.slot, delta.kind)))
        .collect();
    assert_eq!(
        said,
        [
            (r#"{"text":"a"}"#, text(Channel::Content, "a")),
            (r#"{"text":"b"}"#, text(Channel::Content, "b")),
            (r#""STOP""#, finish(FinishKind::Stop, "STOP")),
            ("{}", (Slot::None, DeltaKind::Usage(Usage::default()))),
            ("", (Slot::None, DeltaKind::Terminal)),
        ]
    );
}
