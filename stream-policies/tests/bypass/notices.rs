//! What policies say themselves: nothing of what they took out.

use stream_core::{Action, Verdict};
use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings};
use stream_policies::tool_gate::OnDeny;
use stream_policies::validate_parameters::{Notice, OnInvalid, UnknownTools, ValidateParametersSettings};
use stream_policies::{BufferedJudge, BufferedJudgeSettings, ToolGate, ToolGateSettings};
use stream_testkit::{Replay, Script, WireKind};

use crate::kit::chat::{call, end, text};
use crate::kit::{ran, run};

const ARGUMENTS: &str = r#"{"path":"/tmp/hidden","{reason}":1}"#;

fn rules() -> stream_policies::Rules {
    let settings = RulesSettings::otherwise(Otherwise::Allow);
    settings.deny(Rule::tools(["*"]).when(Condition::at("/path").regex("hid+en"))).build().unwrap()
}

#[test]
fn a_notice_does_not_say_the_name_or_the_arguments_of_a_call() {
    let script = Script::new().text("ok").call("call_hidden", "hidden_tool", ARGUMENTS);
    let settings = || ToolGateSettings::default().notice("[no: {reason}]");
    let ends = || ToolGateSettings::default().on_deny(OnDeny::End).message("no: {reason}");
    for kind in WireKind::ALL {
        let log = script.to_log(kind);
        for replay in [
            Replay::new(&log).policy(move || ToolGate::new(rules()).settings(settings())),
            Replay::new(&log).policy(move || ToolGate::new(rules()).settings(ends())),
            Replay::new(&log).policy(move || {
                BufferedJudge::new(rules()).settings(BufferedJudgeSettings::default().message("no: {reason}"))
            }),
        ] {
            let ran = ran(&replay.run());
            assert_eq!(ran.out.matches("hidden").count(), 0, "{kind}: {}", ran.out);
            assert_eq!(ran.edits.iter().filter(|it| it.1.contains("hidden")).count(), 0, "{kind}");
        }
    }
}

#[test]
fn a_reason_that_speaks_of_reasons_is_put_in_once() {
    let gate = || {
        ToolGate::new(async |_: stream_policies::CompletedCall| Ok(Verdict::drop("{reason} {reason}")))
            .settings(ToolGateSettings::default().notice("[{reason}]"))
    };
    let ran = run(gate, &(text("ok") + &call(0, "a", "x", "{}") + &end("tool_calls")));
    assert_eq!(ran.view.choices[0].content, "ok[{reason} {reason}]");
}

#[test]
fn a_validator_does_not_say_the_name_of_a_tool_that_nobody_listed_or_what_it_was_given() {
    for notice in [Notice::Sentence, Notice::Json] {
        for refuse in [true, false] {
            let mut settings = ValidateParametersSettings::new().notice(notice);
            if refuse {
                settings = settings.unknown_tools(UnknownTools::Refuse);
            }
            let policy = settings.build().unwrap();
            let body = text("ok")
                + &call(0, "call_hidden", "hidden_tool", r#"{"hidden": hidden"#)
                + &end("tool_calls");
            let ran = run(move || policy.clone(), &body);
            assert_eq!(ran.out.matches("hidden").count(), 0, "{}", ran.out);
            assert_eq!(ran.edits().iter().filter(|it| it.0 == Action::Dropped).count(), 1);
        }
    }
}

#[test]
fn a_validator_that_ends_the_stream_does_not_say_what_it_was_given() {
    let policy = ValidateParametersSettings::new().on_invalid(OnInvalid::Terminate).build().unwrap();
    let body =
        text("ok") + &call(0, "call_hidden", "hidden_tool", r#"{"hidden": hidden"#) + &end("tool_calls");
    let ran = run(move || policy.clone(), &body);
    assert_eq!(ran.out.matches("hidden").count(), 0, "{}", ran.out);
}

#[cfg(feature = "json-schema")]
#[test]
fn a_schema_that_does_not_hold_is_told_without_the_values_and_keys_of_the_call() {
    use stream_core::{Request, Tool};
    let schema = r#"{"type":"object","properties":{"path":{"type":"string","enum":["a"]}},"additionalProperties":false}"#;
    for arguments in [r#"{"path":"hidden"}"#, r#"{"hidden":1}"#, r#"{"path":{"hidden":"hidden"}}"#] {
        let policy = ValidateParametersSettings::new().build().unwrap();
        let request = || Request::new().tool(Tool::new("read").schema(schema));
        let body = text("ok") + &call(0, "call_1", "read", arguments) + &end("tool_calls");
        let ran = crate::kit::run_for(request, move || policy.clone(), &body);
        assert_eq!(ran.out.matches("hidden").count(), 0, "{arguments}: {}", ran.out);
        assert_eq!(ran.edits.iter().filter(|it| it.1.contains("hidden")).count(), 0, "{arguments}");
    }
}
