//! Leak 6: what a stream says a second time.

use stream_core::policy_fn;

use crate::assert_caged;
use crate::kit::{Gate, Target, Way, data, named, no_text, out};

fn chat(choice: &str) -> String {
    data(&format!(r#"{{"id":"c","choices":[{{"index":0,{choice}}}]}}"#))
}

fn each_way(target: Target, body: &str) {
    for way in Way::ALL {
        assert_caged(format!("{way:?}\n{body}\n"), &out(body, Gate(target, way)));
    }
}

const END: &str = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

#[test]
fn a_message_beside_the_deltas_does_not_say_what_was_dropped() {
    let text = chat(r#""delta":{"content":"rm_all"}"#);
    let after = chat(r#""delta":{"content":""},"message":{"role":"assistant","content":"rm_all"}"#);
    each_way(Target::Text, &(text + &after + END));
    let call = r#"[{"index":0,"id":"a","function":{"name":"rm_all","arguments":"{}"}}]"#;
    let beside = chat(&format!(r#""delta":{{"tool_calls":{call}}},"message":{{"tool_calls":{call}}}"#));
    each_way(Target::Calls, &(beside + END));
    let alone = chat(&format!(r#""delta":{{}},"message":{{"content":"","tool_calls":{call}}}"#));
    each_way(Target::Calls, &(alone + END));
}

#[test]
fn log_probabilities_before_a_call_do_not_spell_it() {
    let logprobs = chat(r#""delta":{},"logprobs":{"content":[{"token":"rm_all"}]}"#);
    let call = chat(
        r#""delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"rm_all","arguments":"{}"}}]}"#,
    );
    let text = chat(r#""delta":{"role":"assistant","content":"hi"}"#);
    each_way(Target::Calls, &(text.clone() + &logprobs + &call + END));
    // Cut before the call has come, nothing tells what they spell.
    for way in Way::ALL {
        assert_caged(format!("{way:?}"), &out(text.clone() + &logprobs, Gate(Target::Calls, way)));
    }
}

#[test]
fn a_failed_generation_does_not_leave_with_its_error() {
    let error = data(r#"{"error":{"message":"no","failed_generation":"<function=rm_all>"}}"#);
    each_way(Target::Calls, &(chat(r#""delta":{"content":"hi"}"#) + &error));
}

#[test]
fn the_twin_of_dropped_reasoning_does_not_leave() {
    for delta in [
        r#"{"reasoning_content":"rm_all","reasoning":"rm_all"}"#,
        r#"{"reasoning":"rm_all","reasoning_details":[{"type":"reasoning.text","text":"rm_all","signature":"s"}]}"#,
        r#"{"reasoning_details":[{"type":"reasoning.summary","summary":"rm_all"}]}"#,
        r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"rm_all"}]}]}"#,
        r#"{"audio":{"id":"a","transcript":"rm_all"}}"#,
        r#"{"refusal":"rm_all"}"#,
    ] {
        each_way(Target::Text, &(chat(&format!(r#""delta":{delta}"#)) + END));
    }
}

#[test]
fn citations_and_grounding_do_not_outlive_their_text() {
    let body = named(&[
        r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"x","usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"rm_all"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"rm_all"}}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    each_way(Target::Text, &body);
    let candidate = |rest: &str| data(&format!(r#"{{"candidates":[{{{rest}"index":0}}]}}"#));
    let text = candidate(r#""content":{"parts":[{"text":"rm_all"}],"role":"model"},"#);
    for notes in [
        r#""groundingMetadata":{"groundingSupports":[{"segment":{"text":"rm_all"}}]},"#,
        r#""citationMetadata":{"citations":[{"title":"rm_all"}]},"#,
        r#""logprobsResult":{"chosenCandidates":[{"token":"rm_all"}]},"#,
        r#""finishMessage":"rm_all","#,
    ] {
        let last = candidate(&(notes.to_owned() + r#""finishReason":"STOP","#));
        each_way(Target::Text, &(text.clone() + &last));
        each_way(Target::Text, &(candidate(notes) + &text + &candidate(r#""finishReason":"STOP","#)));
    }
}

const CREATED: &str = r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#;

/// A message with every copy that the API makes of its text.
fn message(text: &str) -> String {
    let part = format!(
        r#"{{"type":"output_text","text":"{text}","annotations":[{{"type":"url_citation","title":"{text}"}}],"logprobs":[{{"token":"{text}"}}]}}"#
    );
    let item = format!(
        r#"{{"id":"m","type":"message","status":"completed","role":"assistant","content":[{part}]}}"#
    );
    let at = r#""item_id":"m","output_index":0,"content_index":0"#;
    named(&[
        CREATED,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message","status":"in_progress","role":"assistant","content":[]}}"#,
        &format!(
            r#"{{"type":"response.content_part.added",{at},"part":{{"type":"output_text","text":"","annotations":[]}}}}"#
        ),
        &format!(
            r#"{{"type":"response.output_text.delta",{at},"delta":"{text}","logprobs":[{{"token":"{text}"}}]}}"#
        ),
        &format!(
            r#"{{"type":"response.output_text.annotation.added",{at},"annotation_index":0,"annotation":{{"title":"{text}"}}}}"#
        ),
        &format!(
            r#"{{"type":"response.output_text.done",{at},"text":"{text}","logprobs":[{{"token":"{text}"}}]}}"#
        ),
        &format!(r#"{{"type":"response.content_part.done",{at},"part":{part}}}"#),
        &format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#),
        &format!(
            r#"{{"type":"response.completed","response":{{"id":"r","object":"response","status":"completed","output":[{item}],"output_text":"{text}"}}}}"#
        ),
    ])
}

#[test]
fn no_event_of_responses_says_again_what_was_dropped() {
    each_way(Target::Text, &message("rm_all"));
}

#[test]
fn no_event_of_responses_says_again_what_was_edited() {
    let edits = policy_fn(|chunk, _, ctx| {
        let edited = chunk.text().map(|text| text.replace("rm_all", "[gone]"));
        ctx.send(match edited {
            Some(text) => chunk.with_text(text),
            None => chunk,
        });
        Ok(())
    });
    assert_caged("edited", &out(message("so rm_all"), edits));
}

#[test]
fn arguments_that_come_only_in_their_done_event_stay_back() {
    let item = |arguments: &str| {
        format!(r#"{{"id":"f","type":"function_call","call_id":"c","name":"ls","arguments":"{arguments}"}}"#)
    };
    let body = named(&[
        CREATED,
        &format!(r#"{{"type":"response.output_item.added","output_index":0,"item":{}}}"#, item("")),
        r#"{"type":"response.function_call_arguments.done","item_id":"f","output_index":0,"arguments":"rm_all"}"#,
        &format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{}}}"#, item("rm_all")),
        &format!(
            r#"{{"type":"response.completed","response":{{"id":"r","object":"response","status":"completed","output":[{}]}}}}"#,
            item("rm_all")
        ),
    ]);
    each_way(Target::Calls, &body);
}

#[test]
fn dropped_reasoning_keeps_its_signature_and_nothing_else() {
    let delta = r#"{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"rm_all","signature":"s"}]}"#;
    let answer =
        chat(r#""delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}]}"#);
    let left = data(
        r#"{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"","signature":"s"}]},"finish_reason":null}]}"#,
    );
    let body = chat(&format!(r#""delta":{delta}"#)) + &answer + END;
    assert_eq!(out(body, no_text()), left + &answer + END);
}
