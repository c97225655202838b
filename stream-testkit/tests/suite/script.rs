//! Scripts are written in every format as its servers write them; the whole answer is compared.

use std::time::Duration;

use stream_testkit::{Finish, Fragments, Script, WireKind};

/// Thinks, speaks in two fragments, calls with arguments in two fragments.
fn turn() -> Script {
    Script::new()
        .text_fragments(Fragments::Chars(3))
        .argument_fragments(Fragments::Bytes(4))
        .reasoning("Hm.")
        .text("Größe")
        .call("c1", "look", r#"{"a":1}"#)
        .usage(5, 7)
}

/// The stream with its envelope left out, one event per line.
fn events(script: &Script, kind: WireKind) -> String {
    let bytes = script.bytes(kind);
    let text = std::str::from_utf8(&bytes).expect("UTF-8");
    let text = text.replace("\r\n", "\n").replace("\n\n", "\0").replace('\n', " ").replace('\0', "\n");
    text.replace(CHAT, "{").replace(GEMINI, "}").replace("data: ", "")
}

const CHAT: &str =
    r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"scripted","#;
const GEMINI: &str = r#","modelVersion":"scripted","responseId":"resp-1"}"#;
const OPENING: &str =
    r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;

fn whole(script: &Script, kind: WireKind) -> String {
    String::from_utf8(script.whole(kind).to_vec()).expect("UTF-8")
}

#[test]
fn a_chat_turn() {
    let expected = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{"reasoning_content":"Hm."},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{"content":"Grö"},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{"content":"ße"},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"look","arguments":""}}]},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}
[DONE]
"#;
    assert_eq!(events(&turn(), WireKind::OpenAiChat), expected);
}

#[test]
fn bytes_are_framed_as_each_api_does() {
    let script = Script::new().text("a").cut();
    let first = |kind| String::from_utf8(script.bytes(kind).to_vec()).expect("UTF-8");
    assert_eq!(
        first(WireKind::OpenAiChat),
        format!(
            "data: {CHAT}{}\n\ndata: {CHAT}{}\n\n",
            r#""choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
            r#""choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}"#
        )
    );
    assert!(
        first(WireKind::AnthropicMessages)
            .starts_with("event: message_start\ndata: {\"type\":\"message_start\",")
    );
    assert!(
        first(WireKind::OpenAiResponses)
            .starts_with("event: response.created\ndata: {\"type\":\"response.created\",")
    );
    assert_eq!(
        first(WireKind::Gemini),
        format!(
            "data: {}{GEMINI}\r\n\r\n",
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}],"role":"model"},"index":0}]"#
        )
    );
}

#[test]
fn an_anthropic_turn() {
    let expected = r#"event: message_start {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"scripted","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":0}}}
event: content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
event: content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}
event: content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmF0dXJl"}}
event: content_block_stop {"type":"content_block_stop","index":0}
event: content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}
event: content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grö"}}
event: content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ße"}}
event: content_block_stop {"type":"content_block_stop","index":1}
event: content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c1","name":"look","input":{}}}
event: content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}
event: content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}
event: content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":":1}"}}
event: content_block_stop {"type":"content_block_stop","index":2}
event: message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":7}}
event: message_stop {"type":"message_stop"}
"#;
    assert_eq!(events(&turn(), WireKind::AnthropicMessages), expected);
}

const OUTPUT: &str = r#"{"id":"rs_0","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}]},{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Größe"}],"role":"assistant"},{"id":"fc_2","type":"function_call","status":"completed","arguments":"{\"a\":1}","call_id":"c1","name":"look"}"#;

fn response(status: &str, output: &str, usage: &str) -> String {
    let head = r#"{"id":"resp_1","object":"response","created_at":1700000000,"status":"#;
    let middle = r#","error":null,"incomplete_details":null,"model":"scripted","output":"#;
    format!("{head}\"{status}\"{middle}[{output}],\"usage\":{usage}}}")
}

