//! Writing a response that was not streamed.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;

use super::insert::joined;
use super::rebuild::{Mode, Spoken};
use super::write::{ResponsesWriter, refusal};
use super::{normal, rebuild, templates};
use crate::delta::DeltaKind;
use crate::json;
use crate::wire::writer::WholeBody;
use crate::wire::{Ending, Part, openai_chat};

impl WholeBody for ResponsesWriter {
    /// The body with the items that are not dropped, and with those inserted between them.
    fn body(&mut self, came: &Bytes, parts: &[Part], refused: Option<&str>) -> String {
        let own: Vec<&Part> = parts.iter().filter(|part| part.came()).collect();
        for part in &own {
            self.book(part);
        }
        let json = String::from_utf8_lossy(came);
        let json = if self.state.odd.is_some() { normal::response(&json) } else { json };
        let items = json::member(&json, "output").and_then(json::items).unwrap_or_default();
        let mut inserted = by_item(parts);
        let mut output = self.documents(inserted.remove(&None));
        let spoken = Spoken::new(&own);
        for (at, raw) in (0..).zip(items) {
            if self.items.index(at).is_some() {
                output.extend(self.rewritten(at, raw, &spoken, Mode::Whole).map(Cow::into_owned));
            }
            output.extend(self.documents(inserted.remove(&Some(at))));
        }
        let last = refused.map(refusal).or_else(|| self.due_notice(parts));
        output.extend(self.documents(last.map(|last| vec![last])));
        let mut new = vec![("output", json::array(output))];
        new.extend(refused.into_iter().flat_map(|_| templates::refused()));
        rebuild::response(&json, &new)
    }

    fn error_body(&mut self, _came: &Bytes, _parts: &[Part], ending: &Ending) -> String {
        openai_chat::error(ending).finish()
    }
}

impl ResponsesWriter {
    fn documents(&mut self, inserted: Option<Vec<DeltaKind>>) -> Vec<String> {
        let made = inserted.into_iter().flatten().filter_map(|inserted| self.made(&inserted));
        made.map(|(_, made)| made.document).collect()
    }
}

/// The insertions, by the last item of the upstream before each.
fn by_item(parts: &[Part]) -> HashMap<Option<u32>, Vec<DeltaKind>> {
    let mut places: HashMap<Option<u32>, Vec<DeltaKind>> = HashMap::new();
    let mut last = None;
    for run in parts.chunk_by(|one, next| one.came() == next.came()) {
        places.entry(last).or_default().extend(joined(run));
        last = run.iter().filter(|part| part.came()).filter_map(Part::item).next_back().or(last);
    }
    places
}
