//! The doors: who may ask, how much, and over what kind of connection.
//!
//! [`Doors`] stands in front of everything else: a request whose key no client has is answered with 401 in the API's own
//! error shape, one beyond its client's limits with 429 or 413, and the key is taken out of the request before
//! anything behind the doors (policies, recordings, logs, the upstream) sees it.

mod body;
mod client;
mod key;
mod limit;
mod service;

pub(crate) use self::client::{Client, ClientName, Clients, Limits};
pub(crate) use self::key::{Digest, make};
pub(crate) use self::service::Doors;
