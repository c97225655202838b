//! `gateway`: put policies between model APIs and their clients; look at recorded streams, check them, replay them.

mod backtest;
mod check;
mod cli;
mod config;
mod doors;
#[cfg(feature = "envoy")]
mod envoy;
mod exchange;
mod html;
mod inspect;
mod key;
mod listen;
mod live;
mod logs;
#[cfg(not(all(feature = "http", feature = "mcp", feature = "tls")))]
mod missing;
mod policies;
mod progress;
mod reload;
mod replay;
mod serve;
mod telemetry;
mod tools;
mod upstream;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Arguments, Command};

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(code) => code,
        Err(message) => {
            #[allow(clippy::print_stderr)]
            {
                eprintln!("gateway: {message}");
            }
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode, String> {
    match arguments.command {
        None => serve::run(&arguments.serve),
        Some(Command::Serve(arguments)) => serve::run(&arguments),
        #[cfg(feature = "envoy")]
        Some(Command::Envoy(arguments)) => envoy::run(&arguments),
        #[cfg(not(feature = "envoy"))]
        Some(Command::Envoy(_)) => {
            Err("expected a program with the feature envoy, found one without: build it with \
             `cargo build -p gateway --features envoy`"
                .to_owned())
        }
        Some(Command::Inspect(arguments)) => inspect::run(&arguments),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::Check(arguments)) => check::run(&arguments),
        Some(Command::Backtest(arguments)) => backtest::run(&arguments),
        Some(Command::Key) => key::run(),
    }
}
