//! Bodies that come from Envoy.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::upload::{Upload, poll_upload};
use super::wire::{Side, Wire};
use crate::error::Gone;

/// The body of a client's request.
pub struct ClientBody(Wire);

impl ClientBody {
    pub(super) fn new(wire: Wire) -> Self {
        Self(wire)
    }
}

impl Body for ClientBody {
    type Data = Bytes;
    type Error = Gone;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Gone>>> {
        self.0.poll_frame(Side::Request, cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_over(Side::Request)
    }

    fn size_hint(&self) -> SizeHint {
        known(&self.0, Side::Request)
    }
}

impl Drop for ClientBody {
    fn drop(&mut self) {
        self.0.ignore(Side::Request);
    }
}

/// The body of the upstream's response.
///
/// An end that the upstream has not sent is an error, never an end.
pub struct UpstreamBody {
    wire: Wire,
    /// An upstream may answer before it has read the whole request.
    upload: Option<Upload>,
}

impl UpstreamBody {
    pub(super) fn new(wire: Wire, upload: Option<Upload>) -> Self {
        Self { wire, upload }
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = Gone;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Gone>>> {
        if let Poll::Ready(Err(gone)) = poll_upload(&mut self.upload, cx)
            && !self.wire.is_over(Side::Response)
        {
            return Poll::Ready(Some(Err(gone)));
        }
        self.wire.poll_frame(Side::Response, cx)
    }

    fn is_end_stream(&self) -> bool {
        self.wire.is_over(Side::Response)
    }

    fn size_hint(&self) -> SizeHint {
        known(&self.wire, Side::Response)
    }
}

impl Drop for UpstreamBody {
    fn drop(&mut self) {
        self.wire.ignore(Side::Response);
    }
}

/// Only of an empty body is the length known.
fn known(wire: &Wire, side: Side) -> SizeHint {
    if wire.is_over(side) { SizeHint::with_exact(0) } else { SizeHint::new() }
}

impl fmt::Debug for ClientBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBody").finish_non_exhaustive()
    }
}

impl fmt::Debug for UpstreamBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamBody").finish_non_exhaustive()
    }
}
