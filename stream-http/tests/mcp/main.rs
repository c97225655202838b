//! Real MCP servers: one written with `rmcp`, over stdio and streamable HTTP, and one with the Python package `mcp`.
//!
//! The server of the stdio tests is this program itself, started with `serve`: so it has a `main` of its own.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, clippy::panic, clippy::unused_self)]

mod checks;
mod python;
mod server;

use std::process::ExitCode;
use std::time::Duration;

use checks::Check;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if arguments.first().is_some_and(|first| first == "serve") {
        runtime.block_on(server::stdio());
        return ExitCode::SUCCESS;
    }
    if let [first, port] = &arguments[..]
        && first == "serve-http"
    {
        runtime.block_on(server::http_until_killed(port.parse().unwrap()));
        return ExitCode::SUCCESS;
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let mut failed = 0;
    for (name, check) in checks::ALL {
        if filter.is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        let checked = std::panic::catch_unwind(|| {
            let check = match check {
                Check::Plain(check) => check(),
                Check::Python(check) => check(python::interpreter()?),
            };
            Some(runtime.block_on(async { tokio::time::timeout(Duration::from_secs(400), check).await }))
        });
        let outcome = match checked {
            Ok(Some(Ok(()))) => "ok".to_owned(),
            Ok(None) => format!("ignored, needs Python with the package mcp {}", python::VERSION),
            _ => "FAILED".to_owned(),
        };
        println!("test {name} ... {outcome}");
        failed += usize::from(outcome == "FAILED");
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
