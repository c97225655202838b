//! A policy that says two things of one block, and a verdict over more than what has come (rule 13).

use std::time::Duration;

use futures::{StreamExt as _, stream};
use stream_core::{PolicyError, Replacement, StreamProcessor, Verdict, policy_fn};

use crate::kit::out;
use crate::{chat, chat_call, chat_end};

async fn in_a_second(verdict: Verdict) -> Result<Verdict, PolicyError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(verdict)
}

#[test]
fn a_block_that_is_discarded_under_a_decision_stays_back_whatever_the_verdict() {
    let policy = policy_fn(|chunk, state, ctx| {
        if let Some(block) = state.just_completed() {
            ctx.settle(block.key(), Verdict::drop("discarded"))?;
        } else if chunk.is_tool_call() {
            ctx.decide(chunk.block().unwrap(), in_a_second(Verdict::Release))?;
        } else {
            ctx.send(chunk);
        }
        Ok(())
    });
    let body = chat(r#"{"role":"assistant","content":"hi"}"#) + &chat_call("rm") + &chat_end("tool_calls");
    assert_eq!(out(body, policy), chat(r#"{"role":"assistant","content":"hi"}"#) + &chat_end("stop"));
}

#[test]
fn a_block_that_is_decided_and_discarded_in_one_hook_stays_back() {
    let policy = policy_fn(|chunk, _, ctx| {
        if chunk.is_tool_call() {
            let key = chunk.block().unwrap();
            ctx.buffer(chunk);
            ctx.decide(key, in_a_second(Verdict::Release))?;
            ctx.settle(key, Verdict::drop("discarded"))?;
        } else {
            ctx.send(chunk);
        }
        Ok(())
    });
    let body = chat(r#"{"role":"assistant","content":"hi"}"#) + &chat_call("rm") + &chat_end("tool_calls");
    assert_eq!(out(body, policy), chat(r#"{"role":"assistant","content":"hi"}"#) + &chat_end("stop"));
}

#[test]
fn a_block_that_is_replaced_under_a_decision_leaves_replaced_whatever_the_verdict() {
    let policy = policy_fn(|chunk, state, ctx| {
        if let Some(block) = state.just_completed() {
            ctx.settle(block.key(), Verdict::Replace(Replacement::arguments("{}").named("ls")))?;
        } else if chunk.is_tool_call() {
            ctx.decide(chunk.block().unwrap(), in_a_second(Verdict::Release))?;
        } else {
            ctx.send(chunk);
        }
        Ok(())
    });
    let body = chat(r#"{"role":"assistant"}"#) + &chat_call("rm") + &chat_end("tool_calls");
    assert_eq!(
        out(body, policy),
        chat(r#"{"role":"assistant"}"#) + &chat_call("ls") + &chat_end("tool_calls")
    );
}

/// The verdict is over the block, of which more comes after it.
#[tokio::test(start_paused = true)]
async fn text_that_comes_after_its_block_was_dropped_by_a_verdict_stays_back() {
    let first = chat(r#"{"role":"assistant","content":"a sec"}"#);
    let rest = chat(r#"{"content":"ret"}"#) + &chat_call("ls") + &chat_end("tool_calls");
    let upstream = stream::iter([first, rest]).then(|bytes| async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok::<_, std::convert::Infallible>(bytes)
    });
    let policy = policy_fn(|chunk, _, ctx| {
        if chunk.text() == Some("a sec") {
            ctx.decide(chunk.block().unwrap(), in_a_second(Verdict::drop("no")))?;
        }
        ctx.send(chunk);
        Ok(())
    });
    let left: Vec<_> = StreamProcessor::new(Box::pin(upstream), policy).unwrap().collect().await;
    let left = String::from_utf8(left.concat()).unwrap();
    assert_eq!(left, chat(r#"{"role":"assistant"}"#) + &chat_call("ls") + &chat_end("tool_calls"));
}
