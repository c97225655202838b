//! Odd frames of which nothing may leave: not one byte of a call that is denied, or of a secret, whoever might read it.
//!
//! Calls in fields that nobody knows are not among them: such fields are plain.

use std::fmt::Write as _;

use stream_core::Verdict;
use stream_policies::{CompletedCall, ToolGate};
use stream_testkit::{Cut, Replay, WireKind};

use crate::attacks::{Row, log};
use crate::kit::redactor;

/// Lets `ls` go, unless its arguments are evil, and nothing else.
fn ls_only() -> ToolGate {
    ToolGate::new(|call: CompletedCall| {
        let is_fine = call.name() == "ls" && !call.arguments().contains("evil");
        async move { Ok(if is_fine { Verdict::Release } else { Verdict::drop("not allowed") }) }
    })
}

fn data(json: &str) -> String {
    format!("data: {json}\n\n")
}

fn event(kind: &str, rest: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n")
}

const CALL: &str =
    r#"{"index":0,"id":"e","type":"function","function":{"name":"rm","arguments":"{\"p\":\"evil\"}"}}"#;

fn chat() -> Vec<Row> {
    let chunk = |choices: &str| {
        data(&format!(
            r#"{{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":{choices}}}"#
        ))
    };
    let choice = |delta: &str| chunk(&format!(r#"[{{"index":0,"delta":{delta},"finish_reason":null}}]"#));
    let end = chunk(r#"[{"index":0,"delta":{},"finish_reason":"tool_calls"}]"#) + "data: [DONE]\n\n";
    let calls = format!(r#"{{"tool_calls":[{CALL}]}}"#);
    let ok = choice(r#"{"role":"assistant","content":"ok"}"#);
    let rows = [
        ("choices as an object", chunk(&format!(r#"{{"0":{{"index":0,"delta":{calls}}}}}"#))),
        ("a delta as a list", choice(&format!("[{calls}]"))),
        ("a choice as a list", chunk(&format!(r#"[[{{"index":0,"delta":{calls}}}]]"#))),
        (
            "calls as a string",
            choice(&format!(r#"{{"tool_calls":{}}}"#, serde_json::Value::from(format!("[{CALL}]")))),
        ),
        (
            "a function as a string",
            choice(
                r#"{"tool_calls":[{"index":0,"id":"e","type":"function","function":"{\"name\":\"rm\",\"arguments\":\"evil\"}"}]}"#,
            ),
        ),
        (
            "a name as a list",
            choice(
                r#"{"tool_calls":[{"index":0,"id":"e","type":"function","function":{"name":["rm"],"arguments":"{}"}}]}"#,
            ),
        ),
        (
            "a name as an object",
            choice(
                r#"{"tool_calls":[{"index":0,"id":"e","type":"function","function":{"name":{"x":"rm"},"arguments":"{}"}}]}"#,
            ),
        ),
        (
            "an id that says it",
            choice(
                r#"{"tool_calls":[{"index":0,"id":"SECRET-1234","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
            ),
        ),
        (
            "an id in pieces",
            choice(
                r#"{"tool_calls":[{"index":0,"id":"SECRET-","type":"function","function":{"name":"ls","arguments":""}}]}"#,
            ) + &choice(r#"{"tool_calls":[{"index":0,"id":"1234","function":{"arguments":"{}"}}]}"#),
        ),
        ("content as an object", choice(r#"{"content":{"text":"SECRET-1234"}}"#)),
        ("content as a list of lists", choice(r#"{"content":[[{"type":"text","text":"SECRET-1234"}]]}"#)),
        ("a text as an object", choice(r#"{"content":[{"type":"text","text":{"value":"SECRET-1234"}}]}"#)),
        ("a refusal as a list", choice(r#"{"refusal":["SECRET-1234"]}"#)),
        ("reasoning as an object", choice(r#"{"reasoning":{"text":"SECRET-1234"}}"#)),
        ("reasoning as a list", choice(r#"{"reasoning_content":[{"text":"SECRET-1234"}]}"#)),
        (
            "an image's address",
            choice(r#"{"images":[{"type":"image_url","image_url":{"url":"https://x/SECRET-1234"}}]}"#),
        ),
        ("audio's transcript", choice(r#"{"audio":{"id":"a","transcript":"SECRET-1234"}}"#)),
        (
            "audio's transcript in pieces",
            choice(r#"{"audio":{"id":"a","transcript":"SECRET-"}}"#)
                + &choice(r#"{"audio":{"transcript":"1234"}}"#),
        ),
        (
            "the end of content in the transcript",
            choice(r#"{"content":"SECRET-","audio":{"transcript":"SECRET-"}}"#)
                + &choice(r#"{"content":"12","audio":{"transcript":"1234"}}"#),
        ),
        (
            "a call beside a finish",
            chunk(&format!(r#"[{{"index":0,"delta":{calls},"finish_reason":"stop"}}]"#)),
        ),
        (
            "a call behind a length",
            chunk(r#"[{"index":0,"delta":{},"finish_reason":"length"}]"#) + &choice(&calls),
        ),
        ("a call under a null index", choice(&calls.replace(r#""index":0"#, r#""index":null"#))),
        (
            "a call of the type custom",
            choice(
                r#"{"tool_calls":[{"index":0,"id":"e","type":"custom","custom":{"name":"rm","input":"evil"}}]}"#,
            ),
        ),
        (
            "a call of a type nobody knows",
            choice(
                r#"{"tool_calls":[{"index":0,"id":"e","type":"shell","shell":{"name":"rm","input":"evil"}}]}"#,
            ),
        ),
        ("calls under another key", choice(&format!(r#"{{"content":"a","toolCalls":[{CALL}]}}"#))),
        ("a legacy call as a list", choice(r#"{"function_call":[{"name":"rm","arguments":"evil"}]}"#)),
        ("a legacy call as a string", choice(r#"{"function_call":"rm"}"#)),
        (
            "a legacy call beside a call",
            choice(&format!(
                r#"{{"function_call":{{"name":"rm","arguments":"{{}}"}},"tool_calls":[{}]}}"#,
                CALL.replace("rm", "ls").replace("evil", "x")
            )),
        ),
    ];
    let rows = rows.into_iter().map(|(what, odd)| (what.to_owned(), format!("{ok}{odd}{end}")));
    rows.collect()
}

fn messages() -> Vec<Row> {
    let start = event(
        "message_start",
        r#","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#,
    );
    let open = |block: &str| event("content_block_start", &format!(r#","index":0,"content_block":{block}"#));
    let more = |delta: &str| event("content_block_delta", &format!(r#","index":0,"delta":{delta}"#));
    let stop = event("content_block_stop", r#","index":0"#);
    let end = event(
        "message_delta",
        r#","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":1}"#,
    ) + &event("message_stop", "");
    let tool = r#"{"type":"tool_use","id":"t1","name":"rm","input":{"p":"evil"}}"#;
    let rows = [
        ("a block as a list", open(&format!("[{tool}]")) + &stop),
        ("a type with a blank", open(&tool.replace("tool_use", "tool_use ")) + &stop),
        ("a type in capitals", open(&tool.replace("tool_use", "TOOL_USE")) + &stop),
        ("a type as a list", open(&tool.replace(r#""tool_use""#, r#"["tool_use"]"#)) + &stop),
        ("no type", open(&tool.replace(r#""type":"tool_use","#, "")) + &stop),
        ("a name as a list", open(&tool.replace(r#""rm""#, r#"["rm"]"#)) + &stop),
        (
            "a call in a result",
            open(&format!(r#"{{"type":"tool_result","tool_use_id":"t","content":[{tool}]}}"#)) + &stop,
        ),
        ("a text as a list", open(r#"{"type":"text","text":["SECRET-1234"]}"#) + &stop),
        (
            "a delta's text as an object",
            open(r#"{"type":"text","text":""}"#)
                + &more(r#"{"type":"text_delta","text":{"value":"SECRET-1234"}}"#)
                + &stop,
        ),
        (
            "a text beside a delta",
            open(r#"{"type":"text","text":""}"#)
                + &event(
                    "content_block_delta",
                    r#","index":0,"text":"SECRET-1234","delta":{"type":"text_delta","text":"a"}"#,
                )
                + &stop,
        ),
        (
            "a completion beside",
            open(r#"{"type":"text","text":""}"#)
                + &event(
                    "content_block_delta",
                    r#","index":0,"completion":"SECRET-1234","delta":{"type":"text_delta","text":"a"}"#,
                )
                + &stop,
        ),
        (
            "a completion",
            event("completion", r#","completion":"SECRET-1234","stop_reason":null,"model":"m""#),
        ),
        (
            "a signature that says it",
            open(r#"{"type":"thinking","thinking":"","signature":""}"#)
                + &more(r#"{"type":"thinking_delta","thinking":"a"}"#)
                + &more(r#"{"type":"signature_delta","signature":"SECRET-1234"}"#)
                + &stop,
        ),
        (
            "a redacted thought that says it",
            open(r#"{"type":"redacted_thinking","data":"SECRET-1234"}"#) + &stop,
        ),
        (
            "a stop with a block",
            open(r#"{"type":"text","text":"a"}"#)
                + &event("content_block_stop", &format!(r#","index":0,"content_block":{tool}"#)),
        ),
        (
            "a stop sequence that says it",
            event(
                "message_delta",
                r#","delta":{"stop_reason":"stop_sequence","stop_sequence":"SECRET-1234"},"usage":{"output_tokens":1}"#,
            ),
        ),
        ("a message in the stop", event("message_stop", &format!(r#","message":{{"content":[{tool}]}}"#))),
        (
            "an end with metrics",
            event("message_stop", r#","amazon-bedrock-invocationMetrics":{"x":"SECRET-1234"}"#),
        ),
        (
            "a container that says it",
            event(
                "message_delta",
                r#","delta":{"stop_reason":null,"container":{"id":"SECRET-1234"}},"usage":{"output_tokens":1}"#,
            ),
        ),
        ("an error that says it", event("error", r#","error":{"type":"api_error","message":"SECRET-1234"}"#)),
        ("a ping that says it", event("ping", r#","x":"SECRET-1234""#)),
        ("a ping with a call", event("ping", &format!(r#","content_block":{tool}"#))),
        ("a vertex event", event("vertex_event", &format!(r#","content":[{tool}]"#))),
    ];
    let rows = rows.into_iter().map(|(what, odd)| (what.to_owned(), format!("{start}{odd}{end}")));
    rows.collect()
}

fn responses() -> Vec<Row> {
    let response = |status: &str, more: &str| {
        format!(
            r#","response":{{"id":"r1","object":"response","created_at":1,"status":"{status}","model":"m",{more}}}"#
        )
    };
    let created = event("response.created", &response("in_progress", r#""output":[]"#));
    let completed = |more: &str| event("response.completed", &response("completed", more));
    let call = r#"{"type":"function_call","id":"f","call_id":"c","name":"rm","arguments":"{\"p\":\"evil\"}","status":"completed"}"#;
    let item = |kind: &str, item: &str| {
        event(&format!("response.output_item.{kind}"), &format!(r#","output_index":0,"item":{item}"#))
    };
    let message = r#"{"type":"message","id":"m","role":"assistant","status":"in_progress","content":[]}"#;
    let rows = [
        ("output as an object", completed(&format!(r#""output":{{"0":{call}}}"#))),
        (
            "output as a string",
            completed(&format!(r#""output":{}"#, serde_json::Value::from(format!("[{call}]")))),
        ),
        ("output in a list", completed(&format!(r#""output":[[{call}]]"#))),
        ("an item as a list", item("added", &format!("[{call}]")) + &completed(r#""output":[]"#)),
        (
            "a call in a message",
            item("done", &format!(r#"{{"type":"message","id":"m","role":"assistant","content":[{call}]}}"#))
                + &completed(r#""output":[]"#),
        ),
        (
            "a call in a summary",
            item("done", &format!(r#"{{"type":"reasoning","id":"m","summary":[{call}]}}"#))
                + &completed(r#""output":[]"#),
        ),
        (
            "a type in capitals",
            item("done", &call.replace("function_call", "FUNCTION_CALL")) + &completed(r#""output":[]"#),
        ),
        (
            "a type as a list",
            item("done", &call.replace(r#""function_call""#, r#"["function_call"]"#))
                + &completed(r#""output":[]"#),
        ),
        (
            "no type",
            item("done", &call.replace(r#""type":"function_call","#, "")) + &completed(r#""output":[]"#),
        ),
        (
            "a code that says it",
            item(
                "added",
                r#"{"type":"code_interpreter_call","id":"x","container_id":"k","code":"","outputs":null,"status":"in_progress"}"#,
            ) + &event(
                "response.code_interpreter_call_code.delta",
                r#","item_id":"x","output_index":0,"delta":"SECRET-""#,
            ) + &event(
                "response.code_interpreter_call_code.delta",
                r#","item_id":"x","output_index":0,"delta":"1234""#,
            ) + &completed(r#""output":[]"#),
        ),
        (
            "a delta as an object",
            item("added", message)
                + &event(
                    "response.output_text.delta",
                    r#","item_id":"m","output_index":0,"content_index":0,"delta":{"text":"SECRET-1234"}"#,
                )
                + &completed(r#""output":[]"#),
        ),
        (
            "a delta as a list",
            item("added", message)
                + &event(
                    "response.output_text.delta",
                    r#","item_id":"m","output_index":0,"content_index":0,"delta":["SECRET-1234"]"#,
                )
                + &completed(r#""output":[]"#),
        ),
        (
            "a snapshot beside a delta",
            item("added", message)
                + &event(
                    "response.output_text.delta",
                    r#","item_id":"m","output_index":0,"content_index":0,"delta":"a","snapshot":"SECRET-1234""#,
                )
                + &completed(r#""output":[]"#),
        ),
        ("all text as a list", completed(r#""output":[],"output_text":["SECRET-1234"]"#)),
        ("a text that says it", completed(r#""output":[],"text":{"x":"SECRET-1234"}"#)),
        (
            "instructions that say it",
            event(
                "response.in_progress",
                &response("in_progress", r#""instructions":"SECRET-1234","output":[]"#),
            ) + &completed(r#""output":[]"#),
        ),
        ("metadata that say it", completed(r#""output":[],"metadata":{"a":"SECRET-1234"}"#)),
        (
            "a reason that says it",
            event(
                "response.incomplete",
                &response("incomplete", r#""incomplete_details":{"reason":"SECRET-1234"},"output":[]"#),
            ),
        ),
        (
            "an error that says it",
            event(
                "response.failed",
                &response("failed", r#""error":{"code":"server_error","message":"SECRET-1234"},"output":[]"#),
            ),
        ),
        (
            "an error event that says it",
            event("error", r#","code":"x","message":"SECRET-1234","param":null"#),
        ),
        (
            "a keep-alive that says it",
            event("keepalive", r#","delta":"SECRET-1234""#) + &completed(r#""output":[]"#),
        ),
        (
            "a keep-alive with a call",
            event("keepalive", &format!(r#","item":{call}"#)) + &completed(r#""output":[]"#),
        ),
    ];
    rows.into_iter().map(|(what, odd)| (what.to_owned(), format!("{created}{odd}"))).collect()
}

fn gemini() -> Vec<Row> {
    let call = r#"{"functionCall":{"name":"rm","args":{"p":"evil"}}}"#;
    let frame = |candidates: &str, more: &str| {
        data(&format!(r#"{{"candidates":{candidates}{more},"modelVersion":"m"}}"#))
    };
    let parts = |parts: &str| {
        frame(&format!(r#"[{{"index":0,"content":{{"role":"model","parts":[{parts}]}}}}]"#), "")
    };
    let ok = parts(r#"{"text":"ok"}"#);
    let end =
        frame(r#"[{"index":0,"content":{"role":"model","parts":[{"text":"."}]},"finishReason":"STOP"}]"#, "");
    let rows = [
        (
            "candidates as an object",
            frame(&format!(r#"{{"0":{{"index":0,"content":{{"role":"model","parts":[{call}]}}}}}}"#), ""),
        ),
        (
            "a candidate as a list",
            frame(&format!(r#"[[{{"index":0,"content":{{"role":"model","parts":[{call}]}}}}]]"#), ""),
        ),
        ("a part as a list", parts(&format!("[{call}]"))),
        ("a part as a string", parts(&serde_json::Value::from(call).to_string())),
        ("a call as a string", parts(r#"{"functionCall":"rm"}"#)),
        ("a name as a list", parts(r#"{"functionCall":{"name":["rm"],"args":{}}}"#)),
        ("no name", parts(r#"{"functionCall":{"args":{"p":"evil"}}}"#)),
        ("args as a string", parts(r#"{"functionCall":{"name":"ls","args":"{\"p\":\"evil\"}"}}"#)),
        ("args as a list", parts(r#"{"functionCall":{"name":"ls","args":["evil"]}}"#)),
        ("a call under another key", parts(&format!(r#"{{"text":"a","call":{call}}}"#))),
        (
            "a thought that is no word",
            parts(r#"{"text":"SECRET-","thought":"true"}"#) + &parts(r#"{"text":"1234","thought":true}"#),
        ),
        (
            "a thought that is a number",
            parts(r#"{"text":"SECRET-","thought":1}"#) + &parts(r#"{"text":"1234"}"#),
        ),
        ("a text as a list", parts(r#"{"text":["SECRET-1234"]}"#)),
        ("a text as an object", parts(r#"{"text":{"value":"SECRET-1234"}}"#)),
        (
            "a name of a file",
            parts(r#"{"fileData":{"fileUri":"https://x/SECRET-1234","mimeType":"text/plain"}}"#),
        ),
        (
            "a name of data",
            parts(r#"{"inlineData":{"data":"aGk=","mimeType":"text/plain","displayName":"SECRET-1234"}}"#),
        ),
        (
            "a reason that says it",
            frame(
                r#"[{"index":0,"content":{"role":"model","parts":[{"text":"a"}]},"finishMessage":"SECRET-1234"}]"#,
                "",
            ),
        ),
        (
            "feedback that says it",
            data(r#"{"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"SECRET-1234"}}"#),
        ),
        (
            "an error beside candidates",
            frame(
                &format!(r#"[{{"index":0,"content":{{"role":"model","parts":[{call}]}}}}]"#),
                r#","error":{"code":500,"message":"x","status":"INTERNAL"}"#,
            ),
        ),
        (
            "an answer in an answer",
            data(&format!(
                r#"{{"response":{{"candidates":[{{"index":0,"content":{{"role":"model","parts":[{call}]}}}}]}}}}"#
            )),
        ),
        ("server content", data(&format!(r#"{{"serverContent":{{"modelTurn":{{"parts":[{call}]}}}}}}"#))),
        ("a live tool call", data(r#"{"toolCall":{"functionCalls":[{"name":"rm","args":{"p":"evil"}}]}}"#)),
        (
            "a secret over candidates",
            frame(
                r#"[{"index":0,"content":{"role":"model","parts":[{"text":"SECRET-"}]}},{"index":1,"content":{"role":"model","parts":[{"text":"1234"}]}}]"#,
                "",
            ),
        ),
    ];
    rows.into_iter().map(|(what, odd)| (what.to_owned(), format!("{ok}{odd}{end}"))).collect()
}

/// What leaves that must not, under the gate and under the redactor.
fn wrong(kind: WireKind, (what, body): &Row) -> String {
    let log = log(what, body.as_bytes());
    let redactor = redactor();
    let gated = Replay::new(&log).cut(Cut::Whole).policy(ls_only).run();
    let redacted = Replay::new(&log).cut(Cut::Whole).policy(move || redactor.clone()).run();
    let mut wrong = String::new();
    for (policy, run, marks) in
        [("gate", gated, &["rm\"", "evil"][..]), ("redactor", redacted, &["1234"][..])]
    {
        let out = String::from_utf8_lossy(&run.bytes()).replace("confirm", "");
        if marks.iter().any(|mark| out.contains(mark)) {
            writeln!(wrong, "{kind}, {what}, {policy}: {out:?}").unwrap();
        }
    }
    wrong
}

/// Rule 28.
#[test]
fn no_byte_of_a_denied_call_or_of_a_secret_leaves() {
    let tables = [
        (WireKind::OpenAiChat, chat()),
        (WireKind::AnthropicMessages, messages()),
        (WireKind::OpenAiResponses, responses()),
        (WireKind::Gemini, gemini()),
    ];
    let rows = tables.iter().flat_map(|(kind, rows)| rows.iter().map(|row| wrong(*kind, row)));
    assert_eq!(rows.collect::<String>(), "");
}
