//! Bad configuration: a precise error, exit code 2, nothing served.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::process::Command;

/// What the program says of a configuration, without the file's own name.
fn said(name: &str, text: &str) -> String {
    let directory = Directory::new(name);
    let file = directory.0.join("gateway.toml");
    std::fs::write(&file, text).unwrap();
    std::fs::write(directory.0.join("wrong.toml"), "[[policy]]\nkind = \"redcat\"\n").unwrap();
    let budget = format!("{PASS}[[policy]]\nkind = \"validate-parameters\"\nbudget = 3\n");
    std::fs::write(directory.0.join("budget.toml"), budget).unwrap();
    std::fs::write(directory.0.join("file"), "").unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_gateway"))
        .args(["--listen", "127.0.0.1:0", "--config", file.to_str().unwrap()])
        .env_remove("NO_SUCH_KEY")
        .env("EMPTY_KEY", " ")
        .output()
        .unwrap();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{name}");
    let error = String::from_utf8(out.stderr).unwrap();
    error.replace(&format!("{}/", directory.0.display()), "").trim_end().to_owned()
}

const PASS: &str = "[[policy]]\nkind = \"passthrough\"\n";

/// What is wrong, and what is said of it.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "nothing",
        "",
        "gateway.toml: line 1, column 1: expected [[policy]] tables, found none: to let everything pass, say so with the kind passthrough",
    ),
    (
        "no-toml",
        "listen = \n",
        "gateway.toml: line 1, column 10: string values must be quoted, expected literal string",
    ),
    (
        "unknown-key",
        "lisen = \"127.0.0.1:0\"\nPASS",
        "gateway.toml: line 1, column 1: unknown field `lisen`, expected one of `listen`, `admin`, `live_content`, `open`, `client`, `tls`, `connections`, `record`, `record_clients`, `request_log`, `telemetry`, `unknown_route`, `unreadable`, `block_status`, `session`, `call_tags`, `interleaved_calls`, `tool_loop`, `upstream`, `limits`, `envoy`, `route`, `policy`, `text_calls`, `blocked`",
    ),
    (
        "call-tags-without-effect",
        "call_tags = { header = \"x-tags\" }\nPASS",
        "gateway.toml: line 1, column 13: expected a policy rewrite-tags with allow beside call_tags, found none: it would have no effect",
    ),
    (
        "call-tags-nowhere",
        "text_calls.dialects = [\"hermes\"]\n[[policy]]\nkind = \"rewrite-tags\"\nallow = [\"a,b\"]\n",
        "gateway.toml: policy[0]: expected call_tags = { header = \"…\" } or { body = \"/…\" } in the gateway's file beside allow, found none: no request could ask for tags",
    ),
    (
        "call-tags-both",
        "text_calls.dialects = [\"hermes\"]\ncall_tags = { header = \"a\", body = \"/b\" }\n[[policy]]\nkind = \"rewrite-tags\"\nallow = [\"a,b\"]\n",
        "gateway.toml: line 2, column 13: expected header or body, found both",
    ),
    (
        "listen-type",
        "listen = 8080\nPASS",
        "gateway.toml: line 1, column 10: invalid type: integer `8080`, expected a string",
    ),
    (
        "listen-name",
        "listen = \"localhost\"\nPASS",
        "gateway.toml: line 1, column 10: expected an address and a port such as 127.0.0.1:8080, found \"localhost\"",
    ),
    (
        "unknown-api",
        "[upstream.openai]\nurl = \"http://a\"\nPASS",
        "gateway.toml: line 1, column 11: unknown field `openai`, expected one of `openai-chat`, `openai-responses`, `anthropic-messages`, `gemini`",
    ),
    (
        "no-url",
        "[upstream.gemini]\nkey_env = \"A\"\nPASS",
        "gateway.toml: line 1, column 1: missing field `url`",
    ),
    (
        "url-scheme",
        "[upstream.gemini]\nurl = \"ftp://a\"\nPASS",
        "gateway.toml: line 2, column 7: expected an address such as https://api.example.com, found \"ftp://a\"",
    ),
    (
        "url-host",
        "[upstream.gemini]\nurl = \"api.example.com\"\nPASS",
        "gateway.toml: line 2, column 7: expected an address such as https://api.example.com, found \"api.example.com\"",
    ),
    (
        "url-query",
        "[upstream.gemini]\nurl = \"https://a/?key=1\"\nPASS",
        "gateway.toml: line 2, column 7: expected an address such as https://api.example.com, found \"https://a/?key=1\"",
    ),
    (
        "no-key",
        "[upstream.gemini]\nurl = \"https://a\"\nkey_env = \"NO_SUCH_KEY\"\nPASS",
        "gateway.toml: line 3, column 11: expected a key in the environment variable \"NO_SUCH_KEY\", found none",
    ),
    (
        "empty-key",
        "[upstream.gemini]\nurl = \"https://a\"\nkey_env = \"EMPTY_KEY\"\nPASS",
        "gateway.toml: line 3, column 11: expected a key in the environment variable \"EMPTY_KEY\", found none",
    ),
    (
        "upstream-key",
        "[upstream.gemini]\nurl = \"https://a\"\nkey = \"secret\"\nPASS",
        "gateway.toml: line 3, column 1: unknown field `key`, expected one of `url`, `key_env`, `ca`",
    ),
    (
        "ca-without-https",
        "[upstream.gemini]\nurl = \"http://a\"\nca = \"ca.pem\"\nPASS",
        "gateway.toml: line 3, column 6: expected an https address beside ca, found \"http://a\"",
    ),
    (
        "ca-of-nothing",
        "[upstream.gemini]\nurl = \"https://a\"\nca = \"file\"\nPASS",
        "gateway.toml: line 3, column 6: file: expected certificates in PEM form, found none",
    ),
    (
        "client-without-key",
        "[[client]]\nname = \"a\"\nPASS",
        "gateway.toml: line 1, column 1: expected one of key_sha256 and key_env (`gateway key` makes both), found none",
    ),
    (
        "client-key-in-the-file",
        "[[client]]\nname = \"a\"\nkey_sha256 = \"secret\"\nPASS",
        "gateway.toml: line 3, column 14: expected the 64 hexadecimal digits of a SHA-256, found something else",
    ),
    (
        "client-key-env",
        "[[client]]\nname = \"a\"\nkey_env = \"NO_SUCH_KEY\"\nPASS",
        "gateway.toml: line 3, column 11: expected a key in the environment variable \"NO_SUCH_KEY\", found none",
    ),
    (
        "client-name",
        "[[client]]\nname = \"a b\"\nkey_env = \"HOME\"\nPASS",
        "gateway.toml: line 2, column 8: expected a name of printable ASCII without blanks, found \"a b\"",
    ),
    (
        "client-twice",
        "[[client]]\nname = \"a\"\nkey_env = \"HOME\"\n[[client]]\nname = \"a\"\nkey_env = \"PATH\"\nPASS",
        "gateway.toml: line 5, column 8: expected clients of different names, found \"a\" twice",
    ),
    (
        "client-key-twice",
        "[[client]]\nname = \"a\"\nkey_env = \"HOME\"\n[[client]]\nname = \"b\"\nkey_env = \"HOME\"\nPASS",
        "gateway.toml: line 4, column 1: expected a key of its own, found that of \"a\"",
    ),
    (
        "client-limit",
        "[[client]]\nname = \"a\"\nkey_env = \"HOME\"\nstreams = 0\nPASS",
        "gateway.toml: line 4, column 11: expected at least 1, found 0",
    ),
    (
        "route-of-no-client",
        "[[route]]\nclients = [\"a\"]\npolicies = \"wrong.toml\"\nPASS",
        "gateway.toml: line 2, column 12: expected the name of a client (there is none), found \"a\"",
    ),
    (
        "record-of-no-client",
        "record = \"logs\"\nrecord_clients = [\"b\"]\n[[client]]\nname = \"a\"\nkey_env = \"HOME\"\nPASS",
        "gateway.toml: line 2, column 19: expected the name of a client a, found \"b\"",
    ),
    (
        "record-clients-alone",
        "record_clients = []\nPASS",
        "gateway.toml: line 1, column 18: expected record beside record_clients, found none",
    ),
    (
        "session-of-no-client",
        "session = { client = true }\nPASS",
        "gateway.toml: line 1, column 11: expected [[client]] entries beside client = true, found none",
    ),
    (
        "session-of-two",
        "session = { client = true, header = \"x\" }\nPASS",
        "gateway.toml: line 1, column 11: expected nothing beside client = true, found more",
    ),
    (
        "admin",
        "admin = \"8081\"\nPASS",
        "gateway.toml: line 1, column 9: expected an address and a port such as 127.0.0.1:8080, found \"8081\"",
    ),
    (
        "connections",
        "[connections]\nhead = \"soon\"\nPASS",
        "gateway.toml: line 2, column 8: expected a time such as 200ms, 15s or 5m, found \"soon\"",
    ),
    (
        "tls-without-certificate",
        "[tls]\ncertificate = \"none.pem\"\nkey = \"none.pem\"\nPASS",
        "none.pem: expected a private key in PEM form: I/O error: No such file or directory (os error 2)",
    ),
    (
        "unknown-route",
        "unknown_route = \"allow\"\nPASS",
        "gateway.toml: line 1, column 17: unknown variant `allow`, expected `refuse` or `pass`",
    ),
    ("unreadable", "unreadable = true\nPASS", "gateway.toml: line 1, column 14: wanted string or table"),
    (
        "block-status",
        "block_status = 200\nPASS",
        "gateway.toml: line 1, column 16: expected a status from 400 to 599, found 200",
    ),
    (
        "budget-without-session",
        "[[policy]]\nkind = \"validate-parameters\"\nbudget = 3\n",
        "gateway.toml: policy[0]: expected session = { header = \"…\" } or { body = \"/…\" } in the gateway's file beside a budget, found none: nothing would be counted",
    ),
    (
        "route-budget-without-session",
        "[[route]]\npaths = [\"*\"]\npolicies = \"budget.toml\"\nPASS",
        "gateway.toml: budget.toml: policy[1]: expected session = { header = \"…\" } or { body = \"/…\" } in the gateway's file beside a budget, found none: nothing would be counted",
    ),
    (
        "session-empty",
        "session = {}\nPASS",
        "gateway.toml: line 1, column 11: expected header, body or client, found none of them",
    ),
    (
        "session-both",
        "session = { header = \"a\", body = \"/a\" }\nPASS",
        "gateway.toml: line 1, column 11: expected header or body, found both",
    ),
    (
        "session-header",
        "session = { header = \"a b\" }\nPASS",
        "gateway.toml: line 1, column 22: expected the name of a header, found \"a b\"",
    ),
    (
        "session-pointer",
        "session = { body = \"user\" }\nPASS",
        "gateway.toml: line 1, column 20: expected a JSON pointer such as /metadata/user_id, found \"user\"",
    ),
    (
        "session-type",
        "session = { body = 1 }\nPASS",
        "gateway.toml: line 1, column 20: expected a JSON pointer or a list of them",
    ),
    (
        "limit-key",
        "[limits]\nhold = 1\nPASS",
        "gateway.toml: line 2, column 1: unknown field `hold`, expected one of `frame`, `block`, `held`, `blocks`, `choices`, `request`, `response`, `idle`, `policy`, `keep_alive`",
    ),
    (
        "limit-zero",
        "[limits]\nheld = 0\nPASS",
        "gateway.toml: line 2, column 8: expected at least 1, found 0",
    ),
    (
        "limit-negative",
        "[limits]\nheld = -1\nPASS",
        "gateway.toml: line 2, column 8: invalid value: integer `-1`, expected usize",
    ),
    (
        "limit-time",
        "[limits]\nidle = \"5 minutes\"\nPASS",
        "gateway.toml: line 2, column 8: expected a time such as 200ms, 15s or 5m, found \"5 minutes\"",
    ),
    (
        "keep-alive",
        "[limits]\nkeep_alive = \"off\"\nPASS",
        "gateway.toml: line 2, column 14: expected a time such as 200ms, 15s or 5m, found \"off\"",
    ),
    (
        "route-empty",
        "[[route]]\npolicies = \"wrong.toml\"\nPASS",
        "gateway.toml: line 1, column 1: expected apis, models, paths or clients that the route is for, found none",
    ),
    (
        "route-api",
        "[[route]]\napis = [\"chat\"]\npolicies = \"wrong.toml\"\nPASS",
        "gateway.toml: line 2, column 9: expected one of openai-chat, openai-responses, anthropic-messages, gemini, found \"chat\"",
    ),
    (
        "route-policies",
        "[[route]]\npaths = [\"*\"]\nPASS",
        "gateway.toml: line 1, column 1: missing field `policies`",
    ),
    (
        "route-file",
        "[[route]]\npaths = [\"*\"]\npolicies = \"none.toml\"\nPASS",
        "gateway.toml: line 3, column 12: none.toml: cannot be read: No such file or directory (os error 2)",
    ),
    (
        "route-wrong",
        "[[route]]\npaths = [\"*\"]\npolicies = \"wrong.toml\"\nPASS",
        "gateway.toml: line 3, column 12: wrong.toml: line 2, column 8: policy[0].kind: expected a kind out of buffered-judge, demote-calls, finish-gate, hide-reasoning, inject, passthrough, promote-text-calls, quota, redact, rewrite-tags, stop-on, tool-gate, validate-parameters, found \"redcat\"; did you mean \"redact\"?",
    ),
    (
        "policy-kind",
        "PASS[[policy]]\nkind = \"tool-gates\"\n",
        "gateway.toml: line 4, column 8: policy[1].kind: expected a kind out of buffered-judge, demote-calls, finish-gate, hide-reasoning, inject, passthrough, promote-text-calls, quota, redact, rewrite-tags, stop-on, tool-gate, validate-parameters, found \"tool-gates\"; did you mean \"tool-gate\"?",
    ),
    (
        "policy-no-judge",
        "listen = \"127.0.0.1:0\"\n[[policy]]\nkind = \"tool-gate\"\n",
        "gateway.toml: line 2, column 1: policy[0]: expected a judge (rules, webhook or model), found none",
    ),
    (
        "policy-nothing",
        "[[policy]]\nkind = \"redact\"\n",
        "gateway.toml: line 1, column 1: policy[0]: redact: expected a preset or a pattern, found none",
    ),
    (
        "tool-loop-empty",
        "[tool_loop]\nmax_iterations = 3\nPASS",
        "gateway.toml: line 1, column 1: expected builtin, http or mcp tools, found none",
    ),
    (
        "tool-loop-key",
        "[tool_loop]\nbuiltins = []\nPASS",
        "gateway.toml: line 2, column 1: unknown field `builtins`, expected one of `max_iterations`, `total_time`, `total_bytes`, `deadline`, `result_bytes`, `notice`, `separator`, `at_limit`, `clash`, `apis`, `models`, `paths`, `clients`, `builtin`, `http`, `mcp`",
    ),
    (
        "tool-loop-builtin",
        "[tool_loop]\nbuiltin = [\"clock\"]\nPASS",
        "gateway.toml: line 2, column 12: expected one of count_letters, found \"clock\"",
    ),
    (
        "tool-loop-time",
        "[tool_loop]\nbuiltin = [\"count_letters\"]\ndeadline = \"soon\"\nPASS",
        "gateway.toml: line 3, column 12: expected a time such as 200ms, 15s or 5m, found \"soon\"",
    ),
    (
        "tool-loop-iterations",
        "[tool_loop]\nbuiltin = [\"count_letters\"]\nmax_iterations = 0\nPASS",
        "gateway.toml: line 3, column 18: expected at least 1, found 0",
    ),
    (
        "tool-loop-notice",
        "[tool_loop]\nbuiltin = [\"count_letters\"]\nnotice = \" \"\nPASS",
        "gateway.toml: line 3, column 10: expected a text such as [running {tool}], found none",
    ),
    (
        "tool-loop-at-limit",
        "[tool_loop]\nbuiltin = [\"count_letters\"]\nat_limit = \"stop\"\nPASS",
        "gateway.toml: line 3, column 12: unknown variant `stop`, expected `finish` or `error`",
    ),
    (
        "tool-loop-client",
        "[tool_loop]\nbuiltin = [\"count_letters\"]\nclients = [\"ci\"]\nPASS",
        "gateway.toml: line 3, column 12: expected the name of a client (there is none), found \"ci\"",
    ),
    (
        "tool-loop-api",
        "[tool_loop]\nbuiltin = [\"count_letters\"]\napis = [\"openai\"]\nPASS",
        "gateway.toml: line 3, column 9: expected one of openai-chat, openai-responses, anthropic-messages, gemini, found \"openai\"",
    ),
    (
        "tool-loop-clash",
        "[tool_loop]\nbuiltin = [\"count_letters\"]\n[[tool_loop.http]]\nurl = \"http://a/run\"\nname = \"count_letters\"\nPASS",
        "gateway.toml: line 5, column 8: expected one executor for the tool count_letters, found another as \"count_letters\"",
    ),
    (
        "tool-loop-http-url",
        "[tool_loop]\n[[tool_loop.http]]\nurl = \"a/run\"\nname = \"a\"\nPASS",
        "gateway.toml: line 3, column 7: expected an address such as https://tools.example.com/run, found \"a/run\"",
    ),
    (
        "tool-loop-http-key",
        "[tool_loop]\n[[tool_loop.http]]\nurl = \"http://a/run\"\nkey_env = \"NO_SUCH_KEY\"\nname = \"a\"\nPASS",
        "gateway.toml: line 4, column 11: expected a key in the environment variable \"NO_SUCH_KEY\", found none",
    ),
    (
        "tool-loop-http-neither",
        "[tool_loop]\n[[tool_loop.http]]\nurl = \"http://a/run\"\nPASS",
        "gateway.toml: line 2, column 1: expected the name of a tool to offer, or globs to take_over, found neither",
    ),
    (
        "tool-loop-http-both",
        "[tool_loop]\n[[tool_loop.http]]\nurl = \"http://a/run\"\nname = \"a\"\ntake_over = [\"b\"]\nPASS",
        "gateway.toml: line 2, column 1: expected the name of a tool to offer, or globs to take_over, found both",
    ),
    (
        "tool-loop-http-unread",
        "[tool_loop]\n[[tool_loop.http]]\nurl = \"http://a/run\"\ntake_over = [\"b\"]\ndescription = \"?\"\nPASS",
        "gateway.toml: line 5, column 15: expected description beside a name, found take_over",
    ),
    (
        "tool-loop-http-glob",
        "[tool_loop]\n[[tool_loop.http]]\nurl = \"http://a/run\"\ntake_over = [\"b\", \"\"]\nPASS",
        "gateway.toml: line 4, column 19: expected the name of a tool such as calc_*, found none",
    ),
    (
        "tool-loop-http-schema",
        "[tool_loop]\n[[tool_loop.http]]\nurl = \"http://a/run\"\nname = \"a\"\nparameters = { type = \"array\" }\nPASS",
        "gateway.toml: line 5, column 14: expected a JSON Schema whose type is \"object\", found \"array\"",
    ),
    (
        "tool-loop-http-name",
        "[tool_loop]\n[[tool_loop.http]]\nurl = \"http://a/run\"\nname = \"a b\"\nPASS",
        "gateway.toml: line 4, column 8: expected a tool name of at most 64 letters, digits, _ and -, that starts with a letter or _, found \"a b\"",
    ),
    (
        "tool-loop-mcp-neither",
        "[tool_loop]\n[[tool_loop.mcp]]\nprefix = \"a_\"\nPASS",
        "gateway.toml: line 2, column 1: expected a command or a url of an MCP server, found neither",
    ),
    (
        "tool-loop-mcp-command",
        "[tool_loop]\n[[tool_loop.mcp]]\ncommand = []\nPASS",
        "gateway.toml: line 3, column 11: expected a program and its arguments, found none",
    ),
    (
        "tool-loop-mcp-url",
        "[tool_loop]\n[[tool_loop.mcp]]\nurl = \"localhost:9\"\nPASS",
        "gateway.toml: line 3, column 7: expected an address such as http://127.0.0.1:9000/mcp, found \"localhost:9\"",
    ),
    (
        "tool-loop-mcp-env",
        "[tool_loop]\n[[tool_loop.mcp]]\nurl = \"http://a/mcp\"\nenv_from = [\"A\"]\nPASS",
        "gateway.toml: line 4, column 12: expected env_from beside a command, found a url",
    ),
    (
        "tool-loop-mcp-env-from",
        "[tool_loop]\n[[tool_loop.mcp]]\ncommand = [\"a\"]\nenv_from = [\"NO_SUCH_KEY\"]\nPASS",
        "gateway.toml: line 4, column 13: expected a key in the environment variable \"NO_SUCH_KEY\", found none",
    ),
    (
        "tool-loop-mcp-key",
        "[tool_loop]\n[[tool_loop.mcp]]\ncommand = [\"a\"]\nkey_env = \"EMPTY_KEY\"\nPASS",
        "gateway.toml: line 4, column 11: expected key_env beside a url, found a command: env_from gives a program variables",
    ),
    (
        "tool-loop-mcp-start",
        "[tool_loop]\n[[tool_loop.mcp]]\ncommand = [\"no-such-program\"]\nPASS",
        "tool_loop: MCP server no-such-program: cannot be started: No such file or directory (os error 2)",
    ),
    (
        "tool-loop-mcp-silent",
        "[tool_loop]\n[[tool_loop.mcp]]\ncommand = [\"sleep\", \"60\"]\nstart = \"100ms\"\nPASS",
        "tool_loop: MCP server sleep: expected a server within 100ms, found silence",
    ),
    (
        "record",
        "record = \"file/logs\"\nPASS",
        "file/logs: cannot record there: Not a directory (os error 20)",
    ),
];

