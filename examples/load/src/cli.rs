//! The command line.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::way::Way;

/// What the layer costs: the same traffic directly, through a bare proxy, and through policies.
#[derive(Debug, Parser)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Throughput, time to the first byte and delay per chunk, as ratios.
    Speed(Speed),
    /// Many slow streams open at once: errors, and memory per stream.
    Hold(Hold),
    /// Many streams for a long time, with faults: every byte, memory over time, and what is left over.
    Soak(Soak),
    /// The scripted upstream.
    #[command(hide = true)]
    Upstream {
        #[arg(long)]
        chunks: usize,
    },
    /// A proxy.
    #[command(hide = true)]
    Proxy {
        #[arg(long)]
        way: Way,
        #[arg(long)]
        upstream: SocketAddr,
    },
    /// The upstream of the soak.
    #[command(hide = true)]
    SoakUpstream {
        #[arg(long)]
        pace_ms: u64,
    },
    /// The proxy of the soak.
    #[command(hide = true)]
    SoakProxy {
        #[arg(long)]
        upstream: SocketAddr,
        #[arg(long)]
        idle_ms: u64,
    },
    /// A processor of Envoy's.
    #[command(hide = true)]
    Processor {
        #[arg(long)]
        way: Way,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Speed {
    /// The ways; ratios are to the first and the second. Those with Envoy need its program in ENVOY_BIN.
    #[arg(long, value_delimiter = ',', default_value = "direct,bare,layer,chain")]
    pub(crate) ways: Vec<Way>,
    /// How many streams run at once.
    #[arg(long, default_value_t = 64)]
    pub(crate) streams: usize,
    /// How many follow each other on each connection, where chunks come as fast as they can.
    #[arg(long, default_value_t = 10)]
    pub(crate) each: usize,
    /// How many chunks of text a stream has.
    #[arg(long, default_value_t = 300)]
    pub(crate) chunks: usize,
    /// How often every way is taken, in turns.
    #[arg(long, default_value_t = 7)]
    pub(crate) rounds: usize,
    /// The time between two chunks where delays are measured.
    #[arg(long, default_value_t = 20)]
    pub(crate) pace_ms: u64,
}

impl Speed {
    pub(crate) fn pace(&self) -> Duration {
        Duration::from_millis(self.pace_ms)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Hold {
    /// The ways, of which the first is what the others are compared with. Those with Envoy need its program in ENVOY_BIN.
    #[arg(long, value_delimiter = ',', default_value = "bare,layer,chain")]
    pub(crate) ways: Vec<Way>,
    /// How many streams are open at once.
    #[arg(long, default_value_t = 5000)]
    pub(crate) streams: usize,
    /// How many chunks of text a stream has.
    #[arg(long, default_value_t = 20)]
    pub(crate) chunks: usize,
    /// The time between two chunks. All streams have to be open before the first one ends.
    #[arg(long, default_value_t = 2000)]
    pub(crate) pace_ms: u64,
}

impl Hold {
    pub(crate) fn pace(&self) -> Duration {
        Duration::from_millis(self.pace_ms)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Soak {
    /// How many streams are open at once.
    #[arg(long, default_value_t = 5000)]
    pub(crate) streams: usize,
    /// For how long streams are opened. The last ones are read to their ends.
    #[arg(long, default_value_t = 1200)]
    pub(crate) seconds: u64,
    /// The time between two chunks.
    #[arg(long, default_value_t = 2000)]
    pub(crate) pace_ms: u64,
    /// The longest silence of the upstream: much longer than the time between two chunks.
    #[arg(long, default_value_t = 20_000)]
    pub(crate) idle_ms: u64,
}

impl Soak {
    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    pub(crate) fn pace(&self) -> Duration {
        Duration::from_millis(self.pace_ms)
    }

    pub(crate) fn idle(&self) -> Duration {
        Duration::from_millis(self.idle_ms)
    }
}
