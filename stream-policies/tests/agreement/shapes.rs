//! Harmless shapes in a few letters each, beside the kit's own logs: what providers add, leave out and repeat.

use std::time::Duration;

use stream_testkit::ChunkLog;

/// Every shape, as a stream.
pub(crate) fn all() -> Vec<ChunkLog> {
    let mut all = Vec::new();
    for (name, top, choice, delta) in CHAT {
        all.push(log(format!("chat, {name}"), &chat(top, choice, delta, "\n")));
    }
    for (name, top, choice, delta) in CHAT.iter().take(6) {
        all.push(log(format!("chat with CRLF, {name}"), &chat(top, choice, delta, "\r\n")));
    }
    for (name, events) in MESSAGES {
        all.push(log(format!("messages, {name}"), &messages(events)));
    }
    for (name, chunks) in GEMINI {
        let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect();
        all.push(log(format!("gemini, {name}"), &body));
    }
    all
}

fn log(name: String, body: &str) -> ChunkLog {
    ChunkLog::from_chunks(name, [(Duration::ZERO, body.to_owned().into())])
}

/// A chat answer with a text and a call, each chunk with these members at the top, in the choice and in the delta.
fn chat(top: &str, choice: &str, delta: &str, end: &str) -> String {
    let chunk = |said: &str, finish: &str| {
        let said =
            [said, delta].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(",");
        format!(
            r#"data: {{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m"{top},"choices":[{{"index":0,"delta":{{{said}}}{choice},"finish_reason":{finish}}}]}}{end}{end}"#
        )
    };
    [
        chunk(r#""role":"assistant","content":"""#, "null"),
        chunk(r#""content":"One moment.""#, "null"),
        chunk(r#""tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"look","arguments":""}}]"#, "null"),
        chunk(r#""tool_calls":[{"index":0,"function":{"arguments":"{\"at\":\"sky\"}"}}]"#, "null"),
        chunk("", r#""tool_calls""#),
        format!("data: [DONE]{end}{end}"),
    ]
    .concat()
}

/// Name, members at the top, in the choice, in the delta.
const CHAT: [(&str, &str, &str, &str); 22] = [
    ("nothing more", "", "", ""),
    ("a fingerprint and a tier", r#","system_fingerprint":"fp_1","service_tier":"default""#, "", ""),
    ("null usage", r#","usage":null"#, "", ""),
    (
        "usage on every chunk",
        r#","usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}"#,
        "",
        "",
    ),
    ("padding", r#","obfuscation":"aBc3""#, "", ""),
    ("a provider", r#","provider":"Fireworks""#, "", ""),
    ("groq's request", r#","x_groq":{"id":"req_1"}"#, "", ""),
    ("timings of llama.cpp", r#","timings":{"prompt_n":1,"predicted_ms":2.5}"#, "", ""),
    ("nvidia's extension", r#","nvext":{"worker_id":{"prefill":1}}"#, "", ""),
    ("a cost", r#","cost":0.00012"#, "", ""),
    ("an empty fingerprint", r#","system_fingerprint":"""#, "", ""),
    ("a null fingerprint", r#","system_fingerprint":null"#, "", ""),
    ("null log probabilities", "", r#","logprobs":null"#, ""),
    ("a native reason", "", r#","native_finish_reason":null,"logprobs":null"#, ""),
    ("filter results", "", r#","content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}"#, ""),
    ("a stop reason", "", r#","stop_reason":null"#, ""),
    ("token ids", r#","prompt_token_ids":null"#, r#","token_ids":null"#, ""),
    ("a null refusal", "", "", r#""refusal":null"#),
    ("null reasoning", "", "", r#""reasoning_content":null"#),
    ("null twins of reasoning", "", "", r#""reasoning":null,"reasoning_content":null"#),
    ("a null function call", "", "", r#""function_call":null"#),
    ("a channel", "", "", r#""channel":"final""#),
];

fn messages(events: &[&str]) -> String {
    let all = [START].iter().chain(events).chain(&END);
    let event = |data: &&str| {
        let value: serde_json::Value = serde_json::from_str(data).unwrap();
        format!("event: {}\ndata: {data}\n\n", value["type"].as_str().unwrap())
    };
    all.map(event).collect()
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}"#;
const END: [&str; 2] = [
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}"#,
    r#"{"type":"message_stop"}"#,
];

/// Name and events between the start and the end of a message.
const MESSAGES: [(&str, &[&str]); 8] = [
    ("no block at all", &[]),
    ("a ping alone", &[r#"{"type": "ping"}"#]),
    (
        "an empty text",
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ],
    ),
    (
        "a text at its start",
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ],
    ),
    (
        "null citations",
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":null}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ],
    ),
    (
        "two texts",
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"One."}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Two."}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
        ],
    ),
    (
        "a file of a container",
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"container_upload","file_id":"file_1"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ],
    ),
    (
        "a search for tools",
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[]}}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ],
    ),
];

/// Name and chunks.
const GEMINI: [(&str, &[&str]); 8] = [
    (
        "a text alone",
        &[r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP"}]}"#],
    ),
    (
        "no role",
        &[r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP","index":0}]}"#],
    ),
    (
        "spaces in the JSON",
        &[
            r#"{"candidates": [{"content": {"parts": [{"text": "Hi"}],"role": "model"},"finishReason": "STOP","index": 0}]}"#,
        ],
    ),
    (
        "ratings",
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP","index":0,"safetyRatings":[{"category":"HARM_CATEGORY_HATE_SPEECH","probability":"NEGLIGIBLE"}]}]}"#,
        ],
    ),
    (
        "a mean of log probabilities",
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP","index":0,"avgLogprobs":-0.02}]}"#,
        ],
    ),
    (
        "a stop on every chunk",
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"One "}],"role":"model"},"finishReason":"STOP","index":0}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"two."}],"role":"model"},"finishReason":"STOP","index":0}]}"#,
        ],
    ),
    (
        "usage alone at the end",
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP","index":0}]}"#,
            r#"{"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}"#,
        ],
    ),
    (
        "a thought with a signature",
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true,"thoughtSignature":"Cq=="}],"role":"model"},"index":0}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP","index":0}]}"#,
        ],
    ),
];