/// A table that the program cannot follow is refused, and not ignored.
#[cfg(not(feature = "otel"))]
const TELEMETRY: &[(&str, &str, &str)] = &[(
    "telemetry-without-the-feature",
    "live_content = false\n[telemetry]\nendpoint = \"http://127.0.0.1:4317\"\nPASS",
    "gateway.toml: line 2, column 1: expected a program with the feature otel beside telemetry, found one without: build it with `cargo build -p gateway --features otel`",
)];

#[cfg(feature = "otel")]
const TELEMETRY: &[(&str, &str, &str)] = &[
    (
        "telemetry-nowhere",
        "[telemetry]\nevery = \"5s\"\nPASS",
        "gateway.toml: line 1, column 1: missing field `endpoint`",
    ),
    (
        "telemetry-key",
        "[telemetry]\nendpoint = \"http://a:4317\"\nprotocol = \"http\"\nPASS",
        "gateway.toml: line 3, column 1: unknown field `protocol`, expected one of `endpoint`, `ca`, `headers_env`, `service`, `every`, `sample`",
    ),
    (
        "telemetry-endpoint",
        "[telemetry]\nendpoint = \"localhost:4317\"\nPASS",
        "gateway.toml: line 2, column 12: expected an address such as https://api.example.com, found \"localhost:4317\"",
    ),
    (
        "telemetry-ca-without-https",
        "[telemetry]\nendpoint = \"http://a:4317\"\nca = \"file\"\nPASS",
        "gateway.toml: line 3, column 6: expected an https address beside ca, found \"http://a:4317\"",
    ),
    (
        "telemetry-ca-of-nothing",
        "[telemetry]\nendpoint = \"https://a:4317\"\nca = \"file\"\nPASS",
        "gateway.toml: line 3, column 6: file: expected certificates in PEM form, found none",
    ),
    (
        "telemetry-every",
        "[telemetry]\nendpoint = \"http://a:4317\"\nevery = \"0s\"\nPASS",
        "gateway.toml: line 3, column 9: expected a time such as 200ms, 15s or 5m, found \"0s\"",
    ),
    (
        "telemetry-sample",
        "[telemetry]\nendpoint = \"http://a:4317\"\nsample = 1.5\nPASS",
        "gateway.toml: line 3, column 10: expected a part from 0.0 to 1.0, found 1.5",
    ),
    (
        "telemetry-header",
        "[telemetry]\nendpoint = \"http://a:4317\"\nheaders_env = { \"a b\" = \"EMPTY_KEY\" }\nPASS",
        "gateway.toml: line 3, column 17: expected the name of a header, found \"a b\"",
    ),
    (
        "telemetry-header-of-nothing",
        "[telemetry]\nendpoint = \"http://a:4317\"\nheaders_env = { api-key = \"EMPTY_KEY\" }\nPASS",
        "gateway.toml: line 3, column 27: expected a value for a header in the environment variable \"EMPTY_KEY\", found none",
    ),
];

