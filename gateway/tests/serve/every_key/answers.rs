//! Routes, upstreams, sessions and limits: what becomes of an answer.

use stream_testkit::WireKind;

use super::row::{PASS, Row, See, ask, ask_with, seen};
use crate::kit::{Gateway, question};

pub(super) fn rows() -> Vec<Row> {
    [treatment(), sessions(), upstreams(), limits(), routes()].into_iter().flatten().collect()
}

const UP: &str = "[upstream.openai-chat]\nurl = \"$UP\"\n";
const GATE: &str = "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"deny\" }\n";

macro_rules! asks {
    ($model:literal) => {
        |world| Box::pin(async move { ask(&world.gateway(), $model).await })
    };
}

fn treatment() -> Vec<Row> {
    vec![
        Row::new("unknown_route", &format!("@\n{UP}{PASS}"), ["unknown_route = \"pass\"", ""], |world| {
            Box::pin(async move { seen(&world.gateway().post("/v1/batches", "{}").await) })
        }),
        Row::new("unreadable", &format!("@\n{UP}{PASS}"), ["unreadable = \"pass\"", ""], asks!("html")),
        Row::new(
            "block_status",
            &format!("@\n{UP}[[policy]]\nkind = \"quota\"\nbytes = 0\n"),
            ["block_status = 451", ""],
            asks!("demo"),
        ),
        // Without it a call is judged, and leaves, when the next one starts.
        Row::new(
            "interleaved_calls",
            &format!("@\n{UP}[[policy]]\nkind = \"finish-gate\"\nrelease = \"complete\"\n"),
            ["interleaved_calls = true", ""],
            asks!("broken"),
        ),
    ]
}

fn sessions() -> Vec<Row> {
    let budget = "[[policy]]\nkind = \"validate-parameters\"\nbudget = 2\n[policy.tools.shell]\nrequired = [\"command\"]\n";
    let clients = "[[client]]\nname = \"a\"\nkey_env = \"KEY_A\"\n";
    let session = |keys: &str| format!("session = {{ {keys} }}\n{UP}{budget}");
    let twice: See = |world| {
        Box::pin(async move {
            let gateway = world.gateway();
            let first = ask_with(&gateway, "invalid", &[("x-session", "one")]).await;
            first + &ask_with(&gateway, "invalid", &[("x-session", "one")]).await
        })
    };
    let tags = format!(
        "{UP}[text_calls]\ndialects = [\"hermes\"]\n[[policy]]\nkind = \"rewrite-tags\"\nallow = [\"[[,]]\"]\n"
    );
    let tagged: See =
        |world| Box::pin(async move { ask_with(&world.gateway(), "hermes", &[("x-tags", "[[,]]")]).await });
    vec![
        Row::new("session.header", &session("header = @"), ["\"x-session\"", "\"x-other\""], twice),
        Row::new("session.body", &session("body = @"), ["\"/user\"", "\"/other\""], twice),
        Row::new("session.required", &session("header = \"x-other\"@"), [", required = true", ""], twice),
        Row::new(
            "session.client",
            &format!("session = {{ @ }}\n{clients}{UP}{budget}"),
            ["client = true", "header = \"x-other\""],
            |world| Box::pin(async move { as_client(&world.gateway(), "invalid", 2).await }),
        )
        .instead_of("session.header"),
        Row::new(
            "call_tags.header",
            &format!("call_tags = {{ header = @ }}\n{tags}"),
            ["\"x-tags\"", "\"x-other\""],
            tagged,
        ),
        Row::new(
            "call_tags.body",
            &format!("call_tags = {{ body = @ }}\n{tags}"),
            ["\"/tags\"", "\"/other\""],
            |world| {
                Box::pin(async move {
                    let body = r#"{"model":"hermes","stream":true,"tags":"[[,]]"}"#;
                    seen(&world.gateway().post("/v1/chat/completions", body).await)
                })
            },
        ),
    ]
}

/// Answers of a model to the client whose key is `key-a`, one behind the other.
async fn as_client(gateway: &Gateway, model: &str, times: usize) -> String {
    let (path, body) = question(WireKind::OpenAiChat, true);
    let mut all = String::new();
    for _ in 0..times {
        let request = http::Request::post(gateway.url(path)).header("x-api-key", "key-a");
        let body = http_body_util::Full::from(body.replace("demo", model));
        all += &seen(&crate::doors::answer(request.body(body).unwrap()).await);
    }
    all
}

