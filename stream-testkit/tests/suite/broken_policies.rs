//! For each law a policy that breaks it, and is caught by it.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::laws::policies::{self, Did};
use bytes::Bytes;
use stream_core::sse::Frame;
use stream_core::wire::openai_chat::OpenAiChat;
use stream_core::wire::{DecodeError, Decoded, Outgoing, Traits, WireFormat, Writer, WriterOptions};
use stream_core::{
    Chunk, Config, Context, Ending, FinishKind, Policy, PolicyError, StreamState, SyncPolicy, async_trait,
};
use stream_testkit::conformance::Ended;
use stream_testkit::laws::{Broken, Law, Laws, Standing};
use stream_testkit::{ChunkLog, Fragments, Replay, Script, WireKind, laws};

fn script() -> Script {
    Script::new()
        .text("It is a secret that nobody shall know, and so on.")
        .text_fragments(Fragments::Chars(9))
        .call("call_1", "read_file", r#"{"path":"/var/kiwi/mango"}"#)
        .argument_fragments(Fragments::Chars(8))
}

fn log() -> ChunkLog {
    script().to_log(WireKind::OpenAiChat)
}

/// The name of the law that `laws::check` finds broken.
fn caught<P: SyncPolicy + 'static>(factory: impl Fn() -> P + Send + Sync + 'static) -> &'static str {
    laws::check(factory, &log()).unwrap_err().law().name()
}

/// That this law alone catches it too.
fn broken_by<P: SyncPolicy + 'static>(law: Law, factory: impl Fn() -> P + Send + Sync + 'static) -> Broken {
    Laws::of(factory).only(law).check(&log()).unwrap_err()
}

/// Sends every chunk but the last of each text, which it means to send later.
#[derive(Default)]
struct ForgetsTheTail;

impl SyncPolicy for ForgetsTheTail {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        if chunk.text().is_some() {
            ctx.flush();
            ctx.buffer(chunk);
        } else {
            ctx.send(chunk);
        }
        Ok(())
    }
}

#[test]
fn a_policy_that_forgets_the_tail_loses_something() {
    assert_eq!(broken_by(Law::NothingLost, || ForgetsTheTail).law().name(), "nothing-lost");
}

/// Looks at the opening of a call, sends it, and then thinks better of it.
struct LeaksThePrefix;

impl SyncPolicy for LeaksThePrefix {
    fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        let arguments = state
            .current_block()
            .and_then(|block| block.as_tool_call())
            .map(stream_core::ToolCall::arguments);
        match arguments {
            Some(arguments) if arguments.len() > 16 => {}
            _ => ctx.send(chunk),
        }
        Ok(())
    }
}

#[test]
fn a_policy_that_leaks_the_prefix_of_a_call_is_caught_by_no_leak() {
    let broken = broken_by(Law::NoLeak, || LeaksThePrefix);
    assert_eq!(broken.law().name(), "no-leak");
    assert_eq!(broken.expected(), "nothing of block #0, which was dropped, to leave");
}

/// Hides a word where a chunk holds all of it.
struct MatchesPerChunk;

impl SyncPolicy for MatchesPerChunk {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        let hidden = chunk.text().map(|text| text.replace("nobody", "[…]"));
        ctx.send(match hidden {
            Some(text) => chunk.with_text(text),
            None => chunk,
        });
        Ok(())
    }
}

#[test]
fn a_policy_that_looks_for_a_word_in_each_chunk_alone_depends_on_chunking() {
    assert_eq!(caught(|| MatchesPerChunk), "rechunking");
}

/// Sends all of the text so far each time.
#[derive(Default)]
struct Doubles;

impl SyncPolicy for Doubles {
    fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        let so_far =
            state.current_block().and_then(|block| block.as_text()).map(|block| block.text().to_owned());
        ctx.send(match so_far {
            Some(text) => chunk.with_text(text),
            None => chunk,
        });
        Ok(())
    }
}

#[test]
fn a_policy_that_doubles_text_takes_back_what_has_left() {
    assert_eq!(broken_by(Law::Prefix, || Doubles).law().name(), "prefix");
    assert_eq!(caught(|| Doubles), "rechunking");
}

/// Drops what looks too long to it.
struct DecidesBySize;

impl SyncPolicy for DecidesBySize {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        if chunk.text().is_none_or(|text| text.len() < 20) {
            ctx.send(chunk);
        }
        Ok(())
    }
}

#[test]
fn a_policy_that_decides_by_the_size_of_a_chunk_depends_on_chunking() {
    assert_eq!(caught(|| DecidesBySize), "rechunking");
}

