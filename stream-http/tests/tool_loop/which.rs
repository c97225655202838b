//! Which calls are run: judged ones, finished ones, the proxy's.

use serde_json::json;
use stream_core::{
    Chunk, Context, Ending, Policy, PolicyError, Replacement, StreamState, Verdict, async_trait,
};
use stream_http::Plan;
use stream_http::tool_loop::Clash;
use stream_testkit::conformance::Ended;
use stream_testkit::{Finish, Script, WireKind};

use crate::kit::{Looped, adds, done, request, script, separator};

/// Holds calls; `drop` never leaves, `add` leaves with other numbers.
struct Gate;

#[async_trait]
impl Policy for Gate {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        match state.just_completed().and_then(|block| block.as_tool_call()) {
            Some(call) if call.arguments().contains("drop") => {
                ctx.settle(call.key(), Verdict::drop("discarded"))?;
            }
            Some(call) if call.arguments().contains("rewrite") => {
                ctx.settle(call.key(), Verdict::Replace(Replacement::arguments(r#"{"a":40,"b":2}"#)))?;
            }
            Some(call) => ctx.settle(call.key(), Verdict::Release)?,
            None if chunk.is_tool_call() => ctx.buffer(chunk),
            None => ctx.send(chunk),
        }
        Ok(())
    }
}

/// What a gate drops is never run: the answer ends with the text that is left.
#[tokio::test]
async fn a_turn_whose_calls_are_all_dropped_is_the_last() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let dropped = script().text("Let me.").call("c", "add", r#"{"a":1,"drop":1}"#).usage(1, 1);
            let looped = Looped::scripts(kind, streamed, vec![dropped]).plan(|_| Plan::new().policy(Gate));
            let answer = looped.ask(kind, streamed).await;
            let report = answer.report(kind, streamed);
            assert_eq!(report.view().choices[0].content, "Let me.");
            assert_eq!((looped.runs().len(), looped.asked().len()), (0, 1), "{kind}");
        }
    }
}

/// What a gate rewrites is run rewritten.
#[tokio::test]
async fn a_rewritten_call_is_run_rewritten() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let call = script().call("c", "add", r#"{"a":1,"rewrite":1}"#);
            let looped =
                Looped::scripts(kind, streamed, vec![call, done()]).plan(|_| Plan::new().policy(Gate));
            looped.ask(kind, streamed).await;
            let meant = script().call("c", "add", r#"{"a":40,"b":2}"#);
            let as_meant = Looped::scripts(kind, streamed, vec![meant, done()]);
            as_meant.ask(kind, streamed).await;
            assert_eq!(looped.asked(), as_meant.asked(), "{kind} {streamed}");
        }
    }
}

/// Writes texts in capitals, and ends an answer that says "stop".
struct Shout;

#[async_trait]
impl Policy for Shout {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        match chunk.text().map(str::to_uppercase) {
            Some(text) if text.contains("STOP") => ctx.terminate(Ending::refuse("no")),
            Some(text) => ctx.send(chunk.with_text(text)),
            None => ctx.send(chunk),
        }
        Ok(())
    }
}

/// Every turn's text is policed like the first.
#[tokio::test]
async fn every_turn_is_policed() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let looped = Looped::scripts(kind, streamed, vec![adds(1), adds(2), done()])
                .plan(|_| Plan::new().policy(Shout));
            let answer = looped.ask(kind, streamed).await;
            let report = answer.report(kind, streamed);
            let text = report.view().choices[0].content.replace('\n', "");
            assert_eq!(text, "STEP 1.STEP 2.IT IS 5.", "{kind}");
        }
    }
}

