//! The request's body on its way to the upstream.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt as _;

use super::joined::{self, End, PIECE};
use super::wire::{Side, Wire};
use crate::error::Gone;
use crate::headers;
use crate::proto::{self, Reply, TrailersResponse};

/// Sends a body to Envoy, piece by piece, and is over when all was sent.
pub(super) type Upload = Pin<Box<dyn Future<Output = Result<(), Gone>> + Send>>;

/// Starts to send a body.
pub(super) fn upload<B>(wire: Wire, body: B) -> Upload
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let body = body.map_err(|error| Gone::new(error.into().to_string()));
    Box::pin(async move {
        let last = send(&wire, body, Reply::RequestBody, Side::Request, Reply::RequestTrailers).await?;
        wire.send(last);
        Ok(())
    })
}

/// Goes on with an upload, if there is one left. A request that breaks off is an error: its upstream would wait for the
/// rest of it, and nobody for the upstream.
pub(super) fn poll_upload(upload: &mut Option<Upload>, cx: &mut Context<'_>) -> Poll<Result<(), Gone>> {
    let Some(running) = upload else { return Poll::Ready(Ok(())) };
    let sent = ready!(running.as_mut().poll(cx));
    *upload = None;
    Poll::Ready(sent)
}

/// Sends all pieces of a body but for the last message, which it returns.
///
/// The end is told once: with the last piece, or with the answer to trailers where Envoy has sent some.
pub(super) async fn send<B>(
    wire: &Wire,
    body: B,
    piece: fn(proto::BodyResponse) -> Reply,
    side: Side,
    trailers: fn(TrailersResponse) -> Reply,
) -> Result<Reply, Gone>
where
    B: Body<Data = Bytes, Error = Gone>,
{
    let mut body = pin!(body);
    loop {
        poll_fn(|cx| wire.poll_room(cx)).await;
        let mut joined = poll_fn(|cx| joined::poll(body.as_mut(), cx)).await?;
        while joined.data.len() > PIECE {
            wire.send(piece(proto::piece(joined.data.split_to(PIECE), false)));
            poll_fn(|cx| wire.poll_room(cx)).await;
        }
        let Some(end) = joined.end else {
            wire.send(piece(proto::piece(joined.data, false)));
            if joined.waits {
                pause().await;
            }
            continue;
        };
        let Some(sent) = wire.trailers(side) else {
            // Envoy has no place for trailers where it sent none.
            return Ok(piece(proto::piece(joined.data, true)));
        };
        if !joined.data.is_empty() {
            wire.send(piece(proto::piece(joined.data, false)));
        }
        let own = match end {
            End::Trailers(own) => own,
            End::Plain => http::HeaderMap::new(),
        };
        return Ok(trailers(TrailersResponse { header_mutation: Some(headers::diff(&sent, &own)) }));
    }
}

/// Gives up the task once, without waking it: behind a body that wakes it.
fn pause() -> impl Future<Output = ()> {
    let mut is_over = false;
    poll_fn(move |_| if std::mem::replace(&mut is_over, true) { Poll::Ready(()) } else { Poll::Pending })
}
