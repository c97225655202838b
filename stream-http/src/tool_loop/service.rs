//! The service.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::admit::{Admitted, admit};
use super::asked::{Asked, Sent};
use super::layer::Shared;
use super::turns::Turns;
use super::{streamed, whole};
use crate::answer::{head, rest, says_events};
use crate::body::{BoxError, RequestBody, ResponseBody};
use crate::coding::Coding;
use crate::refusal::Refusal;
use crate::source::{Look, Source};

/// A service whose model calls tools that the proxy runs; made by [`ToolLoop`](super::ToolLoop).
///
/// Its errors are those of the inner service.
#[derive(Clone)]
pub struct ToolLoopService<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> ToolLoopService<S> {
    pub(super) fn new(inner: S, shared: Arc<Shared>) -> Self {
        Self { inner, shared }
    }
}

impl<S, ReqB, ResB> Service<Request<ReqB>> for ToolLoopService<S>
where
    S: Service<Request<RequestBody<ReqB>>, Response = Response<ResB>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send,
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
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let looped = match admit(request, &shared).await {
                Ok(Admitted::Looped(looped)) => looped,
                Ok(Admitted::Passed(request)) => {
                    return Ok(inner.call(*request).await?.map(ResponseBody::untouched));
                }
                Err(refusal) => return Ok(refusal.into_response()),
            };
            let again = inner.clone();
            let (turns, request) = Turns::new(again, *looped, shared);
            let response = inner.call(request).await?;
            drop(inner);
            if !response.status().is_success() {
                return Ok(response.map(ResponseBody::untouched));
            }
            answer(turns, response).await
        })
    }
}

/// The client's answer, of which the upstream's is the start.
async fn answer<S, ReqB, ResB>(
    turns: Turns<S>,
    response: Response<ResB>,
) -> Result<Response<ResponseBody<ResB>>, S::Error>
where
    S: Asked<ReqB, ResB>,
    ReqB: Sent,
    ResB: Sent,
{
    let (mut parts, body) = response.into_parts();
    let Some(coding) = Coding::of(&parts.headers) else {
        return Ok(Response::from_parts(parts, ResponseBody::untouched(body)));
    };
    let mut source = Source::new(body, coding, turns.shared.routes.limits.idle);
    let limit = turns.shared.routes.response_limit;
    let look = if says_events(&parts.headers) { Ok(Look::Events) } else { source.look(limit).await };
    match look {
        Ok(Look::Events) => {
            head::stream(&mut parts.headers);
            Ok(Response::from_parts(parts, streamed::answer(turns, source)))
        }
        Ok(Look::Json) => whole::answer(turns, parts, source).await,
        // What is no answer is for the client to read, or was refused already.
        Ok(Look::Other | Look::Nothing) => Ok(rest(parts, source)),
        Err(broken) => Ok(Refusal::unreadable(turns.api(), &broken.to_string()).into_response()),
    }
}

impl<S: fmt::Debug> fmt::Debug for ToolLoopService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolLoopService").field("inner", &self.inner).finish_non_exhaustive()
    }
}
