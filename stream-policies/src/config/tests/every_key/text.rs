//! Calls that are written as text.

use stream_core::{CallTags, Request};
use stream_testkit::{Fragments, Script};

use super::row::Row;

pub(super) fn rows() -> Vec<Row> {
    [searched(), own_searched(), rewritten(), written("rewrite-tags"), written("demote-calls")]
        .into_iter()
        .flatten()
        .collect()
}

fn says(text: &str) -> Script {
    Script::new().text(text).text_fragments(Fragments::Chars(6))
}

const HERMES: &str = r#"So: <tool_call>{"name":"rm","arguments":{"a":"x"}}</tool_call> done."#;
const GATE: &str = "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"deny\" }\n";

/// What is looked for.
fn searched() -> Vec<Row> {
    let row = |key: &str, keys: &str, values: [&str; 2], text: &str| {
        Row::new(format!("text_calls.{key}"), &format!("{GATE}[text_calls]\n{keys}\n"), values, says(text))
    };
    let asked = Request::new().model("qwen3-8b").without_session();
    vec![
        row("dialects", "dialects = [@]", ["\"hermes\"", "\"kimi-k2\""], HERMES),
        row("by_model", "dialects = [\"kimi-k2\"]\n@", ["by_model = true", ""], HERMES).to(asked),
        row(
            "reasoning",
            "dialects = [\"hermes\"]\ncount = \"outside_code\"\nreasoning = [[@]]",
            ["\"<think>\", \"</think>\"", "\"<hm>\", \"</hm>\""],
            &format!("<think>{HERMES}</think>"),
        ),
        row(
            "count",
            "dialects = [\"hermes\"]\n@",
            ["count = \"outside_code\"", ""],
            &format!("```\n{HERMES}\n```\n"),
        ),
    ]
}

