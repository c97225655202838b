//! The page in a real browser.

mod browser;

use std::time::Duration;

use stream_core::{
    Attention, Chunk, Context, Needs, Stage, StreamState, Verdict, each_call_async, policy_fn,
};
use stream_testkit::{Fragments, Replay, Replayed, Script, WireKind};

use self::browser::{Dom, browse};
use super::page;

/// Lets a judge look at every call: `rm` is refused after ten seconds, others are allowed after four.
fn slow_judge() -> Stage {
    let judge = each_call_async(|call, _| {
        let harmful = call.name().starts_with("rm");
        async move {
            tokio::time::sleep(Duration::from_secs(if harmful { 10 } else { 4 })).await;
            Ok(if harmful { Verdict::drop("rm is not allowed here") } else { Verdict::Release })
        }
    });
    Stage::new(judge).named("SlowJudge")
}

/// Shouts.
fn shout() -> Stage {
    let hook = |chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| {
        match chunk.text().map(str::to_uppercase) {
            Some(text) => ctx.send(chunk.with_text(text)),
            None => ctx.send(chunk),
        }
        Ok(())
    };
    Stage::new(policy_fn(hook).needing(Needs::nothing().content(Attention::Chunks))).named("Shout")
}

fn script() -> Script {
    Script::new()
        .pace(Duration::from_millis(30))
        .text_fragments(Fragments::Chars(6))
        .argument_fragments(Fragments::Chars(8))
        .text("I look around first, then I clean up.")
        .call("call_1", "list_files", r#"{"path":"/srv/build"}"#)
        .call("call_2", "rm", r#"{"path":"/srv/build","recursive":true}"#)
        .usage(12, 40)
}

fn render(name: &str, replayed: &Replayed) -> Option<Dom> {
    browse(name, &page(replayed))
}

#[test]
fn a_person_sees_what_was_held_why_and_for_how_long() {
    let log = script().to_log(WireKind::OpenAiChat);
    let replayed = Replay::new(&log).policy(slow_judge).run();
    let Some(dom) = render("judge", &replayed) else { return };
    assert_eq!(dom.text("p id=\"headline\""), "1 block dropped · 2 blocks held back, for up to 10.1 s");
    assert_eq!(
        dom.rows("decided"),
        [
            "dropped|#2 tool call rm {\"path\":\"/srv/build\",\"recursive\":true}|rm is not allowed here|10.1 s|SlowJudge|1348",
            "released|#1 tool call list_files {\"path\":\"/srv/build\"}|–|4.1 s|SlowJudge|917",
        ]
    );
    assert_eq!(
        dom.labels(),
        [
            "upstream 21 chunks",
            "#0 content passed at once",
            "#1 tool call list_files held, released",
            "#2 tool call rm dropped",
            "client 15 chunks",
            "since the request",
        ]
    );
    assert_eq!(dom.told(), ["held 4.1 s, released", "held 10.1 s, dropped: rm is not allowed here"]);
    assert_eq!(
        dom.pairs("client"),
        [
            "ending: the format's own ending",
            "text: I look around first, then I clean up.",
            "call: list_files({\"path\":\"/srv/build\"})",
            "finish: tool_calls",
        ]
    );
}

#[test]
fn a_stream_that_nobody_touched_says_so() {
    let log = script().to_log(WireKind::AnthropicMessages);
    let replayed = Replay::new(&log).run();
    let Some(dom) = render("untouched", &replayed) else { return };
    assert_eq!(
        dom.text("p id=\"headline\""),
        "Nothing was held, dropped or rewritten: the client got what the upstream sent."
    );
    assert_eq!(dom.told(), [""; 0]);
}

#[test]
fn a_chain_tells_the_upstream_s_block_though_an_earlier_policy_dropped_one() {
    let script = Script::new()
        .pace(Duration::from_millis(50))
        .call("call_1", "rm", "{}")
        .text("it is done")
        .text_fragments(Fragments::Chars(4));
    let log = script.to_log(WireKind::OpenAiResponses);
    let replayed = Replay::new(&log).policy(slow_judge).policy(shout).run();
    let Some(dom) = render("chain", &replayed) else { return };
    assert_eq!(
        dom.text("p id=\"headline\""),
        "1 block dropped · 1 block rewritten · 1 block held back, for up to 10.1 s"
    );
    assert_eq!(
        dom.rows("decided")
            .iter()
            .map(|row| row.split('|').take(2).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>(),
        ["dropped #0 tool call rm {}", "rewritten ×3 #1 content it is done"]
    );
}

#[test]
fn a_whole_response_is_one_chunk_with_all_its_blocks() {
    let log = stream_testkit::ChunkLog::from_whole("whole.json", script().whole(WireKind::Gemini));
    let replayed = Replay::new(&log).policy(slow_judge).run();
    let Some(dom) = render("whole", &replayed) else { return };
    assert_eq!(dom.text("p id=\"headline\""), "1 block dropped · 2 blocks held back, for up to 10.0 s");
}

#[test]
fn what_a_model_writes_is_shown_and_never_run() {
    const EVIL: &str = "</script><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">\
                        </style></title><svg onload=\"document.title='run'\">";
    let arguments = serde_json::json!({ "a\"><b onmouseover=x>": EVIL }).to_string();
    let script = Script::new().pace(Duration::from_millis(10)).text(EVIL).reasoning(EVIL).call(
        "call\"><script>",
        "rm</script><img onerror=x>",
        arguments.clone(),
    );
    for kind in WireKind::ALL {
        let replayed = Replay::new(script.to_log(kind)).policy(slow_judge).policy(shout).run();
        let Some(dom) = render(&format!("evil-{kind}"), &replayed) else { return };
        // Whatever would have been run would have changed the title, and left an element behind.
        assert_eq!(dom.text("title"), format!("script.{kind} · replay"));
        for element in ["<script", "<img", "<svg", "<b onmouseover", "<iframe"] {
            assert_eq!(dom.html().matches(element).count(), 0, "{kind} {element}");
        }
        assert_eq!(dom.html().matches("<style").count(), 1);
        let rows = dom.rows("decided");
        let dropped = format!("rm</script><img onerror=x> {}", &arguments[..60]);
        assert_eq!(rows.iter().filter(|row| row.contains(&dropped)).count(), 1, "{kind} {rows:?}");
    }
}

#[test]
fn a_long_stream_still_is_a_page() {
    let mut script = Script::new().text_fragments(Fragments::Chars(2)).text("word ".repeat(4000));
    for number in 0..300 {
        script = script.call(format!("call_{number}"), "rm", "{}");
    }
    let replayed = Replay::new(script.to_log(WireKind::OpenAiChat)).policy(slow_judge).run();
    let page = page(&replayed);
    assert!(page.len() < 4_000_000, "{} bytes", page.len());
    let Some(dom) = browse("long", &page) else { return };
    assert_eq!(dom.text("p id=\"headline\""), "300 blocks dropped · 300 blocks held back, for up to 10.0 s");
}
