//! What rides on text or calls and can spell them: log probabilities, citations, grounding (rule 19).

use stream_core::policy_fn;

use crate::kit::{data, named, no_text, out};
use crate::{chat, chat_call, chat_end};

/// A chunk without a delta that spells what comes next.
fn logprobs(token: &str) -> String {
    data(&format!(
        r#"{{"id":"c","choices":[{{"index":0,"delta":{{}},"logprobs":{{"content":[{{"token":"{token}"}}]}}}}]}}"#
    ))
}

#[test]
fn log_probabilities_ahead_of_a_held_piece_wait_for_that_piece_though_its_block_has_begun() {
    let body = chat(r#"{"content":"ok "}"#) + &logprobs("secret") + &chat(r#"{"content":"secret"}"#);
    let hold_secret = policy_fn(|chunk, _, ctx| {
        if chunk.text() == Some("secret") {
            ctx.buffer(chunk);
        } else {
            ctx.send(chunk);
        }
        Ok(())
    });
    assert_eq!(out(body + &chat_end("stop"), hold_secret), chat(r#"{"content":"ok "}"#) + &chat_end("stop"));
}

#[test]
fn an_annotation_before_any_text_shares_the_fate_of_the_text_that_follows() {
    let body = chat(r#"{"role":"assistant","annotations":[{"title":"secret"}]}"#);
    let body = body + &chat(r#"{"content":"secret"}"#) + &chat_call("ls") + &chat_end("tool_calls");
    assert_eq!(
        out(body, no_text()),
        chat(r#"{"role":"assistant"}"#) + &chat_call("ls") + &chat_end("tool_calls")
    );
}

#[test]
fn an_annotation_of_a_choice_goes_when_any_of_its_blocks_was_dropped() {
    let body = chat(r#"{"role":"assistant","content":"secret"}"#) + &chat_call("ls");
    let body = body + &chat(r#"{"annotations":[{"title":"secret"}]}"#) + &chat_end("tool_calls");
    assert_eq!(
        out(body, no_text()),
        chat(r#"{"role":"assistant"}"#) + &chat_call("ls") + &chat_end("tool_calls")
    );
}

#[test]
fn grounding_goes_when_an_earlier_text_of_the_candidate_was_dropped() {
    let part = |part: &str| {
        data(&format!(r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}},"index":0}}]}}"#))
    };
    let call = part(r#"{"functionCall":{"name":"ls","args":{}}}"#);
    let ground =
        |rest: &str| data(&format!(r#"{{"candidates":[{{{rest}"finishReason":"STOP","index":0}}]}}"#));
    let body = part(r#"{"text":"secret"}"#) + &call + &ground(r#""groundingMetadata":{"segment":"secret"},"#);
    assert_eq!(out(body, no_text()), call + &ground(""));
}

#[test]
fn a_citation_whose_text_was_cut_off_stays_back() {
    let start = named(&[
        r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"x","usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    ]);
    let citation = r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"secret"}}}"#;
    let error = r#"{"type":"error","error":{"type":"api_error","message":"the upstream broke off"}}"#;
    assert_eq!(out(start.clone() + &named(&[citation]), no_text()), start + &named(&[error]));
}
