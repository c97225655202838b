//! Limits, deadlines, sizes, cancellation, and what the client sees meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::json;
use stream_core::Limits;
use stream_http::Settings;
use stream_http::tool_loop::{AtLimit, ToolResult, ToolSpec, Tools, function};
use stream_testkit::WireKind;
use stream_testkit::conformance::{Ended, check};

use crate::kit::{Looped, adds, done, request, script};

/// A model that never stops calling is stopped, in the API's own words, without a call that dangles.
#[tokio::test]
async fn an_endless_loop_ends_at_its_limit() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let looped = Looped::scripts(kind, streamed, vec![adds(1)]);
            let answer = looped.ask(kind, streamed).await;
            let report = answer.report(kind, streamed);
            let choice = &report.view().choices[0];
            assert_eq!((choice.calls.len(), choice.finish.as_deref()), (0, Some(cut_short(kind))), "{kind}");
            assert_eq!(choice.content.matches("Step 1.").count(), 6, "{kind}");
            assert_eq!((looped.asked().len(), looped.runs().len()), (6, 5));
            let counts = crate::one_answer::counts(kind, answer.text(), streamed);
            assert_eq!(counts, (60, 6), "{kind}");
        }
    }
}

/// An answer that would say nothing says which limit was reached.
#[tokio::test]
async fn an_empty_answer_says_why() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let calls = script().call("c", "add", r#"{"a":1,"b":2}"#).usage(1, 1);
            let looped =
                Looped::scripts(kind, streamed, vec![calls]).settings(|settings| settings.max_iterations(1));
            let answer = looped.ask(kind, streamed).await;
            let report = answer.report(kind, streamed);
            assert_eq!(report.view().choices[0].content, "[the limit of tool runs was reached]", "{kind}");
        }
    }
}

#[tokio::test]
async fn a_limit_can_be_an_error() {
    for kind in WireKind::ALL {
        let looped = Looped::scripts(kind, true, vec![adds(1)])
            .settings(|settings| settings.max_iterations(1).at_limit(AtLimit::Error));
        let answer = looped.ask(kind, true).await;
        let report = check(kind, &answer.body);
        assert_eq!(report.view().ended, Ended::Error, "{kind}");
        assert_eq!(answer.text().matches("the limit of tool runs was reached").count(), 1);
        let looped = Looped::scripts(kind, false, vec![adds(1)])
            .settings(|settings| settings.max_iterations(1).at_limit(AtLimit::Error));
        let answer = looped.ask(kind, false).await;
        assert_eq!(answer.status.as_u16(), 502);
    }
}

/// A slow, failed or panicking tool becomes a result that says so; calls of one turn run side by side.
#[tokio::test(start_paused = true)]
async fn a_failed_or_slow_tool_becomes_a_result() {
    let kind = WireKind::OpenAiChat;
    let calls = script()
        .call("1", "slow", "{}")
        .call("2", "fail", "{}")
        .call("3", "panic", "{}")
        .call("4", "slow", "{}")
        .call("5", "add", r#"{"a":1,"b":1}"#);
    let looped = Looped::scripts(kind, true, vec![calls, done()]);
    let start = tokio::time::Instant::now();
    looped.ask(kind, true).await;
    assert_eq!(start.elapsed().as_secs(), 30);
    let contents: Vec<_> = looped.asked()[1]["messages"].as_array().unwrap()[2..]
        .iter()
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    let late = "the tool did not answer within 30s and was stopped";
    assert_eq!(contents, [late, "no such file", "the tool failed", late, "2"]);
    let mut outcomes: Vec<_> = looped.runs().into_iter().map(|(tool, _, outcome)| (tool, outcome)).collect();
    outcomes.sort();
    let outcome = |tool: &str, outcome: &str| (tool.to_owned(), outcome.to_owned());
    assert_eq!(
        outcomes,
        [
            outcome("add", "ok"),
            outcome("fail", "failed"),
            outcome("panic", "failed"),
            outcome("slow", "timed_out"),
            outcome("slow", "timed_out"),
        ]
    );
}

/// A result of 50 MB reaches the model cut, and says so.
#[tokio::test]
async fn a_result_of_50_megabytes_is_cut() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let calls = script().call("c", "huge", "{}");
            let mut looped = Looped::scripts(kind, streamed, vec![calls, done()]);
            let huge = function(|_, _| async { ToolResult::text("ä".repeat(25 << 20)) });
            looped.tools = Tools::new().offer(ToolSpec::new("huge", ""), huge).unwrap();
            let looped = looped.settings(|settings| settings.result_bytes(9));
            let answer = looped.ask(kind, streamed).await;
            assert_eq!(answer.report(kind, streamed).view().choices[0].content, "It is 5.");
            let asked = looped.asked()[1].to_string();
            let result = r"ääää\n[cut: the result has 52428800 bytes, of which 8 are shown]";
            assert_eq!(asked.matches(result).count(), 1, "{kind}");
            assert_eq!(looped.runs(), [("huge".to_owned(), 1, "cut".to_owned())]);
        }
    }
}

