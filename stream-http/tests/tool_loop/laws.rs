//! The laws over looped streams: ending, rechunking, no leak, prefix, nothing lost, drop, agreement.
//!
//! [Identity](crate::one_answer) and [bound](crate::bounds) have tests of their own. Streams of every API, with loops of
//! several shapes.

use bytes::Bytes;
use http_body_util::BodyExt as _;
use serde_json::json;
use stream_http::tool_loop::{ToolResult, ToolSpec, Tools, function};
use stream_testkit::conformance::{Ended, check};
use stream_testkit::{ChunkLog, Cut, Script, WireKind, models};

use crate::kit::{Looped, adds, done, pieces, request, script};

/// Loops: their name, and what the model says in each turn. The last turn's calls, if any, are the client's.
fn loops() -> Vec<(&'static str, Vec<Script>)> {
    let think = |text: &str| script().reasoning("Hm, hm.").text(text).usage(3, 4);
    let three = "{\"a\":1,\"b\":2}";
    vec![
        ("none", vec![think("It is 5.")]),
        ("one", vec![think("Let me.").call("a", "add", three), done()]),
        ("three", vec![adds(1), adds(2), adds(3), done()]),
        (
            "side-by-side",
            vec![
                think("Let me.").call("a", "add", three).call("b", "fail", "{}").call("c", "add", three),
                done(),
            ],
        ),
        ("silent", vec![script().call("a", "add", three).usage(1, 1), done()]),
        (
            "mixed",
            vec![
                think("Both.").call("a", "own", "{}").call("b", "add", three),
                think("Now you.").call("c", "own", "{\"x\":1}"),
            ],
        ),
    ]
}

/// A model that says these scripts, with its bytes cut like this.
fn cut(kind: WireKind, scripts: &[Script], cut: Cut) -> Looped {
    let answers: Vec<Vec<Bytes>> = scripts
        .iter()
        .map(|script| cut.apply(&script.to_log(kind)).into_iter().map(|(_, piece)| piece).collect())
        .collect();
    Looped::new(move |number| pieces("text/event-stream", answers[number.min(answers.len() - 1)].clone()))
}

/// The texts of all turns, as the client gets them.
fn whole_text(kind: WireKind, scripts: &[Script]) -> String {
    let text = |script: &Script| {
        let body = script.bytes(kind);
        check(kind, &body).view().choices[0].content.clone()
    };
    let texts: Vec<String> = scripts.iter().map(text).filter(|text| !text.is_empty()).collect();
    let is_one_text = matches!(kind, WireKind::OpenAiChat | WireKind::Gemini);
    texts.join(if is_one_text { "\n\n" } else { "" })
}

/// Ending and conformance: one ending that every API takes, and nothing after it. Nothing lost: every text and all
/// reasoning. Agreement: every client model reads that, and only the client's calls.
#[tokio::test]
async fn every_client_reads_one_whole_answer() {
    for kind in WireKind::ALL {
        for (name, scripts) in loops() {
            let answer = cut(kind, &scripts, Cut::Whole).ask(kind, true).await;
            let view = answer.report(kind, true).view().clone();
            assert_eq!(
                (view.ended, view.usage, view.choices.len()),
                (Ended::Clean, true, 1),
                "{kind} {name}"
            );
            let text = whole_text(kind, &scripts);
            assert_eq!(view.choices[0].content, text, "{kind} {name}");
            let thoughts = scripts.iter().map(|script| {
                let body = script.bytes(kind);
                check(kind, &body).view().choices[0].reasoning.clone()
            });
            assert_eq!(view.choices[0].reasoning, thoughts.collect::<String>(), "{kind} {name}");
            let calls: &[models::Call] = match name {
                "mixed" => &[models::Call::function("own", "{\"x\":1}")],
                _ => &[],
            };
            for model in models::of(kind) {
                let reading = model.read(&answer.body);
                assert_eq!(reading.calls, calls, "{kind} {name} {}", model.name());
                assert_eq!(reading.raised, None, "{kind} {name} {}", model.name());
                assert!(reading.says(&text), "{kind} {name} {} {:?}", model.name(), reading.texts);
            }
        }
    }
}

/// Rechunking: the bytes that the client gets do not depend on how those of any turn are cut.
#[tokio::test]
async fn the_bytes_do_not_depend_on_cuts() {
    let size = |bytes| Cut::Size(std::num::NonZeroUsize::new(bytes).unwrap());
    let cuts = [Cut::Byte, Cut::Event, size(7), size(64)].into_iter();
    let cuts: Vec<Cut> = cuts.chain((1..=8).map(|seed| Cut::Random { seed })).collect();
    for kind in WireKind::ALL {
        for (name, scripts) in loops() {
            let whole = cut(kind, &scripts, Cut::Whole).ask(kind, true).await.body;
            for way in &cuts {
                let looped = cut(kind, &scripts, *way);
                assert_eq!(looped.ask(kind, true).await.body, whole, "{kind} {name} {way}");
                assert_eq!(looped.asked().len(), scripts.len(), "{kind} {name} {way}");
            }
        }
    }
}

