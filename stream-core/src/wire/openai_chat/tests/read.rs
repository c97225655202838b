use super::super::grammar::Field;
use super::*;
use crate::delta::{CallFlavor, Restated, Runs, UpstreamError, Usage};

fn kinds(sse: &str) -> Vec<(Option<u32>, Slot, DeltaKind)> {
    decode(sse).into_iter().map(|delta| (delta.choice, delta.slot, delta.kind)).collect()
}

fn data(json: &str) -> String {
    format!("data: {json}\n\n")
}

fn text(channel: Channel, text: &str) -> (Option<u32>, Slot, DeltaKind) {
    (Some(0), Slot::Run, DeltaKind::Text { channel, text: text.into() })
}

fn of_choice(kind: DeltaKind) -> (Option<u32>, Slot, DeltaKind) {
    (Some(0), Slot::None, kind)
}

fn of_stream(kind: DeltaKind) -> (Option<u32>, Slot, DeltaKind) {
    (None, Slot::None, kind)
}

fn opaque(kind: &str, runs: Runs, bytes: usize) -> DeltaKind {
    DeltaKind::Opaque { kind: kind.into(), runs, bytes }
}

fn call(index: Option<u64>, call: CallDelta) -> (Option<u32>, Slot, DeltaKind) {
    (Some(0), Slot::Call { index }, DeltaKind::Call(call))
}

fn finished(kind: FinishKind, word: &str) -> (Option<u32>, Slot, DeltaKind) {
    of_choice(DeltaKind::Finish(FinishReason::new(kind, word)))
}

fn error_of(sse: &str) -> String {
    OpenAiChat.decode(&frame(sse), &mut Decoded::new()).unwrap_err().to_string()
}

#[test]
fn a_delta_is_read_in_the_order_reasoning_content_refusal_calls() {
    let sse = chunk(
        r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}],"refusal":"r","content":"c","reasoning":"t"},"finish_reason":"tool_calls"}"#,
    );
    let opening = CallDelta {
        id: Some("a".into()),
        name: Some("f".into()),
        arguments: Some("{}".into()),
        ..CallDelta::default()
    };
    assert_eq!(
        kinds(&sse),
        [
            text(Channel::Reasoning, "t"),
            text(Channel::Content, "c"),
            text(Channel::Refusal, "r"),
            call(Some(0), opening),
            finished(FinishKind::ToolCalls, "tool_calls"),
        ]
    );
}

