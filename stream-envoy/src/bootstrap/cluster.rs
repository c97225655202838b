//! Where Envoy connects to.

use std::net::IpAddr;

/// A host, by its name or its address, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Endpoint {
    /// A host and a port. An address of version 6 is written without brackets.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self { host: host.into(), port }
    }

    /// Whether the host is an address, and no name.
    pub(super) fn is_address(&self) -> bool {
        self.host.parse::<IpAddr>().is_ok()
    }
}

/// An upstream.
#[derive(Debug, Clone)]
#[must_use]
pub struct Cluster {
    pub(super) name: String,
    pub(super) endpoint: Endpoint,
    pub(super) tls: bool,
    pub(super) http2: bool,
}

impl Cluster {
    /// An upstream that is spoken to in HTTP/1.1, without TLS.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self { name: name.into(), endpoint, tls: false, http2: false }
    }

    /// With TLS: the certificate has to be the host's, and signed by an authority that the system trusts.
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// In HTTP/2.
    pub fn http2(mut self) -> Self {
        self.http2 = true;
        self
    }

    /// The host as requests name it.
    pub(super) fn authority(&self) -> String {
        let Endpoint { host, port } = &self.endpoint;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        match (self.tls, port) {
            (true, 443) | (false, 80) => host,
            _ => format!("{host}:{port}"),
        }
    }
}
