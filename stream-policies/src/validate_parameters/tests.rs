//! The scenarios of parameters, on every format, streamed and whole.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use stream_core::{Action, Config, PolicyError, Request, Tool, async_trait};
use stream_testkit::conformance::{CallView, Ended};
use stream_testkit::laws::{self, Tally};
use stream_testkit::{ChunkLog, Cut, Finish, Fragments, Replay, Replayed, Script, WireKind};

use super::*;

fn shell() -> ValidateParametersSettings {
    let tool =
        ToolSettings::new().required(["command"]).alias("command", ["cmd", "bash", "terminal", "shell"]);
    ValidateParametersSettings::new().tool("shell", tool)
}

fn policy(settings: ValidateParametersSettings) -> ValidateParameters {
    settings.build().unwrap()
}

/// The script in all formats, streamed in small pieces and whole.
fn logs(script: &Script) -> Vec<ChunkLog> {
    let streamed = script.clone().argument_fragments(Fragments::Chars(3));
    let each = WireKind::ALL.into_iter().flat_map(|kind| {
        let whole = ChunkLog::from_whole(format!("whole.{kind}"), script.whole(kind));
        [streamed.to_log(kind), whole]
    });
    each.collect()
}

fn run(log: &ChunkLog, policy: &ValidateParameters) -> Replayed {
    let policy = policy.clone();
    Replay::new(log).policy(move || policy.clone()).run()
}

fn calls(replayed: &Replayed) -> Vec<(String, String)> {
    let call = |call: &CallView| (call.name.clone(), call.arguments.clone());
    replayed.view().choices.iter().flat_map(|choice| choice.calls.iter().map(call)).collect()
}

