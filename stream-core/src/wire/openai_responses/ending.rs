//! What is open on the wire, and how a refusal closes it (rule 20).

use bytes::Bytes;

use super::item::SUMMARY;
use super::write::ResponsesWriter;
use super::{rebuild, templates};
use crate::delta::{Channel, DeltaKind, Slot};
use crate::few::Few;
use crate::json;
use crate::wire::writer::Grammar as _;
use crate::wire::{Fate, Part};

/// The items that are open on the wire, and what they have said, by the index they came with.
#[derive(Debug, Default)]
pub(super) struct Open(Few<OpenItem>);

#[derive(Debug)]
struct OpenItem {
    /// The data of the event that opened it.
    opening: Bytes,
    /// What the client knows it as, where it has parts.
    channel: Option<Channel>,
    parts: Few<OpenPart>,
}

#[derive(Debug)]
struct OpenPart {
    channel: Channel,
    said: String,
    /// The whole text has been said again.
    restated: bool,
    done: bool,
}

impl Open {
    /// Books the parts of an event of the upstream's. An event of which one part leaves says all that is structure
    /// in it.
    pub(super) fn note(&mut self, parts: &[Part], data: &Bytes) {
        let leaves = |part: &&Part| part.fate != Fate::Dropped;
        let own = || parts.iter().filter(|part| part.came());
        if own().any(|part| leaves(&part)) {
            let is_stop = |part: &&Part| part.delta.kind == DeltaKind::Stop;
            own().filter(|part| leaves(part) || is_stop(part)).for_each(|part| self.note_part(part, data));
        }
    }

    fn note_part(&mut self, part: &Part, data: &Bytes) {
        let Slot::At { item, part: number } = part.delta.slot else { return };
        match &part.delta.kind {
            DeltaKind::ItemStart { channel } => {
                self.item(item, data).channel = Some(*channel);
            }
            DeltaKind::Opaque { .. } => {
                self.item(item, data);
            }
            DeltaKind::Start { channel } => {
                self.part(item, number, *channel, data);
            }
            DeltaKind::Text { channel, text } => {
                self.part(item, number, *channel, data).said.push_str(text);
            }
            DeltaKind::Copy(copy) => {
                let known = self.0.get_mut(item).and_then(|item| item.parts.get_mut(number));
                if let Some(known) = known {
                    known.restated = true;
                    known.said.extend(copy.body.as_deref().filter(|_| copy.is_first));
                }
            }
            DeltaKind::Stop => match self.0.get_mut(item).and_then(|item| item.parts.get_mut(number)) {
                Some(known) => known.done = true,
                None => {
                    self.0.remove(item);
                }
            },
            _ => {}
        }
    }

    fn item(&mut self, item: u32, data: &Bytes) -> &mut OpenItem {
        self.0.or_insert_with(item, || OpenItem {
            opening: Bytes::copy_from_slice(data),
            channel: None,
            parts: Few::default(),
        })
    }

    fn part(&mut self, item: u32, number: u32, channel: Channel, data: &Bytes) -> &mut OpenPart {
        let item = self.item(item, data);
        item.channel.get_or_insert(channel);
        let empty = || OpenPart { channel, said: String::new(), restated: false, done: false };
        item.parts.or_insert_with(number, empty)
    }
}

impl ResponsesWriter {
    /// Closes the items that are open, as incomplete: a client waits for the end of each.
    pub(super) fn close_items(&mut self, out: &mut Vec<Bytes>) {
        let open = std::mem::take(&mut self.open).0;
        for (item, open) in open.iter() {
            let Some(index) = self.items.index(item) else { continue };
            let opening = String::from_utf8_lossy(&open.opening);
            let id = json::find(&opening, &["item", "id"])
                .or_else(|| json::member(&opening, "item_id"))
                .and_then(json::unquote)
                .unwrap_or_default();
            let (mut content, mut summary) = (Vec::new(), Vec::new());
            for (number, part) in open.parts.iter() {
                let is_summary = number >= SUMMARY;
                let text = &part.said;
                let list = if is_summary { &mut summary } else { &mut content };
                list.push(templates::part(part.channel, is_summary, text));
                let at = templates::At {
                    id: &id,
                    index,
                    number: self.items.part_number(item, number),
                    is_summary,
                };
                let closing = [
                    (!part.restated).then(|| templates::restated(&at, part.channel, text)),
                    (!part.done).then(|| templates::part_done(&at, part.channel, text)),
                ];
                closing.into_iter().flatten().for_each(|event| self.emit(event, out));
            }
            let document = match open.channel {
                Some(channel) => templates::incomplete_item(&id, channel, &content, &summary),
                None => json::member(&opening, "item").unwrap_or("{}").to_owned(),
            };
            self.emit(templates::item_done(index, &document), out);
            self.inserted.push((index, document));
        }
    }

    /// The response with what has left.
    pub(super) fn incomplete(&self) -> String {
        let done = self.done.iter().filter_map(|(index, event)| {
            let item = json::member(std::str::from_utf8(event).ok()?, "item")?;
            Some((*index, item))
        });
        let inserted = self.inserted.iter().map(|(index, item)| (*index, item.as_str()));
        let mut items: Vec<(u64, &str)> = done.chain(inserted).collect();
        items.sort_by_key(|(index, _)| *index);
        let mut new = Vec::from(templates::refused());
        new.push(("output", json::array(items.iter().map(|(_, item)| item))));
        new.extend(self.usage.clone().map(|usage| ("usage", usage)));
        rebuild::response(&self.response(), &new)
    }

    /// The response as the opening told it.
    pub(super) fn response(&self) -> String {
        let opening = self.opening.as_deref().and_then(|data| std::str::from_utf8(data).ok());
        let response = opening.and_then(|json| json::member(json, "response"));
        response.map_or_else(templates::unknown_response, str::to_owned)
    }
}
