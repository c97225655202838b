//! The recorded upstream: bytes at their times.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, stream};
use tokio::time::{Instant, sleep_until};

use super::{Replay, Stop};

/// Why a replayed connection broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connection reset by replay")
    }
}

impl std::error::Error for Broken {}

impl Replay {
    /// The pieces of the upstream, each at its time.
    pub(super) fn upstream(
        &self,
        start: Instant,
    ) -> impl Stream<Item = Result<Bytes, Broken>> + Send + use<> {
        stream::unfold(self.pieces().into_iter(), move |mut pieces| async move {
            let (at, piece) = pieces.next()?;
            sleep_until(start + at).await;
            Some((piece, pieces))
        })
    }

    fn pieces(&self) -> Vec<(Duration, Result<Bytes, Broken>)> {
        let mut left = self.stop.map_or(usize::MAX, Stop::bytes);
        let mut pieces = Vec::new();
        let mut at = Duration::ZERO;
        for (time, mut piece) in self.cut.apply(&self.log) {
            if left == 0 {
                break;
            }
            at = time;
            piece.truncate(left);
            left -= piece.len();
            pieces.push((at, Ok(piece)));
        }
        if let Some(Stop::Breaks(_)) = self.stop {
            pieces.push((at, Err(Broken)));
        }
        pieces
    }

    /// The body of a whole response.
    pub(super) fn body(&self) -> Bytes {
        let mut body = self.log.bytes().clone();
        body.truncate(self.stop.map_or(usize::MAX, Stop::bytes));
        body
    }
}

impl Stop {
    fn bytes(self) -> usize {
        match self {
            Self::Breaks(bytes) | Self::Ends(bytes) => bytes,
        }
    }
}
