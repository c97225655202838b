//! What the loop asks of the service within, and of bodies.

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use crate::body::{BoxError, RequestBody};

/// A service that can be asked several times, from a future that may move between threads.
pub(super) trait Asked<ReqB, ResB>:
    Service<Request<RequestBody<ReqB>>, Response = Response<ResB>, Error: Send, Future: Send>
    + Clone
    + Send
    + 'static
{
}

impl<S, ReqB, ResB> Asked<ReqB, ResB> for S where
    S: Service<Request<RequestBody<ReqB>>, Response = Response<ResB>, Error: Send, Future: Send>
        + Clone
        + Send
        + 'static
{
}

/// A body that such a future reads, or sends.
pub(super) trait Sent: Body<Data: Send, Error: Into<BoxError>> + Send + 'static {}

impl<B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static> Sent for B {}
