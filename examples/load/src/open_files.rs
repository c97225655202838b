//! How many files a process may have open.

use std::fs;

/// Whether so many streams can be open at once: the proxy, or Envoy, has two connections for each.
pub(crate) fn check(streams: usize) -> Result<(), String> {
    let needed = 2 * streams + 64;
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let allowed = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    match allowed {
        Some(allowed) if allowed < needed => Err(format!(
            "expected {needed} open files to be allowed, found {allowed}: `ulimit -n {needed}` first"
        )),
        _ => Ok(()),
    }
}
