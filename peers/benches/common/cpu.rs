//! Criterion over the time that the thread spends on the processor: other work of the machine hardly changes this time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cpu_time::ThreadTime;
use criterion::Criterion;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};

/// The time of the thread on the processor.
pub struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = ThreadTime;
    type Value = Duration;

    fn start(&self) -> ThreadTime {
        ThreadTime::now()
    }

    fn end(&self, start: ThreadTime) -> Duration {
        start.elapsed()
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        const WALL: &WallTime = &WallTime;
        WALL.formatter()
    }
}

/// Criterion with short runs: the benches of a crate end in a few minutes.
pub fn criterion() -> Criterion<CpuTime> {
    Criterion::default()
        .with_measurement(CpuTime)
        .output_directory(&results())
        .without_plots()
        .sample_size(10)
        .nresamples(1000)
        .warm_up_time(Duration::from_millis(40))
        .measurement_time(Duration::from_millis(150))
        .configure_from_args()
}

/// Where criterion puts its results: beside the program, in the target folder.
fn results() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().nth(3).unwrap_or(Path::new("target")).join("criterion")
}

/// The median of what was measured last under these names, in nanoseconds for each run; none where nothing was measured.
pub fn median(group: &str, name: &str) -> Option<f64> {
    let estimates = results().join(group).join(name).join("new/estimates.json");
    let estimates: serde_json::Value = serde_json::from_slice(&std::fs::read(estimates).ok()?).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}

/// Whether the program only shows that its benches run: `cargo bench -- --test`.
pub fn is_test() -> bool {
    std::env::args().any(|argument| argument == "--test")
}
