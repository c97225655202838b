use super::*;
use crate::Fragments;
use crate::conformance::check;

/// Texts, thoughts, refusals and two calls, in every format.
fn scripts() -> Vec<ChunkLog> {
    let script = crate::Script::new()
        .reasoning("First I look, then I leap: größe 🦀.")
        .text("Let me look at \"both\"\nfiles.")
        .call("call_1", "read_file", r#"{"path":"größe.txt"}"#)
        .call("call_2", "read_file", r#"{"path":"b.txt","deep":[1,2,3]}"#)
        .usage(12, 7);
    WireKind::ALL.map(|kind| script.to_log(kind)).into()
}

fn format(log: &ChunkLog) -> WireKind {
    log.kind().unwrap()
}

fn log(events: &[&str]) -> ChunkLog {
    let body: String = events.iter().map(|data| format!("data: {data}\n\n")).collect();
    ChunkLog::parse("a.sse", body.as_bytes()).unwrap()
}

/// The data of every event.
fn data(log: &ChunkLog) -> Vec<String> {
    frames(log.bytes()).map(|frame| String::from_utf8(frame.data().unwrap().to_vec()).unwrap()).collect()
}

#[test]
fn split_streams_conform_and_say_the_same() {
    for log in scripts() {
        let said = check(format(&log), log.bytes());
        assert_eq!(said.to_string(), "");
        for seed in 0..20 {
            let split = split(&log, seed);
            assert!(frames(split.bytes()).count() > frames(log.bytes()).count());
            assert_eq!(check(format(&log), split.bytes()), said, "{} {seed}", log.name());
        }
    }
}

#[test]
fn what_was_split_is_merged_again() {
    for log in scripts() {
        let said = check(format(&log), log.bytes());
        let merged = merge(&split(&log, 3));
        assert_eq!(check(format(&log), merged.bytes()), said, "{}", log.name());
        // A call that the first piece of its arguments opened keeps two pieces.
        let calls = if log.kind() == Some(WireKind::OpenAiChat) { 2 } else { 0 };
        assert!(frames(merged.bytes()).count() <= frames(log.bytes()).count() + calls, "{}", log.name());
    }
}

#[test]
fn streams_of_one_character_deltas_merge_into_few() {
    let script = crate::Script::new().text("Hello there.").text_fragments(Fragments::Chars(1));
    for kind in WireKind::ALL {
        let (log, whole) = (script.to_log(kind), crate::Script::new().text("Hello there.").to_log(kind));
        assert_eq!(merge(&log).bytes(), whole.bytes(), "{kind}");
    }
}

#[test]
fn a_later_piece_of_a_call_repeats_neither_id_nor_name_nor_role() {
    let call = r#"{"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"index":2,"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":null}]}"#;
    let split = (0..).map(|seed| data(&split(&log(&[call]), seed))).find(|split| split.len() == 2).unwrap();
    assert_eq!(
        split,
        [
            call.replace("{}", "{"),
            r#"{"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"function":{"arguments":"}"}}]},"finish_reason":null}]}"#.to_owned(),
        ]
    );
}

#[test]
fn events_of_responses_are_numbered_anew() {
    let events = [
        r#"{"type":"response.in_progress","sequence_number":7,"response":{"sequence_number":3}}"#,
        r#"{"type":"response.output_text.delta","sequence_number":8,"output_index":0,"delta":"a","logprobs":[]}"#,
        r#"{"type":"response.output_text.delta","sequence_number":9,"output_index":0,"delta":"b","logprobs":[]}"#,
        r#"{"type":"response.output_text.delta","sequence_number":10,"output_index":1,"delta":"c","logprobs":[]}"#,
        r#"{"type":"response.output_text.done","sequence_number":11,"output_index":1,"text":"c"}"#,
    ];
    assert_eq!(
        data(&merge(&log(&events))),
        [
            events[0],
            r#"{"type":"response.output_text.delta","sequence_number":8,"output_index":0,"delta":"ab","logprobs":[]}"#,
            r#"{"type":"response.output_text.delta","sequence_number":9,"output_index":1,"delta":"c","logprobs":[]}"#,
            r#"{"type":"response.output_text.done","sequence_number":10,"output_index":1,"text":"c"}"#,
        ]
    );
}

#[test]
fn what_shares_its_event_or_is_not_known_stays_as_it_is() {
    for event in [
        // Chat: a finish reason, usage, log probabilities, two choices, twin reasoning fields, two calls, a call
        // without index, a field that is not known, an empty text, half a surrogate pair, a list of parts.
        r#"{"choices":[{"index":0,"delta":{"content":"long text"},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"long text"}}],"usage":{"total_tokens":3}}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"long text"},"logprobs":{"content":[]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"long text"}},{"index":1,"delta":{"content":"long text"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"reasoning":"long text","reasoning_content":"long text"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1234567"}},{"index":1,"function":{"arguments":"1234567"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"1234567"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"long text"},"message":{"content":"long text"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":""}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"\ud83d long text"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"long text"}]}}]}"#,
        // Responses: log probabilities, a copy.
        r#"{"type":"response.output_text.delta","delta":"long text","logprobs":[{"token":"long"}]}"#,
        r#"{"type":"response.output_text.done","text":"long text"}"#,
        // Anthropic: a signature, a citation, a field that is not known.
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"long text"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"long text","citations":[]}}"#,
        r#"{"type":"content_block_delta","index":0,"usage":{},"delta":{"type":"text_delta","text":"long text"}}"#,
        // Gemini: a signature, a finish reason, two parts, a call.
        r#"{"candidates":[{"content":{"parts":[{"text":"long text","thoughtSignature":"c2ln"}],"role":"model"}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"long text"}]},"finishReason":"STOP"}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"long text"},{"text":"long text"}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":"long text"}}}]}}]}"#,
    ] {
        let twice = log(&[event, event]);
        assert!(twice.kind().is_some(), "{event}");
        for seed in 0..5 {
            assert_eq!(data(&split(&twice, seed)), [event, event]);
        }
        assert_eq!(data(&merge(&twice)), [event, event]);
    }
}

