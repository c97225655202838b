//! Early endings of a stream (rule 20).

use bytes::Bytes;

use crate::delta::DeltaKind;
use crate::json;
use crate::wire::{Ending, EndingKind};

use super::block::CHOICE;
use super::made::{self, StopFields};
use super::write::MessagesWriter;

impl MessagesWriter {
    /// Ends the stream with a refusal, or with an error where that would make a half call look whole, or where the
    /// message already has its stop reason.
    pub(super) fn end_stream(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        if !self.turns.end() {
            return;
        }
        if !self.turns.turn(CHOICE).opened {
            let opening = self.held_opening.take().unwrap_or_default();
            let opening = String::from_utf8_lossy(&opening);
            let message = json::member(&opening, "message");
            let message = made::message(message, &[], &StopFields::default());
            self.emit(made::message_start(&message), out);
        }
        if ending.kind == EndingKind::Refuse && self.turns.refusable(true).is_some() {
            self.refuse(&ending.message, out);
        } else {
            self.emit(made::error(ending), out);
        }
    }

    fn refuse(&mut self, explanation: &str, out: &mut Vec<Bytes>) {
        // Text that waited for a block to stop still says why; a call would be run.
        self.waiting.retain(|kind| matches!(kind, DeltaKind::Text { .. }));
        for number in self.blocks.close_all() {
            self.emit(made::block_stop(number), out);
        }
        self.settle(true, out);
        let usage = self.known_usage();
        self.emit(made::message_delta(&StopFields::refusal(explanation), &usage), out);
        self.emit(made::message_stop(), out);
    }

    /// The counts of the upstream's last `message_delta`, though it did not leave, else those known otherwise.
    fn known_usage(&self) -> String {
        let last = self.last_usage.as_deref().and_then(|data| std::str::from_utf8(data).ok());
        let counts = last.and_then(|data| json::member(data, "usage")).filter(|usage| json::is_object(usage));
        counts.map_or_else(|| made::usage(self.usage), str::to_owned)
    }
}
