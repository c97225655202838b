//! Calls that are written as text are blocks like any other: held, dropped, replaced, in every format and cut.

use std::sync::{Arc, Mutex};

use stream_core::text_calls::{DialectSet, UNPARSED, known};
use stream_core::{
    Channel, Chunk, ChunkKind, Config, Context, Policy, Replacement, Runs, StreamBlock, StreamState, Tool,
    Verdict,
};
use stream_testkit::{Finish, Fragments, Script, WireKind, laws};

use crate::kit::{Mode, assert_says, body, config, everywhere, run, view};
use crate::policies::{Did, at_calls, hook, send_all};

const BEFORE: &str = "I will list the files for you.";
const CALL: &str =
    r#"<|tool_call|>{"name": "list_files", "arguments": {"directory_path": "abstractcore"}}</|tool_call|>"#;

/// Every way in which the text may come.
const FRAGMENTS: [Fragments; 4] =
    [Fragments::Whole, Fragments::Chars(1), Fragments::Chars(7), Fragments::Chars(40)];

fn dialects() -> DialectSet {
    DialectSet::new()
        .with(known::qwen_prompted())
        .with(known::anthropic())
        .with(known::nemotron())
        .with(known::hermes())
        .reasoning("<think>", "</think>")
}

fn settings(kind: WireKind) -> Config {
    config(kind).text_calls(dialects())
}

fn says(text: &str, fragments: Fragments) -> Script {
    Script::new().text_fragments(fragments).text(text).usage(1, 2)
}

/// What comes out for a text, under a policy, in every format, mode and cut, is what `expected` says.
async fn assert_becomes<P: Policy + 'static>(input: &str, policy: impl Fn() -> P, expected: &str) {
    for (kind, mode) in everywhere() {
        for fragments in FRAGMENTS {
            let script = says(input, fragments);
            let builder = stream_core::StreamProcessor::builder().config(settings(kind)).policy(policy());
            let out = run(builder, mode, body(kind, mode, &script)).await;
            let what = format!("{input:?} in {fragments:?}");
            assert_says(&what, kind, mode, &script, &out.bytes, &says(expected, fragments));
        }
    }
}

/// What comes out is what came in, byte for byte.
async fn assert_untouched<P: Policy + 'static>(input: &str, policy: impl Fn() -> P) {
    for (kind, mode) in everywhere() {
        for fragments in FRAGMENTS {
            let bytes = body(kind, mode, &says(input, fragments));
            let builder = stream_core::StreamProcessor::builder().config(settings(kind)).policy(policy());
            let out = run(builder, mode, bytes.clone()).await;
            assert_eq!(out.text(), String::from_utf8_lossy(&bytes), "{kind}, {mode:?}, {fragments:?}");
        }
    }
}

/// Sends everything, and writes down each block that completes.
fn listed(seen: &Arc<Mutex<Vec<String>>>) -> impl Policy + 'static {
    let seen = Arc::clone(seen);
    hook(move |chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
        if let Some(block) = state.just_completed() {
            let line = match block {
                StreamBlock::ToolCall(call) => {
                    let written = call.written().unwrap();
                    let dialect = written.dialect().name();
                    format!("{dialect}: {}({}) in {:?}", call.name(), call.arguments(), written.raw())
                }
                StreamBlock::Opaque(block) => format!("{} {:?}", block.kind(), block.runs()),
                other => format!("{}: {:?}", other.kind_name(), other.as_text().unwrap().text()),
            };
            seen.lock().unwrap().push(line);
        }
        ctx.send(chunk);
        Ok(())
    })
}