/// Time and bytes of the whole loop are bounded.
#[tokio::test(start_paused = true)]
async fn time_and_bytes_are_bounded() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let slow = script().text("Wait.").call("c", "slow", "{}").usage(1, 1);
            let looped = Looped::scripts(kind, streamed, vec![slow])
                .settings(|settings| settings.total_time(Duration::from_secs(40)));
            let answer = looped.ask(kind, streamed).await;
            let report = answer.report(kind, streamed);
            assert_eq!(report.view().choices[0].finish.as_deref(), Some(cut_short(kind)), "{kind}");
            let outcomes: Vec<_> = looped.runs().into_iter().map(|(_, _, outcome)| outcome).collect();
            assert_eq!(outcomes, ["timed_out", "cancelled"]);
            let looped =
                Looped::scripts(kind, streamed, vec![adds(1)]).settings(|settings| settings.total_bytes(10));
            looped.ask(kind, streamed).await;
            assert_eq!((looped.asked().len(), looped.runs().len()), (1, 0), "{kind}");
        }
    }
}

/// Results that take the loop over its bytes end it as the settings say: the model is not asked again.
#[tokio::test]
async fn results_beyond_the_bytes_of_the_loop_end_it() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let calls = script().text("Wait.").call("c", "big", "{}").usage(1, 1);
            let mut looped = Looped::scripts(kind, streamed, vec![calls, done()]);
            let big = function(|_, _| async { ToolResult::text("x".repeat(100_000)) });
            looped.tools = Tools::new().offer(ToolSpec::new("big", ""), big).unwrap();
            let looped = looped.settings(|settings| settings.total_bytes(50_000));
            let report = looped.ask(kind, streamed).await.report(kind, streamed);
            let choice = &report.view().choices[0];
            assert_eq!((choice.content.as_str(), choice.finish.as_deref()), ("Wait.", Some(cut_short(kind))));
            assert_eq!(looped.asked().len(), 1, "{kind}");
        }
    }
}

/// A long first answer without calls passes, whatever the loop's limit is.
#[tokio::test]
async fn a_long_answer_without_calls_is_not_bounded_by_the_loop() {
    for kind in WireKind::ALL {
        let long = script().text("word ".repeat(1000)).usage(1, 1);
        let looped =
            Looped::scripts(kind, true, vec![long.clone()]).settings(|settings| settings.total_bytes(2000));
        assert_eq!(looped.ask(kind, true).await.body, long.bytes(kind), "{kind}");
    }
}

/// Rule 23: while tools run, the client gets keep-alives that its SDK accepts.
#[tokio::test(start_paused = true)]
async fn a_client_gets_keep_alives_while_tools_run() {
    for (kind, keep_alive) in [
        (WireKind::OpenAiChat, ": keep-alive\n\n"),
        (WireKind::OpenAiResponses, ": keep-alive\n\n"),
        (WireKind::AnthropicMessages, "event: ping\ndata: {\"type\": \"ping\"}\n\n"),
        (WireKind::Gemini, "\n"),
    ] {
        let slow = script().text("Wait.").call("c", "slow", "{}").usage(1, 1);
        let mut looped = Looped::scripts(kind, true, vec![slow, done()])
            .settings(|settings| settings.deadline(Duration::from_secs(35)));
        looped.routes = Settings::new().limits(Limits::default().keep_alive(Some(Duration::from_secs(10))));
        let mut body = looped.respond(request(kind, true, &json!({}))).await.into_body();
        let mut alive = 0;
        let mut all = Vec::new();
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            alive += usize::from(data == keep_alive);
            all.extend(data);
        }
        assert_eq!(alive, 3, "{kind}");
        assert_eq!(check(kind, &all).to_string(), "", "{kind}");
    }
}

/// A notice is a text of its own.
#[tokio::test]
async fn a_notice_is_a_line_of_text_for_each_call() {
    for kind in WireKind::ALL {
        let two =
            script().text("Let me.").call("a", "add", r#"{"a":1,"b":1}"#).call("b", "fail", "{}").usage(1, 1);
        let looped = Looped::scripts(kind, true, vec![two, done()])
            .settings(|settings| settings.notice("[running {tool}]").separator("\n"));
        let answer = looped.ask(kind, true).await;
        let report = answer.report(kind, true);
        let text = report.view().choices[0].content.replace('\n', "");
        assert_eq!(text, "Let me.[running add][running fail]It is 5.", "{kind}");
        let separators = if matches!(kind, WireKind::OpenAiChat | WireKind::Gemini) { 3 } else { 0 };
        assert_eq!(report.view().choices[0].content.matches('\n').count(), separators, "{kind}");
    }
}

/// A client that goes away while a tool runs cancels the tool.
#[tokio::test]
async fn a_client_that_goes_away_cancels_its_tools() {
    struct Gone(Arc<AtomicBool>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let gone = Arc::new(AtomicBool::new(false));
            let told = Arc::clone(&gone);
            let waits = function(move |_, _| {
                let gone = Gone(Arc::clone(&told));
                async move {
                    let _gone = gone;
                    futures::future::pending::<ToolResult>().await
                }
            });
            let mut looped = Looped::scripts(kind, streamed, vec![script().call("c", "waits", "{}")]);
            looped.tools = Tools::new().offer(ToolSpec::new("waits", ""), waits).unwrap();
            let reading = async {
                let mut body = looped.respond(request(kind, streamed, &json!({}))).await.into_body();
                while body.frame().await.is_some() {}
            };
            assert!(tokio::time::timeout(Duration::from_millis(50), reading).await.is_err());
            assert!(gone.load(Ordering::SeqCst), "{kind}");
            assert_eq!(looped.runs(), [("waits".to_owned(), 1, "cancelled".to_owned())]);
        }
    }
}

fn cut_short(kind: WireKind) -> &'static str {
    match kind {
        WireKind::OpenAiChat => "length",
        WireKind::OpenAiResponses => "incomplete",
        WireKind::AnthropicMessages => "max_tokens",
        WireKind::Gemini => "MAX_TOKENS",
    }
}
