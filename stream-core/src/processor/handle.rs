//! The host's handle on a running stream.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::task::AtomicWaker;

use crate::block::BlockKey;
use crate::delta::Usage;
use crate::engine::Input;
use crate::error::Error;
use crate::wire::Ending;

/// A handle on a running stream: stops it, drops a held call, and reads the outcome, from any thread.
///
/// ```
/// use bytes::Bytes;
/// use futures::{StreamExt as _, stream};
/// use stream_core::{Ending, ErrorKind, Passthrough, StreamProcessor};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), stream_core::BuildError> {
/// let first = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n";
/// // An upstream that never ends.
/// let upstream = stream::iter([Ok::<_, std::io::Error>(Bytes::from(first))]).chain(stream::pending());
/// let mut processor = StreamProcessor::new(upstream, Passthrough)?;
/// let handle = processor.handle();
/// assert_eq!(processor.next().await.as_deref(), Some(first.as_bytes()));
///
/// handle.stop(Ending::refuse("the session is over"));
/// while processor.next().await.is_some() {}
/// let outcome = handle.outcome().unwrap();
/// assert_eq!(outcome.error.map(|error| error.kind()), Some(ErrorKind::Host));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Handle(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    commands: Mutex<Vec<Input>>,
    /// Set while commands wait.
    commanded: AtomicBool,
    outcome: Mutex<Option<Box<Outcome>>>,
    waker: AtomicWaker,
}

/// The outcome of a stream that is over.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The error that closed the stream, if one did.
    pub error: Option<Error>,
    /// The name of the wire format, if it was named or recognised.
    pub format: Option<&'static str>,
    /// The token counts, as the upstream sent them.
    pub usage: Option<Usage>,
}

impl Handle {
    /// Stops the stream: held blocks are dropped, a hook that waits is dropped, and the client gets the ending.
    pub fn stop(&self, ending: Ending) {
        self.command(Input::Stop(ending));
    }

    /// Drops the held parts of the call with this id, whatever its policy waits for. The command has no effect on a call that was written, or
    /// is not known.
    pub fn drop_call(&self, id: impl Into<String>) {
        self.command(Input::DropCall(id.into()));
    }

    /// Drops the held parts of a block.
    pub fn drop_block(&self, key: BlockKey) {
        self.command(Input::Drop(key));
    }

    /// The outcome; `None` while the stream runs, and forever if it was dropped.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        lock(&self.0.outcome).as_deref().cloned()
    }

    pub(crate) fn finish(&self, outcome: Outcome) {
        *lock(&self.0.outcome) = Some(Box::new(outcome));
    }

    /// Takes the commands since the last call. The next command wakes the task.
    pub(crate) fn commands(&self, waker: &std::task::Waker) -> Vec<Input> {
        self.0.waker.register(waker);
        if !self.0.commanded.swap(false, Ordering::Acquire) {
            return Vec::new();
        }
        std::mem::take(&mut *lock(&self.0.commands))
    }

    /// Returns whether commands wait.
    pub(crate) fn has_commands(&self) -> bool {
        self.0.commanded.load(Ordering::Relaxed)
    }

    fn command(&self, command: Input) {
        lock(&self.0.commands).push(command);
        self.0.commanded.store(true, Ordering::Release);
        self.0.waker.wake();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
