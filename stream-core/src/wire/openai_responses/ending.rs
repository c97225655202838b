//! The open items on the wire, and how a refusal closes them (rule 20).

use std::borrow::Cow;

use bytes::Bytes;

use super::item::SUMMARY;
use super::write::{ListedItem, ResponsesWriter};
use super::{rebuild, templates};
use crate::delta::{Channel, DeltaKind, Slot};
use crate::few::Few;
use crate::json;
use crate::wire::writer::Grammar as _;

/// The data for an early end of an item: its opening, and its text so far.
#[derive(Debug, Default)]
pub(super) struct OpenItem {
    /// The id, as JSON.
    id: Option<Box<str>>,
    /// The item itself, where it is neither text nor a call.
    document: Option<Box<str>>,
    /// The channel of the item, where it has parts.
    channel: Option<Channel>,
    parts: Few<OpenPart>,
}

#[derive(Debug)]
struct OpenPart {
    channel: Channel,
    said: String,
    /// The text was repeated in a `done` event.
    restated: bool,
    done: bool,
}

impl OpenItem {
    /// Records a delta of an item, or of its part of this number.
    pub(super) fn note(open: &mut Option<Box<Self>>, number: u32, kind: &DeltaKind, data: &[u8]) {
        match kind {
            DeltaKind::ItemStart { channel } => Self::of(open, data).channel = Some(*channel),
            DeltaKind::Call(call) if call.starts => {
                Self::of(open, data);
            }
            DeltaKind::Opaque { .. } if open.is_none() && number != Slot::ITEM => {
                Self::of(open, data).document = member(data, &["item"]);
            }
            DeltaKind::Start { channel } => {
                Self::of(open, data).part(number, *channel);
            }
            DeltaKind::Text { channel, text } => {
                Self::of(open, data).part(number, *channel).said.push_str(text);
            }
            DeltaKind::Copy(copy) => {
                if let Some(known) = open.as_mut().and_then(|open| open.parts.get_mut(number)) {
                    known.restated = true;
                    known.said.extend(copy.body.as_deref().filter(|_| copy.is_first));
                }
            }
            DeltaKind::Stop => match open.as_mut().and_then(|open| open.parts.get_mut(number)) {
                Some(known) => known.done = true,
                None => *open = None,
            },
            _ => {}
        }
    }

    /// The id, as JSON.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The open item; this event opens it, if none did.
    fn of<'a>(open: &'a mut Option<Box<Self>>, data: &[u8]) -> &'a mut Self {
        open.get_or_insert_with(|| {
            let id = member(data, &["item", "id"]).or_else(|| member(data, &["item_id"]));
            Box::new(Self { id, ..Self::default() })
        })
    }

    fn part(&mut self, number: u32, channel: Channel) -> &mut OpenPart {
        self.channel.get_or_insert(channel);
        let empty = || OpenPart { channel, said: String::new(), restated: false, done: false };
        self.parts.or_insert_with(number, empty)
    }
}

fn member(data: &[u8], path: &[&str]) -> Option<Box<str>> {
    json::find(std::str::from_utf8(data).ok()?, path).map(Into::into)
}

impl ResponsesWriter {
    /// Closes the open items as incomplete: a client waits for the end of each.
    pub(super) fn close_items(&mut self, out: &mut Vec<Bytes>) {
        for (item, open) in self.items.take_open() {
            let Some(index) = self.items.index(item) else { continue };
            let id = open.id().and_then(json::unquote).unwrap_or_default();
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
                None => open.document.as_deref().unwrap_or("{}").to_owned(),
            };
            self.emit(templates::item_done(index, &document), out);
            self.listed.push(ListedItem::made(index, document));
        }
    }

    /// The response with the items that were written.
    pub(super) fn incomplete(&mut self) -> String {
        self.listed.sort_by_key(|item| item.index);
        let mut new = Vec::from(templates::refused());
        new.push(("output", json::array(self.listed.iter().map(|item| &item.document))));
        let usage = self.state.usage_at(&["response", "usage"]);
        new.extend(usage.map(|usage| ("usage", usage.to_owned())));
        rebuild::response(&self.opening(), &new)
    }

    /// The response of the opening.
    pub(super) fn opening(&self) -> Cow<'_, str> {
        self.response.as_deref().map_or_else(|| templates::unknown_response().into(), Cow::Borrowed)
    }
}
