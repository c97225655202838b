//! An engine, driven to its end: the one place here that knows how.

use std::time::Duration;

use bytes::Bytes;
use stream_core::engine::{Input, Output};
use stream_core::{Chain, Config, Decision, Engine, ErrorKind};

/// What came of a stream.
#[derive(Debug, PartialEq)]
pub(super) struct Driven {
    pub(super) bytes: Vec<u8>,
    pub(super) decisions: Vec<Decision>,
    pub(super) error: Option<ErrorKind>,
    /// The name of the format in which the client reads it.
    pub(super) format: &'static str,
}

impl Driven {
    /// Whether what the client got differs from what came, as far as was recorded.
    pub(super) fn is_edited(&self) -> bool {
        self.error.is_some() || self.decisions.iter().any(Decision::is_edit)
    }
}

/// Runs pieces through policies, to the end. No time passes.
///
/// # Panics
///
/// When the engine does not come to an end.
pub(super) fn drive<'a>(
    config: Config,
    chain: impl Into<Chain>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Driven {
    let mut engine = Engine::new(config, chain).expect("policies that work together");
    let mut pieces = pieces.into_iter();
    let (mut bytes, mut decisions) = (Vec::new(), Vec::new());
    let mut ended = false;
    loop {
        match engine.poll() {
            Output::Bytes(piece) => bytes.extend_from_slice(&piece),
            Output::Hook(hook) => hook.run(Duration::ZERO),
            Output::Wait { .. } => {
                assert!(!ended, "the engine waits although the upstream has ended");
                let next = pieces.next();
                ended = next.is_none();
                let input = next.map_or(Input::End, |piece| Input::Bytes(Bytes::copy_from_slice(piece)));
                engine.handle(input, Duration::ZERO);
            }
            Output::Done => break,
            other => unreachable!("no policy here asks a judge: {other:?}"),
        }
        decisions.append(&mut engine.decisions());
    }
    // What was still held is dropped last.
    decisions.append(&mut engine.decisions());
    let error = engine.error().map(stream_core::Error::kind);
    Driven { bytes, decisions, error, format: engine.format().map_or("openai-chat", |format| format.name()) }
}
