//! Odd frames of Messages.

use crate::attacks::{NUMBERS, Row, lines, spellings};

const RM: &str = r#"{"type":"tool_use","id":"e","name":"rm","input":{"p":"evil"}}"#;
const LS: &str = r#"{"type":"tool_use","id":"f","name":"ls","input":{}}"#;

fn event(json: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    let name = value["type"].as_str().unwrap_or("content_block_start").to_owned();
    format!("event: {name}\ndata: {json}\n\n")
}

fn opens(index: &str, block: &str) -> String {
    event(&format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#))
}

fn goes_on(index: &str, delta: &str) -> String {
    event(&format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#))
}

fn input(index: &str, json: &str) -> String {
    goes_on(index, &format!(r#"{{"type":"input_json_delta","partial_json":"{json}"}}"#))
}

fn text(index: &str, text: &str) -> String {
    goes_on(index, &format!(r#"{{"type":"text_delta","text":"{text}"}}"#))
}

fn stops(index: &str) -> String {
    event(&format!(r#"{{"type":"content_block_stop","index":{index}}}"#))
}

fn start(content: &str) -> String {
    event(&format!(
        r#"{{"type":"message_start","message":{{"id":"m","type":"message","role":"assistant","model":"c","content":[{content}],"stop_reason":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}}}"#
    ))
}

/// The table.
pub(crate) fn rows() -> Vec<Row> {
    let empty = r#"{"type":"text","text":""}"#;
    let block = format!(r#"{{"type":"content_block_start","index":0,"content_block":{RM}}}"#);
    let secret =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"SECRET-1234"}}"#;
    let mut middles: Vec<Row> = lines("content_block_start", &block);
    middles.extend(lines("content_block_start", secret));
    let mut add = |what: String, middle: String| middles.push((what, middle));
    for key in spellings("content_block") {
        add(
            format!("{key} beside content_block"),
            event(&format!(
                r#"{{"type":"content_block_start","index":0,"content_block":{empty},"{key}":{RM}}}"#
            )),
        );
        add(
            format!("{key} alone"),
            event(&format!(r#"{{"type":"content_block_start","index":0,"{key}":{RM}}}"#)),
        );
    }
    for key in spellings("name") {
        add(
            format!("{key} beside name"),
            opens("0", &format!(r#"{{"type":"tool_use","id":"f","name":"ls","{key}":"rm","input":{{}}}}"#))
                + &stops("0"),
        );
    }
    for key in spellings("type") {
        add(
            format!("{key} beside type"),
            opens(
                "0",
                &format!(
                    r#"{{"type":"text","text":"a","{key}":"tool_use","id":"f","name":"rm","input":{{}}}}"#
                ),
            ) + &stops("0"),
        );
    }
    for key in spellings("input") {
        add(
            format!("{key} beside input"),
            opens(
                "0",
                &format!(r#"{{"type":"tool_use","id":"f","name":"ls","{key}":{{"p":"evil"}},"input":{{}}}}"#),
            ) + &stops("0"),
        );
    }
    for key in spellings("partial_json") {
        add(
            format!("{key} beside partial_json"),
            opens("0", LS)
                + &goes_on(
                    "0",
                    &format!(
                        r#"{{"type":"input_json_delta","partial_json":"{{}}","{key}":"{{\"p\":\"evil\"}}"}}"#
                    ),
                )
                + &stops("0"),
        );
    }
    for key in spellings("text") {
        add(
            format!("{key} beside text"),
            opens("0", empty)
                + &goes_on("0", &format!(r#"{{"type":"text_delta","text":"a","{key}":"SECRET-1234"}}"#))
                + &stops("0"),
        );
    }
    for number in NUMBERS {
        add(format!("block {number}"), opens("0", empty) + &stops("0") + &opens(number, RM) + &stops(number));
        add(
            format!("block {number} goes on"),
            opens("0", LS)
                + &opens("1", LS)
                + &input(number, r#"{\"p\":\"evil\"}"#)
                + &stops("0")
                + &stops("1"),
        );
        add(
            format!("block {number} says a secret"),
            opens("0", empty) + &text("0", "SECRET-") + &text(number, "1234") + &stops("0"),
        );
        add(
            format!("block {number} opens, 0 goes on"),
            opens(number, LS) + &input("0", r#"{\"p\":\"evil\"}"#) + &stops("0"),
        );
    }
    let server = r#"{"type":"server_tool_use","id":"s","name":"bash","input":{}}"#;
    for (what, middle) in [
        ("blocks out of order", opens("1", RM) + &opens("0", LS) + &stops("0") + &stops("1")),
        ("a block that opens twice", opens("0", LS) + &opens("0", RM) + &stops("0")),
        (
            "a block that opens again when it has stopped",
            opens("0", LS) + &stops("0") + &opens("0", RM) + &stops("0"),
        ),
        (
            "a server's tool that opens twice",
            opens("0", server)
                + &stops("0")
                + &opens("0", server)
                + &input("0", r#"{\"p\":\"evil\"}"#)
                + &stops("0"),
        ),
        (
            "input of a server's tool behind its end",
            opens("0", server) + &stops("0") + &input("0", r#"{\"p\":\"evil\"}"#),
        ),
        (
            "a server's tool where a text was",
            opens("0", empty) + &stops("0") + &opens("0", &server.replace("bash", "rm")) + &stops("0"),
        ),
        ("a server's tool of a denied name", opens("0", &server.replace("bash", "rm")) + &stops("0")),
        (
            "an MCP tool of a denied name",
            opens(
                "0",
                r#"{"type":"mcp_tool_use","id":"s","name":"rm","server_name":"x","input":{"p":"evil"}}"#,
            ) + &stops("0"),
        ),
        (
            "a type nobody knows, with input",
            opens("0", LS)
                + &stops("0")
                + &opens("1", r#"{"type":"program_use","id":"s","name":"rm","input":{}}"#)
                + &input("1", r#"{\"p\":\"evil\"}"#)
                + &stops("1"),
        ),
        (
            "input in a text",
            opens("0", LS)
                + &stops("0")
                + &opens("1", empty)
                + &input("1", r#"{\"p\":\"evil\"}"#)
                + &stops("1"),
        ),
        ("input without a block", opens("0", LS) + &input("5", r#"{\"p\":\"evil\"}"#) + &stops("0")),
        ("text without a block", text("3", "SECRET-") + &text("3", "1234")),
        (
            "input at the start and in deltas",
            opens("0", r#"{"type":"tool_use","id":"f","name":"ls","input":{"p":"."}}"#)
                + &input("0", r#"{\"p\":\"evil\"}"#)
                + &stops("0"),
        ),
        (
            "input as a string",
            opens("0", r#"{"type":"tool_use","id":"f","name":"ls","input":"{\"p\":\"evil\"}"}"#)
                + &stops("0"),
        ),
        (
            "input that is no string",
            opens("0", LS)
                + &goes_on("0", r#"{"type":"input_json_delta","partial_json":{"p":"evil"}}"#)
                + &stops("0"),
        ),
        (
            "calls that take turns",
            opens("0", LS)
                + &opens("1", LS)
                + &input("0", r#"{\"p\":"#)
                + &input("1", r#"{\"p\":"#)
                + &input("0", r#"\"evil\"}"#)
                + &input("1", r#"\".\"}"#)
                + &stops("0")
                + &stops("1"),
        ),
        ("a call that never stops", opens("0", RM)),
        (
            "a call without a name",
            opens("0", r#"{"type":"tool_use","id":"f","input":{"p":"evil"}}"#) + &stops("0"),
        ),
        (
            "a text with the fields of a call",
            opens("0", r#"{"type":"text","text":"","name":"rm","id":"e","input":{"p":"evil"}}"#)
                + &stops("0"),
        ),
        (
            "a delta with the fields of two",
            opens("0", LS)
                + &goes_on("0", r#"{"type":"text_delta","text":"a","partial_json":"{\"p\":\"evil\"}"}"#)
                + &stops("0"),
        ),
        (
            "a delta of a type nobody knows",
            opens("0", LS)
                + &goes_on("0", r#"{"type":"json_delta","partial_json":"{\"p\":\"evil\"}"}"#)
                + &stops("0"),
        ),
        ("a call behind the end", event(r#"{"type":"message_stop"}"#) + &opens("0", RM) + &stops("0")),
        (
            "a call behind the reason",
            event(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#)
                + &opens("0", RM)
                + &stops("0"),
        ),
        ("a second message with content", start(RM)),
        (
            "content in the reason",
            event(&format!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":"tool_use","content":[{RM}]}}}}"#
            )),
        ),
        (
            "a call beside an error",
            event(&format!(
                r#"{{"type":"error","error":{{"type":"x","message":"SECRET-1234"}},"content_block":{RM}}}"#
            )),
        ),
        (
            "a secret over blocks",
            opens("0", empty)
                + &text("0", "SECRET-")
                + &stops("0")
                + &opens("1", empty)
                + &text("1", "1234")
                + &stops("1"),
        ),
        (
            "a secret over blocks that take turns",
            opens("0", empty)
                + &opens("1", empty)
                + &text("0", "SECRET-")
                + &text("1", "x")
                + &text("0", "1234")
                + &stops("0")
                + &stops("1"),
        ),
        (
            "a secret at the start and in a delta",
            opens("0", r#"{"type":"text","text":"SECRET-"}"#) + &text("0", "1234") + &stops("0"),
        ),
        (
            "a secret in a server's tool",
            opens("0", server) + &input("0", r#"{\"q\":\"SECRET-1234\"}"#) + &stops("0"),
        ),
        (
            "a secret in a result",
            opens(
                "0",
                r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","title":"SECRET-1234","url":"u"}]}"#,
            ) + &stops("0"),
        ),
        (
            "a secret in a citation",
            opens("0", empty)
                + &goes_on(
                    "0",
                    r#"{"type":"citations_delta","citation":{"type":"char_location","cited_text":"SECRET-1234"}}"#,
                )
                + &stops("0"),
        ),
        (
            "a secret in an unknown field",
            opens("0", r#"{"type":"text","text":"","note":"SECRET-1234"}"#) + &stops("0"),
        ),
        (
            "a lone surrogate",
            opens("0", r#"{"type":"tool_use","id":"f","name":"rm\ud800","input":{}}"#) + &stops("0"),
        ),
    ] {
        add(what.to_owned(), middle);
    }
    let end = event(
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}"#,
    ) + &event(r#"{"type":"message_stop"}"#);
    let mut rows: Vec<Row> = Vec::new();
    for (what, middle) in middles {
        rows.push((format!("{what}, behind an empty message"), format!("{}{middle}{end}", start(""))));
    }
    for content in [
        RM.to_owned(),
        format!("{LS},{RM}"),
        r#"{"type":"text","text":"SECRET-1234"}"#.to_owned(),
        server.replace("bash", "rm"),
    ] {
        rows.push((format!("a message that starts with {content}"), format!("{}{end}", start(&content))));
        let next = opens("0", empty) + &text("0", "a") + &stops("0");
        rows.push((
            format!("a message that starts with {content}, and a block 0"),
            format!("{}{next}{end}", start(&content)),
        ));
    }
    let whole = |content: &str, more: &str| {
        format!(
            r#"{{"id":"m","type":"message","role":"assistant","model":"c","content":[{content}]{more},"stop_reason":"tool_use"}}"#
        )
    };
    rows.push(("whole".to_owned(), whole(&format!(r#"{RM},{{"type":"text","text":"SECRET-1234"}}"#), "")));
    for key in spellings("content") {
        rows.push((format!("whole, {key} beside content"), whole(LS, &format!(r#","{key}":[{RM}]"#))));
    }
    for key in spellings("name") {
        rows.push((
            format!("whole, {key} beside name"),
            whole(&format!(r#"{{"type":"tool_use","id":"f","name":"ls","{key}":"rm","input":{{}}}}"#), ""),
        ));
    }
    rows.push((
        "whole, a text with the fields of a call".to_owned(),
        whole(r#"{"type":"text","text":"a","name":"rm","input":{"p":"evil"}}"#, ""),
    ));
    rows.push((
        "whole, input as a string".to_owned(),
        whole(r#"{"type":"tool_use","id":"f","name":"ls","input":"evil"}"#, ""),
    ));
    rows.push((
        "whole, content as an object".to_owned(),
        whole("", "").replace("\"content\":[]", &format!("\"content\":{RM}")),
    ));
    rows.push(("whole, a server's tool".to_owned(), whole(&server.replace("bash", "rm"), "")));
    rows
}
