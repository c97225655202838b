//! Bugs that gateways and engines are known for: a test each.

use stream_text_calls::Tool;
use stream_text_calls::{DialectSet, ProblemKind, ScanOptions, known, validate};

use crate::dialects::with_namespace;
use crate::seen::{Seen, call, every_cut, markup, scan, text, unparsed};

/// The dialects that share the opener `<tool_call>`.
fn tool_call_family() -> DialectSet {
    DialectSet::new().with(known::hermes()).with(known::qwen3_coder()).with(known::glm())
}

#[test]
fn the_users_own_scenario() {
    let set = DialectSet::new().with(known::qwen_prompted());
    let body = r#"{"name": "list_files", "arguments": {"directory_path": "abstractcore"}}"#;
    let written = format!("I will list the files for you.<|tool_call|>{body}</|tool_call|>");
    let raw = format!("<|tool_call|>{body}</|tool_call|>");
    assert_eq!(
        every_cut(&set, &ScanOptions::new(), &written),
        [
            text("I will list the files for you."),
            call("qwen-prompted", "list_files", r#"{"directory_path": "abstractcore"}"#, &raw),
        ]
    );
}

#[test]
fn closer_and_next_opener_and_text_between_in_one_chunk() {
    let one = r#"<tool_call>{"name":"f","arguments":{}}</tool_call>"#;
    let f = call("hermes", "f", "{}", one);
    let written = format!("before{one}{one}between{one}after");
    assert_eq!(
        every_cut(&tool_call_family(), &ScanOptions::new(), &written),
        [text("before"), f.clone(), f.clone(), text("between"), f, text("after")]
    );
}

#[test]
fn the_same_opener_opens_three_dialects() {
    let json = r#"<tool_call>{"name":"f"}</tool_call>"#;
    let xml = "<function=f>\n</function>";
    let glm = "<tool_call>f</tool_call>";
    assert_eq!(
        every_cut(
            &tool_call_family(),
            &ScanOptions::new(),
            &format!("{json}<tool_call>{xml}</tool_call>{glm}")
        ),
        [
            call("hermes", "f", "{}", json),
            markup("<tool_call>"),
            call("qwen3-coder", "f", "{}", xml),
            markup("</tool_call>"),
            call("glm", "f", "{}", glm),
        ]
    );
}

#[test]
fn the_earliest_opener_wins_whatever_the_order_of_the_dialects() {
    let set = DialectSet::new().with(known::hermes()).with(known::llama_function_call());
    let written = r#"<function_call>{"name":"f","arguments":{"a":"<tool_call>{\"name\":\"g\"}</tool_call>"}}</function_call>"#;
    assert_eq!(
        every_cut(&set, &ScanOptions::new(), written),
        [call("llama-function-call", "f", r#"{"a":"<tool_call>{\"name\":\"g\"}</tool_call>"}"#, written)]
    );
}

#[test]
fn orphan_closers_are_text() {
    let prose = "done</tool_call>\n</function></parameter></invoke> ok";
    assert_eq!(every_cut(&tool_call_family(), &ScanOptions::new(), prose), [text(prose)]);
    let one = r#"<tool_call>{"name":"f"}</tool_call>"#;
    assert_eq!(
        every_cut(&tool_call_family(), &ScanOptions::new(), &format!("{one}</tool_call>")),
        [call("hermes", "f", "{}", one), text("</tool_call>")]
    );
}

#[test]
fn a_missing_closer_behind_whole_json_is_no_truncation() {
    let one = r#"<tool_call>{"name":"f"}"#;
    let f = call("hermes", "f", "{}", one);
    assert_eq!(every_cut(&tool_call_family(), &ScanOptions::new(), one), std::slice::from_ref(&f));
    assert_eq!(
        every_cut(&tool_call_family(), &ScanOptions::new(), &format!("{one}\nSo I wait.")),
        [f, text("\nSo I wait.")]
    );
}

#[test]
fn a_call_that_is_cut_off_is_never_completed() {
    let json = r#"<tool_call>{"name":"f","arguments":{"a":"b"#;
    assert_eq!(
        every_cut(&tool_call_family(), &ScanOptions::new(), json),
        [unparsed(json, ProblemKind::Truncated, json.len() as u64)]
    );
    let nameless = r#"<tool_call>{"argu"#;
    assert_eq!(
        every_cut(&tool_call_family(), &ScanOptions::new(), nameless),
        [unparsed(nameless, ProblemKind::Truncated, nameless.len() as u64)]
    );
    let xml = "so <function=f><parameter=a>b</param";
    assert_eq!(
        every_cut(&tool_call_family(), &ScanOptions::new(), xml),
        [text("so "), unparsed(&xml[3..], ProblemKind::UnclosedParameter, 15)]
    );
    let unclosed = "<function=f><parameter=a>b</parameter>";
    assert_eq!(
        every_cut(&tool_call_family(), &ScanOptions::new(), unclosed),
        [unparsed(unclosed, ProblemKind::Truncated, unclosed.len() as u64)]
    );
}

#[test]
fn what_goes_wrong_behind_the_name_is_reported_where_it_does() {
    let written = r#"<tool_call>{"name":"f","arguments":{oops}}</tool_call> after"#;
    assert_eq!(
        every_cut(&tool_call_family(), &ScanOptions::new(), written),
        [
            unparsed(&written[..36], ProblemKind::Malformed { expected: "a key in quotes" }, 36),
            text(&written[36..]),
        ]
    );
    let twice = r#"<tool_call>{"name":"f","name":"g"}</tool_call>"#;
    assert_eq!(
        every_cut(&tool_call_family(), &ScanOptions::new(), twice),
        [unparsed(&twice[..29], ProblemKind::RepeatedKey, 23), text(&twice[29..])]
    );
    let twice = "<function=f><parameter=a>1</parameter><parameter=a>2</parameter></function>";
    assert_eq!(
        every_cut(&tool_call_family(), &ScanOptions::new(), twice),
        [unparsed(&twice[..64], ProblemKind::RepeatedKey, 38), text("</function>")]
    );
}

#[test]
fn leaked_anthropic_markup_with_a_stray_line_before() {
    let set = DialectSet::new().with(known::anthropic());
    let bare = "<invoke name=\"f\">\n<parameter name=\"a\">1</parameter>\n</invoke>";
    for (stray, one) in
        [("call\n", bare), ("count\n", bare), ("count\n\n", bare), ("count\n", &with_namespace(bare))]
    {
        assert_eq!(
            every_cut(&set, &ScanOptions::new(), &format!("ok\n{stray}{one}\n</function_calls>")),
            [
                text(&format!("ok\n{stray}")),
                call("anthropic", "f", r#"{"a":"1"}"#, one),
                text("\n</function_calls>"),
            ]
        );
    }
}

#[test]
fn multi_byte_markers_are_found_wherever_a_character_ends() {
    let set = DialectSet::new().with(known::deepseek_v3_1()).reasoning("◁think▷", "◁/think▷");
    let prose = "＜｜tool ▁ <｜tool▁calls◁ ◁th";
    assert_eq!(every_cut(&set, &ScanOptions::new(), prose), [text(prose)]);
    assert_eq!(
        every_cut(&set, &ScanOptions::new(), "◁think▷é◁/think▷é"),
        [
            Seen::Think("◁think▷".into()),
            Seen::Reasoning("é".into()),
            Seen::Thought("◁/think▷".into()),
            text("é"),
        ]
    );
}

#[test]
fn a_call_in_reasoning_is_reasoning_and_the_same_call_outside_is_a_call() {
    let set = tool_call_family().reasoning("<think>", "</think>");
    let one = r#"<tool_call>{"name":"f"}</tool_call>"#;
    let f = call("hermes", "f", "{}", one);
    let think = Seen::Think("<think>".into());
    assert_eq!(
        every_cut(&set, &ScanOptions::new(), &format!("<think>{one}</think>{one}")),
        [think.clone(), Seen::Reasoning(one.into()), Seen::Thought("</think>".into()), f.clone()]
    );
    let unclosed = format!("<think>hm {one}");
    assert_eq!(
        every_cut(&set, &ScanOptions::new(), &unclosed),
        [think.clone(), Seen::Reasoning(format!("hm {one}"))]
    );
    assert_eq!(every_cut(&set, &ScanOptions::strict(), &unclosed), [think, Seen::Reasoning("hm ".into()), f]);
    let inside = r#"<tool_call>{"name":"f","arguments":{"a":"<think>"}}</tool_call>"#;
    assert_eq!(
        every_cut(&set, &ScanOptions::new(), inside),
        [call("hermes", "f", r#"{"a":"<think>"}"#, inside)]
    );
}

#[test]
fn reasoning_whose_opener_stood_in_the_prompt() {
    let set = DialectSet::new().reasoning("<think>", "</think>").starts_in_reasoning();
    assert_eq!(
        every_cut(&set, &ScanOptions::new(), "so `</think> it is"),
        [Seen::Reasoning("so `".into()), Seen::Thought("</think>".into()), text(" it is")]
    );
}

#[test]
fn a_long_argument_in_small_chunks_takes_linear_time() {
    let body = "x".repeat(1 << 20);
    let written = format!(r#"<tool_call>{{"name":"f","arguments":{{"a":"{body}"}}}}</tool_call>"#);
    let pieces: Vec<&str> =
        written.as_bytes().chunks(4).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    let seen = scan(&tool_call_family(), &ScanOptions::new(), &pieces[..pieces.len() / 16]);
    assert_eq!(seen.len(), 1);
    let seen = scan_fast(&pieces);
    assert_eq!(seen, 1);
}

/// Counts the calls, without the checks that look at every event again.
fn scan_fast(pieces: &[&str]) -> usize {
    use stream_text_calls::{Event, Scanner};
    let mut scanner = Scanner::new(&tool_call_family(), ScanOptions::new());
    let mut calls = 0;
    for piece in pieces {
        calls += scanner.push(piece).filter(|event| matches!(event, Event::CallEnd(_))).count();
    }
    calls
}

#[test]
fn braces_and_angles_without_end_take_linear_time() {
    let set = tool_call_family()
        .with(known::bare_json())
        .with(known::anthropic())
        .with(known::fenced_json())
        .with(known::pythonic());
    let options = ScanOptions::new().tools(&[Tool::new("f")]);
    for unit in [
        "{",
        "<",
        "[",
        "`",
        "{\"name\":",
        "{\"arguments\":{\"a\":\n",
        "<tool_call>",
        "<tool_call>{\"a\":",
        "[f(",
    ] {
        let written = unit.repeat(100_000 / unit.len());
        let mut scanner = stream_text_calls::Scanner::new(&set, options.clone());
        for piece in written.as_bytes().chunks(7) {
            scanner.push(std::str::from_utf8(piece).unwrap()).for_each(drop);
        }
        scanner.end().for_each(drop);
        assert_eq!(scanner.decided(), written.len() as u64, "{unit:?}");
    }
}

#[test]
fn a_call_longer_than_the_limit_is_reported_there() {
    let options = ScanOptions::new().limit(2000);
    let written = format!(r#"<tool_call>{{"name":"f","arguments":"{}"}}</tool_call>"#, "é".repeat(1500));
    let seen = scan(&tool_call_family(), &options, &[&written]);
    let cut = (0..=2000).rev().find(|at| written.is_char_boundary(*at)).unwrap();
    let expected =
        [unparsed(&written[..cut], ProblemKind::TooLong { limit: 2000 }, cut as u64), text(&written[cut..])];
    assert_eq!(seen, expected);
    let characters: Vec<String> = written.chars().map(String::from).collect();
    let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
    assert_eq!(scan(&tool_call_family(), &options, &characters), expected);
}

#[test]
fn validation_says_what_is_wrong_and_where() {
    let problems = |text: &str| -> Vec<String> {
        validate(&known::anthropic(), text).iter().map(ToString::to_string).collect()
    };
    let whole =
        "<function_calls><invoke name=\"f\"><parameter name=\"a\">1</parameter></invoke></function_calls>";
    assert_eq!(problems(whole), Vec::<String>::new());
    assert_eq!(
        problems("ok <invoke name=\"f\"></invoke>"),
        ["expected the wrapper's opening tag, found a call without it at byte 3"]
    );
    assert_eq!(
        problems("<function_calls>\nlist</function_calls>"),
        ["expected a call's opening tag, found something else at byte 17"]
    );
    assert_eq!(
        problems("<function_calls><invoke></invoke></function_calls>"),
        ["expected the tool's name, found none at byte 16"]
    );
    assert_eq!(
        problems("<function_calls><invoke name=\"f\"><parameter name=\"a\">1</invoke></function_calls>"),
        [r#"tool "f", parameter "a": expected the parameter's closing tag, found the end at byte 33"#]
    );
    assert_eq!(
        problems("<function_calls><invoke name=\"f\"><parameter>1</parameter></invoke></function_calls>"),
        [r#"tool "f": expected the parameter's name, found none at byte 33"#]
    );
    assert_eq!(
        problems("<function_calls><invoke name=\"f\"></invoke>"),
        ["expected the wrapper's closing tag, found something else at byte 42"]
    );
    assert_eq!(problems("nothing here"), ["expected a call's opening tag, found something else at byte 0"]);
}
