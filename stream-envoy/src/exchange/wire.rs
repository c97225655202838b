//! Both directions of one gRPC stream, shared by the parts of one exchange.
//!
//! Everything of an exchange is polled by one task, so that there is neither a channel nor a task of its own: what is read
//! goes to the queue of its direction, what is to be sent waits for the task to take it. Both are bounded by a few pieces,
//! and Envoy is not read on while they are full.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use futures::Stream;
use http_body::Frame;
use tonic::Status;

use crate::error::Gone;
use crate::headers;
use crate::proto::{HttpHeaders, Part, ProcessingRequest, ProcessingResponse, Reply};

/// What Envoy sends.
pub(crate) type Inbound = Pin<Box<dyn Stream<Item = Result<ProcessingRequest, Status>> + Send>>;

/// One gRPC stream. Clones are the same stream.
#[derive(Clone)]
pub(crate) struct Wire(Arc<Mutex<State>>);

struct State {
    inbound: Inbound,
    /// Why nothing more comes.
    gone: Option<Gone>,
    head: Option<HttpHeaders>,
    request: Direction,
    response: Direction,
    out: VecDeque<ProcessingResponse>,
    /// Who waits for room in `out`.
    sender: Option<Waker>,
    /// Whether the request was sent on.
    sent: bool,
    /// Whether the request has neither body nor trailers.
    bodiless: bool,
    /// Whether the last message of the exchange is in `out`, or has left.
    complete: bool,
}

/// The body of a request or a response on its way in.
#[derive(Default)]
struct Direction {
    pieces: VecDeque<Frame<Bytes>>,
    over: bool,
    /// Nobody reads it: pieces are dropped.
    ignored: bool,
    trailers: Option<http::HeaderMap>,
    reader: Option<Waker>,
}

/// Which body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Request,
    Response,
}

impl Wire {
    pub(crate) fn new(inbound: Inbound) -> Self {
        Self(Arc::new(Mutex::new(State {
            inbound,
            gone: None,
            head: None,
            request: Direction::default(),
            response: Direction::default(),
            out: VecDeque::with_capacity(QUEUE),
            sender: None,
            sent: false,
            bodiless: false,
            complete: false,
        })))
    }

    /// The first message of the stream.
    pub(crate) fn poll_first(&self, cx: &mut Context<'_>) -> Poll<Result<ProcessingRequest, Gone>> {
        let mut state = self.lock();
        Poll::Ready(match ready!(state.inbound.as_mut().poll_next(cx)) {
            Some(Ok(message)) => Ok(message),
            Some(Err(status)) => Err(Gone::new(status.message())),
            None => Err(Gone::new("the stream ended before its first message")),
        })
    }

    /// The request has no body.
    pub(crate) fn no_request_body(&self) {
        let mut state = self.lock();
        state.request.over = true;
        state.bodiless = true;
    }

    /// Whether the request has no body.
    pub(crate) fn is_bodiless(&self) -> bool {
        self.lock().bodiless
    }

    /// Marks the request as sent on; false if it was before.
    pub(crate) fn send_request(&self) -> bool {
        !std::mem::replace(&mut self.lock().sent, true)
    }

    /// The head of the upstream's response.
    pub(crate) fn poll_head(&self, cx: &mut Context<'_>) -> Poll<Result<HttpHeaders, Gone>> {
        let mut state = self.lock();
        loop {
            if let Some(head) = state.head.take() {
                state.response.over = head.end_of_stream;
                return Poll::Ready(Ok(head));
            }
            ready!(state.poll_inbound(Side::Response, cx))?;
        }
    }

    /// The next frame of a body; an end that Envoy has not told is an error.
    pub(crate) fn poll_frame(
        &self,
        side: Side,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Gone>>> {
        let mut state = self.lock();
        loop {
            let direction = state.side(side);
            if let Some(piece) = direction.pieces.pop_front() {
                // Whoever could not read on because of this queue may do so now.
                state.other(side).wake();
                return Poll::Ready(Some(Ok(piece)));
            }
            if direction.over {
                return Poll::Ready(None);
            }
            if let Err(gone) = ready!(state.poll_inbound(side, cx)) {
                return Poll::Ready(Some(Err(gone)));
            }
        }
    }

    /// Whether a body has no more frames.
    pub(crate) fn is_over(&self, side: Side) -> bool {
        let mut state = self.lock();
        let direction = state.side(side);
        direction.over && direction.pieces.is_empty()
    }

    /// A body that nobody reads any more.
    pub(crate) fn ignore(&self, side: Side) {
        let mut state = self.lock();
        state.side(side).ignored = true;
        state.side(side).pieces = VecDeque::new();
        state.other(side).wake();
    }

    /// The trailers that Envoy sent: they are answered in place of the last piece.
    pub(crate) fn trailers(&self, side: Side) -> Option<http::HeaderMap> {
        self.lock().side(side).trailers.clone()
    }

    /// Waits until a message can be sent.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.out.len() < QUEUE {
            return Poll::Ready(());
        }
        state.sender = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Sends a message. What comes behind the last message of the exchange is dropped.
    pub(crate) fn send(&self, reply: Reply) {
        let mut state = self.lock();
        if !state.complete {
            state.out.push_back(reply.into());
        }
    }

