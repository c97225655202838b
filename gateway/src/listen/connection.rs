//! One connection.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{interval, timeout};
use tower_service::Service as _;

use super::Connections;
use super::activity::{Activity, Care, Tracked};
use super::tls::Acceptor;

/// What a connection is served with.
pub(super) struct Connection {
    pub(super) limits: Connections,
    /// Turns true when the program stops.
    pub(super) stopped: watch::Receiver<bool>,
    pub(super) app: Router,
}

impl Connection {
    /// Serves it to its end.
    pub(super) async fn run(self, stream: TcpStream, tls: Option<Acceptor>) {
        let Some(tls) = tls else { return self.serve(stream).await };
        match timeout(self.limits.head, tls.accept(stream)).await {
            Ok(Ok(stream)) => self.serve(stream).await,
            Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
            Err(_) => tracing::debug!("a handshake took too long"),
        }
    }

    async fn serve(mut self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let activity = Activity::new();
        let (app, noted) = (self.app, activity.clone());
        let service = tower::service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let under_way = noted.begin();
            let answer = app.clone().call(request.map(Body::new));
            async move {
                Ok::<_, std::convert::Infallible>(answer.await?.map(|body| Tracked::new(body, under_way)))
            }
        });
        let builder = builder(&self.limits);
        let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        let mut connection = pin!(connection);
        let mut ticks = interval(tick(&self.limits));
        let mut closing = None;
        loop {
            tokio::select! {
                ended = &mut connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection broke");
                    }
                    return;
                }
                // No sender is gone before every connection is.
                Ok(()) = self.stopped.changed() => connection.as_mut().graceful_shutdown(),
                _ = ticks.tick() => match activity.care(&self.limits) {
                    Care::Keep => closing = None,
                    Care::Drop => return,
                    Care::Close => {
                        let since = *closing.get_or_insert_with(std::time::Instant::now);
                        connection.as_mut().graceful_shutdown();
                        // A client that does not close either is not waited for.
                        if since.elapsed() >= self.limits.head {
                            return;
                        }
                    }
                },
            }
        }
    }
}

fn builder(limits: &Connections) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.head);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(limits.idle))
        .keep_alive_timeout(limits.head)
        .max_concurrent_streams(MOST_STREAMS);
    builder
}

/// How often a connection is looked after: often enough that no limit is overdrawn by much.
fn tick(limits: &Connections) -> Duration {
    let shortest = limits.head.min(limits.idle).min(limits.stalled);
    (shortest / 4).clamp(Duration::from_millis(10), Duration::from_secs(5))
}

/// How many answers one HTTP/2 connection may have under way.
const MOST_STREAMS: u32 = 200;
