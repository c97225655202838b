//! Judges that are asked over a network, and attempts that are counted there.

use std::time::Duration;

use stream_core::{Request, SessionKey};
use stream_testkit::Script;

use super::row::Row;

pub(super) fn rows() -> Vec<Row> {
    let gates = ["tool-gate", "buffered-judge"].into_iter().flat_map(|kind| {
        let webhook = endpoint(kind, "webhook", "webhook = { url = \"http://$URL\"# }");
        let model = "model = { model = \"judge\", endpoint = { url = \"http://$URL\"# } }";
        let model = endpoint(kind, "model.endpoint", model);
        [webhook, model, model_rows(kind), vec![cache(kind)]].into_iter().flatten()
    });
    gates.chain(attempts()).chain([deadline()]).collect()
}

fn call() -> Script {
    Script::new().text("So.").call("call_1", "rm", r#"{"path":"/a"}"#)
}

const ALLOW: &str = r#"{"verdict":"allow"}"#;
const DENY: &str = r#"{"verdict":"deny"}"#;

fn allows() -> String {
    ALLOW.to_owned()
}

fn risk(risk: f64) -> String {
    let content = format!("{{\"risk\":{risk}}}");
    serde_json::json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] }).to_string()
}

/// The answer of whoever is asked: a webhook's question has the key `flavor`, that of a model does not.
fn answer(question: &str) -> String {
    if question.contains("\"flavor\"") { allows() } else { risk(0.1) }
}

fn endpoint(kind: &str, key: &str, judge: &str) -> Vec<Row> {
    let row = |name: &str, keys: [&str; 2], oracle: fn(&str, usize) -> String| {
        let file = format!("[[policy]]\nkind = \"{kind}\"\n{}\n", judge.replace('#', "@"));
        Row::new(format!("{kind}.{key}.{name}"), &file, keys, call()).asking(oracle)
    };
    let url = format!("[[policy]]\nkind = \"{kind}\"\n{}\n", judge.replace('#', ", attempts = 1"));
    let url = url.replace("\"http://$URL\"", "@");
    vec![
        Row::new(format!("{kind}.{key}.url"), &url, ["\"http://$URL\"", "\"http://127.0.0.1:1\""], call())
            .asking(|question, _| answer(question)),
        row("headers", [", headers = { x-key = \"k\" }", ""], |question, _| {
            let known = question.to_ascii_lowercase().contains("x-key: k");
            if known { answer(question) } else { DENY.to_owned() }
        }),
        row("deadline", [", deadline = \"100ms\"", ""], |question, _| {
            std::thread::sleep(Duration::from_millis(400));
            answer(question)
        }),
        row(
            "attempts",
            [", attempts = 1", ""],
            |question, before| {
                if before == 0 { String::new() } else { answer(question) }
            },
        ),
        row(
            "pause",
            [", deadline = \"500ms\", pause = \"5s\"", ", deadline = \"500ms\""],
            |question, before| {
                if before == 0 { String::new() } else { answer(question) }
            },
        ),
    ]
}

fn model_rows(kind: &str) -> Vec<Row> {
    let row = |key: &str, keys: &str, values: [&str; 2], oracle: fn(&str, usize) -> String| {
        let file = format!(
            "[[policy]]\nkind = \"{kind}\"\nmodel = {{ endpoint = {{ url = \"http://$URL\" }}, {keys} }}\n"
        );
        Row::new(format!("{kind}.model.{key}"), &file, values, call()).asking(oracle)
    };
    vec![
        row("model", "model = @", ["\"kind\"", "\"strict\""], |question, _| {
            risk(if question.contains("\"strict\"") { 0.9 } else { 0.1 })
        }),
        row("prompt", "model = \"judge\"@", [", prompt = \"Is it mild? {arguments}\"", ""], |question, _| {
            risk(if question.contains("mild") { 0.1 } else { 0.9 })
        }),
        row("threshold", "model = \"judge\"@", [", threshold = 0.2", ""], |_, _| risk(0.3)),
    ]
}

/// The second question is answered otherwise, if it is asked.
fn cache(kind: &str) -> Row {
    let file = format!("[[policy]]\nkind = \"{kind}\"\nwebhook = {{ url = \"http://$URL\" }}\n@\n");
    // The first verdict is there before the second call is complete.
    let twice = call().call("call_2", "rm", r#"{"path":"/a"}"#).pause(Duration::from_millis(400));
    Row::new(format!("{kind}.cache"), &file, ["cache = 10", ""], twice)
        .asking(|_, before| if before == 0 { allows() } else { DENY.to_owned() })
}

fn deadline() -> Row {
    let file = "[[policy]]\nkind = \"tool-gate\"\nwebhook = { url = \"http://$URL\" }\n@\n";
    Row::new("tool-gate.deadline", file, ["deadline = \"100ms\"", ""], call()).asking(|_, _| {
        std::thread::sleep(Duration::from_millis(400));
        allows()
    })
}

fn attempts() -> Vec<Row> {
    let row = |key: &str, keys: &str, values: [&str; 2], oracle: fn(&str, usize) -> String| {
        let file = format!(
            "[[policy]]\nkind = \"validate-parameters\"\nbudget = 5\nattempts = {{ {keys} }}\n\
             [policy.tools.rm]\nrequired = [\"command\"]\n"
        );
        Row::new(format!("validate-parameters.attempts.{key}"), &file, values, call())
            .to(Request::new().model("small-1").extension(SessionKey::new("one")))
            .asking(oracle)
    };
    let address = "redis = \"redis://$URL\"@";
    vec![
        row("redis", "redis = @", ["\"redis://$URL\"", "\"redis://127.0.0.1:1\""], |_, _| {
            ":1\r\n".to_owned()
        }),
        row("time_to_live", address, [", time_to_live = \"7s\"", ""], |question, _| {
            // The fifth attempt in a row is one too many.
            if question.contains("\r\n7000\r\n") { ":1\r\n" } else { ":5\r\n" }.to_owned()
        }),
        row("timeout", address, [", timeout = \"50ms\"", ", timeout = \"5s\""], |_, _| {
            std::thread::sleep(Duration::from_millis(400));
            ":1\r\n".to_owned()
        }),
    ]
}