async fn blocks(kind: WireKind, mode: Mode, fragments: Fragments, text: &str) -> Vec<String> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let builder = stream_core::StreamProcessor::builder().config(settings(kind)).policy(listed(&seen));
    let bytes = body(kind, mode, &says(text, fragments));
    let out = run(builder, mode, bytes.clone()).await;
    assert_eq!(out.bytes, bytes, "identity");
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[tokio::test]
async fn a_call_is_a_block_between_the_texts_around_it() {
    let text = format!("{BEFORE}{CALL} Done.");
    let call = format!(r#"qwen-prompted: list_files({{"directory_path": "abstractcore"}}) in {CALL:?}"#);
    for fragments in FRAGMENTS {
        for mode in [Mode::Streamed, Mode::Whole] {
            for kind in [WireKind::OpenAiChat, WireKind::Gemini] {
                assert_eq!(
                    blocks(kind, mode, fragments, &text).await,
                    [format!("content: {BEFORE:?}"), call.clone(), "content: \" Done.\"".to_owned()],
                    "{kind}, {mode:?}, {fragments:?}"
                );
            }
            // A numbered text goes on behind the call, and ends where the format says so.
            for kind in [WireKind::OpenAiResponses, WireKind::AnthropicMessages] {
                assert_eq!(
                    blocks(kind, mode, fragments, &text).await,
                    [call.clone(), format!("content: {:?}", format!("{BEFORE} Done."))],
                    "{kind}, {mode:?}, {fragments:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn what_is_sent_as_it_is_leaves_as_it_came() {
    for text in [
        format!("{BEFORE}{CALL}"),
        format!("{CALL}{CALL} and {CALL}"),
        "<function_calls>\n<invoke name=\"f\"></invoke>\n<invoke name=\"g\"></invoke>\n</function_calls>"
            .to_owned(),
        "<TOOLCALL>[{\"name\":\"f\"}, {\"name\":\"g\"}]</TOOLCALL>".to_owned(),
        "<think>\nhm\n</think>\nYes <tool_call>{\"name\":".to_owned(),
        "a < b <tool".to_owned(),
    ] {
        assert_untouched(&text, send_all).await;
        assert_untouched(&text, || stream_core::Passthrough).await;
    }
}

#[tokio::test]
async fn a_call_that_is_held_and_released_leaves_as_it_came() {
    let text = format!("{BEFORE}{CALL} Done.");
    let release = || {
        at_calls(|call, ctx| {
            ctx.settle(call.key(), Verdict::Release)?;
            Ok(())
        })
    };
    assert_untouched(&text, release).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_vanishes_from_the_text_and_all_its_copies() {
    let drop = || {
        at_calls(|call, ctx| {
            ctx.settle(call.key(), Verdict::drop("discarded"))?;
            Ok(())
        })
    };
    assert_becomes(&format!("{BEFORE}{CALL} Done."), drop, &format!("{BEFORE} Done.")).await;
    assert_becomes(&format!("{BEFORE}{CALL}"), drop, BEFORE).await;
    assert_becomes(&format!("{CALL}{BEFORE}"), drop, BEFORE).await;
    let xml = "Ok. <function_calls>\n<invoke name=\"f\"><parameter name=\"a\">1</parameter></invoke>\n</function_calls> So.";
    assert_becomes(xml, drop, "Ok.  So.").await;
}

/// Drops calls of the tool `g`, lets others go.
fn without_g() -> impl Policy + 'static {
    at_calls(|call, ctx| {
        if call.name() == "g" {
            ctx.settle(call.key(), Verdict::drop("discarded"))?;
        } else {
            ctx.settle(call.key(), Verdict::Release)?;
        }
        Ok(())
    })
}

#[tokio::test]
async fn of_several_calls_in_a_list_some_may_go() {
    let list = |calls: &[&str]| {
        let calls: Vec<String> = calls.iter().map(|name| format!("{{\"name\":\"{name}\"}}")).collect();
        format!("a<TOOLCALL>[{}]</TOOLCALL>b", calls.join(", "))
    };
    assert_becomes(&list(&["f", "g", "h"]), without_g, &list(&["f", "h"])).await;
    assert_becomes(&list(&["g", "f"]), without_g, &list(&["f"])).await;
    assert_becomes(&list(&["f", "g"]), without_g, &list(&["f"])).await;
    assert_becomes(&list(&["g", "g"]), without_g, "ab").await;
}

#[tokio::test]
async fn a_call_that_is_replaced_is_written_again_in_its_dialect() {
    let replace = || {
        at_calls(|call, ctx| {
            ctx.settle(
                call.key(),
                Verdict::Replace(Replacement::arguments(r#"{"a":"x & y","n":1}"#).named("safe")),
            )?;
            Ok(())
        })
    };
    let again = r#"<|tool_call|>{"name": "safe", "arguments": {"a":"x & y","n":1}}</|tool_call|>"#;
    assert_becomes(&format!("{BEFORE}{CALL} Done."), replace, &format!("{BEFORE}{again} Done.")).await;
    assert_becomes(
        "<function_calls>\n<invoke name=\"f\"></invoke>\n</function_calls>",
        replace,
        "<function_calls>\n<invoke name=\"safe\"><parameter name=\"a\">x & y</parameter><parameter name=\"n\">1</parameter></invoke>\n</function_calls>",
    )
    .await;
}

#[tokio::test]
async fn a_replacement_that_holds_the_tags_of_an_xml_dialect_is_escaped() {
    let replace = || {
        at_calls(|call, ctx| {
            ctx.settle(
                call.key(),
                Verdict::Replace(Replacement::arguments(r#"{"a":"</parameter></invoke>"}"#)),
            )?;
            Ok(())
        })
    };
    let escaped = "<parameter name=\"a\">&lt;/parameter>&lt;/invoke></parameter>";
    let expected = format!("a<invoke name=\"f\">{escaped}</invoke>b");
    assert_becomes("a<invoke name=\"f\"></invoke>b", replace, &expected).await;
}

/// Values of this dialect are raw: there is no way to write its own closing tag.
#[tokio::test]
async fn a_replacement_that_the_dialect_cannot_say_does_not_leave() {
    let input = "a<tool_call>\n<function=f>\n</function>\n</tool_call>b";
    for (kind, mode) in everywhere() {
        let replace = at_calls(|call, ctx| {
            ctx.settle(
                call.key(),
                Verdict::Replace(Replacement::arguments(r#"{"a":"</parameter></function>"}"#)),
            )?;
            Ok(())
        });
        let config = config(kind).text_calls(DialectSet::new().with(known::qwen3_coder()));
        let builder = stream_core::StreamProcessor::builder().config(config).policy(replace);
        let script = says(input, Fragments::Whole);
        let out = run(builder, mode, body(kind, mode, &script)).await;
        // The wrapper is text, and stays.
        let left = says("a<tool_call>\n\n</tool_call>b", Fragments::Whole);
        assert_says("a raw value", kind, mode, &script, &out.bytes, &left);
    }
}

#[tokio::test]
async fn arguments_that_are_edited_on_their_way_are_written_again() {
    let edit = || {
        hook(|chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
            let hidden = chunk.arguments().map(|arguments| arguments.replace("secret", "***"));
            ctx.send(match hidden {
                Some(arguments) => chunk.with_arguments(arguments),
                None => chunk,
            });
            Ok(())
        })
    };
    assert_becomes(
        "a<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"secret\"}}</tool_call>b",
        edit,
        "a<tool_call>{\"name\": \"f\", \"arguments\": {\"a\":\"***\"}}</tool_call>b",
    )
    .await;
}

#[tokio::test]
async fn a_verdict_drops_a_call_and_leaves_a_notice_in_its_place() {
    let judge = || {
        hook(|chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
            if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
                ctx.decide(call.key(), async {
                    Ok(Verdict::Drop { reason: "no".into(), notice: Some("[no]".into()) })
                })?;
                return Ok(());
            }
            ctx.send(chunk);
            Ok(())
        })
    };
    assert_becomes(&format!("{BEFORE}{CALL} Done."), judge, &format!("{BEFORE}[no] Done.")).await;
    assert_becomes(&format!("{CALL} Done."), judge, "[no] Done.").await;
    assert_becomes(CALL, judge, "[no]").await;
}

#[tokio::test]
async fn text_calls_leave_the_finish_reason_alone() {
    let script = Script::new()
        .text(format!("{BEFORE}<tool_call>{{\"name\":\"f\",\"arguments\":{{\"a\":\"b"))
        .finish(Finish::Length);
    for (kind, mode) in everywhere() {
        let builder = stream_core::StreamProcessor::builder().config(settings(kind)).policy(no_calls());
        let input = body(kind, mode, &script);
        let out = run(builder, mode, input.clone()).await;
        let expected = body(kind, mode, &Script::new().text(BEFORE).finish(Finish::Length));
        let seen = view("cut off", kind, mode, &input, &out.bytes);
        assert_eq!(seen, view("cut off", kind, mode, &expected, &expected), "{kind}, {mode:?}");
    }
}

/// A gate: whatever is or may be a call does not leave.
fn no_calls() -> impl Policy + 'static {
    hook(|chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
        let unknown = matches!(state.current_block(), Some(StreamBlock::Opaque(block)) if block.runs() == Runs::Unknown);
        match chunk.kind() {
            ChunkKind::ToolCall => drop(chunk),
            ChunkKind::Opaque if unknown => drop(chunk),
            _ => ctx.send(chunk),
        }
        Ok(())
    })
}

#[tokio::test]
async fn a_call_that_is_cut_off_is_an_unknown_block_which_a_gate_drops() {
    let text = format!("{BEFORE}<tool_call>{{\"name\":\"f\",\"arguments\":{{\"a\":\"b");
    for fragments in FRAGMENTS {
        assert_eq!(
            blocks(WireKind::OpenAiChat, Mode::Streamed, fragments, &text).await,
            [format!("content: {BEFORE:?}"), format!("{UNPARSED} Unknown")]
        );
    }
    assert_becomes(&text, no_calls, BEFORE).await;
}

#[tokio::test]
async fn reasoning_that_is_written_as_text_is_reasoning() {
    let text = "<think>Let me see.</think>Yes.";
    let drop = || {
        hook(|chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
            match chunk.kind() {
                ChunkKind::Text(Channel::Reasoning) => drop(chunk),
                _ => ctx.send(chunk),
            }
            Ok(())
        })
    };
    assert_becomes(text, drop, "Yes.").await;
}

#[tokio::test]
async fn with_a_policy_that_looks_at_calls_fences_and_unknown_names_count() {
    let drop = || {
        at_calls(|call, ctx| {
            ctx.settle(call.key(), Verdict::drop("discarded"))?;
            Ok(())
        })
    };
    assert_becomes(&format!("```\n{CALL}\n```"), drop, "```\n\n```").await;
    let request = stream_core::Request::new().tool(Tool::new("other"));
    let settings = settings(WireKind::OpenAiChat).request(request);
    let script = says(&format!("a{CALL}b"), Fragments::Chars(3));
    let builder = stream_core::StreamProcessor::builder().config(settings).policy(drop());
    let out = run(builder, Mode::Streamed, script.bytes(WireKind::OpenAiChat)).await;
    let kind = WireKind::OpenAiChat;
    assert_says("unknown", kind, Mode::Streamed, &script, &out.bytes, &says("ab", Fragments::Whole));
}

#[test]
fn policies_over_text_calls_keep_the_laws() {
    let texts = [
        format!("{BEFORE}{CALL} Done."),
        format!(
            "<function_calls><invoke name=\"g\"><parameter name=\"a\">canary</parameter></invoke></function_calls>{CALL}"
        ),
    ];
    let [mut dropped, mut some, mut sent] = [(); 3].map(|()| laws::Tally::default());
    for kind in WireKind::ALL {
        for text in &texts {
            let log = says(text, Fragments::Chars(9)).to_log(kind);
            let drop = || {
                at_calls(|call, ctx| {
                    ctx.settle(call.key(), Verdict::drop("discarded"))?;
                    Ok(())
                })
            };
            dropped.add(&laws::Laws::of(drop).config(settings(kind)).check(&log).unwrap());
            some.add(&laws::Laws::of(without_g).config(settings(kind)).check(&log).unwrap());
            sent.add(&laws::Laws::of(send_all).config(settings(kind)).check(&log).unwrap());
        }
    }
    dropped.assert_held_but(&[laws::Law::Identity]);
    some.assert_held_but(&[]);
    sent.assert_held_but(&[laws::Law::NoLeak]);
}
