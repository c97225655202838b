//! Gates, the validator, and the keys that every kind has.

use std::time::Duration;

use bytes::Bytes;
use stream_core::{Request, SessionKey, Tool};
use stream_testkit::{ChunkLog, Script, WireKind};

use super::row::Row;

pub(super) fn rows() -> Vec<Row> {
    let judged = ["tool-gate", "buffered-judge"].into_iter().flat_map(rules);
    [blocked(), common(), tool_gate(), finish_gate(), validate(), quota()]
        .into_iter()
        .flatten()
        .chain(judged)
        .collect()
}

/// A text and two calls.
pub(super) fn calls() -> Script {
    Script::new().text("Look.").call("call_1", "rm", r#"{"path":"/a"}"#).call(
        "call_2",
        "ls",
        r#"{"path":"/b"}"#,
    )
}

/// One call of a shell.
fn shell(arguments: &str) -> Script {
    Script::new().text("So.").call("call_1", "shell", arguments)
}

/// The words of an answer that ends with an error.
fn blocked() -> Vec<Row> {
    let ends =
        |words: &str| format!("[blocked]\n{words}\n[[policy]]\nkind = \"quota\"\nbytes = 3\nerror = true\n");
    vec![
        Row::new("blocked.code", &ends("type = \"house\"\n@"), ["code = \"guardrail\"", ""], calls()),
        // Streams of Responses and Messages have a place for the code alone.
        Row::new("blocked.type", &ends("code = \"guardrail\"\n@"), ["type = \"house\"", ""], calls())
            .only(&[WireKind::OpenAiChat, WireKind::Gemini]),
    ]
}

fn common() -> Vec<Row> {
    let gate =
        |keys: &str| format!("[[policy]]\nkind = \"tool-gate\"\nrules = {{ default = \"deny\" }}\n{keys}");
    let offers = Request::new().model("small-1").tool(Tool::new("bash")).without_session();
    vec![
        Row::new("any.monitor", &gate("@"), ["monitor = true", ""], calls()),
        Row::new("any.on_failure", "[[policy]]\nkind = \"fails\"\n@", ["on_failure = \"open\"", ""], calls()),
        Row::new("any.time_limit", "[[policy]]\nkind = \"waits\"\n@", ["time_limit = \"10ms\"", ""], calls()),
        Row::new(
            "any.when.models",
            &gate("when = { models = [@] }"),
            ["\"small-*\"", "\"large-*\""],
            calls(),
        ),
        Row::new("any.when.offers", &gate("when = { offers = [@] }"), ["\"bash\"", "\"zsh\""], calls())
            .to(offers),
        Row::new("any.when.tools", &gate("when = { tools = [@] }"), ["\"rm\"", "\"ls\""], calls()),
    ]
}

fn tool_gate() -> Vec<Row> {
    let gate =
        |keys: &str| format!("[[policy]]\nkind = \"tool-gate\"\nrules = {{ default = \"deny\" }}\n{keys}");
    vec![
        Row::new("tool-gate.on_deny", &gate("@"), ["on_deny = \"end\"", ""], calls()),
        Row::new("tool-gate.notice", &gate("@"), ["notice = \"[no]\"", ""], calls()),
        Row::new("tool-gate.message", &gate("on_deny = \"end\"\n@"), ["message = \"never\"", ""], calls()),
        Row::new(
            "buffered-judge.message",
            "[[policy]]\nkind = \"buffered-judge\"\nrules = { default = \"deny\" }\n@",
            ["message = \"never\"", ""],
            calls(),
        ),
    ]
}

