//! What only `gateway envoy` looks at.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::Fault;
use super::duration::time;
use super::file::address;

/// The table `envoy` of a file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct EnvoyFile {
    listen: Option<Spanned<String>>,
    drain: Option<Spanned<String>>,
    stream_window: Option<Spanned<i64>>,
    connection_window: Option<Spanned<i64>>,
    streams: Option<Spanned<i64>>,
    clients: Option<Spanned<String>>,
    envoy_admin: Option<Spanned<String>>,
    processors: Option<Spanned<Vec<Spanned<String>>>>,
}

/// How Envoy is served, and how it is to be configured.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "envoy"), allow(dead_code))]
pub(crate) struct Envoy {
    /// Where Envoy connects to.
    pub(crate) listen: SocketAddr,
    /// How long open exchanges may take when the program is stopped.
    pub(crate) drain: Duration,
    pub(crate) stream_window: u32,
    pub(crate) connection_window: u32,
    pub(crate) streams: u32,
    /// Where Envoy listens for clients.
    pub(crate) clients: SocketAddr,
    /// Where Envoy's own administration listens.
    pub(crate) envoy_admin: SocketAddr,
    /// Where Envoy finds the replicas of this program; `listen` if there are none.
    pub(crate) processors: Vec<(String, u16)>,
}

impl Envoy {
    pub(super) fn build(file: &EnvoyFile, text: &str) -> Result<Self, Fault> {
        let socket = |said: &Option<Spanned<String>>, port| match said {
            Some(said) => address(said, text),
            None => Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)),
        };
        let number = |said: &Option<Spanned<i64>>, least: u32, usual: u32| match said {
            Some(said) => {
                let number = u32::try_from(*said.get_ref()).ok();
                number.filter(|number| (least..=MOST).contains(number)).ok_or_else(|| {
                    let message = format!("expected {least} to {MOST}, found {}", said.get_ref());
                    Fault::at(text, &said.span(), message)
                })
            }
            None => Ok(usual),
        };
        let drain = file.drain.as_ref().map(|drain| time(drain, text)).transpose()?;
        let processors = file.processors.iter().flat_map(Spanned::get_ref);
        let processors: Vec<(String, u16)> =
            processors.map(|processor| endpoint(processor, text)).collect::<Result<_, _>>()?;
        if let Some(list) = file.processors.as_ref().filter(|list| list.get_ref().is_empty()) {
            return Err(Fault::at(text, &list.span(), "expected at least one host and port, found none"));
        }
        Ok(Self {
            listen: socket(&file.listen, 50051)?,
            drain: drain.unwrap_or(DRAIN),
            stream_window: number(&file.stream_window, 1024, 64 << 10)?,
            connection_window: number(&file.connection_window, 64 << 10, MOST)?,
            streams: number(&file.streams, 1, 100_000)?,
            clients: socket(&file.clients, 10000)?,
            envoy_admin: socket(&file.envoy_admin, 9901)?,
            processors,
        })
    }
}

/// Reads a host and a port.
fn endpoint(said: &Spanned<String>, text: &str) -> Result<(String, u16), Fault> {
    let found = said.get_ref();
    let read = found.rsplit_once(':').and_then(|(host, port)| {
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_name = !host.is_empty() && !host.contains(|char: char| char.is_whitespace() || char == '/');
        let port = port.parse().ok().filter(|port| *port != 0)?;
        is_name.then_some((host.to_owned(), port))
    });
    read.ok_or_else(|| {
        let message = format!("expected a host and a port such as policies.internal:50051, found {found:?}");
        Fault::at(text, &said.span(), message)
    })
}

/// The largest window of HTTP/2.
const MOST: u32 = (1 << 31) - 1;
/// Longer than most answers take.
const DRAIN: Duration = Duration::from_secs(300);
