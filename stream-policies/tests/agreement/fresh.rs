//! More odd frames made by hand: places, joints and ends of an answer where a call or a secret might hide.

use stream_testkit::WireKind;

use crate::attacks::Row;

/// The rows of each format.
pub(crate) fn tables() -> [(WireKind, Vec<Row>); 4] {
    [
        (WireKind::OpenAiChat, chat()),
        (WireKind::AnthropicMessages, messages()),
        (WireKind::OpenAiResponses, responses()),
        (WireKind::Gemini, gemini()),
    ]
}

fn rows<const N: usize>(rows: [(&str, String); N]) -> Vec<Row> {
    rows.into_iter().map(|(what, body)| (what.to_owned(), body)).collect()
}

fn data(json: &str) -> String {
    format!("data: {json}\n\n")
}

const RM: &str =
    r#"{"index":0,"id":"e","type":"function","function":{"name":"rm","arguments":"{\"p\":\"evil\"}"}}"#;

fn choice(rest: &str) -> String {
    data(&format!(
        r#"{{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,{rest}}}]}}"#
    ))
}

fn delta(delta: &str) -> String {
    choice(&format!(r#""delta":{delta},"finish_reason":null"#))
}

fn chat() -> Vec<Row> {
    let finish = choice(r#""delta":{},"finish_reason":"stop""#);
    let evil = delta(&format!(r#"{{"tool_calls":[{RM}]}}"#));
    let hidden = evil.trim_end().replace('"', "\\\"");
    // A line for those who split at U+2028, inside of a string for everybody else.
    let inside = format!("\u{2028}{hidden}\u{2028}\u{2028}");
    let whole = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{RM}]}}"#);
    rows([
        (
            "a secret around a null",
            delta(r#"{"content":"SECRET-"}"#)
                + &delta(r#"{"content":null}"#)
                + &delta(r#"{"content":"1234"}"#),
        ),
        (
            "a secret around a comment",
            delta(r#"{"content":"SECRET-"}"#) + ": ok\n\n" + &delta(r#"{"content":"1234"}"#),
        ),
        (
            "a secret around a usage frame",
            delta(r#"{"content":"SECRET-"}"#)
                + &data(
                    r#"{"id":"c1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1}}"#,
                )
                + &delta(r#"{"content":"1234"}"#),
        ),
        ("a secret in escapes", delta(r#"{"content":"\u0053ECRET\u002d1234"}"#)),
        (
            "a secret begun under a type nobody knows",
            delta(r#"{"content":[{"type":"x","text":"SECRET-"}]}"#) + &delta(r#"{"content":"1234"}"#),
        ),
        (
            "a secret in the text of a thought",
            delta(r#"{"content":[{"type":"thinking","thinking":"a","text":"SECRET-"}]}"#)
                + &delta(r#"{"content":[{"type":"text","text":"1234"}]}"#),
        ),
        (
            "a secret over a finish",
            delta(r#"{"content":"SECRET-"}"#)
                + &choice(r#""delta":{"content":"1234"},"finish_reason":"stop""#),
        ),
        (
            "a secret behind a finish",
            delta(r#"{"content":"SECRET-"}"#) + &finish + &delta(r#"{"content":"1234"}"#),
        ),
        (
            "arguments as an object",
            delta(
                r#"{"tool_calls":[{"index":0,"id":"e","type":"function","function":{"name":"ls","arguments":{"p":"evil"}}}]}"#,
            ),
        ),
        ("calls as an object", delta(&format!(r#"{{"tool_calls":{{"0":{RM}}}}}"#))),
        ("calls in a list of lists", delta(&format!(r#"{{"tool_calls":[[{RM}]]}}"#))),
        ("one call without a list", delta(&format!(r#"{{"tool_calls":{RM}}}"#))),
        (
            "a call of two kinds",
            delta(&format!(
                r#"{{"tool_calls":[{}]}}"#,
                RM.replace(r#""type":"function""#, r#""type":"custom","custom":{"name":"ls","input":"x"}"#)
            )),
        ),
        (
            "a custom call with a function",
            delta(&format!(
                r#"{{"tool_calls":[{}]}}"#,
                RM.replace(r#""type":"function""#, r#""type":"custom""#)
            )),
        ),
        (
            "a message beside the delta",
            choice(&format!(r#""delta":{{"content":"a"}},"message":{whole},"finish_reason":null"#)),
        ),
        (
            "a message in place of the delta",
            choice(&format!(r#""message":{whole},"finish_reason":"tool_calls""#)),
        ),
        (
            "a text beside the delta",
            choice(r#""delta":{"content":"a"},"text":"SECRET-1234","finish_reason":null"#),
        ),
        ("a call behind the finish", finish.clone() + &evil),
        ("a call behind the end", finish.clone() + "data: [DONE]\n\n" + &evil),
        ("a call behind an end with a blank", finish.clone() + "data: [DONE] \n\n" + &evil),
        ("a call on a line behind the end", finish.clone() + "data: [DONE]\n" + &evil),
        ("an error with choices", evil.replacen(r#"{"id""#, r#"{"error":{"message":"x"},"id""#, 1)),
        (
            "a call in an error",
            data(&format!(
                r#"{{"error":{{"message":"x","tool_calls":[{RM}],"failed_generation":"rm evil"}}}}"#
            )),
        ),
        ("a line inside of a text", delta(&format!(r#"{{"content":"{inside}"}}"#))),
        ("a line inside of an id", delta(r#"{"content":"a"}"#).replace("c1", &format!("c1{inside}"))),
        (
            "a line inside of a field nobody knows",
            delta(r#"{"content":"a"}"#).replacen(r#"{"id""#, &format!(r#"{{"x":"{inside}","id""#), 1),
        ),
        (
            "a line inside of a key nobody knows",
            delta(r#"{"content":"a"}"#).replacen(r#"{"id""#, &format!(r#"{{"{inside}":1,"id""#), 1),
        ),
        (
            "a line inside of an argument",
            delta(&format!(
                r#"{{"tool_calls":[{{"index":0,"id":"f","type":"function","function":{{"name":"ls","arguments":"{{\"p\":\"{inside}\"}}"}}}}]}}"#
            )),
        ),
        ("a number that Python alone reads", evil.replacen(r#""created":1"#, r#""created":NaN"#, 1)),
        ("a surrogate alone", evil.replacen(r#""model":"m""#, r#""model":"\ud800""#, 1)),
        (
            "the answer in another field of the frame",
            data(&format!(
                r#"{{"id":"c1","object":"chat.completion.chunk","choices":[],"response":{{"choices":[{{"message":{whole}}}]}}}}"#
            )),
        ),
    ])
}

fn event(kind: &str, rest: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n")
}

fn messages() -> Vec<Row> {
    let start = event(
        "message_start",
        r#","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#,
    );
    let open = |index: u32, block: &str| {
        event("content_block_start", &format!(r#","index":{index},"content_block":{block}"#))
    };
    let more = |index: u32, delta: &str| {
        event("content_block_delta", &format!(r#","index":{index},"delta":{delta}"#))
    };
    let stop = |index: u32| event("content_block_stop", &format!(r#","index":{index}"#));
    let end = event(
        "message_delta",
        r#","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}"#,
    ) + &event("message_stop", "");
    let body = |middle: &str| format!("{start}{middle}{end}");
    let text = r#"{"type":"text","text":""}"#;
    let tool = r#"{"type":"tool_use","id":"t1","name":"rm","input":{"p":"evil"}}"#;
    rows([
        (
            "a secret begun at the start",
            body(
                &(open(0, r#"{"type":"text","text":"SECRET-"}"#)
                    + &more(0, r#"{"type":"text_delta","text":"1234"}"#)
                    + &stop(0)),
            ),
        ),
        (
            "a secret around a ping",
            body(
                &(open(0, text)
                    + &more(0, r#"{"type":"text_delta","text":"SECRET-"}"#)
                    + &event("ping", "")
                    + &more(0, r#"{"type":"text_delta","text":"1234"}"#)
                    + &stop(0)),
            ),
        ),
        ("a call with its input at the start", body(&(open(0, tool) + &stop(0)))),
        (
            "a call whose input goes on",
            body(
                &(open(0, r#"{"type":"tool_use","id":"t1","name":"ls","input":{"p":"evil"}}"#)
                    + &more(0, r#"{"type":"input_json_delta","partial_json":"{}"}"#)
                    + &stop(0)),
            ),
        ),
        (
            "a delta of another kind",
            body(
                &(open(0, r#"{"type":"tool_use","id":"t1","name":"ls","input":{}}"#)
                    + &more(0, r#"{"type":"text_delta","text":"SECRET-1234"}"#)
                    + &more(0, r#"{"type":"input_json_delta","partial_json":"{\"p\":\"evil\"}"}"#)
                    + &stop(0)),
            ),
        ),
        (
            "text in the delta of the message",
            format!(
                "{start}{}{}{}",
                event("message_delta", r#","delta":{"text":"SECRET-"},"usage":{"output_tokens":1}"#),
                event("message_delta", r#","delta":{"text":"1234"},"usage":{"output_tokens":1}"#),
                event("message_stop", "")
            ),
        ),
        (
            "content in the last delta",
            format!(
                "{start}{}{}",
                event(
                    "message_delta",
                    &format!(
                        r#","delta":{{"stop_reason":"tool_use","content":[{tool}]}},"usage":{{"output_tokens":1}}"#
                    )
                ),
                event("message_stop", "")
            ),
        ),
        (
            "a message in the end",
            format!(
                "{start}{}{}",
                event("message_delta", r#","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}"#),
                event("message_stop", &format!(r#","message":{{"role":"assistant","content":[{tool}]}}"#))
            ),
        ),
        (
            "a secret as what stopped it",
            format!(
                "{start}{}{}",
                event(
                    "message_delta",
                    r#","delta":{"stop_reason":"stop_sequence","stop_sequence":"SECRET-1234"},"usage":{"output_tokens":1}"#
                ),
                event("message_stop", "")
            ),
        ),
        (
            "a citation",
            body(
                &(open(0, text)
                    + &more(
                        0,
                        r#"{"type":"citations_delta","citation":{"type":"char_location","cited_text":"SECRET-1234","document_index":0,"document_title":"d","start_char_index":0,"end_char_index":1}}"#,
                    )
                    + &stop(0)),
            ),
        ),
        (
            "a block without a start",
            body(&(more(0, r#"{"type":"input_json_delta","partial_json":"{\"p\":\"evil\"}"}"#) + &stop(0))),
        ),
        ("a block behind the end", body("") + &open(0, tool) + &stop(0)),
        (
            "a second message",
            body("") + &start.replace(r#""content":[]"#, &format!(r#""content":[{tool}]"#)) + &end,
        ),
        (
            "a call in an error",
            format!(
                "{start}{}",
                event(
                    "error",
                    &format!(r#","error":{{"type":"x","message":"SECRET-1234","content":[{tool}]}}"#)
                )
            ),
        ),
        (
            "two types",
            start.clone()
                + &format!(
                    "event: ping\ndata: {{\"type\":\"ping\",\"type\":\"content_block_start\",\"index\":0,\"content_block\":{tool}}}\n\n"
                )
                + &end,
        ),
    ])
}

fn responses() -> Vec<Row> {
    let call = r#"{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"p\":\"evil\"}","call_id":"c1","name":"rm"}"#;
    let response = |status: &str, output: &str| {
        format!(
            r#","response":{{"id":"r1","object":"response","created_at":1,"status":"{status}","error":null,"incomplete_details":null,"model":"m","output":[{output}],"usage":null}}"#
        )
    };
    let created =
        event("response.created", &(r#","sequence_number":0"#.to_owned() + &response("in_progress", "")));
    let done = |output: &str| {
        event("response.completed", &(r#","sequence_number":9"#.to_owned() + &response("completed", output)))
    };
    let item = |kind: &str, number: u32, item: &str| {
        event(kind, &format!(r#","sequence_number":{number},"output_index":0,"item":{item}"#))
    };
    let ls = r#"{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"c1","name":"ls"}"#;
    let ls_done = r#"{"id":"fc_1","type":"function_call","status":"completed","arguments":"{}","call_id":"c1","name":"ls"}"#;
    let arguments = |rest: &str| {
        event(
            "response.function_call_arguments.done",
            &format!(r#","sequence_number":3,"item_id":"fc_1","output_index":0,"arguments":"{{}}"{rest}"#),
        )
    };
    let message = r#"{"id":"m1","type":"message","status":"in_progress","content":[],"role":"assistant"}"#;
    let part = event(
        "response.content_part.added",
        r#","sequence_number":2,"item_id":"m1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}"#,
    );
    rows([
        ("a call in the end alone", created.clone() + &done(call)),
        (
            "a call in an incomplete end",
            created.clone()
                + &event(
                    "response.incomplete",
                    &(r#","sequence_number":9"#.to_owned() + &response("incomplete", call)),
                ),
        ),
        (
            "a call in a failed end",
            created.clone()
                + &event(
                    "response.failed",
                    &(r#","sequence_number":9"#.to_owned() + &response("failed", call)),
                ),
        ),
        (
            "a call in the opening",
            event(
                "response.created",
                &(r#","sequence_number":0"#.to_owned() + &response("in_progress", call)),
            ) + &done(""),
        ),
        (
            "a call in progress",
            created.clone()
                + &event(
                    "response.in_progress",
                    &(r#","sequence_number":1"#.to_owned() + &response("in_progress", call)),
                )
                + &done(""),
        ),
        (
            "a queued call",
            created.clone()
                + &event(
                    "response.queued",
                    &(r#","sequence_number":1"#.to_owned() + &response("queued", call)),
                )
                + &done(""),
        ),
        (
            "an item that is only done",
            created.clone() + &item("response.output_item.done", 1, call) + &done(""),
        ),
        (
            "another name at the end of the arguments",
            created.clone()
                + &item("response.output_item.added", 1, ls)
                + &arguments(r#","name":"rm""#)
                + &item("response.output_item.done", 4, ls_done)
                + &done(ls_done),
        ),
        (
            "a text that is only done",
            created.clone()
                + &item("response.output_item.added", 1, message)
                + &part
                + &event(
                    "response.output_text.done",
                    r#","sequence_number":3,"item_id":"m1","output_index":0,"content_index":0,"text":"SECRET-1234""#,
                )
                + &done(""),
        ),
        (
            "an annotation",
            created.clone()
                + &item("response.output_item.added", 1, message)
                + &part
                + &event(
                    "response.output_text.annotation.added",
                    r#","sequence_number":3,"item_id":"m1","output_index":0,"content_index":0,"annotation_index":0,"annotation":{"type":"url_citation","url":"http://a/SECRET-1234","title":"SECRET-1234","start_index":0,"end_index":1}"#,
                )
                + &done(""),
        ),
        (
            "a secret in what is echoed",
            done("").replacen(
                r#""object":"response""#,
                r#""object":"response","instructions":"SECRET-1234","metadata":{"a":"SECRET-1234"}"#,
                1,
            ),
        ),
        ("a call behind the end", created.clone() + &done("") + &item("response.output_item.done", 10, call)),
        (
            "an end of another name",
            created
                + &event(
                    "response.done",
                    &(r#","sequence_number":9"#.to_owned() + &response("completed", call)),
                ),
        ),
    ])
}

fn gemini() -> Vec<Row> {
    let frame = |candidate: &str| data(&format!(r#"{{"candidates":[{candidate}]}}"#));
    let parts =
        |parts: &str| frame(&format!(r#"{{"index":0,"content":{{"role":"model","parts":{parts}}}}}"#));
    let call = r#"{"functionCall":{"name":"rm","args":{"p":"evil"}}}"#;
    rows([
        ("a text and a call in one part", parts(&format!(r#"[{{"text":"a",{}]"#, &call[1..]))),
        ("parts as an object", parts(&format!(r#"{{"0":{call}}}"#))),
        ("one part without a list", parts(call)),
        (
            "content as a list",
            frame(&format!(r#"{{"index":0,"content":[{{"role":"model","parts":[{call}]}}]}}"#)),
        ),
        (
            "a call beside its content",
            frame(&format!(r#"{{"index":0,"content":{{"role":"model","parts":[]}},"parts":[{call}]}}"#)),
        ),
        (
            "a call of the user",
            frame(&format!(r#"{{"index":0,"content":{{"role":"user","parts":[{call}]}}}}"#)),
        ),
        ("a list of calls", parts(r#"[{"functionCall":[{"name":"rm","args":{"p":"evil"}}]}]"#)),
        (
            "calls that are done already",
            data(&format!(
                r#"{{"candidates":[],"automaticFunctionCallingHistory":[{{"role":"model","parts":[{call}]}}]}}"#
            )),
        ),
        (
            "calls beside the candidates",
            data(r#"{"candidates":[],"functionCalls":[{"name":"rm","args":{"p":"evil"}}]}"#),
        ),
        ("a text beside the candidates", data(r#"{"candidates":[],"text":"SECRET-1234"}"#)),
        (
            "code",
            parts(
                r#"[{"executableCode":{"language":"PYTHON","code":"print('SECRET-1234')"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"SECRET-1234"}}]"#,
            ),
        ),
        (
            "a reason",
            data(r#"{"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"SECRET-1234"}}"#),
        ),
        (
            "grounding",
            frame(
                r#"{"index":0,"content":{"role":"model","parts":[{"text":"a"}]},"groundingMetadata":{"searchEntryPoint":{"renderedContent":"SECRET-1234"},"webSearchQueries":["SECRET-1234"]}}"#,
            ),
        ),
        (
            "a finish message",
            frame(
                r#"{"index":0,"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"OTHER","finishMessage":"SECRET-1234"}"#,
            ),
        ),
        (
            "a secret over thoughts and texts",
            parts(r#"[{"text":"SECRET-"}]"#)
                + &parts(r#"[{"text":"x","thought":true}]"#)
                + &parts(r#"[{"text":"1234"}]"#),
        ),
        (
            "arguments in pieces",
            parts(
                r#"[{"functionCall":{"name":"ls","partialArgs":[{"jsonPath":"$.p","stringValue":"evil"}],"willContinue":true}}]"#,
            ) + &parts(r#"[{"functionCall":{}}]"#),
        ),
        (
            "a call behind the finish",
            frame(r#"{"index":0,"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}"#)
                + &parts(&format!("[{call}]")),
        ),
        ("arguments as a string", parts(r#"[{"functionCall":{"name":"ls","args":"{\"p\":\"evil\"}"}}]"#)),
    ])
}
