//! Gates in chains and wrappers: what one lets go the next still sees.

use std::time::Duration;

use stream_core::{Action, PolicyError, Replacement, Stage, Verdict};
use stream_policies::{
    CompletedCall, Condition, FinishGate, ToolGate, ToolGateSettings, ValidateParametersSettings, When,
};
use stream_testkit::{Replay, Script, WireKind};

use crate::kit::{gate, no_bash, ran};
use crate::secrets_text::redact;

#[test]
fn a_call_that_a_judge_turns_into_another_is_judged_by_the_next_gate() {
    let turn = || {
        ToolGate::new(async |_: CompletedCall| {
            Ok(Verdict::Replace(Replacement::arguments(r#"{"command":"rm"}"#).named("bash")))
        })
    };
    for kind in WireKind::ALL {
        let log = Script::new().text("ok").call("call_1", "ls", "{}").to_log(kind);
        let ran = ran(&Replay::new(&log).policy(turn).policy(gate).run());
        assert_eq!(ran.view.choices[0].calls, [], "{kind}");
        assert_eq!(ran.out.matches("bash").count(), 0, "{kind}: {}", ran.out);
    }
}

#[test]
fn parameters_that_a_validator_renames_are_judged_under_their_new_names() {
    use stream_policies::judge::rules::{Condition as On, Otherwise, Rule, RulesSettings};
    use stream_policies::validate_parameters::ToolSettings;
    let validate = || {
        let shell = ToolSettings::new().required(["command"]).alias("command", ["cmd"]);
        ValidateParametersSettings::new().tool("shell", shell).build().unwrap()
    };
    let gate = || {
        let rule = Rule::tools(["shell"]).when(On::at("/command").regex("rm")).because("not that");
        ToolGate::new(RulesSettings::otherwise(Otherwise::Allow).deny(rule).build().unwrap())
    };
    for kind in WireKind::ALL {
        let log = Script::new().text("ok").call("call_1", "shell", r#"{"cmd":"rm"}"#).to_log(kind);
        let ran = ran(&Replay::new(&log).policy(validate).policy(gate).run());
        assert_eq!(ran.edits().last(), Some(&(Action::Dropped, "not that")), "{kind}");
        assert_eq!(ran.view.choices[0].calls, [], "{kind}");
    }
}

#[test]
fn a_notice_with_a_secret_in_it_is_redacted_by_what_comes_behind() {
    let gate =
        || ToolGate::new(no_bash()).settings(ToolGateSettings::default().notice("[a secret: {reason}]"));
    for kind in WireKind::ALL {
        let log = Script::new().text("ok ").call("call_1", "bash", "{}").to_log(kind);
        let ran = ran(&Replay::new(&log).policy(gate).policy(redact).run());
        assert_eq!(ran.view.choices[0].content, "ok [a [redacted]: no shells]", "{kind}");
    }
}

#[test]
fn a_gate_for_some_tools_sees_their_names_in_any_letters() {
    let when = || {
        let gate = ToolGate::new(async |_: CompletedCall| Ok(Verdict::drop("no")));
        When::new(Condition::always(), gate).tools(["bash"]).unwrap()
    };
    for name in ["bash", "Bash", " bash", "ｂａｓｈ", "b\u{200b}ash"] {
        for kind in WireKind::ALL {
            let log =
                Script::new().text("ok").call("call_1", name, "{}").call("call_2", "ls", "{}").to_log(kind);
            let ran = ran(&Replay::new(&log).policy(when).run());
            let names: Vec<_> = ran.view.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
            assert_eq!(names, ["ls"], "{kind} {name:?}");
        }
    }
}

#[test]
fn a_gate_in_a_timeout_that_fails_lets_nothing_go() {
    let slow = || {
        Stage::new(ToolGate::new(async |_: CompletedCall| {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok::<_, PolicyError>(Verdict::Release)
        }))
        .within(Duration::from_secs(1))
    };
    for kind in WireKind::ALL {
        let log = Script::new().text("ok").call("call_1", "bash", r#"{"command":"rm"}"#).to_log(kind);
        let ran = ran(&Replay::new(&log).policy(slow).run());
        assert_eq!(ran.view.choices.iter().map(|choice| choice.calls.len()).sum::<usize>(), 0, "{kind}");
        assert_eq!(ran.out.matches("bash").count(), 0, "{kind}: {}", ran.out);
    }
}

#[test]
fn a_chain_of_all_gates_lets_no_secret_and_no_call_through() {
    for kind in WireKind::ALL {
        let script = Script::new()
            .text("a sec")
            .call("call_1", "bash", r#"{"k":"secret"}"#)
            .text("ret b")
            .call("call_2", "ls", r#"{"k":"\u0073ecret"}"#);
        let log = script.to_log(kind);
        let ran = ran(&Replay::new(&log).policy(FinishGate::new).policy(gate).policy(redact).run());
        assert_eq!(
            ran.out.matches("bash").count() + ran.out.matches("ecret").count(),
            0,
            "{kind}: {}",
            ran.out
        );
        assert_eq!(ran.view.choices[0].content, "a [redacted] b", "{kind}");
        assert_eq!(ran.view.choices[0].calls[0].arguments, r#"{"k":"[redacted]"}"#, "{kind}");
    }
}