#[test]
fn a_responses_turn_says_everything_again() {
    let opening = response("in_progress", "", "null");
    let closing = response("completed", OUTPUT, r#"{"input_tokens":5,"output_tokens":7,"total_tokens":12}"#);
    let expected = format!(
        r#"event: response.created {{"type":"response.created","sequence_number":0,"response":{opening}}}
event: response.in_progress {{"type":"response.in_progress","sequence_number":1,"response":{opening}}}
event: response.output_item.added {{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{{"id":"rs_0","type":"reasoning","summary":[]}}}}
event: response.reasoning_summary_part.added {{"type":"response.reasoning_summary_part.added","sequence_number":3,"item_id":"rs_0","output_index":0,"summary_index":0,"part":{{"type":"summary_text","text":""}}}}
event: response.reasoning_summary_text.delta {{"type":"response.reasoning_summary_text.delta","sequence_number":4,"item_id":"rs_0","output_index":0,"summary_index":0,"delta":"Hm."}}
event: response.reasoning_summary_text.done {{"type":"response.reasoning_summary_text.done","sequence_number":5,"item_id":"rs_0","output_index":0,"summary_index":0,"text":"Hm."}}
event: response.reasoning_summary_part.done {{"type":"response.reasoning_summary_part.done","sequence_number":6,"item_id":"rs_0","output_index":0,"summary_index":0,"part":{{"type":"summary_text","text":"Hm."}}}}
event: response.output_item.done {{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{{"id":"rs_0","type":"reasoning","summary":[{{"type":"summary_text","text":"Hm."}}]}}}}
event: response.output_item.added {{"type":"response.output_item.added","sequence_number":8,"output_index":1,"item":{{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}}}
event: response.content_part.added {{"type":"response.content_part.added","sequence_number":9,"item_id":"msg_1","output_index":1,"content_index":0,"part":{{"type":"output_text","annotations":[],"logprobs":[],"text":""}}}}
event: response.output_text.delta {{"type":"response.output_text.delta","sequence_number":10,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"Grö","logprobs":[]}}
event: response.output_text.delta {{"type":"response.output_text.delta","sequence_number":11,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"ße","logprobs":[]}}
event: response.output_text.done {{"type":"response.output_text.done","sequence_number":12,"item_id":"msg_1","output_index":1,"content_index":0,"text":"Größe","logprobs":[]}}
event: response.content_part.done {{"type":"response.content_part.done","sequence_number":13,"item_id":"msg_1","output_index":1,"content_index":0,"part":{{"type":"output_text","annotations":[],"logprobs":[],"text":"Größe"}}}}
event: response.output_item.done {{"type":"response.output_item.done","sequence_number":14,"output_index":1,"item":{{"id":"msg_1","type":"message","status":"completed","content":[{{"type":"output_text","annotations":[],"logprobs":[],"text":"Größe"}}],"role":"assistant"}}}}
event: response.output_item.added {{"type":"response.output_item.added","sequence_number":15,"output_index":2,"item":{{"id":"fc_2","type":"function_call","status":"in_progress","arguments":"","call_id":"c1","name":"look"}}}}
event: response.function_call_arguments.delta {{"type":"response.function_call_arguments.delta","sequence_number":16,"item_id":"fc_2","output_index":2,"delta":"{{\"a\""}}
event: response.function_call_arguments.delta {{"type":"response.function_call_arguments.delta","sequence_number":17,"item_id":"fc_2","output_index":2,"delta":":1}}"}}
event: response.function_call_arguments.done {{"type":"response.function_call_arguments.done","sequence_number":18,"item_id":"fc_2","output_index":2,"arguments":"{{\"a\":1}}"}}
event: response.output_item.done {{"type":"response.output_item.done","sequence_number":19,"output_index":2,"item":{{"id":"fc_2","type":"function_call","status":"completed","arguments":"{{\"a\":1}}","call_id":"c1","name":"look"}}}}
event: response.completed {{"type":"response.completed","sequence_number":20,"response":{closing}}}
"#
    );
    assert_eq!(events(&turn(), WireKind::OpenAiResponses), expected);
}

#[test]
fn a_gemini_turn() {
    let expected = r#"{"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true}],"role":"model"},"index":0}]}
{"candidates":[{"content":{"parts":[{"text":"Grö"}],"role":"model"},"index":0}]}
{"candidates":[{"content":{"parts":[{"text":"ße"}],"role":"model"},"index":0}]}
{"candidates":[{"content":{"parts":[{"functionCall":{"id":"c1","name":"look","args":{"a":1}}}],"role":"model"},"index":0}]}
{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7,"totalTokenCount":12}}
"#;
    assert_eq!(events(&turn(), WireKind::Gemini), expected);
}

#[test]
fn whole_responses() {
    assert_eq!(
        whole(&turn(), WireKind::OpenAiChat),
        r#"{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"scripted","choices":[{"index":0,"message":{"role":"assistant","content":"Größe","reasoning_content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"a\":1}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}"#
    );
    assert_eq!(
        whole(&turn(), WireKind::OpenAiResponses),
        response("completed", OUTPUT, r#"{"input_tokens":5,"output_tokens":7,"total_tokens":12}"#)
    );
    assert_eq!(
        whole(&turn(), WireKind::AnthropicMessages),
        r#"{"id":"msg_1","type":"message","role":"assistant","model":"scripted","content":[{"type":"thinking","thinking":"Hm.","signature":"c2lnbmF0dXJl"},{"type":"text","text":"Größe"},{"type":"tool_use","id":"c1","name":"look","input":{"a":1}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":7}}"#
    );
    assert_eq!(
        whole(&turn(), WireKind::Gemini),
        r#"{"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true},{"text":"Größe"},{"functionCall":{"id":"c1","name":"look","args":{"a":1}}}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7,"totalTokenCount":12},"modelVersion":"scripted","responseId":"resp-1"}"#
    );
}

#[test]
fn calls_alternate() {
    let script = Script::new()
        .argument_fragments(Fragments::Bytes(1))
        .call("a", "f", "{}")
        .call("b", "g", "{}")
        .interleaved()
        .cut();
    let expected = format!(
        r#"{OPENING}
{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"a","type":"function","function":{{"name":"f","arguments":""}}}}]}},"finish_reason":null}}]}}
{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":1,"id":"b","type":"function","function":{{"name":"g","arguments":""}}}}]}},"finish_reason":null}}]}}
{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{{"}}}}]}},"finish_reason":null}}]}}
{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":1,"function":{{"arguments":"{{"}}}}]}},"finish_reason":null}}]}}
{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"}}"}}}}]}},"finish_reason":null}}]}}
{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":1,"function":{{"arguments":"}}"}}}}]}},"finish_reason":null}}]}}
"#
    );
    assert_eq!(events(&script, WireKind::OpenAiChat), expected);
    let steps = events(&script, WireKind::OpenAiResponses);
    let steps: Vec<_> =
        steps.lines().skip(2).map(|line| field(line, "type") + &field(line, "output_index")).collect();
    assert_eq!(
        steps,
        [
            "\"response.output_item.added\"0",
            "\"response.output_item.added\"1",
            "\"response.function_call_arguments.delta\"0",
            "\"response.function_call_arguments.delta\"1",
            "\"response.function_call_arguments.delta\"0",
            "\"response.function_call_arguments.delta\"1",
            "\"response.function_call_arguments.done\"0",
            "\"response.output_item.done\"0",
        ]
    );
}

