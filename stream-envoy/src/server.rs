//! A server with the settings that external processing needs.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures::FutureExt as _;
use futures::channel::oneshot;
use futures::future::{Either, select};
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;

use crate::ExtProc;

/// Serves an [`ExtProc`], and gRPC's own health service beside it.
///
/// A worker of Envoy has one HTTP/2 connection for all its exchanges. With the usual windows one exchange whose client does
/// not read stops all others; with these, each exchange has a window of its own and the connection's is without effect.
///
/// ```no_run
/// use stream_core::Passthrough;
/// use stream_envoy::{ExtProc, Server};
/// use stream_http::{Facts, Plan, PolicyLayer};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let layer = PolicyLayer::new(|_: &Facts| Plan::new().policy(Passthrough));
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:50051").await?;
/// Server::new(ExtProc::new(layer)).serve(listener, std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Server {
    service: ExtProc,
    stream_window: u32,
    connection_window: u32,
    streams: u32,
    drain: Option<Duration>,
}

impl Server {
    /// A server with the default windows.
    pub fn new(service: ExtProc) -> Self {
        Self {
            service,
            stream_window: STREAM_WINDOW,
            connection_window: CONNECTION_WINDOW,
            streams: STREAMS,
            drain: None,
        }
    }

    /// How many bytes Envoy may send ahead in one exchange: 64 KiB unless set.
    pub fn stream_window(mut self, bytes: u32) -> Self {
        self.stream_window = bytes;
        self
    }

    /// How many bytes Envoy may send ahead on one connection: 2 GiB unless set, so that only the windows of exchanges
    /// count.
    pub fn connection_window(mut self, bytes: u32) -> Self {
        self.connection_window = bytes;
        self
    }

    /// How many exchanges one connection may have open: 100,000 unless set.
    pub fn streams(mut self, streams: u32) -> Self {
        self.streams = streams;
        self
    }

    /// How long open exchanges may take once the server is to stop: as long as they need unless set. An exchange that is
    /// not over by then ends in an error status, upon which Envoy breaks its response off.
    pub fn drain(mut self, limit: Duration) -> Self {
        self.drain = Some(limit);
        self
    }

    /// Serves until `shutdown` is over, and then until every exchange is, or until the limit of [`drain`](Self::drain).
    /// From `shutdown` on health is `NOT_SERVING`, and no connection or exchange is taken.
    ///
    /// A future that is dropped ends every open exchange in an error status.
    ///
    /// # Errors
    ///
    /// When the server cannot go on.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<(), ServeError> {
        let (health, health_service) = tonic_health::server::health_reporter();
        health.set_serving::<ExtProc>().await;
        // Dropped or sent, the exchanges are over.
        let (stop, stopped) = oneshot::channel();
        let (asked, was_asked) = oneshot::channel();
        let stopping = async {
            shutdown.await;
            health.set_not_serving::<ExtProc>().await;
            health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
            let _ = asked.send(());
        };
        let served = tonic::transport::Server::builder()
            .initial_stream_window_size(self.stream_window)
            .initial_connection_window_size(self.connection_window)
            .max_concurrent_streams(self.streams)
            // Clients that leave all at once are no attack: Envoy resets their exchanges before they were looked at.
            .http2_max_pending_accept_reset_streams(Some(RESETS))
            .http2_max_local_error_reset_streams(Some(RESETS))
            .add_service(health_service)
            .add_service(self.service.until(stopped.shared()))
            .serve_with_incoming_shutdown(TcpIncoming::from(listener).with_nodelay(Some(true)), stopping);
        let late = async {
            let (Ok(()), Some(drain)) = (was_asked.await, self.drain) else {
                return std::future::pending().await;
            };
            tokio::time::sleep(drain).await;
            tracing::warn!(?drain, "stopped with exchanges under way: their responses are broken off");
            let _ = stop.send(());
            // A peer that does not read is not waited for.
            tokio::time::sleep(LAST_WORDS).await;
        };
        let served = match select(pin!(served), pin!(late)).await {
            Either::Left((served, _)) => served,
            Either::Right(((), _)) => Ok(()),
        };
        served.map_err(ServeError)
    }
}

/// Why a server cannot go on.
#[derive(Debug)]
pub struct ServeError(tonic::transport::Error);

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// The window of one exchange.
pub const STREAM_WINDOW: u32 = 64 << 10;
/// The largest window that HTTP/2 has.
pub const CONNECTION_WINDOW: u32 = (1 << 31) - 1;
/// How many exchanges a connection may have open.
pub const STREAMS: u32 = 100_000;
const RESETS: usize = 100_000;
/// How long the error statuses of late exchanges may take to leave.
const LAST_WORDS: Duration = Duration::from_secs(2);
