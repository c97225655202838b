//! A processor in this process.

use std::net::SocketAddr;

use stream_core::Policy;
use stream_envoy::{ExtProc, Server};
use stream_http::{Facts, Plan, PolicyLayer};
use tokio::net::TcpListener;

/// A processor that runs until this is dropped.
#[derive(Debug)]
pub struct Processor {
    address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Processor {
    /// One in which every answer goes through such a policy.
    pub async fn policy<P: Policy + 'static>(make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        Self::new(ExtProc::new(PolicyLayer::new(move |_: &Facts| Plan::new().policy(make())))).await
    }

    /// One with this service.
    ///
    /// # Panics
    ///
    /// When nothing can be listened to.
    pub async fn new(service: ExtProc) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let task = tokio::spawn(async move {
            let _ = Server::new(service).serve(listener, std::future::pending()).await;
        });
        Self { address, task }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Processor {
    fn drop(&mut self) {
        self.task.abort();
    }
}
