//! Writing a response that was not streamed.

use std::borrow::Cow;

use bytes::Bytes;

use super::insert::joined;
use super::rebuild::Mode;
use super::write::ResponsesWriter;
use super::{document, made};
use crate::delta::{DeltaKind, Slot};
use crate::json;
use crate::wire::{Ending, EndingKind, Fate, Outgoing, Part};

impl ResponsesWriter {
    /// The body with what is left of its items, and with those inserted between them.
    pub(super) fn whole_body(&mut self, body: &Outgoing, ending: Option<&Ending>) -> Bytes {
        if let Some(ending) = ending.filter(|ending| ending.kind == EndingKind::Error) {
            return Bytes::from(made::error_body(&ending.message));
        }
        let Some(frame) = &body.frame else { return Bytes::new() };
        if ending.is_none() && body.is_untouched() {
            return frame.raw().clone();
        }
        let own: Vec<&Part> = body.parts.iter().filter(|part| part.fate != Fate::Inserted).collect();
        for part in &own {
            self.ledger.note(part);
        }
        let json = String::from_utf8_lossy(frame.raw());
        let items = json::member(&json, "output").and_then(json::items).unwrap_or_default();
        let mut output = self.inserted_after(None, &body.parts);
        for (at, raw) in (0..).zip(items) {
            if self.ledger.index(at).is_some() {
                output.extend(self.rewritten(at, raw, &own, Mode::Whole).map(Cow::into_owned));
            }
            output.extend(self.inserted_after(Some(at), &body.parts));
        }
        if let Some(notice) = self.due_notice(&body.parts).filter(|_| ending.is_none() && output.is_empty()) {
            output.extend(self.document(&notice));
        }
        let mut new = vec![("output", json::array(output))];
        if ending.is_some() {
            new.push(("status", json::quote("incomplete")));
            new.push(("incomplete_details", made::FILTERED.to_owned()));
        }
        Bytes::from(document::response(&json, &new))
    }

    /// The documents of what was inserted once the parts of this item had begun, and before the next item's had.
    fn inserted_after(&mut self, item: Option<u32>, parts: &[Part]) -> Vec<String> {
        let mut last = None;
        let here: Vec<Part> = parts
            .iter()
            .filter(|part| {
                if let (Slot::At { item, .. }, true) = (part.delta.slot, part.fate != Fate::Inserted) {
                    last = Some(item);
                }
                last == item && part.fate == Fate::Inserted
            })
            .cloned()
            .collect();
        joined(&here).iter().filter_map(|inserted| self.document(inserted)).collect()
    }

    fn document(&mut self, inserted: &DeltaKind) -> Option<String> {
        let made = match inserted {
            DeltaKind::Call(call) => made::call(self.next_made(), 0, call),
            DeltaKind::Text { text, .. } => made::message(self.next_made(), 0, text),
            _ => return None,
        };
        Some(made.document)
    }
}