#[test]
fn parameter_recovery_from_cmd() {
    for alias in ["cmd", "bash", "terminal", "shell"] {
        let script = Script::new().text("Look.").call("call_1", "shell", format!(r#"{{"{alias}":"ls"}}"#));
        for log in logs(&script) {
            let replayed = run(&log, &policy(shell()));
            assert_eq!(calls(&replayed), [("shell".into(), r#"{"command":"ls"}"#.into())], "{}", log.name());
            let actions: Vec<Action> = replayed.decisions.iter().map(|decision| decision.action).collect();
            assert_eq!(actions, [Action::Edited], "{}", log.name());
        }
    }
}

#[test]
fn only_the_key_of_a_recovered_parameter_changes() {
    let script = Script::new().call("call_1", "shell", r#"{ "n": 1.0, "cmd" : "a\u0062\/", "e": 1e5 }"#);
    for kind in [WireKind::OpenAiChat, WireKind::OpenAiResponses, WireKind::AnthropicMessages] {
        let replayed = run(&script.to_log(kind), &policy(shell()));
        let expected = r#"{ "n": 1.0, "command" : "a\u0062\/", "e": 1e5 }"#;
        assert_eq!(calls(&replayed)[0].1, expected, "{kind}");
    }
}

#[test]
fn a_valid_call_leaves_as_it_came() {
    let script = Script::new().text("Look.").call("call_1", "shell", r#"{"command":"ls","cmd":"rm"}"#);
    for log in logs(&script) {
        let replayed = run(&log, &policy(shell()));
        assert_eq!(replayed.bytes(), log.bytes(), "{}", log.name());
    }
}

#[test]
fn partial_json_is_never_executed() {
    // The `in` that was no command.
    for arguments in ["in", r#"{"command":"in"#, "{"] {
        let script = Script::new().call("call_1", "shell", arguments).finish(Finish::Length);
        for kind in [WireKind::OpenAiChat, WireKind::OpenAiResponses, WireKind::AnthropicMessages] {
            let replayed = run(&script.to_log(kind), &policy(shell()));
            assert_eq!(calls(&replayed), [], "{kind} {arguments}");
        }
    }
}

#[test]
fn empty_arguments_are_valid() {
    let settings = ValidateParametersSettings::new().tool("now", ToolSettings::new());
    for log in logs(&Script::new().call("call_1", "now", "")) {
        let replayed = run(&log, &policy(settings.clone()));
        assert_eq!(replayed.bytes(), log.bytes(), "{}", log.name());
    }
}

#[test]
fn a_failure_names_tool_call_and_parameter_and_not_what_the_arguments_hold() {
    let failures = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new().text("Look.").call("call_1", "shell", r#"{"hush":"hush"}"#);
    for log in logs(&script) {
        let sink = Arc::clone(&failures);
        let policy = policy(shell()).report(move |failure| sink.lock().unwrap().push(failure.clone()));
        let replayed = run(&log, &policy);
        let failure = failures.lock().unwrap().pop().unwrap();
        let expected = ParameterFailure {
            tool: "shell".into(),
            call_id: failure.call_id.clone(),
            check: Check::Required,
            parameter: Some("command".into()),
            keyword: None,
            expected: "parameter command or one of cmd, bash, terminal, shell".into(),
            found: "none of them".into(),
            attempt: None,
            budget: None,
        };
        assert_eq!(failure, expected, "{}", log.name());
        if !log.name().contains("gemini") {
            assert_eq!(failure.call_id.as_deref(), Some("call_1"), "{}", log.name());
        }
        assert_eq!(calls(&replayed), [], "{}", log.name());
        let reason = replayed.decisions[0].reason.clone().unwrap();
        assert_eq!(serde_json::from_str::<ParameterFailure>(&reason).unwrap(), expected);
        assert!(!replayed.view().choices[0].content.contains("hush"));
    }
}

#[test]
fn several_aliases_at_once_leave_open_what_is_meant() {
    let script = Script::new().call("call_1", "shell", r#"{"cmd":"ls","bash":"rm"}"#);
    for log in logs(&script) {
        let replayed = run(&log, &policy(shell().notice(Notice::Nothing)));
        assert_eq!(calls(&replayed), [], "{}", log.name());
        let reason = replayed.decisions[0].reason.clone().unwrap();
        let failure: ParameterFailure = serde_json::from_str(&reason).unwrap();
        assert_eq!((failure.check, failure.found.as_str()), (Check::Required, "several of them"));
    }
}

#[test]
fn a_key_that_stands_twice_is_no_way_around() {
    for arguments in [r#"{"command":"ls","command":"rm"}"#, r#"{"command":"ls","comm\u0061nd":"rm"}"#] {
        let script = Script::new().call("call_1", "shell", arguments);
        let replayed = run(&script.to_log(WireKind::OpenAiChat), &policy(shell()));
        assert_eq!(calls(&replayed), [], "{arguments}");
    }
}

#[test]
fn parallel_calls_are_checked_one_by_one() {
    let script = Script::new()
        .call("call_1", "shell", r#"{"cmd":"a"}"#)
        .call("call_2", "shell", r#"{"nothing":"b"}"#)
        .call("call_3", "shell", r#"{"command":"c"}"#);
    for log in logs(&script) {
        let replayed = run(&log, &policy(shell().notice(Notice::Nothing)));
        let left: Vec<String> = calls(&replayed).into_iter().map(|(_, arguments)| arguments).collect();
        assert_eq!(left, [r#"{"command":"a"}"#, r#"{"command":"c"}"#], "{}", log.name());
    }
}

#[test]
fn a_call_of_an_unknown_tool_has_to_parse_or_is_refused() {
    let script = Script::new().call("call_1", "hush", r#"{"a":1}"#);
    for log in logs(&script) {
        assert_eq!(run(&log, &policy(shell())).bytes(), log.bytes(), "{}", log.name());
        let refused = run(&log, &policy(shell().unknown_tools(UnknownTools::Refuse)));
        assert_eq!(calls(&refused), [], "{}", log.name());
        assert_eq!(
            refused.view().choices[0].content,
            "A tool call was not made: an unknown tool: expected a tool that is listed or was offered, \
             found another.",
            "{}",
            log.name()
        );
    }
}

#[test]
fn an_invalid_call_may_end_the_stream() {
    let script = Script::new().text("Look.").call("call_1", "shell", "{}");
    for log in logs(&script) {
        let replayed = run(&log, &policy(shell().on_invalid(OnInvalid::Terminate)));
        assert_eq!(replayed.view().ended, Ended::Refused, "{}", log.name());
        assert_eq!(calls(&replayed), [], "{}", log.name());
    }
}

#[test]
fn required_parameters_of_an_offered_tool_count() {
    let schema = r#"{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}"#;
    let settings = ValidateParametersSettings::new().alias("command", ["cmd"]);
    for log in logs(&Script::new().call("call_1", "run", r#"{"cmd":"ls"}"#)) {
        let policy = policy(settings.clone());
        let request = Request::new().tool(Tool::new("run").schema(schema));
        let config = Config::default().request(request);
        let replayed = Replay::new(&log).config(config).policy(move || policy.clone()).run();
        assert_eq!(calls(&replayed)[0].1, r#"{"command":"ls"}"#, "{}", log.name());
    }
}

#[test]
fn what_the_tool_itself_calls_so_is_no_alias() {
    let schema = r#"{"properties":{"command":{},"shell":{}},"required":["command"]}"#;
    let policy = policy(ValidateParametersSettings::new().alias("command", ["shell"]));
    let config = Config::default().request(Request::new().tool(Tool::new("run").schema(schema)));
    let log = Script::new().call("call_1", "run", r#"{"shell":"zsh"}"#).to_log(WireKind::OpenAiChat);
    let replayed = Replay::new(&log).config(config).policy(move || policy.clone()).run();
    assert_eq!(calls(&replayed), []);
}

#[cfg(feature = "json-schema")]
#[test]
fn the_json_schema_holds_after_recovery() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "command": { "type": "string", "minLength": 2 } },
        "required": ["command"],
        "additionalProperties": false,
    });
    let tool = ToolSettings::new().alias("command", ["cmd"]).schema(schema);
    let policy = policy(ValidateParametersSettings::new().tool("shell", tool).notice(Notice::Json));
    for (arguments, left, keyword, parameter) in [
        (r#"{"cmd":"ls"}"#, Some(r#"{"command":"ls"}"#), None, None),
        (r#"{"cmd":"l"}"#, None, Some("/properties/command/minLength"), Some("command")),
        (r#"{"command":7}"#, None, Some("/properties/command/type"), Some("command")),
        (r#"{"command":"ls","hush":1}"#, None, Some("/additionalProperties"), None),
    ] {
        for log in logs(&Script::new().call("call_1", "shell", arguments)) {
            let replayed = run(&log, &policy);
            let found = calls(&replayed).pop().map(|(_, arguments)| arguments);
            assert_eq!(found.as_deref(), left, "{} {arguments}", log.name());
            if left.is_none() {
                let told = &replayed.view().choices[0].content;
                let failure: ParameterFailure = serde_json::from_str(told).unwrap();
                assert_eq!((failure.keyword.as_deref(), failure.parameter.as_deref()), (keyword, parameter));
                assert_eq!(failure.call_id, None);
            }
        }
    }
}

#[cfg(feature = "json-schema")]
#[test]
fn a_schema_that_cannot_be_compiled_lets_no_call_pass() {
    for schema in [r#"{"type":"STRING"}"#, "no JSON", r#"{"$ref":"https://example.com/schema"}"#] {
        let policy = policy(ValidateParametersSettings::new());
        let config = Config::default().request(Request::new().tool(Tool::new("run").schema(schema)));
        let log = Script::new().call("call_1", "run", "{}").to_log(WireKind::OpenAiChat);
        let replayed = Replay::new(&log).config(config).policy(move || policy.clone()).run();
        assert_eq!(calls(&replayed), [], "{schema}");
    }
}

fn in_session(log: &ChunkLog, policy: &ValidateParameters, session: &str) -> Replayed {
    let policy = policy.clone();
    let request = Request::new().extension(SessionKey::new(session));
    Replay::new(log).config(Config::default().request(request)).policy(move || policy.clone()).run()
}

#[test]
fn a_budget_of_attempts_breaks_an_endless_loop() {
    let bad = Script::new().call("call_1", "shell", "{}").to_log(WireKind::AnthropicMessages);
    let good = Script::new().call("call_1", "shell", r#"{"cmd":"ls"}"#).to_log(WireKind::AnthropicMessages);
    let policy = policy(shell().budget(3));
    let ended = |log: &ChunkLog, session: &str| in_session(log, &policy, session).view().ended;
    assert_eq!((ended(&bad, "a"), ended(&bad, "a")), (Ended::Clean, Ended::Clean));
    // A valid call ends the row, and another session has a row of its own.
    assert_eq!((ended(&good, "a"), ended(&bad, "b")), (Ended::Clean, Ended::Clean));
    assert_eq!((ended(&bad, "a"), ended(&bad, "a")), (Ended::Clean, Ended::Clean));
    let last = in_session(&bad, &policy, "a");
    assert_eq!(last.view().ended, Ended::Refused);
    let reason = last.decisions.iter().find(|decision| decision.action == Action::Terminated);
    assert_eq!(
        reason.and_then(|decision| decision.reason.as_deref()),
        Some(
            "an invalid tool call ended the answer: shell: expected parameter command or one of cmd, bash, \
             terminal, shell, found none of them (attempt 3 of 3)"
        )
    );
    // A request that has none is not counted.
    for _ in 0..5 {
        let policy = policy.clone();
        let config = Config::default().request(Request::new().without_session());
        let replayed = Replay::new(&bad).config(config).policy(move || policy.clone()).run();
        assert_eq!(replayed.view().ended, Ended::Clean);
    }
}

/// Required means: there, not null, not an empty string; what has no value is recovered from the one alias that has one.
#[test]
fn a_required_parameter_has_a_value_or_is_recovered_from_the_one_alias_that_has_one() {
    let none = "shell: expected parameter command or one of cmd, bash, terminal, shell, found ";
    for kind in WireKind::ALL {
        for (given, settings, expected) in [
            (r#"{"command":null}"#, shell(), Err("null")),
            (r#"{"command":""}"#, shell(), Err("an empty string")),
            (r#"{"command":"","cmd":null,"bash":""}"#, shell(), Err("an empty string")),
            (r#"{"command":"","cmd":"ls","bash":"pwd"}"#, shell(), Err("several of them")),
            (r#"{"command":"","cmd":"ls","bash":""}"#, shell(), Ok(r#"{"command":"ls","bash":""}"#)),
            (r#"{"cmd":"","bash":"ls"}"#, shell(), Ok(r#"{"cmd":"","command":"ls"}"#)),
            (r#"{"command":""}"#, shell().allow_empty(true), Ok(r#"{"command":""}"#)),
            (r#"{"command":null}"#, shell().allow_empty(true), Err("null")),
            (r#"{"command":0}"#, shell(), Ok(r#"{"command":0}"#)),
        ] {
            let replayed = run(&Script::new().call("call_1", "shell", given).to_log(kind), &policy(settings));
            let left = calls(&replayed);
            match expected {
                Ok(arguments) => {
                    // Gemini's arguments are a value, whose keys the script sorts.
                    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
                    assert_eq!(value(&left[0].1), value(arguments), "{kind} {given}");
                }
                Err(found) => {
                    assert_eq!(left, [], "{kind} {given}");
                    let notice = format!("A tool call was not made: {none}{found}.");
                    assert_eq!(replayed.view().choices[0].content, notice, "{kind} {given}");
                }
            }
        }
    }
}

/// A tool may say otherwise for itself, and a schema may allow null.
#[test]
fn a_tool_may_take_empty_strings_and_a_schema_null() {
    let tool = ToolSettings::new().required(["old", "new"]).allow_empty(true);
    let edit = policy(ValidateParametersSettings::new().tool("edit", tool));
    let given = r#"{"old":"a","new":""}"#;
    let log = Script::new().call("call_1", "edit", given).to_log(WireKind::OpenAiChat);
    assert_eq!(calls(&run(&log, &edit))[0].1, given);
    let strict = r#"{"type":"object","required":["path","line"],"properties":{"path":{"type":"string"},"line":{"type":["integer","null"]}}}"#;
    let config = Config::default().request(Request::new().tool(Tool::new("read").schema(strict)));
    for (given, passes) in [(r#"{"path":"a","line":null}"#, true), (r#"{"path":null,"line":1}"#, false)] {
        let policy = policy(ValidateParametersSettings::new());
        let log = Script::new().call("call_1", "read", given).to_log(WireKind::OpenAiChat);
        let replayed = Replay::new(&log).config(config.clone()).policy(move || policy.clone()).run();
        assert_eq!(calls(&replayed).len(), usize::from(passes), "{given}");
    }
}

/// No setting without effect: a budget that could never count is refused when the stream is built.
#[test]
fn a_budget_is_refused_where_the_host_does_not_tell_the_session() {
    let build = |request: Request, budget: Option<u32>| {
        let settings = budget.map_or_else(shell, |budget| shell().budget(budget));
        let upstream = futures::stream::empty::<Result<Vec<u8>, std::convert::Infallible>>();
        let builder = stream_core::StreamProcessor::builder().config(Config::default().request(request));
        builder.policy(policy(settings)).build(upstream).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(
        build(Request::new(), Some(3)).unwrap_err(),
        "expected a request that names its session, by which validate_parameters counts, or says that it has none; \
         found neither"
    );
    assert_eq!(build(Request::new().without_session(), Some(3)), Ok(()));
    assert_eq!(build(Request::new().extension(SessionKey::new("a")), Some(3)), Ok(()));
    assert_eq!(build(Request::new(), None), Ok(()));
}

struct SlowStore(Duration);

#[async_trait]
impl Attempts for SlowStore {
    async fn failed(&self, _: &SessionKey, _: &str) -> Result<u32, PolicyError> {
        tokio::time::sleep(self.0).await;
        Err(PolicyError::new("the store is away"))
    }

    async fn succeeded(&self, _: &SessionKey, _: &str) -> Result<(), PolicyError> {
        tokio::time::sleep(self.0).await;
        Ok(())
    }
}

#[test]
fn the_store_of_the_host_is_asked_beside_the_stream_and_its_failure_drops_the_call() {
    let store = || SlowStore(Duration::from_millis(80));
    let policy = policy(shell().budget(3)).attempts(store());
    let good = Script::new().call("call_1", "shell", r#"{"cmd":"ls"}"#).to_log(WireKind::OpenAiChat);
    let replayed = in_session(&good, &policy, "a");
    assert_eq!(calls(&replayed)[0].1, r#"{"command":"ls"}"#);
    assert_eq!(replayed.decisions[0].held, Duration::from_millis(80));
    let bad = Script::new().call("call_1", "shell", "{}").to_log(WireKind::OpenAiChat);
    let replayed = in_session(&bad, &policy, "a");
    assert_eq!(calls(&replayed), []);
    assert_eq!(replayed.decisions[0].reason.as_deref(), Some("the judge failed: the store is away"));
}

#[test]
fn contradictory_settings_are_refused() {
    let tool = ToolSettings::new().required(["command", "path"]);
    for (settings, expected) in [
        (shell().budget(0), "budget: expected at least 1 attempt, found 0"),
        (
            ValidateParametersSettings::new().tool("shell", tool.clone().alias("command", ["path"])),
            "tools.shell.aliases.command[0]: expected a name that is not required itself, found path",
        ),
        (
            ValidateParametersSettings::new()
                .tool("shell", tool.alias("command", ["x"]).alias("path", ["x"])),
            "tools.shell.aliases.path[0]: expected each alias once, found x, which is one of command",
        ),
        (
            ValidateParametersSettings::new()
                .offered(false)
                .tool("shell", ToolSettings::new().alias("command", ["cmd"])),
            "tools.shell.aliases: expected aliases of required parameters, found those of command, which is not required",
        ),
    ] {
        assert_eq!(settings.build().unwrap_err().to_string(), expected);
    }
}

#[test]
fn all_laws_hold() {
    let script = Script::new()
        .reasoning("Let me see.")
        .text("Looking now.")
        .call("call_1", "shell", r#"{"cmd":"ls"}"#)
        .call("call_2", "shell", r#"{"other":"ls"}"#)
        .call("call_3", "look", r#"{"direction":"over there"}"#)
        .usage(5, 9)
        .argument_fragments(Fragments::Chars(4));
    let mut tally = Tally::default();
    for kind in WireKind::ALL {
        for script in [&script, &Script::new().text("So.")] {
            let checked = laws::check(|| policy(shell()), &script.to_log(kind));
            tally.add(&checked.unwrap_or_else(|broken| panic!("{kind}: {broken}")));
        }
    }
    tally.assert_held_but(&[]);
}

#[test]
fn the_result_does_not_depend_on_the_cut() {
    let script = Script::new().call("call_1", "shell", r#"{"cmd":"ls"}"#).call("call_2", "shell", "{}");
    for log in logs(&script) {
        let policy = policy(shell());
        let whole = run(&log, &policy).bytes();
        let cut = Replay::new(&log).cut(Cut::Byte).policy(move || policy.clone()).run().bytes();
        assert_eq!(cut, whole, "{}", log.name());
    }
}
