//! Many calls in one frame, or open at once: the time for each is flat.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, helpers included")]

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use cpu_time::ThreadTime;
use futures::StreamExt as _;
use stream_core::{Config, Limits, Passthrough, Policy, StreamProcessor, Verdict};
use stream_policies::{BufferedJudge, CompletedCall, FinishGate, ToolGate, ValidateParametersSettings};

/// So many calls in one frame of a format, and the frames around it.
fn calls_in_one_frame(format: &str, calls: usize) -> Bytes {
    let mut list = String::new();
    for n in 0..calls {
        let comma = if n == 0 { "" } else { "," };
        let _ = match format {
            "openai-chat" => write!(
                list,
                r#"{comma}{{"index":{n},"id":"c{n}","type":"function","function":{{"name":"ls","arguments":"{{}}"}}}}"#
            ),
            _ => write!(list, r#"{comma}{{"functionCall":{{"name":"ls","args":{{}}}}}}"#),
        };
    }
    let chat = |delta: &str, finish: &str| {
        format!(
            "data: {{\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    Bytes::from(match format {
        "openai-chat" => {
            chat(&format!("{{\"role\":\"assistant\",\"tool_calls\":[{list}]}}"), "null")
                + &chat("{}", "\"tool_calls\"")
                + "data: [DONE]\n\n"
        }
        _ => format!(
            "data: {{\"candidates\":[{{\"index\":0,\"content\":{{\"role\":\"model\",\"parts\":[{list}]}},\"finishReason\":\"STOP\"}}]}}\n\n"
        ),
    })
}

/// Calls that are all open until the finish: opened one frame each with half of their arguments, ended one frame each.
fn calls_that_take_turns(calls: usize) -> Bytes {
    let mut body = String::new();
    let mut event = |delta: String, finish: &str| {
        let _ = write!(
            body,
            "data: {{\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        );
    };
    for n in 0..calls {
        event(
            format!(
                r#"{{"tool_calls":[{{"index":{n},"id":"c{n}","type":"function","function":{{"name":"ls","arguments":"{{"}}}}]}}"#
            ),
            "null",
        );
    }
    for n in 0..calls {
        event(format!(r#"{{"tool_calls":[{{"index":{n},"function":{{"arguments":"}}"}}}}]}}"#), "null");
    }
    event("{}".to_owned(), "\"tool_calls\"");
    (body + "data: [DONE]\n\n").into()
}

/// Calls that all open in one frame and all end in the next.
fn turns_in_two_frames(calls: usize) -> Bytes {
    let list = |each: &dyn Fn(usize) -> String| (0..calls).map(each).collect::<Vec<_>>().join(",");
    let open = list(&|n| {
        format!(
            r#"{{"index":{n},"id":"c{n}","type":"function","function":{{"name":"ls","arguments":"{{"}}}}"#
        )
    });
    let more = list(&|n| format!(r#"{{"index":{n},"function":{{"arguments":"}}"}}}}"#));
    let event = |calls: &str, finish: &str| {
        format!(
            "data: {{\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{calls}]}},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    [event(&open, "null"), event(&more, "\"tool_calls\""), "data: [DONE]\n\n".to_owned()].concat().into()
}

/// How long a body takes on average of some runs, with what came out of each.
fn time(body: &Bytes, runs: u32, policy: impl Fn() -> Box<dyn Policy>) -> (Duration, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limits = Limits::default().blocks(1 << 20).held(1 << 30).policy(Duration::from_secs(600));
    // The thread's own time: other work on the machine does not count.
    let (started, mut left) = (ThreadTime::now(), 0);
    for _ in 0..runs {
        let upstream = futures::stream::iter([Ok::<_, std::convert::Infallible>(body.clone())]);
        let config = Config::default().limits(limits);
        let processor = StreamProcessor::builder().config(config).policy(policy()).build(upstream).unwrap();
        left = runtime.block_on(processor.fold(0, async |sum, bytes| sum + bytes.len()));
    }
    (started.elapsed() / runs, left)
}

type Make = fn() -> Box<dyn Policy>;
type Shape = fn(usize) -> Bytes;

fn policies() -> Vec<(&'static str, Make)> {
    vec![
        ("passthrough", || Box::new(Passthrough)),
        ("tool-gate", || Box::new(ToolGate::new(async |_: CompletedCall| Ok(Verdict::Release)))),
        ("buffered-judge", || Box::new(BufferedJudge::new(async |_: CompletedCall| Ok(Verdict::Release)))),
        ("finish-gate", || Box::new(FinishGate::new())),
        ("validate-parameters", || Box::new(ValidateParametersSettings::new().build().unwrap())),
    ]
}

/// A shape of calls, and how many bytes of it leave.
const BODIES: [(&str, Shape); 4] = [
    ("openai-chat, one frame", |calls| calls_in_one_frame("openai-chat", calls)),
    ("gemini, one frame", |calls| calls_in_one_frame("gemini", calls)),
    ("openai-chat, taking turns", calls_that_take_turns),
    ("openai-chat, two frames taking turns", turns_in_two_frames),
];

/// The seconds that each of so many calls takes.
fn each(name: &str, shape: &str, body: Shape, calls: usize, runs: u32, policy: Make) -> f64 {
    let body = body(calls);
    let (time, out) = time(&body, runs, policy);
    // Calls that take turns leave one behind the other where a policy looks at them (rule 28).
    if name == "passthrough" || !shape.ends_with("taking turns") {
        assert_eq!(out, body.len(), "{name}, {shape}: every byte leaves");
    }
    time.as_secs_f64() / f64::from(u32::try_from(calls).unwrap())
}

/// Where each of many calls takes more than 3 times as long as each of 1,000, in the best of some tries: a machine that does
/// other work, too, slows one try and not all of them.
fn slow(policies: Vec<(&'static str, Make)>, bodies: &[(&str, Shape)], large: usize) -> Vec<String> {
    let small: usize = 1_000;
    let mut slow = Vec::new();
    for (name, policy) in policies {
        for (shape, body) in bodies {
            let mut best = f64::INFINITY;
            for _ in 0..TRIES {
                let few = each(name, shape, *body, small, 8, policy);
                let many = each(name, shape, *body, large, 1, policy);
                println!(
                    "{name:20} {shape:28} {:8.2} µs for one of {small}, {:8.2} µs for one of {large}, × {:.2}",
                    few * 1e6,
                    many * 1e6,
                    many / few
                );
                best = best.min(many / few);
                if best <= 3.0 {
                    break;
                }
            }
            if best > 3.0 {
                slow.push(format!("{name}, {shape}: × {best:.1}"));
            }
        }
    }
    slow
}

/// How often a time is taken before it counts as too long.
const TRIES: usize = 4;

/// 64,000 calls of one frame take at most 3 times as long for each as 1,000.
#[test]
fn completing_64_000_calls_of_one_frame_is_linear() {
    assert_eq!(slow(policies(), &BODIES[..2], 64_000), [""; 0]);
}

#[test]
fn completing_many_calls_that_take_turns_is_linear() {
    let large = if cfg!(debug_assertions) { 16_000 } else { 64_000 };
    assert_eq!(slow(policies(), &BODIES[2..], large), [""; 0]);
}
