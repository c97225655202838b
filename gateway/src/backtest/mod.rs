//! `gateway backtest`: what would this file have done to last week's recordings?

mod compare;
mod page;
mod report;
mod run;
mod text;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::report::Report;
use crate::cli::{self, FailOn};
use crate::config::Config;
use crate::policies::note_tool_loop;

/// Runs every recording through the policies, and tells what came of it.
pub(crate) fn run(arguments: &cli::Backtest) -> Result<ExitCode, String> {
    let new = Config::load(&arguments.config)?;
    let old = arguments.against.as_deref().map(Config::load).transpose()?;
    note_tool_loop(&new, &arguments.config);
    let files = recordings(&arguments.recordings)?;
    if files.is_empty() {
        return Err("expected recordings (.sse, .json or .jsonl files), found none".to_owned());
    }
    if let Some(directory) = &arguments.html {
        std::fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    }
    let results = run::all(&files, &new, old.as_ref(), arguments);
    let report = Report::of(&results);
    if let Some(directory) = &arguments.html {
        let index = directory.join("index.html");
        std::fs::write(&index, page::index(&report, &results))
            .map_err(|error| format!("{}: {error}", index.display()))?;
    }
    let text = if arguments.json { report.json(&results) } else { text::text(&report, &results) };
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| format!("standard output: {error}"))?;
    let fails = |on: &FailOn| match on {
        FailOn::Bad => report.bad > 0,
        FailOn::Edit => report.edited > 0,
        FailOn::End => report.ended > 0,
        FailOn::Differ => report.differing > 0,
    };
    Ok(ExitCode::from(u8::from(arguments.fail_on.iter().any(fails))))
}

/// The recordings below the paths, in order. Of what a gateway recorded, only what came from the upstream counts.
fn recordings(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, &mut found)?;
        } else {
            found.push(path.clone());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", directory.display());
    for entry in std::fs::read_dir(directory).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_log = [".sse", ".json", ".jsonl"].iter().any(|ending| name.ends_with(ending));
        let is_beside =
            name.ends_with(".splits.json") || name.ends_with(".expected.json") || name.contains(".out.");
        if path.is_dir() {
            walk(&path, found)?;
        } else if is_log && !is_beside {
            found.push(path);
        }
    }
    Ok(())
}