/// An answer that a policy ends is the last: its ending is the client's, and there are no more turns.
#[tokio::test]
async fn an_answer_that_a_policy_ends_is_the_last() {
    for kind in WireKind::ALL {
        let stops = Script::new().text("Hm.").text("stop").call("c", "add", r#"{"a":1,"b":1}"#).usage(1, 1);
        let looped = Looped::scripts(kind, true, vec![adds(1), stops]).plan(|_| Plan::new().policy(Shout));
        let answer = looped.ask(kind, true).await;
        let report = answer.report(kind, true);
        let text = report.view().choices[0].content.replace('\n', "");
        assert_eq!(report.view().ended, Ended::Refused, "{kind}");
        assert_eq!(text, "STEP 1.HM.", "{kind}");
        assert_eq!((looped.asked().len(), looped.runs().len()), (2, 1), "{kind}");
        assert_eq!(report.view().choices[0].calls.len(), 0, "{kind}");
    }
}

/// Requests that are not chosen pass as they came, and are offered nothing.
#[tokio::test]
async fn only_chosen_requests_are_looped() {
    let kind = WireKind::OpenAiChat;
    for (model, is_looped) in [("m", true), ("other", false)] {
        let mut looped = Looped::scripts(kind, true, vec![adds(1), done()]);
        looped.when = Some("m");
        let answer = looped.send(request(kind, true, &json!({"model": model}))).await;
        assert_eq!(looped.asked().len(), if is_looped { 2 } else { 1 });
        assert_eq!(looped.asked()[0].get("tools").is_some(), is_looped);
        assert_eq!(answer.body == adds(1).bytes(kind), !is_looped);
    }
}

/// Rule 3: a call that was cut off by a length limit or a filter is never run, and never dangles.
#[tokio::test]
async fn a_call_that_is_cut_off_is_neither_run_nor_shown() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            for finish in [Finish::Length, Finish::Filter] {
                let cut =
                    script().text("Let me.").call("c", "add", r#"{"a":1,"b":2}"#).finish(finish).usage(1, 1);
                let looped = Looped::scripts(kind, streamed, vec![cut]);
                let answer = looped.ask(kind, streamed).await;
                let report = answer.report(kind, streamed);
                let choice = &report.view().choices[0];
                assert_eq!((choice.content.as_str(), choice.calls.len()), ("Let me.", 0), "{kind}");
                assert_eq!((looped.runs().len(), looped.asked().len()), (0, 1), "{kind}");
            }
        }
    }
}

/// Calls of other tools are the client's, and leave as they came.
#[tokio::test]
async fn the_clients_calls_pass_untouched() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let theirs = script().text("Let me.").call("c", "own", r#"{"x":1}"#).usage(1, 1);
            let looped = Looped::scripts(kind, streamed, vec![theirs.clone()]);
            let answer = looped.ask(kind, streamed).await;
            assert_eq!(answer.body, if streamed { theirs.bytes(kind) } else { theirs.whole(kind) }, "{kind}");
        }
    }
}

