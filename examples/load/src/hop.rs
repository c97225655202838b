//! What stands between the upstream and the client.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use crate::child::Child;
use crate::envoy::Envoy;
use crate::process::Process;
use crate::way::Way;

/// The processes of a way.
#[derive(Debug)]
pub(crate) struct Hop {
    /// First, so that it is gone before those that it asks.
    envoy: Option<Envoy>,
    /// The proxy, or Envoy's processor.
    own: Option<Child>,
    upstream: SocketAddr,
}

impl Hop {
    pub(crate) fn start(way: Way, upstream: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let own = match way {
            Way::Direct | Way::Envoy => None,
            Way::Bare | Way::Layer | Way::Chain => Some(Child::proxy(way, upstream)?),
            Way::EnvoyPass | Way::EnvoyLayer => Some(Child::processor(way)?),
        };
        let envoy = if way.has_envoy() {
            Some(Envoy::start(upstream, own.as_ref().map(Child::address))?)
        } else {
            None
        };
        Ok(Self { envoy, own, upstream })
    }

    /// Where clients connect to.
    pub(crate) fn address(&self) -> SocketAddr {
        let envoy = self.envoy.as_ref().map(Envoy::address);
        envoy.or(self.own.as_ref().map(Child::address)).unwrap_or(self.upstream)
    }

    /// The proxy, or Envoy's processor.
    pub(crate) fn own(&self) -> Option<Process> {
        self.own.as_ref().map(Child::process)
    }

    /// How much time each has spent on a processor so far.
    pub(crate) fn processor_time(&self) -> Spent {
        Spent {
            own: self.own().and_then(Process::processor_time),
            envoy: self.envoy.as_ref().and_then(|envoy| envoy.process().processor_time()),
        }
    }
}

/// Time on a processor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    /// In the proxy, or Envoy's processor.
    pub(crate) own: Option<Duration>,
    pub(crate) envoy: Option<Duration>,
}

impl Spent {
    /// What was spent since.
    pub(crate) fn since(self, before: Self) -> Self {
        let since = |now: Option<Duration>, before: Option<Duration>| {
            now.zip(before).map(|(now, before)| now.saturating_sub(before))
        };
        Self { own: since(self.own, before.own), envoy: since(self.envoy, before.envoy) }
    }

    /// All of it.
    pub(crate) fn all(self) -> Option<Duration> {
        match (self.own, self.envoy) {
            (None, None) => None,
            (own, envoy) => Some(own.unwrap_or_default() + envoy.unwrap_or_default()),
        }
    }
}
