//! Odd frames made by hand: for each class in which clients read differently, a call that is denied or a secret that is
//! taken out, where one client finds it and another does not.
//!
//! A row is a body. In it every call of `rm`, and every call with `evil` in its arguments, is denied; every
//! `SECRET-1234` is taken out. Whatever leaves, no client reads any of them.

use std::fmt::Write as _;
use std::time::Duration;

use stream_core::{Config, Passthrough, Verdict};
use stream_policies::{CompletedCall, ToolGate};
use stream_testkit::models::{self, Reading};
use stream_testkit::{ChunkLog, Cut, Replay, WireKind};

use crate::kit::redactor;
use crate::{fresh, messages, responses};

/// A row: what is odd, and the body.
pub(crate) type Row = (String, String);

/// Denies what no row may show.
fn denier() -> ToolGate {
    ToolGate::new(|call: CompletedCall| {
        let denied = call.name() == "rm" || call.arguments().contains("evil");
        async move { Ok(if denied { Verdict::drop("not allowed") } else { Verdict::Release }) }
    })
}

/// What a client has that it must not have.
fn shown(reading: &Reading) -> Option<String> {
    let call = reading.calls.iter().find(|call| call.name.contains("rm") || call.arguments.contains("evil"));
    call.map(|call| format!("{call:?}"))
}

fn told(reading: &Reading) -> Option<String> {
    let said = reading.texts.iter().find(|said| said.text().contains("SECRET-1234"));
    said.map(|said| format!("{said:?}"))
}

/// The log of a body: a stream, or a whole response where it is JSON.
pub(crate) fn log(what: &str, body: &[u8]) -> ChunkLog {
    let whole = matches!(body.first(), Some(b'{' | b'[')) || body.starts_with("\u{feff}{".as_bytes());
    let bytes = body.to_vec().into();
    match whole {
        true => ChunkLog::from_whole(what, bytes),
        false => ChunkLog::from_chunks(what, [(Duration::ZERO, bytes)]),
    }
}

fn wrong(kind: WireKind, (what, body): &Row) -> String {
    let log = log(what, body.as_bytes());
    let replay = || Replay::new(&log).config(Config::default()).cut(Cut::Whole);
    let redactor = redactor();
    let gated = replay().policy(denier).run();
    let redacted = replay().policy(move || redactor.clone()).run();
    let mut wrong = String::new();
    for (policy, run, has) in
        [("gate", gated, shown as fn(&Reading) -> Option<String>), ("redactor", redacted, told)]
    {
        let bytes = run.bytes();
        let readings: Vec<(&str, Reading)> = if run.whole {
            vec![("a client of whole responses", models::read_whole(kind, &bytes))]
        } else {
            models::of(kind).map(|model| (model.name(), model.read(&bytes))).collect()
        };
        for (client, reading) in readings {
            if let Some(found) = has(&reading) {
                writeln!(wrong, "{kind}, {what}, {policy}: {client} reads {found}").unwrap();
                break;
            }
        }
    }
    wrong
}

/// Rule 28: in none of the classes does a client read a call that was denied, or a text that was taken out.
#[test]
fn no_odd_frame_brings_a_denied_call_or_a_secret_to_any_client() {
    let mut found = String::new();
    let mut rows = 0;
    for (kind, table) in &tables() {
        for row in table {
            rows += 1;
            found.push_str(&wrong(*kind, row));
        }
    }
    assert_eq!(found, "");
    assert!(rows > 400, "{rows}");
}

fn tables() -> Vec<(WireKind, Vec<Row>)> {
    let more = fresh::tables();
    let tables = [
        (WireKind::OpenAiChat, chat()),
        (WireKind::OpenAiChat, chat_whole()),
        (WireKind::AnthropicMessages, messages::rows()),
        (WireKind::OpenAiResponses, responses::rows()),
        (WireKind::Gemini, gemini()),
    ];
    tables.into_iter().chain(more).collect()
}

/// Rule 28: where nobody looks, nothing is written anew and nothing closes, however odd, and be it no answer at all.
#[test]
fn where_nobody_looks_odd_frames_and_garbage_leave_byte_for_byte() {
    let garbage: [&[u8]; 8] = [
        b"\x00\xff\xfe\n\n",
        b"data: \xc3\x28\n\n",
        b"data: {\n\ndata: }\n\n",
        b"\n\n\n\r\r\r\n",
        b"<html>502</html>",
        b"data",
        b"event: x\n",
        b"{\"choices\": [",
    ];
    let mut wrong = String::new();
    let rows = tables().into_iter().flat_map(|(_, rows)| rows);
    let odd = rows.map(|(what, body)| (what, body.into_bytes()));
    let garbage = garbage.iter().map(|body| (format!("{body:?}"), body.to_vec()));
    for (what, body) in odd.chain(garbage) {
        let run = Replay::new(log(&what, &body)).cut(Cut::Whole).policy(|| Passthrough).run();
        let error = run.outcome.as_ref().and_then(|outcome| outcome.error.clone());
        if run.bytes() != body || error.is_some() {
            writeln!(wrong, "{what}: {error:?}").unwrap();
        }
    }
    assert_eq!(wrong, "");
}

