//! Calls that the model writes as text, under the bundled policies: held, judged, dropped and replaced like any other.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]
#![cfg(feature = "patterns")]

use bytes::Bytes;
use stream_core::text_calls::{Dialect, DialectSet, known};
use stream_core::{Chain, Config, Engine, Policy, Replacement, StreamProcessor, Verdict};
use stream_policies::judge::rules::RulesSettings;
use stream_policies::{
    CompletedCall, PolicySet, PromoteTextCalls, RedactSettings, RewriteTagsSettings, Rules, ToolGate,
    ToolGateSettings, ValidateParametersSettings,
};
use stream_testkit::conformance::{Allow, View};
use stream_testkit::laws::{Law, Laws, Tally};
use stream_testkit::{ChunkLog, Cut, Finish, Fragments, Replay, Replayed, Script, WireKind};

fn dialects() -> Vec<Dialect> {
    vec![
        known::hermes(),
        known::qwen_prompted(),
        known::anthropic(),
        known::qwen3_coder(),
        known::glm(),
        known::mistral_v11(),
        known::deepseek_v3_1(),
        known::kimi_k2(),
        known::lfm2(),
    ]
}

fn config(dialect: &Dialect) -> Config {
    Config::default().text_calls(DialectSet::new().with(dialect.clone()))
}

fn logs(script: &Script) -> Vec<ChunkLog> {
    let of = |kind: WireKind| {
        [script.to_log(kind), ChunkLog::from_whole(format!("whole.{kind}"), script.whole(kind))]
    };
    WireKind::ALL.into_iter().flat_map(of).collect()
}

#[track_caller]
fn seen(replayed: &Replayed) -> View {
    let report = replayed.check(&Allow::none());
    assert!(
        report.is_clean(),
        "{}:\n{report}\n{}",
        replayed.name,
        String::from_utf8_lossy(&replayed.bytes())
    );
    report.view().clone()
}

/// What the client reads of a text, the same in every dialect's every format, streamed and whole.
#[track_caller]
fn content<P: Policy + 'static>(
    dialect: &Dialect,
    text: &str,
    policy: impl Fn() -> P + Clone + Sync + Send + 'static,
) -> String {
    let script = Script::new().text(text).text_fragments(Fragments::Chars(6)).usage(2, 3);
    let mut all = Vec::new();
    for log in logs(&script) {
        let view = seen(&Replay::new(&log).config(config(dialect)).policy(policy.clone()).run());
        all.push(view.choices[0].content.clone());
    }
    all.dedup();
    assert_eq!(all.len(), 1, "{}: {all:#?}", dialect.name());
    all.remove(0)
}

fn no_shell() -> ToolGate {
    ToolGate::new(async |call: CompletedCall| {
        Ok(match call.name() {
            "shell" => stream_core::Verdict::drop("no shell"),
            _ => stream_core::Verdict::Release,
        })
    })
}