/// Counts over all streams, and stops now and then.
#[derive(Default)]
struct SharesState(Arc<AtomicUsize>);

impl SyncPolicy for SharesState {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        if self.0.fetch_add(1, Ordering::Relaxed) % 40 == 39 {
            ctx.terminate(Ending::refuse("enough"));
        } else {
            ctx.send(chunk);
        }
        Ok(())
    }
}

#[test]
fn a_policy_that_shares_state_between_streams_depends_on_the_runs_before() {
    let shared = Arc::new(AtomicUsize::new(0));
    assert_eq!(caught(move || SharesState(Arc::clone(&shared))), "rechunking");
}

/// Keeps all text to itself, out of sight of the limit, and sends it with the last chunk.
#[derive(Default)]
struct Hoards(String);

impl SyncPolicy for Hoards {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        let Some(text) = chunk.text() else {
            ctx.send(chunk);
            return Ok(());
        };
        self.0.push_str(text);
        let all = if text.contains("the end") { std::mem::take(&mut self.0) } else { String::new() };
        ctx.send(chunk.with_text(all));
        Ok(())
    }
}

#[test]
fn a_policy_that_hoards_outside_of_the_limit_has_no_bound() {
    let text = format!("{} this is the end", "All work and no play makes a dull stream. ".repeat(400));
    let log = Script::new().text(text).text_fragments(Fragments::Chars(900)).to_log(WireKind::OpenAiChat);
    let broken = Laws::of(Hoards::default).only(Law::Bound).check(&log).unwrap_err();
    assert_eq!(broken.law().name(), "bound");
}

/// Writes arguments that are no JSON.
struct BreaksArguments;

impl SyncPolicy for BreaksArguments {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        let broken = chunk.arguments().map(|arguments| arguments.replace('}', ""));
        ctx.send(match broken {
            Some(arguments) => chunk.with_arguments(arguments),
            None => chunk,
        });
        Ok(())
    }
}

#[test]
fn a_policy_that_breaks_arguments_leaves_no_valid_stream() {
    assert_eq!(caught(|| BreaksArguments), "ending");
}

/// Waits for something when the client has gone.
struct BlocksInAbort;

impl SyncPolicy for BlocksInAbort {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.send(chunk);
        Ok(())
    }

    fn on_abort(&mut self) {
        std::thread::sleep(Duration::from_secs(6));
    }
}

#[test]
fn a_policy_that_blocks_in_on_abort_cannot_be_dropped() {
    let broken = Laws::of(|| BlocksInAbort).only(Law::Drop).check(&script_of_one()).unwrap_err();
    assert_eq!(broken.law().name(), "drop");
    assert_eq!(broken.found(), "it still runs");
}

/// A stream that is shrunk at once.
fn script_of_one() -> ChunkLog {
    ChunkLog::from_chunks(
        "one",
        [(Duration::ZERO, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n".into())],
    )
}

/// Takes it for granted that arguments are whole.
struct Panics;

impl SyncPolicy for Panics {
    fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.send(chunk);
        for call in state.finished_calls() {
            let arguments: serde_json::Value = serde_json::from_str(call.arguments()).unwrap();
            assert!(arguments["path"].is_string());
        }
        Ok(())
    }
}

#[test]
fn a_policy_that_takes_things_for_granted_panics() {
    let log = Script::new().call("call_1", "now", "").to_log(WireKind::OpenAiChat);
    let broken = Laws::of(|| Panics).only(Law::PanicFree).check(&log).unwrap_err();
    assert_eq!(broken.law().name(), "panic-free");
}

/// Ends the stream, and goes on.
struct SendsAfterTerminate;

#[async_trait]
impl Policy for SendsAfterTerminate {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if state.current_block().is_some_and(|block| block.bytes() > 12) {
            ctx.terminate(Ending::refuse("enough"));
            ctx.send(chunk.with_text("and one more thing"));
            ctx.insert("and another")?;
            ctx.flush();
        } else {
            ctx.send(chunk);
        }
        Ok(())
    }
}

#[test]
fn what_is_sent_after_a_termination_does_not_leave() {
    for kind in WireKind::ALL {
        let log = script().to_log(kind);
        let tally = Laws::of(|| SendsAfterTerminate).only(Law::Ending).check(&log).unwrap();
        assert_eq!(tally.standing(Law::Ending), Some(Standing::Held), "{kind}");
        let view = Replay::new(&log).policy(|| SendsAfterTerminate).run().view();
        assert_eq!(view.choices[0].content, "It is a s", "{kind}");
        assert_eq!((view.choices[0].calls.len(), view.ended), (0, Ended::Refused), "{kind}");
    }
}

