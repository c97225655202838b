//! Many calls in one frame, or open at once: the time for each is flat.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, helpers included")]

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use bytes::Bytes;
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

/// The time that this thread was given by the processor: that of other work on the machine does not count.
fn worked() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse().ok());
    match nanoseconds {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => STARTED.elapsed(),
    }
}

static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

/// How long a body takes on average of some runs, with what came out of each.
fn time(body: &Bytes, runs: u32, policy: impl Fn() -> Box<dyn Policy>) -> (Duration, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limits = Limits::default().blocks(1 << 20).held(1 << 30).policy(Duration::from_secs(600));
    let (started, mut left) = (worked(), 0);
    for _ in 0..runs {
        let upstream = futures::stream::iter([Ok::<_, std::convert::Infallible>(body.clone())]);
        let config = Config::default().limits(limits);
        let processor = StreamProcessor::builder().config(config).policy(policy()).build(upstream).unwrap();
        left = runtime.block_on(processor.fold(0, async |sum, bytes| sum + bytes.len()));
    }
    (worked().saturating_sub(started) / runs, left)
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

/// Cost per call stays flat: 64,000 calls take at most 3 times as long for each as 1,000.
#[test]
fn completing_many_calls_is_linear() {
    let small: usize = 1_000;
    let large = if cfg!(debug_assertions) { 16_000 } else { 64_000 };
    let bodies: [(&str, Shape); 4] = [
        ("openai-chat, one frame", |calls| calls_in_one_frame("openai-chat", calls)),
        ("gemini, one frame", |calls| calls_in_one_frame("gemini", calls)),
        ("openai-chat, taking turns", calls_that_take_turns),
        ("openai-chat, two frames taking turns", turns_in_two_frames),
    ];
    let mut slow = Vec::new();
    for (name, policy) in policies() {
        for (shape, body) in bodies {
            let of = |calls: usize| {
                let body = body(calls);
                let (time, out) = time(&body, if calls == small { 24 } else { 2 }, policy);
                // Calls that take turns leave one behind the other where a policy looks at them (rule 28).
                if name == "passthrough" || !shape.ends_with("taking turns") {
                    assert_eq!(out, body.len(), "{name}, {shape}: every byte leaves");
                }
                time.as_secs_f64() / f64::from(u32::try_from(calls).unwrap())
            };
            let (few, many) = (of(small), of(large));
            println!(
                "{name:20} {shape:28} {:8.2} µs for one of {small}, {:8.2} µs for one of {large}, × {:.2}",
                few * 1e6,
                many * 1e6,
                many / few
            );
            if many > 3.0 * few {
                slow.push(format!("{name}, {shape}: × {:.1}", many / few));
            }
        }
    }
    assert_eq!(slow, [""; 0]);
}
