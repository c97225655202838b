//! An answer that a policy ends with an error has one code on every API, or the one that the policy or the host names.

#![allow(clippy::unwrap_used)]

use stream_core::{Config, Ending, policy_fn};
use stream_testkit::{ChunkLog, Replay, Script, WireKind};

/// What the client gets of an answer whose first step a policy ends.
fn ended(kind: WireKind, whole: bool, config: Config, ending: &Ending) -> String {
    let script = Script::new().text("Hello.");
    let log = if whole { ChunkLog::from_whole("whole", script.whole(kind)) } else { script.to_log(kind) };
    let ending = ending.clone();
    let policy = move || {
        let ending = ending.clone();
        policy_fn(move |_, _, ctx| {
            ctx.terminate(ending.clone());
            Ok(())
        })
    };
    let replayed = Replay::new(&log).config(config).policy(policy).run();
    String::from_utf8(replayed.bytes().to_vec()).unwrap()
}

/// The data of the last event that is no terminal marker, without its number.
fn last_event(stream: &str) -> String {
    let mut data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let last = data.rfind(|data| *data != "[DONE]").unwrap();
    match last.rfind(",\"sequence_number\":") {
        Some(at) => format!("{}}}", &last[..at]),
        None => last.to_owned(),
    }
}

/// The error of each API, streamed and whole, with what stands for code and type.
fn errors(kind: WireKind, code: &str, error_type: &str) -> [String; 2] {
    let both = |error: String| [error.clone(), error];
    let openai =
        format!(r#"{{"error":{{"message":"no","type":"{error_type}","param":null,"code":"{code}"}}}}"#);
    match kind {
        WireKind::OpenAiChat => both(openai),
        WireKind::OpenAiResponses => {
            [format!(r#"{{"type":"error","code":"{code}","message":"no","param":null}}"#), openai]
        }
        WireKind::AnthropicMessages => {
            both(format!(r#"{{"type":"error","error":{{"type":"{code}","message":"no"}}}}"#))
        }
        WireKind::Gemini => both(format!(
            r#"{{"error":{{"code":500,"message":"no","status":"INTERNAL","details":[{{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"{code}","domain":"{error_type}"}}]}}}}"#
        )),
    }
}

fn check(config: &Config, ending: &Ending, code: &str, error_type: &str) {
    for kind in WireKind::ALL {
        let [streamed, whole] = errors(kind, code, error_type);
        assert_eq!(last_event(&ended(kind, false, config.clone(), ending)), streamed, "{kind}");
        assert_eq!(ended(kind, true, config.clone(), ending), whole, "{kind}, whole");
    }
}

#[test]
fn every_api_has_the_same_code_by_default() {
    check(&Config::default(), &Ending::error("no"), "blocked_by_policy", "policy_error");
}

#[test]
fn a_host_names_code_and_type_for_all_policies() {
    let config = Config::default().error_code("guardrail").error_type("house_rules");
    check(&config, &Ending::error("no"), "guardrail", "house_rules");
}

#[test]
fn the_word_of_a_policy_counts_before_the_hosts() {
    let config = Config::default().error_code("guardrail").error_type("house_rules");
    let ending = Ending::error("no").with_code("over_budget");
    check(&config, &ending, "over_budget", "house_rules");
    check(&config, &ending.with_type("billing"), "over_budget", "billing");
}

/// What no policy wanted has the API's own word for a failed server, whatever the host calls blocked answers.
#[test]
fn a_policy_that_fails_is_a_failed_server() {
    let config = Config::default().error_code("guardrail").error_type("house_rules");
    for (kind, error) in [
        (
            WireKind::OpenAiChat,
            r#"{"error":{"message":"a policy could not decide","type":"server_error","param":null,"code":null}}"#,
        ),
        (
            WireKind::OpenAiResponses,
            r#"{"type":"error","code":"server_error","message":"a policy could not decide","param":null}"#,
        ),
        (
            WireKind::AnthropicMessages,
            r#"{"type":"error","error":{"type":"api_error","message":"a policy could not decide"}}"#,
        ),
        (
            WireKind::Gemini,
            r#"{"error":{"code":500,"message":"a policy could not decide","status":"INTERNAL"}}"#,
        ),
    ] {
        let log = Script::new().text("Hello.").to_log(kind);
        let fails = || policy_fn(|_, _, _| Err("no judge".into()));
        let replayed = Replay::new(&log).config(config.clone()).policy(fails).run();
        let stream = String::from_utf8(replayed.bytes().to_vec()).unwrap();
        assert_eq!(last_event(&stream), error, "{kind}");
    }
}