/// The rules of a gate.
fn rules(kind: &str) -> Vec<Row> {
    let row = |key: &str, rules: &str, values: [&str; 2]| {
        let file = format!("[[policy]]\nkind = \"{kind}\"\nrules = {{ {rules} }}\n");
        Row::new(format!("{kind}.rules.{key}"), &file, values, calls())
    };
    let provider_runs = |kind: WireKind| {
        let script = match kind {
            WireKind::AnthropicMessages => Script::new().opaque(
                "server_tool_use",
                r#"{"id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}"#,
            ),
            _ => Script::new().opaque(
                "web_search_call",
                r#"{"status":"completed","action":{"type":"search","query":"x"}}"#,
            ),
        };
        script.text("Done.").to_log(kind)
    };
    let file = format!("[[policy]]\nkind = \"{kind}\"\nrules = {{ default = \"allow\", @ }}\n");
    let server = Row::over(
        format!("{kind}.rules.server"),
        &file,
        ["server = \"deny\"", "server = \"allow\""],
        provider_runs,
    )
    // No other format has calls that the provider runs.
    .only(&[WireKind::AnthropicMessages, WireKind::OpenAiResponses]);
    let mut rows = vec![
        row("default", "default = @", ["\"deny\"", "\"allow\""]),
        server,
        row(
            "deny[].because",
            "default = \"allow\", deny = [{ tools = [\"rm\"], @ }]",
            ["because = \"never\"", "because = \"not today\""],
        ),
        Row::refused(
            format!("{kind}.rules.allow[].because"),
            &format!("[[policy]]\nkind = \"{kind}\"\nrules = {{ default = \"deny\", allow = [{{ tools = [\"rm\"], @ }}] }}")
                .replace(", @", "@"),
            ", because = \"always\"",
            "line 3, column 56: policy[0].rules: allow[0].because: expected a reason beside a rule that denies, found one \
             beside a rule that allows",
        ),
    ];
    for (list, otherwise) in [("deny", "allow"), ("allow", "deny")] {
        let rule = |keys: &str| {
            format!("default = \"{otherwise}\", server = \"{otherwise}\", {list} = [{{ {keys} }}]")
        };
        let when = |key: &str, condition: &str, values: [&str; 2]| {
            let rules = rule(&format!("tools = [\"*\"], when = [{{ {condition} }}]"));
            row(&format!("{list}[].when[].{key}"), &rules, values)
        };
        rows.extend([
            row(&format!("{list}[].tools"), &rule("tools = [@]"), ["\"rm\"", "\"none\""]),
            row(&format!("{list}[].runs"), &rule("tools = [\"rm\"], runs = @"), ["\"client\"", "\"server\""]),
            when("at", "at = @, equals = \"/a\"", ["\"/path\"", "\"/other\""]),
            when("equals", "at = \"/path\", equals = @", ["\"/a\"", "\"/c\""]),
            when("glob", "at = \"/path\", glob = @", ["\"/a*\"", "\"/c*\""]),
            when("regex", "at = \"/path\", regex = @", ["\"/a.*\"", "\"/c.*\""]),
            when("present", "at = \"/path\", present = @", ["true", "false"]),
        ]);
    }
    rows
}

