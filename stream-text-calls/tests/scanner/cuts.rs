//! What is reported does not depend on the cut: texts made by chance out of pieces of markers, whole and in pieces.
//! `PROPTEST_CASES` makes more of them.

use std::sync::LazyLock;

use proptest::prelude::*;
use stream_text_calls::{DialectSet, Event, ScanOptions, Scanner, Tool, known};

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_reported_does_not_depend_on_the_cut(
        fragments in prop::collection::vec(prop::sample::select(&FRAGMENTS[..]), 0..14),
        set in 0..SETS.len(),
        options in 0..OPTIONS.len(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 3),
    ) {
        let text = fragments.concat();
        let scan = |pieces: Vec<&str>| scan(&SETS[set], &OPTIONS[options], &pieces);
        let whole = scan(vec![&text]);
        let characters = text.char_indices().map(|(at, letter)| &text[at..at + letter.len_utf8()]);
        prop_assert_eq!(scan(characters.collect()), whole.clone(), "one character at a time: {:?}", text);
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for cut in cuts.iter().filter(|_| !places.is_empty()) {
            let (head, tail) = text.split_at(*cut.get(&places));
            prop_assert_eq!(scan(vec![head, tail]), whole.clone(), "{:?} | {:?}", head, tail);
        }
    }
}

/// Every dialect there is at once, and each by itself, half of them with reasoning.
static SETS: LazyLock<Vec<DialectSet>> = LazyLock::new(|| {
    let all = known::all().into_iter().fold(DialectSet::new(), DialectSet::with);
    let each = known::all().into_iter().map(|dialect| DialectSet::new().with(dialect));
    let each = each.enumerate().map(|(at, set)| match at % 2 {
        0 => set,
        _ => set.reasoning("<think>", "</think>"),
    });
    let all = [all.clone(), all.reasoning("<think>", "</think>")];
    // All of them are as likely as one of them.
    all.iter().cycle().take(each.len()).cloned().chain(each).collect()
});

static OPTIONS: LazyLock<[ScanOptions; 7]> = LazyLock::new(|| {
    [
        ScanOptions::strict(),
        ScanOptions::strict(),
        ScanOptions::strict().limit(1024),
        ScanOptions::new().every_reading(true),
        ScanOptions::new(),
        ScanOptions::new().unknown_names(true).in_reasoning(true),
        ScanOptions::new().tools(&[Tool::new("ls"), Tool::new("rm")]),
    ]
});

/// Markers whole and in parts, what stands in calls, and what stands in prose.
static FRAGMENTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut fragments: Vec<String> = SMALL.iter().map(|text| (*text).to_owned()).collect();
    // Longer than a name, and together longer than the window in which a call must show.
    fragments.extend([" ", "\n", "x", "`"].map(|unit| unit.repeat(400)));
    for marker in MARKERS {
        // A marker is as likely as both of its parts together.
        fragments.extend([(*marker).to_owned(), (*marker).to_owned()]);
        for part in 1..4 {
            let at = (0..=marker.len() * part / 4).rev().find(|at| marker.is_char_boundary(*at)).unwrap_or(0);
            fragments.extend([marker[..at].to_owned(), marker[at..].to_owned()]);
        }
    }
    fragments
});

const SMALL: &[&str] = &[
    "`",
    "``",
    "```",
    "````",
    "```json\n",
    "```json",
    "```tool_code\n",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "\\",
    ":",
    ",",
    ";",
    "<",
    ">",
    "/",
    "=",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "\u{feff}",
    "é",
    "▁",
    "｜",
    "a",
    "ls",
    "rm",
    "json",
    "1",
    "true",
    "null",
    "-",
    "call",
    "So. ",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "&lt;",
    "&",
    "/>",
    "name=",
    "{\"name\"",
    "\"name\":",
    "\"name\": \"ls\"",
    "\"arguments\"",
    "\"arguments\": {}",
    "\"parameters\":",
    "{}",
    "{\"a\":1}",
    "{\"name\":\"rm\",\"arguments\":{\"a\":\"b\"}}",
    "{\"name\": \"ls\"}",
    "[{\"name\":\"ls\",\"arguments\":{}}]",
    "{\"tool_name\":\"ls\",\"parameters\":{}}",
    "{\"ls\":{}}",
    "ls(a=1)",
    "rm(",
    "a=\"b\"",
    "'''",
    "\"\"\"",
    "ls{",
    "ls{\"a\":1}",
    "{a:1}",
    "<|\"|>",
    "<escape>",
];

