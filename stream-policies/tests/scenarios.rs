//! The scenarios of the systems this grew from, as far as they concern gates. Each test is named after one.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use stream_core::{Assembler, Verdict};
use stream_policies::finish_gate::Release;
use stream_policies::{BufferedJudge, CompletedCall, FinishGate, FinishGateSettings, ToolGate};
use stream_testkit::conformance::{CallView, Ended};
use stream_testkit::models::Call;
use stream_testkit::{ChunkLog, Finish, Fragments, Replay, Replayed, Script, WireKind, models};

/// A command as it streams: every prefix of it was once run by somebody.
fn command() -> Script {
    Script::new()
        .call("call_1", "shell", r#"{"cmd":"ls -la"}"#)
        .argument_fragments(Fragments::Chars(3))
        .pace(Duration::from_millis(10))
}

fn calls(replayed: &Replayed) -> Vec<CallView> {
    replayed.view().choices.into_iter().flat_map(|choice| choice.calls).collect()
}

fn ids(replayed: &Replayed) -> Vec<String> {
    calls(replayed).into_iter().map(|call| call.id).collect()
}

/// When the client first sees this text.
fn seen(replayed: &Replayed, text: &str) -> Option<Duration> {
    let mut all = String::new();
    replayed.output.iter().find_map(|(at, piece)| {
        all += &String::from_utf8_lossy(piece);
        all.contains(text).then_some(*at)
    })
}

/// The events of a chat stream.
fn chat(deltas: &[&str]) -> ChunkLog {
    let events = deltas.iter().map(|choice| {
        let event = format!(r#"{{"id":"1","object":"chat.completion.chunk","choices":[{choice}]}}"#);
        (Duration::ZERO, Bytes::from(format!("data: {event}\n\n")))
    });
    let done = (Duration::ZERO, Bytes::from("data: [DONE]\n\n"));
    ChunkLog::from_chunks("chat", events.chain([done]))
}

/// The `in` that was no command: at no time does the client hold a call whose arguments could be run and are not whole.
#[test]
fn partial_json_never_executed() {
    for kind in WireKind::ALL {
        let log = command().to_log(kind);
        let allow = || ToolGate::new(async |_: CompletedCall| Ok(Verdict::Release));
        for cut in 0..log.bytes().len() {
            let replayed = Replay::new(&log).policy(allow).end_after(cut).run();
            for call in calls(&replayed) {
                assert_eq!(call.arguments, r#"{"cmd":"ls -la"}"#, "{kind} cut at {cut}");
            }
        }
    }
    // Valid JSON of a call that was never meant: the limit of tokens cut it off.
    let script = Script::new().call("call_1", "shell", r#"{"cmd":"in"}"#).finish(Finish::Length);
    for kind in WireKind::ALL {
        assert_eq!(calls(&Replay::new(script.to_log(kind)).policy(FinishGate::new).run()), [], "{kind}");
    }
}

#[test]
fn content_block_delta_buffering_with_ids_kept() {
    let script = Script::new()
        .text("Let me look.")
        .call("toolu_1", "read_file", r#"{"path":"a.txt"}"#)
        .call("toolu_2", "read_file", r#"{"path":"b.txt"}"#)
        .argument_fragments(Fragments::Chars(4));
    let log = script.to_log(WireKind::AnthropicMessages);
    let allow = || ToolGate::new(async |_: CompletedCall| Ok(Verdict::Release));
    let replayed = Replay::new(&log).policy(allow).run();
    assert_eq!(replayed.bytes(), log.bytes());
    // With the first one gone, the second keeps its id and takes its index.
    let second = || {
        ToolGate::new(async |call: CompletedCall| match call.id() {
            Some("toolu_1") => Ok(Verdict::drop("not this one")),
            _ => Ok(Verdict::Release),
        })
    };
    let replayed = Replay::new(&log).policy(second).run();
    assert_eq!(ids(&replayed), ["toolu_2"]);
    assert_eq!(calls(&replayed)[0].arguments, r#"{"path":"b.txt"}"#);
}

#[test]
fn is_complete_but_not_is_finished_until_the_finish_reason() {
    let log = chat(&[
        r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"a","arguments":"{}"}}]}}"#,
        r#"{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"b","arguments":"{}"}}]}}"#,
        r#"{"index":0,"delta":{},"finish_reason":"tool_calls"}"#,
    ]);
    let mut assembler = Assembler::new();
    let mut told = Vec::new();
    for (_, piece) in log.chunks() {
        assembler.push(&piece).unwrap();
        let calls = assembler.state().tool_calls();
        told.push(calls.map(|call| (call.is_complete(), call.is_finished())).collect::<Vec<_>>());
    }
    assert_eq!(
        told,
        [
            vec![(false, false)],
            vec![(true, false), (false, false)],
            vec![(true, true), (true, true)],
            vec![(true, true), (true, true)],
        ]
    );
}

#[test]
fn finish_marking_all_calls() {
    let script = Script::new()
        .call("call_1", "a", r#"{"x":1}"#)
        .call("call_2", "b", r#"{"x":2}"#)
        .call("call_3", "c", "")
        .pace(Duration::from_millis(10));
    for kind in WireKind::ALL {
        let log = script.to_log(kind);
        let replayed = Replay::new(&log).policy(FinishGate::new).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{kind}");
        // All leave at once.
        let at: Vec<_> = ["call_1", "call_2", "call_3"].map(|id| seen(&replayed, id)).into();
        assert!(at[0].is_some(), "{kind}");
        assert_eq!(at, [at[0]; 3], "{kind}");
    }
}

#[test]
fn incomplete_arguments_never_finished() {
    let script = Script::new().call("call_1", "shell", r#"{"cmd":"ls"#);
    for kind in [WireKind::OpenAiChat, WireKind::OpenAiResponses, WireKind::AnthropicMessages] {
        let partial = || FinishGate::new().settings(FinishGateSettings::default().release(Release::Complete));
        assert_eq!(calls(&Replay::new(script.to_log(kind)).policy(FinishGate::new).run()), [], "{kind}");
        assert_eq!(calls(&Replay::new(script.to_log(kind)).policy(partial).run()), [], "{kind}");
    }
}

#[test]
fn empty_arguments_valid() {
    let script = Script::new().call("call_1", "now", "");
    for kind in WireKind::ALL {
        let log = script.to_log(kind);
        let replayed = Replay::new(&log).policy(FinishGate::new).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{kind}");
        assert_eq!(ids(&replayed), ["call_1"], "{kind}");
    }
}

#[test]
fn parallel_calls() {
    let script = Script::new()
        .call("call_1", "read_file", r#"{"path":"a"}"#)
        .call("call_2", "shell", r#"{"cmd":"rm"}"#)
        .call("call_3", "read_file", r#"{"path":"b"}"#)
        .calls_in_one_chunk();
    let reader = || {
        ToolGate::new(async |call: CompletedCall| match call.name() {
            "read_file" => Ok(Verdict::Release),
            _ => Ok(Verdict::drop("no")),
        })
    };
    for kind in WireKind::ALL {
        for log in [script.to_log(kind), ChunkLog::from_whole("whole", script.whole(kind))] {
            let replayed = Replay::new(&log).policy(reader).run();
            assert_eq!(ids(&replayed), ["call_1", "call_3"], "{kind} {}", log.name());
        }
    }
}

#[test]
fn non_streaming_immediate_finish() {
    let script = Script::new().text("Sure.").call("call_1", "shell", r#"{"cmd":"ls"}"#);
    for kind in WireKind::ALL {
        let log = ChunkLog::from_whole("whole", script.whole(kind));
        let replayed = Replay::new(&log).policy(FinishGate::new).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{kind}");
        assert_eq!(replayed.output[0].0, Duration::ZERO, "{kind}");
    }
}

#[test]
fn block_on_just_completed() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    for kind in WireKind::ALL {
        let asked = Arc::clone(&asked);
        let judge = move || {
            let asked = Arc::clone(&asked);
            BufferedJudge::new(move |call: CompletedCall| {
                asked.lock().unwrap().push(call.arguments().to_owned());
                async { Ok(Verdict::drop("blocked")) }
            })
        };
        let replayed = Replay::new(command().to_log(kind)).policy(judge).run();
        assert_eq!(calls(&replayed), [], "{kind}");
        assert_eq!(replayed.view().ended, Ended::Refused, "{kind}");
    }
    // Asked once each, with all of the arguments.
    assert_eq!(*asked.lock().unwrap(), [r#"{"cmd":"ls -la"}"#; 4]);
}

#[test]
fn flush_after_approval() {
    let script = command().text("Let me see.").text_fragments(Fragments::Chars(4));
    for kind in WireKind::ALL {
        let log = script.to_log(kind);
        let allow = || BufferedJudge::new(async |_: CompletedCall| Ok(Verdict::Release));
        assert_eq!(Replay::new(&log).policy(allow).run().bytes(), log.bytes(), "{kind}");
    }
}

/// Each call waits on its own: a slow verdict on the first choice's call does not hold the second's.
#[test]
fn per_call_buffers() {
    let script = Script::new()
        .call("call_1", "slow", r#"{"x":1}"#)
        .choice(1)
        .call("call_2", "fast", r#"{"x":2}"#)
        .argument_fragments(Fragments::Chars(2))
        .interleaved();
    let judge = || {
        ToolGate::new(async |call: CompletedCall| {
            let time = if call.name() == "slow" { 200 } else { 50 };
            tokio::time::sleep(Duration::from_millis(time)).await;
            Ok(Verdict::Release)
        })
    };
    let log = script.to_log(WireKind::OpenAiChat);
    let replayed = Replay::new(&log).policy(judge).run();
    assert_eq!(seen(&replayed, "call_2"), Some(Duration::from_millis(50)));
    assert_eq!(seen(&replayed, "call_1"), Some(Duration::from_millis(200)));
    assert_eq!(calls(&replayed), calls(&Replay::new(&log).run()));
}

/// Deltas of two calls take turns (open A, open B, more of A, more of B): each is judged with all of its arguments, and what
/// was allowed leaves as it came; in chat one call behind the other, so that every client reads both (rule 28).
#[test]
fn interleaved_calls_are_judged_each_with_all_of_its_arguments() {
    let turn = || {
        let script = Script::new().argument_fragments(Fragments::Chars(3)).interleaved().text("So.");
        script.call("call_1", "ls", r#"{"path":"a"}"#).call("call_2", "rm", r#"{"path":"b"}"#)
    };
    for kind in WireKind::ALL {
        let log = turn().to_log(kind);
        let asked = Arc::new(Mutex::new(Vec::new()));
        let gate = |denied: &'static str| {
            let asked = Arc::clone(&asked);
            move || {
                let asked = Arc::clone(&asked);
                ToolGate::new(move |call: CompletedCall| {
                    asked.lock().unwrap().push((call.name().to_owned(), call.arguments().to_owned()));
                    let deny = call.name() == denied;
                    async move { Ok(if deny { Verdict::drop("no") } else { Verdict::Release }) }
                })
            }
        };
        let replayed = Replay::new(&log).policy(gate("none")).run();
        if kind == WireKind::OpenAiChat {
            let both = [Call::function("ls", r#"{"path":"a"}"#), Call::function("rm", r#"{"path":"b"}"#)];
            for model in models::of(kind) {
                assert_eq!(model.read(&replayed.bytes()).calls, both, "{}", model.name());
            }
        } else {
            assert_eq!(replayed.bytes(), log.bytes(), "{kind}");
        }
        let both = [
            ("ls".to_owned(), r#"{"path":"a"}"#.to_owned()),
            ("rm".to_owned(), r#"{"path":"b"}"#.to_owned()),
        ];
        assert_eq!(*asked.lock().unwrap(), both, "{kind}");
        let replayed = Replay::new(&log).policy(gate("rm")).run();
        assert_eq!(ids(&replayed), ["call_1"], "{kind}");
        assert_eq!(calls(&replayed)[0].arguments, r#"{"path":"a"}"#, "{kind}");
    }
}
