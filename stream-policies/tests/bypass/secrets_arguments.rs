//! Secrets in calls.

use stream_core::Action;
use stream_testkit::{ChunkLog, Fragments, Replay, Script, WireKind};

use crate::kit::chat::{call, delta, end, text};
use crate::kit::{ran, responses, run};
use crate::secrets_text::redact;

const EDITED: &[(Action, &str)] = &[(Action::Edited, "found word")];

/// What is left of arguments, in every format, streamed in pieces and whole.
#[track_caller]
fn assert_left(arguments: &str, left: &str) {
    for kind in WireKind::ALL {
        let script = Script::new()
            .argument_fragments(Fragments::Chars(2))
            .text("ok")
            .call("call_1", "look", arguments);
        for log in [script.to_log(kind), ChunkLog::from_whole("whole", script.whole(kind))] {
            let ran = ran(&Replay::new(&log).policy(redact).run());
            let call = ran.view.choices[0].calls[0].clone();
            let (found, left): (serde_json::Value, serde_json::Value) =
                (serde_json::from_str(&call.arguments).unwrap(), serde_json::from_str(left).unwrap());
            assert_eq!(found, left, "{kind} {arguments}");
            assert_eq!(ran.out.matches("secret").count(), 0, "{kind} {arguments}");
        }
    }
}

#[test]
fn a_secret_in_keys_and_values_at_any_depth_is_found() {
    assert_left(
        r#"{"secret":[{"a secret":"x"},["secret"]],"n":1}"#,
        r#"{"[redacted]":[{"a [redacted]":"x"},["[redacted]"]],"n":1}"#,
    );
}

