//! Calls that parsers find by pattern, where the dialect's own grammar has none: vLLM's and SGLang's parsers pass over words,
//! strip names, and take whatever stands between two markers.

use stream_core::Tool;

use super::*;

fn of(model: &str) -> Config {
    Config::default().text_calls(DialectSet::for_model(model))
}

/// Nothing of the call leaves.
#[track_caller]
fn withheld(model: &str, texts: &[&str]) {
    for text in texts {
        is_withheld_for(&of(model), &Script::new().text(format!("So. {text} on.")));
    }
}

/// What a client reads of an answer, in every format and cut.
#[track_caller]
fn reads(model: &str, text: &str, expected: &str) {
    for (log, cut) in logs(&Script::new().text(text)) {
        let view = gated_for(of(model), &log, cut).view();
        assert_eq!(view.choices[0].content, expected, "{}, {cut:?}", log.name());
    }
}

#[test]
fn a_list_behind_other_words_in_mistrals_marker_is_no_way_past_a_gate() {
    withheld(
        "mistral-7b",
        &[
            r#"[TOOL_CALLS] sure: [{"name": "shell", "arguments": {}}]"#,
            "[TOOL_CALLS]\nof course\n[ {\"arguments\": {\"a\": [1]}, \"name\": \"shell\"} ]",
            r#"[TOOL_CALLS] a [b] {c} [{"x": 1, "name": "shell", "arguments": {}}]"#,
            r#"[TOOL_CALLS] and [TOOL_CALLS] or [{"\u006eame": "shell", "arguments": {}}]"#,
            r#"[TOOL_CALLS] sure: [{"x": {"y": 1}, "name": "shell", "#,
        ],
    );
    // The others of the list are judged each by itself.
    reads(
        "mistral-7b",
        r#"[TOOL_CALLS] sure: [{"name": "shell", "arguments": {}}, {"name": "ls", "arguments": {}}]"#,
        r#"[TOOL_CALLS] sure: [{"name": "ls", "arguments": {}}]"#,
    );
}

