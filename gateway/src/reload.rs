//! A configuration that changes while the program runs.
//!
//! The files are looked at twice a second, and at a SIGHUP. A changed configuration is read and checked whole; it takes over
//! for new requests, and what is under way goes on as it began. One with a mistake changes nothing, and is told.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use crate::config::Config;
use crate::serve::meter::Meter;

/// A value that is replaced as a whole. Clones share it.
#[derive(Debug)]
pub(crate) struct Current<T>(Arc<RwLock<Arc<T>>>);

impl<T> Current<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(value))))
    }

    /// The value now.
    pub(crate) fn current(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn replace(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(value);
    }
}

impl<T> Clone for Current<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// The files of a configuration, and how they are read.
pub(crate) struct Source {
    file: PathBuf,
    load: Box<dyn Fn() -> Result<Config, String> + Send + Sync>,
}

impl Source {
    /// A configuration that is loaded so, from this file and those that it names.
    pub(crate) fn new(
        file: &Path,
        load: impl Fn() -> Result<Config, String> + Send + Sync + 'static,
    ) -> Self {
        Self { file: file.to_owned(), load: Box::new(load) }
    }

    /// Waits for changes, and builds a new value of each; never ends.
    pub(crate) async fn follow<T>(
        self,
        mut config: Config,
        live: Current<T>,
        meter: Meter,
        build: impl Fn(&Config) -> Result<T, String>,
    ) {
        let mut asked = Asked::new();
        let mut seen = self.marks(&config);
        let mut candidate: Option<Vec<Mark>> = None;
        loop {
            let is_asked = asked.next().await;
            let marks = self.marks(&config);
            // A file that is still being written is not read: it stays as it is for a while first.
            let is_settled = candidate.replace(marks.clone()) == Some(marks.clone());
            if !is_asked && (marks == seen || !is_settled) {
                continue;
            }
            seen = marks;
            match (self.load)().and_then(|new| Ok((build(&new)?, new))) {
                Ok((value, new)) => {
                    restart_needed(&config, &new);
                    live.replace(value);
                    config = new;
                    seen = self.marks(&config);
                    meter.counts().reloads.taken();
                    tracing::info!(file = %self.file.display(), "the configuration has changed: it counts from now on");
                }
                Err(error) => {
                    meter.counts().reloads.refused();
                    tracing::error!(%error, "the configuration has changed and is refused: the one before goes on");
                }
            }
        }
    }

    /// What tells a file from another, for each of the files.
    fn marks(&self, config: &Config) -> Vec<Mark> {
        std::iter::once(&self.file).chain(&config.files).map(|file| Mark::of(file)).collect()
    }
}

/// What tells a file from another. A file that is not there has none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark(Option<(SystemTime, u64, u64)>);

impl Mark {
    fn of(file: &Path) -> Self {
        let read = std::fs::metadata(file).ok();
        Self(read.map(|meta| (meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len(), inode(&meta))))
    }
}

#[cfg(unix)]
fn inode(meta: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> u64 {
    0
}

/// Says what only a new start can change.
fn restart_needed(old: &Config, new: &Config) {
    if (old.listen, old.admin, &old.envoy) != (new.listen, new.admin, &new.envoy) {
        tracing::warn!("addresses, windows and the table envoy count from the next start on");
    }
}

/// When to look.
struct Asked {
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

impl Asked {
    fn new() -> Self {
        Self {
            #[cfg(unix)]
            hangup: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
        }
    }

    /// Waits a while; true if a signal has asked meanwhile.
    #[cfg(unix)]
    async fn next(&mut self) -> bool {
        let Some(hangup) = &mut self.hangup else {
            tokio::time::sleep(EVERY).await;
            return false;
        };
        tokio::select! {
            () = tokio::time::sleep(EVERY) => false,
            signal = hangup.recv() => signal.is_some(),
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> bool {
        tokio::time::sleep(EVERY).await;
        false
    }
}

const EVERY: Duration = Duration::from_millis(500);
