//! Recordings through policies, on all cores.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use stream_core::{Action, Decision};
use stream_http::Api;
use stream_testkit::{ChunkLog, Replayed, WireKind};

use super::compare::{self, Difference};
use crate::config::Config;
use crate::policies::Policies;
use crate::progress::Progress;
use crate::{cli, html, logs, replay};

/// What came of one recording.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) file: PathBuf,
    /// The page of its timeline, in the directory of the pages.
    pub(super) page: Option<String>,
    pub(super) result: Result<Outcome, String>,
}

/// What the policies did to a recording.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) decisions: Vec<Decision>,
    pub(super) edited: bool,
    /// The answer was ended early by a policy.
    pub(super) ended: bool,
    /// The stream was closed for an error.
    pub(super) error: Option<String>,
    /// When the last byte left.
    pub(super) took: Duration,
    /// How it differs from what the other file would have done.
    pub(super) difference: Option<Difference>,
}

/// Tries every recording. A bad one is a row, and not an end.
pub(super) fn all(
    files: &[PathBuf],
    new: &Config,
    old: Option<&Config>,
    arguments: &cli::Backtest,
) -> Vec<Tried> {
    let next = AtomicUsize::new(0);
    let tried = Mutex::new((Vec::with_capacity(files.len()), Progress::of(files.len(), "tried")));
    let cores = thread::available_parallelism().map_or(1, usize::from).min(files.len());
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(number) else { return };
                    let one = one(number, file, new, old, arguments);
                    let mut tried = tried.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    tried.0.push((number, one));
                    tried.1.step(1);
                }
            });
        }
    });
    let (mut tried, progress) = tried.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    drop(progress);
    tried.sort_by_key(|(number, _)| *number);
    tried.into_iter().map(|(_, one)| one).collect()
}

fn one(number: usize, file: &Path, new: &Config, old: Option<&Config>, arguments: &cli::Backtest) -> Tried {
    let mut page = None;
    let result = logs::load(file).and_then(|log| {
        let replayed = through(&log, new, arguments)?;
        if let Some(directory) = &arguments.html {
            let name = format!("{number:06}.html");
            let path = directory.join(&name);
            std::fs::write(&path, html::page(&replayed))
                .map_err(|error| format!("{}: {error}", path.display()))?;
            page = Some(name);
        }
        let difference = match old {
            Some(old) => compare::difference(&through(&log, old, arguments)?, &replayed),
            None => None,
        };
        Ok(outcome(&replayed, difference))
    });
    Tried { file: file.to_owned(), page, result }
}

/// A recording through the policies that a file has for it.
fn through(log: &ChunkLog, config: &Config, arguments: &cli::Backtest) -> Result<Replayed, String> {
    let api = log.kind().map(WireKind::name);
    let api = api.and_then(|name| Api::ALL.into_iter().find(|api| api.name() == name));
    let policies = Policies::for_log(config, api, &arguments.asked);
    policies.check_whole(log)?;
    replay::through(log, stream_core::Config::default(), stream_testkit::Cut::Original, &policies)
}

fn outcome(replayed: &Replayed, difference: Option<Difference>) -> Outcome {
    let ended = |decision: &Decision| decision.enforced && decision.action == Action::Terminated;
    Outcome {
        decisions: replayed.decisions.clone(),
        edited: replayed.is_edited(),
        ended: replayed.decisions.iter().any(ended),
        error: replayed.outcome.as_ref().and_then(|outcome| outcome.error.as_ref()).map(ToString::to_string),
        took: replayed.output.last().map(|(at, _)| *at).unwrap_or_default(),
        difference,
    }
}
