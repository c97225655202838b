//! Real MCP servers: one written with `rmcp`, over stdio and streamable HTTP, and one with the Python package `mcp`.
//!
//! The server of the stdio tests is this program itself, started with `serve`: so it has a `main` of its own.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, clippy::panic, clippy::unused_self)]

mod checks;
mod python;
mod server;

use std::process::ExitCode;
use std::sync::LazyLock;
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
    let chosen =
        checks::ALL.iter().filter(|(name, _)| filter.is_none_or(|filter| name.contains(filter.as_str())));
    // They wait for their servers more than they compute.
    let failed = std::thread::scope(|scope| {
        let running: Vec<_> =
            chosen.map(|(name, check)| (name, scope.spawn(|| outcome(&runtime, check)))).collect();
        let mut failed = false;
        for (name, outcome) in running {
            let outcome = outcome.join().unwrap_or_else(|_| "FAILED".to_owned());
            println!("test {name} ... {outcome}");
            failed |= outcome == "FAILED";
        }
        failed
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs a check. It panics where the check fails.
fn outcome(runtime: &tokio::runtime::Runtime, check: &Check) -> String {
    static PYTHON: LazyLock<Option<String>> = LazyLock::new(python::interpreter);
    let check = match check {
        Check::Plain(check) => check(),
        Check::Python(check) => match PYTHON.clone() {
            Some(python) => check(python),
            None => return format!("ignored, needs Python with the package mcp {}", python::VERSION),
        },
    };
    match runtime.block_on(async { tokio::time::timeout(Duration::from_secs(400), check).await }) {
        Ok(()) => "ok".to_owned(),
        Err(_) => "FAILED".to_owned(),
    }
}
