//! What the layer costs: the same traffic directly, through a bare proxy, through policies, and through Envoy.
//!
//! Upstream, proxies, Envoy's processors and client are processes of their own with one thread each, all of this program: so
//! the memory and the processor time of a proxy are its own, and no process needs more than two files per stream.

mod check;
mod child;
mod cli;
mod client;
mod envoy;
mod hold;
mod hop;
mod live;
mod open;
mod open_files;
mod policies;
mod process;
mod processor;
mod proxy;
mod server;
mod soak;
mod speed;
mod table;
mod tally;
mod traffic;
mod upstream;
mod way;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use crate::cli::{Cli, Command};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Cli::parse().command).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "load: {error}");
            ExitCode::from(2)
        }
    }
}

/// Carries out a command; false if something was not as it should be.
async fn run(command: Command) -> Result<bool, Box<dyn Error>> {
    match command {
        Command::Speed(options) => speed::run(&options).await,
        Command::Hold(options) => hold::run(&options).await,
        Command::Soak(options) => soak::run(&options).await,
        Command::Upstream { chunks } => {
            server::serve(upstream::router(chunks)).await?;
            Ok(true)
        }
        Command::Proxy { way, upstream } => {
            server::serve(proxy::router(way, upstream)?).await?;
            Ok(true)
        }
        Command::SoakUpstream { pace_ms } => {
            server::serve(soak::upstream(Duration::from_millis(pace_ms))).await?;
            Ok(true)
        }
        Command::SoakProxy { upstream, idle_ms } => {
            server::serve(soak::proxy(upstream, Duration::from_millis(idle_ms))?).await?;
            Ok(true)
        }
        Command::Processor { way } => {
            server::run(async |listener| processor::serve(way, listener).await).await?;
            Ok(true)
        }
    }
}