#[test]
fn a_secret_in_escapes_and_surrogate_pairs_is_found() {
    assert_left(r#"{"k":"\u0073\u0065\u0063\u0072\u0065\u0074"}"#, r#"{"k":"[redacted]"}"#);
    assert_left(r#"{"\u0073ecret":"\ud83d\ude00secr\u0065t"}"#, r#"{"[redacted]":"😀[redacted]"}"#);
}

#[test]
fn a_secret_in_json_in_a_string_is_found_however_often_it_is_escaped() {
    assert_left(r#"{"k":"{\"x\":\"secret\"}"}"#, r#"{"k":"{\"x\":\"[redacted]\"}"}"#);
    assert_left(r#"{"k":"{\"x\":\"\\u0073ecret\"}"}"#, r#"{"k":"[redacted]"}"#);
    assert_left(r#"{"k":"{\"x\":\"{\\\"y\\\":\\\"\\\\u0073ecret\\\"}\"}"}"#, r#"{"k":"[redacted]"}"#);
}

#[test]
fn arguments_that_are_no_json_are_not_sent_with_a_secret_in_them() {
    for arguments in [
        r#"{"k":"secret"#,
        r#"{"k":1}{"k":"\u0073ecret"}"#,
        r#"{"k":'secret'}"#,
        "secret",
        r#"{"k":"x"} secret"#,
    ] {
        let ran = run(redact, &(text("ok") + &call(0, "a", "look", arguments) + &end("tool_calls")));
        assert_eq!(
            ran.edits(),
            [(Action::Dropped, "found word in arguments that are no JSON")],
            "{arguments}"
        );
        assert_eq!(ran.out, text("ok") + &end("stop"), "{arguments}");
    }
}

#[test]
fn a_secret_as_the_name_of_a_tool_does_not_leave() {
    for kind in WireKind::ALL {
        let script =
            Script::new().text("ok").call("call_1", "tell_secret_now", "{}").call("call_2", "look", "{}");
        for log in [script.to_log(kind), ChunkLog::from_whole("whole", script.whole(kind))] {
            let ran = ran(&Replay::new(&log).policy(redact).run());
            assert_eq!(ran.edits(), [(Action::Dropped, "found word in the name of a tool")], "{kind}");
            assert_eq!(ran.out.matches("secret").count(), 0, "{kind}: {}", ran.out);
            assert_eq!(ran.view.choices[0].calls.len(), 1, "{kind}");
        }
    }
}

#[test]
fn a_secret_in_the_free_text_of_a_custom_tool_is_found() {
    let custom = |input: &str| {
        format!(
            r#"{{"type":"custom_tool_call","id":"i","call_id":"c","name":"patch","input":"{input}","status":"completed"}}"#
        )
    };
    let body = responses::created()
        + &responses::added(0, &custom(""))
        + &responses::done(0, &custom("a secret b"))
        + &responses::completed(&custom("a secret b"));
    let ran = run(redact, &body);
    assert_eq!(ran.edits(), EDITED);
    assert_eq!(ran.out.matches("secret").count(), 0, "{}", ran.out);
    assert_eq!(ran.view.choices[0].calls[0].arguments, "a [redacted] b");
}

#[test]
fn a_secret_in_an_action_that_the_client_runs_does_not_leave() {
    for item in [
        r#"{"type":"shell_call","id":"i","call_id":"c","action":{"commands":["echo secret"]},"status":"completed"}"#,
        r#"{"type":"local_shell_call","id":"i","call_id":"c","action":{"type":"exec","command":["echo","secret"]},"status":"completed"}"#,
        r#"{"type":"apply_patch_call","id":"i","call_id":"c","operation":{"type":"delete_file","path":"secret"},"status":"completed"}"#,
        r#"{"type":"computer_call","id":"i","call_id":"c","action":{"type":"type","text":"secret"},"status":"completed"}"#,
        r#"{"type":"mcp_approval_request","id":"i","server_label":"s","name":"x","arguments":"{\"k\":\"secret\"}"}"#,
    ] {
        let body = responses::created()
            + &responses::added(0, item)
            + &responses::done(0, item)
            + &responses::completed(item);
        let ran = run(redact, &body);
        assert_eq!(ran.out.matches("secret").count(), 0, "{item}: {}", ran.out);
    }
}

#[test]
fn a_secret_in_the_legacy_function_call_is_found() {
    let body = text("ok")
        + &delta(r#"{"function_call":{"name":"look","arguments":"{\"k\":\"sec"}}"#)
        + &delta(r#"{"function_call":{"arguments":"ret\"}"}}"#)
        + &end("function_call");
    let ran = run(redact, &body);
    assert_eq!(ran.edits(), EDITED);
    assert_eq!(ran.view.choices[0].calls[0].arguments, r#"{"k":"[redacted]"}"#);
}

#[test]
fn a_secret_in_partial_arguments_is_found() {
    use crate::kit::gemini::{last, parts};
    let piece = |call: &str| parts(&format!(r#"{{"functionCall":{call}}}"#));
    let body = piece(r#"{"name":"look","willContinue":true}"#)
        + &piece(
            r#"{"partialArgs":[{"jsonPath":"$.k","stringValue":"a sec","willContinue":true}],"willContinue":true}"#,
        )
        + &piece(r#"{"partialArgs":[{"jsonPath":"$.k","stringValue":"ret"}],"willContinue":true}"#)
        + &piece("{}")
        + &last("", "STOP");
    let ran = run(redact, &body);
    assert_eq!(ran.edits(), EDITED);
    assert_eq!(ran.out.matches("sec").count(), 0, "{}", ran.out);
}

#[test]
fn a_number_that_is_a_secret_becomes_a_text() {
    let cards = || {
        stream_policies::RedactSettings::default()
            .preset(stream_policies::Preset::CardNumber)
            .build()
            .unwrap()
    };
    let ran = run(
        cards,
        &(text("ok")
            + &call(0, "a", "pay", r#"{"card":4111111111111111,"cents":4111}"#)
            + &end("tool_calls")),
    );
    assert_eq!(ran.view.choices[0].calls[0].arguments, r#"{"card":"[redacted]","cents":4111}"#);
}

#[test]
fn a_call_that_is_cut_off_does_not_leave_with_half_a_secret() {
    let open = r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"look","arguments":"{\"k\":\"sec"}}]}"#;
    let ran = run(redact, &(text("ok") + &delta(open)));
    assert_eq!(ran.view.choices[0].calls, []);
    assert_eq!(ran.out.matches("sec").count(), 0, "{}", ran.out);
}
