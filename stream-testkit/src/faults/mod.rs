//! Faults: an upstream that breaks off, stalls, errs or sends what it should not, and a client that goes away.
//!
//! A [`Fault`] is data: it is put into the [`Upstream`] of a log, alone or after others, and the same faults give the
//! same bytes at the same times. All waiting is tokio's, so that in paused time a silence of minutes costs nothing.
//!
//! ```
//! use futures::StreamExt as _;
//! use stream_core::{ErrorKind, Passthrough, StreamProcessor};
//! use stream_testkit::conformance::{Ended, check};
//! use stream_testkit::faults::{Fault, Upstream, watched};
//! use stream_testkit::{Script, WireKind};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), stream_core::BuildError> {
//! let log = Script::new().text("Hello").to_log(WireKind::OpenAiChat);
//! let half = log.bytes().len() / 2;
//! let (upstream, watch) = watched(Upstream::new(&log).fault(&Fault::Break { at: half }));
//! let processor = StreamProcessor::new(upstream, Passthrough)?;
//! let handle = processor.handle();
//! let out: Vec<_> = processor.collect().await;
//!
//! assert_eq!(handle.outcome().unwrap().error.unwrap().kind(), ErrorKind::Transport);
//! assert_eq!(check(WireKind::OpenAiChat, &out.concat()).view().ended, Ended::Error);
//! assert!(watch.is_dropped());
//! # Ok(())
//! # }
//! ```

mod all;
mod client;
mod error;
mod fault;
mod garbage;
mod plan;
#[cfg(test)]
mod tests;
mod upstream;
mod watched;

pub use self::{
    client::{Leave, Received, leave},
    error::FaultError,
    fault::Fault,
    garbage::Garbage,
    upstream::Upstream,
    watched::{Watch, Watched, watched},
};
