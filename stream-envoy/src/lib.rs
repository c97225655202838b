//! Police the answers of model APIs in Envoy: an external processor (`ext_proc`) over any
//! [`PolicyLayer`](stream_http::PolicyLayer).
//!
//! One gRPC stream of Envoy's is one exchange of a request and its response. The layer stands between them as it does in any
//! other server, and the service behind the layer is [`Upstream`]: Envoy itself. Calling it sends the request on; the
//! response that it returns is the upstream's. So routes, facts, refusals, content codings, streams and whole answers are
//! handled as `stream-http` handles them, and nothing reaches the upstream before the request was read.
//!
//! [`ExtProc`] is the service, [`Server`] serves it with the windows it needs. Envoy has to be configured for
//! `FULL_DUPLEX_STREAMED` bodies in both directions: the first message of an exchange is checked for that. The
//! [guide] has the settings, each with its reason.

pub mod bootstrap;
mod codec;
mod error;
mod exchange;
#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/envoy.md")]
pub mod guide {}
mod headers;
pub mod proto;
mod server;
mod service;

pub use codec::Protobuf;
pub use error::Gone;
pub use exchange::{ClientBody, Upstream, UpstreamBody};
pub use server::{CONNECTION_WINDOW, STREAM_WINDOW, STREAMS, ServeError, Server};
pub use service::ExtProc;
