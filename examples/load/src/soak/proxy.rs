//! The proxy: the bare one of this program in the layer.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use stream_policies::SettingsError;

use super::left;
use super::policies::{Judges, police};
use crate::proxy;

/// A proxy whose upstream may be silent for so long.
pub(crate) fn router(upstream: SocketAddr, idle: Duration) -> Result<Router, SettingsError> {
    let judges = Judges::default();
    let policed = police(proxy::bare(upstream), idle, judges.clone())?;
    Ok(policed.merge(left::router(judges)))
}
