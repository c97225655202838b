//! Early endings of a stream (rule 20).

use bytes::Bytes;

use crate::delta::DeltaKind;
use crate::json::{self, At};
use crate::wire::{Ending, EndingKind};

use super::render::{self, StopFields};
use super::write::MessagesWriter;

impl MessagesWriter {
    /// Ends the stream with a refusal, or with an error where that would make a half call look whole, or where the
    /// message already has its stop reason.
    pub(super) fn end_stream(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        if self.ended {
            return;
        }
        if !self.opened {
            let opening = self.held_opening.take().unwrap_or_default();
            let opening = String::from_utf8_lossy(&opening);
            let message = json::find(&opening, &[At::Key("message")]);
            let message = render::message(message, &[], &StopFields::default());
            self.emit(render::message_start(&message), out);
            self.opened = true;
        }
        if ending.kind == EndingKind::Refuse && !self.numbers.half_call() && !self.finished {
            self.refuse(&ending.message, out);
        } else {
            self.emit(render::event("error", &render::error(&ending.message)), out);
        }
        self.ended = true;
    }

    fn refuse(&mut self, explanation: &str, out: &mut Vec<Bytes>) {
        // Text that waited for a block to stop still says why; a call would be run.
        self.waiting.retain(|kind| matches!(kind, DeltaKind::Text { .. }));
        for number in self.numbers.close_all() {
            self.emit(render::block_stop(number), out);
        }
        self.settle(true, out);
        let usage = self.known_usage();
        self.emit(render::message_delta(&StopFields::refusal(explanation), &usage), out);
        self.emit(render::message_stop(), out);
        self.finished = true;
    }

    /// The counts of the upstream's last `message_delta`, though it did not leave, else those known otherwise.
    fn known_usage(&self) -> String {
        let last = self.last_usage.as_deref().and_then(|data| std::str::from_utf8(data).ok());
        let counts = last.and_then(|data| json::member(data, "usage")).filter(|usage| json::is_object(usage));
        counts.map_or_else(|| render::usage(self.usage), str::to_owned)
    }
}