#[test]
fn every_mistake_is_told_with_its_place_and_nothing_is_served() {
    let mut wrong = Vec::new();
    for (name, text, expected) in WRONG.iter().chain(TELEMETRY) {
        let found = said(name, &text.replace("PASS", PASS));
        if found != format!("gateway: {expected}") {
            wrong.push(format!("{name}\n  expected gateway: {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let out = Command::new(env!("CARGO_BIN_EXE_gateway")).args(["--config", "none.toml"]).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(out.stderr).unwrap(),
        "gateway: none.toml: cannot be read: No such file or directory (os error 2)\n"
    );
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let out = Command::new(env!("CARGO_BIN_EXE_gateway")).args(["--listen", &address]).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(out.stderr).unwrap(),
        format!("gateway: cannot listen on {address}: Address already in use (os error 98)\n")
    );
}

#[test]
fn an_upstream_that_is_no_address_is_told() {
    let out =
        Command::new(env!("CARGO_BIN_EXE_gateway")).args(["--upstream", "example.com"]).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(out.stderr).unwrap(),
        "gateway: --upstream: expected an address such as https://api.example.com, found \"example.com\"\n"
    );
}

#[test]
fn a_pace_beside_an_upstream_or_that_is_no_time_is_told() {
    let said = |arguments: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_gateway")).args(arguments).output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    assert_eq!(
        said(&["--upstream", "http://127.0.0.1:9", "--pace", "5ms"]),
        (
            Some(2),
            "gateway: --pace: expected no upstreams, because only the program's own answers have a pace, found some\n".to_owned()
        )
    );
    assert_eq!(
        said(&["--pace", "fast"]),
        (
            Some(2),
            "error: invalid value 'fast' for '--pace <TIME>': expected a time such as 200ms, 15s or 5m, found \"fast\"\n\n\
             For more information, try '--help'.\n"
                .to_owned()
        )
    );
}

