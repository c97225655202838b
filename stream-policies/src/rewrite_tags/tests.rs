//! Calls in the text, in other tags.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use stream_core::Config;
use stream_core::text_calls::{DialectSet, known};
use stream_testkit::{
    ChunkLog, Cut, Fragments, Replay, Replayed, Script, WireKind,
    laws::{Laws, Tally},
};

use super::*;
use crate::testing::{everywhere, seen};

const FILES: &str = r#"I will list the files for you.<|tool_call|>{"name": "list_files", "arguments": {"directory_path": "abstractcore"}}</|tool_call|>"#;
const REWRITTEN: &str = r#"I will list the files for you.ojlk{"name": "list_files", "arguments": {"directory_path": "abstractcore"}}dfsd"#;

fn config() -> Config {
    let set = DialectSet::new().with(known::qwen_prompted()).with(known::anthropic()).with(known::hermes());
    Config::default().text_calls(set)
}

fn run(policy: &RewriteTags, log: &ChunkLog, cut: Cut) -> Replayed {
    let policy = policy.clone();
    Replay::new(log).config(config()).cut(cut).policy(move || policy.clone()).run()
}

/// What a client reads, in every format, streamed and whole.
fn rewritten(settings: RewriteTagsSettings, text: &str) -> String {
    let policy = settings.build().unwrap();
    let mut all: Vec<String> = Vec::new();
    for (kind, log) in everywhere(&Script::new().text(text).text_fragments(Fragments::Chars(7))) {
        let view = seen(&format!("{kind}"), &run(&policy, &log, Cut::Event));
        all.push(view.choices[0].content.clone());
    }
    all.dedup();
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

#[test]
fn the_tags_are_exactly_those_given_in_any_cut_in_every_format_streamed_and_whole() {
    let policy = RewriteTagsSettings::tags("ojlk,dfsd").build().unwrap();
    for fragments in [Fragments::Whole, Fragments::Chars(1), Fragments::Chars(3), Fragments::Chars(10)] {
        for (kind, log) in everywhere(&Script::new().text(FILES).text_fragments(fragments)) {
            for cut in [Cut::Whole, Cut::Event, Cut::Byte] {
                let view = seen(&format!("{kind}, {cut:?}"), &run(&policy, &log, cut));
                assert_eq!(view.choices[0].content, REWRITTEN, "{kind}, {cut:?}");
            }
        }
    }
}

#[test]
fn text_around_is_neither_lost_nor_doubled() {
    let text = r#"One <|tool_call|>{"name":"a","arguments":{}}</|tool_call|> two <|tool_call|>{"name":"b","arguments":{}}</|tool_call|> three"#;
    let expected = r#"One X{"name":"a","arguments":{}}Y two X{"name":"b","arguments":{}}Y three"#;
    assert_eq!(rewritten(RewriteTagsSettings::between("X", "Y"), text), expected);
}

#[test]
fn where_the_name_stands_in_the_tag_the_call_keeps_its_own_and_loses_those_around_it() {
    let one = r#"<invoke name="a"><parameter name="k">v</parameter></invoke>"#;
    let two = r#"<invoke name="b"></invoke>"#;
    let text = format!("So: <function_calls>{one}{two}</function_calls> done");
    let expected = format!("So: X{one}YX{two}Y done");
    assert_eq!(rewritten(RewriteTagsSettings::between("X", "Y"), &text), expected);
}

#[test]
fn a_call_is_written_in_another_dialect() {
    let text = r#"So: <tool_call>{"name":"a","arguments":{"k":"v"}}</tool_call> done"#;
    let expected = known::anthropic().write("a", r#"{"k":"v"}"#).unwrap();
    let found = rewritten(RewriteTagsSettings::dialect("anthropic"), text);
    assert_eq!(found, format!("So: {expected} done"));
}

#[test]
fn prose_code_and_halves_come_out_as_they_came() {
    let policy = RewriteTagsSettings::tags("ojlk,dfsd").build().unwrap();
    for text in [
        "a < b, `<tool_call>` and <b>bold</b>",
        "```\n<tool_call>{\"name\":\"a\",\"arguments\":{}}</tool_call>\n```\n",
        "<|tool_call|> is a marker.",
        "cut <|tool_call|>{\"name\":\"a\",\"argum",
        "the end <",
    ] {
        for (kind, log) in everywhere(&Script::new().text(text).text_fragments(Fragments::Chars(3))) {
            assert_eq!(run(&policy, &log, Cut::Event).bytes(), log.bytes(), "{kind}: {text}");
        }
    }
}

#[test]
fn calls_of_the_api_pass_as_they_are() {
    let policy = RewriteTagsSettings::tags("ojlk,dfsd").build().unwrap();
    for (kind, log) in everywhere(&Script::new().text("So.").call("call_1", "a", "{}")) {
        assert_eq!(run(&policy, &log, Cut::Event).bytes(), log.bytes(), "{kind}");
    }
}

#[test]
fn all_laws_hold() {
    let policy = RewriteTagsSettings::tags("ojlk,dfsd").build().unwrap();
    let text = r#"So: <tool_call>{"name":"look","arguments":{"place":"garden"}}</tool_call> and on it goes"#;
    let mut tally = Tally::default();
    for kind in WireKind::ALL {
        let policy = policy.clone();
        let laws = Laws::of(move || policy.clone()).config(config());
        for text in [text, "a < b, and <tool_call> is a tag"] {
            let script =
                Script::new().text(text).text_fragments(Fragments::Chars(5)).call("call_1", "other", "{}");
            tally.add(&laws.clone().check(&script.to_log(kind)).unwrap());
        }
    }
    tally.assert_held_but(&[]);
}

#[test]
fn settings_that_say_nothing_or_too_much_are_refused() {
    for (settings, expected) in [
        (RewriteTagsSettings::default(), "rewrite-tags: expected `tags` or `dialect`, found neither"),
        (RewriteTagsSettings::tags("one"), "tags: expected two tags and a comma between them, found one"),
        (RewriteTagsSettings::tags(",x"), "tags: expected a tag before the call, found an empty one"),
    ] {
        assert_eq!(settings.build().unwrap_err().to_string(), expected);
    }
    let error = RewriteTagsSettings::dialect("hermess").build().unwrap_err().to_string();
    assert!(
        error.starts_with("dialect: expected a dialect out of ") && error.ends_with(", found \"hermess\"")
    );
}
