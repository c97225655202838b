//! An external processor for Envoy (`ext_proc`) that runs policies over the answers of model APIs, with any
//! [`PolicyLayer`](stream_http::PolicyLayer).
//!
//! One gRPC stream is one exchange of a request and its response. The inner service of the layer is [`Upstream`], which is Envoy itself: a call
//! sends the request on, and returns the upstream's response. Routes, facts, refusals, content codings, streams and whole answers
//! are therefore those of `stream-http`, and the upstream gets nothing before the request was read.
//!
//! [`ExtProc`] is the gRPC service, and [`Server`] serves it with the flow-control windows that it needs. Envoy has to be configured for
//! `FULL_DUPLEX_STREAMED` bodies in both directions; the first message of an exchange is checked for that. **Envoy passes the rest of a response
//! unseen when a processor closes its stream cleanly in the middle**: `ExtProc` ends every unfinished exchange with an error status. The
//! [guide] has the settings of Envoy, each with its reason.

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
