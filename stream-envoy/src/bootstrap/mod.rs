//! A complete configuration of Envoy for an external processor.

mod cluster;
mod route;
mod write;

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

pub use self::cluster::{Cluster, Endpoint};
pub use self::route::{Match, Route};

/// A configuration of Envoy, as YAML in which every setting that matters has its reason beside it.
///
/// ```
/// use stream_envoy::bootstrap::{Bootstrap, Cluster, Endpoint, Match, Route};
///
/// let yaml = Bootstrap::new(([127, 0, 0, 1], 10000).into())
///     .processor(Endpoint::new("policies.internal", 50051))
///     .cluster(Cluster::new("model", Endpoint::new("api.example.com", 443)).tls())
///     .route(Route::new(Match::Any, "model"))
///     .to_string();
/// assert!(yaml.contains("response_body_mode: FULL_DUPLEX_STREAMED"));
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Bootstrap {
    listen: SocketAddr,
    admin: Option<SocketAddr>,
    processors: Vec<Endpoint>,
    clusters: Vec<Cluster>,
    routes: Vec<Route>,
    idle: Duration,
    stream_window: u32,
    connection_window: u32,
    requests: u32,
}

impl Bootstrap {
    /// An Envoy that listens there for clients.
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            admin: None,
            processors: Vec::new(),
            clusters: Vec::new(),
            routes: Vec::new(),
            idle: IDLE,
            stream_window: crate::STREAM_WINDOW,
            connection_window: crate::CONNECTION_WINDOW,
            requests: REQUESTS,
        }
    }

    /// Where Envoy's own administration listens; nowhere unless set.
    pub fn admin(mut self, admin: SocketAddr) -> Self {
        self.admin = Some(admin);
        self
    }

    /// One more replica of the processor, or a name that stands for several.
    pub fn processor(mut self, endpoint: Endpoint) -> Self {
        self.processors.push(endpoint);
        self
    }

    /// One more upstream.
    pub fn cluster(mut self, cluster: Cluster) -> Self {
        self.clusters.push(cluster);
        self
    }

    /// One more route; the first that matches counts.
    pub fn route(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    /// The longest silence of an exchange: six minutes unless set. The limits of the layer should be shorter, since only
    /// they can end a stream in its own format.
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// The windows of the connections to the processor; see [`Server`](crate::Server).
    pub fn windows(mut self, stream: u32, connection: u32) -> Self {
        self.stream_window = stream;
        self.connection_window = connection;
        self
    }
}

impl fmt::Display for Bootstrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write::yaml(self))
    }
}

/// Longer than the layer waits for an upstream (300 s) and a policy (30 s) together.
const IDLE: Duration = Duration::from_secs(360);
/// How many exchanges may be open; Envoy's own limit is 1024.
const REQUESTS: u32 = 100_000;
