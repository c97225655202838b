//! What a program says, within a bound.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Reads lines, none of which is longer than [`MOST`] bytes: a message is a line, and whoever reads it keeps all of it.
#[derive(Debug)]
pub(super) struct Bounded<R> {
    inner: R,
    /// How many bytes the line under way has.
    line: usize,
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, line: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let read = buf.filled().get(before..).unwrap_or_default();
        self.line = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => read.len() - end - 1,
            None => self.line + read.len(),
        };
        if self.line > MOST {
            // A read that fails has read nothing.
            buf.set_filled(before);
            return Poll::Ready(Err(io::Error::other("a message of the server is too long")));
        }
        Poll::Ready(Ok(()))
    }
}

/// The longest message.
const MOST: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn many_lines_pass_and_one_that_is_too_long_does_not() {
        let lines = [vec![b'x'; 1 << 20], b"\n".to_vec()].concat().repeat(70);
        let mut read = Vec::new();
        assert_eq!(Bounded::new(lines.as_slice()).read_to_end(&mut read).await.unwrap(), lines.len());
        assert_eq!(read, lines);
        let long = vec![b'x'; MOST + 1];
        let error = Bounded::new(long.as_slice()).read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "a message of the server is too long");
    }
}
