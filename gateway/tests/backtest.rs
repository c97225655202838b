//! `gateway backtest` over recordings made here.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};
use stream_testkit::{Form, Fragments, Script, WireKind};

struct Directory(PathBuf);

impl Directory {
    /// Recordings of a call of `shell` in every API, one without a call, one that is bad, and two files.
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gateway-backtest-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("logs/week")).unwrap();
        let this = Self(path);
        for kind in WireKind::ALL {
            let script =
                Script::new().text("I clean up.").call("call_1", "shell", r#"{"command":"rm -rf /"}"#);
            this.file(&format!("logs/week/{}.in.sse", kind.name()), script.to_log(kind).bytes());
            this.file(&format!("logs/week/{}.out.sse", kind.name()), b"data: not looked at\n\n");
        }
        let plain = Script::new().text("Hello.").to_log(WireKind::OpenAiChat);
        this.file("logs/plain.sse", plain.bytes());
        this.file("logs/zero.json", b"[1, 2");
        this.file("new.toml", format!("{GATE}, because = \"no shells\" }}] }}\n").as_bytes());
        this.file("old.toml", b"[[policy]]\nkind = \"passthrough\"\n");
        this
    }

    fn file(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gateway"));
        command.current_dir(&self.0).args(["backtest", "logs", "--config", "new.toml"]).args(arguments);
        command.output().unwrap()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const GATE: &str =
    "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"allow\", deny = [{ tools = [\"shell\"]";

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn every_recording_is_tried_and_a_bad_one_is_a_row() {
    let directory = Directory::new("rows");
    let out = directory.run(&["--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(out.stderr));
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    let total = |key: &str| report[key].as_u64().unwrap();
    assert_eq!(
        ["recordings", "bad", "edited", "ended", "closed", "differing"].map(total),
        [6, 1, 4, 0, 0, 0],
        "{report:#}"
    );
    let rows = report["policies"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{report:#}");
    let row = |key: &str| rows[0][key].clone();
    assert_eq!(
        json!([
            row("policy"),
            row("action"),
            row("reason"),
            row("enforced"),
            row("decisions"),
            row("recordings")
        ]),
        json!(["tool_gate", "dropped", "no shells", true, 4, 4])
    );
    let files = report["files"].as_array().unwrap();
    let names: Vec<&str> = files.iter().map(|file| file["file"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "logs/plain.sse",
            "logs/week/anthropic-messages.in.sse",
            "logs/week/gemini.in.sse",
            "logs/week/openai-chat.in.sse",
            "logs/week/openai-responses.in.sse",
            "logs/zero.json",
        ]
    );
    assert_eq!((files[0]["edited"].as_bool(), files[3]["edited"].as_bool()), (Some(false), Some(true)));
    assert!(files[5]["bad"].is_string());
}

/// Holding counts at the pace at which a recording came, whatever the backtest itself takes.
#[test]
fn held_times_are_those_of_the_recorded_pace() {
    let directory = Directory::new("pace");
    let logs = directory.0.join("logs");
    for entry in std::fs::read_dir(&logs).unwrap() {
        let path = entry.unwrap().path();
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir_all(&path);
    }
    for (name, pace) in [("slow", 4000), ("fast", 1000), ("faster", 500)] {
        let script = Script::new()
            .argument_fragments(Fragments::Chars(11))
            .pace(Duration::from_millis(pace))
            .call("call_1", "shell", r#"{"command":"rm -rf /"}"#);
        let log = script.to_log(WireKind::OpenAiChat);
        log.save(logs.join(format!("{name}.jsonl")), Form::JsonLines).unwrap();
    }
    let out = directory.run(&["--json"]);
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    let row = &report["policies"][0];
    assert_eq!(
        json!([row["decisions"], row["held_p50_ms"], row["held_p95_ms"]]),
        json!([3, 3000, 12000]),
        "{report:#}"
    );
}

#[test]
fn what_fares_otherwise_than_under_the_other_file_is_listed() {
    let directory = Directory::new("against");
    let out = directory.run(&["--against", "old.toml"]);
    let said = text(out.stdout);
    let listed: Vec<&str> = said.lines().skip_while(|line| !line.ends_with("fare otherwise:")).collect();
    let of = |name: &str| {
        [
            format!("  logs/week/{name}.in.sse"),
            "    before: nothing".to_owned(),
            "    now:    tool_gate dropped (no shells)".to_owned(),
        ]
    };
    let mut expected = vec!["4 recordings fare otherwise:".to_owned()];
    expected.extend(
        ["anthropic-messages", "gemini", "openai-chat", "openai-responses"].iter().flat_map(|name| of(name)),
    );
    assert_eq!(listed[..13], expected, "{said}");
}

/// A setting that has no effect here is told.
#[test]
fn tools_are_not_run_over_recordings_and_that_is_told() {
    let directory = Directory::new("tool-loop");
    let config =
        format!("[tool_loop]\nbuiltin = [\"count_letters\"]\n{GATE}, because = \"no shells\" }}] }}\n");
    let plain = directory.run(&["--json"]);
    directory.file("new.toml", config.as_bytes());
    let out = directory.run(&["--json"]);
    assert_eq!(text(out.stdout), text(plain.stdout));
    let note = "new.toml: tool_loop: no tool is run here: every recorded answer goes through the policies by itself, and \
                calls of these tools are shown as the loop would get them\n";
    assert_eq!(text(out.stderr), format!("{note}{}", text(plain.stderr)));
    let mut replay = Command::new(env!("CARGO_BIN_EXE_gateway"));
    replay.current_dir(&directory.0).args(["replay", "logs/plain.sse", "--config", "new.toml"]);
    let out = replay.output().unwrap();
    assert_eq!(out.stdout, std::fs::read(directory.0.join("logs/plain.sse")).unwrap());
    assert_eq!(text(out.stderr), note);
}

#[test]
fn the_exit_code_tells_what_was_asked_for() {
    let directory = Directory::new("fail-on");
    let code = |arguments: &[&str]| directory.run(arguments).status.code();
    assert_eq!(code(&["--fail-on", "end"]), Some(0));
    assert_eq!(code(&["--fail-on", "bad"]), Some(1));
    assert_eq!(code(&["--fail-on", "end,edit"]), Some(1));
    assert_eq!(code(&["--fail-on", "differ"]), Some(0));
    assert_eq!(code(&["--fail-on", "differ", "--against", "old.toml"]), Some(1));
    assert_eq!(code(&["--against", "none.toml"]), Some(2));
}

#[test]
fn the_page_links_to_a_timeline_of_each_recording() {
    let directory = Directory::new("html");
    let out = directory.run(&["--html", "pages"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(out.stderr));
    let index = std::fs::read_to_string(directory.0.join("pages/index.html")).unwrap();
    for (number, name) in ["plain.sse", "week/anthropic-messages.in.sse"].iter().enumerate() {
        let link = format!("<a href=\"{number:06}.html\">logs/{name}</a>");
        assert_eq!(index.matches(&link).count(), 1, "{index}");
        let page = std::fs::read_to_string(directory.0.join(format!("pages/{number:06}.html"))).unwrap();
        assert!(page.ends_with("</html>\n"));
    }
    assert_eq!(index.matches("href=").count(), 5);
}
