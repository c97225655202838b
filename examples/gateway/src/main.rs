//! `gateway`: look at recorded model streams, and run them through policies.

mod inspect;
mod replay;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use stream_core::wire::{self, SharedFormat};
use stream_testkit::{ChunkLog, Cut};

/// Look at recorded model streams, and run them through policies.
#[derive(Debug, Parser)]
#[command(name = "gateway", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fold a recorded stream and show its blocks.
    Inspect {
        /// A chunk log: an SSE body, JSON lines, a JSON array of chunks, or a whole response.
        file: PathBuf,
        /// One JSON object instead of a table.
        #[arg(long)]
        json: bool,
        /// The wire format, instead of finding it out.
        #[arg(long, value_parser = format_by_name)]
        format: Option<SharedFormat>,
    },
    /// Run a recorded stream through an allow-all policy; the resulting bytes go to standard output.
    Replay {
        /// A chunk log.
        file: PathBuf,
        /// How the bytes are cut: original, whole, event, byte, random:SEED, or a number of bytes.
        #[arg(long, default_value = "original")]
        cut: Cut,
        /// The wire format, instead of finding it out.
        #[arg(long, value_parser = format_by_name)]
        format: Option<SharedFormat>,
    },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
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

async fn run(arguments: Arguments) -> Result<ExitCode, String> {
    match arguments.command {
        Command::Inspect { file, json, format } => {
            let log = ChunkLog::load(&file).map_err(|error| error.to_string())?;
            inspect::run(&log, format, json)
        }
        Command::Replay { file, cut, format } => {
            let log = ChunkLog::load(&file).map_err(|error| error.to_string())?;
            replay::run(&log, cut, format).await
        }
    }
}

fn format_by_name(name: &str) -> Result<SharedFormat, String> {
    wire::named(name).ok_or_else(|| {
        let known: Vec<&str> = wire::built_in().iter().map(|format: &Arc<_>| format.name()).collect();
        format!("expected one of {}, found {name}", known.join(", "))
    })
}
