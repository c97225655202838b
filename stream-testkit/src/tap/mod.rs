//! Recording: a live stream becomes a log, and goes on as if nobody looked.

mod recording;
mod tapped;

use std::fmt;
use std::path::PathBuf;

use bytes::Bytes;
use tokio::time::Instant;

use self::recording::Recorder;
pub use self::recording::{Recording, Saved};
pub use self::tapped::Tapped;
use crate::LogError;

/// A recorder of a stream of bytes: every byte, the cuts of the network, and the time of each piece.
///
/// The stream passes unchanged, errors included, and is never waited for: pieces are copied as they pass, and the files
/// are written on a thread of their own once the stream has ended or was dropped. What goes wrong there is told to
/// [`on_saved`](Self::on_saved) and the [`Recording`], never to the stream.
///
/// The file's ending says what is written: `.json` is a response that was not streamed, anything else an SSE body with
/// its cuts and times beside it in `<name>.splits.json`. Both are read by [`ChunkLog::load`](crate::ChunkLog::load).
///
/// ```
/// use bytes::Bytes;
/// use futures::{StreamExt as _, stream};
/// use stream_core::{Passthrough, StreamProcessor};
/// use stream_testkit::{ChunkLog, Tap};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # let directory = std::env::temp_dir().join(format!("stream-testkit-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
/// let upstream = stream::iter([Ok::<_, std::io::Error>(Bytes::from(body))]);
///
/// // Before the policy, and after it.
/// let before = Tap::new(directory.join("hi.in.sse"));
/// let after = Tap::new(directory.join("hi.out.sse"));
/// let recording = before.recording();
/// let processor = StreamProcessor::new(before.on(upstream), Passthrough)?;
/// let sent: Vec<Bytes> = after.on(processor).collect().await;
///
/// assert_eq!(sent.concat(), body.as_bytes());
/// let saved = recording.wait();
/// let saved = saved.as_ref().as_ref().unwrap();
/// assert_eq!(ChunkLog::load(&saved.path)?.bytes(), body);
/// # Ok(())
/// # })
/// # }
/// ```
#[must_use]
pub struct Tap {
    path: PathBuf,
    max_bytes: usize,
    start: Instant,
    on_saved: Option<OnSaved>,
    recording: Recording,
}

/// Told how the writing went.
type OnSaved = Box<dyn FnOnce(&Result<Saved, LogError>) + Send>;

impl Tap {
    /// Will write to this file. The time starts to count now: make it when the request is sent.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_bytes: MAX_BYTES,
            start: Instant::now(),
            on_saved: None,
            recording: Recording::default(),
        }
    }

    /// Records at most this many bytes, 16 MiB by default. At the first piece that is too much recording stops for
    /// good, and the log is marked as [truncated](crate::ChunkLog::is_truncated); the stream goes on.
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Sets a function that gets the result of the writing, on the thread that writes.
    pub fn on_saved(mut self, told: impl FnOnce(&Result<Saved, LogError>) + Send + 'static) -> Self {
        self.on_saved = Some(Box::new(told));
        self
    }

    /// A handle to wait for the files.
    pub fn recording(&self) -> Recording {
        self.recording.clone()
    }

    /// Records this stream: of `Result<Bytes, E>` before a policy, or of `Bytes` after it.
    pub fn on<S>(self, stream: S) -> Tapped<S>
    where
        S: futures::Stream,
        S::Item: Tappable,
    {
        Tapped::new(stream, Recorder::new(self))
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tap")
            .field("path", &self.path)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

/// An item of a stream that can be recorded.
pub trait Tappable {
    /// The bytes; `None` for an error, which is not recorded.
    fn tapped(&self) -> Option<&[u8]>;
}

impl Tappable for Bytes {
    fn tapped(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl<B: AsRef<[u8]>, E> Tappable for Result<B, E> {
    fn tapped(&self) -> Option<&[u8]> {
        self.as_ref().ok().map(AsRef::as_ref)
    }
}

/// More than any answer has.
const MAX_BYTES: usize = 16 << 20;