const MARKERS: &[&str] = &[
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<|tool_call|>",
    "</|tool_call|>",
    "</|tool_call|}",
    "<|/tool_call|>",
    "<function_call>",
    "</function_call>",
    "<function=ls>",
    "<function= rm >",
    "</function>",
    "<parameter=a>",
    "</parameter>",
    "<seed:tool_call>",
    "</seed:tool_call>",
    "<arg_key>a</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "[TOOL_CALLS]",
    "[/TOOL_CALLS]",
    "[ARGS]",
    "[CALL_ID]",
    "<|python_tag|>",
    "<|eom_id|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "function<｜tool▁sep｜>ls\n```json\n",
    "<｜DSML｜function_calls>",
    "</｜DSML｜function_calls>",
    "<｜DSML｜invoke name=\"ls\">",
    "</｜DSML｜invoke>",
    "<｜DSML｜parameter name=\"a\" string=\"true\">",
    "</｜DSML｜parameter>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "functions.ls:0",
    "functions. rm:0",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<minimax:tool_call>",
    "</minimax:tool_call>",
    "<invoke name=\"ls\">",
    "</invoke>",
    "<parameter name=\"a\">",
    "<function_calls>",
    "</function_calls>",
    "<|start|>assistant",
    "<|channel|>commentary",
    "<|channel|>analysis",
    " to=functions.ls",
    "<|constrain|>json",
    "<|message|>",
    "<|call|>",
    "<|end|>",
    "print(default_api.ls(",
    "<|tool_call>call:ls{",
    "<tool_call|>",
    "<start_function_call>call:ls{",
    "<end_function_call>",
    "<|tool_call_start|>",
    "<|tool_call_end|>",
    "<|python_start|>",
    "<|python_end|>",
    "<TOOLCALL>",
    "</TOOLCALL>",
    "functools",
    "<tool_calls>",
    "</tool_calls>",
    "<|START_ACTION|>",
    "<|END_ACTION|>",
    "<|action_start|><|plugin|>",
    "<|action_end|>",
    "<|tools_prefix|>",
    "<|tools_suffix|>",
];

/// What was reported: every byte once, in order, and as few events as there can be. How much of a call has been reported when it
/// turns out to be none depends on the cut.
fn scan(set: &DialectSet, options: &ScanOptions, pieces: &[&str]) -> Vec<Event> {
    let mut scanner = Scanner::new(set, options.clone());
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(scanner.push(piece));
    }
    events.extend(scanner.end());
    let mut at = 0;
    let mut joined: Vec<Event> = Vec::new();
    for mut event in events {
        if let Some(range) = event.range() {
            assert_eq!(range.start, at, "a gap or an overlap");
            at = range.end;
        }
        match (joined.last_mut(), &mut event) {
            (Some(Event::Text(last)), Event::Text(range))
            | (Some(Event::CallText(last)), Event::CallText(range))
            | (Some(Event::Reasoning(last)), Event::Reasoning(range)) => last.end = range.end,
            (Some(Event::CallText(last)), Event::Unparsed(unparsed)) if unparsed.begun => {
                unparsed.range.start = last.start;
                joined.pop();
                joined.push(event);
            }
            _ => joined.push(event),
        }
    }
    assert_eq!(at, pieces.iter().map(|piece| piece.len() as u64).sum::<u64>(), "the whole text is reported");
    joined
}