    /// Sends the last message of the exchange.
    pub(crate) fn send_last(&self, reply: Reply) {
        self.send(reply);
        self.lock().complete = true;
    }

    /// The next message to Envoy.
    pub(crate) fn take(&self) -> Option<ProcessingResponse> {
        let mut state = self.lock();
        let message = state.out.pop_front()?;
        if let Some(sender) = state.sender.take() {
            sender.wake();
        }
        Some(message)
    }

    /// Whether a message waits to be taken.
    pub(crate) fn has_output(&self) -> bool {
        !self.lock().out.is_empty()
    }

    /// Whether the exchange was brought to an end.
    pub(crate) fn is_complete(&self) -> bool {
        self.lock().complete
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn side(&mut self, side: Side) -> &mut Direction {
        match side {
            Side::Request => &mut self.request,
            Side::Response => &mut self.response,
        }
    }

    fn other(&mut self, side: Side) -> &mut Direction {
        match side {
            Side::Request => &mut self.response,
            Side::Response => &mut self.request,
        }
    }

    /// Reads one message for whichever direction it is, on behalf of one that waits.
    fn poll_inbound(&mut self, reader: Side, cx: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        if let Some(gone) = &self.gone {
            return Poll::Ready(Err(gone.clone()));
        }
        // Whoever reads is there: only a reader that waits is woken.
        self.side(reader).reader = None;
        let is_full = self.other(reader).pieces.len() >= QUEUE;
        let next = if is_full { Poll::Pending } else { self.inbound.as_mut().poll_next(cx) };
        let Poll::Ready(next) = next else {
            self.side(reader).reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        let read = match next {
            Some(Ok(message)) => message.part.map_or(Ok(()), |part| self.receive(part)),
            Some(Err(status)) => Err(Gone::new(status.message())),
            None => Err(Gone::new("the stream ended before the response did")),
        };
        if let Err(gone) = &read {
            self.gone = Some(gone.clone());
            self.other(reader).wake();
        }
        Poll::Ready(read)
    }

    fn receive(&mut self, part: Part) -> Result<(), Gone> {
        let trailers = |list: Option<_>| headers::trailers(list.unwrap_or_default()).map_err(Gone::new);
        match part {
            Part::RequestBody(body) => self.request.data(body.body, body.end_of_stream),
            Part::ResponseBody(body) => self.response.data(body.body, body.end_of_stream),
            Part::RequestTrailers(last) => self.request.end_with(trailers(last.trailers)?),
            Part::ResponseTrailers(last) => self.response.end_with(trailers(last.trailers)?),
            Part::ResponseHeaders(head) => {
                self.head = Some(head);
                self.response.wake();
            }
            Part::RequestHeaders(_) => return Err(Gone::new("expected one request, found another")),
        }
        Ok(())
    }
}

impl Direction {
    fn data(&mut self, data: Bytes, end: bool) {
        if !self.over && !self.ignored && !data.is_empty() {
            self.push(Frame::data(data));
        }
        self.over |= end;
        self.wake();
    }

    fn end_with(&mut self, trailers: http::HeaderMap) {
        if !self.over {
            self.trailers = Some(trailers.clone());
            if !self.ignored {
                self.push(Frame::trailers(trailers));
            }
        }
        self.over = true;
        self.wake();
    }

    fn push(&mut self, piece: Frame<Bytes>) {
        if self.pieces.capacity() == 0 {
            self.pieces.reserve_exact(QUEUE);
        }
        self.pieces.push_back(piece);
    }

    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

/// How many pieces wait, of at most 64 KiB each.
const QUEUE: usize = 2;
