//! Odd frames of Responses.

use crate::attacks::{NUMBERS, Row, lines, spellings};

fn event(json: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    let name = value["type"].as_str().unwrap_or("response.output_item.done").to_owned();
    format!("event: {name}\ndata: {json}\n\n")
}

fn call(id: &str, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"id":"{id}","type":"function_call","status":"completed","call_id":"c_{id}","name":"{name}","arguments":"{arguments}"}}"#
    )
}

fn item(kind: &str, index: &str, item: &str) -> String {
    event(&format!(r#"{{"type":"response.output_item.{kind}","output_index":{index},"item":{item}}}"#))
}

fn arguments(index: &str, id: &str, delta: &str) -> String {
    event(&format!(
        r#"{{"type":"response.function_call_arguments.delta","item_id":"{id}","output_index":{index},"delta":"{delta}"}}"#
    ))
}

fn completed(output: &str) -> String {
    event(&format!(
        r#"{{"type":"response.completed","response":{{"id":"r","object":"response","status":"completed","output":[{output}]}}}}"#
    ))
}

fn message(id: &str, parts: &str) -> String {
    format!(r#"{{"id":"{id}","type":"message","status":"completed","role":"assistant","content":[{parts}]}}"#)
}

fn said(text: &str) -> String {
    format!(r#"{{"type":"output_text","text":"{text}","annotations":[]}}"#)
}

const EVIL: &str = r#"{\"p\":\"evil\"}"#;

/// The table.
pub(crate) fn rows() -> Vec<Row> {
    let (rm, ls) = (call("e", "rm", EVIL), call("f", "ls", "{}"));
    let ls_open = call("f", "ls", "");
    let done = format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{rm}}}"#);
    let secret = format!(
        r#"{{"type":"response.output_item.done","output_index":0,"item":{}}}"#,
        message("s", &said("SECRET-1234"))
    );
    let mut rows: Vec<Row> = Vec::new();
    let mut add = |what: String, middle: String, output: &str| {
        rows.push((what, format!("{}{middle}{}", event(r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#), completed(output))));
    };
    for (what, lines) in lines("response.output_item.done", &done)
        .into_iter()
        .chain(lines("response.output_item.done", &secret))
    {
        add(what, lines, "");
    }
    for key in spellings("item") {
        add(
            format!("{key} beside item"),
            event(&format!(
                r#"{{"type":"response.output_item.done","output_index":0,"item":{ls},"{key}":{rm}}}"#
            )),
            &ls,
        );
    }
    for key in spellings("output") {
        let response = format!(
            r#"{{"type":"response.completed","response":{{"id":"r","object":"response","status":"completed","output":[],"{key}":[{rm}]}}}}"#
        );
        add(format!("{key} beside output"), event(&response), "");
    }
    for key in spellings("response") {
        add(
            format!("{key} beside response"),
            event(&format!(
                r#"{{"type":"response.completed","response":{{"object":"response","output":[]}},"{key}":{{"object":"response","output":[{rm}]}}}}"#
            )),
            "",
        );
    }
    for key in spellings("name") {
        let odd = ls.replace(r#""name":"ls""#, &format!(r#""name":"ls","{key}":"rm""#));
        add(format!("{key} beside name"), item("added", "0", &odd) + &item("done", "0", &odd), &odd);
    }
    for key in spellings("arguments") {
        let odd = ls.replace(r#""arguments":"{}""#, &format!(r#""{key}":"{EVIL}","arguments":"{{}}""#));
        add(format!("{key} beside arguments"), item("added", "0", &odd) + &item("done", "0", &odd), &odd);
    }
    for key in spellings("type") {
        let odd = ls.replace(
            r#""name":"ls""#,
            &format!(r#""{key}":"local_shell_call","action":{{"command":["evil"]}},"name":"ls""#),
        );
        add(format!("{key} beside type"), item("done", "0", &odd), &odd);
    }
    for key in spellings("delta") {
        add(
            format!("{key} beside delta"),
            item("added", "0", &ls_open)
                + &event(&format!(
                    r#"{{"type":"response.function_call_arguments.delta","item_id":"f","output_index":0,"delta":"{{}}","{key}":"{EVIL}"}}"#
                ))
                + &item("done", "0", &ls),
            &ls,
        );
    }
    for number in NUMBERS {
        add(format!("item {number}"), item("added", number, &rm) + &item("done", number, &rm), &rm);
        add(
            format!("item {number} goes on"),
            item("added", "0", &ls_open)
                + &item("added", "1", &call("g", "ls", ""))
                + &arguments(number, "f", EVIL)
                + &item("done", "0", &ls),
            &ls,
        );
        add(
            format!("item {number} opens, 0 goes on"),
            item("added", number, &ls_open) + &arguments("0", "f", EVIL) + &item("done", "0", &ls),
            &ls,
        );
        let part = |number: &str, text: &str| {
            event(&format!(
                r#"{{"type":"response.output_text.delta","item_id":"s","output_index":0,"content_index":{number},"delta":"{text}"}}"#
            ))
        };
        add(
            format!("part {number}"),
            item("added", "0", &message("s", "")) + &part("0", "SECRET-") + &part(number, "1234"),
            &message("s", &said("SECRET-1234")),
        );
    }
    let shell = |command: &str| {
        format!(
            r#"{{"id":"h","type":"local_shell_call","status":"completed","call_id":"c","action":{{"type":"exec","command":["{command}"],"env":{{}}}}}}"#
        )
    };
    for (what, middle, output) in [
        ("an item only in the last event", String::new(), rm.clone()),
        ("an item only when it is done", item("done", "0", &rm), String::new()),
        ("arguments without an item", arguments("0", "e", EVIL), rm.clone()),
        (
            "arguments of an item behind another",
            item("added", "0", &ls_open) + &arguments("1", "e", EVIL) + &item("done", "0", &ls),
            format!("{ls},{rm}"),
        ),
        (
            "an item that opens behind one that did not",
            arguments("0", "f", "{}")
                + &item("done", "0", &ls)
                + &item("added", "1", &call("g", "ls", ""))
                + &arguments("1", "g", EVIL)
                + &item("done", "1", &call("g", "ls", EVIL)),
            ls.clone(),
        ),
        (
            "arguments only when the item is done",
            item("added", "0", &ls_open) + &item("done", "0", &call("f", "ls", EVIL)),
            call("f", "ls", EVIL),
        ),
        ("arguments only in the last event", item("added", "0", &ls_open), call("f", "ls", EVIL)),
        (
            "other arguments when they are done",
            item("added", "0", &ls_open)
                + &arguments("0", "f", "{}")
                + &event(&format!(
                    r#"{{"type":"response.function_call_arguments.done","item_id":"f","output_index":0,"arguments":"{EVIL}"}}"#
                ))
                + &item("done", "0", &ls),
            ls.clone(),
        ),
        (
            "other arguments in the last event",
            item("added", "0", &ls_open) + &arguments("0", "f", "{}") + &item("done", "0", &ls),
            call("f", "ls", EVIL),
        ),
        (
            "another name in the last event",
            item("added", "0", &ls_open) + &arguments("0", "f", "{}") + &item("done", "0", &ls),
            call("f", "rm", "{}"),
        ),
        (
            "another kind when it is done",
            item("added", "0", &ls_open) + &item("done", "0", &shell("evil")),
            shell("evil"),
        ),
        (
            "another action when it is done",
            item("added", "0", &shell("evil")) + &item("done", "0", &shell("ls")),
            shell("ls"),
        ),
        (
            "the id of another item",
            item("added", "0", &ls_open)
                + &item("added", "1", &call("g", "ls", ""))
                + &arguments("1", "f", EVIL),
            ls.clone(),
        ),
        (
            "an id of no item",
            item("added", "0", &ls_open)
                + &arguments("0", "zz", EVIL)
                + &item("done", "0", &call("f", "ls", EVIL)),
            call("f", "ls", EVIL),
        ),
        (
            "an item that opens twice",
            item("added", "0", &ls_open) + &item("added", "0", &rm) + &item("done", "0", &rm),
            rm.clone(),
        ),
        (
            "items out of order",
            item("added", "1", &rm)
                + &item("added", "0", &ls_open)
                + &item("done", "1", &rm)
                + &item("done", "0", &ls),
            format!("{ls},{rm}"),
        ),
        (
            "an opening with items",
            event(&format!(
                r#"{{"type":"response.in_progress","response":{{"object":"response","output":[{rm}]}}}}"#
            )),
            String::new(),
        ),
        (
            "a built-in tool under a false name",
            item("added", "0", &shell("evil").replace("\"action\"", "\"name\":\"ls\",\"action\""))
                + &item("done", "0", &shell("evil").replace("\"action\"", "\"name\":\"ls\",\"action\"")),
            shell("evil").replace("\"action\"", "\"name\":\"ls\",\"action\""),
        ),
        (
            "a call with the fields of another",
            item("done", "0", &ls.replace("\"name\"", "\"action\":{\"command\":[\"evil\"]},\"name\"")),
            String::new(),
        ),
        (
            "a message with the fields of a call",
            item(
                "done",
                "0",
                &message("s", "")
                    .replace("\"content\"", "\"name\":\"rm\",\"arguments\":\"evil\",\"content\""),
            ),
            String::new(),
        ),
        ("a call behind the last event", completed("") + &item("done", "0", &rm), String::new()),
        ("a second last event", completed("") + &completed(&rm), String::new()),
        (
            "a call in a failed response",
            event(&format!(
                r#"{{"type":"response.failed","response":{{"object":"response","status":"failed","output":[{rm}]}}}}"#
            )),
            String::new(),
        ),
        (
            "a call in an incomplete response",
            event(&format!(
                r#"{{"type":"response.incomplete","response":{{"object":"response","status":"incomplete","output":[{rm}]}}}}"#
            )),
            String::new(),
        ),
        (
            "an item of a type nobody knows",
            item("done", "0", &rm.replace("function_call", "program_call")),
            String::new(),
        ),
        (
            "a server's call of a denied name",
            item(
                "added",
                "0",
                r#"{"id":"m","type":"mcp_call","name":"rm","server_label":"x","arguments":"evil"}"#,
            ) + &item(
                "done",
                "0",
                r#"{"id":"m","type":"mcp_call","name":"rm","server_label":"x","arguments":"evil","output":"SECRET-1234"}"#,
            ),
            String::new(),
        ),
        (
            "a secret over items",
            item("done", "0", &message("s", &said("SECRET-")))
                + &item("done", "1", &message("t", &said("1234"))),
            format!("{},{}", message("s", &said("SECRET-")), message("t", &said("1234"))),
        ),
        (
            "a secret over parts",
            String::new(),
            message("s", &format!("{},{}", said("SECRET-"), said("1234"))),
        ),
        (
            "a secret in an annotation",
            String::new(),
            message("s", &said("a").replace("[]", r#"[{"type":"url_citation","title":"SECRET-1234"}]"#)),
        ),
        (
            "a secret in code",
            item(
                "done",
                "0",
                r#"{"id":"i","type":"code_interpreter_call","code":"SECRET-1234","outputs":[]}"#,
            ),
            r#"{"id":"i","type":"code_interpreter_call","code":"SECRET-1234","outputs":[]}"#.to_owned(),
        ),
        (
            "a secret in the joined text",
            event(
                r#"{"type":"response.completed","response":{"object":"response","output":[],"output_text":"SECRET-1234"}}"#,
            ),
            String::new(),
        ),
        ("a lone surrogate", item("done", "0", &rm.replace("rm", "rm\\ud800")), String::new()),
    ] {
        add(what.to_owned(), middle, &output);
    }
    let whole = |output: &str, more: &str| {
        format!(
            r#"{{"id":"r","object":"response","status":"completed","model":"m","output":[{output}]{more}}}"#
        )
    };
    rows.push(("whole".to_owned(), whole(&format!("{rm},{}", message("s", &said("SECRET-1234"))), "")));
    for key in spellings("output") {
        rows.push((format!("whole, {key} beside output"), whole(&ls, &format!(r#","{key}":[{rm}]"#))));
    }
    rows.push((
        "whole, a false name".to_owned(),
        whole(&shell("evil").replace("\"action\"", "\"name\":\"ls\",\"action\""), ""),
    ));
    rows.push((
        "whole, the fields of another".to_owned(),
        whole(
            &message("s", "").replace("\"content\"", "\"name\":\"rm\",\"arguments\":\"evil\",\"content\""),
            "",
        ),
    ));
    rows.push((
        "whole, a secret over parts".to_owned(),
        whole(&message("s", &format!("{},{}", said("SECRET-"), said("1234"))), ""),
    ));
    rows.push(("whole, the joined text".to_owned(), whole("", r#","output_text":"SECRET-1234""#)));
    rows
}
