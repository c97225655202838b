//! Ending a stream early (rule 20).

use bytes::Bytes;

use super::made;
use super::rebuild;
use super::write::ResponsesWriter;
use crate::delta::{Channel, DeltaKind};
use crate::json;
use crate::wire::{Ending, EndingKind};

/// What an ending says, as a refusal in the model's place.
pub(super) fn refusal(ending: &Ending) -> DeltaKind {
    DeltaKind::Text { channel: Channel::Refusal, text: ending.message.as_str().into() }
}

impl ResponsesWriter {
    /// Writes the last events. Under a refusal open items are closed, as incomplete; under an error they stay open.
    pub(super) fn write_ending(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        self.sequence.enter_made();
        if !self.sink.has_events() {
            let opening = rebuild::response(&self.response(), &[("output", "[]".to_owned())]);
            self.make(made::with_response(made::CREATED, &opening), out);
        }
        // A half call under an ending that does not throw is run by clients.
        let refuses = ending.kind == EndingKind::Refuse && self.turns.refusable(true).is_some();
        let event = if refuses {
            self.close_items(out);
            // The event that follows has no place for a sentence.
            self.insert_one(&refusal(ending), out);
            made::with_response(made::INCOMPLETE, &self.incomplete())
        } else {
            made::error(ending)
        };
        self.make(event, out);
        self.sequence.leave();
    }

    /// The response with what has left.
    fn incomplete(&self) -> String {
        let done = self.done.iter().filter_map(|(index, event)| {
            let item = json::member(std::str::from_utf8(event).ok()?, "item")?;
            Some((*index, item))
        });
        let inserted = self.inserted.iter().map(|(index, item)| (*index, item.as_str()));
        let mut items: Vec<(u64, &str)> = done.chain(inserted).collect();
        items.sort_by_key(|(index, _)| *index);
        let mut new = vec![
            ("status", json::quote("incomplete")),
            ("incomplete_details", made::FILTERED.to_owned()),
            ("output", json::array(items.iter().map(|(_, item)| item))),
        ];
        new.extend(self.usage.clone().map(|usage| ("usage", usage)));
        rebuild::response(&self.response(), &new)
    }

    /// The response as the opening told it.
    fn response(&self) -> String {
        let opening = self.opening.as_deref().and_then(|data| std::str::from_utf8(data).ok());
        let response = opening.and_then(|json| json::member(json, "response"));
        response.map_or_else(made::unknown_response, str::to_owned)
    }
}