/// A field of the event on this line, as JSON.
fn field(line: &str, key: &str) -> String {
    let (_, data) = line.split_once(' ').and_then(|(_, rest)| rest.split_once(' ')).expect("a named event");
    serde_json::from_str::<serde_json::Value>(data).expect("JSON")[key].to_string()
}

#[test]
fn calls_in_one_chunk() {
    let script = Script::new()
        .text("t")
        .call("a", "f", "{}")
        .call("", "g", "")
        .calls_in_one_chunk()
        .finish(Finish::Stop);
    let chat = format!(
        r#"{OPENING}
{{"choices":[{{"index":0,"delta":{{"content":"t"}},"finish_reason":null}}]}}
{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"a","type":"function","function":{{"name":"f","arguments":"{{}}"}}}},{{"index":1,"id":"","type":"function","function":{{"name":"g","arguments":""}}}}]}},"finish_reason":null}}]}}
{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"stop"}}]}}
[DONE]
"#
    );
    assert_eq!(events(&script, WireKind::OpenAiChat), chat);
    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"t"}],"role":"model"},"index":0}]}
{"candidates":[{"content":{"parts":[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}],"role":"model"},"index":0}]}
{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}]}
"#;
    assert_eq!(events(&script, WireKind::Gemini), gemini);
}

#[test]
fn everything_in_one_chunk() {
    let script = Script::new().text("t").call("a", "f", "{}").in_one_chunk();
    let chat = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"t","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}
[DONE]
"#;
    assert_eq!(events(&script, WireKind::OpenAiChat), chat);
    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"t"},{"functionCall":{"id":"a","name":"f","args":{}}}],"role":"model"},"finishReason":"STOP","index":0}]}
"#;
    assert_eq!(events(&script, WireKind::Gemini), gemini);
}