/// After a turn of the proxy's, a turn with the client's calls is the last: text, then the calls.
#[tokio::test]
async fn a_client_gets_its_calls_after_the_proxy_ran_its_own() {
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let theirs = script().text("Now you.").call("c", "own", r#"{"x":1}"#).usage(1, 1);
            let looped = Looped::scripts(kind, streamed, vec![adds(1), theirs]);
            let answer = looped.ask(kind, streamed).await;
            let report = answer.report(kind, streamed);
            let choice = &report.view().choices[0];
            let calls: Vec<_> =
                choice.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
            assert_eq!(calls, [("own", r#"{"x":1}"#)], "{kind}");
            assert_eq!(choice.content, format!("Step 1.{}Now you.", separator(kind)), "{kind} {streamed}");
        }
    }
}

/// A turn that mixes both: the proxy's are run, the client's are answered with a sentence, and the model asks again.
#[tokio::test]
async fn a_mixed_turn_gives_nothing_to_the_client() {
    let sentence = "this call was not run: it is run by the client, which gets calls only in a turn that has no others; \
                    call it again, alone or with calls of its kind";
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let mixed =
                script().call("a", "own", r#"{"x":1}"#).call("b", "add", r#"{"a":1,"b":1}"#).usage(1, 1);
            let theirs = script().call("c", "own", r#"{"x":1}"#).usage(1, 1);
            let looped = Looped::scripts(kind, streamed, vec![mixed, theirs]);
            let answer = looped.ask(kind, streamed).await;
            let report = answer.report(kind, streamed);
            let calls: Vec<_> = report.view().choices[0].calls.iter().map(|call| call.id.as_str()).collect();
            assert_eq!(calls, ["c"], "{kind}");
            assert_eq!(looped.runs(), [("add".to_owned(), 1, "ok".to_owned())]);
            let asked = looped.asked()[1].to_string();
            assert_eq!(asked.matches(sentence).count(), 1, "{kind} {asked}");
        }
    }
}

/// Tools that the client offers are the client's, or its request is refused; those of a glob are taken over.
#[tokio::test]
async fn a_clash_of_names_has_one_outcome() {
    let kind = WireKind::OpenAiChat;
    let more = json!({"tools": [{"type": "function", "function": {"name": "add"}}]});
    let looped = Looped::scripts(kind, false, vec![adds(1)]);
    let answer = looped.send(request(kind, false, &more)).await;
    assert_eq!(answer.body, adds(1).whole(kind));
    let looped = looped.settings(|settings| settings.clash(Clash::Refuse));
    let answer = looped.send(request(kind, false, &more)).await;
    assert_eq!(
        (answer.status.as_u16(), answer.text()),
        (
            400,
            r#"{"error":{"message":"expected tools of the client's own, found add, which the gateway runs","type":"invalid_request_error","param":null,"code":null}}"#
        )
    );
    let more = json!({"tools": [{"type": "function", "function": {"name": "echo_it"}}]});
    let says = script().call("c", "echo_it", r#"{"text":"hello"}"#);
    let looped = Looped::scripts(kind, false, vec![says, done()]);
    looped.send(request(kind, false, &more)).await;
    assert_eq!(looped.runs(), [("echo*".to_owned(), 1, "ok".to_owned())]);
}

/// A request for several answers is passed as it came: each would have to go on by itself.
#[tokio::test]
async fn a_request_for_several_choices_is_not_looped() {
    for (kind, more) in [
        (WireKind::OpenAiChat, json!({"n": 2})),
        (WireKind::Gemini, json!({"generationConfig": {"candidateCount": 2}})),
        (WireKind::OpenAiResponses, json!({"background": true})),
    ] {
        let looped = Looped::scripts(kind, false, vec![adds(1)]);
        let answer = looped.send(request(kind, false, &more)).await;
        assert_eq!(answer.body, adds(1).whole(kind), "{kind}");
        assert_eq!(looped.asked()[0].get("tools"), None);
    }
}

/// Calls whose arguments can be read in two ways, or are not whole, are refused; the model is told.
#[tokio::test]
async fn a_call_without_one_meaning_is_not_run() {
    let kind = WireKind::OpenAiChat;
    let twice = script().call("c", "add", r#"{"a":1,"a":2,"b":1}"#);
    let looped = Looped::scripts(kind, true, vec![twice, done()]);
    let answer = looped.ask(kind, true).await;
    assert_eq!(answer.report(kind, true).view().ended, Ended::Clean);
    assert_eq!(looped.runs(), [("add".to_owned(), 1, "refused".to_owned())]);
    assert_eq!(
        looped.asked()[1]["messages"][2]["content"],
        "this call was not run: its arguments are not one whole JSON value that says each thing once"
    );
}

/// A forced choice is free again once tools have run, or the loop would never end.
#[tokio::test]
async fn a_forced_choice_is_free_after_the_first_turn() {
    for (kind, key, forced, free) in [
        (WireKind::OpenAiChat, "tool_choice", json!("required"), json!("auto")),
        (
            WireKind::OpenAiChat,
            "tool_choice",
            json!({"type": "function", "function": {"name": "add"}}),
            json!("auto"),
        ),
        (WireKind::OpenAiChat, "tool_choice", json!("none"), json!("none")),
        (WireKind::OpenAiResponses, "tool_choice", json!({"type": "function", "name": "add"}), json!("auto")),
        (
            WireKind::OpenAiResponses,
            "tool_choice",
            json!({"type": "allowed_tools", "mode": "required", "tools": []}),
            json!({"type": "allowed_tools", "mode": "auto", "tools": []}),
        ),
        (WireKind::AnthropicMessages, "tool_choice", json!({"type": "any"}), json!({"type": "auto"})),
        (
            WireKind::AnthropicMessages,
            "tool_choice",
            json!({"type": "tool", "name": "add"}),
            json!({"type": "auto"}),
        ),
        (
            WireKind::Gemini,
            "toolConfig",
            json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["add"]}}),
            json!({"functionCallingConfig": {"mode": "AUTO"}}),
        ),
    ] {
        let looped = Looped::scripts(kind, false, vec![adds(1), done()]);
        looped.send(request(kind, false, &json!({key: forced}))).await;
        let asked = looped.asked();
        assert_eq!((&asked[0][key], &asked[1][key]), (&forced, &free), "{kind}");
    }
}
