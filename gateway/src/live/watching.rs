//! What feeds the live page.

use stream_core::record::{Staged, StagedView, StepView, VerdictView};
use stream_core::{Decision, Error, Observer, StreamBlock, TextBlock, ToolCall};

use super::Live;
use super::stream::Seen;

/// The observer of one answer. The stream is over when it is dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    live: Live,
    number: u64,
    /// Whether the stream has a place on the page; one that has none is only counted.
    shown: bool,
}

impl Watching {
    pub(super) fn new(live: Live, number: u64, shown: bool) -> Self {
        Self { live, number, shown }
    }

    fn update(&self, change: impl FnOnce(&mut super::LiveStream, u64)) {
        if self.shown {
            self.live.update(self.number, change);
        }
    }
}

impl Observer for Watching {
    fn input(&mut self, frame: &[u8]) {
        self.update(|stream, _| stream.came += frame.len());
    }

    fn output(&mut self, bytes: &[u8]) {
        self.update(|stream, _| stream.left += bytes.len());
    }

    fn step(&mut self, step: &StepView<'_>) {
        let content = self.live.0.content;
        self.update(|stream, now| {
            if let Some(block) = step.state.just_completed().or(step.state.current_block()) {
                let call = block.as_tool_call();
                let text = match block {
                    StreamBlock::ToolCall(call) => Some(call.arguments()),
                    other => other.as_text().map(TextBlock::text),
                };
                let seen = Seen {
                    key: block.key(),
                    policy: step.policy,
                    kind: block.kind_name(),
                    name: call.map(ToolCall::name),
                    text: text.filter(|_| content),
                };
                stream.seen(&seen, now);
            }
            stream.holds(step.held, now);
        });
    }

    fn staged(&mut self, staged: &StagedView<'_>) {
        self.update(|stream, now| {
            for effect in staged.effects {
                if let Staged::Decide(key) | Staged::SettleAfter(key) = effect {
                    stream.waits(*key, staged.policy, now);
                }
            }
            stream.holds(staged.held, now);
        });
    }

    fn verdict(&mut self, verdict: &VerdictView<'_>) {
        self.update(|stream, now| stream.holds(verdict.held, now));
    }

    fn decision(&mut self, decision: &Decision) {
        let mut streams = self.live.streams();
        streams.counts.decisions += 1;
        streams.counts.edits += u64::from(decision.is_edit());
        drop(streams);
        self.update(|stream, now| stream.decided(decision, now));
    }

    fn error(&mut self, error: &Error) {
        self.live.streams().counts.errors += 1;
        self.update(|stream, _| stream.error = Some(error.to_string()));
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.live.end(self.number);
    }
}
