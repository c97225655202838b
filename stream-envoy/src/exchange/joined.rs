//! Pieces of a body that are ready at once, joined.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::Body;

/// What is ready of a body: bytes, and whether that is all.
#[derive(Debug, Default)]
pub(super) struct Joined {
    pub(super) data: Bytes,
    pub(super) end: Option<End>,
    /// The body has nothing more now, and wakes the task when it has.
    pub(super) waits: bool,
}

/// How a body ends.
#[derive(Debug)]
pub(super) enum End {
    Plain,
    Trailers(http::HeaderMap),
}

/// Takes everything that is ready, up to a message's size or somewhat more; waits if nothing is.
///
/// A message costs Envoy and the server more than the bytes in it.
pub(super) fn poll<B>(mut body: Pin<&mut B>, cx: &mut Context<'_>) -> Poll<Result<Joined, B::Error>>
where
    B: Body<Data = Bytes>,
{
    let mut joined = Joined::default();
    let mut more = BytesMut::new();
    while joined.end.is_none() && joined.data.len() + more.len() < PIECE {
        match body.as_mut().poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) if joined.data.is_empty() && more.is_empty() => joined.data = data,
                Ok(data) => {
                    if more.is_empty() {
                        more.extend_from_slice(&std::mem::take(&mut joined.data));
                    }
                    more.extend_from_slice(&data);
                }
                Err(frame) => joined.end = frame.into_trailers().ok().map(End::Trailers),
            },
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
            Poll::Ready(None) => joined.end = Some(End::Plain),
            Poll::Pending if joined.data.is_empty() && more.is_empty() => return Poll::Pending,
            Poll::Pending => {
                joined.waits = true;
                break;
            }
        }
    }
    if joined.end.is_none() && body.is_end_stream() {
        joined.end = Some(End::Plain);
    }
    if !more.is_empty() {
        joined.data = more.freeze();
    }
    Poll::Ready(Ok(joined))
}

/// The longest piece of a body in one message.
pub(super) const PIECE: usize = 64 << 10;
