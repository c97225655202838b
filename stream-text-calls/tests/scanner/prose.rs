//! Prose stays prose.

use stream_text_calls::Tool;
use stream_text_calls::{Dialect, DialectSet, ScanOptions, known};

use crate::seen::{every_cut, text};

/// Every dialect there is.
fn everything() -> DialectSet {
    let all: [fn() -> Dialect; 31] = [
        known::anthropic,
        known::qwen_prompted,
        known::llama_function_call,
        known::hermes,
        known::qwen3_coder,
        known::seed_oss,
        known::glm,
        known::mistral,
        known::mistral_v11,
        known::llama_python_tag,
        known::bare_json,
        known::fenced_json,
        known::deepseek_v3,
        known::deepseek_v3_1,
        known::dsml,
        known::kimi_k2,
        known::minimax_m2,
        known::harmony,
        known::gemma_tool_code,
        known::gemma_tool_code_json,
        known::gemma4,
        known::function_gemma,
        known::lfm2,
        known::llama4_pythonic,
        known::pythonic,
        known::nemotron,
        known::granite,
        known::granite_3_1,
        known::phi4,
        known::jamba,
        known::cohere,
    ];
    all.into_iter().fold(DialectSet::new(), |set, dialect| set.with(dialect()))
}

#[test]
fn prose_with_markers_html_comparisons_json_and_code_comes_out_as_it_is() {
    let options = ScanOptions::new().tools(&[Tool::new("f")]);
    for prose in [
        "a < b && c > d, x<y>, if (a<b) { return [1]; }",
        "<p>Hello</p> <a href=\"#\">[link](http://x)</a> <!-- <tool --> <function> <invoke>",
        "Models write <tool_call> and then JSON, e.g. <tool_call>{json}</tool_call>, or `functools[...]`.",
        "The tag <tool_call>{\"name\": ..., \"arguments\": ...}</tool_call> opens a call.",
        "Use `<tool_call>{\"name\":\"f\"}</tool_call>` inline, or ``<invoke name=\"f\">``.",
        "```xml\n<tool_call>{\"name\":\"f\"}</tool_call>\n<invoke name=\"f\"></invoke>\n```\nThat is all.",
        "````\n```\n[TOOL_CALLS][{\"name\":\"f\"}]\n```\n````",
        "{\"name\": \"Alice\", \"age\": 3}",
        "{\"name\": \"f\", \"age\": 3}",
        "{\"name\": \"f\"}",
        "{\n  \"name\": \"Bob\",\n  \"arguments\": {}\n}\n",
        "{\"result\": {\"name\": \"f\", \"arguments\": {}}}",
        "```json\n{\"name\": \"Alice\", \"arguments\": {}}\n```\n",
        "[1, 2, 3]\n[f(x) for x in y]\n[link](f(a=1))",
        "[TOOL_CALLS] is a token, [TOOL_CALLS]f too. <|python_tag|> as well",
        "<|channel|>final<|message|>Hello<|end|>",
        "a trailing <",
        "a trailing <tool_call",
        "a trailing <tool_call>",
        "a trailing <tool_call>\n",
        "a trailing `",
        "call: f{a:1} functools functools(x) Action: none",
        "2 < 3 ◁ ｜ ▁ <｜ <｜tool▁calls▁begin｜> ok",
    ] {
        assert_eq!(every_cut(&everything(), &options, prose), [text(prose)]);
    }
}

#[test]
fn only_what_may_become_a_marker_waits() {
    let set = DialectSet::new().with(known::hermes());
    let mut scanner = stream_text_calls::Scanner::new(&set, ScanOptions::new());
    for (piece, decided) in
        [("ab<", 2), ("p><tool_ca", 5), ("b", 14), ("<tool_call>", 14), (" \n", 14), ("x", 28)]
    {
        scanner.push(piece).for_each(drop);
        assert_eq!(scanner.decided(), decided, "{piece:?}");
    }
}