#[test]
fn empty_fragments_are_no_deltas() {
    let role = kinds(&delta(r#"{"role":"assistant","content":"","refusal":null,"tool_calls":null}"#));
    assert_eq!(role, [of_choice(DeltaKind::Role)]);
    let empty = kinds(&delta(
        r#"{"content":"","tool_calls":[{"index":0,"id":"","function":{"name":null,"arguments":""}}]}"#,
    ));
    assert_eq!(empty, [of_choice(DeltaKind::Meta)]);
}

#[test]
fn every_choice_is_read_under_its_own_number() {
    let sse =
        chunk(r#"{"index":1,"delta":{"content":"b"}},{"delta":{"content":"a"},"finish_reason":"stop"}"#);
    let deltas = decode(&sse);
    let of: Vec<_> = deltas.iter().map(|delta| (delta.choice, delta.site.position)).collect();
    assert_eq!(of, [(Some(1), 0), (Some(0), 1), (Some(0), 1)]);
}

#[test]
fn ids_that_say_nothing_are_none_and_odd_arguments_are_raw_json() {
    let sse = delta(
        r#"{"tool_calls":[{"index":null,"id":"null","function":{"name":"","arguments":{"a": 1}}},{"id":7,"function":{"name":"f","arguments":null}}]}"#,
    );
    let first = CallDelta { arguments: Some(r#"{"a": 1}"#.into()), ..CallDelta::default() };
    let second = CallDelta { id: Some("7".into()), name: Some("f".into()), ..CallDelta::default() };
    assert_eq!(kinds(&sse), [call(None, first), call(None, second)]);
    let elements: Vec<_> = decode(&sse).iter().map(|delta| delta.site.element.slice(&sse[6..])).collect();
    let first = r#"{"index":null,"id":"null","function":{"name":"","arguments":{"a": 1}}}"#;
    assert_eq!(elements, [first, r#"{"id":7,"function":{"name":"f","arguments":null}}"#]);
}

#[test]
fn legacy_and_custom_calls_have_their_flavors() {
    let legacy = CallDelta {
        name: Some("f".into()),
        arguments: Some("{".into()),
        flavor: CallFlavor::LegacyFunction,
        ..CallDelta::default()
    };
    assert_eq!(kinds(&delta(r#"{"function_call":{"name":"f","arguments":"{"}}"#)), [call(None, legacy)]);
    let custom = CallDelta {
        id: Some("a".into()),
        name: Some("sh".into()),
        arguments: Some("ls".into()),
        flavor: CallFlavor::Custom,
        ..CallDelta::default()
    };
    let sse =
        delta(r#"{"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"sh","input":"ls"}}]}"#);
    assert_eq!(kinds(&sse), [call(Some(0), custom)]);
    let foreign = r#"{"index":0,"type":"robot","robot":{"do":"x"}}"#;
    assert_eq!(
        kinds(&delta(&format!(r#"{{"tool_calls":[{foreign}]}}"#))),
        [of_choice(opaque("tool_call", Runs::Unknown, foreign.len()))]
    );
}

#[test]
fn reasoning_is_read_from_one_of_its_fields() {
    let twins = delta(
        r#"{"reasoning_content":"t","reasoning":"t","reasoning_details":[{"type":"reasoning.text","text":"t"}]}"#,
    );
    assert_eq!(kinds(&twins), [text(Channel::Reasoning, "t")]);
    let empty_first = delta(r#"{"reasoning_content":"","reasoning":"t"}"#);
    assert_eq!(kinds(&empty_first), [text(Channel::Reasoning, "t")]);
    let details = delta(
        r#"{"reasoning_details":[{"type":"reasoning.text","text":"t"},{"type":"reasoning.summary","summary":"s"}]}"#,
    );
    assert_eq!(kinds(&details), [text(Channel::Reasoning, "t"), text(Channel::Reasoning, "s")]);
}

#[test]
fn a_twin_that_differs_does_not_leave_unseen() {
    assert_eq!(
        kinds(&delta(r#"{"reasoning_content":"t","reasoning":"u"}"#)),
        [text(Channel::Reasoning, "t"), text(Channel::Reasoning, "u")]
    );
}

#[test]
fn encrypted_reasoning_is_a_signature_and_alone_metadata() {
    let alone = delta(r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}"#);
    assert_eq!(kinds(&alone), [of_choice(DeltaKind::Meta)]);
    let beside = delta(
        r#"{"reasoning":"t","reasoning_details":[{"type":"reasoning.text","text":"t","signature":"x"}]}"#,
    );
    assert_eq!(kinds(&beside), [text(Channel::Reasoning, "t"), (Some(0), Slot::Run, DeltaKind::Signature)]);
}

#[test]
fn content_lists_hold_text_thinking_and_the_unknown() {
    let unknown = r#"{"type":"reference","reference_ids":[1]}"#;
    let sse = delta(&format!(
        r#"{{"content":[{{"type":"thinking","thinking":[{{"type":"text","text":"a"}},{{"type":"text","text":"b"}}]}},{{"type":"text","text":"c"}},{unknown}]}}"#
    ));
    assert_eq!(
        kinds(&sse),
        [
            text(Channel::Reasoning, "ab"),
            text(Channel::Content, "c"),
            of_choice(opaque("reference", Runs::Unknown, unknown.len())),
        ]
    );
}

#[test]
fn a_transcript_is_content_with_a_place_of_its_own_and_sound_is_opaque() {
    let deltas = decode(&delta(r#"{"audio":{"id":"a","transcript":"Hi","data":"AAAA"}}"#));
    assert_eq!(deltas[0].kind, DeltaKind::Text { channel: Channel::Content, text: "Hi".into() });
    assert_eq!(deltas[1].kind, opaque("audio", Runs::Server, 6));
    assert_eq!(deltas[0].slot, Slot::Speech);
    assert_eq!(decode(&delta(r#"{"content":"Hi"}"#))[0].slot, Slot::Run);
}

#[test]
fn finish_words_are_typed() {
    for (word, kind) in [
        ("stop", FinishKind::Stop),
        ("eos", FinishKind::Stop),
        ("function_call", FinishKind::ToolCalls),
        ("max_tokens", FinishKind::Length),
        ("content_filter", FinishKind::Filter),
        ("error", FinishKind::Error),
        ("tired", FinishKind::Other),
    ] {
        assert_eq!(kinds(&finish(word)), [finished(kind, word)]);
    }
    assert_eq!(kinds(&finish("")), [of_choice(DeltaKind::Meta)]);
}

#[test]
fn usage_is_found_in_each_of_its_places() {
    let counts = Usage { input: Some(1), output: Some(2), total: Some(3) };
    let usage = r#"{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}"#;
    for sse in [
        format!(r#"{{"choices":[],"usage":{usage}}}"#),
        format!(r#"{{"choices":[{{"index":0,"delta":{{}},"usage":{usage}}}]}}"#),
        format!(r#"{{"choices":[],"x_groq":{{"id":"r","usage":{usage}}}}}"#),
    ] {
        assert_eq!(kinds(&data(&sse)), [of_stream(DeltaKind::Usage(counts))]);
    }
}

#[test]
fn errors_are_read_with_what_was_generated_before_them() {
    let upstream = |code: Option<&str>, message: &str| {
        of_stream(DeltaKind::Error(UpstreamError {
            code: code.map(Into::into),
            message: Some(message.into()),
        }))
    };
    let refused = data(r#"{"error":{"message":"m","code":"tool_use_failed","failed_generation":"{}"}}"#);
    assert_eq!(
        kinds(&refused),
        [of_choice(opaque("failed_generation", Runs::Unknown, 4)), upstream(Some("tool_use_failed"), "m")]
    );
    assert_eq!(kinds(&data(r#"{"error":{"code":500,"message":"m"}}"#)), [upstream(Some("500"), "m")]);
    assert_eq!(kinds(&data(r#"{"error":"m"}"#)), [upstream(None, "m")]);
    assert_eq!(kinds("event: error\ndata: {\"message\":\"m\"}\n\n"), [upstream(None, "m")]);
    let beside = data(
        r#"{"error":{"code":null,"message":"m"},"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
    );
    assert_eq!(kinds(&beside), [of_choice(DeltaKind::Role), upstream(None, "m")]);
}

#[test]
fn a_message_beside_the_delta_is_a_copy_of_the_text_so_far() {
    let sse =
        |message: &str| chunk(&format!(r#"{{"index":0,"delta":{{"content":"b"}},"message":{message}}}"#));
    let content = text(Channel::Content, "b");
    let copy = of_choice(DeltaKind::Copy(Restated::body("ab")));
    assert_eq!(kinds(&sse(r#"{"role":"assistant","content":"ab"}"#)), [content.clone(), copy]);
    // Some servers repeat only the delta.
    assert_eq!(kinds(&sse(r#"{"role":"assistant","content":"b"}"#)), std::slice::from_ref(&content));
    assert_eq!(
        kinds(&sse(r#"{"content":"","graph_data":{"sources":null}}"#)),
        std::slice::from_ref(&content)
    );
    let more = r#"{"content":"b","tool_calls":[{"id":"x"}]}"#;
    let opaque = of_choice(opaque("message", Runs::Unknown, more.len()));
    assert_eq!(kinds(&sse(more)), [content, opaque]);
}

#[test]
fn a_message_that_repeats_the_calls_beside_it_is_no_news() {
    let calls = r#"[{"index":0,"id":"a","function":{"name":"f","arguments":null}}]"#;
    let sse = chunk(&format!(
        r#"{{"index":0,"delta":{{"tool_calls":{calls}}},"message":{{"content":null,"tool_calls":{calls}}}}}"#
    ));
    let opening = CallDelta { id: Some("a".into()), name: Some("f".into()), ..CallDelta::default() };
    assert_eq!(kinds(&sse), [call(Some(0), opening)]);
}

#[test]
fn logprobs_without_a_delta_wait_for_the_next() {
    let ahead = (Some(0), Slot::Run, DeltaKind::Annotation { ahead: true });
    let logprobs = r#"{"content":[{"token":"f"}],"refusal":null}"#;
    let alone = chunk(&format!(r#"{{"index":0,"delta":{{"content":null}},"logprobs":{logprobs}}}"#));
    assert_eq!(kinds(&alone), [ahead]);
    let beside = chunk(&format!(r#"{{"index":0,"delta":{{"content":"f"}},"logprobs":{logprobs}}}"#));
    assert_eq!(kinds(&beside), [text(Channel::Content, "f")]);
    let empty = chunk(r#"{"index":0,"delta":{},"logprobs":{"content":[],"refusal":null}}"#);
    assert_eq!(kinds(&empty), [of_choice(DeltaKind::Meta)]);
}

#[test]
fn unknown_fields_of_a_delta_annotate_when_they_say_something() {
    let note = (Some(0), Slot::Run, DeltaKind::Annotation { ahead: false });
    let executed = delta(r#"{"content":"a","executed_tools":[{"name":"python"}]}"#);
    assert_eq!(kinds(&executed), [text(Channel::Content, "a"), note]);
    let void = delta(
        r#"{"content":"a","channel":"final","token_id":3,"annotations":[],"graph_data":{"sources":null}}"#,
    );
    assert_eq!(kinds(&void), [text(Channel::Content, "a")]);
}

#[test]
fn frames_without_payload_are_metadata_and_foreign_ones_opaque() {
    let azure = data(r#"{"choices":[],"id":"","prompt_filter_results":[{"prompt_index":0}]}"#);
    assert_eq!(kinds(&azure), [of_stream(DeltaKind::Meta)]);
    assert_eq!(kinds(&data(r#"{"object":"chat.completion.chunk"}"#)), [of_stream(DeltaKind::Meta)]);
    let foreign = r#"{"type":"response.created"}"#;
    assert_eq!(kinds(&data(foreign)), [of_choice(opaque("response.created", Runs::Unknown, foreign.len()))]);
    assert_eq!(kinds(&data("3")), [of_choice(opaque("unknown", Runs::Unknown, 1))]);
    assert_eq!(kinds(DONE), [of_stream(DeltaKind::Terminal)]);
}

#[test]
fn malformed_frames_are_errors_that_say_what_was_expected() {
    assert_eq!(
        error_of("data: {\"choices\":[\n\n"),
        "expected a chat completion chunk, found EOF while parsing a list at line 1 column 12"
    );
    assert_eq!(
        error_of(&data(r#"{"choices":[{"delta":{"content":"a","content":"b"}}]}"#)),
        "expected a chat completion chunk, found duplicate field `content` at line 1 column 45"
    );
    assert_eq!(
        error_of(&data(r#"{"choices":[{"delta":{"tool_calls":{}}}]}"#)),
        "expected a list as `tool_calls`, found an object"
    );
}

#[test]
fn bytes_that_are_no_utf8_are_an_error() {
    let error = OpenAiChat.decode_whole(b"{\"id\":\"\xff\"}", &mut Decoded::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a chat completion, found invalid utf-8 sequence of 1 bytes from index 7"
    );
}

#[test]
fn id_and_model_are_told_once_they_are_there() {
    let mut decoded = Decoded::new();
    OpenAiChat.decode(&frame(&data(r#"{"choices":[],"id":"","model":""}"#)), &mut decoded).unwrap();
    assert_eq!((decoded.id.as_deref(), decoded.model.as_deref()), (None, None));
    OpenAiChat.decode(&frame(&finish("stop")), &mut decoded).unwrap();
    assert_eq!((decoded.id.as_deref(), decoded.model.as_deref()), (Some("c1"), Some("m")));
}

#[test]
fn frames_and_bodies_of_this_format_are_told_from_others() {
    assert!(OpenAiChat.sniff(&frame(&finish("stop"))));
    assert!(OpenAiChat.sniff(&frame(&data(r#"{"object":"chat.completion.chunk"}"#))));
    for other in [
        r#"{"error":{"message":"m"}}"#,
        "[DONE]",
        r#"{"type":"response.created","response":{"tools":[{"properties":{"choices":[]}}]}}"#,
        r#"{"candidates":[]}"#,
        r#"{"type":"ping"}"#,
    ] {
        assert!(!OpenAiChat.sniff(&frame(&data(other))), "{other}");
    }
    assert!(OpenAiChat.sniff_whole(br#"{"object":"chat.completion","choices":[]}"#));
    assert!(OpenAiChat.sniff_whole(br#"{"choices":[{"message":{"content":"a"}}]}"#));
    assert!(!OpenAiChat.sniff_whole(br#"{"object":"chat.completion.chunk","choices":[{"delta":{}}]}"#));
    assert!(!OpenAiChat.sniff_whole(br#"{"error":{"message":"m"}}"#));
}

#[test]
fn a_whole_response_is_read_as_a_stream_would_be() {
    let body = br#"{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"c","reasoning_content":"t","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"logprobs":{"content":[{"token":"c"}]},"finish_reason":"tool_calls"}],"usage":{"total_tokens":3}}"#;
    let mut decoded = Decoded::new();
    OpenAiChat.decode_whole(body, &mut decoded).unwrap();
    let whole = CallDelta {
        id: Some("a".into()),
        name: Some("f".into()),
        arguments: Some("{}".into()),
        starts: true,
        ..CallDelta::default()
    };
    let kinds: Vec<_> =
        decoded.deltas.into_iter().map(|delta| (delta.choice, delta.slot, delta.kind)).collect();
    assert_eq!(
        kinds,
        [
            text(Channel::Reasoning, "t"),
            text(Channel::Content, "c"),
            call(None, whole),
            finished(FinishKind::ToolCalls, "tool_calls"),
            of_stream(DeltaKind::Usage(Usage { total: Some(3), ..Usage::default() })),
            of_stream(DeltaKind::Terminal),
        ]
    );
}

#[test]
fn a_delta_is_of_the_first_field_that_says_it() {
    for field in Field::ALL {
        assert_eq!(Field::of(&Delta::stream(DeltaKind::Meta).read_in(field.bit())), Some(field));
    }
    let fields = |sse: &str| -> Vec<_> { decode(sse).iter().map(Field::of).collect() };
    let twins = r#"{"reasoning":"t","reasoning_content":"t","reasoning_details":[{"text":"t"},{"text":"","summary":""}]}"#;
    assert_eq!(fields(&delta(twins)), [Some(Field::ReasoningContent)]);
    let own = r#"{"reasoning":"u","reasoning_details":[{"text":"t","summary":"s"}],"audio":{"transcript":"a","data":"QQ=="}}"#;
    let expected =
        [Some(Field::Reasoning), Some(Field::Detail), Some(Field::Summary), None, Some(Field::Audio)];
    assert_eq!(fields(&delta(own)), expected);
}
