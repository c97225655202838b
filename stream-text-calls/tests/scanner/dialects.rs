//! Every dialect: one call, several, and text around them, in every cut.

use stream_text_calls::Tool;
use stream_text_calls::{Dialect, DialectSet, ScanOptions, known};

use crate::seen::{Seen, call, call_with_id, every_cut, markup, text};

/// Checks what stands between two stretches of prose.
fn check(dialect: Dialect, written: &str, expected: Vec<Seen>) {
    let set = DialectSet::new().with(dialect);
    let options = ScanOptions::new().tools(&[Tool::new("f"), Tool::new("g.h-i")]);
    assert_eq!(every_cut(&set, &options, written), expected);
    let around = format!("a < b, [c] {{d}}\n{written} and `more`.");
    let mut all = vec![text("a < b, [c] {d}\n")];
    all.extend(expected);
    all.push(text(" and `more`."));
    assert_eq!(every_cut(&set, &options, &around), all);
}

#[test]
fn anthropic_xml() {
    let one = "<invoke name=\"f\">\n<parameter name=\"a\">1</parameter>\n<parameter name=\"b\">x & <y>\n\"z\"</parameter>\n</invoke>";
    let arguments = r#"{"a":"1","b":"x & <y>\n\"z\""}"#;
    let f = call("anthropic", "f", arguments, one);
    check(known::anthropic(), one, vec![f.clone()]);
    let empty = "<invoke name=\"g.h-i\"></invoke>";
    let g = call("anthropic", "g.h-i", "{}", empty);
    check(
        known::anthropic(),
        &format!("<function_calls>\n{one}\n{empty}\n</function_calls>"),
        vec![markup("<function_calls>\n"), f, markup("\n"), g, markup("\n</function_calls>")],
    );
    let prefixed = with_namespace("<invoke name=\"f\"><parameter name=\"a\">1</parameter></invoke>");
    let (open, close) = (with_namespace("<function_calls>"), with_namespace("</function_calls>"));
    check(
        known::anthropic(),
        &format!("{open}{prefixed}{close}"),
        vec![markup(&open), call("anthropic", "f", r#"{"a":"1"}"#, &prefixed), markup(&close)],
    );
}

/// Every tag in Anthropic's namespace.
pub(crate) fn with_namespace(tags: &str) -> String {
    let namespace = ["ant", "ml:"].concat();
    tags.replace("</", "\0").replace('<', &format!("<{namespace}")).replace('\0', &format!("</{namespace}"))
}

#[test]
fn qwen_prompted() {
    let one = r#"<|tool_call|>{"name": "f", "arguments": {"a": "</|tool_call|>"}}</|tool_call|>"#;
    let f = call("qwen-prompted", "f", r#"{"a": "</|tool_call|>"}"#, one);
    check(known::qwen_prompted(), one, vec![f.clone()]);
    let two = "<|tool_call|><|tool_call|>{\"name\": \"g.h-i\"}</|tool_call|}";
    let g = call("qwen-prompted", "g.h-i", "{}", two);
    check(known::qwen_prompted(), &format!("{one}{two}"), vec![f, g]);
}

#[test]
fn llama_function_call() {
    let one = "<function_call>{\"arguments\": {\"a\": [1, {\"b\": null}]}, \"name\": \"f\"}</function_call>";
    let f = call("llama-function-call", "f", "{\"a\": [1, {\"b\": null}]}", one);
    check(known::llama_function_call(), one, vec![f.clone()]);
    check(known::llama_function_call(), &format!("{one} or {one}"), vec![f.clone(), text(" or "), f]);
}

#[test]
fn hermes() {
    let one =
        "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"\\\"}</tool_call>\\\\\"}}\n</tool_call>";
    let f = call("hermes", "f", "{\"a\": \"\\\"}</tool_call>\\\\\"}", one);
    check(known::hermes(), one, vec![f.clone()]);
    check(known::hermes(), &format!("{one}\n{one}"), vec![f.clone(), text("\n"), f]);
    // Granite 4 and others write the arguments as a string.
    let string = r#"<tool_call>{"name":"f","arguments":"{\"a\":1}"}</tool_call>"#;
    check(known::hermes(), string, vec![call("hermes", "f", r#"{"a":1}"#, string)]);
}

#[test]
fn qwen3_coder() {
    let one = "<function=f>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\nline\n\nline\n</parameter>\n</function>";
    let f = call("qwen3-coder", "f", r#"{"a":"1","b":"line\n\nline"}"#, one);
    check(known::qwen3_coder(), one, vec![f.clone()]);
    let empty = "<function=g.h-i></function>";
    let g = call("qwen3-coder", "g.h-i", "{}", empty);
    check(
        known::qwen3_coder(),
        &format!("<tool_call>\n{one}\n</tool_call>\n<tool_call>\n{empty}{one}</tool_call>"),
        vec![
            markup("<tool_call>\n"),
            f.clone(),
            markup("\n</tool_call>"),
            text("\n"),
            markup("<tool_call>\n"),
            g,
            f,
            markup("</tool_call>"),
        ],
    );
}

#[test]
fn glm() {
    let old = "<tool_call>f<arg_key>a</arg_key>\n<arg_value>1</arg_value></tool_call>";
    let f = call("glm", "f", r#"{"a":"1"}"#, old);
    check(known::glm(), old, vec![f.clone()]);
    let empty = "<tool_call>g.h-i\n</tool_call>";
    let g = call("glm", "g.h-i", "{}", empty);
    check(known::glm(), &format!("{old}{empty}"), vec![f, g]);
}

#[test]
fn mistral_in_both_shapes() {
    let one = r#"{"name": "f", "arguments": {"a": "]"}, "id": "abc"}"#;
    let f = call_with_id("mistral", "f", "abc", r#"{"a": "]"}"#, one);
    let two = r#"{"name":"g.h-i","arguments":{}}"#;
    let g = call("mistral", "g.h-i", "{}", two);
    check(
        known::mistral(),
        &format!("[TOOL_CALLS] [{one}, {two}]"),
        vec![markup("[TOOL_CALLS] ["), f, markup(", "), g, markup("]")],
    );
    let new = r#"[TOOL_CALLS]f{"a": "{"}"#;
    let args = r#"[TOOL_CALLS]g.h-i[ARGS]{}"#;
    let with_id = r#"[TOOL_CALLS]f[CALL_ID]abc[ARGS]{"a":1}"#;
    check(
        known::mistral_v11(),
        &format!("{new}{args}{with_id}"),
        vec![
            call("mistral-v11", "f", r#"{"a": "{"}"#, new),
            call("mistral-v11", "g.h-i", "{}", args),
            call_with_id("mistral-v11", "f", "abc", r#"{"a":1}"#, with_id),
        ],
    );
}

#[test]
fn llama_python_tag_and_bare_json() {
    let one = r#"{"name": "f", "parameters": {"a": 1e3}}"#;
    let f = |dialect| call(dialect, "f", r#"{"a": 1e3}"#, one);
    check(
        known::llama_python_tag(),
        &format!("<|python_tag|>{one}; {one}<|eom_id|>"),
        vec![
            markup("<|python_tag|>"),
            f("llama-python-tag"),
            markup("; "),
            f("llama-python-tag"),
            markup("<|eom_id|>"),
        ],
    );
    check(known::bare_json(), one, vec![f("bare-json")]);
    check(known::bare_json(), &format!("{one}\n{one}"), vec![f("bare-json"), text("\n"), f("bare-json")]);
}

#[test]
fn fenced_json() {
    let one = r#"{"name": "f", "arguments": {}}"#;
    let f = call("fenced-json", "f", "{}", one);
    check(
        known::fenced_json(),
        &format!("```json\n{one}\n```"),
        vec![markup("```json\n"), f.clone(), markup("\n```")],
    );
    check(
        known::fenced_json(),
        &format!("```json\n[{one}, {one}]\n```"),
        vec![markup("```json\n["), f.clone(), markup(", "), f, markup("]\n```")],
    );
}

#[test]
fn deepseek() {
    let one =
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"a\": \"```\"}\n```<｜tool▁call▁end｜>";
    let f = call("deepseek-v3", "f", "{\"a\": \"```\"}", one);
    check(
        known::deepseek_v3(),
        &format!("<｜tool▁calls▁begin｜>{one}\n{one}<｜tool▁calls▁end｜>"),
        vec![markup("<｜tool▁calls▁begin｜>"), f.clone(), markup("\n"), f, markup("<｜tool▁calls▁end｜>")],
    );
    let one = "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜>";
    let f = call("deepseek-v3.1", "f", "{\"a\": 1}", one);
    check(
        known::deepseek_v3_1(),
        &format!("<｜tool▁calls▁begin｜>{one}{one}<｜tool▁calls▁end｜>"),
        vec![markup("<｜tool▁calls▁begin｜>"), f.clone(), f.clone(), markup("<｜tool▁calls▁end｜>")],
    );
    check(known::deepseek_v3_1(), one, vec![f]);
}

#[test]
fn dsml() {
    let one = "<｜DSML｜invoke name=\"f\"><｜DSML｜parameter name=\"a\" string=\"false\">[1, 2]</｜DSML｜parameter><｜DSML｜parameter name=\"b\" string=\"true\">3</｜DSML｜parameter></｜DSML｜invoke>";
    let f = call("dsml", "f", r#"{"a":[1, 2],"b":"3"}"#, one);
    for wrapper in ["function_calls", "tool_calls"] {
        check(
            known::dsml(),
            &format!("<｜DSML｜{wrapper}>\n{one}\n{one}\n</｜DSML｜{wrapper}>"),
            vec![
                markup(&format!("<｜DSML｜{wrapper}>\n")),
                f.clone(),
                markup("\n"),
                f.clone(),
                markup(&format!("\n</｜DSML｜{wrapper}>")),
            ],
        );
    }
}

#[test]
fn kimi_k2() {
    let one = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": 1}<|tool_call_end|>";
    let two = "<|tool_call_begin|>functions.g.h-i:1<|tool_call_argument_begin|>{}<|tool_call_end|>";
    let f = call_with_id("kimi-k2", "f", "functions.f:0", "{\"a\": 1}", one);
    let g = call_with_id("kimi-k2", "g.h-i", "functions.g.h-i:1", "{}", two);
    check(
        known::kimi_k2(),
        &format!("<|tool_calls_section_begin|>{one}{two}<|tool_calls_section_end|>"),
        vec![markup("<|tool_calls_section_begin|>"), f.clone(), g, markup("<|tool_calls_section_end|>")],
    );
    check(
        known::kimi_k2(),
        &format!("<|tool_call_section_begin|>{one}"),
        vec![markup("<|tool_call_section_begin|>"), f],
    );
}

#[test]
fn minimax_m2() {
    let one = "<invoke name=\"f\">\n<parameter name='a'>\nx\n</parameter>\n</invoke>";
    let two = "<invoke name=g.h-i></invoke>";
    check(
        known::minimax_m2(),
        &format!("<minimax:tool_call>\n{one}\n{two}\n</minimax:tool_call>"),
        vec![
            markup("<minimax:tool_call>\n"),
            call("minimax-m2", "f", r#"{"a":"x"}"#, one),
            markup("\n"),
            call("minimax-m2", "g.h-i", "{}", two),
            markup("\n</minimax:tool_call>"),
        ],
    );
}

#[test]
fn harmony() {
    let one =
        "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\": \"<|call|>\"}<|call|>";
    let two = "<|start|>assistant to=functions.g.h-i<|channel|>commentary json<|message|>{}<|call|>";
    let three = "<|start|>assistant<|channel|>analysis to=functions.f code<|message|>{}<|end|>";
    check(
        known::harmony(),
        &format!("{one}{two}{three}"),
        vec![
            call("harmony", "f", "{\"a\": \"<|call|>\"}", one),
            call("harmony", "g.h-i", "{}", two),
            call("harmony", "f", "{}", three),
        ],
    );
}

#[test]
fn gemma() {
    let one = "f(a=1, b='it\\'s', c=[True, None], d={\"k\": (1, 2)})";
    let arguments = r#"{"a":1,"b":"it's","c":[true,null],"d":{"k":[1,2]}}"#;
    check(
        known::gemma_tool_code(),
        &format!("```tool_code\n{one}\n```"),
        vec![markup("```tool_code\n"), call("gemma-tool-code", "f", arguments, one), markup("\n```")],
    );
    let printed = "print(default_api.f(a=\"\"\"x\"y\"\"\"))";
    check(
        known::gemma_tool_code(),
        &format!("```tool_code\n{printed}\n```"),
        vec![
            markup("```tool_code\n"),
            call("gemma-tool-code", "f", r#"{"a":"x\"y"}"#, printed),
            markup("\n```"),
        ],
    );
    let json = r#"{"name": "f", "arguments": {"a": 1}}"#;
    check(
        known::gemma_tool_code_json(),
        &format!("```tool_code\n{json}\n```"),
        vec![
            markup("```tool_code\n"),
            call("gemma-tool-code-json", "f", r#"{"a": 1}"#, json),
            markup("\n```"),
        ],
    );
    let four = "<|tool_call>call:f{a:<|\"|>x}, \"y<|\"|>,n:42,o:{p:[true,<|\"|>q<|\"|>]}}<tool_call|>";
    check(
        known::gemma4(),
        four,
        vec![call("gemma4", "f", r#"{"a":"x}, \"y","n":42,"o":{"p":[true,"q"]}}"#, four)],
    );
    let small = "<start_function_call>call:f{a:<escape>x<escape>}<end_function_call>";
    check(known::function_gemma(), small, vec![call("function-gemma", "f", r#"{"a":"x"}"#, small)]);
}

#[test]
fn pythonic_lists() {
    let f = |dialect: &str| call(dialect, "f", r#"{"a":"),]"}"#, "f(a=\"),]\")");
    let g = |dialect: &str| call(dialect, "g.h-i", "{}", "g.h-i()");
    for (dialect, open, close) in [
        (known::lfm2(), "<|tool_call_start|>[", "]<|tool_call_end|>"),
        (known::llama4_pythonic(), "<|python_start|>[", "]<|python_end|>"),
        (known::pythonic(), "[", "]"),
    ] {
        let name = dialect.name().to_owned();
        check(
            dialect,
            &format!("{open}f(a=\"),]\"), g.h-i(){close}"),
            vec![markup(open), f(&name), markup(", "), g(&name), markup(close)],
        );
    }
    check(
        known::olmo3(),
        "<function_calls>\nf(a=\"),]\")\ng.h-i()\n</function_calls>",
        vec![
            markup("<function_calls>\n"),
            f("olmo3"),
            markup("\n"),
            g("olmo3"),
            markup("\n</function_calls>"),
        ],
    );
}

#[test]
fn json_lists_behind_a_marker() {
    let one = r#"{"name": "f", "arguments": {"a": "],"}}"#;
    for (dialect, open, close) in [
        (known::nemotron(), "<TOOLCALL>[", "]</TOOLCALL>"),
        (known::granite(), "<|tool_call|>[", "]"),
        (known::granite_3_1(), "<tool_call>[", "]"),
        (known::phi4(), "functools[", "]"),
        (known::jamba(), "<tool_calls>[\n", "\n]</tool_calls>"),
        (known::jamba(), "<tool_calls>\n", "\n</tool_calls>"),
    ] {
        let f = call(dialect.name(), "f", r#"{"a": "],"}"#, one);
        let between = if open.contains('[') { ", " } else { "\n" };
        check(
            dialect,
            &format!("{open}{one}{between}{one}{close}"),
            vec![markup(open), f.clone(), markup(between), f, markup(close)],
        );
    }
}

#[test]
fn other_keys_and_other_places_for_the_name() {
    let one = r#"{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}"#;
    check(
        known::cohere(),
        &format!("<|START_ACTION|>[\n{one}\n]<|END_ACTION|>"),
        vec![
            markup("<|START_ACTION|>[\n"),
            call_with_id("cohere", "f", "0", r#"{"a": 1}"#, one),
            markup("\n]<|END_ACTION|>"),
        ],
    );
    check(
        known::cohere(),
        &format!("<|START_ACTION|>[{one},{one}]<|END_ACTION|>"),
        vec![
            markup("<|START_ACTION|>["),
            call_with_id("cohere", "f", "0", r#"{"a": 1}"#, one),
            markup(","),
            call_with_id("cohere", "f", "0", r#"{"a": 1}"#, one),
            markup("]<|END_ACTION|>"),
        ],
    );
    let one = r#"<|action_start|> <|plugin|>{"name": "f", "parameters": {}}<|action_end|>"#;
    check(known::internlm(), one, vec![call("internlm", "f", "{}", one)]);
    let twice = vec![call("internlm", "f", "{}", one), call("internlm", "f", "{}", one)];
    check(known::internlm(), &format!("{one}{one}"), twice);
    let one = r#"{"f": {"a": 1}}"#;
    check(
        known::apertus(),
        &format!("<|tools_prefix|>[{one}]<|tools_suffix|>"),
        vec![
            markup("<|tools_prefix|>["),
            call("apertus", "f", r#"{"a": 1}"#, one),
            markup("]<|tools_suffix|>"),
        ],
    );
    check(
        known::apertus(),
        &format!("<|tools_prefix|>[{one}, {one}]<|tools_suffix|>"),
        vec![
            markup("<|tools_prefix|>["),
            call("apertus", "f", r#"{"a": 1}"#, one),
            markup(", "),
            call("apertus", "f", r#"{"a": 1}"#, one),
            markup("]<|tools_suffix|>"),
        ],
    );
    let one = "<function=f>\n<parameter=a>\n1\n</parameter>\n</function>";
    check(
        known::seed_oss(),
        &format!("<seed:tool_call>\n{one}\n</seed:tool_call>"),
        vec![
            markup("<seed:tool_call>\n"),
            call("seed-oss", "f", r#"{"a":"1"}"#, one),
            markup("\n</seed:tool_call>"),
        ],
    );
    check(
        known::seed_oss(),
        &format!("<seed:tool_call>{one}{one}</seed:tool_call>"),
        vec![
            markup("<seed:tool_call>"),
            call("seed-oss", "f", r#"{"a":"1"}"#, one),
            call("seed-oss", "f", r#"{"a":"1"}"#, one),
            markup("</seed:tool_call>"),
        ],
    );
}

#[test]
fn a_dialect_of_the_users_own_takes_a_few_lines() {
    let mine = Dialect::json_arguments("mine").call("@@{name}:", "@@");
    check(mine, "@@f:{\"a\": \"@@\"}@@", vec![call("mine", "f", "{\"a\": \"@@\"}", "@@f:{\"a\": \"@@\"}@@")]);
}
