//! How upstreams are connected to.

use std::sync::Arc;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::ClientConfig;

use crate::config::Target;

/// Connects over TLS, or without it.
pub(super) type Connector = HttpsConnector<HttpConnector>;

/// Whether an upstream is connected to as most are.
pub(super) fn is_usual(target: &Target) -> bool {
    target.roots().is_none()
}

/// What connects to an upstream, or to any with the usual authorities.
pub(super) fn connector(target: Option<&Target>) -> Result<Connector, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = match target.and_then(Target::roots) {
        Some(roots) => {
            let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
            let tls = tls.map_err(|error| error.to_string())?;
            let tls = tls.with_root_certificates(Arc::clone(roots)).with_no_client_auth();
            HttpsConnectorBuilder::new().with_tls_config(tls)
        }
        None => HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(provider)
            .map_err(|error| error.to_string())?,
    };
    Ok(builder.https_or_http().enable_http1().enable_http2().build())
}
