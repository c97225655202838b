//! The body of an answer on its way to the client.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use futures::Stream;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::request::exact;

/// Any error of a body.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

pin_project! {
    /// The body of an answer: as the inner service gave it, in one piece, or policed while it is read.
    ///
    /// A policed stream is pulled: nothing is read from the upstream that the client has not asked for, and dropping
    /// the body drops the upstream and calls the policies' `on_abort`.
    pub struct ResponseBody<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProject]
    enum Kind<B> {
        Untouched { #[pin] body: B },
        Whole { data: Option<Bytes>, trailers: Option<HeaderMap> },
        Stream { stream: Option<ByteStream>, trailers: Trailers, over: bool },
    }
}

type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, BoxError>> + Send>>;

impl<B> ResponseBody<B> {
    pub(crate) fn untouched(body: B) -> Self {
        Self { kind: Kind::Untouched { body } }
    }

    pub(crate) fn whole(data: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { kind: Kind::Whole { data: Some(data).filter(|data| !data.is_empty()), trailers } }
    }

    pub(crate) fn empty() -> Self {
        Self::whole(Bytes::new(), None)
    }

    /// A stream, and the trailers that are known when it is over.
    pub(crate) fn stream<S>(stream: S, trailers: Trailers) -> Self
    where
        S: Stream<Item = Result<Bytes, BoxError>> + Send + 'static,
    {
        Self { kind: Kind::Stream { stream: Some(Box::pin(stream)), trailers, over: false } }
    }
}

impl<B> Body for ResponseBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(match self.project().kind.project() {
            KindProject::Untouched { body } => ready!(body.poll_frame(cx)).map(|frame| match frame {
                Ok(frame) => Ok(frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))),
                Err(error) => Err(error.into()),
            }),
            KindProject::Whole { data, trailers } => match data.take() {
                Some(data) => Some(Ok(Frame::data(data))),
                None => trailers.take().map(|trailers| Ok(Frame::trailers(trailers))),
            },
            KindProject::Stream { stream, trailers, over } => loop {
                let Some(reading) = stream else {
                    *over = true;
                    break trailers.take().map(|trailers| Ok(Frame::trailers(trailers)));
                };
                match ready!(reading.as_mut().poll_next(cx)) {
                    Some(Ok(data)) if data.is_empty() => {}
                    Some(next) => break Some(next.map(Frame::data)),
                    // The policies are done: they go now, not when the connection does.
                    None => *stream = None,
                }
            },
        })
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Untouched { body } => body.is_end_stream(),
            Kind::Whole { data, trailers } => data.is_none() && trailers.is_none(),
            Kind::Stream { over, .. } => *over,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Untouched { body } => body.size_hint(),
            Kind::Whole { data, .. } => exact(data.as_ref().map_or(0, Bytes::len)),
            Kind::Stream { .. } => SizeHint::new(),
        }
    }
}

impl<B> fmt::Debug for ResponseBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.kind {
            Kind::Untouched { .. } => "ResponseBody::Untouched",
            Kind::Whole { .. } => "ResponseBody::Whole",
            Kind::Stream { .. } => "ResponseBody::Stream",
        })
    }
}

/// The trailers of an upstream's answer, once they came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trailers {
    came: Arc<Mutex<Option<HeaderMap>>>,
    filter: Option<fn(&mut HeaderMap)>,
}

impl Trailers {
    pub(crate) fn put(&self, trailers: HeaderMap) {
        *self.lock() = Some(trailers);
    }

    /// The same trailers, without what the filter takes away.
    #[cfg(feature = "tool-loop")]
    pub(crate) fn filtered(mut self, filter: fn(&mut HeaderMap)) -> Self {
        self.filter = Some(filter);
        self
    }

    pub(crate) fn take(&self) -> Option<HeaderMap> {
        let mut trailers = self.lock().take()?;
        if let Some(filter) = self.filter {
            filter(&mut trailers);
        }
        Some(trailers)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<HeaderMap>> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
