//! A program without features refuses what it cannot do, and says how to get a program that can.

#![cfg(not(any(feature = "http", feature = "json-schema", feature = "mcp", feature = "tls")))]
#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::path::PathBuf;
use std::process::Command;

/// What the program says of a configuration, without the file's own name.
fn said(name: &str, text: &str) -> String {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    std::fs::write(&file, format!("{text}\n[[policy]]\nkind = \"passthrough\"\n")).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_gateway"))
        .args(["--listen", "127.0.0.1:0", "--config", file.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{name}");
    let error = String::from_utf8(out.stderr).unwrap();
    error.replace(&format!("{}: ", file.display()), "").trim_end().to_owned()
}

/// What a program without the feature says of it.
fn without(feature: &str, beside: &str) -> String {
    format!(
        "expected a program with the feature {feature} beside {beside}, found one without: build it with \
         `cargo build -p gateway --features {feature}`"
    )
}

#[test]
fn https_upstreams_need_tls() {
    let text = "[upstream.openai-chat]\nurl = \"https://127.0.0.1:1\"";
    assert_eq!(said("https", text), format!("gateway: {}", without("tls", "an upstream over https")));
}

#[test]
fn an_encrypted_listener_needs_tls() {
    let text = "[tls]\ncertificate = \"a.pem\"\nkey = \"a.key\"";
    assert_eq!(said("tls", text), format!("gateway: {}", without("tls", "tls")));
}

#[test]
fn tools_of_mcp_servers_need_mcp() {
    let text = "[tool_loop]\n[[tool_loop.mcp]]\ncommand = [\"a\"]";
    let expected = format!("gateway: line 2, column 1: {}", without("mcp", "tool_loop.mcp"));
    assert_eq!(said("mcp", text), expected);
}

#[test]
fn tools_of_http_endpoints_need_http() {
    let text = "[tool_loop]\n[[tool_loop.http]]\nurl = \"http://127.0.0.1:1\"\nname = \"a\"";
    let expected = format!("gateway: line 2, column 1: {}", without("http", "tool_loop.http"));
    assert_eq!(said("http", text), expected);
}