#[test]
fn a_gate_drops_a_text_call_with_its_tags_and_lets_the_other_pass_as_it_came() {
    for dialect in dialects() {
        let shell = dialect.write("shell", r#"{"command":"rm -rf"}"#).unwrap();
        let look = dialect.write("look", r#"{"place":"garden"}"#).unwrap();
        let text = format!("Before. {shell} Between. {look} Behind.");
        let expected = format!("Before.  Between. {look} Behind.");
        assert_eq!(content(&dialect, &text, no_shell), expected, "{}", dialect.name());
    }
}

#[test]
fn a_dropped_text_call_leaves_a_notice_in_its_place() {
    let gate = || no_shell().settings(ToolGateSettings::default().notice("[{reason}]"));
    for dialect in dialects() {
        let shell = dialect.write("shell", r#"{"command":"rm -rf"}"#).unwrap();
        let text = format!("Before. {shell} Behind.");
        assert_eq!(content(&dialect, &text, gate), "Before. [no shell] Behind.", "{}", dialect.name());
    }
}

#[test]
fn a_text_call_in_a_fence_or_under_a_name_that_was_not_offered_is_judged_all_the_same() {
    let hermes = known::hermes();
    let shell = hermes.write("shell", r#"{"command":"rm -rf"}"#).unwrap();
    let text = format!("```\n{shell}\n```\n");
    assert_eq!(content(&hermes, &text, no_shell), "```\n\n```\n");
}

#[test]
fn the_validator_recovers_a_parameter_of_a_text_call() {
    let validate = ValidateParametersSettings::new()
        .tool("shell", stream_policies::validate_parameters::ToolSettings::new().required(["command"]))
        .alias("command", ["cmd"])
        .build()
        .unwrap();
    for dialect in dialects() {
        let given = dialect.write("shell", r#"{"cmd":"ls"}"#).unwrap();
        let wanted = dialect.write("shell", r#"{"command":"ls"}"#).unwrap();
        let validate = validate.clone();
        let found = content(&dialect, &format!("So: {given} on."), move || validate.clone());
        assert_eq!(found, format!("So: {wanted} on."), "{}", dialect.name());
    }
}

#[test]
fn a_secret_in_the_arguments_of_a_text_call_is_redacted_and_the_call_stays_one() {
    let redact = RedactSettings::default()
        .pattern(stream_policies::Pattern::literal("bird", "canary"))
        .build()
        .unwrap();
    for dialect in dialects() {
        let given = dialect.write("send", r#"{"body":"a canary sings"}"#).unwrap();
        let wanted = dialect.write("send", r#"{"body":"a [redacted] sings"}"#).unwrap();
        let redact = redact.clone();
        let found = content(&dialect, &format!("So: {given} on."), move || redact.clone());
        assert_eq!(found, format!("So: {wanted} on."), "{}", dialect.name());
    }
}

/// Rule 9 of text calls: rewriting runs behind detection, so that a gate before it still sees the call.
#[test]
fn a_gate_before_the_rewriting_still_judges() {
    let hermes = known::hermes();
    let shell = hermes.write("shell", "{}").unwrap();
    let look = hermes.write("look", "{}").unwrap();
    let script = Script::new().text(format!("{shell}and {look}")).text_fragments(Fragments::Chars(3));
    for log in logs(&script) {
        let rewrite = RewriteTagsSettings::between("X", "Y").build().unwrap();
        let replayed =
            Replay::new(&log).config(config(&hermes)).policy(no_shell).policy(move || rewrite.clone());
        let body =
            look.strip_prefix("<tool_call>").and_then(|rest| rest.strip_suffix("</tool_call>")).unwrap();
        assert_eq!(seen(&replayed.run()).choices[0].content, format!("and X{body}Y"), "{}", log.name());
    }
}

#[test]
fn a_gate_behind_the_promotion_judges_the_structured_call() {
    let hermes = known::hermes();
    let text = format!("{}{}", hermes.write("shell", "{}").unwrap(), hermes.write("look", "{}").unwrap());
    for log in logs(&Script::new().text(format!("So. {text}"))) {
        let replay = Replay::new(&log).config(config(&hermes)).policy(PromoteTextCalls::new).policy(no_shell);
        let replayed = replay.run();
        let view = seen(&replayed);
        let names: Vec<&str> = view.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!((view.choices[0].content.as_str(), names), ("So. ", vec!["look"]), "{}", log.name());
    }
}

/// Rule 7 of text calls: what is cut off is no call, and a gate lets nothing of it leave.
#[test]
fn a_text_call_that_is_cut_off_never_leaves_a_gate_and_the_reason_of_the_cut_survives() {
    let text = r#"So. <tool_call>{"name":"shell","arguments":{"command":"rm -rf /"#;
    let script = Script::new().text(text).text_fragments(Fragments::Chars(5)).finish(Finish::Length);
    for log in logs(&script) {
        let view = seen(&Replay::new(&log).config(config(&known::hermes())).policy(no_shell).run());
        assert_eq!(view.choices[0].content, "So. ", "{}", log.name());
    }
    let log = script.to_log(WireKind::OpenAiChat);
    let view = seen(&Replay::new(&log).config(config(&known::hermes())).policy(no_shell).run());
    assert_eq!(view.choices[0].finish.as_deref(), Some("length"));
}

#[test]
fn a_gate_over_text_calls_keeps_every_law() {
    for dialect in [known::hermes(), known::anthropic(), known::kimi_k2()] {
        let shell = dialect.write("shell", r#"{"command":"remove everything"}"#).unwrap();
        let look = dialect.write("look", r#"{"place":"the garden"}"#).unwrap();
        let text = format!("Opening words {shell} middle words {look} closing words");
        let script = Script::new().text(text).text_fragments(Fragments::Chars(9)).usage(4, 5);
        let mut tally = Tally::default();
        for kind in WireKind::ALL {
            let checked = Laws::of(no_shell).config(config(&dialect)).check(&script.to_log(kind));
            tally.add(&checked.unwrap_or_else(|broken| panic!("{kind}, {}: {broken}", dialect.name())));
        }
        // Every script has a call that is denied, and agreement has nothing to look at in calls that are written as text.
        tally.assert_held_but(&[Law::Identity, Law::Agreement]);
    }
}

#[cfg(feature = "toml")]
#[test]
fn a_file_says_which_dialects_are_looked_for() {
    let set = PolicySet::from_toml(
        r#"
        [text_calls]
        dialects = ["hermes"]

        [[policy]]
        kind = "tool-gate"
        rules = { default = "allow", deny = [{ tools = ["shell"] }] }

        [[policy]]
        kind = "rewrite-tags"
        tags = "ojlk,dfsd"
        "#,
    )
    .unwrap();
    let text = r#"<tool_call>{"name":"shell","arguments":{}}</tool_call>So<tool_call>{"name":"look","arguments":{}}</tool_call>"#;
    let log = Script::new().text(text).to_log(WireKind::OpenAiChat);
    let described = set.describe();
    assert_eq!(described.text_calls(), "calls written as text are looked for: hermes");
    let chain: Chain = set.chain();
    assert_eq!(chain.len(), 2);
    let mut replay = Replay::new(&log).config(set.configure(Config::default(), None)).cut(Cut::Byte);
    for at in 0..chain.len() {
        let set = set.clone();
        replay = replay.policy(move || set.chain().into_iter().nth(at).unwrap());
    }
    assert_eq!(seen(&replay.run()).choices[0].content, r#"Soojlk{"name":"look","arguments":{}}dfsd"#);
}

#[cfg(feature = "toml")]
#[test]
fn a_file_that_rewrites_what_is_never_looked_for_is_refused() {
    for (text, expected) in [
        (
            "[[policy]]\nkind = \"rewrite-tags\"\ntags = \"a,b\"",
            "policy[0]: expected [text_calls] beside the kind rewrite-tags, found none: it would never see a call",
        ),
        (
            "[text_calls]\n[[policy]]\nkind = \"passthrough\"",
            "text_calls: expected `dialects`, `own`, `by_model` or `reasoning`, found none",
        ),
        (
            "[text_calls]\ndialect = [\"hermes\"]\n[[policy]]\nkind = \"passthrough\"",
            "expected a key out of dialects, own, by_model, reasoning, count, found \"dialect\"; did you mean \"dialects\"?",
        ),
    ] {
        let error = PolicySet::from_toml(text).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
    }
}

/// The rules judge a text call by its arguments, as any other.
#[test]
fn rules_see_the_arguments_of_a_text_call() {
    let rules: RulesSettings = serde_json::from_str(
        r#"{"default":"allow","deny":[{"tools":["shell"],"when":[{"at":"/command","glob":"rm *"}]}]}"#,
    )
    .unwrap();
    let rules: Rules = rules.build().unwrap();
    for dialect in dialects() {
        let bad = dialect.write("shell", r#"{"command":"rm -rf /"}"#).unwrap();
        let good = dialect.write("shell", r#"{"command":"ls"}"#).unwrap();
        let gate = ToolGate::new(rules.clone());
        let found = content(&dialect, &format!("{bad}|{good}"), move || gate.clone());
        assert_eq!(found, format!("|{good}"), "{}", dialect.name());
    }
}

/// Runs one answer past a gate; what the client reads.
fn past_the_gate(dialect: &Dialect, text: &str) -> Vec<String> {
    let script = Script::new().text(text).text_fragments(Fragments::Chars(5));
    let read = |log: &ChunkLog| {
        let replayed = Replay::new(log).config(config(dialect)).policy(no_shell).run();
        replayed.view().choices.first().map(|choice| choice.content.clone()).unwrap_or_default()
    };
    let mut all: Vec<String> = logs(&script).iter().map(read).collect();
    all.dedup();
    all
}

#[test]
fn a_call_in_the_value_of_another_is_no_way_past_a_gate() {
    let text = "<tool_call><function=safe><parameter=t>x</function></tool_call><tool_call><function=shell>\
                <parameter=c>/</parameter></function></tool_call>";
    assert_eq!(past_the_gate(&known::qwen3_coder(), text), ["</tool_call>"]);
}

#[test]
fn white_space_of_any_kind_and_length_before_a_call_is_no_way_past_a_gate() {
    let call = r#"{"name":"shell","arguments":{}}</tool_call>"#;
    for space in ["\n".repeat(1100).as_str(), "\u{a0}", "\u{b}", "\u{1c}", "\u{2028}", "\u{3000}", "\u{feff}"]
    {
        let text = format!("<tool_call>{space}{call}");
        assert_eq!(past_the_gate(&known::hermes(), &text), ["[withheld by policy]"], "{space:?}");
    }
}

/// vLLM looks for a name up to the end of its line, takes any type and any blanks, and a message in any channel.
#[test]
fn what_only_a_parser_by_pattern_takes_for_a_call_is_no_way_past_a_gate() {
    let fence = "shell\n```json\n{}\n```<｜tool▁call▁end｜>";
    for (dialect, text) in [
        (known::glm(), "<tool_call>shell\nplease</tool_call>".to_owned()),
        (
            known::glm(),
            "<tool_call>shell\n<arg_key>c</arg_key>x<arg_value>/</arg_value></tool_call>".to_owned(),
        ),
        (known::deepseek_v3(), format!("<｜tool▁call▁begin｜>tool<｜tool▁sep｜>{fence}")),
        (known::deepseek_v3(), format!("<｜tool▁call▁begin｜><｜tool▁sep｜>{fence}")),
        (known::deepseek_v3(), format!("<｜tool▁call▁begin｜>function<｜tool▁sep｜> {fence}")),
        (
            known::deepseek_v3_1(),
            "<｜tool▁call▁begin｜> shell\n<｜tool▁sep｜>{}<｜tool▁call▁end｜>".to_owned(),
        ),
        (known::harmony(), "<|channel|>final to=functions.shell <|message|>{}<|end|>".to_owned()),
    ] {
        for read in past_the_gate(&dialect, &text) {
            assert_eq!(read.find("shell"), None, "{text}: {read}");
        }
    }
}

/// What goes wrong behind a marker loses that marker: the rest is no call to anyone.
#[test]
fn a_call_in_other_quotes_is_no_way_past_a_gate() {
    let text = "<tool_call>{'name': 'shell', 'arguments': {}}</tool_call>";
    let rest = "'name': 'shell', 'arguments': {}}</tool_call>";
    assert_eq!(past_the_gate(&known::hermes(), text), [rest]);
}

/// Rule 19: also where the gate does not look at text, what says it again has to agree.
#[test]
fn a_copy_that_holds_a_call_which_the_text_did_not_is_no_way_past_a_gate() {
    let call = r#"<tool_call>{"name":"shell","arguments":{}}</tool_call>"#;
    let harmless = "-".repeat(call.len());
    let log = Script::new().text(&harmless).to_log(WireKind::OpenAiResponses);
    let quoted = serde_json::to_string(call).unwrap();
    let mut text = String::from_utf8(log.bytes().to_vec()).unwrap();
    let done = text.find("response.output_text.done").unwrap();
    let rest = text.split_off(done).replace(&format!("\"{harmless}\""), &quoted);
    let log = ChunkLog::parse("copies.sse", (text + &rest).as_bytes()).unwrap();
    let out = Replay::new(&log).config(config(&known::hermes())).policy(no_shell).run().bytes();
    assert_eq!(String::from_utf8_lossy(&out).matches("shell").count(), 0);

    let chat = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"text\":{quoted}}}]}}\n\ndata: [DONE]\n\n"
    );
    let log = ChunkLog::parse("chat.sse", chat.as_bytes()).unwrap();
    let out = Replay::new(&log).config(config(&known::hermes())).policy(no_shell).run().bytes();
    assert_eq!(String::from_utf8_lossy(&out).matches("shell").count(), 0);
}

#[test]
fn text_behind_an_error_does_not_finish_a_marker_that_was_begun() {
    let delta = |text: &str| {
        let text = serde_json::to_string(text).unwrap();
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}}}}]}}\n\n")
    };
    let error = "data: {\"error\":{\"message\":\"later\"}}\n\n";
    let rest = r#"_call>{"name":"shell","arguments":{}}</tool_call>"#;
    let stream = format!("{}{error}{}data: [DONE]\n\n", delta("<tool"), delta(rest));
    let log = ChunkLog::parse("error.sse", stream.as_bytes()).unwrap();
    let out = Replay::new(&log).config(config(&known::hermes())).policy(no_shell).run().bytes();
    assert_eq!(String::from_utf8_lossy(&out).matches("shell").count(), 0);
}

#[test]
fn a_tag_that_goes_wrong_in_the_middle_of_a_character_is_no_panic() {
    for (dialect, text) in [
        (known::qwen3_coder(), format!("<function=f><parameter=a{}", "é".repeat(200))),
        (known::dsml(), "<｜DSML｜invoke name=\"f\"><｝ more".to_owned()),
    ] {
        for (gated, log) in
            logs(&Script::new().text(&text)).into_iter().flat_map(|log| [(true, log.clone()), (false, log)])
        {
            let replay = Replay::new(&log).config(config(&dialect));
            if gated {
                assert!(!replay.policy(no_shell).run().bytes().is_empty());
            } else {
                assert_eq!(replay.policy(|| stream_core::Passthrough).run().bytes(), log.bytes());
            }
        }
    }
}

#[test]
fn a_promoted_call_leaves_also_where_no_finish_comes() {
    let call = known::hermes().write("look", "{}").unwrap();
    let text = serde_json::to_string(&format!("So. {call}")).unwrap();
    let stream = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}}}}]}}\n\n");
    let log = ChunkLog::parse("endless.sse", stream.as_bytes()).unwrap();
    let replayed = Replay::new(&log).config(config(&known::hermes())).policy(PromoteTextCalls::new).run();
    let view = replayed.view();
    let choice = &view.choices[0];
    assert_eq!((choice.content.as_str(), choice.calls.len()), ("So. ", 1));
}

