//! What a process uses.

use std::fs;
use std::time::Duration;

/// A process of this machine. Everything is `None` where there is no `/proc`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process(u32);

impl Process {
    pub(crate) fn new(id: u32) -> Self {
        Self(id)
    }

    /// How many bytes of memory it has now.
    pub(crate) fn resident(self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// How many bytes of memory it has had at most.
    pub(crate) fn most_resident(self) -> Option<u64> {
        self.status("VmHWM:")
    }

    /// How much time it has spent on a processor, in its own code and in the kernel's.
    pub(crate) fn processor_time(self) -> Option<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?;
        // The second field is a name that may hold spaces, in brackets.
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        Some(Duration::from_millis(ticks * MILLISECONDS_PER_TICK))
    }

    /// How many sockets it has open.
    pub(crate) fn sockets(self) -> Option<usize> {
        let files = fs::read_dir(format!("/proc/{}/fd", self.0)).ok()?;
        let targets = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        Some(targets.filter(|target| target.as_os_str().as_encoded_bytes().starts_with(b"socket:")).count())
    }

    fn status(self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
    }
}

/// Linux counts times towards programs in hundredths of a second, whatever its own clock is.
const MILLISECONDS_PER_TICK: u64 = 10;