fn finish_gate() -> Vec<Row> {
    let gate = |keys: &str| format!("[[policy]]\nkind = \"finish-gate\"\n{keys}\n");
    let late = || shell(r#"{"a":1}"#).pause(Duration::from_secs(5));
    // The finish reason is taken out; the terminal marker stays.
    let unfinished = |kind: WireKind| {
        let bytes = shell(r#"{"a":1}"#).bytes(kind);
        let text = std::str::from_utf8(&bytes).unwrap();
        let text = text.replace("\"finish_reason\":\"tool_calls\"", "\"finish_reason\":null");
        let text = text.replace("\"stop_reason\":\"tool_use\"", "\"stop_reason\":null");
        assert_ne!(text.as_bytes(), bytes);
        ChunkLog::from_chunks("unfinished", [(Duration::ZERO, Bytes::from(text))])
    };
    vec![
        Row::new("finish-gate.release", &gate("@"), ["release = \"complete\"", ""], calls().cut()),
        Row::new("finish-gate.deadline", &gate("@"), ["deadline = \"1s\"", ""], late()),
        Row::new(
            "finish-gate.without_finish",
            &gate("deadline = \"1s\"\n@"),
            ["without_finish = \"release\"", ""],
            late(),
        ),
        // The other formats end with their finish.
        Row::over("finish-gate.terminal_finishes", &gate("@"), ["terminal_finishes = false", ""], unfinished)
            .only(&[WireKind::OpenAiChat, WireKind::AnthropicMessages]),
    ]
}

fn validate() -> Vec<Row> {
    let file = |keys: &str| format!("[[policy]]\nkind = \"validate-parameters\"\n{keys}\n");
    let tool = |keys: &str| file(&format!("[policy.tools.shell]\n{keys}"));
    let asked = || Request::new().model("small-1").without_session();
    let schema = r#"{"type":"object","required":["command"],"properties":{"command":{"type":"string"}}}"#;
    let key = |name: &str| format!("validate-parameters.{name}");
    let invalid = || shell("{}");
    let required = "[policy.tools.shell]\nrequired = [\"command\"]";
    vec![
        Row::new(
            key("tools.*.required"),
            &tool("required = [@]"),
            ["\"command\"", "\"other\""],
            shell(r#"{"command":"ls"}"#),
        ),
        Row::new(
            key("tools.*.aliases"),
            &tool("required = [\"command\"]\naliases = { command = [@] }"),
            ["\"cmd\"", "\"bash\""],
            shell(r#"{"cmd":"ls"}"#),
        ),
        Row::new(
            key("tools.*.schema"),
            &tool("schema = { type = \"object\", properties = { command = { type = @ } } }"),
            ["\"integer\"", "\"string\""],
            shell(r#"{"command":"ls"}"#),
        ),
        Row::new(
            key("tools.*.allow_empty"),
            &tool("required = [\"command\"]\n@"),
            ["allow_empty = true", ""],
            shell(r#"{"command":""}"#),
        ),
        Row::new(
            key("allow_empty"),
            &file(&format!("@\n{required}")),
            ["allow_empty = true", ""],
            shell(r#"{"command":""}"#),
        ),
        Row::new(
            key("aliases"),
            &file(&format!("aliases = {{ command = [@] }}\n{required}")),
            ["\"cmd\"", "\"bash\""],
            shell(r#"{"cmd":"ls"}"#),
        ),
        Row::new(key("offered"), &file("@"), ["offered = false", ""], invalid())
            .to(asked().tool(Tool::new("shell").schema(schema))),
        Row::new(key("unknown_tools"), &file("@"), ["unknown_tools = \"refuse\"", ""], invalid()),
        Row::new(
            key("on_invalid"),
            &file(&format!("@\n{required}")),
            ["on_invalid = \"terminate\"", ""],
            invalid(),
        ),
        Row::new(key("notice"), &file(&format!("@\n{required}")), ["notice = \"json\"", ""], invalid()),
        Row::new(key("budget"), &file(&format!("budget = @\n{required}")), ["1", "5"], invalid())
            .to(Request::new().model("small-1").extension(SessionKey::new("one"))),
    ]
}

fn quota() -> Vec<Row> {
    let row = |key: &str, keys: &str, values: [&str; 2], script: Script| {
        Row::new(format!("quota.{key}"), &format!("[[policy]]\nkind = \"quota\"\n{keys}\n"), values, script)
    };
    vec![
        row("bytes", "bytes = @", ["3", "300"], calls()),
        row("blocks", "blocks = @", ["1", "10"], calls()),
        row("calls", "calls = @", ["1", "10"], calls()),
        row("seconds", "seconds = @", ["0.5", "500.0"], calls().pace(Duration::from_secs(1))),
        row("message", "calls = 1\n@", ["message = \"enough\"", ""], calls()),
        row("error", "calls = 1\n@", ["error = true", ""], calls()),
    ]
}
