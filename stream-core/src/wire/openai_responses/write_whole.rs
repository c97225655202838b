//! Writing a response that was not streamed.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;

use super::ending::refusal;
use super::insert::joined;
use super::rebuild::{Mode, Spoken};
use super::write::ResponsesWriter;
use super::{document, made, normal};
use crate::delta::{Channel, DeltaKind, Slot};
use crate::json;
use crate::sse::Frame;
use crate::wire::{Ending, EndingKind, Fate, Outgoing, Part};

impl ResponsesWriter {
    /// The body with what is left of its items, and with those inserted between them.
    pub(super) fn whole_body(&mut self, body: &Outgoing, ending: Option<&Ending>) -> Bytes {
        if let Some(ending) = ending.filter(|ending| ending.kind == EndingKind::Error) {
            return Bytes::from(made::error_body(&ending.message));
        }
        // Of a body that could not be read there is no frame, and an ending all the same.
        let came = body.frame.as_ref().map(|frame| frame.raw().clone()).unwrap_or_default();
        self.untouched = body.is_untouched();
        self.odd = body.frame.as_ref().and_then(Frame::odd).filter(|_| self.normalise);
        if ending.is_none() && body.is_untouched() && self.odd.is_none() {
            return came;
        }
        let own: Vec<&Part> = body.parts.iter().filter(|part| part.fate != Fate::Inserted).collect();
        for part in &own {
            self.ledger.note(part);
        }
        let json = String::from_utf8_lossy(&came);
        let json = if self.odd.is_some() { normal::response(&json) } else { json };
        let items = json::member(&json, "output").and_then(json::items).unwrap_or_default();
        let mut inserted = by_item(&body.parts);
        let mut output = self.documents(inserted.remove(&None));
        let spoken = Spoken::new(&own);
        for (at, raw) in (0..).zip(items) {
            if self.ledger.index(at).is_some() {
                output.extend(self.rewritten(at, raw, &spoken, Mode::Whole).map(Cow::into_owned));
            }
            output.extend(self.documents(inserted.remove(&Some(at))));
        }
        if let Some(ending) = ending {
            output.extend(self.documents(Some(vec![refusal(ending)])));
        } else {
            let notice = self.due_notice(&body.parts).map(|notice| vec![notice]);
            output.extend(self.documents(notice));
        }
        let mut new = vec![("output", json::array(output))];
        if ending.is_some() {
            new.push(("status", json::quote("incomplete")));
            new.push(("incomplete_details", made::FILTERED.to_owned()));
        }
        Bytes::from(document::response(&json, &new))
    }

    fn documents(&mut self, inserted: Option<Vec<DeltaKind>>) -> Vec<String> {
        inserted.into_iter().flatten().filter_map(|inserted| self.document(&inserted)).collect()
    }

    fn document(&mut self, inserted: &DeltaKind) -> Option<String> {
        let index = self.ledger.insert();
        let made = match inserted {
            DeltaKind::Call(call) => made::call(self.next_made(), index, call),
            DeltaKind::Text { channel: Channel::Refusal, text } => {
                made::refusal(self.next_made(), index, text)
            }
            DeltaKind::Text { text, .. } => made::message(self.next_made(), index, text),
            _ => return None,
        };
        Some(made.document)
    }
}

/// What was inserted, by the last item of the upstream's that had begun before it.
fn by_item(parts: &[Part]) -> HashMap<Option<u32>, Vec<DeltaKind>> {
    let mut places: HashMap<Option<u32>, Vec<DeltaKind>> = HashMap::new();
    let mut last = None;
    for run in parts.chunk_by(|one, next| (one.fate == Fate::Inserted) == (next.fate == Fate::Inserted)) {
        places.entry(last).or_default().extend(joined(run));
        last = run.iter().filter(|part| part.fate != Fate::Inserted).filter_map(item).next_back().or(last);
    }
    places
}

fn item(part: &Part) -> Option<u32> {
    match part.delta.slot {
        Slot::At { item, .. } => Some(item),
        _ => None,
    }
}
