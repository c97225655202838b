//! What happened in a replay, step by step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use stream_core::record::StepView;
use stream_core::{BlockKey, ChunkKind, Decision, Error, Observer, StreamBlock, ToolCall};
use tokio::time::Instant;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// A frame came from the upstream.
    In(Bytes),
    /// A step was shown to a policy.
    Shown {
        /// The stage, counted from 0.
        stage: usize,
        /// The name of its policy.
        policy: String,
        /// What kind of step it is.
        kind: ChunkKind,
        /// The block it belongs to.
        block: Option<BlockKey>,
        /// The kind of that block: `content`, `tool call` …
        block_kind: Option<&'static str>,
        /// The block that was completed.
        completed: Option<BlockKey>,
        /// The text, the fragment of arguments, or the name of a call that opens.
        text: Option<String>,
        /// How many bytes were held before.
        held: usize,
    },
    /// A decision was carried out.
    Decided(Decision),
    /// Bytes left for the client.
    Out(Bytes),
    /// The stream was closed for an error.
    Closed(Error),
}

/// Writes down what happens. Clones write to the same place.
#[derive(Debug, Clone)]
pub(super) struct Recorder {
    start: Instant,
    shared: Arc<Mutex<Recorded>>,
}

#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) steps: Vec<(Duration, Step)>,
    pub(super) held_max: usize,
}

impl Recorder {
    pub(super) fn new(start: Instant) -> Self {
        Self { start, shared: Arc::default() }
    }

    pub(super) fn out(&self, bytes: &Bytes) {
        self.push(Step::Out(bytes.clone()));
    }

    pub(super) fn take(&self) -> Recorded {
        std::mem::take(&mut *self.lock())
    }

    fn push(&self, step: Step) {
        let at = self.start.elapsed();
        self.lock().steps.push((at, step));
    }

    fn held(&self, held: usize) {
        let mut recorded = self.lock();
        recorded.held_max = recorded.held_max.max(held);
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// What leaves is written down where it is taken: keep-alives beside a waiting hook are only seen there.
impl Observer for Recorder {
    fn input(&mut self, frame: &[u8]) {
        self.push(Step::In(Bytes::copy_from_slice(frame)));
    }

    fn step(&mut self, step: &StepView<'_>) {
        self.held(step.held);
        let chunk = step.chunk;
        let block = chunk.block().and_then(|key| step.state.block(key));
        let name = || block.and_then(StreamBlock::as_tool_call).map(ToolCall::name);
        let text = chunk.text().or(chunk.arguments()).or_else(|| name().filter(|_| chunk.is_tool_call()));
        self.push(Step::Shown {
            stage: step.stage,
            policy: step.policy.to_owned(),
            kind: chunk.kind(),
            block: chunk.block(),
            block_kind: block.map(StreamBlock::kind_name),
            completed: step.state.just_completed().map(StreamBlock::key),
            text: text.map(str::to_owned),
            held: step.held,
        });
    }

    fn decision(&mut self, decision: &Decision) {
        self.push(Step::Decided(decision.clone()));
    }

    fn error(&mut self, error: &Error) {
        self.push(Step::Closed(error.clone()));
    }
}
