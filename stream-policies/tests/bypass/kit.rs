//! A run of one body under one policy, and the events that bodies are made of.

use std::time::Duration;

use bytes::Bytes;
use stream_core::{Action, Config, ErrorKind, Policy, Request, Verdict};
use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings};
use stream_policies::{BufferedJudge, CompletedCall, Rules, ToolGate};
use stream_testkit::conformance::View;
use stream_testkit::{ChunkLog, Cut, Replay, Replayed};

/// What left, and what was decided on the way.
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) edits: Vec<(Action, String)>,
    pub(crate) error: Option<ErrorKind>,
    pub(crate) view: View,
}

impl Ran {
    /// What was decided, but for what left as it came.
    pub(crate) fn edits(&self) -> Vec<(Action, &str)> {
        self.edits.iter().map(|(action, reason)| (*action, reason.as_str())).collect()
    }
}

/// Runs a stream through a policy: in one piece, event by event and byte by byte, with one result.
#[track_caller]
pub(crate) fn run<P: Into<stream_core::Stage>>(
    policy: impl Fn() -> P + Clone + Send + Sync + 'static,
    body: &str,
) -> Ran {
    run_for(Request::new, policy, body)
}

/// As [`run`], for a request.
#[track_caller]
pub(crate) fn run_for<P: Into<stream_core::Stage>>(
    request: impl Fn() -> Request,
    policy: impl Fn() -> P + Clone + Send + Sync + 'static,
    body: &str,
) -> Ran {
    let log = ChunkLog::from_chunks("body", [(Duration::ZERO, Bytes::from(body.to_owned()))]);
    let replay = |cut: Cut| {
        let config = Config::default().request(request());
        Replay::new(&log).cut(cut).config(config).policy(policy.clone()).run()
    };
    let whole = replay(Cut::Whole);
    // Each event in a piece of its own, and the worst that a network can do.
    for cut in [Cut::Event, Cut::Byte] {
        assert_eq!(text(&replay(cut)), text(&whole), "{cut:?}");
    }
    ran(&whole)
}

/// Runs a whole response through a policy.
pub(crate) fn whole<P: Policy + 'static>(policy: impl Fn() -> P + Send + Sync + 'static, body: &str) -> Ran {
    ran(&Replay::new(ChunkLog::from_whole("body", body.to_owned())).policy(policy).run())
}

/// What came of a replay.
pub(crate) fn ran(replayed: &Replayed) -> Ran {
    let edits = replayed.decisions.iter().filter(|decision| decision.is_edit());
    Ran {
        out: text(replayed),
        edits: edits.map(|it| (it.action, it.reason.clone().unwrap_or_default())).collect(),
        error: replayed.outcome.as_ref().and_then(|it| it.error.as_ref()).map(stream_core::Error::kind),
        view: replayed.view(),
    }
}

fn text(replayed: &Replayed) -> String {
    String::from_utf8_lossy(&replayed.bytes()).into_owned()
}

/// The rules that most attacks want to get around: everything may run, but for `bash`.
pub(crate) fn no_bash() -> Rules {
    let settings = RulesSettings::otherwise(Otherwise::Allow);
    settings.deny(Rule::tools(["bash"]).because("no shells")).build().unwrap()
}

/// Everything may run, but for calls with this in their arguments.
pub(crate) fn deny_when(condition: Condition) -> Rules {
    let rule = Rule::tools(["run"]).when(condition).because("not that");
    RulesSettings::otherwise(Otherwise::Allow).deny(rule).build().unwrap()
}

/// Nothing may run, but for calls with this in their arguments.
pub(crate) fn allow_when(condition: Condition) -> Rules {
    let rule = Rule::tools(["run"]).when(condition);
    RulesSettings::otherwise(Otherwise::Deny).allow(rule).build().unwrap()
}

/// Nothing may run.
pub(crate) fn deny_all() -> Rules {
    RulesSettings::otherwise(Otherwise::Deny).build().unwrap()
}

/// Whether the rules let a call of `run` with these arguments go.
pub(crate) fn verdict(rules: &Rules, arguments: &str) -> Verdict {
    rules.verdict(&CompletedCall::new("run", arguments))
}

/// A gate with [`no_bash`].
pub(crate) fn gate() -> ToolGate {
    ToolGate::new(no_bash())
}

/// The buffered judge with [`no_bash`].
pub(crate) fn buffered() -> BufferedJudge {
    BufferedJudge::new(no_bash())
}

/// An event without a name, as chat and Gemini send them.
pub(crate) fn data(json: &str) -> String {
    format!("data: {json}\n\n")
}

/// Events named by their type, as Anthropic and Responses send them.
pub(crate) fn named(events: &[&str]) -> String {
    let event = |json: &&str| {
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        format!("event: {}\ndata: {json}\n\n", value["type"].as_str().unwrap())
    };
    events.iter().map(event).collect()
}

/// The pieces that chat streams are made of.
pub(crate) mod chat {
    use super::data;

    /// A chunk of the first choice.
    pub(crate) fn delta(delta: &str) -> String {
        choice(0, delta)
    }