/// Dialects of one's own that are looked for.
fn own_searched() -> Vec<Row> {
    let file = |keys: &str| format!("{GATE}[[text_calls.own]]\n{keys}\n");
    let row = |key: &str, keys: &str, values: [&str; 2], text: &str| {
        let keys = if key == "name" { keys.to_owned() } else { format!("name = \"mine\"\n{keys}") };
        Row::new(format!("text_calls.own[].{key}"), &file(&keys), values, says(text))
    };
    let json = r#"{"name":"rm","arguments":{"a":"x"}}"#;
    let tags = "body = \"json\"\ncall = [\"<c>\", \"</c>\"]\n";
    let wrapped = "body = \"json\"\ncall = [\"<c>\", \"</c>\"]\nwrapper = [\"<cs>\", \"</cs>\"]\n";
    let tagged = "body = \"tagged\"\ncall = [\"<c {name}>\", \"</c>\"]\n";
    vec![
        Row::told("text_calls.own[].name", &file(&format!("name = @\n{tags}")), ["\"mine\"", "\"yours\""]),
        row(
            "body",
            "call = [\"<c {name}>\", \"</c>\"]\nbody = @",
            ["\"json_arguments\"", "\"python\""],
            r#"So <c rm>{"a":"x"}</c>."#,
        ),
        row(
            "call",
            "body = \"json\"\ncall = [@]",
            ["\"<c>\", \"</c>\"", "\"<d>\", \"</d>\""],
            &format!("So <c>{json}</c>."),
        ),
        row("also_call", &format!("{tags}@"), ["also_call = [\"<d>\"]", ""], &format!("So <d>{json}</c>.")),
        row(
            "wrapper",
            "body = \"json\"\nwrapper = [@]",
            ["\"<cs>\", \"</cs>\"", "\"<ds>\", \"</ds>\""],
            &format!("So <cs>{json}</cs>."),
        ),
        row(
            "wrapper_optional",
            &format!("{wrapped}@"),
            ["wrapper_optional = true", ""],
            &format!("So <c>{json}</c>."),
        ),
        row(
            "separator",
            &format!("{wrapped}@"),
            ["separator = \";\"", ""],
            &format!("So <cs><c>{json}</c>;<c>{json}</c></cs>."),
        ),
        one_reading(
            "list",
            "body = \"json\"\nwrapper = [\"<cs>\", \"</cs>\"]\n@",
            ["list = \"always\"", ""],
            &format!("So <cs>[{json},{json}]</cs>."),
        ),
        row(
            "parameter",
            &format!("{tagged}parameter = [@]"),
            ["\"<p {key}>\", \"</p>\"", "\"<q {key}>\", \"</q>\""],
            "So <c rm><p a>x</p></c>.",
        ),
        denies_x(
            "framed_values",
            &format!("{tagged}parameter = [\"<p {{key}}>\", \"</p>\"]\n@"),
            ["framed_values = true", ""],
            "So <c rm><p a>\nx\n</p></c>.",
        ),
        row(
            "fields.name",
            &format!("{tags}fields = {{ name = @, arguments = \"args\" }}"),
            ["\"tool\"", "\"other\""],
            r#"So <c>{"tool":"rm","args":{}}</c>."#,
        ),
        denies_x(
            "fields.arguments",
            &format!("{tags}fields = {{ name = \"tool\", arguments = @ }}"),
            ["\"args\"", "\"other\""],
            r#"So <c>{"tool":"rm","args":{"a":"x"}}</c>."#,
        ),
        row("name_is_key", &format!("{tags}@"), ["name_is_key = true", ""], r#"So <c>{"rm":{"a":"x"}}</c>."#),
        denies_x(
            "quote",
            "body = \"loose\"\ncall = [\"<c {name}>\", \"</c>\"]\nquote = @",
            ["\"~\"", "\"^\""],
            "So <c rm>{a:~x~}</c>.",
        ),
        one_reading(
            "only_whole",
            &format!("{tags}@"),
            ["only_whole = true", ""],
            &format!("So, in a line: <c>{json}</c>."),
        ),
    ]
}

/// A row for a key that decides over one reading: where every reading counts, a list behind a wrapper and an object within other
/// text are calls in any case.
fn one_reading(key: &str, keys: &str, values: [&str; 2], text: &str) -> Row {
    let count = "[text_calls]\ncount = \"outside_code\"\n";
    let file = format!("{GATE}{count}[[text_calls.own]]\nname = \"mine\"\n{keys}\n");
    Row::new(format!("text_calls.own[].{key}"), &file, values, says(text))
}

/// A row under a gate that denies a call only for its argument.
fn denies_x(key: &str, keys: &str, values: [&str; 2], text: &str) -> Row {
    let gate = "[[policy]]\nkind = \"tool-gate\"\n\
                rules = { default = \"allow\", deny = [{ tools = [\"*\"], when = [{ at = \"/a\", equals = \"x\" }] }] }\n";
    let file = format!("{gate}[[text_calls.own]]\nname = \"mine\"\n{keys}\n");
    Row::new(format!("text_calls.own[].{key}"), &file, values, says(text))
}

fn rewritten() -> Vec<Row> {
    let row = |key: &str, keys: &str, values: [&str; 2]| {
        let file =
            format!("[text_calls]\ndialects = [\"hermes\"]\n[[policy]]\nkind = \"rewrite-tags\"\n{keys}\n");
        Row::new(format!("rewrite-tags.{key}"), &file, values, says(HERMES))
    };
    let asked = || Request::new().model("small-1").without_session().extension(CallTags::new("[[,]]"));
    vec![
        row("tags.open", "tags = { open = @, close = \"</a>\" }", ["\"<a>\"", "\"<b>\""]),
        row("tags.close", "tags = { open = \"<a>\", close = @ }", ["\"</a>\"", "\"</b>\""]),
        row("dialect", "dialect = @", ["\"qwen-prompted\"", "\"anthropic\""]),
        row("allow[].open", "allow = [{ open = @, close = \"]]\" }]", ["\"[[\"", "\"((\""]).to(asked()),
        row("allow[].close", "allow = [{ open = \"[[\", close = @ }]", ["\"]]\"", "\"))\""]).to(asked()),
        Row::new(
            "demote-calls.dialect",
            "[[policy]]\nkind = \"demote-calls\"\ndialect = @\n",
            ["\"hermes\"", "\"anthropic\""],
            super::gates::calls(),
        ),
    ]
}

/// Dialects of one's own in which calls are written.
fn written(kind: &'static str) -> Vec<Row> {
    let file = |keys: &str| match kind {
        "rewrite-tags" => {
            format!(
                "[text_calls]\ndialects = [\"hermes\"]\n[[policy]]\nkind = \"{kind}\"\n[policy.own]\n{keys}\n"
            )
        }
        _ => format!("[[policy]]\nkind = \"{kind}\"\n[policy.own]\n{keys}\n"),
    };
    let script = || match kind {
        "rewrite-tags" => says(HERMES),
        _ => Script::new().text("So:").call("call_1", "rm", r#"{"a":"x"}"#),
    };
    let row = |key: &str, keys: &str, values: [&str; 2]| {
        let keys = if key == "name" { keys.to_owned() } else { format!("name = \"mine\"\n{keys}") };
        Row::new(format!("{kind}.own.{key}"), &file(&keys), values, script())
    };
    let refused = |key: &str, value: &str| {
        let keys = "name = \"mine\"\nbody = \"json\"\ncall = [\"<c>\", \"</c>\"]\nwrapper = [\"<cs>\", \"</cs>\"]\n@";
        let line = if kind == "rewrite-tags" { 10 } else { 8 };
        let error = format!(
            "line {line}, column 1: policy[0]: own.{key}: expected [[text_calls.own]] around it, found a dialect in which \
             calls are only written, so that it would do nothing"
        );
        Row::refused(format!("{kind}.own.{key}"), &file(keys), value, error.leak())
    };
    let tags = "body = \"json\"\ncall = [\"<c>\", \"</c>\"]\n";
    let tagged = "body = \"tagged\"\ncall = [\"<c {name}>\", \"</c>\"]\n";
    vec![
        row("name", &format!("name = @\n{tags}"), ["\"mine\"", "\"yours\""]),
        row("body", "call = [\"<c {name}>\", \"</c>\"]\nbody = @", ["\"json_arguments\"", "\"python\""]),
        row("call", "body = \"json\"\ncall = [@]", ["\"<c>\", \"</c>\"", "\"<d>\", \"</d>\""]),
        row("wrapper", &format!("{tags}wrapper = [@]"), ["\"<cs>\", \"</cs>\"", "\"<ds>\", \"</ds>\""]),
        row("list", &format!("{tags}wrapper = [\"<cs>\", \"</cs>\"]\n@"), ["list = \"always\"", ""]),
        row(
            "parameter",
            &format!("{tagged}parameter = [@]"),
            ["\"<p {key}>\", \"</p>\"", "\"<q {key}>\", \"</q>\""],
        ),
        row(
            "framed_values",
            &format!("{tagged}parameter = [\"<p {{key}}>\", \"</p>\"]\n@"),
            ["framed_values = true", ""],
        ),
        row(
            "fields.name",
            &format!("{tags}fields = {{ name = @, arguments = \"args\" }}"),
            ["\"tool\"", "\"other\""],
        ),
        row(
            "fields.arguments",
            &format!("{tags}fields = {{ name = \"tool\", arguments = @ }}"),
            ["\"args\"", "\"other\""],
        ),
        row("name_is_key", &format!("{tags}@"), ["name_is_key = true", ""]),
        row("quote", "body = \"loose\"\ncall = [\"<c {name}>\", \"</c>\"]\nquote = @", ["\"~\"", "\"^\""]),
        refused("also_call", "also_call = [\"<d>\"]"),
        refused("wrapper_optional", "wrapper_optional = true"),
        refused("separator", "separator = \";\""),
        refused("only_whole", "only_whole = true"),
    ]
}
