//! The service.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use crate::answer::{Asked, answer};
use crate::body::{BoxError, RequestBody, ResponseBody};
use crate::intake::{Admitted, admit};
use crate::layer::Shared;

/// A service whose answers go through policies; made by [`PolicyLayer`](crate::PolicyLayer).
///
/// Its errors are those of the inner service; everything the layer itself has to say is an answer.
#[derive(Clone)]
pub struct PolicyService<S> {
    inner: S,
    shared: Shared,
}

impl<S> PolicyService<S> {
    pub(crate) fn new(inner: S, shared: Shared) -> Self {
        Self { inner, shared }
    }
}

impl<S, ReqB, ResB> Service<Request<ReqB>> for PolicyService<S>
where
    S: Service<Request<RequestBody<ReqB>>, Response = Response<ResB>> + Clone + Send + 'static,
    S::Future: Send,
    ReqB: Body + Send + 'static,
    ReqB::Data: Send,
    ReqB::Error: Into<BoxError>,
    ResB: Body + Send + 'static,
    ResB::Data: Send,
    ResB::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody<ResB>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqB>) -> Self::Future {
        // The one that was made ready is called; its clone waits for the next request.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let shared = self.shared.clone();
        Box::pin(async move {
            let Admitted { request, asked } = match admit(request, shared.settings()).await {
                Ok(admitted) => admitted,
                Err(refusal) => return Ok(refusal.into_response()),
            };
            let response = inner.call(request).await?;
            Ok(match asked {
                Asked::Plain => response.map(ResponseBody::untouched),
                asked => answer(response, asked, shared).await,
            })
        })
    }
}

impl<S: fmt::Debug> fmt::Debug for PolicyService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyService").field("inner", &self.inner).finish_non_exhaustive()
    }
}