/// A format whose writer says something else than it was given: what a policy cannot do, a format of a user can.
#[derive(Debug)]
struct Rewrites(fn(&str) -> String);

impl WireFormat for Rewrites {
    fn name(&self) -> &'static str {
        OpenAiChat.name()
    }

    fn sniff(&self, frame: &Frame) -> bool {
        OpenAiChat.sniff(frame)
    }

    fn decode(&self, frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
        OpenAiChat.decode(frame, into)
    }

    fn sniff_whole(&self, body: &[u8]) -> bool {
        OpenAiChat.sniff_whole(body)
    }

    fn decode_whole(&self, body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
        OpenAiChat.decode_whole(body, into)
    }

    fn finish_word(&self, kind: FinishKind) -> Option<&'static str> {
        OpenAiChat.finish_word(kind)
    }

    fn traits(&self) -> Traits {
        OpenAiChat.traits()
    }

    fn writer(&self, options: &WriterOptions) -> Box<dyn Writer> {
        Box::new(RewritesWriter(OpenAiChat.writer(options), self.0))
    }
}

#[derive(Debug)]
struct RewritesWriter(Box<dyn Writer>, fn(&str) -> String);

impl Writer for RewritesWriter {
    fn frame(&mut self, frame: Outgoing, out: &mut Vec<Bytes>) {
        let before = out.len();
        self.0.frame(frame, out);
        for bytes in &mut out[before..] {
            *bytes = (self.1)(&String::from_utf8_lossy(bytes)).into();
        }
    }

    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        self.0.end(ending, out);
    }

    fn keep_alive(&self) -> Bytes {
        self.0.keep_alive()
    }

    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes {
        self.0.whole(body, ending)
    }

    fn ended(&self) -> bool {
        self.0.ended()
    }
}

#[test]
fn a_writer_that_rewrites_what_nobody_touched_breaks_identity() {
    let trims = |event: &str| event.replace("\"finish_reason\":null", "").replace(",}", "}");
    let config = Config::default().format(Arc::new(Rewrites(trims)));
    let broken = Laws::of(|| policies::AllowAll).config(config).check(&log()).unwrap_err();
    assert_eq!(broken.law().name(), "identity");
}

/// Rule 28: a writer that passes on what some clients read and others do not.
#[test]
fn a_writer_that_passes_odd_frames_on_breaks_agreement() {
    let odd: [fn(&str) -> String; 3] = [
        // A comment, but for clients that end a line at U+2028.
        |event| format!(": ok\u{2028}data: {CALL}\n\n{event}"),
        // The number of another call, but for clients to which 0.0 is no 0.
        |event| {
            event.replace(
                "\"tool_calls\":[{\"index\":0,\"function\"",
                "\"tool_calls\":[{\"index\":0.5,\"function\"",
            )
        },
        // A name again, but for clients that keep the first.
        |event| event.replace("\"function\":{\"arguments\"", "\"function\":{\"name\":\"rm\",\"arguments\""),
    ];
    for (number, odd) in odd.into_iter().enumerate() {
        let config = Config::default().format(Arc::new(Rewrites(odd)));
        let laws = Laws::of(|| policies::HoldCalls).config(config).only(Law::Agreement);
        let Err(broken) = laws.check(&log()) else { panic!("the odd frames {number} are read alike") };
        assert_eq!(broken.law().name(), "agreement");
    }
}

/// A call that nobody released.
const CALL: &str = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":7,"id":"x","type":"function","function":{"name":"rm","arguments":"{}"}}]}}]}"#;

/// Rule 28: clients join the blocks of a channel.
#[test]
fn a_policy_that_looks_into_each_block_alone_breaks_agreement() {
    let log = Script::new()
        .text("It is a sec")
        .call("call_1", "ls", "{}")
        .text("ret.")
        .to_log(WireKind::AnthropicMessages);
    let laws = Laws::of(policies::Redact::default).only(Law::Agreement);
    let broken = laws.check(&log).unwrap_err();
    assert_eq!(broken.law().name(), "agreement");
}

#[test]
fn a_broken_law_can_be_replayed_from_what_it_says() {
    let broken = laws::check(|| MatchesPerChunk, &log()).unwrap_err();
    let again = Laws::of(|| MatchesPerChunk).only(broken.law()).cut(broken.cut()).seed(broken.seed());
    let again = again.check(broken.log()).unwrap_err();
    assert_eq!((again.expected(), again.found()), (broken.expected(), broken.found()));
    assert!(broken.log().bytes().len() < log().bytes().len());
}
