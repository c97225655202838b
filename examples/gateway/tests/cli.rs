//! The program as a user runs it.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn gateway(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gateway")).args(arguments).output().unwrap()
}

fn log(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stream-testkit/tests/logs").join(name)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn inspect_prints_what_a_client_ends_up_with_as_one_json_object() {
    let out = gateway(&["inspect", log("clean_up.sse").to_str().unwrap(), "--json"]);
    assert!(out.status.success());
    let expected = concat!(
        r#"{"format":"openai-chat","error":false,"partial_args":false,"choices":[{"index":0,"#,
        r#""content":"I clean up,\nthen I look.","reasoning":"","refusal":"","tool_calls":["#,
        r#"{"id":"call_rm","name":"rm","arguments":"{\"path\":\"build\"}"},"#,
        r#"{"id":"call_ls","name":"ls","arguments":"{\"path\":\".\"}"}],"finish_reason":"tool_calls"}]}"#,
        "\n",
    );
    assert_eq!(text(&out.stdout), expected);
}

#[test]
fn inspect_prints_a_line_for_each_block() {
    let out = gateway(&["inspect", log("clean_up.sse").to_str().unwrap()]);
    assert!(out.status.success());
    let expected = "\
format   openai-chat
model    small-1
#0       content   choice 0  complete      24 bytes  \"I clean up,\\nthen I look.\"
#1       tool call choice 0  complete      16 bytes  rm({\"path\":\"build\"})
#2       tool call choice 0  complete      12 bytes  ls({\"path\":\".\"})
finish   choice 0: tool_calls
";
    assert_eq!(text(&out.stdout), expected);
}

#[test]
fn replay_gives_the_bytes_of_the_log_in_every_cut() {
    for name in ["clean_up.sse", "mail.sse", "poem.sse", "answer.json"] {
        let path = log(name);
        let body = std::fs::read(&path).unwrap();
        for cut in ["original", "whole", "event", "byte", "7", "random:3"] {
            let out = gateway(&["replay", path.to_str().unwrap(), "--cut", cut]);
            assert!(out.status.success(), "{name} {cut}");
            assert_eq!(text(&out.stdout), text(&body), "{name} {cut}");
        }
    }
}

#[test]
fn a_format_that_is_not_the_log_s_is_an_error() {
    let path = log("clean_up.sse");
    let out = gateway(&["replay", path.to_str().unwrap(), "--format", "gemini"]);
    assert_eq!(out.status.code(), Some(2));
    let message = "upstream: expected frames of gemini, found one of openai-chat\n";
    assert_eq!(text(&out.stderr).rsplit_once(": upstream").unwrap().1, &message["upstream".len()..]);
}

#[test]
fn bad_input_is_an_error_that_says_what_was_expected() {
    let out = gateway(&["inspect", "no-such-file.sse"]);
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(
        text(&out.stderr),
        "gateway: no-such-file.sse: cannot be read: No such file or directory (os error 2)\n"
    );
    let out = gateway(&["replay", "x.sse", "--format", "smoke"]);
    assert_eq!(out.status.code(), Some(2));
    let first = text(&out.stderr).lines().next().unwrap();
    assert_eq!(
        first,
        "error: invalid value 'smoke' for '--format <FORMAT>': expected one of openai-chat, openai-responses, \
         anthropic-messages, gemini, found smoke"
    );
}
