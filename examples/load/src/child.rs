//! This program again, as upstream or proxy.

use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child as Process, Command, Stdio};
use std::time::Duration;

use crate::way::Way;

/// A server in a process of its own. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Child {
    process: Process,
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

    fn start(arguments: &[&str]) -> Result<Self, Box<dyn Error>> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = process.stdout.take().ok_or("expected standard output of a child, found none")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        Ok(Self { address: line.trim().parse()?, process })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many bytes of memory it has now; `None` where there is no `/proc`.
    pub(crate) fn resident(&self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// How many bytes of memory it has had at most.
    pub(crate) fn most_resident(&self) -> Option<u64> {
        self.status("VmHWM:")
    }

    /// How much time it has spent on a processor, in its own code and in the kernel's.
    pub(crate) fn processor_time(&self) -> Option<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).ok()?;
        // The second field is a name that may hold spaces, in brackets.
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        Some(Duration::from_millis(ticks * MILLISECONDS_PER_TICK))
    }

    fn status(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Its standard input ends, and so does it.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Linux counts times towards programs in hundredths of a second, whatever its own clock is.
const MILLISECONDS_PER_TICK: u64 = 10;