/// Spellings of a number that are no plain one, or no number.
pub(crate) const NUMBERS: [&str; 16] = [
    "0.0",
    "-0",
    "0e0",
    "1e0",
    "\"0\"",
    "\"1\"",
    "true",
    "false",
    "null",
    "-1",
    "1.5",
    "128",
    "4294967296",
    "99999999999999999999",
    "[0]",
    "{}",
];

/// What ends a line for some clients.
pub(crate) const SEPARATORS: [&str; 9] =
    ["\u{b}", "\u{c}", "\u{1c}", "\u{1d}", "\u{1e}", "\u{85}", "\u{2028}", "\u{2029}", "\r"];

/// Other spellings of a key.
pub(crate) fn spellings(key: &str) -> Vec<String> {
    let escaped = format!("\\u{:04x}{}", u32::from(key.as_bytes()[0]), &key[1..]);
    let camel: String = key.split('_').enumerate().fold(String::new(), |all, (at, word)| {
        let (first, rest) = word.split_at(1);
        all + &(if at == 0 { first.to_owned() } else { first.to_uppercase() }) + rest
    });
    let mut all = vec![escaped, key.to_uppercase(), key.replace('_', "-"), camel];
    let (first, rest) = key.split_at(1);
    all.push(first.to_uppercase() + rest);
    all.push(key.to_owned());
    all
}

/// Ways to bring an event on lines that only some clients read.
pub(crate) fn lines(name: &str, evil: &str) -> Vec<Row> {
    let event = if name.is_empty() { String::new() } else { format!("event: {name}\n") };
    let mut rows = vec![
        ("two lines of data".to_owned(), format!("{event}data: {{\"x\":\ndata: {evil}\ndata: }}\n\n")),
        ("an empty line of data before".to_owned(), format!("{event}data:\ndata: {evil}\n\n")),
        ("data without a blank".to_owned(), format!("{event}data:{evil}\n\n")),
        ("two blanks".to_owned(), format!("{event}data:  {evil}\n\n")),
        ("a blank before data".to_owned(), format!("{event} data: {evil}\n\n")),
        ("a tab before data".to_owned(), format!("{event}\tdata: {evil}\n\n")),
        ("a byte order mark before data".to_owned(), format!("{event}\u{feff}data: {evil}\n\n")),
        ("a no-break space before data".to_owned(), format!("{event}\u{a0}data: {evil}\n\n")),
        ("CR alone".to_owned(), format!("{}data: {evil}\r\r", event.replace('\n', "\r"))),
        ("CR and LF mixed".to_owned(), format!("{event}data: {evil}\r\n\n")),
        ("LF and CR".to_owned(), format!("{event}data: {evil}\n\r")),
        ("bare JSON".to_owned(), format!("{evil}\n\n")),
        ("a capital".to_owned(), format!("{event}Data: {evil}\n\n")),
        ("a comment".to_owned(), format!(": data: {evil}\n\n")),
        ("a comment without a blank".to_owned(), format!(":data: {evil}\n\n")),
        ("a comment between lines".to_owned(), format!("{event}: data: {evil}\ndata: {evil}\n\n")),
        ("an id line".to_owned(), format!("id: data: {evil}\n\n")),
        ("a retry line".to_owned(), format!("retry: 1 data: {evil}\n\n")),
        ("an id line before".to_owned(), format!("id: 7\n{event}data: {evil}\n\n")),
        ("another name".to_owned(), format!("event: ping\ndata: {evil}\n\n")),
        ("the name of an error".to_owned(), format!("event: error\ndata: {evil}\n\n")),
        ("the name behind".to_owned(), format!("data: {evil}\n{event}\n")),
        ("no name".to_owned(), format!("data: {evil}\n\n")),
        ("no border".to_owned(), format!("{event}data: {evil}\n")),
        ("garbage behind".to_owned(), format!("{event}data: {evil} garbage\n\n")),
        ("two values".to_owned(), format!("{event}data: {evil}{evil}\n\n")),
        ("two values, the second evil".to_owned(), format!("{event}data: {{}}{evil}\n\n")),
        ("a comma behind".to_owned(), format!("{event}data: {evil},\n\n")),
        ("in a list".to_owned(), format!("{event}data: [{evil}]\n\n")),
        ("as a string".to_owned(), format!("{event}data: {}\n\n", serde_json::Value::from(evil))),
    ];
    for separator in SEPARATORS {
        let shown = separator.escape_unicode();
        for field in [":", ": ok", "id: 1", "event: message", "x", "retry: 5"] {
            let event = event.replace('\n', separator);
            rows.push((
                format!("{shown} behind {field:?}"),
                format!("{field}{separator}{event}data: {evil}{separator}{separator}\n\n"),
            ));
        }
    }
    rows
}