/// Prefix: what the client has at any time is the start of what it has in the end.
#[tokio::test]
async fn nothing_is_taken_back() {
    for kind in WireKind::ALL {
        for (name, scripts) in loops() {
            let looped = cut(kind, &scripts, Cut::Event);
            let mut body = looped.respond(request(kind, true, &json!({}))).await.into_body();
            let (mut got, mut texts) = (Vec::new(), Vec::new());
            while let Some(frame) = body.frame().await {
                got.extend(frame.unwrap().into_data().unwrap_or_default());
                let report = check(kind, &got);
                texts.extend(report.view().choices.first().map(|choice| choice.content.clone()));
            }
            let whole = whole_text(kind, &scripts);
            assert_eq!(texts.last(), Some(&whole), "{kind} {name}");
            assert!(texts.iter().all(|text| whole.starts_with(text)), "{kind} {name} {texts:?}");
        }
    }
}

/// No leak, ending: wherever a turn breaks off, nothing of a call or a result leaves, and one ending does.
#[tokio::test]
async fn nothing_of_a_call_leaves_wherever_a_turn_breaks_off() {
    const CANARIES: [&str; 4] =
        ["canary_id_7f3a", "canary_tool_7f3a", "canary_arguments_7f3a", "canary_result_7f3a"];
    let calls = || {
        script()
            .text("Let me.")
            .call(CANARIES[0], CANARIES[1], format!(r#"{{"{}":1}}"#, CANARIES[2]))
            .usage(1, 1)
    };
    let result = || function(|_, _| async { ToolResult::text(CANARIES[3]) });
    for kind in WireKind::ALL {
        let turns = [calls().bytes(kind), calls().bytes(kind), done().bytes(kind)];
        let first = turns[0].clone();
        for broken in 0..3 {
            for at in (0..turns[broken].len()).step_by(13).chain([turns[broken].len()]) {
                let turns = turns.clone();
                let mut looped = Looped::new(move |number| {
                    let body = &turns[number];
                    let end = if number == broken { at } else { body.len() };
                    pieces("text/event-stream", vec![body.slice(..end)])
                });
                looped.tools = Tools::new().offer(ToolSpec::new(CANARIES[1], "?"), result()).unwrap();
                let answer = looped.ask(kind, true).await;
                let windows =
                    CANARIES.iter().flat_map(|word| (6..=word.len()).map(|end| &word[end - 6..end]));
                for window in windows {
                    assert!(!answer.text().contains(window), "{kind} {broken} {at} {}", answer.text());
                }
                let report = check(kind, &answer.body);
                let view = report.view();
                // What is left of a first answer without a call is the upstream's, and passes as it came.
                let is_first = broken == 0 && first.starts_with(&answer.body);
                let is_over = matches!(view.ended, Ended::Clean | Ended::Error);
                assert!(is_over || is_first, "{kind} {broken} {at} {:?} {}", view.ended, answer.text());
                assert!(view.choices.iter().all(|choice| choice.calls.is_empty()), "{kind} {broken} {at}");
            }
        }
    }
}

/// Drop: a client may go away at any point. Nothing goes on behind it.
#[tokio::test]
async fn a_stream_may_be_dropped_at_any_point() {
    for kind in WireKind::ALL {
        for (name, scripts) in loops() {
            for frames in 0.. {
                let looped = cut(kind, &scripts, Cut::Event);
                let mut body = looped.respond(request(kind, true, &json!({}))).await.into_body();
                let mut is_over = false;
                for _ in 0..frames {
                    is_over |= body.frame().await.is_none();
                }
                drop(body);
                let before = (looped.asked().len(), looped.runs().len());
                tokio::task::yield_now().await;
                assert_eq!((looped.asked().len(), looped.runs().len()), before, "{kind} {name} {frames}");
                if is_over {
                    break;
                }
            }
        }
    }
}

/// A log of a looped answer is one that `gateway check` and `gateway replay` read.
#[tokio::test]
async fn a_looped_answer_is_a_log_like_any_other() {
    for kind in WireKind::ALL {
        for (name, scripts) in loops() {
            let answer = cut(kind, &scripts, Cut::Whole).ask(kind, true).await;
            let log = ChunkLog::parse("looped.sse", &answer.body).unwrap();
            assert_eq!(log.kind(), Some(kind), "{name}");
            let replayed = stream_testkit::Replay::new(&log).policy(|| stream_core::Passthrough).run();
            assert_eq!(replayed.bytes(), answer.body, "{kind} {name}");
        }
    }
}
