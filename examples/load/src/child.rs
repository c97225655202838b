//! This program again, as upstream, proxy or processor.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::process::Process;
use crate::way::Way;

/// A server in a process of its own. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Child {
    child: std::process::Child,
    address: SocketAddr,
}

impl Child {
    /// An upstream whose answers have so many chunks of text.
    pub(crate) fn upstream(chunks: usize) -> Result<Self, Box<dyn Error>> {
        Self::start(&["upstream", "--chunks", &chunks.to_string()])
    }

    /// A proxy of this way.
    pub(crate) fn proxy(way: Way, upstream: SocketAddr) -> Result<Self, Box<dyn Error>> {
        Self::start(&["proxy", "--way", way.name(), "--upstream", &upstream.to_string()])
    }

    /// A processor of this way.
    pub(crate) fn processor(way: Way) -> Result<Self, Box<dyn Error>> {
        Self::start(&["processor", "--way", way.name()])
    }

    /// The upstream of the soak, with this time between two chunks.
    pub(crate) fn soak_upstream(pace: Duration) -> Result<Self, Box<dyn Error>> {
        Self::start(&["soak-upstream", "--pace-ms", &pace.as_millis().to_string()])
    }

    /// The proxy of the soak, whose upstream may be silent for so long.
    pub(crate) fn soak_proxy(upstream: SocketAddr, idle: Duration) -> Result<Self, Box<dyn Error>> {
        let (upstream, idle) = (upstream.to_string(), idle.as_millis().to_string());
        Self::start_with(&["soak-proxy", "--upstream", &upstream, "--idle-ms", &idle], &[GIVING_BACK])
    }

    fn start(arguments: &[&str]) -> Result<Self, Box<dyn Error>> {
        Self::start_with(arguments, &[])
    }

    fn start_with(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("expected standard output of a child, found none")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        Ok(Self { address: line.trim().parse()?, child })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it uses.
    pub(crate) fn process(&self) -> Process {
        Process::new(self.child.id())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Its standard input ends, and so does it.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// With this glibc gives back what was freed, as far as it can: else the memory that a process has says how its heap is
/// fragmented, and not what it holds.
const GIVING_BACK: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.malloc.mmap_threshold=8192:glibc.malloc.mmap_max=1000000:glibc.malloc.trim_threshold=8192:glibc.malloc.top_pad=0",
);
