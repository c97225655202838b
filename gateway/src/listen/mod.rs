//! Listening: how many connections there are, how they are encrypted, and how long a silent or slow one is kept.

mod activity;
mod connection;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "without_tls.rs"]
mod tls;

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use self::connection::Connection;
pub(crate) use self::tls::{Roots, Tls, roots};

/// The files of a listener's TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    /// Clients must have a certificate of this authority.
    pub(crate) client_ca: Option<PathBuf>,
}

/// The limits of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Connections {
    /// How many there are at once; further ones wait to be accepted.
    pub(crate) most: u32,
    /// How long the handshake and the head of a request may take.
    pub(crate) head: Duration,
    /// How long a request's body may be silent.
    pub(crate) body: Duration,
    /// How long a connection without a request is kept.
    pub(crate) idle: Duration,
    /// How long a client may take nothing of an answer that is there for it.
    pub(crate) stalled: Duration,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            most: 10_000,
            head: Duration::from_secs(15),
            body: Duration::from_secs(30),
            idle: Duration::from_secs(90),
            stalled: Duration::from_secs(60),
        }
    }
}

/// Serves connections until `stop`, then finishes the requests under way.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Router,
    tls: Option<Tls>,
    limits: Connections,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(usize::try_from(limits.most).unwrap_or(usize::MAX)));
    let (stopping, stopped) = watch::channel(false);
    let mut stop = std::pin::pin!(stop);
    loop {
        let next = async {
            // The semaphore is never closed.
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            match listener.accept().await {
                Ok((stream, _)) => Some((stream, place)),
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    // Out of descriptors, mostly: some come back when connections end.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    None
                }
            }
        };
        let (stream, place) = tokio::select! {
            () = &mut stop => break,
            next = next => match next {
                Some(next) => next,
                None => continue,
            },
        };
        // Events leave one by one.
        let _ = stream.set_nodelay(true);
        let tls = tls.as_ref().map(Tls::acceptor);
        let connection = Connection { limits, stopped: stopped.clone(), app: app.clone() };
        tokio::spawn(async move {
            connection.run(stream, tls).await;
            drop(place);
        });
    }
    drop(listener);
    stopping.send_replace(true);
    // Every connection has given its place back.
    let _ = places.acquire_many(limits.most).await;
}