#[test]
fn several_choices() {
    let script = Script::new()
        .text_fragments(Fragments::Chars(1))
        .text("ab")
        .choice(1)
        .text("cd")
        .finish(Finish::Length)
        .interleaved();
    let chat = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}
{"choices":[{"index":1,"delta":{"role":"assistant","content":""},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}
{"choices":[{"index":1,"delta":{"content":"c"},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":null}]}
{"choices":[{"index":1,"delta":{"content":"d"},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
{"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}
[DONE]
"#;
    assert_eq!(events(&script, WireKind::OpenAiChat), chat);
    let gemini = events(&script, WireKind::Gemini);
    assert_eq!(
        gemini.lines().last(),
        Some(
            r#"{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0},{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"MAX_TOKENS","index":1}]}"#
        )
    );
}

#[test]
fn an_error_takes_the_place_of_the_end() {
    let script = Script::new().text("t").error("no");
    let last = |kind| events(&script, kind).lines().last().unwrap_or_default().to_owned();
    assert_eq!(
        last(WireKind::OpenAiChat),
        r#"{"error":{"message":"no","type":"server_error","param":null,"code":null}}"#
    );
    assert_eq!(
        last(WireKind::AnthropicMessages),
        r#"event: error {"type":"error","error":{"type":"api_error","message":"no"}}"#
    );
    assert_eq!(last(WireKind::Gemini), r#"{"error":{"code":500,"message":"no","status":"INTERNAL"}}"#);
    let responses = events(&script, WireKind::OpenAiResponses);
    let tail: Vec<_> = responses.lines().rev().take(2).collect();
    assert_eq!(
        tail[1],
        r#"event: error {"type":"error","sequence_number":8,"code":"server_error","message":"no","param":null}"#
    );
    let failed = response("failed", "", "null")
        .replace(r#""error":null"#, r#""error":{"code":"server_error","message":"no"}"#);
    assert_eq!(
        tail[0],
        format!(
            r#"event: response.failed {{"type":"response.failed","sequence_number":9,"response":{failed}}}"#
        )
    );
}

#[test]
fn a_cut_leaves_the_last_block_open() {
    let script = Script::new().text("t").call("a", "f", "{\"x").cut();
    for (kind, last) in [
        (
            WireKind::AnthropicMessages,
            r#"event: content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x"}}"#,
        ),
        (
            WireKind::OpenAiResponses,
            r#"event: response.function_call_arguments.delta {"type":"response.function_call_arguments.delta","sequence_number":9,"item_id":"fc_1","output_index":1,"delta":"{\"x"}"#,
        ),
        (
            WireKind::OpenAiChat,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x"}}]},"finish_reason":null}]}"#,
        ),
    ] {
        assert_eq!(events(&script, kind).lines().last(), Some(last));
    }
}

#[test]
fn refusals_opaque_items_and_pings() {
    let script = Script::new().opaque("web_search_call", r#"{"status":"completed"}"#).refusal("No.").pings();
    let chat = format!(
        r#"{OPENING}
{{"choices":[{{"index":0,"delta":{{"web_search_call":{{"status":"completed"}}}},"finish_reason":null}}]}}
{{"choices":[{{"index":0,"delta":{{"refusal":"No."}},"finish_reason":null}}]}}
{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"stop"}}]}}
[DONE]
"#
    );
    assert_eq!(events(&script, WireKind::OpenAiChat), chat);
    let output = r#"{"id":"item_0","type":"web_search_call","status":"completed"},{"id":"msg_1","type":"message","status":"completed","content":[{"type":"refusal","refusal":"No."}],"role":"assistant"}"#;
    assert_eq!(whole(&script, WireKind::OpenAiResponses), response("completed", output, "null"));
    let anthropic = events(&script, WireKind::AnthropicMessages);
    let names: Vec<_> = anthropic.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(
        names.join(" "),
        "message_start content_block_start ping content_block_stop content_block_start ping \
         content_block_delta content_block_stop message_delta message_stop"
    );
}

#[test]
fn pauses_become_times() {
    let script = Script::new()
        .pace(Duration::from_millis(1))
        .pause(Duration::from_millis(10))
        .text("a")
        .pause(Duration::from_millis(100));
    let times = |kind| script.to_log(kind).chunks().map(|(at, _)| at.as_millis()).collect::<Vec<_>>();
    assert_eq!(times(WireKind::OpenAiChat), [0, 11, 112, 113]);
    assert_eq!(times(WireKind::Gemini), [10, 111]);
    assert_eq!(times(WireKind::AnthropicMessages), [0, 11, 12, 13, 114, 115]);
    assert_eq!(times(WireKind::OpenAiResponses), [0, 1, 12, 13, 14, 15, 16, 17, 118]);
}

#[test]
fn every_event_and_every_whole_response_is_json() {
    for script in
        [turn(), turn().interleaved(), turn().calls_in_one_chunk(), turn().in_one_chunk(), turn().error("\"")]
    {
        for kind in WireKind::ALL {
            for line in events(&script, kind).lines().filter(|line| *line != "[DONE]") {
                let data = &line[line.find('{').unwrap()..];
                serde_json::from_str::<serde_json::Value>(data).unwrap();
            }
            serde_json::from_slice::<serde_json::Value>(&script.whole(kind)).unwrap();
        }
    }
}
