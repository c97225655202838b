//! Arguments that one reader reads otherwise than another, against conditions on them.

use stream_core::{Action, CallFlavor, Verdict};
use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings};
use stream_policies::{CompletedCall, Rules, ToolGate};

use crate::kit::chat::{call, end, text};
use crate::kit::{allow_when, deny_when, run, verdict};

const DENIED: &str = "not that";
const TWICE: &str = "a key stands twice in its arguments";
const UNREADABLE: &str = "its arguments cannot be read";

/// No `rm` in the command.
fn no_rm() -> Rules {
    deny_when(Condition::at("/command").regex("rm"))
}

/// Nothing but `ls` as command.
fn only_ls() -> Rules {
    allow_when(Condition::at("/command").equals("ls"))
}

#[track_caller]
fn assert_denied(rules: &Rules, arguments: &str, reason: &str) {
    assert_eq!(verdict(rules, arguments), Verdict::drop(reason), "{arguments}");
}

#[test]
fn a_key_that_stands_twice_denies_whichever_of_them_a_client_takes() {
    for arguments in [
        r#"{"command":"rm","command":"ls"}"#,
        r#"{"command":"ls","command":"rm"}"#,
        r#"{"command":"ls","c\u006fmmand":"rm"}"#,
        r#"{"command":"ls","deep":[{"a":1,"a":2}]}"#,
    ] {
        assert_denied(&no_rm(), arguments, TWICE);
        assert_denied(&only_ls(), arguments, TWICE);
        let rules = no_rm();
        let body = text("ok") + &call(0, "a", "run", arguments) + &end("tool_calls");
        let ran = run(move || ToolGate::new(rules.clone()), &body);
        assert_eq!(
            (ran.edits(), ran.out.clone()),
            (vec![(Action::Dropped, TWICE)], text("ok") + &end("stop"))
        );
    }
}

