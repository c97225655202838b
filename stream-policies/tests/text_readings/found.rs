//! Texts that a search for disagreement found: what was text here, and a call to a parser of vLLM, SGLang or llama.cpp.

use stream_core::{Request, Tool};

use super::*;

fn of(model: &str) -> Config {
    Config::default().text_calls(DialectSet::for_model(model))
}

/// Nothing of the call leaves.
#[track_caller]
fn withheld(model: &str, text: &str) {
    is_withheld_for(&of(model), &Script::new().text(format!("So. {text} on.")));
}

/// The same, where it is known which tools there are.
#[track_caller]
fn withheld_if_offered(model: &str, text: &str) {
    let request = Request::new().tool(Tool::new("shell")).tool(Tool::new("ls"));
    is_withheld_for(&of(model).request(request), &Script::new().text(format!("So. {text} on.")));
    passes_for(&of(model), &Script::new().text(format!("So. {text} on.")));
}

/// vLLM's parser for Llama tries every brace, llama.cpp's for Hermes each that a name follows.
#[test]
fn a_call_inside_of_an_object_that_is_none_is_found() {
    for model in ["llama-3", "qwen2.5"] {
        withheld(model, r#"{"nam {"name": "shell", "arguments": {}}"#);
        withheld(model, r#"{"arguments": {"name": "shell", "arguments": {}} oops}"#);
        withheld(model, r#"{"name": "x{"name": "shell", "arguments": {}}"#);
        withheld(model, r#"{"arguments": {"arguments": {"name": "shell", "arguments": {}}}, 1}"#);
    }
}

#[test]
fn an_object_with_the_name_of_a_tool_needs_no_arguments() {
    for model in ["llama-3", "qwen2.5"] {
        withheld_if_offered(model, r#"{"name": "shell"}"#);
        withheld_if_offered(model, r#"{"name": "shell", "x": {"y": 1}}"#);
    }
    withheld_if_offered("toolace", "[shell(a)]");
}

/// SGLang's parser for Llama 3 reads the object that an answer begins with, and asks for the name of a tool alone.
#[test]
fn an_object_that_begins_an_answer_is_no_call_by_a_name_behind_other_keys() {
    let request = || Request::new().tool(Tool::new("shell")).tool(Tool::new("ls"));
    let config = || of("llama-3").request(request());
    for (text, left) in [
        (r#"{"x": 1, "name": "shell"}"#, r#"{"x": 1, "name": "shell}"#),
        (
            "\n {\"x\": {\"name\": \"a\"}, \"name\" : \"shell\", \"y\": 2} on",
            "\n {\"x\": {\"name\": \"a\"}, \"name\" : \"shell, \"y\": 2} on",
        ),
        (r#"{"x": "}", "\u006eame": "\u0073hell"}"#, r#"{"x": "}", "\u006eame": "\u0073hell}"#),
    ] {
        for (log, cut) in logs(&Script::new().text(text)) {
            let view = gated_for(config(), &log, cut).view();
            assert_eq!(view.choices[0].content, left, "{}, {cut:?}", log.name());
        }
        // Where it is not known which tools there are, any object with a name would be one.
        passes_for(&of("llama-3"), &Script::new().text(text));
    }
    for text in [
        r#"{"x": 1, "name": "Bob", "names": "shell"}"#,
        r#"{"x": "name", "y": "shell", "z": {"a": 1, "name": "shell"}}"#,
        r#"Tools: {"description": "lists", "name": "ls"}"#,
    ] {
        passes_for(&config(), &Script::new().text(text));
    }
}

#[test]
fn a_name_before_a_parameter_that_is_none_is_found() {
    withheld("glm-4.6", "<tool_call>shell<arg_key>\n</tool_call>");
    withheld("glm-4.6", "<tool_call>shell<arg_key>a<arg_key>b</arg_key><arg_value>1</arg_value></tool_call>");
}

#[test]
fn whatever_stands_before_the_marker_of_arguments_is_a_head() {
    let (begin, marker, end) = ("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>");
    withheld("kimi-k2", &format!("{begin}shell:0<|tool_ca{marker}{{}}{end}"));
    withheld("kimi-k2", &format!("{begin}shell:{end}0{marker}{{}}{end}"));
    // The name is what stands before the first colon, whatever comes behind it.
    withheld("kimi-k2", &format!("{begin}shell:0{{}}{end}{begin}ls:0{marker}{{}}{end}"));
    withheld("mistral-small", r#"[TOOL_CALLS]shell[CALL_ID]x"1[ARGS]{}"#);
    withheld("mistral-small", "[TOOL_CALLS]shell [CALL_ID] x 1 [ARGS[ARGS]{}");
    withheld("gpt-oss", "<|channel|>comment to=functions.shell<|constrain|>json<|message|>{}<|call|>");
    withheld("gpt-oss", "<|start|>tool to=shell<|message|>{}<|call|>");
    let (text, left) = (
        "<|channel|>comm\nent to=shell<|constrain|>json<|message|>{}<|call|>",
        "<|channel|>comm\nent to=shell{}<|call|>",
    );
    for (log, cut) in logs(&Script::new().text(text)) {
        let view = gated_for(of("gpt-oss"), &log, cut).view();
        assert_eq!(view.choices[0].content, left, "{}, {cut:?}", log.name());
    }
}

#[test]
fn white_space_before_the_arguments_of_a_python_call_is_none() {
    withheld("lfm2", "<|tool_call_start|>[shell\r\n(a=\"x\")]<|tool_call_end|>");
    withheld("olmo-3", "<function_calls>\nshell\t(a=1)\n</function_calls>");
    withheld("gemma-3", "```tool_code\nshell (a=1)\n```");
    withheld("llama-4", "<|python_start|>[shell (a=1)]<|python_end|>");
    // vLLM takes the closing tag out, wherever it stands.
    withheld("llama-4", "<|python_start|>[shell<|python_end|>(a=1)]");
    withheld("llama-4", "<|python_start|><|python_end|>[shell(a=1)]");
}

#[test]
fn white_space_around_the_dot_of_a_python_call_is_none() {
    for call in [
        "default_api .shell()",
        "default_api. shell(a=1)",
        "default_api \t.\u{a0}shell (a=1)",
        "print(default_api .shell())",
        "print( default_api.shell())",
        "print( shell())",
        "print (shell())",
        "print\t( default_api . shell(a=1) )",
    ] {
        withheld("gemma-3", &format!("```tool_code\n{call}\n```"));
    }
    for call in ["default_api .ls(a=1)", "print( default_api. ls())", "print(ls(a=1))"] {
        passes_for(&of("gemma-3"), &Script::new().text(format!("So. ```tool_code\n{call}\n``` on.")));
    }
}

/// Hunyuan's parser finds every name and its arguments up to the closing tag.
#[test]
fn behind_a_list_without_its_closing_tag_the_search_goes_on() {
    let ls = r#"{"name": "ls", "arguments": {}}"#;
    withheld(
        "jamba",
        &format!(r#"<tool_calls>[{ls}] and {{"name": "shell", "arguments": {{}}}}</tool_calls>"#),
    );
    withheld(
        "jamba",
        &format!(r#"<tool_calls>{ls} and {{"name": "shell", "arguments": {{}}}}</tool_calls>"#),
    );
    // A closing tag that goes with its call closes nothing before it.
    let gone = r#"<tool_calls>[{"name": "shell", "arguments": {}}]</tool_calls>"#;
    withheld(
        "jamba",
        &format!(r#"<tool_calls> x {gone} and [{{"name": "shell", "arguments": {{}}}}]</tool_calls>"#),
    );
}

#[test]
fn what_ends_a_region_may_begin_a_call() {
    withheld("gemma-3", "```tool_code ```tool_code\nshell()\n```");
}
