//! `gateway`: look at recorded model streams, check them, and run them through policies.

mod check;
mod cli;
mod html;
mod inspect;
mod logs;
mod policies;
mod progress;
mod replay;

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
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
    }
}
