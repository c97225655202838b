//! The body of a request on its way to the inner service.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf as _, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// The body of a request: read and kept, byte for byte, or not looked at.
    #[derive(Debug)]
    pub struct RequestBody<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProject]
    #[derive(Debug)]
    enum Kind<B> {
        Unread { #[pin] body: B },
        Read { data: Option<Bytes>, trailers: Option<HeaderMap> },
    }
}

impl<B> RequestBody<B> {
    pub(crate) fn unread(body: B) -> Self {
        Self { kind: Kind::Unread { body } }
    }

    pub(crate) fn read(data: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { kind: Kind::Read { data: Some(data).filter(|data| !data.is_empty()), trailers } }
    }
}

impl<B: Body> Body for RequestBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().kind.project() {
            KindProject::Unread { body } => body.poll_frame(cx).map(|frame| {
                Some(frame?.map(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))))
            }),
            KindProject::Read { data, trailers } => Poll::Ready(match data.take() {
                Some(data) => Some(Ok(Frame::data(data))),
                None => trailers.take().map(|trailers| Ok(Frame::trailers(trailers))),
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Unread { body } => body.is_end_stream(),
            Kind::Read { data, trailers } => data.is_none() && trailers.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Unread { body } => body.size_hint(),
            Kind::Read { data, .. } => exact(data.as_ref().map_or(0, Bytes::len)),
        }
    }
}

pub(super) fn exact(length: usize) -> SizeHint {
    u64::try_from(length).map_or_else(|_| SizeHint::new(), SizeHint::with_exact)
}