/// Lets a call go, and then wants something else in its place.
struct TooLate;

#[stream_core::async_trait]
impl Policy for TooLate {
    async fn on_chunk(
        &mut self,
        chunk: stream_core::Chunk,
        state: &stream_core::StreamState,
        ctx: &mut stream_core::Context<'_>,
    ) -> Result<(), stream_core::PolicyError> {
        if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
            ctx.send(chunk);
            let late = Err(stream_core::EffectError::AlreadyLeft);
            assert_eq!(ctx.settle(call.key(), Verdict::Replace(Replacement::structured("call_1"))), late);
            assert_eq!(
                ctx.settle(call.key(), Verdict::Replace(Replacement::text("text").because("too late"))),
                late
            );
        } else {
            ctx.send(chunk);
        }
        Ok(())
    }
}

#[test]
fn nothing_else_stands_in_place_of_a_call_that_was_let_go() {
    let text = format!("So. {}", known::hermes().write("look", "{}").unwrap());
    for log in logs(&Script::new().text(text)) {
        let replayed = Replay::new(&log).config(config(&known::hermes())).policy(|| TooLate).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{}", log.name());
    }
}

/// A policy that is about calls in the text, in a stream that looks for none, would do nothing: no such stream is built.
#[test]
fn policies_about_calls_in_the_text_are_refused_where_none_are_looked_for() {
    type Make = fn() -> Chain;
    let chains: [(&str, Make); 2] = [
        ("rewrite_tags", || RewriteTagsSettings::tags("<a>,</a>").build().unwrap().into()),
        ("promote_text_calls", || PromoteTextCalls::new().into()),
    ];
    for (name, chain) in chains {
        let expected = format!(
            "expected settings that say which calls are looked for in the text, for {name}; found none: it would never see a \
             call"
        );
        let error = |config: Config| Engine::new(config, chain()).err().map(|error| error.to_string());
        assert_eq!(error(Config::default()), Some(expected.clone()));
        assert_eq!(error(config(&known::hermes())), None);
        let upstream = futures::stream::empty::<Result<Bytes, std::convert::Infallible>>();
        let built = StreamProcessor::builder().chain(chain()).build(upstream);
        assert_eq!(built.err().map(|error| error.to_string()), Some(expected));
    }
}