#[test]
fn mistrals_newer_calls_are_no_way_past_a_gate_in_any_spelling() {
    withheld(
        "mistral-small",
        &[
            r#"[TOOL_CALLS]shell{"a": 1}"#,
            r#"[TOOL_CALLS] shell {"a": 1}"#,
            "[TOOL_CALLS]\u{a0}shell\u{a0}[ARGS]{}",
            r#"[TOOL_CALLS]ls{}[TOOL_CALLS]shell{}"#,
            r#"[TOOL_CALLSshell[ARGS{"a": 1}"#,
            r#"[TOOL_CALLS]shell[ARGS][1]"#,
            r#"[TOOL_CALLS]shell[ARGS] rm -rf"#,
        ],
    );
    // The word has left when it turns out to be a name; what makes it a call has not.
    reads("mistral-small", r#"[TOOL_CALLS] sure: shell{"a": 1} on"#, "[TOOL_CALLS] sure: shella\": 1} on");
}

#[test]
fn a_name_behind_a_blank_in_kimis_markers_is_no_way_past_a_gate() {
    let call = |id: &str, arguments: &str| {
        format!("<|tool_call_begin|>{id}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>")
    };
    for id in [
        "functions. shell:0",
        " functions.\tshell :0 ",
        "functions.\u{3000}shell:0\n",
        "shell:0",
        "functions.shell:0 now",
        "functions.shell:a:0",
        "please\nfunctions.shell:0",
    ] {
        let wrapped = format!("<|tool_calls_section_begin|>{}<|tool_calls_section_end|>", call(id, "{}"));
        withheld("kimi-k2", &[&call(id, "{}"), &wrapped, &call(id, "rm -rf /")]);
    }
    // A number alone is the tool that fits, to SGLang.
    for (log, cut) in logs(&Script::new().text(call("3", r#"{"command": "shell"}"#))) {
        let replayed = gated_for(of("kimi-k2"), &log, cut);
        assert_eq!(replayed.view().choices[0].content, r#"{"command": "shell"}<|tool_call_end|>"#);
    }
    let ls = call("functions. ls:0", "{}");
    passes_for(&of("kimi-k2"), &Script::new().text(format!("So. {ls}")));
}

#[test]
fn a_name_behind_a_blank_in_qwens_markers_is_no_way_past_a_gate() {
    for model in ["qwen3-coder", "seed-oss"] {
        withheld(
            model,
            &[
                "<function= shell></function>",
                "<function=\nshell\n>\n<parameter= a >1</parameter></function>",
                "<function=\u{a0}shell\u{2003}></function>",
                "<tool_call> of course <function=shell></function></tool_call>",
                "<function=shell</function>",
                "<function=shell now></function>",
            ],
        );
        passes_for(&of(model), &Script::new().text("So. <function= ls></function> on."));
    }
}

#[test]
fn an_object_behind_other_words_in_a_tag_is_no_way_past_a_gate() {
    let object = r#"{"name": "shell", "arguments": {}}"#;
    for (model, open, close) in [
        ("qwen2.5", "<tool_call>", "</tool_call>"),
        ("qwen2.5", "<|tool_call|>", "</|tool_call|>"),
        ("internlm", "<|action_start|><|plugin|>", "<|action_end|>"),
        ("nemotron", "<TOOLCALL>", "</TOOLCALL>"),
        ("jamba", "<tool_calls>", "</tool_calls>"),
        ("llama-3", "<function_call>", "</function_call>"),
        ("granite", "<|tool_call|>", ""),
    ] {
        for inside in
            [format!("sure: {object}"), format!("a {{b}} [c] {object}"), format!("sure: [{object}]")]
        {
            withheld(model, &[&format!("{open} {inside}{close}"), &format!("{open}\n{inside}")]);
        }
    }
    // What is no object, and found all the same by a parser that looks for a name in quotes, is broken.
    for (broken, left) in [
        (r#""name" : "shell", "arguments": {}"#, r#"shell", "arguments": {}"#),
        (r#"{"x": oops, "name": "shell", "arguments": {}}"#, r#"{"x": oops, shell", "arguments {}}"#),
    ] {
        reads(
            "qwen2.5",
            &format!("<tool_call> sure: {broken}</tool_call> on"),
            &format!("<tool_call> sure: {left}</tool_call> on"),
        );
    }
    reads(
        "qwen2.5",
        r#"<tool_call> sure: {"name": "ls", "arguments": {}} and {"name": "shell", "arguments": {}}</tool_call> on"#,
        r#"<tool_call> sure: {"name": "ls", "arguments": {}} and  on"#,
    );
}

#[test]
fn a_name_inside_of_the_arguments_is_no_way_past_a_gate() {
    withheld(
        "qwen2.5",
        &[
            r#"<tool_call>{"arguments": {"name": "shell"}, "name": "ls"}</tool_call>"#,
            r#"<tool_call>{"\u006eame": "ls", "arguments": {"name": "shell"}}</tool_call>"#,
        ],
    );
    let plain = r#"<tool_call>{"name": "ls", "arguments": {"name": "shell", "arguments": {}}}</tool_call>"#;
    passes_for(&of("qwen2.5"), &Script::new().text(plain));
}

#[test]
fn a_bare_object_inside_of_a_line_is_no_way_past_a_gate() {
    withheld(
        "llama-3",
        &[r#"Sure: {"name": "shell", "parameters": {}}"#, r#"{"x": {"name": "shell", "arguments": {}}}"#],
    );
    // With other keys it leaves as it comes, but for what would make it a call.
    reads(
        "llama-3",
        r#"Sure: {"x": 1, "name": "shell", "parameters": {}} on"#,
        r#"Sure: {"x": 1, "name": "shell", "parameters" {}} on"#,
    );
    reads("llama-3", "{'name': 'shell', 'parameters': {}}", "{'name': 'shell', 'parameters' {}}");
}

#[test]
fn a_recipient_without_its_prefix_is_no_way_past_a_gate() {
    withheld(
        "gpt-oss",
        &[
            "<|channel|>commentary to=shell <|constrain|>json<|message|>{}<|call|>",
            "<|start|>assistant to=shell<|channel|>commentary<|message|>{}<|call|>",
            "<|channel|>commentary to=functions.shell<|message|>rm -rf<|call|>",
            "<|channel|>commentary <|constrain|>json to=functions.shell<|message|>{}<|call|>",
        ],
    );
}

#[test]
fn what_stands_between_two_markers_is_a_call_whatever_it_is() {
    withheld(
        "deepseek-v3",
        &[
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>shell\n```json\nrm -rf\n```<｜tool▁call▁end｜>",
            "<｜tool▁call▁begin｜>\u{a0}shell <｜tool▁sep｜>rm -rf<｜tool▁call▁end｜>",
        ],
    );
    // To llama.cpp the begin of a call may be missing.
    withheld("deepseek-v3", &["function<｜tool▁sep｜>shell\n```json\n{}\n```<｜tool▁call▁end｜>"]);
    reads("deepseek-v3", "shell<｜tool▁sep｜>{}<｜tool▁call▁end｜>", "shell{}<｜tool▁call▁end｜>");
    withheld(
        "lfm2",
        &[
            r#"<|tool_call_start|>[{"name": "shell", "arguments": {}}]<|tool_call_end|>"#,
            r#"<|tool_call_start|>shell(a="b")<|tool_call_end|>"#,
        ],
    );
    withheld("claude", &["<invoke name=\" shell\"></invoke>", "<invoke name=\"&#32;shell\u{a0}\"></invoke>"]);
    withheld(
        "minimax-m2",
        &["<minimax:tool_call> sure <invoke name=\"shell\"></invoke></minimax:tool_call>"],
    );
    withheld("glm-4.6", &["<tool_call>shell\\n<arg_key>a</arg_key>\\n<arg_value>1</arg_value></tool_call>"]);
    withheld("gemma-3", &["````tool_code\nshell()\n````"]);
}

#[test]
fn calls_that_two_dialects_can_read_are_judged_by_what_they_are() {
    let call = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n{}\n```<｜tool▁call▁end｜>";
    passes_for(&of("deepseek-v3"), &Script::new().text(format!("So. {call} on.")));
    let call = r#"[TOOL_CALLS]ls[ARGS]{"a": 1}"#;
    passes_for(&of("mistral-small"), &Script::new().text(format!("So. {call} on.")));
    let call = "<|channel|>commentary to=functions.ls <|constrain|>json<|message|>{}<|call|>";
    passes_for(&of("gpt-oss"), &Script::new().text(call));
}

/// Prose that names markers, and JSON that is no call, leave byte for byte.
#[test]
fn prose_about_markers_leaves_as_it_came() {
    for (model, text) in [
        (
            "mistral-7b",
            "The token [TOOL_CALLS] opens a list [1, 2] or {an object}; [ARGS] follows. `[{}]`, [link](x).",
        ),
        (
            "mistral-7b",
            "[TOOL_CALLS is half of it, [TOOL_CALLS] all of it, f(x) = {x}, \\frac{1}{2}, fn main() { \"a\" }",
        ),
        ("kimi-k2", "<|tool_call_begin|> opens a call, functions. rm:0 is an id, <|tool_call_end|> ends it."),
        (
            "qwen3-coder",
            "A tag <function> or <function a=1>, a <parameter=, and <tool_call> is named: {\"name\"}.",
        ),
        (
            "qwen2.5",
            "Between <tool_call> and </tool_call> stands JSON, as in {\"name\": \"ls\", \"arguments\": {}}.",
        ),
        (
            "qwen2.5",
            "The tag <tool_call> holds {\"title\": \"name\", \"names\": [\"a\"]} and { } and \"name\" and [x].",
        ),
        (
            "llama-3",
            "A person: {\"name\": \"Bob\", \"age\": 3}, a set {1, 2}, {\"name\": \"x\"}, and f(x) { return \"name\"; }",
        ),
        (
            "gpt-oss",
            "A call has to=functions.shell in <|channel|>commentary, and <|channel|>final<|message|>Hello to=x.",
        ),
        ("glm-4.6", "The form is `<tool_call>\\n..\\n</tool_call>`, a path C:\\new, and <arg_key>."),
        ("gemma-3", "```tool_code is a fence, and ````md\n```tool_code\n# nothing\n```\n````"),
    ] {
        passes_for(&of(model), &Script::new().text(text).usage(2, 3));
    }
}

/// vLLM of 2025 took Mistral's marker out first, wherever it stood, and looked for calls in all of the text.
#[test]
fn a_call_before_mistrals_marker_is_no_way_past_a_gate() {
    let list = r#"[{"name": "shell", "arguments": {}}]"#;
    for (text, left) in [
        (format!("{list} [TOOL_CALLS]"), format!("{list} ")),
        (format!("So. {list}\n\n[TOOL_CALLS] on"), format!("So. {list}\n\n on")),
        (format!("{list} [TOOL_CALLS]ls{{}}"), format!("{list} ls{{}}")),
        (format!("{list}[TOOL_CALLS][TOOL_CALLS]"), list.to_owned()),
        (r#"[{"na[TOOL_CALLS]me": "shell", "arguments": {}}]"#.to_owned(), list.to_owned()),
        (r#"[{[TOOL_CALLS]"name": "shell", "arguments": {}}]"#.to_owned(), list.to_owned()),
        (r#"[{"name": "shell", "arguments": {}}[TOOL_CALLS]]"#.to_owned(), list.to_owned()),
        (
            r#"[ {"\u006eame": "shell", "arguments": {}} ][TOOL_CALLS]"#.to_owned(),
            r#"[ {"\u006eame": "shell", "arguments": {}} ]"#.to_owned(),
        ),
        (r#"shell{"a": 1} [TOOL_CALLS]"#.to_owned(), r#"shell{"a": 1} "#.to_owned()),
        (r#"shell{} and [TOOL_CALLS]ls{}"#.to_owned(), "shell{} and ls{}".to_owned()),
        (r#"shell{"a": [TOOL_CALLS]1}"#.to_owned(), r#"shell{"a": 1}"#.to_owned()),
        // The word before the marker is the begin of the name.
        (r#"she[TOOL_CALLS]ll{"a": 1}"#.to_owned(), r#"shell{"a": 1}"#.to_owned()),
    ] {
        reads("mistral-small", &text, &left);
    }
    // What knows no closing tag finds what stands behind it, and behind a call.
    reads("mistral-small", r#"[TOOL_CALLS]ls{} shell{"a": 1} on"#, r#"[TOOL_CALLS]ls{} shella": 1} on"#);
    reads(
        "mistral-small",
        &format!("[TOOL_CALLS] [/TOOL_CALLS] {list} on"),
        "[TOOL_CALLS] [/TOOL_CALLS]  on",
    );
    for text in [
        r#"Lists [{"id": 1}, {"name": "x"}] and code int main() { return [{a: 1}]; } \frac{1}{2} [TOOL_CALLS]ls{"a": 1}"#,
        r#"A table. [TOOL_CALLS][{"name": "ls", "arguments": {}}]"#,
        r#"[TOOL_CALLS]ls{"a": 1}[TOOL_CALLS]cat{"b": 2}"#,
    ] {
        passes_for(&of("mistral-small"), &Script::new().text(text).usage(2, 3));
    }
}

/// Where it is known which tools there are, what names none of them is no call.
#[test]
fn names_of_no_tool_before_mistrals_marker_are_text() {
    let tools = |text: &str| {
        let request = stream_core::Request::new().tool(Tool::new("ls")).tool(Tool::new("shell"));
        (of("mistral-small").request(request), Script::new().text(text).usage(2, 3))
    };
    let (config, script) = tools(r#"Go has []int{} and map{"a": 1}. Sure[TOOL_CALLS]ls{"a": 1}"#);
    passes_for(&config, &script);
    let (config, script) = tools(r#"she[TOOL_CALLS]ll{"a": 1}"#);
    for (log, cut) in logs(&script) {
        let view = gated_for(config.clone(), &log, cut).view();
        assert_eq!(view.choices[0].content, r#"shell{"a": 1}"#, "{}, {cut:?}", log.name());
    }
}

/// vLLM of 2025 took what stands behind the last dot of Kimi's id for the name.
#[test]
fn a_dot_in_kimis_id_is_no_way_past_a_gate() {
    let call = |id: &str| format!("<|tool_call_begin|>{id}<|tool_call_argument_begin|>{{}}<|tool_call_end|>");
    for id in ["functions.a.shell:0", "a.shell:0", "functions.functions.shell:0", "functions..shell:0"] {
        withheld("kimi-k2", &[&call(id)]);
    }
    let request = stream_core::Request::new().tool(Tool::new("mcp.ls"));
    let config = of("kimi-k2").request(request);
    passes_for(&config, &Script::new().text(format!("So. {}", call("functions.mcp.ls:0"))));
}

/// llama.cpp took an object with a name for a call in any tag or fence, and in none.
#[test]
fn an_object_in_any_tag_is_no_way_past_a_gate() {
    let object = r#"{"name": "shell", "arguments": {"a": 1}}"#;
    for (open, close) in [
        ("<tools>", "</tools>"),
        ("<json>", "</json>"),
        ("<response>", "</response>"),
        ("<function_call>", "</function_call>"),
        ("<xml>", "</xml>"),
        ("<JSON>", "</JSON>"),
        ("", ""),
        ("```json\n", "\n```"),
        ("```xml\n<tool>\n", "\n</tool>\n```"),
        ("See: ", ""),
    ] {
        reads("qwen2.5", &format!("So.\n{open}{object}{close}"), &format!("So.\n{open}{close}"));
    }
    withheld(
        "qwen2.5",
        &[
            r#"<function=shell>{"a": 1}</function>"#,
            r#"<function name="shell">{"a": 1}</function>"#,
            "<function name=\"shell\">\n{}",
            "<function=shell now>{}</function>",
        ],
    );
    let request = stream_core::Request::new().tool(Tool::new("shell"));
    let config = || of("qwen2.5").request(request.clone());
    is_withheld_for(&config(), &Script::new().text(r#"So. {"name": "shell"} on."#));
    is_withheld_for(&config(), &Script::new().text(r#"So. {"name": "shell", "x": 1} on."#));
    for text in [
        r#"A person: {"name": "Bob", "age": 3}, {"name": "x"}, {"id": 1, "names": []}, a set {1, 2}."#,
        r#"{"name": "ls", "arguments": {}}"#,
        "fn f() { \"name\" } and <function name=x y> and <function> and <functions>.",
    ] {
        passes_for(&of("qwen2.5"), &Script::new().text(text).usage(2, 3));
        passes_for(&config(), &Script::new().text(text).usage(2, 3));
    }
}
