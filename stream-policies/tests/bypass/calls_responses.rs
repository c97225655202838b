//! Responses: items first seen late, copies that disagree, and every item that the client runs.

use stream_core::{Action, ErrorKind};
use stream_policies::ToolGate;
use stream_policies::judge::rules::{Otherwise, Rule, RulesSettings};

use crate::kit::responses::{added, completed, created, done, unreadable};
use crate::kit::{gate, named, run, whole};

const DROPPED: &[(Action, &str)] = &[(Action::Dropped, "no shells")];
const BASH: &str =
    r#"{"type":"function_call","id":"f","call_id":"c","name":"bash","arguments":"{}","status":"completed"}"#;
const LS: &str =
    r#"{"type":"function_call","id":"f","call_id":"c","name":"ls","arguments":"{}","status":"completed"}"#;

/// The items with a type that the client runs.
const BUILTIN: [(&str, &str); 6] = [
    ("shell_call", r#"{"type":"shell_call","id":"i","call_id":"c","action":{"commands":["rm"]}}"#),
    ("local_shell_call", r#"{"type":"local_shell_call","id":"i","call_id":"c","action":{"command":["rm"]}}"#),
    (
        "apply_patch_call",
        r#"{"type":"apply_patch_call","id":"i","call_id":"c","operation":{"type":"delete_file","path":"rm"}}"#,
    ),
    (
        "computer_call",
        r#"{"type":"computer_call","id":"i","call_id":"c","action":{"type":"type","text":"rm"}}"#,
    ),
    (
        "mcp_approval_request",
        r#"{"type":"mcp_approval_request","id":"i","server_label":"s","name":"rm","arguments":"{}"}"#,
    ),
    ("custom_tool_call", r#"{"type":"custom_tool_call","id":"i","call_id":"c","name":"rm","input":"rm"}"#),
];

/// Allows nothing but `ls`.
fn only_ls() -> ToolGate {
    let rules = RulesSettings::otherwise(Otherwise::Deny).allow(Rule::tools(["ls"]));
    ToolGate::new(rules.build().unwrap())
}

#[test]
fn an_item_first_seen_in_response_completed_is_judged() {
    let ran = run(gate, &(created() + &completed(BASH)));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.view.choices[0].calls, []);
    assert_eq!(ran.view.choices[0].content, "[withheld by policy]");
    assert_eq!(ran.out.matches("bash").count(), 0, "{}", ran.out);
}

#[test]
fn an_item_first_seen_when_it_is_done_is_judged() {
    let ran = run(gate, &(created() + &done(0, BASH) + &completed(BASH)));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.view.choices[0].calls, []);
}

#[test]
fn a_copy_with_another_name_or_other_arguments_closes_the_stream() {
    let before = created() + &added(0, LS) + &done(0, LS);
    // Arguments that are missing are none to a client.
    let without = LS.replace(r#""arguments":"{}","#, "");
    let others = [LS.replace("\"{}\"", r#""{\"x\":1}""#), BASH.to_owned(), without];
    for other in others {
        let ran = run(gate, &(before.clone() + &completed(&other)));
        let error = Some(ErrorKind::CopyDisagrees);
        assert_eq!((ran.error, ran.out), (error, before.clone() + &unreadable()), "{other}");
    }
}

#[test]
fn a_second_call_in_response_completed_that_no_event_spoke_of_is_judged() {
    let before = created() + &added(0, LS) + &done(0, LS);
    let second = BASH.replace("\"f\"", "\"g\"").replace("\"c\"", "\"d\"");
    let ran = run(gate, &(before.clone() + &completed(&format!("{LS},{second}"))));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.out, before + &completed(LS));
}

#[test]
fn every_item_that_the_client_runs_is_judged_by_its_name_or_type() {
    for (kind, item) in BUILTIN {
        let body = created() + &added(0, item) + &done(0, item) + &completed(item);
        let ran = run(only_ls, &body);
        assert_eq!(ran.edits(), [(Action::Dropped, "no rule allows it")], "{kind}");
        assert_eq!(ran.view.choices[0].calls, [], "{kind}");
        assert_eq!(ran.out.matches("rm").count(), 0, "{kind}: {}", ran.out);
        let settings = RulesSettings::otherwise(Otherwise::Allow);
        let named = if item.contains("\"name\"") { "rm" } else { kind };
        let rules = settings.deny(Rule::tools([named.to_uppercase()]).because("no")).build().unwrap();
        let ran = run(move || ToolGate::new(rules.clone()), &body);
        assert_eq!(ran.edits(), [(Action::Dropped, "no")], "{kind}");
    }
}

#[test]
fn an_item_that_is_done_as_another_kind_closes_the_stream() {
    let search = r#"{"type":"web_search_call","id":"f","status":"completed"}"#;
    let ran = run(gate, &(created() + &added(0, search) + &done(0, BASH) + &completed(BASH)));
    // The search is judged as well, and waits for its end.
    assert_eq!((ran.error, ran.out), (Some(ErrorKind::CopyDisagrees), created() + &unreadable()));
}

#[test]
fn arguments_that_come_only_in_their_done_event_are_judged() {
    let open = LS.replace("\"{}\"", "\"\"").replace("completed", "in_progress").replace("ls", "bash");
    let arguments = named(&[
        r#"{"type":"response.function_call_arguments.done","item_id":"f","output_index":0,"arguments":"{}"}"#,
    ]);
    let ran = run(gate, &(created() + &added(0, &open) + &arguments + &done(0, BASH) + &completed(BASH)));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.out.matches("bash").count(), 0, "{}", ran.out);
}

#[test]
fn a_call_in_response_created_is_judged() {
    for event in ["response.created", "response.in_progress", "response.queued"] {
        let opening = named(&[&format!(
            r#"{{"type":"{event}","response":{{"id":"r","object":"response","status":"in_progress","output":[{BASH}]}}}}"#
        )]);
        let ran = run(gate, &(opening + &completed(BASH)));
        assert_eq!(ran.view.choices[0].calls, [], "{event}");
        assert_eq!(ran.out.matches("bash").count(), 0, "{event}: {}", ran.out);
    }
}

#[test]
fn a_call_of_a_response_that_failed_or_is_incomplete_is_judged() {
    for (event, status) in [("response.incomplete", "incomplete"), ("response.failed", "failed")] {
        let last = named(&[&format!(
            r#"{{"type":"{event}","response":{{"id":"r","object":"response","status":"{status}","output":[{BASH}]}}}}"#
        )]);
        let ran = run(gate, &(created() + &last));
        assert_eq!(ran.view.choices.iter().map(|it| it.calls.len()).sum::<usize>(), 0, "{event}");
        assert_eq!(ran.out.matches("bash").count(), 0, "{event}: {}", ran.out);
    }
}

#[test]
fn items_of_a_whole_response_are_judged() {
    let response =
        |items: &str| format!(r#"{{"id":"r","object":"response","status":"completed","output":[{items}]}}"#);
    for (kind, item) in BUILTIN {
        let ran = whole(only_ls, &response(&format!("{LS},{item}")));
        assert_eq!(ran.edits(), [(Action::Dropped, "no rule allows it")], "{kind}");
        assert_eq!(ran.out, response(LS), "{kind}");
    }
}
