use serde_json::json;
use stream_core::CallFlavor;

use super::*;

fn rules(settings: serde_json::Value) -> Rules {
    serde_json::from_value(settings).unwrap()
}

fn verdict(rules: &Rules, name: &str, arguments: &str) -> Verdict {
    rules.verdict(&CompletedCall::new(name, arguments))
}

fn wrong(settings: serde_json::Value) -> String {
    serde_json::from_value::<Rules>(settings).unwrap_err().to_string()
}

#[test]
fn allow_rules_compare_names_exactly() {
    let rules = rules(json!({"default": "deny", "allow": [{"tools": ["read_*"]}]}));
    assert_eq!(verdict(&rules, "read_file", "{}"), Verdict::Release);
    for other in ["Read_file", " read_file", "ｒead_file", "xread_file"] {
        assert_eq!(verdict(&rules, other, "{}"), Verdict::drop("no rule allows it"), "{other:?}");
    }
}

#[test]
fn deny_rules_see_through_case_space_width_and_invisible_characters() {
    let rules = rules(json!({"default": "allow", "deny": [{"tools": ["Bash", "sh*"]}]}));
    for name in ["bash", "BASH", " bash\n", "ｂａｓｈ", "ba\u{200b}sh", "SHELL", "\u{feff}shell"] {
        assert_eq!(verdict(&rules, name, "{}"), Verdict::drop("a rule denies Bash, sh*"), "{name:?}");
    }
    assert_eq!(verdict(&rules, "basher", "{}"), Verdict::Release);
}

#[test]
fn a_denial_wins_over_whatever_allows() {
    let rules = rules(json!({
        "default": "deny",
        "allow": [{"tools": ["*"]}],
        "deny": [{"tools": ["rm"], "because": "never"}],
    }));
    assert_eq!(verdict(&rules, "rm", "{}"), Verdict::drop("never"));
    assert_eq!(verdict(&rules, "ls", "{}"), Verdict::Release);
}