#[test]
fn a_key_in_other_letters_does_not_hide_what_is_denied() {
    // Readers that are blind to case or underscores take it for the parameter.
    for arguments in [
        r#"{"Command":"rm"}"#,
        r#"{"COMMAND":"rm"}"#,
        r#"{"command":"ls","Command":"rm"}"#,
        r#"{"com_mand":"rm"}"#,
        r#"{" command":"rm"}"#,
    ] {
        assert_denied(&no_rm(), arguments, DENIED);
    }
    assert_eq!(verdict(&no_rm(), r#"{"Command":"ls","other":"rm"}"#), Verdict::Release);
}

#[test]
fn a_key_in_other_letters_beside_the_one_that_is_allowed_allows_nothing() {
    for arguments in [
        r#"{"command":"ls","Command":"rm"}"#,
        r#"{"COMMAND":"rm","command":"ls"}"#,
        r#"{"command":"ls","com-mand":"x"}"#,
    ] {
        assert_denied(&only_ls(), arguments, "no rule allows it");
    }
    assert_denied(&only_ls(), r#"{"Command":"ls"}"#, "no rule allows it");
    assert_eq!(verdict(&only_ls(), r#"{"command":"ls","timeout":1}"#), Verdict::Release);
}

#[test]
fn what_must_be_absent_is_not_made_present_by_a_key_in_other_letters() {
    let rules = deny_when(Condition::at("/confirmed").present(false));
    assert_denied(&rules, r#"{"Confirmed":true}"#, DENIED);
    assert_eq!(verdict(&rules, r#"{"confirmed":true}"#), Verdict::Release);
    let rules = deny_when(Condition::at("/force").present(true));
    assert_denied(&rules, r#"{"Force":null}"#, DENIED);
}

#[test]
fn escapes_hide_nothing() {
    for arguments in
        [r#"{"command":"\u0072\u006d"}"#, r#"{"c\u006fmmand":"r\u006d"}"#, "{\"command\"\n:\t\"rm\"}"]
    {
        assert_denied(&no_rm(), arguments, DENIED);
    }
}

#[test]
fn lists_and_objects_in_place_of_a_text_hide_nothing() {
    for arguments in [
        r#"{"command":["rm","-rf"]}"#,
        r#"{"command":[["sh","-c"],["rm"]]}"#,
        r#"{"command":{"program":"rm"}}"#,
        r#"{"command":{"rm":true}}"#,
    ] {
        assert_denied(&no_rm(), arguments, DENIED);
    }
    // Words that are only one command when they are run as one line.
    assert_denied(
        &deny_when(Condition::at("/command").glob("rm -rf *")),
        r#"{"command":["rm","-rf","/"]}"#,
        DENIED,
    );
    assert_denied(&only_ls(), r#"{"command":["ls"]}"#, "no rule allows it");
}

#[test]
fn a_value_in_a_list_or_of_another_type_is_no_other_value_to_what_denies() {
    let force = deny_when(Condition::at("/force").equals(true));
    for arguments in
        [r#"{"force":true}"#, r#"{"force":"true"}"#, r#"{"force":[true]}"#, r#"{"force":"True"}"#]
    {
        assert_denied(&force, arguments, DENIED);
    }
    let level = deny_when(Condition::at("/level").equals(9));
    for arguments in
        [r#"{"level":9}"#, r#"{"level":9.0}"#, r#"{"level":0.9e1}"#, r#"{"level":"9"}"#, r#"{"level":[1,9]}"#]
    {
        assert_denied(&level, arguments, DENIED);
    }
    assert_denied(&deny_when(Condition::at("/command").equals("rm")), r#"{"command":["rm"]}"#, DENIED);
    let allow = allow_when(Condition::at("/force").equals(false));
    assert_denied(&allow, r#"{"force":"false"}"#, "no rule allows it");
}

#[test]
fn a_number_is_matched_in_every_way_to_write_it() {
    let rules = deny_when(Condition::at("/port").regex("^22$"));
    for arguments in [r#"{"port":22}"#, r#"{"port":"22"}"#, r#"{"port":22.0}"#, r#"{"port":2.2e1}"#] {
        assert_denied(&rules, arguments, DENIED);
    }
}

#[test]
fn arguments_that_are_no_json_are_denied_where_a_condition_would_have_looked_at_them() {
    for arguments in [
        "rm -rf /",
        r#"{"command":"rm"#,
        r#"{"command":"ls"}{"command":"rm"}"#,
        r#"{"command":"ls"} rm"#,
        r#"{"command":"ls",}"#,
        "{'command':'rm'}",
        "{command:\"rm\"}",
        "// rm\n{\"command\":\"ls\"}",
        "\u{feff}{\"command\":\"rm\"}",
        r#"{"command":NaN}"#,
    ] {
        assert_denied(&no_rm(), arguments, UNREADABLE);
        assert_denied(&only_ls(), arguments, UNREADABLE);
    }
}

#[test]
fn arguments_in_a_string_or_a_list_are_no_way_around_a_condition() {
    for arguments in [r#""{\"command\":\"rm\"}""#, r#"["rm"]"#, r#"[{"command":"rm"}]"#, "7", r#""rm""#] {
        assert_denied(&no_rm(), arguments, UNREADABLE);
        assert_denied(&only_ls(), arguments, UNREADABLE);
    }
}

#[test]
fn json_in_a_string_inside_is_read_by_what_denies() {
    let rules = deny_when(Condition::at("/input/command").regex("rm"));
    for arguments in [
        r#"{"input":{"command":"rm"}}"#,
        r#"{"input":"{\"command\":\"rm\"}"}"#,
        r#"{"input":" {\"command\": \"\\u0072m\"}"}"#,
    ] {
        assert_denied(&rules, arguments, DENIED);
    }
    assert_eq!(verdict(&rules, r#"{"input":"{ls"}"#), Verdict::Release);
}

#[test]
fn a_very_deep_value_is_not_read_and_so_denied() {
    let deep = format!(r#"{{"command":"ls","x":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    assert_denied(&no_rm(), &deep, UNREADABLE);
    assert_denied(&only_ls(), &deep, UNREADABLE);
}

#[test]
fn pointers_reach_keys_with_slashes_and_tildes_and_items_of_lists() {
    let slash = deny_when(Condition::at("/a~1b").regex("rm"));
    assert_denied(&slash, r#"{"a/b":"rm"}"#, DENIED);
    assert_eq!(verdict(&slash, r#"{"a":{"b":"rm"}}"#), Verdict::Release);
    let tilde = deny_when(Condition::at("/~01").regex("rm"));
    assert_denied(&tilde, r#"{"~1":"rm"}"#, DENIED);
    let first = deny_when(Condition::at("/files/0").regex("rm"));
    assert_denied(&first, r#"{"files":["rm"]}"#, DENIED);
    assert_denied(&first, r#"{"files":{"0":"rm"}}"#, DENIED);
    assert_eq!(verdict(&first, r#"{"files":["ls","rm"]}"#), Verdict::Release);
    let any = deny_when(Condition::at("/files").regex("rm"));
    assert_denied(&any, r#"{"files":["ls","rm"]}"#, DENIED);
}

#[test]
fn what_allows_matches_all_of_a_text_whatever_lines_it_has() {
    for pattern in ["ls|pwd", "(?m)^ls$", "^ls$", "ls.?"] {
        let rules = allow_when(Condition::at("/command").regex(pattern));
        assert_eq!(verdict(&rules, r#"{"command":"ls"}"#), Verdict::Release, "{pattern}");
        for command in [r"ls\nrm -rf /", r"rm\nls", "ls; rm", r"ls\n", r"\nls", "ls&&ls"] {
            let arguments = format!(r#"{{"command":"{command}"}}"#);
            let said: String = serde_json::from_str(&format!("\"{command}\"")).unwrap();
            let reason = match regex::Regex::new(pattern).unwrap().is_match(&said) {
                true => "no rule allows it: a pattern matches only a part of the value at \"/command\"",
                false => "no rule allows it",
            };
            assert_denied(&rules, &arguments, reason);
        }
    }
    // What would make a comment of the anchor is no regex any more.
    let settings = RulesSettings::otherwise(Otherwise::Deny)
        .allow(Rule::tools(["run"]).when(Condition::at("/command").regex("(?x) ls # ")));
    let open = settings.build().map(|rules| verdict(&rules, r#"{"command":"ls; rm"}"#));
    assert_ne!(open.ok(), Some(Verdict::Release));
}

#[test]
fn what_denies_matches_any_part_of_a_text_on_any_line() {
    assert_denied(&no_rm(), r#"{"command":"ls\nrm -rf /"}"#, DENIED);
    // An anchor is the rule's own: it says the start of the text.
    let anchored = deny_when(Condition::at("/command").regex("^rm"));
    assert_eq!(verdict(&anchored, r#"{"command":"ls; rm"}"#), Verdict::Release);
    assert_denied(&anchored, r#"{"command":"rm"}"#, DENIED);
}

#[test]
fn globs_on_arguments_compare_letters_as_they_are() {
    let rules = deny_when(Condition::at("/path").glob("*/etc/*"));
    assert_denied(&rules, r#"{"path":"/etc/passwd"}"#, DENIED);
    assert_denied(&rules, r#"{"path":"\/etc\/passwd"}"#, DENIED);
    assert_denied(&rules, r#"{"path":"x\n/etc/passwd"}"#, DENIED);
    // A path is for the tool to resolve: the module says so.
    assert_eq!(verdict(&rules, r#"{"path":"/ETC/passwd"}"#), Verdict::Release);
    assert_eq!(verdict(&rules, r#"{"path":"/./etc"}"#), Verdict::Release);
}

#[test]
fn the_free_text_of_a_custom_tool_is_matched_as_text() {
    let rules = deny_when(Condition::at("").regex("rm"));
    let custom = |text: &str| CompletedCall::new("run", text).with_flavor(CallFlavor::Custom);
    assert_eq!(rules.verdict(&custom("x; rm")), Verdict::drop(DENIED));
    assert_eq!(rules.verdict(&custom(r#"{"a":1,"a":2}"#)), Verdict::Release);
    // A condition on a parameter, and a text that has none: a tool that parses it would find one.
    assert_eq!(no_rm().verdict(&custom(r#"{"command":"rm"}"#)), Verdict::drop(DENIED));
}

#[test]
fn a_condition_on_something_opaque_denies_it() {
    use crate::kit::anthropic::{end, open, start, stop, text};
    let rule = Rule::tools(["robot_use"]).when(Condition::at("/arm").equals("left"));
    let rules = RulesSettings::otherwise(Otherwise::Allow).deny(rule).build().unwrap();
    let body = start() + &text(0, "ok") + &open(1, r#"{"type":"robot_use","arm":"left"}"#) + &stop(1);
    let ran = run(move || ToolGate::new(rules.clone()), &(body + &end("end_turn")));
    assert_eq!(ran.edits(), [(Action::Dropped, UNREADABLE)]);
    assert_eq!(ran.out, start() + &text(0, "ok") + &end("end_turn"));
}