#[test]
fn an_event_with_more_than_a_name_and_one_line_of_data_stays_as_it_is() {
    let text = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"long text"}}"#;
    let (head, tail) = text.split_at(40);
    for body in [
        format!(": hello\ndata: {text}\n\n"),
        format!("id: 7\ndata: {text}\n\n"),
        format!("data: {head}\ndata: {tail}\n\n"),
        format!("\u{feff}data: {text}\n\n"),
        format!("data: {text}"),
    ] {
        let log = ChunkLog::parse("a.sse", body.as_bytes()).unwrap();
        assert_eq!(split(&log, 1).bytes(), log.bytes(), "{body:?}");
    }
    let named = format!("event: content_block_delta\r\ndata:{text}\r\n\r\n");
    let log = ChunkLog::parse("a.sse", named.as_bytes()).unwrap();
    for frame in frames(split(&log, 1).bytes()) {
        assert_eq!(frame.event(), Some("content_block_delta"));
        assert!(frame.raw().ends_with(b"\r\n\r\n"));
    }
}

#[test]
fn a_piece_comes_when_its_event_came_and_merged_ones_when_the_last_did() {
    let text = |text| {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
        )
    };
    let times = |log: &ChunkLog| log.chunks().map(|(at, _)| at.as_millis()).collect::<Vec<_>>();
    let chunks = [(5, text("ab")), (9, text("c"))];
    let log =
        ChunkLog::from_chunks("log", chunks.map(|(at, text)| (Duration::from_millis(at), Bytes::from(text))));
    let split = (0..).map(|seed| split(&log, seed)).find(|split| split.chunks().count() == 3).unwrap();
    assert_eq!(times(&split), [5, 5, 9]);
    assert_eq!(times(&merge(&log)), [9]);
}
