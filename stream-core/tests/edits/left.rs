//! A model of what has left for the client when a stream is ended: what the endings depend on (rule 20).

use std::collections::BTreeSet;

use stream_core::{BlockKey, Chunk, ChunkKind, StreamState, Structure};
use stream_testkit::WireKind;

/// A step as a policy saw it, and what it did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    kind: ChunkKind,
    choice: Option<u32>,
    block: Option<BlockKey>,
    completed: Option<BlockKey>,
    frame: usize,
    sent: bool,
}

impl Step {
    pub(crate) fn new(chunk: &Chunk, state: &StreamState, frame: usize, sent: bool) -> Self {
        let completed = state.just_completed().map(stream_core::StreamBlock::key);
        let (kind, choice, block) = (chunk.kind(), chunk.choice(), chunk.block());
        Self { kind, choice, block, completed, frame, sent }
    }

    /// `on_end`: every frame has come.
    pub(crate) fn end() -> Self {
        let kind = ChunkKind::Structure(Structure::Filler);
        Self { kind, choice: None, block: None, completed: None, frame: usize::MAX, sent: true }
    }

    fn is_payload(&self) -> bool {
        matches!(self.kind, ChunkKind::Text(_) | ChunkKind::ToolCall | ChunkKind::Opaque)
    }
}

/// What has left.
#[derive(Debug)]
pub(crate) struct Left {
    /// A finish behind which there is no refusal.
    pub(crate) finish: bool,
    /// The terminal marker.
    pub(crate) terminal: bool,
    /// Some of a call, and not its end.
    pub(crate) half_call: bool,
}

impl Left {
    /// What has left when the last of `steps` ends the stream. `next` is the step that would have followed.
    pub(crate) fn before_end(kind: WireKind, steps: &[Step], next: Option<&Step>) -> Self {
        let (last, before) = steps.split_last().unwrap();
        let held: Vec<&Step> = before.iter().filter(|step| step.is_payload() && !step.sent).collect();
        // A frame leaves when all its parts are decided, and all that comes before it in its choice has left; one of
        // several choices waits for all.
        let leaves = |at: usize, step: &Step| {
            let alone = before
                .iter()
                .filter(|other| other.frame == step.frame)
                .all(|other| other.choice.is_some() && other.choice == step.choice);
            let blocks = |other: &&Step| {
                let in_frame = other.frame == step.frame;
                let ahead = !alone || other.choice == step.choice;
                in_frame || (ahead && steps.iter().position(|step| std::ptr::eq(step, *other)) < Some(at))
            };
            step.frame < last.frame && !held.iter().any(blocks)
        };
        let has_left = |wanted: Structure| {
            let mut found =
                before.iter().enumerate().filter(|(_, step)| step.kind == ChunkKind::Structure(wanted));
            found.any(|(at, step)| leaves(at, step))
        };
        let finished = |choice: &u32| {
            let mut steps = before.iter().enumerate().filter(|(_, step)| step.choice == Some(*choice));
            steps.any(|(at, step)| step.kind == ChunkKind::Structure(Structure::Finish) && leaves(at, step))
        };
        let choices: BTreeSet<u32> = steps.iter().filter_map(|step| step.choice).collect();
        Self {
            finish: match kind {
                // The candidates that are not finished are refused, each by itself.
                WireKind::Gemini => !choices.is_empty() && choices.iter().all(finished),
                _ => choices.iter().any(finished),
            },
            terminal: has_left(Structure::Terminal),
            half_call: half_call(kind, before, last, next),
        }
    }
}

fn half_call(kind: WireKind, before: &[Step], last: &Step, next: Option<&Step>) -> bool {
    let mut open: BTreeSet<(u32, BlockKey)> = BTreeSet::new();
    let named = |step: &Step| step.choice.zip(step.block);
    // Behind something held nothing leaves.
    let leaves = |at: usize| {
        let step = &before[at];
        let holds = |other: &Step| other.is_payload() && !other.sent;
        let ahead = |other: &Step| other.choice == step.choice || other.frame == step.frame;
        step.sent && !before[..at].iter().any(|other| holds(other) && ahead(other))
    };
    match kind {
        // Calls come whole.
        WireKind::Gemini => return false,
        WireKind::OpenAiChat => {
            // A call ends with the next payload of its choice, whatever becomes of that.
            let ends = |open: &mut BTreeSet<(u32, BlockKey)>, step: &Step| {
                open.retain(|call| Some(call.0) != step.choice || Some(*call) == named(step));
            };
            for (at, step) in before.iter().enumerate().filter(|(_, step)| step.is_payload()) {
                ends(&mut open, step);
                if step.kind == ChunkKind::ToolCall && leaves(at) {
                    open.extend(named(step));
                }
            }
            // What caused a completion is there already.
            let cause = if last.kind == ChunkKind::Completed { next } else { Some(last) };
            if let Some(cause) = cause.filter(|step| step.is_payload()) {
                ends(&mut open, cause);
            }
        }
        WireKind::AnthropicMessages | WireKind::OpenAiResponses => {
            for (at, step) in before.iter().enumerate() {
                if step.kind == ChunkKind::ToolCall && leaves(at) {
                    open.extend(named(step));
                }
                open.retain(|call| Some(call.1) != step.completed);
            }
            // The explicit end of a call that has left follows it.
            open.retain(|call| Some(call.1) != last.completed);
        }
    }
    !open.is_empty()
}
