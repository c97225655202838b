//! What counts as a call is a setting; presets go by the model's name.

use stream_text_calls::Tool;
use stream_text_calls::{DialectSet, ProblemKind, ScanOptions, known};

use crate::seen::{call, every_cut, markup, text, unparsed};

fn hermes() -> DialectSet {
    DialectSet::new().with(known::hermes())
}

#[test]
fn where_tools_are_known_only_offered_names_count() {
    let one = r#"<tool_call>{"arguments":{"a":"<tool_call>"},"name":"g"}</tool_call>"#;
    let written = format!("a{one}b");
    let options = ScanOptions::new().tools(&[Tool::new("f")]);
    assert_eq!(every_cut(&hermes(), &options, &written), [text(&written)]);
    let g = call("hermes", "g", r#"{"a":"<tool_call>"}"#, one);
    assert_eq!(every_cut(&hermes(), &options.unknown_names(true), &written), [text("a"), g, text("b")]);
}

#[test]
fn with_a_gate_calls_in_code_count() {
    let one = r#"<tool_call>{"name":"f"}</tool_call>"#;
    let f = call("hermes", "f", "{}", one);
    let fenced = format!("```\n{one}\n```");
    assert_eq!(every_cut(&hermes(), &ScanOptions::new(), &fenced), [text(&fenced)]);
    assert_eq!(
        every_cut(&hermes(), &ScanOptions::strict(), &fenced),
        [text("```\n"), f.clone(), text("\n```")]
    );
    let inline = format!("`{one}`");
    assert_eq!(every_cut(&hermes(), &ScanOptions::strict(), &inline), [text("`"), f.clone(), text("`")]);
    // A backtick that is never closed hides at most its line.
    let unclosed = format!("it`s\n{one}");
    assert_eq!(every_cut(&hermes(), &ScanOptions::new(), &unclosed), [text("it`s\n"), f]);
}

#[test]
fn with_a_gate_what_only_begins_like_a_call_is_reported() {
    let written = r#"<tool_call>{"name": rm}</tool_call>"#;
    assert_eq!(every_cut(&hermes(), &ScanOptions::new(), written), [text(written)]);
    assert_eq!(
        every_cut(&hermes(), &ScanOptions::strict(), written),
        [
            unparsed(&written[..20], ProblemKind::Malformed { expected: "a JSON value" }, 20),
            text(&written[20..]),
        ]
    );
}

#[test]
fn the_schema_types_tagged_values() {
    let schema = r#"{"type":"object","properties":{
        "n":{"type":"integer"},"s":{"type":"string"},"b":{"type":"boolean"},"o":{"type":"object"},
        "a":{"anyOf":[{"type":"array"},{"type":"null"}]},"x":{"type":["string","null"]}}}"#;
    let options = ScanOptions::new().tools(&[Tool::new("f").schema(schema)]);
    let set = DialectSet::new().with(known::qwen3_coder());
    let parameter = |key: &str, value: &str| format!("<parameter={key}>\n{value}\n</parameter>");
    let one = format!(
        "<function=f>{}{}{}{}{}{}{}</function>",
        parameter("n", "42"),
        parameter("s", "42"),
        parameter("b", "true"),
        parameter("o", "{\"k\": [1]}"),
        parameter("a", "null"),
        parameter("x", "[1]"),
        parameter("unknown", "1"),
    );
    let arguments = r#"{"n":42,"s":"42","b":true,"o":{"k": [1]},"a":null,"x":"[1]","unknown":"1"}"#;
    assert_eq!(every_cut(&set, &options, &one), [call("qwen3-coder", "f", arguments, &one)]);
    let wrong = format!("<function=f>{}</function>", parameter("n", "many"));
    assert_eq!(every_cut(&set, &options, &wrong), [call("qwen3-coder", "f", r#"{"n":"many"}"#, &wrong)]);
}

#[test]
fn a_python_argument_without_a_name_is_reported() {
    let set = DialectSet::new().with(known::lfm2());
    let written = "<|tool_call_start|>[f(1)]<|tool_call_end|>";
    assert_eq!(
        every_cut(&set, &ScanOptions::new(), written),
        [
            markup("<|tool_call_start|>["),
            unparsed("f(1)", ProblemKind::UnnamedArgument, 22),
            text("]<|tool_call_end|>"),
        ]
    );
}

#[test]
fn presets_go_by_the_models_name() {
    let names = |model: &str| -> Vec<String> {
        DialectSet::for_model(model).dialects().map(|dialect| dialect.name().to_owned()).collect()
    };
    assert_eq!(names("Qwen/Qwen3-Coder-30B-A3B-Instruct"), ["qwen3-coder", "hermes"]);
    assert_eq!(names("qwen2.5-7b-instruct"), ["hermes", "qwen-prompted"]);
    assert_eq!(
        names("meta-llama/Llama-3.1-8B-Instruct"),
        ["llama-python-tag", "llama-function-call", "bare-json"]
    );
    assert_eq!(names("meta-llama/Llama-4-Scout"), ["llama4-pythonic", "llama-python-tag", "bare-json"]);
    assert_eq!(names("deepseek-ai/DeepSeek-V3.2"), ["dsml"]);
    assert_eq!(names("deepseek-ai/DeepSeek-R1"), ["deepseek-v3", "deepseek-v3.1"]);
    assert_eq!(names("openai/gpt-oss-120b"), ["harmony"]);
    assert_eq!(names("claude-opus-4-5"), ["anthropic"]);
    assert_eq!(names("moonshotai/Kimi-K2-Instruct"), ["kimi-k2"]);
    assert_eq!(names("zai-org/GLM-4.6"), ["glm"]);
    assert_eq!(names("mistralai/Devstral-Small"), ["mistral", "mistral-v11"]);
    assert_eq!(names("an-unknown-model"), Vec::<String>::new());
}