macro_rules! upstream {
    ($name:literal, $kind:ident) => {{
        let asked: See =
            |world| Box::pin(async move { seen(&world.gateway().ask(WireKind::$kind, true).await) });
        let whole: See =
            |world| Box::pin(async move { seen(&world.gateway().ask(WireKind::$kind, false).await) });
        let file = |keys: &str| format!("[upstream.{}]\n{keys}\n{PASS}", $name);
        [
            Row::new(
                concat!("upstream.", $name, ".url"),
                &file("url = @"),
                ["\"$UP/a\"", "\"$UP/b\""],
                asked,
            ),
            Row::new(
                concat!("upstream.", $name, ".key_env"),
                &file("url = \"$UP\"\nkey_env = @"),
                ["\"KEY_A\"", "\"KEY_B\""],
                asked,
            ),
            Row::new(
                concat!("upstream.", $name, ".ca"),
                &file("url = \"$TLS\"\n@"),
                ["ca = \"ca.pem\"", ""],
                whole,
            ),
        ]
    }};
}

fn upstreams() -> Vec<Row> {
    let all = [
        upstream!("openai-chat", OpenAiChat),
        upstream!("openai-responses", OpenAiResponses),
        upstream!("anthropic-messages", AnthropicMessages),
        upstream!("gemini", Gemini),
    ];
    all.into_iter().flatten().collect()
}

fn limits() -> Vec<Row> {
    let row = |key, value: &str, policy: &str, see: See| {
        Row::new(key, &format!("[limits]\n@\n{UP}{policy}"), [value, ""], see)
    };
    let redacts = "[[policy]]\nkind = \"redact\"\npresets = [\"email\"]\n";
    let judged = "[[policy]]\nkind = \"tool-gate\"\nwebhook = { url = \"$SLOW\" }\n";
    let whole: See =
        |world| Box::pin(async move { seen(&world.gateway().ask(WireKind::OpenAiChat, false).await) });
    vec![
        row("limits.frame", "frame = 200", GATE, asks!("demo")),
        row("limits.block", "block = 100", redacts, asks!("long")),
        row("limits.held", "held = 100", GATE, asks!("demo")),
        row("limits.blocks", "blocks = 1", GATE, asks!("demo")),
        row("limits.choices", "choices = 1", GATE, asks!("choices")),
        row("limits.request", "request = 10", GATE, asks!("demo")),
        row("limits.response", "response = 10", GATE, whole),
        row("limits.idle", "idle = \"200ms\"", GATE, asks!("late")),
        row("limits.policy", "policy = \"200ms\"", judged, asks!("demo")),
        row("limits.keep_alive", "keep_alive = \"200ms\"", judged, asks!("demo")),
    ]
}

fn routes() -> Vec<Row> {
    let clients =
        "[[client]]\nname = \"a\"\nkey_env = \"KEY_A\"\n[[client]]\nname = \"b\"\nkey_env = \"KEY_B\"\n";
    let route = |keys: &str| format!("[[route]]\n{keys}\n{UP}{PASS}");
    vec![
        Row::new(
            "route[].apis",
            &route("policies = \"deny.toml\"\napis = [@]"),
            ["\"openai-chat\"", "\"gemini\""],
            asks!("demo"),
        ),
        Row::new(
            "route[].models",
            &route("policies = \"deny.toml\"\nmodels = [@]"),
            ["\"de*\"", "\"large-*\""],
            asks!("demo"),
        ),
        Row::new(
            "route[].paths",
            &route("policies = \"deny.toml\"\npaths = [@]"),
            ["\"/v1/chat/*\"", "\"/v2/*\""],
            asks!("demo"),
        ),
        Row::new(
            "route[].policies",
            &route("apis = [\"openai-chat\"]\npolicies = @"),
            ["\"deny.toml\"", "\"pass.toml\""],
            asks!("demo"),
        ),
        Row::new(
            "route[].clients",
            &format!("[[route]]\npolicies = \"deny.toml\"\nclients = [@]\n{clients}{UP}{PASS}"),
            ["\"a\"", "\"b\""],
            |world| Box::pin(async move { as_client(&world.gateway(), "demo", 1).await }),
        ),
    ]
}
