//! The tool loop.

use stream_testkit::WireKind;

use super::row::{PASS, Row, See, ask, seen};
use crate::kit::question;

pub(super) fn rows() -> Vec<Row> {
    [looped(), endpoints(), servers()].into_iter().flatten().collect()
}

const UP: &str = "[upstream.openai-chat]\nurl = \"$UP\"\n";

macro_rules! asks {
    ($model:literal) => {
        |world| Box::pin(async move { ask(&world.gateway(), $model).await })
    };
}

fn looped() -> Vec<Row> {
    let row = |key, keys: &str, values: [&str; 2], see: See| {
        Row::new(key, &format!("[tool_loop]\n{keys}\n{UP}{PASS}"), values, see)
    };
    let counts = "builtin = [\"count_letters\"]\n@";
    let slow = "@\n[[tool_loop.http]]\nurl = \"$SLOW\"\nname = \"count_letters\"";
    // The client offers a tool of the same name.
    let offers: See = |world| {
        Box::pin(async move {
            let tool =
                r#"[{"type":"function","function":{"name":"count_letters","parameters":{"type":"object"}}}]"#;
            let body = format!(r#"{{"model":"loop","stream":true,"messages":[],"tools":{tool}}}"#);
            seen(&world.gateway().post("/v1/chat/completions", &body).await)
        })
    };
    let clients =
        "[[client]]\nname = \"a\"\nkey_env = \"KEY_A\"\n[[client]]\nname = \"b\"\nkey_env = \"KEY_B\"\n";
    let as_client: See = |world| {
        Box::pin(async move {
            let gateway = world.gateway();
            let (path, body) = question(WireKind::OpenAiChat, true);
            let request = http::Request::post(gateway.url(path)).header("x-api-key", "key-a");
            let body = http_body_util::Full::from(body.replace("demo", "loop"));
            seen(&crate::doors::answer(request.body(body).unwrap()).await)
        })
    };
    vec![
        row("tool_loop.max_iterations", counts, ["max_iterations = 1", ""], asks!("endless")),
        row("tool_loop.total_time", slow, ["total_time = \"200ms\"", ""], asks!("loop")),
        row("tool_loop.total_bytes", counts, ["total_bytes = 100", ""], asks!("endless")),
        row("tool_loop.deadline", slow, ["deadline = \"200ms\"", ""], asks!("loop")),
        row(
            "tool_loop.result_bytes",
            "@\n[[tool_loop.http]]\nurl = \"$TOOL\"\nname = \"count_letters\"",
            ["result_bytes = 2", ""],
            asks!("loop"),
        ),
        row("tool_loop.notice", counts, ["notice = \"[running {tool}]\"", ""], asks!("loop")),
        row("tool_loop.separator", counts, ["separator = \" | \"", ""], asks!("loop")),
        row(
            "tool_loop.at_limit",
            "builtin = [\"count_letters\"]\nmax_iterations = 1\n@",
            ["at_limit = \"error\"", ""],
            asks!("endless"),
        ),
        row("tool_loop.clash", counts, ["clash = \"refuse\"", ""], offers),
        row("tool_loop.apis", counts, ["apis = [\"openai-chat\"]", "apis = [\"gemini\"]"], asks!("loop")),
        row("tool_loop.models", counts, ["models = [\"lo*\"]", "models = [\"other\"]"], asks!("loop")),
        row("tool_loop.paths", counts, ["paths = [\"/v1/chat/*\"]", "paths = [\"/v2/*\"]"], asks!("loop")),
        Row::new(
            "tool_loop.clients",
            &format!("[tool_loop]\n{counts}\n{clients}{UP}{PASS}"),
            ["clients = [\"a\"]", "clients = [\"b\"]"],
            as_client,
        ),
        row(
            "tool_loop.builtin",
            "builtin = [@]\n[[tool_loop.http]]\nurl = \"$TOOL\"\nname = \"other\"",
            ["\"count_letters\"", ""],
            asks!("loop"),
        ),
    ]
}

fn endpoints() -> Vec<Row> {
    let row = |key, keys: &str, values: [&str; 2], see: See| {
        Row::new(key, &format!("[[tool_loop.http]]\n{keys}\n{UP}{PASS}"), values, see)
    };
    let offers: See = |world| {
        Box::pin(async move {
            let tool =
                r#"[{"type":"function","function":{"name":"count_letters","parameters":{"type":"object"}}}]"#;
            let body = format!(r#"{{"model":"loop","stream":true,"messages":[],"tools":{tool}}}"#);
            seen(&world.gateway().post("/v1/chat/completions", &body).await)
        })
    };
    let named = "url = \"$TOOL\"\nname = \"count_letters\"\n@";
    vec![
        row(
            "tool_loop.http[].url",
            "name = \"count_letters\"\nurl = @",
            ["\"$TOOL\"", "\"$SLOW\""],
            asks!("loop"),
        ),
        row("tool_loop.http[].key_env", named, ["key_env = \"KEY_A\"", ""], asks!("loop")),
        row(
            "tool_loop.http[].name",
            "url = \"$TOOL\"\nname = @",
            ["\"count_letters\"", "\"other\""],
            asks!("loop"),
        ),
        row("tool_loop.http[].description", named, ["description = \"Counts.\"", ""], asks!("tools")),
        row(
            "tool_loop.http[].parameters",
            named,
            ["parameters = { type = \"object\", required = [\"word\"] }", ""],
            asks!("tools"),
        ),
        row(
            "tool_loop.http[].take_over",
            "url = \"$TOOL\"\ntake_over = [@]",
            ["\"count_*\"", "\"other_*\""],
            offers,
        ),
    ]
}

fn servers() -> Vec<Row> {
    let row = |key, keys: &str, values: [&str; 2], see: See| {
        Row::new(
            key,
            &format!("listen = \"127.0.0.1:0\"\n[[tool_loop.mcp]]\n{keys}\n{UP}{PASS}"),
            values,
            see,
        )
    };
    let program = "command = [\"sh\", \"$DIR/server.sh\"]\nprefix = \"count_\"\n@";
    let said: See =
        |world| Box::pin(async move { world.started().starts_with("gateway: serving on").to_string() });
    vec![
        row(
            "tool_loop.mcp[].command",
            "prefix = \"count_\"\ncommand = [\"sh\", @]",
            ["\"$DIR/server.sh\"", "\"$DIR/other.sh\""],
            asks!("loop"),
        ),
        row("tool_loop.mcp[].url", "url = @", ["\"$MCP\"", "\"http://127.0.0.1:1\""], said),
        row("tool_loop.mcp[].key_env", "url = \"$MCP\"\n@", ["key_env = \"KEY_A\"", ""], asks!("loop")),
        row("tool_loop.mcp[].env", program, ["env = { WORD = \"w\" }", ""], asks!("loop")),
        row("tool_loop.mcp[].env_from", program, ["env_from = [\"KEY_A\"]", ""], asks!("loop")),
        row(
            "tool_loop.mcp[].prefix",
            "command = [\"sh\", \"$DIR/server.sh\"]\nprefix = @",
            ["\"count_\"", "\"other_\""],
            asks!("loop"),
        ),
        row("tool_loop.mcp[].only", "url = \"$MCP\"\nonly = [@]", ["\"count_*\"", "\"wipe\""], asks!("loop")),
        row(
            "tool_loop.mcp[].start",
            "command = [\"sh\", \"$DIR/slow.sh\"]\n@",
            ["start = \"200ms\"", ""],
            said,
        ),
    ]
}