#[test]
fn what_allows_must_match_all_of_a_value() {
    let rules = rules(json!({"default": "deny", "allow": [
        {"tools": ["shell"], "when": [{"at": "/command", "regex": "ls( -l)?|pwd"}]},
        {"tools": ["read"], "when": [{"at": "/path", "glob": "/work/*"}, {"at": "/lines", "present": false}]},
        {"tools": ["count"], "when": [{"at": "/n", "equals": 3}]},
    ]}));
    let no = Verdict::drop("no rule allows it");
    // Anchoring is told: nobody would find out why `pwd; rm` is denied by a rule that has `pwd`.
    let part = Verdict::drop("no rule allows it: a pattern matches only a part of the value at \"/command\"");
    for (name, arguments, expected) in [
        ("shell", r#"{"command":"ls -l"}"#, &Verdict::Release),
        ("shell", r#"{"command":"pwd"}"#, &Verdict::Release),
        ("shell", r#"{"command":"pwd; rm"}"#, &part),
        ("shell", r#"{"command":["pwd"]}"#, &no),
        ("shell", r#"{"command":{"a":"pwd"}}"#, &no),
        ("shell", r#"{"Command":"pwd"}"#, &no),
        ("shell", "", &no),
        ("read", r#"{"path":"/work/a"}"#, &Verdict::Release),
        ("read", r#"{"path":"/work/a","lines":null}"#, &no),
        ("read", r#"{"path":"/etc/passwd"}"#, &no),
        ("count", r#"{"n":3.0}"#, &Verdict::Release),
        ("count", r#"{"n":"3"}"#, &no),
    ] {
        assert_eq!(verdict(&rules, name, arguments), *expected, "{name} {arguments}");
    }
}

#[test]
fn what_denies_matches_any_part_of_a_value() {
    let rules = rules(json!({"default": "allow", "deny": [
        {"tools": ["*"], "when": [{"at": "/command", "regex": r"rm\s+-rf"}], "because": "no removal"},
        {"tools": ["*"], "when": [{"at": "/mode", "equals": {"force": true}}], "because": "no force"},
        {"tools": ["*"], "when": [{"at": "/port", "glob": "80*"}], "because": "no ports"},
    ]}));
    for (arguments, reason) in [
        (r#"{"command":"cd / && rm -rf ."}"#, "no removal"),
        (r#"{"command":"\u0072m -rf ."}"#, "no removal"),
        (r#"{"command":["sudo","rm -rf"]}"#, "no removal"),
        (r#"{"command":["rm","-rf","/"]}"#, "no removal"),
        (r#"{"command":{"line":{"text":"rm -rf /"}}}"#, "no removal"),
        (r#"{"command":{"rm -rf":1}}"#, "no removal"),
        (r#"{"mode":{"force":true}}"#, "no force"),
        (r#"{"port":8080}"#, "no ports"),
    ] {
        assert_eq!(verdict(&rules, "any", arguments), Verdict::drop(reason), "{arguments}");
    }
    for fine in [r#"{"command":"rm -r"}"#, r#"{"mode":{"force":false}}"#, r#"{"port":443}"#, ""] {
        assert_eq!(verdict(&rules, "any", fine), Verdict::Release, "{fine}");
    }
}

#[test]
fn a_key_that_stands_twice_denies_whatever_the_rules_say() {
    let rules = rules(json!({"default": "allow"}));
    let twice = Verdict::drop("a key stands twice in its arguments");
    assert_eq!(verdict(&rules, "any", r#"{"a":1,"a":1}"#), twice);
    assert_eq!(verdict(&rules, "any", r#"{"x":{"a":1,"\u0061":2}}"#), twice);
}

#[test]
fn arguments_that_cannot_be_read_deny_where_a_condition_needs_them() {
    let allow = rules(json!({"default": "deny", "allow": [
        {"tools": ["free"]},
        {"tools": ["shell"], "when": [{"at": "/command", "present": false}]},
    ]}));
    let unreadable = Verdict::drop("its arguments cannot be read");
    assert_eq!(verdict(&allow, "shell", r#"{"command":"in"#), unreadable);
    assert_eq!(verdict(&allow, "free", r#"{"command":"in"#), Verdict::Release);
    let deny = rules(json!({"default": "allow", "deny": [
        {"tools": ["shell"], "when": [{"at": "/command", "glob": "*rm*"}]},
    ]}));
    assert_eq!(verdict(&deny, "shell", r#"{"command":"in"#), unreadable);
    assert_eq!(verdict(&deny, "other", r#"{"command":"in"#), Verdict::Release);
}

#[test]
fn free_text_is_a_string_at_the_root() {
    let rules =
        rules(json!({"default": "allow", "deny": [{"tools": ["*"], "when": [{"at": "", "regex": "rm"}]}]}));
    let custom = |text| CompletedCall::new("patch", text).with_flavor(CallFlavor::Custom);
    assert_eq!(rules.verdict(&custom("please rm it")), Verdict::drop("a rule denies *"));
    assert_eq!(rules.verdict(&custom("please keep it")), Verdict::Release);
}

#[test]
fn settings_that_cannot_be_used_say_where_and_why() {
    for (settings, message) in [
        (json!({}), "missing field `default`"),
        (json!({"default": "maybe"}), "unknown variant `maybe`, expected `allow` or `deny`"),
        (
            json!({"default": "deny", "alow": []}),
            "unknown field `alow`, expected one of `default`, `server`, `allow`, `deny`",
        ),
        (
            json!({"default": "allow", "allow": [{"tools": ["a"]}]}),
            "allow: expected no rules, since the default allows, found 1",
        ),
        (
            json!({"default": "deny", "deny": [{"tools": []}]}),
            "deny[0].tools: expected at least one glob (* is all tools), found none",
        ),
        (
            json!({"default": "deny", "deny": [{"tools": ["a"], "when": [{"at": "/x"}]}]}),
            "deny[0].when[0]: expected exactly one of equals, glob, regex and present, found 0",
        ),
        (
            json!({"default": "deny", "deny": [{"tools": ["a"], "when": [{"at": "/x", "glob": "a", "present": true}]}]}),
            "deny[0].when[0]: expected exactly one of equals, glob, regex and present, found 2",
        ),
        (
            json!({"default": "deny", "deny": [{"tools": ["a"], "when": [{"at": "x", "present": true}]}]}),
            "deny[0].when[0].at: expected a JSON Pointer (empty, or / before each key, with ~0 for ~ and ~1 for /), found \"x\"",
        ),
        (
            json!({"default": "deny", "allow": [{"tools": ["a"], "when": [{"at": "/x", "regex": "("}]}]}),
            "allow[0].when[0].regex: expected a regular expression, found unclosed group",
        ),
    ] {
        assert_eq!(wrong(settings), message);
    }
}

#[test]
fn a_written_null_is_a_value_to_compare_with() {
    let rules = rules(
        json!({"default": "allow", "deny": [{"tools": ["*"], "when": [{"at": "/x", "equals": null}]}]}),
    );
    assert_eq!(verdict(&rules, "any", r#"{"x":null}"#), Verdict::drop("a rule denies *"));
    assert_eq!(verdict(&rules, "any", "{}"), Verdict::Release);
}
