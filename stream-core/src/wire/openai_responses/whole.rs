//! Writing a response that was not streamed.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;

use super::ending::refusal;
use super::insert::joined;
use super::rebuild::{Mode, Spoken};
use super::write::ResponsesWriter;
use super::{made, normal, rebuild};
use crate::delta::DeltaKind;
use crate::json;
use crate::sse::Frame;
use crate::wire::{Ending, EndingKind, Outgoing, Part, openai_chat};

impl ResponsesWriter {
    /// The body with what is left of its items, and with those inserted between them.
    pub(super) fn whole_body(&mut self, body: &Outgoing, ending: Option<&Ending>) -> Bytes {
        if let Some(ending) = ending.filter(|ending| ending.kind == EndingKind::Error) {
            return Bytes::from(openai_chat::error(ending));
        }
        // Of a body that could not be read there is no frame, and an ending all the same.
        let came = body.frame.as_ref().map(|frame| frame.raw().clone()).unwrap_or_default();
        self.untouched = body.is_untouched();
        self.odd = body.frame.as_ref().and_then(Frame::odd).filter(|_| self.normalise);
        if ending.is_none() && body.is_untouched() && self.odd.is_none() {
            return came;
        }
        let own: Vec<&Part> = body.parts.iter().filter(|part| part.came()).collect();
        for part in &own {
            self.book(part);
        }
        let json = String::from_utf8_lossy(&came);
        let json = if self.odd.is_some() { normal::response(&json) } else { json };
        let items = json::member(&json, "output").and_then(json::items).unwrap_or_default();
        let mut inserted = by_item(&body.parts);
        let mut output = self.documents(inserted.remove(&None));
        let spoken = Spoken::new(&own);
        for (at, raw) in (0..).zip(items) {
            if self.items.index(at).is_some() {
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
        Bytes::from(rebuild::response(&json, &new))
    }

    fn documents(&mut self, inserted: Option<Vec<DeltaKind>>) -> Vec<String> {
        let made = inserted.into_iter().flatten().filter_map(|inserted| self.made(&inserted));
        made.map(|(_, made)| made.document).collect()
    }
}

/// What was inserted, by the last item of the upstream's that had begun before it.
fn by_item(parts: &[Part]) -> HashMap<Option<u32>, Vec<DeltaKind>> {
    let mut places: HashMap<Option<u32>, Vec<DeltaKind>> = HashMap::new();
    let mut last = None;
    for run in parts.chunk_by(|one, next| one.came() == next.came()) {
        places.entry(last).or_default().extend(joined(run));
        last = run.iter().filter(|part| part.came()).filter_map(Part::item).next_back().or(last);
    }
    places
}
