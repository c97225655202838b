//! Leaks 3, 5, 7 and 8: what is held at a cut, the opener of the next call, ids that mean two calls, and a secret in two
//! blocks.

use stream_core::{StreamBlock, StreamProcessor, Verdict, policy_fn};
use stream_testkit::{Fragments, Script};

use crate::kit::{Eof, Gate, Target, Way, data, out, run_with};
use crate::{assert_caged, borders, each_format};

/// Leak 3.
#[test]
fn the_held_tail_stays_back_wherever_the_stream_is_cut() {
    let script = Script::new().argument_fragments(Fragments::Chars(5)).text("Let me look.").call(
        "rm_all_1",
        "rm_all",
        r#"{"path":"rm_all"}"#,
    );
    each_format(&script, |kind, body| {
        for way in Way::ALL {
            for at in borders(body).flat_map(|at| [at - 30, at - 1, at]) {
                for eof in [Eof::Clean, Eof::Broken] {
                    let gate = StreamProcessor::builder().policy(Gate(Target::Calls, way));
                    let ran = run_with(gate, &body.as_bytes()[..at], eof);
                    assert_caged(format!("{kind}, {way:?}, cut at {at}, {eof:?}"), &ran.out);
                }
            }
        }
    });
}

/// Leak 5, rule 1: "judge, then flush".
#[test]
fn the_opener_of_the_next_call_does_not_leave_with_the_flush_of_the_one_before() {
    let judge = || {
        policy_fn(|chunk, state, ctx| {
            let judged = state.just_completed().and_then(|block| block.as_tool_call());
            if chunk.is_tool_call() {
                ctx.buffer(chunk);
            } else {
                ctx.send(chunk);
            }
            match judged.map(|call| (call.key(), call.name())) {
                Some((key, "rm_all")) => ctx.settle(key, Verdict::drop("discarded"))?,
                Some(_) => ctx.flush(),
                None => {}
            }
            Ok(())
        })
    };
    let calls = Script::new().call("call_1", "ls", "{}").call("call_2", "rm_all", r#"{"path":"rm_all"}"#);
    for script in [calls.clone(), calls.clone().calls_in_one_chunk(), calls.clone().in_one_chunk()] {
        each_format(&script, |kind, body| {
            for at in borders(body) {
                assert_caged(format!("{kind}, cut at {at}"), &out(&body[..at], judge()));
            }
        });
    }
}

/// Leak 7: effects take keys, so that the other call with this id is another call.
#[test]
fn a_call_stays_back_though_another_choice_has_one_with_its_id() {
    let only_first_choice = || {
        policy_fn(|chunk, state, ctx| {
            match state.just_completed().filter(|block| block.as_tool_call().is_some()) {
                Some(block) if block.choice() == 0 => ctx.settle(block.key(), Verdict::Release)?,
                Some(block) => ctx.settle(block.key(), Verdict::drop("discarded"))?,
                None if chunk.is_tool_call() => ctx.buffer(chunk),
                None => ctx.send(chunk),
            }
            Ok(())
        })
    };
    let call = |choice: u32, name: &str| {
        data(&format!(
            r#"{{"id":"c","choices":[{{"index":{choice},"delta":{{"role":"assistant","tool_calls":[{{"index":0,"id":"same","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}]}},"finish_reason":null}}]}}"#
        ))
    };
    let finish = |choice: u32, reason: &str| {
        data(&format!(
            r#"{{"id":"c","choices":[{{"index":{choice},"delta":{{}},"finish_reason":"{reason}"}}]}}"#
        ))
    };
    let body = call(0, "ls") + &call(1, "rm_all") + &finish(0, "tool_calls") + &finish(1, "tool_calls");
    let left = out(body + "data: [DONE]\n\n", only_first_choice());
    assert_caged("chat", &left);
    assert_eq!(left.find(&(call(0, "ls") + &finish(0, "tool_calls"))), Some(0));

    let call = |choice: u32, name: &str| {
        data(&format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"id":"same","name":"{name}","args":{{}}}}}}],"role":"model"}},"index":{choice}}}]}}"#
        ))
    };
    let left = out(call(0, "ls") + &call(1, "rm_all"), only_first_choice());
    assert_caged("gemini", &left);
}

/// Leak 8: clients concatenate a choice's text across its finish, so that a matcher has to see both blocks.
#[test]
fn a_secret_across_a_finish_is_seen_whole() {
    let matcher = || {
        policy_fn(|chunk, state, ctx| {
            let of = |block: &StreamBlock| match block {
                StreamBlock::Content(text) => Some(text.text().to_owned()),
                _ => None,
            };
            let all: String = state.blocks().iter().filter_map(of).collect();
            if !(chunk.is_payload() && all.contains("rm_all")) {
                ctx.send(chunk);
            }
            Ok(())
        })
    };
    let chat = |text: &str, reason: &str| {
        data(&format!(
            r#"{{"id":"c","choices":[{{"index":0,"delta":{{"role":"assistant","content":"{text}"}},"finish_reason":{reason}}}]}}"#
        ))
    };
    let body = chat("rm_", r#""stop""#) + &chat("all", "null");
    let left = chat("rm_", r#""stop""#);
    assert_eq!(out(body + "data: [DONE]\n\n", matcher()), left + "data: [DONE]\n\n");

    let gemini = |text: &str, rest: &str| {
        data(&format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}],"role":"model"}}{rest},"index":0}}]}}"#
        ))
    };
    let body = gemini("rm_", r#","finishReason":"STOP""#) + &gemini("all", "");
    assert_eq!(out(body, matcher()), gemini("rm_", r#","finishReason":"STOP""#));
}
