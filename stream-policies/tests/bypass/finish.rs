//! Calls that look finished and are not.

use stream_core::Action;
use stream_policies::finish_gate::Release;
use stream_policies::{FinishGate, FinishGateSettings};

use crate::kit::chat::{call, delta, end, entry, finish, text};
use crate::kit::{anthropic, data, responses, run, whole};

fn partial() -> FinishGate {
    FinishGate::new().settings(FinishGateSettings::default().release(Release::Complete))
}

const CUT: &[(Action, &str)] = &[(Action::Dropped, "the answer was cut off in or behind it")];
const NOT_WHOLE: &[(Action, &str)] = &[(Action::Dropped, "its arguments are not one whole JSON value")];

#[test]
fn a_call_cut_off_by_the_limit_or_a_filter_does_not_leave_in_any_word_for_it() {
    for reason in ["length", "content_filter", "max_tokens", "MAX_TOKENS", "LENGTH"] {
        for gate in [FinishGate::new, partial] {
            let ran = run(gate, &(text("ok") + &call(0, "a", "run", r#"{"cmd":"in"}"#) + &end(reason)));
            assert_eq!(ran.view.choices[0].calls, [], "{reason}");
            assert_eq!(ran.edits(), CUT, "{reason}");
        }
    }
}

#[test]
fn text_behind_a_call_does_not_make_it_whole() {
    for gate in [FinishGate::new, partial] {
        let ran = run(
            gate,
            &(text("ok") + &call(0, "a", "run", r#"{"cmd":"in"#) + &text("!") + &end("tool_calls")),
        );
        assert_eq!(ran.edits(), NOT_WHOLE);
        assert_eq!(ran.view.choices[0].calls, []);
    }
}

#[test]
fn concatenated_values_and_trailing_words_are_not_one_whole_value() {
    for arguments in [r#"{"a":1}{"b":2}"#, r#"{"a":1} rm"#, r#"{"a":1},"#, "in", r#"{"a":1}]"#] {
        let ran = run(FinishGate::new, &(text("ok") + &call(0, "a", "run", arguments) + &end("tool_calls")));
        assert_eq!(ran.edits(), NOT_WHOLE, "{arguments}");
        assert_eq!(ran.out, text("ok") + &end("stop"), "{arguments}");
    }
}

#[test]
fn a_first_finish_that_a_later_one_takes_back_is_not_believed_for_a_call_behind_it() {
    let body = text("ok") + &finish("tool_calls") + &call(0, "a", "run", "{}") + &end("length");
    let ran = run(FinishGate::new, &body);
    assert_eq!(ran.edits(), CUT);
    assert_eq!(ran.view.choices[0].calls, []);
}

#[test]
fn the_finish_of_another_choice_finishes_nothing() {
    let open = data(&format!(
        r#"{{"id":"c","choices":[{{"index":1,"delta":{{"tool_calls":[{}]}},"finish_reason":null}}]}}"#,
        entry(0, "a", "run", r#"{"a":1}"#)
    ));
    let ran = run(FinishGate::new, &(text("ok") + &open + &finish("tool_calls")));
    assert_eq!(ran.out.matches("run").count(), 0, "{}", ran.out);
}

#[test]
fn a_finish_in_the_chunk_of_half_a_call_does_not_finish_it() {
    let half = data(
        r#"{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"run","arguments":"{\"a\""}}]},"finish_reason":"tool_calls"}]}"#,
    );
    let more = delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":":\"rm\"}"}}]}"#);
    let ran = run(FinishGate::new, &(text("ok") + &half + &more + &end("tool_calls")));
    assert_eq!(ran.out.matches("rm").count() + ran.out.matches("\"run\"").count(), 0, "{}", ran.out);
}

#[test]
fn a_stop_of_the_block_is_no_finish() {
    let body = anthropic::start() + &anthropic::text(0, "ok") + &anthropic::call(1, "t", "run", "{}");
    for gate in [FinishGate::new, partial] {
        let ran = run(gate, &body);
        assert_eq!(ran.out.matches("run").count(), 0, "{}", ran.out);
    }
    let done = responses::created()
        + &responses::done(
            0,
            r#"{"type":"function_call","id":"f","call_id":"c","name":"run","arguments":"{}"}"#,
        );
    assert_eq!(run(FinishGate::new, &done).out.matches("run").count(), 0);
}

#[test]
fn an_incomplete_response_finishes_no_call_that_it_ends_with() {
    let item = r#"{"type":"function_call","id":"f","call_id":"c","name":"run","arguments":"{}","status":"completed"}"#;
    let incomplete = crate::kit::named(&[&format!(
        r#"{{"type":"response.incomplete","response":{{"id":"r","object":"response","status":"incomplete","incomplete_details":{{"reason":"max_output_tokens"}},"output":[{item}]}}}}"#
    )]);
    let body = responses::created() + &responses::added(0, item) + &responses::done(0, item) + &incomplete;
    let ran = run(FinishGate::new, &body);
    assert_eq!(ran.edits(), CUT);
    assert_eq!(ran.out.matches("run").count(), 0, "{}", ran.out);
}

#[test]
fn a_whole_response_that_was_cut_off_keeps_its_calls_back() {
    let body = r#"{"id":"c","object":"chat.completion","model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ok","tool_calls":[{"id":"a","type":"function","function":{"name":"run","arguments":"{}"}}]},"finish_reason":"length"}]}"#;
    let ran = whole(FinishGate::new, body);
    assert_eq!((ran.edits(), ran.out.matches("\"run\"").count()), (CUT.to_vec(), 0));
}
