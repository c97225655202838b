//! Many calls in one frame, or open at once: the time for each is flat.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, helpers included")]

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use cpu_time::ThreadTime;
use futures::StreamExt as _;
use stream_core::{Config, Limits, Passthrough, Policy, StreamProcessor, Verdict};
use stream_policies::{
    BufferedJudge, CompletedCall, DemoteCalls, FinishGate, ToolGate, ValidateParametersSettings,
};

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

/// An event named by its type.
fn named(kind: &str, rest: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n")
}

/// A message of Anthropic's around these events, with these blocks in its opening.
fn message(content: &str, events: &str) -> Bytes {
    let opening = format!(
        r#","message":{{"id":"m","type":"message","role":"assistant","model":"x","content":[{content}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
    );
    let finish = r#","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}"#;
    let ends = named("message_delta", finish) + &named("message_stop", "");
    [named("message_start", &opening), events.to_owned(), ends].concat().into()
}

/// The start and the one delta of a block.
fn block(number: usize, start: &str, delta: &str) -> String {
    named("content_block_start", &format!(r#","index":{number},"content_block":{start}"#))
        + &named("content_block_delta", &format!(r#","index":{number},"delta":{delta}"#))
}

fn text_block(number: usize) -> String {
    block(number, r#"{"type":"text","text":""}"#, r#"{"type":"text_delta","text":"hi"}"#)
}

fn call_block(number: usize) -> String {
    let start = format!(r#"{{"type":"tool_use","id":"t{number}","name":"ls","input":{{}}}}"#);
    block(number, &start, r#"{"type":"input_json_delta","partial_json":"{}"}"#)
}

fn block_stop(number: usize) -> String {
    named("content_block_stop", &format!(r#","index":{number}"#))
}

/// A response around these events, with these items at its end.
fn response(events: &str, items: &str) -> Bytes {
    let response = |status: &str, items: &str| {
        format!(r#","response":{{"id":"r","object":"response","status":"{status}","output":[{items}]}}"#)
    };
    let (opening, end) = (response("in_progress", ""), response("completed", items));
    [named("response.created", &opening), events.to_owned(), named("response.completed", &end)]
        .concat()
        .into()
}

fn item(number: usize, arguments: &str) -> String {
    format!(
        r#"{{"type":"function_call","id":"f{number}","call_id":"c{number}","name":"ls","arguments":"{arguments}"}}"#
    )
}

/// An item that opens, with its arguments.
fn open_item(number: usize) -> String {
    let opening = format!(r#","output_index":{number},"item":{}"#, item(number, ""));
    let delta = format!(r#","item_id":"f{number}","output_index":{number},"delta":"{{}}""#);
    named("response.output_item.added", &opening) + &named("response.function_call_arguments.delta", &delta)
}

fn done_item(number: usize) -> String {
    let done = format!(r#","output_index":{number},"item":{}"#, item(number, "{}"));
    named("response.output_item.done", &done)
}

/// An item of text with one part, which opens and speaks.
fn open_message(number: usize) -> String {
    let place = format!(r#","item_id":"m{number}","output_index":{number},"content_index":0"#);
    let opening = format!(
        r#","output_index":{number},"item":{{"type":"message","id":"m{number}","role":"assistant","status":"in_progress","content":[]}}"#
    );
    let part = format!(r#"{place},"part":{{"type":"output_text","text":"","annotations":[]}}"#);
    named("response.output_item.added", &opening)
        + &named("response.content_part.added", &part)
        + &named("response.output_text.delta", &format!(r#"{place},"delta":"hi""#))
}

/// Each of so many things, one behind the other.
fn each_of(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
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

/// A shape of calls, and whether every byte of it leaves. Calls that take turns leave one behind the other where a policy looks at
/// them (rule 28).
const BODIES: [(&str, Shape, bool); 4] = [
    ("openai-chat, one frame", |calls| calls_in_one_frame("openai-chat", calls), true),
    ("gemini, one frame", |calls| calls_in_one_frame("gemini", calls), true),
    ("openai-chat, taking turns", calls_that_take_turns, false),
    ("openai-chat, two frames taking turns", turns_in_two_frames, false),
];

/// Blocks, items and calls of which all are open at once, come one by one, or stand in one frame. Every byte of them leaves.
const OPEN: [(&str, Shape, bool); 11] = [
    ("anthropic, open texts", |count| message("", &each_of(count, text_block)), true),
    ("anthropic, open calls", |count| message("", &each_of(count, call_block)), true),
    (
        "anthropic, texts stopped in order",
        |count| message("", &(each_of(count, text_block) + &each_of(count, block_stop))),
        true,
    ),
    (
        "anthropic, calls stopped in order",
        |count| message("", &(each_of(count, call_block) + &each_of(count, block_stop))),
        true,
    ),
    (
        "anthropic, calls one by one",
        |count| message("", &each_of(count, |number| call_block(number) + &block_stop(number))),
        true,
    ),
    (
        "anthropic, one frame",
        |count| {
            let text = |_| r#"{"type":"text","text":"hi"}"#.to_owned();
            message(&(0..count).map(text).collect::<Vec<_>>().join(","), "")
        },
        true,
    ),
    (
        "responses, open calls",
        |count| response(&(each_of(count, open_item) + &each_of(count, done_item)), &items(count)),
        true,
    ),
    (
        "responses, calls one by one",
        |count| response(&each_of(count, |number| open_item(number) + &done_item(number)), &items(count)),
        true,
    ),
    ("responses, open texts", |count| response(&each_of(count, open_message), ""), true),
    ("responses, one frame", |count| response("", &items(count)), true),
    (
        "gemini, one by one",
        |count| {
            let call = calls_in_one_frame("gemini", 1);
            let call = String::from_utf8(call.to_vec()).unwrap();
            let part = call.replace(r#","finishReason":"STOP""#, "");
            (each_of(count - 1, |_| part.clone()) + &call).into()
        },
        true,
    ),
];

fn items(count: usize) -> String {
    (0..count).map(|number| item(number, "{}")).collect::<Vec<_>>().join(",")
}

/// The seconds that each of so many calls takes.
fn each(name: &str, shape: &str, body: Shape, leaves: bool, calls: usize, runs: u32, policy: Make) -> f64 {
    let body = body(calls);
    let (time, out) = time(&body, runs, policy);
    if name == "passthrough" || leaves {
        assert_eq!(out, body.len(), "{name}, {shape}: every byte leaves");
    }
    time.as_secs_f64() / f64::from(u32::try_from(calls).unwrap())
}

/// Where each of many calls takes more than 3 times as long as each of 1,000, in the best of some tries: a machine that does
/// other work, too, slows one try and not all of them.
fn slow(policies: &[(&'static str, Make)], bodies: &[(&str, Shape, bool)], large: usize) -> Vec<String> {
    let small: usize = 1_000;
    let mut slow = Vec::new();
    for (name, policy) in policies {
        for (shape, body, leaves) in bodies {
            let mut best = f64::INFINITY;
            for _ in 0..TRIES {
                let few = each(name, shape, *body, *leaves, small, 8, *policy);
                let many = each(name, shape, *body, *leaves, large, 1, *policy);
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
    assert_eq!(slow(&policies(), &BODIES[..2], 64_000), [""; 0]);
}

/// Policies that write a text in the place of each call.
#[test]
fn a_text_for_each_of_64_000_calls_of_one_frame_is_linear() {
    let policies: [(&str, Make); 2] = [
        ("tool-gate with notices", || {
            let denies = async |_: CompletedCall| {
                Ok(Verdict::Drop { reason: "no".into(), notice: Some("[no]".into()) })
            };
            Box::new(ToolGate::new(denies))
        }),
        ("demote-calls", || Box::new(DemoteCalls::to(stream_core::text_calls::known::hermes()))),
    ];
    let bodies = [BODIES[0], BODIES[1]].map(|(shape, body, _)| (shape, body, false));
    assert_eq!(slow(&policies, &bodies, 64_000), [""; 0]);
}

#[test]
fn completing_many_calls_that_take_turns_is_linear() {
    assert_eq!(slow(&policies(), &BODIES[2..], LARGE), [""; 0]);
}

/// As many blocks, items and calls as a stream may have, in every format: open at once, one by one, and in one frame.
#[cfg(feature = "patterns")]
#[test]
fn many_open_blocks_are_linear() {
    let gate = || -> Box<dyn Policy> {
        let rules = stream_policies::judge::rules::RulesSettings::otherwise(
            stream_policies::judge::rules::Otherwise::Allow,
        );
        Box::new(ToolGate::new(rules.build().unwrap()))
    };
    let redact = || -> Box<dyn Policy> {
        static REDACT: std::sync::LazyLock<stream_policies::Redact> = std::sync::LazyLock::new(|| {
            let secret = stream_policies::Pattern::regex("s", "SECRET-[0-9]{4}");
            stream_policies::RedactSettings::default().pattern(secret).build().unwrap()
        });
        Box::new(REDACT.clone())
    };
    let policies: [(&str, Make); 2] = [("tool-gate", gate), ("redact", redact)];
    assert_eq!(slow(&policies, &OPEN, LARGE), [""; 0]);
    assert_eq!(slow(&policies, &BODIES, LARGE), [""; 0]);
}

/// How many there are of what is many.
const LARGE: usize = if cfg!(debug_assertions) { 16_000 } else { 64_000 };
