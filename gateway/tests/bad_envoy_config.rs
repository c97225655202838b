//! Mistakes in what only Envoy and several replicas need: `[envoy]` and `attempts`.

#![allow(clippy::unwrap_used)]

use std::process::Command;

/// What the program says of a configuration, without the file's own name.
fn said(arguments: &[&str], name: &str, text: &str) -> String {
    let directory = std::env::temp_dir().join(format!("gateway-bad-envoy-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("gateway.toml");
    std::fs::write(&file, text).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_gateway")).args(arguments).arg("--config").arg(&file).output();
    let out = out.unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{name}");
    let error = String::from_utf8(out.stderr).unwrap();
    error.replace(&format!("{}/", directory.display()), "").trim_end().to_owned()
}

/// Every mistake of a list is told with its place.
fn check(arguments: &[&str], group: &str, wrong: &[(&str, &str)], file: impl Fn(&str) -> String) {
    let mut others = Vec::new();
    for (at, (setting, expected)) in wrong.iter().enumerate() {
        let found = said(arguments, &format!("{group}-{at}"), &file(setting));
        if found != format!("gateway: gateway.toml: {expected}") {
            others
                .push(format!("{setting}\n  expected gateway: gateway.toml: {expected}\n  found    {found}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

const PASS: &str = "[[policy]]\nkind = \"passthrough\"\n";
const SERVE: &[&str] = &["--listen", "127.0.0.1:0"];

/// A line under `[envoy]`, and what is said of it.
const ENVOY: &[(&str, &str)] = &[
    (
        "lisen = \"127.0.0.1:1\"",
        "line 2, column 1: unknown field `lisen`, expected one of `listen`, `drain`, `stream_window`, `connection_window`, `streams`, `clients`, `envoy_admin`, `processors`",
    ),
    (
        "listen = \"here\"",
        "line 2, column 10: expected an address and a port such as 127.0.0.1:8080, found \"here\"",
    ),
    ("listen = 50051", "line 2, column 10: invalid type: integer `50051`, expected a string"),
    (
        "listen = \"localhost:50051\"",
        "line 2, column 10: expected an address and a port such as 127.0.0.1:8080, found \"localhost:50051\"",
    ),
    ("drain = \"soon\"", "line 2, column 9: expected a time such as 200ms, 15s or 5m, found \"soon\""),
    ("drain = \"0s\"", "line 2, column 9: expected a time such as 200ms, 15s or 5m, found \"0s\""),
    ("drain = 300", "line 2, column 9: invalid type: integer `300`, expected a string"),
    ("stream_window = 1023", "line 2, column 17: expected 1024 to 2147483647, found 1023"),
    ("stream_window = 2147483648", "line 2, column 17: expected 1024 to 2147483647, found 2147483648"),
    ("stream_window = -1", "line 2, column 17: expected 1024 to 2147483647, found -1"),
    ("stream_window = \"64KiB\"", "line 2, column 17: invalid type: string \"64KiB\", expected i64"),
    ("connection_window = 65535", "line 2, column 21: expected 65536 to 2147483647, found 65535"),
    ("connection_window = 4294967296", "line 2, column 21: expected 65536 to 2147483647, found 4294967296"),
    ("streams = 0", "line 2, column 11: expected 1 to 2147483647, found 0"),
    ("streams = 1.5", "line 2, column 11: invalid type: floating point `1.5`, expected i64"),
    (
        "clients = \"\"",
        "line 2, column 11: expected an address and a port such as 127.0.0.1:8080, found \"\"",
    ),
    (
        "envoy_admin = \"127.0.0.1\"",
        "line 2, column 15: expected an address and a port such as 127.0.0.1:8080, found \"127.0.0.1\"",
    ),
    ("processors = []", "line 2, column 14: expected at least one host and port, found none"),
    ("processors = \"a:1\"", "line 2, column 14: invalid type: string \"a:1\", expected a sequence"),
    ("processors = [1]", "line 2, column 15: invalid type: integer `1`, expected a string"),
    (
        "processors = [\"policies.internal\"]",
        "line 2, column 15: expected a host and a port such as policies.internal:50051, found \"policies.internal\"",
    ),
    (
        "processors = [\"a:1\", \"a b:1\"]",
        "line 2, column 22: expected a host and a port such as policies.internal:50051, found \"a b:1\"",
    ),
    (
        "processors = [\":1\"]",
        "line 2, column 15: expected a host and a port such as policies.internal:50051, found \":1\"",
    ),
    (
        "processors = [\"a:65536\"]",
        "line 2, column 15: expected a host and a port such as policies.internal:50051, found \"a:65536\"",
    ),
    (
        "processors = [\"a:0\"]",
        "line 2, column 15: expected a host and a port such as policies.internal:50051, found \"a:0\"",
    ),
    (
        "processors = [\"http://a:1\"]",
        "line 2, column 15: expected a host and a port such as policies.internal:50051, found \"http://a:1\"",
    ),
];

#[test]
fn every_mistake_under_envoy_is_told_with_its_place() {
    check(SERVE, "envoy", ENVOY, |line| format!("[envoy]\n{line}\n{PASS}"));
}

#[test]
fn envoy_is_a_table() {
    let wrong = [("envoy = 1", "line 1, column 9: invalid type: integer `1`, expected a table")];
    check(SERVE, "table", &wrong, |line| format!("{line}\n{PASS}"));
}

/// `gateway envoy` reads the same file, and says the same.
#[test]
#[cfg(feature = "envoy")]
fn the_processor_says_the_same_of_a_file() {
    for arguments in [&["envoy"][..], &["envoy", "--print-config"]] {
        check(arguments, "processor", ENVOY, |line| format!("[envoy]\n{line}\n{PASS}"));
    }
}

/// What a configuration for Envoy is written of.
#[test]
#[cfg(feature = "envoy")]
fn a_configuration_for_envoy_needs_upstreams_and_processors() {
    let print = &["envoy", "--print-config"];
    assert_eq!(
        said(print, "no-upstreams", PASS),
        "gateway: expected upstreams in the file, to which Envoy sends requests; found none"
    );
    let file = format!(
        "[envoy]\nlisten = \"127.0.0.1:0\"\n[upstream.openai-chat]\nurl = \"https://api.example.com\"\n{PASS}"
    );
    assert_eq!(
        said(print, "no-processors", &file),
        "gateway: expected processors, or listen with a port, under [envoy]; found port 0"
    );
}

/// The program says what it was built without.
#[test]
#[cfg(not(feature = "envoy"))]
fn a_build_without_envoy_says_so() {
    assert_eq!(
        said(&["envoy"], "no-feature", PASS),
        "gateway: expected a program with the feature envoy, found one without: build it with `cargo build -p gateway --features envoy`"
    );
}

/// A value of `attempts`, and what is said of it.
const ATTEMPTS: &[(&str, &str)] = &[
    ("{}", "line 5, column 12: policy[0].attempts: expected the key redis, found none"),
    (
        "\"redis://127.0.0.1\"",
        "line 5, column 12: policy[0].attempts: expected a table such as { redis = \"redis://…\" }, found a string",
    ),
    ("{ redis = 1 }", "line 5, column 22: policy[0].attempts.redis: expected a string, found an integer"),
    (
        "{ redis = \"redis://127.0.0.1\", ttl = \"1m\" }",
        "line 5, column 43: policy[0].attempts: expected a key out of redis, time_to_live, timeout, found \"ttl\"",
    ),
    (
        "{ redis = \"redis://127.0.0.1\", time_to_live = \"1h\" }",
        "line 5, column 58: policy[0].attempts.time_to_live: expected a duration such as 250ms, 10s or 2m, found \"1h\"",
    ),
    (
        "{ redis = \"redis://127.0.0.1\", time_to_live = \"none\" }",
        "line 5, column 58: policy[0].attempts.time_to_live: expected a duration such as 250ms, 10s or 2m, found \"none\"",
    ),
    (
        "{ redis = \"redis://127.0.0.1\", timeout = 500 }",
        "line 5, column 53: policy[0].attempts.timeout: expected a string, found an integer",
    ),
];

/// The same, where there is Redis.
#[cfg(feature = "redis")]
const ADDRESSES: &[(&str, &str)] = &[
    (
        "{ redis = \"127.0.0.1:6379\" }",
        "line 5, column 14: policy[0]: attempts.redis: expected an address such as redis://127.0.0.1:6379, found something else",
    ),
    (
        "{ redis = \"http://:secret@127.0.0.1\" }",
        "line 5, column 14: policy[0]: attempts.redis: expected an address such as redis://127.0.0.1:6379, found something else",
    ),
    (
        "{ redis = \"redis://127.0.0.1\", time_to_live = \"0s\" }",
        "line 5, column 43: policy[0]: attempts.time_to_live: expected some time, found none",
    ),
    (
        "{ redis = \"redis://127.0.0.1\", timeout = \"0ms\" }",
        "line 5, column 43: policy[0]: attempts.timeout: expected some time, found none",
    ),
];

#[cfg(not(feature = "redis"))]
const ADDRESSES: &[(&str, &str)] = &[(
    "{ redis = \"redis://127.0.0.1\" }",
    "line 5, column 14: policy[0]: attempts.redis: expected the feature redis, found a build without it",
)];

#[test]
fn every_mistake_in_attempts_is_told_with_its_place() {
    let session = "session = { header = \"x-session-id\" }\n";
    for wrong in [ATTEMPTS, ADDRESSES] {
        check(SERVE, &format!("attempts-{}", wrong.len()), wrong, |value| {
            format!("{session}[[policy]]\nkind = \"validate-parameters\"\nbudget = 3\nattempts = {value}\n")
        });
    }
    let alone = [(
        "attempts = { redis = \"redis://127.0.0.1\" }",
        "line 4, column 1: policy[0]: attempts: expected a budget that they are counted for, found none",
    )];
    check(SERVE, "no-budget", &alone, |line| {
        format!("{session}[[policy]]\nkind = \"validate-parameters\"\n{line}\n")
    });
}