fn data(json: &str) -> String {
    format!("data: {json}\n\n")
}

fn chunk(choices: &str) -> String {
    format!(r#"{{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{choices}]}}"#)
}

fn delta(delta: &str) -> String {
    chunk(&format!(r#"{{"index":0,"delta":{delta},"finish_reason":null}}"#))
}

fn entry(index: &str, id: &str, function: &str) -> String {
    format!(r#"{{"index":{index},"id":"{id}","type":"function","function":{function}}}"#)
}

const EVIL: &str = r#"{"name":"rm","arguments":"{\"p\":\"evil\"}"}"#;
const FINE: &str = r#"{"name":"ls","arguments":"{\"p\":\".\"}"}"#;
const HALF: &str = r#"{"name":"ls","arguments":"{\"p\":"}"#;

fn chat() -> Vec<Row> {
    let rm = entry("0", "e", EVIL);
    let ls = entry("0", "f", FINE);
    let calls = |list: &str| data(&delta(&format!(r#"{{"tool_calls":[{list}]}}"#)));
    let more = |index: &str, arguments: &str| {
        calls(&format!(r#"{{"index":{index},"function":{{"arguments":"{arguments}"}}}}"#))
    };
    let mut rows: Vec<Row> = lines("", &delta(&format!(r#"{{"tool_calls":[{rm}]}}"#)));
    rows.extend(lines("", &delta(r#"{"content":"SECRET-1234"}"#)));
    let mut add = |what: String, middle: String| rows.push((what, middle));
    for key in spellings("tool_calls") {
        add(
            format!("{key} before tool_calls"),
            data(&delta(&format!(r#"{{"{key}":[{rm}],"tool_calls":[{ls}]}}"#))),
        );
        add(
            format!("{key} behind tool_calls"),
            data(&delta(&format!(r#"{{"tool_calls":[{ls}],"{key}":[{rm}]}}"#))),
        );
        add(format!("{key} alone"), data(&delta(&format!(r#"{{"{key}":[{rm}]}}"#))));
    }
    for key in spellings("function_call") {
        add(
            format!("{key} beside tool_calls"),
            data(&delta(&format!(r#"{{"tool_calls":[{ls}],"{key}":{EVIL}}}"#))),
        );
    }
    for key in spellings("function") {
        let entry = format!(r#"{{"index":0,"id":"f","type":"function","function":{FINE},"{key}":{EVIL}}}"#);
        add(format!("{key} behind function"), calls(&entry));
        let entry = format!(r#"{{"index":0,"id":"f","type":"function","{key}":{EVIL},"function":{FINE}}}"#);
        add(format!("{key} before function"), calls(&entry));
    }
    for key in spellings("name") {
        add(
            format!("{key} behind name"),
            calls(&entry("0", "f", &format!(r#"{{"name":"ls","{key}":"rm","arguments":"{{}}"}}"#))),
        );
        add(
            format!("{key} before name"),
            calls(&entry("0", "f", &format!(r#"{{"{key}":"rm","name":"ls","arguments":"{{}}"}}"#))),
        );
    }
    for key in spellings("arguments") {
        let evil = r#""{\"p\":\"evil\"}""#;
        add(
            format!("{key} beside arguments"),
            calls(&entry("0", "f", &format!(r#"{{"name":"ls","{key}":{evil},"arguments":"{{}}"}}"#))),
        );
    }
    for key in spellings("delta") {
        add(
            format!("{key} beside delta"),
            data(&chunk(&format!(
                r#"{{"index":0,"delta":{{"tool_calls":[{ls}]}},"{key}":{{"tool_calls":[{rm}]}},"finish_reason":null}}"#
            ))),
        );
    }
    for key in spellings("choices") {
        let one = format!(r#"{{"index":0,"delta":{{"tool_calls":[{rm}]}},"finish_reason":null}}"#);
        add(
            format!("{key} beside choices"),
            data(&format!(r#"{{"id":"c","object":"chat.completion.chunk","choices":[],"{key}":[{one}]}}"#)),
        );
    }
    for key in spellings("content") {
        add(
            format!("{key} beside content"),
            data(&delta(&format!(r#"{{"content":"a","{key}":"SECRET-1234"}}"#))),
        );
    }
    for number in NUMBERS {
        add(format!("index {number} opens"), calls(&ls) + &calls(&entry(number, "e", EVIL)));
        add(
            format!("index {number} opens without an id"),
            calls(&ls) + &calls(&format!(r#"{{"index":{number},"type":"function","function":{EVIL}}}"#)),
        );
        add(
            format!("index {number} goes on"),
            calls(&entry("0", "f", HALF)) + &calls(&entry("1", "g", HALF)) + &more(number, r#"\"evil\"}"#),
        );
        add(
            format!("index {number} opens, and 0 goes on"),
            calls(&entry(number, "f", HALF)) + &more("0", r#"\"evil\"}"#),
        );
        add(
            format!("choice {number}"),
            data(&chunk(&format!(
                r#"{{"index":{number},"delta":{{"tool_calls":[{rm}]}},"finish_reason":null}}"#
            ))),
        );
        add(
            format!("choice {number} says a secret"),
            data(&chunk(&format!(
                r#"{{"index":{number},"delta":{{"content":"SECRET-"}},"finish_reason":null}}"#
            ))) + &data(&delta(r#"{"content":"1234"}"#)),
        );
        add(
            format!("choice {number} goes on"),
            calls(&entry("0", "f", HALF))
                + &data(&chunk(&format!(
                    r#"{{"index":{number},"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"\"evil\"}}"}}}}]}},"finish_reason":null}}"#
                ))),
        );
    }
    let choice =
        |index: &str, delta: &str| format!(r#"{{"index":{index},"delta":{delta},"finish_reason":null}}"#);
    let evil = format!(r#"{{"tool_calls":[{rm}]}}"#);
    for (what, choices) in [
        ("choices out of order", [choice("1", &evil), choice("0", r#"{"content":"a"}"#)]),
        ("one number for two choices", [choice("0", r#"{"content":"a"}"#), choice("0", &evil)]),
        ("a second choice", [choice("0", r#"{"content":"a"}"#), choice("1", &evil)]),
        ("no numbers", [evil.clone(), evil.clone()].map(|delta| format!(r#"{{"delta":{delta}}}"#))),
        ("an empty choice first", [choice("5", "{}"), choice("0", &evil)]),
    ] {
        add(what.to_owned(), data(&chunk(&choices.join(","))));
    }
    for (what, middle) in [
        (
            "a name in two parts",
            calls(&entry("0", "f", r#"{"name":"r","arguments":""}"#))
                + &calls(r#"{"index":0,"function":{"name":"m","arguments":"{}"}}"#),
        ),
        (
            "a name that comes late",
            calls(r#"{"index":0,"id":"f","function":{"arguments":"{\"p\":"}}"#)
                + &calls(r#"{"index":0,"function":{"name":"rm","arguments":"\"evil\"}"}}"#),
        ),
        (
            "an empty name, then another",
            calls(&entry("0", "f", r#"{"name":"","arguments":"{}"}"#))
                + &calls(r#"{"index":0,"function":{"name":"rm"}}"#),
        ),
        (
            "a null name, then another",
            calls(&entry("0", "f", r#"{"name":null,"arguments":null}"#))
                + &calls(r#"{"index":0,"function":{"name":"rm","arguments":"{}"}}"#),
        ),
        ("another name under the same id", calls(&ls) + &calls(&entry("0", "f", EVIL))),
        ("another id at the same index", calls(&ls) + &calls(&entry("0", "e", EVIL))),
        ("the same id at another index", calls(&ls) + &calls(&entry("1", "f", EVIL))),
        (
            "the id of the first at the index of the second",
            calls(&entry("0", "f", HALF))
                + &calls(&entry("1", "g", HALF))
                + &calls(r#"{"index":1,"id":"f","function":{"arguments":"\"evil\"}"}}"#),
        ),
        ("arguments behind a whole value", calls(&ls) + &more("0", r#"{\"p\":\"evil\"}"#)),
        (
            "arguments behind null",
            calls(&entry("0", "f", r#"{"name":"ls","arguments":"null"}"#)) + &more("0", "null"),
        ),
        (
            "a number that goes on",
            calls(&entry("0", "f", r#"{"name":"ls","arguments":"1"}"#)) + &more("0", "2"),
        ),
        (
            "arguments that go on behind the finish",
            calls(&entry("0", "f", HALF))
                + &data(&chunk(r#"{"index":0,"delta":{},"finish_reason":"tool_calls"}"#))
                + &more("0", r#"\"evil\"}"#),
        ),
        (
            "calls that take turns",
            calls(&entry("0", "f", HALF))
                + &calls(&entry("1", "g", r#"{"name":"ls","arguments":"{\"p\":\"e"}"#))
                + &more("0", r#"\".\"}"#)
                + &more("1", r#"vil\"}"#),
        ),
        (
            "calls that take turns without ids",
            calls(&entry("0", "f", HALF))
                + &calls(&entry("1", "g", HALF))
                + &more("1", r#"\".\"}"#)
                + &more("0", r#"\"evil\"}"#),
        ),
        (
            "two calls in one frame that take turns",
            calls(&format!(
                "{},{},{}",
                entry("0", "f", HALF),
                entry("1", "g", HALF),
                r#"{"index":0,"function":{"arguments":"\"evil\"}"}}"#
            )),
        ),
        (
            "a call behind the finish",
            data(&chunk(r#"{"index":0,"delta":{},"finish_reason":"stop"}"#)) + &calls(&rm),
        ),
        ("a call behind the marker", data("[DONE]") + &calls(&rm)),
        ("a call behind a marker with a blank", data("[DONE] ") + &calls(&rm)),
        ("a call behind an error", data(r#"{"error":{"message":"x"}}"#) + &calls(&rm)),
        (
            "a call beside an error",
            data(&format!(r#"{{"error":{{"message":"x"}},"choices":[{}]}}"#, choice("0", &evil))),
        ),
        (
            "a call in an empty error",
            data(&format!(r#"{{"error":{{}},"choices":[{}]}}"#, choice("0", &evil))),
        ),
        (
            "the call that was refused",
            data(&format!(
                r#"{{"error":{{"message":"x","failed_generation":{}}}}}"#,
                serde_json::Value::from(rm.as_str())
            )),
        ),
        ("a call in a prototype", data(&delta(&format!(r#"{{"__proto__":{{"tool_calls":[{rm}]}}}}"#)))),
        (
            "a call in a prototype in escapes",
            data(&delta(&format!(r#"{{"\u005f_proto__":{{"tool_calls":[{rm}]}}}}"#))),
        ),
        (
            "a call with the usage",
            data(&format!(
                r#"{{"object":"chat.completion.chunk","choices":[],"usage":{{"total_tokens":1,"tool_calls":[{rm}]}}}}"#
            )),
        ),
        (
            "a call at the top",
            data(&format!(r#"{{"object":"chat.completion.chunk","choices":[],"tool_calls":[{rm}]}}"#)),
        ),
        (
            "a call in a message",
            data(&chunk(&format!(r#"{{"index":0,"message":{{"tool_calls":[{rm}]}},"finish_reason":null}}"#))),
        ),
        (
            "a call in a message beside a delta",
            data(&chunk(&format!(
                r#"{{"index":0,"delta":{{"content":"a"}},"message":{{"tool_calls":[{rm}]}},"finish_reason":null}}"#
            ))),
        ),
        (
            "a secret in a message beside a delta",
            data(&chunk(
                r#"{"index":0,"delta":{"content":"a"},"message":{"content":"SECRET-1234"},"finish_reason":null}"#,
            )),
        ),
        (
            "a secret in the text beside a delta",
            data(&chunk(r#"{"index":0,"delta":{"content":"a"},"text":"SECRET-1234","finish_reason":null}"#)),
        ),
        (
            "both kinds of tools",
            calls(&format!(
                r#"{{"index":0,"id":"f","type":"function","function":{FINE},"custom":{{"name":"rm","input":"evil"}}}}"#
            )),
        ),
        (
            "a custom tool as a function",
            calls(r#"{"index":0,"id":"f","type":"function","custom":{"name":"rm","input":"evil"}}"#),
        ),
        (
            "a function as a custom tool",
            calls(&format!(r#"{{"index":0,"id":"f","type":"custom","function":{EVIL}}}"#)),
        ),
        (
            "a type nobody knows",
            calls(&format!(r#"{{"index":0,"id":"f","type":"program","function":{EVIL}}}"#)),
        ),
        ("arguments as an object", calls(&entry("0", "f", r#"{"name":"ls","arguments":{"p":"evil"}}"#))),
        ("arguments as a list", calls(&entry("0", "f", r#"{"name":"ls","arguments":["evil"]}"#))),
        ("calls as an object", data(&delta(&format!(r#"{{"tool_calls":{{"0":{rm}}}}}"#)))),
        (
            "calls as a string",
            data(&delta(&format!(r#"{{"tool_calls":{}}}"#, serde_json::Value::from(format!("[{rm}]"))))),
        ),
        ("calls in a list of lists", data(&delta(&format!(r#"{{"tool_calls":[[{rm}]]}}"#)))),
        ("a null call first", data(&delta(&format!(r#"{{"tool_calls":[null,{rm}]}}"#)))),
        ("the role of a tool", data(&delta(&format!(r#"{{"role":"tool","tool_calls":[{rm}]}}"#)))),
        ("both forms of calls", data(&delta(&format!(r#"{{"tool_calls":[{ls}],"function_call":{EVIL}}}"#)))),
        (
            "a second call of the older form",
            data(&delta(&format!(r#"{{"function_call":{FINE}}}"#)))
                + &data(&delta(&format!(r#"{{"function_call":{EVIL}}}"#))),
        ),
        ("a lone surrogate in a name", calls(&entry("0", "f", r#"{"name":"rm\ud800","arguments":"{}"}"#))),
        ("a lone surrogate in a text", data(&delta(r#"{"content":"\ud800SECRET-1234"}"#))),
        (
            "a number that is none",
            data(&chunk(&format!(r#"{{"index":0,"delta":{{"tool_calls":[{rm}]}},"logprobs":NaN}}"#))),
        ),
        ("a secret in escapes", data(&delta(r#"{"content":"\u0053ECRET-\u0031234"}"#))),
        ("a secret in an unknown field", data(&delta(r#"{"content":"a","note":"SECRET-1234"}"#))),
        (
            "a secret in an unknown field at the top",
            data(r#"{"object":"chat.completion.chunk","choices":[],"note":{"deep":["SECRET-1234"]}}"#),
        ),
        (
            "a secret in log probabilities",
            data(&chunk(
                r#"{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"SECRET-1234","logprob":0,"top_logprobs":[]}]},"finish_reason":null}"#,
            )),
        ),
        (
            "a secret over twins",
            data(&delta(r#"{"reasoning":"SECRET-","reasoning_content":"x"}"#))
                + &data(&delta(r#"{"reasoning":"1234","reasoning_content":"y"}"#)),
        ),
        (
            "a secret over a list",
            data(&delta(r#"{"content":"SECRET-"}"#))
                + &data(&delta(r#"{"content":[{"type":"text","text":"12"},{"type":"text","text":"34"}]}"#)),
        ),
        (
            "a secret over a refusal",
            data(&delta(r#"{"content":"SECRET-"}"#))
                + &data(&delta(r#"{"refusal":"x"}"#))
                + &data(&delta(r#"{"content":"1234"}"#)),
        ),
        (
            "a secret over a call",
            data(&delta(r#"{"content":"SECRET-"}"#)) + &calls(&ls) + &data(&delta(r#"{"content":"1234"}"#)),
        ),
        (
            "a secret over the finish",
            data(&delta(r#"{"content":"SECRET-"}"#))
                + &data(&chunk(r#"{"index":0,"delta":{},"finish_reason":"stop"}"#))
                + &data(&delta(r#"{"content":"1234"}"#)),
        ),
        ("a secret in an id", calls(&entry("0", "SECRET-1234", FINE))),
        (
            "a secret in arguments",
            calls(&entry("0", "f", r#"{"name":"ls","arguments":"{\"p\":\"SECRET-1234\"}"}"#)),
        ),
    ] {
        add(what.to_owned(), middle);
    }
    let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
    add("deep nesting".to_owned(), data(&delta(&format!(r#"{{"x":{deep},"tool_calls":[{rm}]}}"#))));
    let long = "k".repeat(1_000_000);
    add("a very long key".to_owned(), data(&delta(&format!(r#"{{"{long}":1,"tool_calls":[{rm}]}}"#))));
    let start = data(&delta(r#"{"role":"assistant","content":""}"#));
    let end = data(&chunk(r#"{"index":0,"delta":{},"finish_reason":"tool_calls"}"#)) + &data("[DONE]");
    rows.into_iter().map(|(what, middle)| (what, format!("{start}{middle}{end}"))).collect()
}

fn chat_whole() -> Vec<Row> {
    let call = |function: &str| format!(r#"{{"id":"e","type":"function","function":{function}}}"#);
    let (rm, ls) = (call(EVIL), call(FINE));
    let body = |choices: &str| {
        format!(r#"{{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{choices}]}}"#)
    };
    let choice = |message: &str| format!(r#"{{"index":0,"message":{message},"finish_reason":"tool_calls"}}"#);
    let mut rows = Vec::new();
    for key in spellings("tool_calls") {
        rows.push((
            format!("whole: {key} beside tool_calls"),
            body(&choice(&format!(r#"{{"role":"assistant","tool_calls":[{ls}],"{key}":[{rm}]}}"#))),
        ));
    }
    for key in spellings("message") {
        rows.push((format!("whole: {key} beside message"), body(&format!(r#"{{"index":0,"message":{{"tool_calls":[{ls}]}},"{key}":{{"tool_calls":[{rm}]}},"finish_reason":"stop"}}"#))));
    }
    for key in spellings("name") {
        rows.push((
            format!("whole: {key} beside name"),
            body(&choice(&format!(
                r#"{{"tool_calls":[{}]}}"#,
                call(&format!(r#"{{"name":"ls","{key}":"rm","arguments":"{{}}"}}"#))
            ))),
        ));
    }
    for number in NUMBERS {
        rows.push((format!("whole: choice {number}"), body(&format!(r#"{{"index":{number},"message":{{"role":"assistant","content":"SECRET-1234","tool_calls":[{rm}]}},"finish_reason":"stop"}}"#))));
        rows.push((
            format!("whole: index {number}"),
            body(&choice(&format!(r#"{{"tool_calls":[{}]}}"#, entry(number, "e", EVIL)))),
        ));
    }
    for (what, text) in [
        (
            "a delta beside the message",
            body(&format!(
                r#"{{"index":0,"message":{{"content":"a"}},"delta":{{"tool_calls":[{rm}]}},"finish_reason":"stop"}}"#
            )),
        ),
        (
            "a delta alone",
            body(&format!(r#"{{"index":0,"delta":{{"tool_calls":[{rm}]}},"finish_reason":"stop"}}"#)),
        ),
        (
            "arguments as an object",
            body(&choice(
                r#"{"tool_calls":[{"id":"e","type":"function","function":{"name":"ls","arguments":{"p":"evil"}}}]}"#,
            )),
        ),
        (
            "a function as a custom tool",
            body(&choice(&format!(r#"{{"tool_calls":[{{"id":"e","type":"custom","function":{EVIL}}}]}}"#))),
        ),
        (
            "both kinds of tools",
            body(&choice(&format!(
                r#"{{"tool_calls":[{{"id":"e","type":"function","function":{FINE},"custom":{{"name":"rm","input":"evil"}}}}]}}"#
            ))),
        ),
        ("both forms of calls", body(&choice(&format!(r#"{{"tool_calls":[{ls}],"function_call":{EVIL}}}"#)))),
        (
            "choices out of order",
            body(&format!(
                r#"{{"index":1,"message":{{"tool_calls":[{rm}]}}}},{}"#,
                choice(r#"{"content":"SECRET-1234"}"#)
            )),
        ),
        (
            "one number for two choices",
            body(&format!(
                "{},{}",
                choice(&format!(r#"{{"tool_calls":[{ls}]}}"#)),
                choice(&format!(r#"{{"tool_calls":[{rm}]}}"#))
            )),
        ),
        (
            "calls at the top",
            format!(
                r#"{{"object":"chat.completion","choices":[{}],"tool_calls":[{rm}]}}"#,
                choice(r#"{"content":"a"}"#)
            ),
        ),
        ("a secret in an unknown field", body(&choice(r#"{"content":"a","note":"SECRET-1234"}"#))),
        (
            "a secret over a list",
            body(&choice(r#"{"content":[{"type":"text","text":"SECRET-"},{"type":"text","text":"1234"}]}"#)),
        ),
        ("garbage behind", body(&choice(&format!(r#"{{"tool_calls":[{rm}]}}"#))) + "x"),
        ("a byte order mark", format!("\u{feff}{}", body(&choice(&format!(r#"{{"tool_calls":[{rm}]}}"#))))),
    ] {
        rows.push((format!("whole: {what}"), text));
    }
    rows
}

fn gemini() -> Vec<Row> {
    let event = |parts: &str| {
        format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0}}]}}"#)
    };
    let rm = r#"{"functionCall":{"name":"rm","args":{"p":"evil"}}}"#;
    let ls = r#"{"functionCall":{"name":"ls","args":{"p":"."}}}"#;
    let mut middles: Vec<Row> = lines("", &event(rm));
    middles.extend(lines("", &event(r#"{"text":"SECRET-1234"}"#)));
    for (key, value) in [("functionCall", r#"{"name":"rm","args":{}}"#), ("text", r#""SECRET-1234""#)] {
        let mut keys = spellings(key);
        keys.push("function_call".to_owned());
        for key in keys {
            middles.push((format!("{key} in a part"), data(&event(&format!(r#"{{"{key}":{value}}}"#)))));
            middles.push((
                format!("{key} beside a text"),
                data(&event(&format!(r#"{{"text":"a","{key}":{value}}}"#))),
            ));
            middles.push((
                format!("{key} beside a call"),
                data(&event(&format!(r#"{{"functionCall":{{"name":"ls","args":{{}}}},"{key}":{value}}}"#))),
            ));
        }
    }
    for key in spellings("name") {
        middles.push((
            format!("{key} beside name"),
            data(&event(&format!(r#"{{"functionCall":{{"name":"ls","{key}":"rm","args":{{}}}}}}"#))),
        ));
    }
    for key in spellings("args") {
        middles.push((
            format!("{key} beside args"),
            data(&event(&format!(
                r#"{{"functionCall":{{"name":"ls","{key}":{{"p":"evil"}},"args":{{}}}}}}"#
            ))),
        ));
    }
    for key in spellings("candidates") {
        let one = format!(r#"{{"content":{{"parts":[{rm}]}}}}"#);
        middles.push((
            format!("{key} beside candidates"),
            data(&format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"text":"a"}}]}}}}],"{key}":[{one}]}}"#
            )),
        ));
    }
    for number in NUMBERS {
        middles.push((format!("candidate {number}"), data(&format!(r#"{{"candidates":[{{"content":{{"parts":[{rm},{{"text":"SECRET-1234"}}]}},"index":{number}}}]}}"#))));
        middles.push((format!("candidate {number} behind another"), data(&format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"SECRET-"}}]}},"index":{number}}},{{"content":{{"parts":[{rm},{{"text":"1234"}}]}},"index":0}}]}}"#))));
    }
    for (what, middle) in [
        (
            "a call beside a text in a part",
            data(&event(r#"{"text":"SECRET-1234","functionCall":{"name":"rm","args":{"p":"evil"}}}"#)),
        ),
        ("two calls", data(&event(&format!("{ls},{rm}")))),
        (
            "arguments in parts",
            data(&event(
                r#"{"functionCall":{"name":"ls","willContinue":true,"partialArgs":[{"jsonPath":"$.p","stringValue":"ev","willContinue":true}]}}"#,
            )) + &data(&event(r#"{"functionCall":{"partialArgs":[{"jsonPath":"$.p","stringValue":"il"}]}}"#))
                + &data(&event(r#"{"functionCall":{}}"#)),
        ),
        (
            "arguments and parts of them",
            data(&event(
                r#"{"functionCall":{"name":"ls","args":{"p":"."},"partialArgs":[{"jsonPath":"$.p","stringValue":"evil"}]}}"#,
            )),
        ),
        (
            "a name that comes late",
            data(&event(r#"{"functionCall":{"name":"","args":{}}}"#))
                + &data(&event(r#"{"functionCall":{"name":"rm"}}"#)),
        ),
        (
            "a call beside an error",
            data(&format!(r#"{{"error":{{"code":1}},"candidates":[{{"content":{{"parts":[{rm}]}}}}]}}"#)),
        ),
        (
            "a call behind the finish",
            data(r#"{"candidates":[{"finishReason":"STOP","index":0}]}"#) + &data(&event(rm)),
        ),
        (
            "a secret over parts",
            data(&event(r#"{"text":"SECRET-"},{"text":"x","thought":true},{"text":"1234"}"#)),
        ),
        (
            "a secret over chunks",
            data(&event(r#"{"text":"SECRET-"}"#))
                + &data(&event(r#"{"inlineData":{"mimeType":"text/plain","data":"eA=="}}"#))
                + &data(&event(r#"{"text":"1234"}"#)),
        ),
        (
            "a secret in code",
            data(&event(r#"{"executableCode":{"language":"PYTHON","code":"SECRET-1234"}}"#)),
        ),
        (
            "a secret in a result",
            data(&event(r#"{"codeExecutionResult":{"outcome":"OK","output":"SECRET-1234"}}"#)),
        ),
        (
            "a secret in a citation",
            data(
                r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"citationMetadata":{"citationSources":[{"uri":"SECRET-1234"}]},"index":0}]}"#,
            ),
        ),
        ("a lone surrogate", data(&event(r#"{"functionCall":{"name":"rm","args":{"p":"\ud800"}}}"#))),
        (
            "content as a list",
            data(&format!(r#"{{"candidates":[{{"content":[{{"parts":[{rm}]}}],"index":0}}]}}"#)),
        ),
        (
            "parts as an object",
            data(&format!(r#"{{"candidates":[{{"content":{{"parts":{rm}}},"index":0}}]}}"#)),
        ),
        (
            "a call in a response",
            data(&event(r#"{"functionResponse":{"name":"rm","response":{"x":"SECRET-1234"}}}"#)),
        ),
    ] {
        middles.push((what.to_owned(), middle));
    }
    let start = data(&event(r#"{"text":"Hm."}"#));
    let end = data(
        r#"{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}]}"#,
    );
    let mut rows: Vec<Row> =
        middles.into_iter().map(|(what, middle)| (what, format!("{start}{middle}{end}"))).collect();
    let evil = event(&format!(r#"{rm},{{"text":"SECRET-1234"}}"#));
    rows.push(("whole".to_owned(), evil.clone()));
    rows.push(("a list of responses".to_owned(), format!("[{},{evil}]", event(r#"{"text":"a"}"#))));
    rows.push(("a list in a list".to_owned(), format!("[[{evil}]]")));
    for key in spellings("candidates") {
        let one = format!(r#"{{"content":{{"parts":[{rm}]}}}}"#);
        let body = format!(r#"{{"candidates":[],"{key}":[{one}]}}"#);
        rows.push((format!("whole, {key} beside candidates"), body.clone()));
        rows.push((format!("a list, {key} beside candidates"), format!("[{body}]")));
    }
    rows
}
