//! `gateway check`: does a stream say what clients of its format expect?

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use stream_testkit::WireKind;
use stream_testkit::conformance::{Allow, Report, check_whole_with, check_with};

use crate::progress::Progress;
use crate::{cli, logs};

/// Checks every file; a line for each violation, with its file and event.
pub(crate) fn run(arguments: &cli::Check) -> Result<ExitCode, String> {
    let allow: Allow = arguments.allow.iter().copied().collect();
    let mut out = std::io::stdout().lock();
    let mut progress = Progress::of(arguments.files.len(), "checked");
    let mut violations = 0;
    for file in &arguments.files {
        let report = check(file, &arguments.format, &allow)?;
        violations += report.violations().len();
        for violation in report.violations() {
            progress.clear();
            writeln!(out, "{}: {violation}", file.display())
                .map_err(|error| format!("standard output: {error}"))?;
        }
        progress.step(1);
    }
    Ok(if violations == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn check(file: &Path, format: &cli::Format, allow: &Allow) -> Result<Report, String> {
    let log = logs::load(file)?;
    let format = match format.named() {
        Some(format) => format.name().parse().ok(),
        None => WireKind::detect(log.bytes()),
    };
    let Some(format) = format else {
        return Err(format!(
            "{}: expected a stream of {}, found nothing that tells; name it with --format",
            file.display(),
            WireKind::ALL.map(WireKind::name).join(", ")
        ));
    };
    let check = if log.is_whole() { check_whole_with } else { check_with };
    Ok(check(format, log.bytes(), allow))
}