/// Whoever reaches the listener could have the tools run.
#[test]
fn tools_are_not_run_for_everybody_unless_the_file_says_so() {
    let directory = Directory::new("tool-loop-open");
    let file = directory.0.join("gateway.toml");
    let text = format!("listen = \"0.0.0.0:0\"\n[tool_loop]\nbuiltin = [\"count_letters\"]\n{PASS}");
    std::fs::write(&file, text).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_gateway")).arg("--config").arg(&file).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(out.stderr).unwrap(),
        "gateway: expected [[client]] entries, or open = true, because everybody who reaches 0.0.0.0:0 may have the tools of \
         tool_loop run, found neither\n"
    );
}

/// Envoy's external processor cannot ask the upstream again.
#[cfg(feature = "envoy")]
#[test]
fn envoy_refuses_a_file_with_a_tool_loop_at_start() {
    let directory = Directory::new("tool-loop-envoy");
    let file = directory.0.join("gateway.toml");
    let text = format!(
        "[upstream.openai-chat]\nurl = \"http://a\"\n[tool_loop]\n[[tool_loop.http]]\nurl = \"http://a/run\"\n\
         key_env = \"NO_SUCH_KEY\"\nname = \"a\"\n{PASS}"
    );
    std::fs::write(&file, text).unwrap();
    for arguments in [&["--listen", "127.0.0.1:0"][..], &["--print-config"]] {
        let out = Command::new(env!("CARGO_BIN_EXE_gateway"))
            .args(["envoy", "--config", file.to_str().unwrap()])
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0));
        assert_eq!(
            String::from_utf8(out.stderr).unwrap(),
            format!(
                "gateway: {}: line 3, column 1: expected no tool_loop beside Envoy, which sends every request once and \
                 cannot be made to ask again, found one: serve it with `gateway serve`\n",
                file.display()
            )
        );
    }
}

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gateway-config-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