    /// A chunk of a choice.
    pub(crate) fn choice(index: u32, delta: &str) -> String {
        data(&format!(r#"{{"id":"c","choices":[{{"index":{index},"delta":{delta},"finish_reason":null}}]}}"#))
    }

    /// A chunk with text.
    pub(crate) fn text(text: &str) -> String {
        delta(&format!(r#"{{"role":"assistant","content":"{text}"}}"#))
    }

    /// The entry of a call in a delta. Its arguments are quoted here.
    pub(crate) fn entry(index: u32, id: &str, name: &str, arguments: &str) -> String {
        let arguments = serde_json::Value::from(arguments);
        format!(
            r#"{{"index":{index},"id":"{id}","type":"function","function":{{"name":"{name}","arguments":{arguments}}}}}"#
        )
    }

    /// A call, whole in one chunk.
    pub(crate) fn call(index: u32, id: &str, name: &str, arguments: &str) -> String {
        delta(&format!(r#"{{"tool_calls":[{}]}}"#, entry(index, id, name, arguments)))
    }

    /// The finish of the first choice.
    pub(crate) fn finish(reason: &str) -> String {
        data(&format!(r#"{{"id":"c","choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#))
    }

    /// The finish of the first choice, and the end.
    pub(crate) fn end(reason: &str) -> String {
        finish(reason) + DONE
    }

    pub(crate) const DONE: &str = "data: [DONE]\n\n";

    /// How a stream ends that cannot be read.
    pub(crate) const UNREADABLE: &str = "data: {\"error\":{\"message\":\"the upstream's answer could not be read\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\ndata: [DONE]\n\n";
}

/// The pieces that Anthropic streams are made of.
pub(crate) mod anthropic {
    use super::named;

    /// The opening of a message.
    pub(crate) fn start() -> String {
        start_with("")
    }

    /// The opening of a message that has content already.
    pub(crate) fn start_with(content: &str) -> String {
        named(&[&format!(
            r#"{{"type":"message_start","message":{{"id":"m","type":"message","role":"assistant","model":"x","content":[{content}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}}}"#
        )])
    }

    /// A block that opens like this.
    pub(crate) fn open(index: u32, block: &str) -> String {
        named(&[&format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)])
    }

    /// A delta of a block.
    pub(crate) fn delta(index: u32, delta: &str) -> String {
        named(&[&format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)])
    }

    /// The end of a block.
    pub(crate) fn stop(index: u32) -> String {
        named(&[&format!(r#"{{"type":"content_block_stop","index":{index}}}"#)])
    }

    /// A text block.
    pub(crate) fn text(index: u32, text: &str) -> String {
        open(index, r#"{"type":"text","text":""}"#)
            + &delta(index, &format!(r#"{{"type":"text_delta","text":"{text}"}}"#))
            + &stop(index)
    }

    /// A call. Its input is quoted here.
    pub(crate) fn call(index: u32, id: &str, name: &str, input: &str) -> String {
        let input = serde_json::Value::from(input);
        open(index, &format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#))
            + &delta(index, &format!(r#"{{"type":"input_json_delta","partial_json":{input}}}"#))
            + &stop(index)
    }

    /// The end of a message.
    pub(crate) fn end(reason: &str) -> String {
        let delta = format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":2}}}}"#
        );
        named(&[&delta, r#"{"type":"message_stop"}"#])
    }

    /// How a stream ends that cannot be read.
    pub(crate) fn unreadable() -> String {
        named(&[
            r#"{"type":"error","error":{"type":"api_error","message":"the upstream's answer could not be read"}}"#,
        ])
    }
}

/// The pieces that Responses streams are made of.
pub(crate) mod responses {
    use super::named;

    /// The opening of a response.
    pub(crate) fn created() -> String {
        named(&[
            r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#,
        ])
    }

    /// An item comes.
    pub(crate) fn added(index: u32, item: &str) -> String {
        named(&[&format!(r#"{{"type":"response.output_item.added","output_index":{index},"item":{item}}}"#)])
    }

    /// An item is done.
    pub(crate) fn done(index: u32, item: &str) -> String {
        named(&[&format!(r#"{{"type":"response.output_item.done","output_index":{index},"item":{item}}}"#)])
    }

    /// The end, with all items.
    pub(crate) fn completed(items: &str) -> String {
        named(&[&format!(
            r#"{{"type":"response.completed","response":{{"id":"r","object":"response","status":"completed","output":[{items}]}}}}"#
        )])
    }

    /// How a stream ends that cannot be read.
    pub(crate) fn unreadable() -> String {
        named(&[
            r#"{"type":"error","code":"server_error","message":"the upstream's answer could not be read","param":null}"#,
        ])
    }
}

/// The pieces that Gemini streams are made of.
pub(crate) mod gemini {
    use super::data;

    /// A chunk with these parts.
    pub(crate) fn parts(parts: &str) -> String {
        data(&format!(
            r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0}}],"modelVersion":"x"}}"#
        ))
    }

    /// A chunk with these parts and a finish.
    pub(crate) fn last(parts: &str, reason: &str) -> String {
        data(&format!(
            r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"finishReason":"{reason}","index":0}}],"modelVersion":"x"}}"#
        ))
    }
}
