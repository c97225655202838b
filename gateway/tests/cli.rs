//! The program as a user runs it.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn gateway(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gateway")).args(arguments).output().unwrap()
}

fn log(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../stream-testkit/tests/logs").join(name)
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
    let message =
        format!("gateway: {}: expected frames of gemini, found one of openai-chat\n", path.display());
    assert_eq!(text(&out.stderr), message);
}

#[test]
fn check_says_nothing_of_what_is_right() {
    let files = ["clean_up.sse", "mail.sse", "poem.sse", "answer.json"].map(log);
    let mut arguments = vec!["check"];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    let out = gateway(&arguments);
    assert_eq!((out.status.code(), text(&out.stdout), text(&out.stderr)), (Some(0), "", ""));
}

#[test]
fn check_prints_a_line_for_each_violation_with_its_file_and_event() {
    let directory = Directory::new("check");
    let wrong = directory.file(
        "wrong.sse",
        concat!(
            r#"data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}"#,
            "\n\n",
            r#"data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            "\n\ndata: [DONE]\n\n",
        ),
    );
    let out = gateway(&["check", log("mail.sse").to_str().unwrap(), &wrong]);
    assert_eq!((out.status.code(), text(&out.stderr)), (Some(1), ""));
    let no_role = "event 1: event-order: expected the role \"assistant\" first in choice 0, found none (excused by no-role)";
    let no_calls = "event 3: finish-reason: expected calls before \"tool_calls\", found none";
    assert_eq!(text(&out.stdout), format!("{wrong}: {no_role}\n{wrong}: {no_calls}\n"));
    let out = gateway(&["check", &wrong, "--allow", "no-role"]);
    assert_eq!((out.status.code(), text(&out.stdout)), (Some(1), &*format!("{wrong}: {no_calls}\n")));
}

#[test]
fn check_takes_the_format_that_is_named() {
    let path = log("poem.sse");
    let out = gateway(&["check", path.to_str().unwrap(), "--format", "openai-chat"]);
    assert_eq!(out.status.code(), Some(1));
    let directory = Directory::new("check-format");
    let untold = directory.file("untold.sse", "data: {}\n\n");
    let out = gateway(&["check", &untold]);
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(
        text(&out.stderr),
        format!(
            "gateway: {untold}: expected a stream of openai-chat, openai-responses, anthropic-messages, gemini, \
             found nothing that tells; name it with --format\n"
        )
    );
}

#[test]
fn a_transcript_tells_what_happened_instead_of_the_bytes() {
    let out = gateway(&["replay", log("clean_up.sse").to_str().unwrap(), "--transcript"]);
    assert!(out.status.success());
    let transcript = text(&out.stdout);
    let lines: Vec<&str> = transcript.lines().collect();
    assert_eq!(lines[..2], ["log:    clean_up.sse, stream, 2075 B in 11 frames", "policy: Passthrough"]);
    assert_eq!(
        transcript.split_once("client: ").unwrap().1,
        "openai-chat, clean ending, usage\n  content    \"I clean up,␊then I look.\"  24 B\n  \
         call       rm({\"path\":\"build\"})  function call_rm\n  call       ls({\"path\":\".\"})  function \
         call_ls\n  finish     tool_calls\n"
    );
}

/// A directory that is gone with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gateway-cli-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, body: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, body).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
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
