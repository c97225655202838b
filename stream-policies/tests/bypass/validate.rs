//! Parameters that are checked under one name and run under another.

use stream_core::{Action, Request, Tool};
use stream_policies::ValidateParameters;
use stream_policies::validate_parameters::{
    SessionKey, ToolSettings, UnknownTools, ValidateParametersSettings,
};
use stream_testkit::conformance::Ended;

use crate::kit::chat::{call, delta, end, text};
use crate::kit::{Ran, run, run_for};

fn settings() -> ValidateParametersSettings {
    let shell = ToolSettings::new().required(["command"]).alias("command", ["cmd"]);
    ValidateParametersSettings::new().tool("shell", shell)
}

fn policy(settings: ValidateParametersSettings) -> ValidateParameters {
    settings.build().unwrap()
}

fn one(settings: ValidateParametersSettings, name: &str, arguments: &str) -> Ran {
    let policy = policy(settings);
    run(move || policy.clone(), &(text("ok") + &call(0, "a", name, arguments) + &end("tool_calls")))
}

fn arguments(ran: &Ran) -> Vec<&str> {
    ran.view.choices[0].calls.iter().map(|call| call.arguments.as_str()).collect()
}

#[test]
fn a_tool_in_other_letters_is_checked_as_the_tool_it_may_be_taken_for() {
    for name in ["Shell", "SHELL", " shell", "ｓｈｅｌｌ", "sh\u{200b}ell"] {
        let ran = one(settings(), name, "{}");
        assert_eq!(arguments(&ran), [""; 0], "{name:?}");
    }
    // It is what that tool takes: nothing speaks against it.
    assert_eq!(arguments(&one(settings(), "Shell", r#"{"command":"ls"}"#)), [r#"{"command":"ls"}"#]);
}

#[test]
fn a_parameter_in_other_letters_is_not_there() {
    for given in [r#"{"Command":"ls"}"#, r#"{"command ":"ls"}"#, r#"{"CMD":"ls"}"#] {
        assert_eq!(arguments(&one(settings(), "shell", given)), [""; 0], "{given}");
    }
    assert_eq!(arguments(&one(settings(), "shell", r#"{"\u0063md":"ls"}"#)), [r#"{"command":"ls"}"#]);
}

#[test]
fn a_parameter_under_two_of_its_names_is_not_guessed_at() {
    let both = ToolSettings::new().required(["command"]).alias("command", ["cmd", "bash"]);
    let settings = ValidateParametersSettings::new().tool("shell", both);
    assert_eq!(arguments(&one(settings, "shell", r#"{"cmd":"ls","bash":"rm"}"#)), [""; 0]);
}

#[test]
fn arguments_that_two_readers_read_differently_are_invalid() {
    for given in [
        r#"{"command":"ls","command":"rm"}"#,
        r#"{"command":"ls","c\u006fmmand":"rm"}"#,
        r#"{"command":"ls"}{"command":"rm"}"#,
        r#"{"command":"ls"} x"#,
        r#""{\"command\":\"ls\"}""#,
        r#"["command"]"#,
        "null",
        r#"{"command":"ls""#,
        "\u{feff}{\"command\":\"ls\"}",
    ] {
        let ran = one(settings(), "shell", given);
        assert_eq!(arguments(&ran), [""; 0], "{given}");
        assert_eq!(ran.out.matches("rm").count(), 0, "{given}");
    }
}

#[test]
fn a_call_of_a_resumed_stream_is_invalid() {
    let policy = policy(settings());
    let more = delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"command\":\"rm\"}"}}]}"#);
    let ran = run(move || policy.clone(), &(text("ok") + &more + &end("tool_calls")));
    assert_eq!(arguments(&ran), [""; 0]);
    assert_eq!(ran.out.matches("rm").count(), 0);
}

#[test]
fn a_call_without_a_name_is_invalid() {
    let ran = one(settings(), "", r#"{"command":"rm"}"#);
    assert_eq!(arguments(&ran), [""; 0]);
}

#[test]
fn a_budget_counts_a_tool_in_other_letters_with_the_tool() {
    let policy = policy(settings().budget(3));
    let ended = |name: &str, session: &str| {
        let policy = policy.clone();
        let body = text("ok") + &call(0, "a", name, "{}") + &end("tool_calls");
        let log = stream_testkit::ChunkLog::from_chunks("body", [(std::time::Duration::ZERO, body.into())]);
        let request = Request::new().extension(SessionKey::new(session));
        let config = stream_core::Config::default().request(request);
        stream_testkit::Replay::new(&log).config(config).policy(move || policy.clone()).run().view().ended
    };
    assert_eq!(
        [ended("shell", "a"), ended("Shell", "a"), ended("SHELL ", "a")],
        [Ended::Clean, Ended::Clean, Ended::Refused]
    );
    // The key is the host's word, not the model's: another one is another session.
    assert_eq!([ended("shell", "A"), ended("shell", "b")], [Ended::Clean, Ended::Clean]);
}

#[test]
fn unknown_tools_share_one_budget_whatever_they_call_themselves() {
    let policy = policy(settings().unknown_tools(UnknownTools::Refuse).budget(3));
    let ended = |name: &str| {
        let policy = policy.clone();
        let body = text("ok") + &call(0, "a", name, "{}") + &end("tool_calls");
        let log = stream_testkit::ChunkLog::from_chunks("body", [(std::time::Duration::ZERO, body.into())]);
        let request = Request::new().extension(SessionKey::new("s"));
        let config = stream_core::Config::default().request(request);
        stream_testkit::Replay::new(&log).config(config).policy(move || policy.clone()).run().view().ended
    };
    assert_eq!([ended("one"), ended("two"), ended("three")], [Ended::Clean, Ended::Clean, Ended::Refused]);
}

#[cfg(feature = "json-schema")]
#[test]
fn the_schema_of_an_offered_tool_holds_for_its_name_in_other_letters() {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string","pattern":"^/work/"}},"required":["path"],"additionalProperties":false}"#;
    let request = || Request::new().tool(Tool::new("read").schema(schema));
    for (name, given, passes) in [
        ("read", r#"{"path":"/work/a"}"#, true),
        ("read", r#"{"path":"/etc/passwd"}"#, false),
        ("READ", r#"{"path":"/etc/passwd"}"#, false),
        ("read", r#"{"path":"/work/a","Path":"/etc/passwd"}"#, false),
        ("read", r#"{"path":"/work/a\n"}"#, true),
        ("read", r#"{"path":"x\n/work/a"}"#, false),
    ] {
        let policy = policy(ValidateParametersSettings::new());
        let body = text("ok") + &call(0, "a", name, given) + &end("tool_calls");
        let ran = run_for(request, move || policy.clone(), &body);
        assert_eq!(ran.view.choices[0].calls.len(), usize::from(passes), "{name} {given}");
    }
}

#[test]
fn a_custom_call_of_a_tool_with_parameters_is_invalid() {
    let policy = policy(settings());
    let custom = delta(
        r#"{"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"shell","input":"{\"command\":\"rm\"}"}}]}"#,
    );
    let ran = run(move || policy.clone(), &(text("ok") + &custom + &end("tool_calls")));
    assert_eq!(ran.edits().first().map(|it| it.0), Some(Action::Dropped));
    assert_eq!(ran.out.matches("rm").count(), 0);
}
