//! Files that hold, and files that do not.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

#[cfg(all(feature = "http", feature = "json-schema", feature = "patterns", feature = "redis"))]
mod every_key;

use stream_core::{Config, Request};
use stream_testkit::{Replay, Script, WireKind};

use super::*;

fn error(text: &str) -> String {
    PolicySet::from_toml(text).unwrap_err().to_string()
}

const KINDS: &str = "buffered-judge, demote-calls, finish-gate, hide-reasoning, inject, passthrough, \
                     promote-text-calls, quota, redact, rewrite-tags, stop-on, tool-gate, validate-parameters";

#[test]
fn a_wrong_file_never_means_no_policy() {
    let none =
        "expected [[policy]] tables, found none: to let everything pass, say so with the kind passthrough";
    for (text, expected) in [
        ("", format!("line 1, column 1: {none}")),
        ("policy = []", format!("line 1, column 1: {none}")),
        ("policies = []", format!("line 1, column 1: {none}")),
        ("policy = 3", "line 1, column 10: policy: expected a list of tables, found an integer".into()),
        (
            "polcy = 1\n[[policy]]\nkind = \"passthrough\"",
            "line 1, column 1: expected a key out of blocked, policy, text_calls, found \"polcy\"; did you mean \"policy\"?"
                .into(),
        ),
        (
            "[[policy]]",
            format!("line 1, column 1: policy[0]: expected the key kind, one of {KINDS}, found none"),
        ),
        (
            "[[policy]]\nkind = \"passthru\"",
            format!(
                "line 2, column 8: policy[0].kind: expected a kind out of {KINDS}, found \"passthru\"; \
                 did you mean \"passthrough\"?"
            ),
        ),
        (
            "[[policy]]\nkind = 7",
            format!("line 2, column 8: policy[0].kind: expected a kind out of {KINDS}, found an integer"),
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    assert!(PolicySet::from_toml("[[policy]\nkind=").is_err_and(|error| error.place().is_some()));
}

/// The host's words stand where each API has a place for them.
#[test]
fn a_file_names_the_code_of_blocked_answers() {
    let file = "[blocked]\ncode = \"guardrail\"\n[[policy]]\nkind = \"quota\"\nbytes = 3\nerror = true\n";
    let set = PolicySet::from_toml(file).unwrap();
    let config = set.configure(Config::default(), None);
    let log = Script::new().text("Hello.").to_log(WireKind::OpenAiChat);
    let replayed = Replay::new(&log).config(config).policy(move || set.chain()).run();
    let bytes = String::from_utf8(replayed.bytes().to_vec()).unwrap();
    let told = bytes.lines().rfind(|line| line.contains("error")).unwrap();
    assert_eq!(
        told,
        r#"data: {"error":{"message":"the answer exceeded a quota","type":"policy_error","param":null,"code":"guardrail"}}"#
    );

    let policy = "\n[[policy]]\nkind = \"passthrough\"";
    for (blocked, expected) in [
        ("[blocked]", "line 1, column 1: blocked: expected `code` or `type`, found none"),
        (
            "[blocked]\ntype = \" \"",
            "line 2, column 1: blocked.type: expected a word for clients, found none",
        ),
        (
            "[blocked]\ncod = \"a\"",
            "line 2, column 1: blocked: expected a key out of code, type, found \"cod\"; did you mean \"code\"?",
        ),
    ] {
        assert_eq!(error(&format!("{blocked}{policy}")), expected);
    }
}

#[test]
fn errors_name_place_and_what_exists() {
    for (text, expected) in [
        (
            "[[policy]]\nkind = \"quota\"\ncals = 3",
            "line 3, column 1: policy[0]: expected a key out of bytes, blocks, calls, seconds, message, error, kind, \
             monitor, on_failure, time_limit, when, found \"cals\"; did you mean \"calls\"?",
        ),
        (
            "[[policy]]\nkind = \"quota\"\ncalls = \"three\"",
            "line 3, column 9: policy[0].calls: expected usize, found a string",
        ),
        (
            "[[policy]]\nkind = \"quota\"",
            "line 1, column 1: policy[0]: quota: expected `bytes`, `blocks`, `calls` or `seconds`, found none of them",
        ),
        (
            "[[policy]]\nkind = \"passthrough\"\non_failure = \"opne\"",
            "line 3, column 14: policy[0].on_failure: expected a value out of open, closed, found \"opne\"; did you \
             mean \"open\"?",
        ),
        (
            "[[policy]]\nkind = \"passthrough\"\ntime_limit = \"soon\"",
            "line 3, column 14: policy[0].time_limit: expected a duration such as 250ms, 10s or 2m, found \"soon\"",
        ),
        (
            "[[policy]]\nkind = \"passthrough\"\ntime_limit = \"0s\"",
            "line 3, column 1: policy[0]: time_limit: expected some time, found none",
        ),
        (
            "[[policy]]\nkind = \"passthrough\"\nwhen = { models = [\"a\", \"{b}\"] }",
            "line 3, column 25: policy[0]: when.models[1]: expected a glob of text, * and ?, found '{' in it (a regex \
             can say more)",
        ),
        (
            "[[policy]]\nkind = \"passthrough\"\nwhen = {}",
            "line 3, column 1: policy[0]: when: expected models, offers or tools, found none of them",
        ),
        (
            "[[policy]]\nkind = \"passthrough\"\nwhen = { model = \"a\" }",
            "line 3, column 10: policy[0].when: expected a key out of models, offers, tools, found \"model\"; did you \
             mean \"models\"?",
        ),
        (
            "[[policy]]\nkind = \"validate-parameters\"\n[policy.tools.shell]\nrequierd = [\"a\"]",
            "line 4, column 1: policy[0].tools.shell: expected a key out of required, aliases, schema, allow_empty, found \
             \"requierd\"; did you mean \"required\"?",
        ),
        (
            "[[policy]]\nkind = \"validate-parameters\"\n[policy.tools.shell]\nrequired = [\"a\"]\n\
             aliases = { a = [\"b\", \"a\"] }",
            "line 5, column 23: policy[0]: tools.shell.aliases.a[1]: expected a name that is not required itself, \
             found a",
        ),
        (
            "[[policy]]\nkind = \"hide-reasoning\"\nwhen = { tools = [\"bash\"] }",
            "line 1, column 1: policy[0]: expected a kind that looks at calls beside when.tools, found \"hide-reasoning\": it \
             would do nothing",
        ),
        (
            "[text_calls]\ndialects = [\"hermes\"]\n[[policy]]\nkind = \"rewrite-tags\"\ntags = { open = \"<a>\", clsoe = \"<b>\" }",
            "line 5, column 24: policy[0].tags: expected a key out of open, close, found \"clsoe\"; did you mean \"close\"?",
        ),
        (
            "[[policy]]\nkind = \"tool-gate\"\nrules = [\"deny\"]",
            "line 3, column 9: policy[0].rules: expected struct RulesSettings, found a list",
        ),
        (
            "[[policy]]\nkind = \"tool-gate\"\nrulse = {}",
            "line 3, column 1: policy[0]: expected a key out of on_deny, notice, message, deadline, cache, model, rules, \
             webhook, kind, monitor, on_failure, time_limit, when, found \"rulse\"; did you mean \"rules\"?",
        ),
        (
            "[[policy]]\nkind = \"tool-gate\"",
            "line 1, column 1: policy[0]: expected a judge (rules, webhook or model), found none",
        ),
        (
            "[[policy]]\nkind = \"tool-gate\"\nrulse = {}\nrules = { default = \"deny\" }",
            "line 3, column 1: policy[0]: expected a key out of on_deny, notice, message, deadline, cache, model, rules, \
             webhook, kind, monitor, on_failure, time_limit, when, found \"rulse\"; did you mean \"rules\"?",
        ),
        (
            "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"deny\", allow = [{ tools = [\"[a]\"] }] }",
            "line 3, column 49: policy[0].rules: allow[0].tools[0]: expected a glob of text, * and ?, found '[' in it (a \
             regex can say more)",
        ),
        (
            "[[policy]]\nkind = \"tool-gate\"\ncache = 3\nrules = { default = \"deny\" }",
            "line 3, column 1: policy[0].cache: expected a webhook or a model whose verdicts are kept, found neither",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[cfg(feature = "patterns")]
#[test]
fn a_bad_regex_is_an_error_and_a_literal_is_never_quoted() {
    let text = "[[policy]]\nkind = \"redact\"\npatterns = [{ name = \"x\", regex = \"(\" }]";
    let bad = PolicySet::from_toml(text).unwrap_err();
    assert_eq!(bad.path(), "policy[0]", "{bad}");
    let secret = "hunter2hunter2";
    let text = format!("[[policy]]\nkind = \"redact\"\npatterns = \"{secret}\"");
    assert_eq!(error(&text), "line 3, column 12: policy[0].patterns: expected a sequence, found a string");
}

#[test]
fn policies_come_from_any_serde_format() {
    let file = serde_json::json!({
        "policy": [{ "kind": "tool-gate", "rules": { "default": "deny", "allow": [{ "tools": ["read_*"] }] } }]
    });
    let set = Registry::new().read(file).unwrap();
    let script = Script::new().call("1", "read_file", "{}").call("2", "rm", "{}");
    for kind in WireKind::ALL {
        let log = script.to_log(kind);
        let set = set.clone();
        let replayed = Replay::new(&log).policy(move || set.chain().into_iter().next().unwrap()).run();
        let names: Vec<_> = replayed.view().choices[0].calls.iter().map(|call| call.name.clone()).collect();
        assert_eq!(names, ["read_file"], "{kind}");
    }
    let wrong = serde_json::json!({ "policy": [{ "kind": "quota", "calls": "three" }] });
    assert_eq!(
        Registry::new().read(wrong).unwrap_err().to_string(),
        "policy[0].calls: expected usize, found a string"
    );
}

#[test]
fn wrappers_come_from_the_file() {
    let set = PolicySet::from_toml(
        r#"
        [[policy]]
        kind = "hide-reasoning"
        when = { models = ["small-*", "tiny"], offers = ["bash"] }
        on_failure = "open"

        [[policy]]
        kind = "finish-gate"
        monitor = true
        time_limit = "5s"

        [[policy]]
        kind = "tool-gate"
        when = { tools = ["bash"] }
        rules = { default = "deny" }
        "#,
    )
    .unwrap();
    let described = set.describe();
    assert_eq!(
        described.to_string(),
        "1. hide-reasoning (models small-* or tiny, offering bash), fails open: looks at reasoning; does not look at \
         content, refusals, calls, opaque blocks\n\
         2. finish-gate, only watches, fails closed, within 5s: looks at calls, opaque blocks; does not look at content, \
         reasoning, refusals\n\
         3. tool-gate (tools bash), fails closed: looks at completed calls, opaque blocks; does not look at content, reasoning, \
         refusals\n\
         calls written as text are not looked for\n"
    );
    assert_eq!(described.unseen(), ["content", "refusals"]);
    let log = Script::new()
        .reasoning("Hm.")
        .call("1", "bash", "{}")
        .call("2", "read", "{}")
        .to_log(WireKind::OpenAiChat);
    let run = |request: Request| {
        let replay = (0..set.len()).fold(Replay::new(&log), |replay, at| {
            let set = set.clone();
            replay.policy(move || set.chain().into_iter().nth(at).unwrap())
        });
        let view = replay.config(Config::default().request(request)).run().view();
        let calls: Vec<String> = view.choices[0].calls.iter().map(|call| call.name.clone()).collect();
        (view.choices[0].reasoning.clone(), calls)
    };
    let offers = || Request::new().tool(stream_core::Tool::new("bash"));
    assert_eq!(run(offers().model("tiny")), (String::new(), vec!["read".to_owned()]));
    assert_eq!(run(offers().model("huge")), ("Hm.".to_owned(), vec!["read".to_owned()]));
}

#[test]
fn a_kind_is_registered_once() {
    let mut registry = Registry::new();
    let again =
        registry.register("quota", |_: serde_json::Value| Ok(|| stream_core::Passthrough)).map(|_| ());
    assert_eq!(again.unwrap_err().to_string(), "expected the name of a new kind, found \"quota\"");
}

#[test]
fn every_bundled_kind_is_there() {
    assert_eq!(Registry::new().kinds().collect::<Vec<_>>().join(", "), KINDS);
}
