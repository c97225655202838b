//! `--record DIR`: what came and what left, as logs that `gateway replay` reads.

use std::convert::Infallible;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use http::{Request, Response, header};
use stream_testkit::Tap;
use tokio::sync::watch;
use tokio::time::timeout;
use tower_service::Service;

use super::request::Number;
use crate::config::Record;
use crate::doors::ClientName;
use crate::exchange::Exchange;

/// Writes answers into a directory: `<start>-<request>.in.sse` as the upstream sent it, `….out.sse` as the client got it;
/// `.json` for an answer that was not streamed; `….in-2.sse` for the second answer of the upstream in a tool loop.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    directory: Arc<PathBuf>,
    /// Only answers to these clients; `None`: to everybody.
    clients: Option<Arc<[String]>>,
    /// When the program started, so that another run does not write over it.
    run: u128,
    recordings: Recordings,
}

/// The recordings whose files are not written yet. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recordings(watch::Sender<usize>);

/// One recording, until its files are written or are known not to be.
#[derive(Debug)]
struct Unwritten(watch::Sender<usize>);

impl Recordings {
    /// Waits until the files of all recordings are written; a disk that takes longer than [`PATIENCE`] is not waited for.
    pub(crate) async fn written(&self) {
        let mut unwritten = self.0.subscribe();
        if timeout(PATIENCE, unwritten.wait_for(|unwritten| *unwritten == 0)).await.is_err() {
            tracing::warn!(recordings = *self.0.borrow(), "the program ends before these are written");
        }
    }

    fn begin(&self) -> Unwritten {
        self.0.send_modify(|unwritten| *unwritten += 1);
        Unwritten(self.0.clone())
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        self.0.send_modify(|unwritten| *unwritten -= 1);
    }
}

/// Which side of the policies a log is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Which answer of the upstream to the request, from 1: the tool loop asks several times.
    Upstream(usize),
    Client,
}

impl Recorder {
    pub(crate) fn new(record: Record, recordings: Recordings) -> Self {
        let run = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Self {
            directory: Arc::new(record.directory),
            clients: record.clients.map(Into::into),
            run,
            recordings,
        }
    }

    /// Whether answers to this client are recorded.
    fn is_for(&self, client: Option<&ClientName>) -> bool {
        let Some(clients) = &self.clients else { return true };
        client.is_some_and(|client| clients.iter().any(|name| **name == *client.0))
    }

    /// Records an answer as it passes; what is neither a stream of events nor JSON is not recorded, nor is the answer to
    /// another client than those that were named.
    pub(crate) fn record(
        &self,
        response: Response<Body>,
        number: Number,
        client: Option<&ClientName>,
        side: Side,
    ) -> Response<Body> {
        if !self.is_for(client) {
            return response;
        }
        let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default();
        let ending = match kind.split(';').next().unwrap_or_default().trim() {
            "text/event-stream" => "sse",
            "application/json" => "json",
            _ => return response,
        };
        let side = match side {
            Side::Upstream(1) => "in".to_owned(),
            Side::Upstream(turn) => format!("in-{turn}"),
            Side::Client => "out".to_owned(),
        };
        let name = format!("{}-{:06}.{side}.{ending}", self.run, number.0);
        let unwritten = self.recordings.begin();
        let tap = Tap::new(self.directory.join(name)).on_saved(move |saved| {
            match saved {
                Ok(saved) => tracing::debug!(file = %saved.path.display(), bytes = saved.bytes, "recorded"),
                Err(error) => tracing::warn!(%error, "cannot record"),
            }
            drop(unwritten);
        });
        response.map(|body| Body::from_stream(tap.on(body.into_data_stream())))
    }
}

/// Records what the upstream answers.
#[derive(Debug, Clone)]
pub(crate) struct Taped<S> {
    inner: S,
    recorder: Option<Recorder>,
}

impl<S> Taped<S> {
    pub(crate) fn new(inner: S, recorder: Option<Recorder>) -> Self {
        Self { inner, recorder }
    }
}

impl<S, B> Service<Request<B>> for Taped<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let number = request.extensions().get::<Number>().copied();
        let turn = request.extensions().get::<Exchange>().map_or(1, Exchange::next_turn);
        let client = request.extensions().get::<ClientName>().cloned();
        let recorder = self.recorder.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let response = answer.await?;
            Ok(match (recorder, number) {
                (Some(recorder), Some(number)) => {
                    recorder.record(response, number, client.as_ref(), Side::Upstream(turn))
                }
                _ => response,
            })
        })
    }
}

/// How long the end of the program waits for files.
const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_every_file_and_not_for_ever() {
        let (recordings, start) = (Recordings::default(), Instant::now());
        recordings.written().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        let (one, other) = (recordings.begin(), recordings.begin());
        tokio::spawn(async move {
            drop(one);
            tokio::time::sleep(Duration::from_secs(2)).await;
            drop(other);
        });
        recordings.written().await;
        assert_eq!(start.elapsed(), Duration::from_secs(2));
        let _stuck = recordings.begin();
        recordings.written().await;
        assert_eq!(start.elapsed(), Duration::from_secs(2) + PATIENCE);
    }
}
