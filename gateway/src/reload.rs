//! A configuration that changes while the program runs.
//!
//! The files are looked at twice a second, and at a SIGHUP. A changed configuration is read and checked whole; it takes over
//! for new requests, and what is under way goes on as it began. One with a mistake changes nothing, and is told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;

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
    seen: Marks,
}

impl Source {
    /// Loads a configuration so, from this file and those that it names.
    pub(crate) fn load(
        file: &Path,
        load: impl Fn() -> Result<Config, String> + Send + Sync + 'static,
    ) -> Result<(Config, Self), String> {
        // What changes while it is read has changed.
        let before = Marks::of([file]);
        let config = load()?;
        let seen = before.of_files(file, &config);
        Ok((config, Self { file: file.to_owned(), load: Box::new(load), seen }))
    }

    /// Waits for changes, and builds a new value of each; never ends.
    pub(crate) async fn follow<T>(
        mut self,
        mut config: Config,
        live: Current<T>,
        meter: Meter,
        build: impl for<'a> Fn(&'a Config) -> BoxFuture<'a, Result<T, String>>,
    ) {
        let mut asked = Asked::new();
        let mut candidate: Option<Marks> = None;
        loop {
            let is_asked = asked.next().await;
            let marks = Marks::of(self.seen.0.keys());
            // A file that is still being written is not read: it stays as it is for a while first.
            let is_settled = candidate.replace(marks.clone()).as_ref() == Some(&marks);
            if !is_asked && (marks == self.seen || !is_settled) {
                continue;
            }
            let loaded = match (self.load)() {
                Ok(mut new) => {
                    new.clients = new.clients.keeping(&config.clients);
                    build(&new).await.map(|value| (value, new))
                }
                Err(error) => Err(error),
            };
            match loaded {
                Ok((value, new)) => {
                    restart_needed(&config, &new);
                    live.replace(value);
                    self.seen = marks.of_files(&self.file, &new);
                    config = new;
                    meter.counts().reloads.taken();
                    tracing::info!(file = %self.file.display(), "the configuration has changed: it counts from now on");
                }
                Err(error) => {
                    self.seen = marks;
                    meter.counts().reloads.refused();
                    tracing::error!(%error, "the configuration has changed and is refused: the one before goes on");
                }
            }
        }
    }
}

/// What tells files from others, for each of some files.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Marks(BTreeMap<PathBuf, Mark>);

impl Marks {
    /// What they are now.
    fn of(files: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let marks = files.into_iter().map(|file| (file.as_ref().to_owned(), Mark::of(file.as_ref())));
        Self(marks.collect())
    }

    /// The marks of the files of a configuration that was read behind these: of files that it did not name before, what
    /// they are now.
    fn of_files(self, file: &Path, config: &Config) -> Self {
        let mut now = Self::of(std::iter::once(file).chain(config.files.iter().map(PathBuf::as_path)));
        for (file, mark) in &mut now.0 {
            if let Some(before) = self.0.get(file) {
                mark.clone_from(before);
            }
        }
        now
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
    let lasting =
        |config: &Config| (config.listen, config.admin, config.envoy.clone(), config.telemetry.clone());
    if lasting(old) != lasting(new) {
        tracing::warn!("addresses, windows and the tables envoy and telemetry count from the next start on");
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
