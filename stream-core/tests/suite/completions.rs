//! A stage tells the next that a block is complete: an approved call leaves a chain as early as its slowest policy alone
//! would let it go.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use stream_core::engine::{Input, Output};
use stream_core::{
    Attention, Chain, Chunk, Config, Context, Ending, Engine, Needs, PolicyError, Request, StreamState,
    SyncPolicy, Verdict, each_call, policy_fn,
};
use stream_testkit::{Script, WireKind};

/// Makes the policies of one stream.
type Make = fn() -> Chain;

/// Two calls; the second comes slowly, and is dangerous.
fn script() -> Script {
    Script::new().text("So.").call("call_one", "ls", r#"{"a":1}"#).call(
        "call_two",
        "rm",
        r#"{"path":"/etc"}"#,
    )
}

/// Approves `ls`, and ends the stream at `rm`.
fn gate() -> impl SyncPolicy {
    each_call(|call, _| match call.name() {
        "rm" => Verdict::Terminate(Ending::refuse("no")),
        _ => Verdict::Release,
    })
}

/// Looks at everything and sends it; holds calls until they are complete, as a redactor does.
struct Redactor;

impl SyncPolicy for Redactor {
    fn needs(&self, _: &Request) -> Needs {
        Needs::everything().calls(Attention::Completed)
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        ctx.send(chunk);
        match state.just_completed().filter(|block| block.as_tool_call().is_some()) {
            Some(call) => Ok(ctx.settle(call.key(), Verdict::Release)?),
            None => Ok(()),
        }
    }
}

/// Buffers calls chunk by chunk, and flushes each when it is complete.
fn chunk_by_chunk() -> impl SyncPolicy {
    policy_fn(|chunk, state, ctx| {
        let call = state.just_completed().and_then(|block| block.as_tool_call());
        if chunk.is_tool_call() {
            ctx.buffer(chunk);
        } else {
            ctx.send(chunk);
        }
        if let Some(call) = call {
            ctx.settle(call.key(), Verdict::Release)?;
        }
        Ok(())
    })
}

fn run(engine: &mut Engine) -> String {
    let mut out = Vec::new();
    loop {
        match engine.poll() {
            Output::Bytes(bytes) => out.extend_from_slice(&bytes),
            Output::Hook(hook) => hook.run(Duration::ZERO),
            Output::Judge(judging) => {
                let (ticket, verdict) = judging.now_or_never().unwrap().unwrap();
                engine.handle(Input::Verdict(ticket, verdict), Duration::ZERO);
            }
            Output::Wait { .. } | Output::Done => return String::from_utf8(out).unwrap(),
            other => unreachable!("{other:?}"),
        }
    }
}

/// The bytes up to the event in which the second call opens, and the rest.
fn halves(kind: WireKind) -> (Bytes, Bytes) {
    let body = script().bytes(kind);
    let text = String::from_utf8(body.to_vec()).unwrap();
    let name = text.find("\"rm\"").unwrap();
    let border = |border: &str| text[name..].find(border).map(|at| name + at + border.len());
    let end = border("\r\n\r\n").or_else(|| border("\n\n")).unwrap();
    (body.slice(..end), body.slice(end..))
}

#[test]
fn an_approved_call_leaves_a_chain_while_the_next_one_still_streams_and_is_not_lost_with_it() {
    let chains: [(&str, Make); 2] = [
        ("gate, redactor", || Chain::new().then(gate()).then(Redactor)),
        ("gate, redactor, chunks, redactor", || {
            Chain::new().then(gate()).then(Redactor).then(chunk_by_chunk()).then(Redactor)
        }),
    ];
    for kind in WireKind::ALL {
        let (first, rest) = halves(kind);
        let left = |chain: Make| {
            let mut engine = Engine::new(Config::default(), chain()).unwrap();
            engine.handle(Input::Bytes(first.clone()), Duration::ZERO);
            let before = run(&mut engine);
            engine.handle(Input::Bytes(rest.clone()), Duration::ZERO);
            engine.handle(Input::End, Duration::ZERO);
            (before, run(&mut engine))
        };
        // Gemini's calls are complete when they come, and the second one has ended the stream.
        let alone = left(|| Chain::from(gate()));
        assert!(
            alone.0.contains("\"ls\"") && !alone.0.contains("\"rm\"") && !alone.1.contains("\"rm\""),
            "{kind}"
        );
        for (what, chain) in chains {
            assert_eq!(left(chain), alone, "{kind}, {what}");
        }
    }
}

