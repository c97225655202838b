//! What can be said on the command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use stream_core::wire::{self, SharedFormat};
use stream_testkit::Cut;
use stream_testkit::conformance::Deviation;
use tracing::level_filters::LevelFilter;

/// Put policies between model APIs and their clients; look at recorded streams, check them, replay them.
///
/// Without a command it serves; without anything it serves a demonstration.
#[derive(Debug, Parser)]
#[command(name = "gateway", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: Serve,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the APIs, with policies between clients and upstreams.
    Serve(Serve),
    /// Serve the policies to Envoy, as its external processor (ext_proc).
    Envoy(Envoy),
    /// Fold a recorded stream and show its blocks.
    Inspect(Inspect),
    /// Run a recorded stream through policies: the resulting bytes go to standard output, the decisions to standard
    /// error.
    Replay(Replay),
    /// Run all recordings of directories through the policies of a file: what would it have done?
    Backtest(Backtest),
    /// Make a key for a client: the key, and the line of the configuration that knows it by its hash.
    Key,
    /// Check recorded streams against the rules of their format: a line for each violation, and exit code 1.
    Check(Check),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Serve {
    /// Upstreams, policies, limits and recording; the demonstration without it.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// One upstream for all APIs, instead of those of the file.
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// The time before each chunk of the program's own answers, which are given without upstreams; 30ms unless told.
    #[arg(long, value_name = "TIME", value_parser = crate::config::duration)]
    pub(crate) pace: Option<Duration>,
    /// Where to listen; 127.0.0.1:8080 unless the file says otherwise. Port 0 is any that is free.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where metrics and the live page are, instead of where the file says. Port 0 is any that is free.
    #[arg(long, value_name = "ADDR")]
    pub(crate) admin: Option<SocketAddr>,
    /// Record what upstreams answer and what clients get, as logs in this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) logs: Logs,
}

#[derive(Debug, Args)]
#[cfg_attr(not(feature = "envoy"), allow(dead_code))]
pub(crate) struct Envoy {
    /// Policies, limits, upstreams, and what `[envoy]` says.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Writes a configuration of Envoy for the file's upstreams to standard output, and ends.
    #[arg(long)]
    pub(crate) print_config: bool,
    /// Where Envoy connects to; 127.0.0.1:50051 unless the file says otherwise. Port 0 is any that is free.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where health and counts are told; 127.0.0.1:50052 unless the file says otherwise.
    #[arg(long, value_name = "ADDR")]
    pub(crate) admin: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) logs: Logs,
}

/// How much is logged, and how.
#[derive(Debug, Clone, Args)]
pub(crate) struct Logs {
    /// How much is logged on standard error: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log: LevelFilter,
    /// The form of the logs.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
}

/// The form of logs.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    Text,
    /// An object for each line.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// A chunk log: an SSE body, JSON lines, a JSON array of chunks, or a whole response.
    pub(crate) file: PathBuf,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// A chunk log.
    pub(crate) file: PathBuf,
    /// The file whose policies it goes through; without it everything passes.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) asked: Asked,
    /// How the bytes are cut: original, whole, event, byte, random:SEED, or a number of bytes.
    #[arg(long, default_value = "original")]
    pub(crate) cut: Cut,
    /// Print what happened, step by step, instead of the resulting bytes.
    #[arg(long)]
    pub(crate) transcript: bool,
    /// Also write a page that shows what was held, released, dropped and rewritten, when and why.
    #[arg(long, value_name = "OUT")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// What a log does not tell of its request.
#[derive(Debug, Args)]
pub(crate) struct Asked {
    /// The model that was asked for, by which routes, `when` and text calls choose; a log does not tell.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The path of the request, by which routes choose.
    #[arg(long, value_name = "PATH", default_value = "")]
    pub(crate) path: String,
    /// The client of the request, by which routes choose.
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
    /// The session of the request, by which budgets count; without it the request belongs to none.
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,
    /// The tags that the request asks for around calls that are written as text, for policies that allow them.
    #[arg(long, value_name = "OPEN,CLOSE")]
    pub(crate) call_tags: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Backtest {
    /// Recordings, and directories of them.
    #[arg(required = true)]
    pub(crate) recordings: Vec<PathBuf>,
    /// The file whose policies they go through.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Another file, usually the one in force: recordings that fare otherwise under it are listed.
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// Also write a page of the report, and a timeline of each recording, into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) html: Option<PathBuf>,
    /// One JSON document instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// What makes the exit code 1: bad recordings, edits, answers that were ended, differences.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub(crate) fail_on: Vec<FailOn>,
    #[command(flatten)]
    pub(crate) asked: Asked,
}

/// What a backtest can fail on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A recording cannot be read.
    Bad,
    /// An answer is edited.
    Edit,
    /// An answer is ended by a policy.
    End,
    /// An answer fares otherwise than under the other file.
    Differ,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Chunk logs.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// A deviation that providers are known for, and that is no violation here; may be said several times.
    #[arg(long, value_name = "DEVIATION", value_parser = deviation_by_name)]
    pub(crate) allow: Vec<Deviation>,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Format {
    /// The wire format, instead of finding it out: openai-chat, openai-responses, anthropic-messages or gemini.
    #[arg(long = "format", value_name = "FORMAT", value_parser = format_by_name)]
    named: Option<SharedFormat>,
}

impl Format {
    /// The format that was named.
    pub(crate) fn named(&self) -> Option<SharedFormat> {
        self.named.clone()
    }
}

fn format_by_name(name: &str) -> Result<SharedFormat, String> {
    wire::named(name).ok_or_else(|| {
        let known: Vec<&str> = wire::built_in().iter().map(|format: &Arc<_>| format.name()).collect();
        format!("expected one of {}, found {name}", known.join(", "))
    })
}

fn deviation_by_name(name: &str) -> Result<Deviation, String> {
    name.parse().map_err(|_| {
        let known: Vec<&str> = Deviation::ALL.iter().map(|deviation| deviation.name()).collect();
        format!("expected one of {}, found {name}", known.join(", "))
    })
}
