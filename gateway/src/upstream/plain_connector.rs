//! How upstreams are connected to by a program without TLS.

use hyper_util::client::legacy::connect::HttpConnector;

use crate::config::Target;
use crate::missing;

/// Connects without TLS.
pub(super) type Connector = HttpConnector;

/// Whether an upstream is connected to as most are.
pub(super) fn is_usual(target: &Target) -> bool {
    target.roots().is_none() && !target.needs_tls()
}

/// What connects to an upstream, or to any without TLS.
pub(super) fn connector(target: Option<&Target>) -> Result<Connector, String> {
    match target {
        Some(target) if target.needs_tls() => Err(missing::feature("tls", "an upstream over https")),
        _ => Ok(HttpConnector::new()),
    }
}