/// The end of one call and the start of the next stand in one frame: no stage is told of a completion before it has seen all of
/// the block.
#[test]
fn a_call_that_ends_in_the_frame_that_tells_it_is_seen_whole_behind_a_gate() {
    let event = |delta: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]}}\n\n")
    };
    let call = |index: u8, name: &str, arguments: &str| {
        format!(r#"{{"index":{index},{name}"function":{{"arguments":"{arguments}"}}}}"#)
    };
    let open = |index: u8, name: &str, arguments: &str| {
        format!(
            r#"{{"index":{index},"id":"call_{index}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}"#
        )
    };
    let body = [
        event(&format!(r#"{{"tool_calls":[{}]}}"#, open(0, "ls", r#"{\"a\":"#))),
        event(&format!(r#"{{"tool_calls":[{},{}]}}"#, call(0, "", "1}"), open(1, "cat", r#"{\"b\":"#))),
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{}]}},\"finish_reason\":\"tool_calls\"}}]}}\n\n",
            call(1, "", "2}")
        ),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let (sender, seen) = std::sync::mpsc::channel();
    let chain = Chain::new().then(each_call(|_, _| Verdict::Release)).then(each_call(move |call, _| {
        sender.send((call.name().to_owned(), call.arguments().to_owned())).unwrap();
        Verdict::Release
    }));
    let mut engine = Engine::new(Config::default(), chain).unwrap();
    engine.handle(Input::Bytes(body.clone().into()), Duration::ZERO);
    engine.handle(Input::End, Duration::ZERO);
    assert_eq!(run(&mut engine), body);
    let seen: Vec<(String, String)> = seen.try_iter().collect();
    let whole = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
    assert_eq!(seen, [whole("ls", r#"{"a":1}"#), whole("cat", r#"{"b":2}"#)]);
}

/// A stage that does not look at calls cannot know when one is whole: what it takes for complete is not handed on.
#[test]
fn calls_that_take_turns_are_judged_whole_behind_a_stage_that_does_not_look_at_calls() {
    let event = |delta: &str, finish: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
    };
    let open = |index: u8, arguments: &str| {
        format!(
            r#"{{"tool_calls":[{{"index":{index},"id":"call_{index}","type":"function","function":{{"name":"f{index}","arguments":"{arguments}"}}}}]}}"#
        )
    };
    let more = |index: u8, arguments: &str| {
        format!(r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":"{arguments}"}}}}]}}"#)
    };
    let body = [
        event(&open(0, r#"{\"a\":"#), "null"),
        event(&open(1, r#"{\"b\":"#), "null"),
        event(&more(0, "1}"), "null"),
        event(&more(1, "2}"), "null"),
        event("{}", "\"tool_calls\""),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let judged = |first: fn() -> Chain| {
        let (sender, seen) = std::sync::mpsc::channel();
        let chain = first().then(each_call(move |call, _| {
            sender.send((call.name().to_owned(), call.arguments().to_owned())).unwrap();
            Verdict::Release
        }));
        let mut engine = Engine::new(Config::default(), chain).unwrap();
        engine.handle(Input::Bytes(body.clone().into()), Duration::ZERO);
        engine.handle(Input::End, Duration::ZERO);
        let left = run(&mut engine);
        (seen.try_iter().collect::<Vec<(String, String)>>(), left)
    };
    let alone = judged(Chain::new);
    let whole = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
    assert_eq!(alone.0, [whole("f0", r#"{"a":1}"#), whole("f1", r#"{"b":2}"#)]);
    assert_eq!(judged(|| Chain::new().then(Reader)), alone);
}

/// Looks at content alone, and sends it.
struct Reader;

impl SyncPolicy for Reader {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().content(Attention::Chunks)
    }

    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        ctx.send(chunk);
        Ok(())
    }
}
