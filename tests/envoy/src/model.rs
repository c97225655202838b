//! The upstream: answers as it is told to, and remembers what it was asked.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What an upstream answers.
#[derive(Debug, Clone)]
#[must_use]
pub struct Reply {
    status: StatusCode,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<(Duration, Bytes)>,
    held: Option<(usize, Gate)>,
    ending: Ending,
}

/// Holds answers until it is opened. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    /// One that is closed.
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Lets everything pass that waits, and everything that comes.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    async fn pass(&self) {
        // This is a sender itself: there is one as long as it waits.
        let _ = self.0.subscribe().wait_for(|is_open| *is_open).await;
    }
}

/// How an answer ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// With its last piece.
    Plain,
    /// With trailers.
    Trailers(&'static str, &'static str),
    /// The connection breaks.
    Break,
    /// Never.
    Hang,
}

impl Reply {
    /// A stream of events in these pieces, each after a time.
    pub fn events(pieces: impl IntoIterator<Item = (Duration, Bytes)>) -> Self {
        Self {
            status: StatusCode::OK,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            pieces: pieces.into_iter().collect(),
            held: None,
            ending: Ending::Plain,
        }
    }

    /// JSON in one piece, with its length.
    pub fn json(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self {
            status: StatusCode::OK,
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("content-length", body.len().to_string()),
            ],
            pieces: vec![(Duration::ZERO, body)],
            held: None,
            ending: Ending::Plain,
        }
    }

    /// With this status.
    pub fn status(mut self, status: u16) -> Self {
        self.status = StatusCode::from_u16(status).unwrap_or_default();
        self
    }

    /// With one more header.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// With all pieces behind the first so many held by a gate.
    pub fn held(mut self, behind: usize, gate: &Gate) -> Self {
        self.held = Some((behind, gate.clone()));
        self
    }

    /// With this ending.
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }
}

/// What an upstream was asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The path with its query.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// An upstream, in HTTP/1.1 and 2.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Seen {
    asked: Vec<Asked>,
    open: usize,
    cancelled: usize,
}

type Script = dyn Fn(&Parts, &Bytes) -> Reply + Send + Sync;

impl Model {
    /// One that always answers the same.
    pub async fn always(reply: Reply) -> Self {
        Self::new(move |_, _| reply.clone()).await
    }

    /// One that answers by the request.
    ///
    /// # Panics
    ///
    /// When nothing can be listened to.
    pub async fn new(script: impl Fn(&Parts, &Bytes) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (seen, script): (Arc<Mutex<Seen>>, Arc<Script>) = (Arc::default(), Arc::new(script));
        let shared = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let (script, seen) = (Arc::clone(&script), Arc::clone(&shared));
                connections.spawn(async move {
                    let service =
                        service_fn(move |request| answer(request, Arc::clone(&script), Arc::clone(&seen)));
                    let builder = Builder::new(TokioExecutor::new());
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                });
                while connections.try_join_next().is_some() {}
            }
        });
        Self { address, seen, task }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.seen).asked.clone()
    }

    /// How many answers are under way.
    #[must_use]
    pub fn open(&self) -> usize {
        lock(&self.seen).open
    }

    /// How many answers were left before their end.
    #[must_use]
    pub fn cancelled(&self) -> usize {
        lock(&self.seen).cancelled
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Body = http_body_util::combinators::UnsyncBoxBody<Bytes, std::io::Error>;

async fn answer(
    request: Request<Incoming>,
    script: Arc<Script>,
    seen: Arc<Mutex<Seen>>,
) -> Result<Response<Body>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let reply = script(&parts, &body);
    let path = parts.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let mut state = lock(&seen);
    state.asked.push(Asked { path, headers: parts.headers, body });
    state.open += 1;
    drop(state);
    let open = Open { seen, is_over: false };
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(*name, value);
    }
    let (behind, gate) = reply.held.map_or((usize::MAX, None), |(behind, gate)| (behind, Some(gate)));
    let pieces = reply.pieces.into_iter().enumerate();
    let pieces = pieces.map(move |(at, piece)| (gate.clone().filter(|_| at >= behind), piece));
    let body = stream::unfold((pieces, Some(reply.ending), open), async |(mut pieces, ending, mut open)| {
        if let Some((gate, (wait, piece))) = pieces.next() {
            if let Some(gate) = gate {
                gate.pass().await;
            }
            tokio::time::sleep(wait).await;
            return Some((Ok(Frame::data(piece)), (pieces, ending, open)));
        }
        let frame = match ending {
            Some(Ending::Trailers(name, value)) => {
                let mut trailers = HeaderMap::new();
                trailers.insert(name, http::HeaderValue::from_static(value));
                Ok(Frame::trailers(trailers))
            }
            Some(Ending::Break) => {
                // What was written is sent first.
                tokio::time::sleep(Duration::from_millis(100)).await;
                Err(std::io::Error::other("broken"))
            }
            Some(Ending::Hang) => std::future::pending().await,
            Some(Ending::Plain) | None => {
                open.is_over = true;
                return None;
            }
        };
        open.is_over = true;
        Some((frame, (pieces, None, open)))
    });
    Ok(response.body(StreamBody::new(body).boxed_unsync()).unwrap_or_default())
}

struct Open {
    seen: Arc<Mutex<Seen>>,
    is_over: bool,
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut seen = lock(&self.seen);
        seen.open -= 1;
        seen.cancelled += usize::from(!self.is_over);
    }
}

fn lock(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
