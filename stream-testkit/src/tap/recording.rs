//! What was recorded, and how it is written.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;

use super::Tap;
use crate::conformance::{Ended, check};
use crate::{ChunkLog, Form, LogError};

/// The file that a [`Tap`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// The log's file.
    pub path: PathBuf,
    /// The number of bytes of the body in the file.
    pub bytes: usize,
    /// Whether the recording stopped before the response did: there was too much of it, or the stream was dropped
    /// before its ending came.
    pub truncated: bool,
}

/// Waits for the files of a [`Tap`].
#[derive(Debug, Clone, Default)]
pub struct Recording(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    outcome: Mutex<Option<Arc<Result<Saved, LogError>>>>,
    told: Condvar,
}

impl Recording {
    /// The result of the writing; `None` while the stream runs or the files are written.
    #[must_use]
    pub fn outcome(&self) -> Option<Arc<Result<Saved, LogError>>> {
        self.lock().clone()
    }

    /// Waits until the files are written, or could not be. Blocks the thread, for good if the stream neither ends nor
    /// is dropped.
    #[must_use]
    pub fn wait(&self) -> Arc<Result<Saved, LogError>> {
        let mut outcome = self.lock();
        loop {
            if let Some(outcome) = &*outcome {
                return Arc::clone(outcome);
            }
            outcome = self.0.told.wait(outcome).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn tell(&self, outcome: Arc<Result<Saved, LogError>>) {
        *self.lock() = Some(outcome);
        self.0.told.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Result<Saved, LogError>>>> {
        self.0.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Collects the pieces of one stream.
pub(super) struct Recorder {
    /// Gone when it was written.
    tap: Option<Tap>,
    pieces: Vec<(Duration, Bytes)>,
    bytes: usize,
    full: bool,
}

impl Recorder {
    pub(super) fn new(tap: Tap) -> Self {
        Self { tap: Some(tap), pieces: Vec::new(), bytes: 0, full: false }
    }

    pub(super) fn record(&mut self, bytes: &[u8]) {
        let Some(tap) = &self.tap else { return };
        if bytes.is_empty() || self.full {
            return;
        }
        self.full = self.bytes.saturating_add(bytes.len()) > tap.max_bytes;
        if !self.full {
            self.bytes += bytes.len();
            self.pieces.push((tap.start.elapsed(), Bytes::copy_from_slice(bytes)));
        }
    }

    /// Writes the files, once, on a thread of their own: the stream is not to wait for a disk.
    pub(super) fn finish(&mut self, ended: bool) {
        let Some(tap) = self.tap.take() else { return };
        let pieces = std::mem::take(&mut self.pieces);
        let full = self.full;
        let recording = tap.recording.clone();
        let file = tap.path.display().to_string();
        let writing =
            thread::Builder::new().name("tap".to_owned()).spawn(move || write(tap, pieces, full, ended));
        if let Err(error) = writing {
            recording.tell(Arc::new(Err(LogError::io(&file, "written", error))));
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.finish(false);
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("tap", &self.tap).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

fn write(tap: Tap, pieces: Vec<(Duration, Bytes)>, full: bool, ended: bool) {
    let outcome = Arc::new(save(&tap, pieces, full, ended));
    // The handle first: whoever is told may panic.
    tap.recording.tell(Arc::clone(&outcome));
    if let Some(told) = tap.on_saved {
        told(&outcome);
    }
}

fn save(tap: &Tap, pieces: Vec<(Duration, Bytes)>, full: bool, ended: bool) -> Result<Saved, LogError> {
    let name = tap.path.display().to_string();
    let whole = tap.path.extension().is_some_and(|ending| ending == "json");
    let (mut log, form) = if whole {
        let body: Vec<u8> = pieces.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        (ChunkLog::from_whole(name, body), Form::Whole)
    } else {
        (ChunkLog::from_chunks(name, pieces), Form::Sse)
    };
    let truncated = full || !(ended || has_ending(&log));
    if truncated {
        log.mark_truncated();
    }
    log.save(&tap.path, form)?;
    Ok(Saved { path: tap.path.clone(), bytes: log.bytes().len(), truncated })
}

/// Whether the response's ending is in it: many clients drop a stream then, and do not wait for the end of its bytes.
fn has_ending(log: &ChunkLog) -> bool {
    let Some(kind) = log.kind() else { return false };
    if log.is_whole() {
        serde_json::from_slice::<serde::de::IgnoredAny>(log.bytes()).is_ok()
    } else {
        check(kind, log.bytes()).view().ended != Ended::Open
    }
}
