//! Streams that no recording holds, and that a provider may send tomorrow.

use std::time::{Duration, Instant};

use bytes::Bytes;
use stream_core::{Chunk, Config, Context, ErrorKind, Policy, StreamProcessor, StreamState, Verdict};
use stream_testkit::conformance::Ended;
use stream_testkit::{ChunkLog, Cut, Fragments, Script, WireKind};

use crate::kit::{
    Mode, Piece, Run, assert_ended, assert_says, assert_says_in, builder, config, fold, fold_with, limits,
    run, run_chunks,
};
use crate::policies::{Did, at_calls, hook, send_all};
use crate::scripts::{Shape, with_calls};

/// A chat stream of these deltas, with a finish reason and a terminal marker.
pub(crate) fn chat(deltas: &[&str], finish: &str) -> Bytes {
    let chunk = |choice: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{choice}]}}\n\n"
        )
    };
    let mut stream: String =
        chunk(r#"{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}"#);
    for delta in deltas {
        stream += &chunk(&format!(r#"{{"index":0,"delta":{delta},"finish_reason":null}}"#));
    }
    stream += &chunk(&format!(r#"{{"index":0,"delta":{{}},"finish_reason":"{finish}"}}"#));
    (stream + "data: [DONE]\n\n").into()
}

pub(crate) fn call(index: u32, id: &str, name: &str, arguments: &str) -> String {
    let arguments = serde_json::to_string(arguments).unwrap();
    format!(
        r#"{{"tool_calls":[{{"index":{index},"id":"{id}","type":"function","function":{{"name":"{name}","arguments":{arguments}}}}}]}}"#
    )
}

pub(crate) fn more(index: u32, arguments: &str) -> String {
    let arguments = serde_json::to_string(arguments).unwrap();
    format!(r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":{arguments}}}}}]}}"#)
}

/// The calls of the first choice: id, name, arguments.
fn calls(bytes: &[u8]) -> Vec<(Option<String>, String, String)> {
    let pieces = fold(Mode::Streamed, bytes).choices.remove(0).1;
    let call = |piece| match piece {
        Piece::Call { id, name, arguments, finished } => {
            assert!(finished, "{name} is ready to run");
            Some((id, name, arguments))
        }
        _ => None,
    };
    pieces.into_iter().filter_map(call).collect()
}

fn some(calls: &[(&str, &str, &str)]) -> Vec<(Option<String>, String, String)> {
    let own = |text: &str| text.to_owned();
    let id = |id: &str| (!id.is_empty()).then(|| own(id));
    calls.iter().map(|(i, name, arguments)| (id(i), own(name), own(arguments))).collect()
}

pub(crate) async fn chat_run(policy: impl Policy + 'static, bytes: &Bytes) -> Run {
    run_chunks(builder(WireKind::OpenAiChat).policy(policy), [bytes.clone()]).await
}

/// Lets calls pass, but for those of one name.
pub(crate) fn without(name: &'static str) -> impl Policy + 'static {
    at_calls(move |call, ctx| {
        if call.name() == name {
            ctx.settle(call.key(), Verdict::drop("discarded"))?;
        } else {
            ctx.settle(call.key(), Verdict::Release)?;
        }
        Ok(())
    })
}

pub(crate) fn interleaved(calls: &[usize]) -> Script {
    with_calls(
        Script::new().argument_fragments(Fragments::Chars(4)).interleaved().usage(1, 2).text("Hi."),
        calls,
    )
}

/// Where calls never complete before the finish of their choice, they still take turns.
#[tokio::test]
async fn calls_that_take_turns_complete_at_the_finish_where_that_is_asked_for() {
    let input = interleaved(&[0, 1, 2]);
    for kind in WireKind::ALL {
        let config = config(kind).interleaved_calls(true);
        for (dropped, kept) in [("none", &[0, 1, 2][..]), ("read_file", &[1, 2]), ("delete_file", &[0, 2])] {
            let builder = builder(kind).config(config.clone()).policy(without(dropped));
            let out = run(builder, Mode::Streamed, input.bytes(kind)).await;
            assert_eq!(out.error(), None, "{kind}");
            let expected = interleaved(kept);
            assert_says_in(&config, dropped, kind, Mode::Streamed, &input, &out.bytes, &expected);
            // Chat calls leave one behind the other (rule 28).
            if dropped == "none" && kind != WireKind::OpenAiChat {
                assert_eq!(out.bytes, input.bytes(kind), "{kind}");
            }
        }
    }
}

/// Items of Responses overlap, and have explicit ends: nothing has to be allowed.
#[tokio::test]
async fn items_that_overlap_are_judged_one_by_one() {
    let kind = WireKind::OpenAiResponses;
    let input = interleaved(&[0, 1, 2]);
    for (dropped, kept) in [("read_file", &[1, 2]), ("delete_file", &[0, 2]), ("list", &[0, 1])] {
        let out = run(builder(kind).policy(without(dropped)), Mode::Streamed, input.bytes(kind)).await;
        assert_says(dropped, kind, Mode::Streamed, &input, &out.bytes, &interleaved(kept));
    }
}

/// Rule 6: a new id on a taken index opens a new call.
#[tokio::test]
async fn calls_that_share_an_index_are_told_apart_by_their_ids() {
    let bytes = chat(
        &[
            &call(0, "a", "one", "{\"x\":"),
            &more(0, "1}"),
            &call(0, "b", "two", "{}"),
            &call(0, "c", "three", "{}"),
        ],
        "tool_calls",
    );
    let all = [("a", "one", "{\"x\":1}"), ("b", "two", "{}"), ("c", "three", "{}")];
    assert_eq!(calls(&bytes), some(&all));
    // Each leaves at an index of its own (rule 28).
    assert_eq!(calls(&chat_run(without("none"), &bytes).await.bytes), some(&all));
    for (dropped, kept) in [("one", [1, 2]), ("two", [0, 2]), ("three", [0, 1])] {
        let out = chat_run(without(dropped), &bytes).await;
        assert_eq!(calls(&out.bytes), some(&kept.map(|at| all[at])), "{dropped}:\n{}", out.text());
    }
}

#[tokio::test]
async fn an_id_that_says_null_is_none() {
    let bytes =
        chat(&[&call(0, "null", "one", "{"), &more(0, "}"), &call(1, "null", "two", "{}")], "tool_calls");
    assert_eq!(calls(&bytes), some(&[("", "one", "{}"), ("", "two", "{}")]));
    let out = chat_run(without("one"), &bytes).await;
    assert_eq!(calls(&out.bytes), some(&[("", "two", "{}")]), "{}", out.text());
    let out = chat_run(without("two"), &bytes).await;
    assert_eq!(calls(&out.bytes), some(&[("", "one", "{}")]), "{}", out.text());
}

#[tokio::test]
async fn a_name_that_comes_late_is_the_calls_own() {
    let late = r#"{"tool_calls":[{"index":0,"function":{"name":"one"}}]}"#;
    let bytes =
        chat(&[&call(0, "a", "", ""), late, &more(0, "{}"), &call(1, "b", "two", "{}")], "tool_calls");
    let all = some(&[("a", "one", "{}"), ("b", "two", "{}")]);
    assert_eq!(calls(&bytes), all);
    // It leaves where the call opens (rule 28).
    assert_eq!(calls(&chat_run(without("none"), &bytes).await.bytes), all);
    let out = chat_run(without("one"), &bytes).await;
    assert_eq!(calls(&out.bytes), some(&[("b", "two", "{}")]), "{}", out.text());
}

#[tokio::test]
async fn arguments_that_are_an_object_are_taken_as_they_stand() {
    let object = r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"one","arguments":{"x":1}}}]}"#;
    let bytes = chat(&[object, &call(1, "b", "two", "{}")], "tool_calls");
    let all = some(&[("a", "one", "{\"x\":1}"), ("b", "two", "{}")]);
    assert_eq!(calls(&bytes), all);
    // They leave as a string (rule 28).
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let left = chat_run(without("none"), &bytes).await;
    assert_eq!(left.text(), text.replace(r#"{"x":1}"#, r#""{\"x\":1}""#));
    let out = chat_run(without("one"), &bytes).await;
    assert_eq!(calls(&out.bytes), some(&[("b", "two", "{}")]), "{}", out.text());
}

/// Rule 2: white space in the tool phase completes nothing.
#[tokio::test]
async fn white_space_between_the_deltas_of_a_call_changes_nothing() {
    let blank = r#"{"content":"\n"}"#;
    let bytes = chat(
        &[&call(0, "a", "one", "{"), blank, &more(0, "}"), blank, &call(1, "b", "two", "{}")],
        "tool_calls",
    );
    assert_eq!(calls(&bytes), some(&[("a", "one", "{}"), ("b", "two", "{}")]));
    assert_eq!(chat_run(without("none"), &bytes).await.bytes, bytes);
    let out = chat_run(without("one"), &bytes).await;
    assert_eq!(calls(&out.bytes), some(&[("b", "two", "{}")]), "{}", out.text());
}

/// Rule 8: what comes after a finish is read, policed and written.
#[tokio::test]
async fn text_after_a_finish_is_policed() {
    let done = "data: [DONE]\n\n";
    let first = String::from_utf8(chat(&[r#"{"content":"one"}"#], "stop").to_vec()).unwrap();
    let second = first.replace("one", "two");
    let bytes = Bytes::from(first.trim_end_matches(done).to_owned() + &second);
    assert_eq!(chat_run(send_all(), &bytes).await.bytes, bytes);
    let out = chat_run(
        hook(|chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
            if chunk.text() != Some("two") {
                ctx.send(chunk);
            }
            Ok(())
        }),
        &bytes,
    )
    .await;
    let texts = fold(Mode::Streamed, &out.bytes).choices.remove(0).1;
    assert_eq!(texts, [Piece::Text(stream_core::Channel::Content, "one".into())]);
}

/// Rule 8: after the terminal marker a delta is dropped, and closes the stream.
#[tokio::test]
async fn a_delta_after_the_terminal_marker_never_leaves() {
    // What comes before the delta and says nothing passes: the role of chat, the openings of Responses.
    for (kind, passes) in
        [(WireKind::OpenAiChat, 1), (WireKind::AnthropicMessages, 0), (WireKind::OpenAiResponses, 2)]
    {
        let whole = Shape::Plain.script().text("Hi.").bytes(kind);
        let again = Shape::Plain.script().text("more").bytes(kind);
        let bytes = Bytes::from([&whole[..], &again[..]].concat());
        let out = run_chunks(builder(kind).policy(send_all()), [bytes]).await;
        assert_eq!(out.error(), Some(ErrorKind::AfterTerminal), "{kind}");
        let events = String::from_utf8_lossy(&again);
        let passed: String = events.split_inclusive("\n\n").take(passes).collect();
        assert_eq!(out.text(), String::from_utf8_lossy(&whole) + passed.as_str(), "{kind}");
    }
}

fn with_event(kind: WireKind, data: &str) -> Bytes {
    let mut bytes = Shape::Plain.script().text("Hi.").cut().bytes(kind).to_vec();
    bytes.extend_from_slice(format!("data: {data}\n\n").as_bytes());
    bytes.into()
}

#[tokio::test]
async fn malformed_json_and_a_key_that_stands_twice_close_the_stream() {
    for kind in WireKind::ALL {
        let twice = match kind {
            WireKind::OpenAiChat => r#"{"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]}"#,
            WireKind::OpenAiResponses => {
                r#"{"type":"response.output_text.delta","item_id":"msg_0","output_index":0,"content_index":0,"delta":"a","delta":"b"}"#
            }
            WireKind::AnthropicMessages => {
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","text":"b"}}"#
            }
            WireKind::Gemini => r#"{"candidates":[{"content":{"parts":[{"text":"a","text":"b"}]}}]}"#,
        };
        for data in [r#"{"choices":[{"#, "{]", twice] {
            let bytes = with_event(kind, data);
            let clean = Shape::Plain.script().text("Hi.").cut().bytes(kind);
            let out = run_chunks(builder(kind).policy(send_all()), [bytes]).await;
            assert_eq!(out.error(), Some(ErrorKind::Malformed), "{kind}: {data}");
            assert_ended(data, kind, Mode::Streamed, &clean, &out.bytes, Ended::Error);
        }
    }
}

/// Rule 9: a tail at the end of bytes that decodes is an event; one that does not is dropped, and the end is a cut.
#[tokio::test]
async fn a_tail_without_its_border_counts_if_it_can_be_read() {
    for kind in WireKind::ALL {
        let input = Shape::Plain.turn(&[0]);
        let bytes = input.bytes(kind);
        let tail = bytes
            .slice(..bytes.len() - bytes.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count());
        let out = run_chunks(builder(kind).policy(without("none")), [tail.clone()]).await;
        assert_eq!(out.bytes, tail, "{kind}");
        let out = run_chunks(builder(kind).policy(without("read_file")), [tail.clone()]).await;
        assert_eq!(out.error(), None, "{kind}");
        assert_eq!(
            fold(Mode::Streamed, &out.bytes),
            fold(Mode::Streamed, &Shape::Plain.turn(&[]).bytes(kind)),
            "{kind}"
        );

        let cut = Shape::Plain.script().text("Hi.").cut().bytes(kind);
        let half = Bytes::from([&cut[..], b"data: {\"id\":\"c\",\"cho"].concat());
        let out = run_chunks(builder(kind).policy(send_all()), [half]).await;
        assert_ended("half", kind, Mode::Streamed, &cut, &out.bytes, Ended::Error);
    }
}

/// Anthropic's blocks come one after the other; a proxy that mixes them is still read by their numbers. What leaves is one
/// block behind the other, since some clients give arguments to the call that opened last (rule 28).
#[tokio::test]
async fn blocks_of_anthropic_that_overlap_are_told_apart_by_their_numbers() {
    let event = |name: &str, rest: &str| format!("event: {name}\ndata: {{\"type\":\"{name}\"{rest}}}\n\n");
    let open = |index: u32, id: &str, name: &str| {
        event(
            "content_block_start",
            &format!(
                r#","index":{index},"content_block":{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#
            ),
        )
    };
    let input = |index: u32, json: &str| {
        let json = serde_json::to_string(json).unwrap();
        event(
            "content_block_delta",
            &format!(r#","index":{index},"delta":{{"type":"input_json_delta","partial_json":{json}}}"#),
        )
    };
    let stop = |index: u32| event("content_block_stop", &format!(r#","index":{index}"#));
    let message = |blocks: [String; 8]| {
        let start = event(
            "message_start",
            r#","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":0}}"#,
        );
        let finish = event(
            "message_delta",
            r#","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":3}"#,
        );
        Bytes::from(start + &blocks.concat() + &finish + &event("message_stop", ""))
    };
    let bytes = message([
        open(0, "a", "one"),
        open(1, "b", "two"),
        input(0, "{\"x\":"),
        input(1, "{\"y\":"),
        input(0, "1}"),
        stop(0),
        input(1, "2}"),
        stop(1),
    ]);
    let in_order = message([
        open(0, "a", "one"),
        input(0, "{\"x\":"),
        input(0, "1}"),
        stop(0),
        open(1, "b", "two"),
        input(1, "{\"y\":"),
        input(1, "2}"),
        stop(1),
    ]);
    let all = [("a", "one", "{\"x\":1}"), ("b", "two", "{\"y\":2}")];
    assert_eq!(calls(&bytes), some(&all));
    let kind = WireKind::AnthropicMessages;
    let out = run_chunks(builder(kind).policy(without("none")), [bytes.clone()]).await;
    assert_eq!(out.bytes, in_order);
    for (dropped, kept) in [("one", all[1]), ("two", all[0])] {
        let out = run_chunks(builder(kind).policy(without(dropped)), [bytes.clone()]).await;
        assert_eq!(calls(&out.bytes), some(&[kept]), "{dropped}:\n{}", out.text());
        // One block is left, and it is the first.
        let view = crate::kit::view(dropped, kind, Mode::Streamed, &out.bytes, &out.bytes);
        assert_eq!(view.choices[0].calls.len(), 1);
    }
}

/// Law *rechunking*: cut anywhere, inside of characters too, what leaves is the same.
#[tokio::test]
async fn where_the_bytes_are_cut_does_not_show() {
    let input = Shape::Chars.turn(&[0, 1]);
    for kind in WireKind::ALL {
        let log = ChunkLog::parse("in.sse", &input.bytes(kind)).unwrap();
        let mut expected = None;
        for cut in [Cut::Event, Cut::Whole, Cut::Byte, Cut::Random { seed: 1 }, Cut::Random { seed: 2 }] {
            let chunks = cut.apply(&log).into_iter().map(|(_, bytes)| bytes);
            let out = run_chunks(builder(kind).policy(without("read_file")), chunks).await;
            let expected = expected.get_or_insert_with(|| out.bytes.clone());
            assert_eq!(out.bytes, *expected, "{kind}, {cut}");
        }
        assert_says("cut", kind, Mode::Streamed, &input, &expected.unwrap(), &Shape::Chars.turn(&[1]));
    }
}

/// Rule 26: cost per byte stays flat however long a block gets.
#[tokio::test]
async fn ten_megabytes_of_arguments_take_no_time() {
    let arguments = format!("{{\"text\":\"{}\"}}", "x".repeat(10 << 20));
    let input = Script::new()
        .argument_fragments(Fragments::Bytes(1000))
        .call("call_1", "write", arguments)
        .call("call_2", "list", "{}");
    for kind in WireKind::ALL {
        let bytes = input.bytes(kind);
        let start = Instant::now();
        let out = run_chunks(builder(kind).policy(without("list")), [bytes.clone()]).await;
        assert_eq!(out.error(), None, "{kind}");
        assert!(out.bytes.len() > 10 << 20, "{kind}");
        let out = run_chunks(builder(kind).policy(without("write")), [bytes]).await;
        assert_eq!(calls(&out.bytes), some(&[("call_2", "list", "{}")]), "{kind}");
        assert!(start.elapsed() < Duration::from_secs(60), "{kind}: {:?}", start.elapsed());
    }
}

#[tokio::test]
async fn a_hundred_thousand_blocks_take_no_time() {
    for (kind, count) in [
        (WireKind::OpenAiChat, 20_000),
        (WireKind::OpenAiResponses, 20_000),
        (WireKind::AnthropicMessages, 20_000),
        (WireKind::Gemini, 100_000),
    ] {
        let mut script = Script::new().text("Hi.");
        for number in 0..count {
            script =
                script.call(format!("call_{number}"), if number % 2 == 0 { "even" } else { "odd" }, "{}");
        }
        let bytes = script.bytes(kind);
        let start = Instant::now();
        // More than the default allows.
        let config = config(kind).limits(limits(|limits| limits.blocks = 200_000));
        let processor = builder(kind).config(config.clone()).policy(without("even"));
        let out = run_chunks(processor, [bytes]).await;
        assert_eq!(out.error(), None, "{kind}");
        let pieces = fold_with(config, Mode::Streamed, &out.bytes).choices.remove(0).1;
        let left = pieces.iter().filter(|piece| matches!(piece, Piece::Call { .. })).count();
        assert_eq!(left, count / 2, "{kind}");
        assert!(start.elapsed() < Duration::from_secs(120), "{kind}: {:?}", start.elapsed());
    }
}

/// Nothing told the format: comments and a terminal marker pass as they came.
#[tokio::test]
async fn a_stream_that_tells_no_format_passes_as_it_came() {
    let bytes = Bytes::from_static(b": hello\n\ndata: [DONE]\n\n");
    let out =
        run_chunks(StreamProcessor::builder().config(Config::default()).policy(send_all()), [bytes.clone()])
            .await;
    assert_eq!(out.bytes, bytes);
}
