//! OpenAI Responses.

mod copies;
mod ending;
mod family;
mod item;
mod piece;
mod whole;

use serde_json::Value;

pub(super) use self::whole::check_whole;
use self::{
    family::{Family, Slot},
    item::{Item, part_text},
};
use super::{
    Deviation, Rule,
    events::{Event, Payload},
    json::{brief, number, text},
    report::Log,
};

/// Follows a Responses stream.
#[derive(Debug, Default)]
pub(super) struct Responses {
    items: Vec<Item>,
    events: usize,
    sequence: Option<u64>,
    created: bool,
    /// The terminal event's type, without `response.`.
    terminal: Option<String>,
    filtered: bool,
    usage: bool,
}

impl Responses {
    pub(super) fn event(&mut self, event: &Event, log: &mut Log) {
        let object = match &event.payload {
            Payload::Object(object) => object,
            Payload::Done => {
                log.deviates(Rule::UnknownEvent, Deviation::ForeignDone, "expected no [DONE], found one");
                return;
            }
        };
        let kind = text(object, "type").unwrap_or_default();
        match &event.name {
            Some(name) if name == kind => {}
            Some(name) => {
                log.broken(Rule::EventLine, format!("expected the event line {kind:?}, found {name:?}"));
            }
            None => {
                let message = format!("expected the event line {kind:?}, found none");
                log.deviates(Rule::EventLine, Deviation::NoEventLine, message);
            }
        }
        self.sequence(object, log);
        self.after_ending(kind, log);
        self.opening(kind, log);
        self.dispatch(kind, object, log);
        self.events += 1;
    }

    fn sequence(&mut self, object: &Value, log: &mut Log) {
        let Some(found) = number(object, "sequence_number") else {
            let found = brief(object.get("sequence_number"));
            let message = format!("expected a sequence_number, found {found}");
            log.deviates(Rule::SequenceNumber, Deviation::NoSequenceNumber, message);
            return;
        };
        // No number follows the highest.
        let wanted = self.sequence.map_or(0, |last| last.saturating_add(1));
        if found != wanted || self.sequence == Some(found) {
            let resumed = self.sequence.is_none().then_some(Deviation::ResumedStream);
            log.push(
                Rule::SequenceNumber,
                resumed,
                format!("expected sequence_number {wanted}, found {found}"),
            );
        }
        self.sequence = Some(found);
    }

    fn after_ending(&self, kind: &str, log: &mut Log) {
        let Some(terminal) = &self.terminal else { return };
        let excuse = match (terminal.as_str(), kind) {
            ("error", "response.failed") => Some(Deviation::ErrorThenFailed),
            (_, "ping" | "keepalive") => Some(Deviation::EventAfterEnding),
            _ => None,
        };
        log.push(Rule::AfterEnding, excuse, format!("expected nothing after the ending, found {kind:?}"));
    }

    fn opening(&mut self, kind: &str, log: &mut Log) {
        match kind {
            "response.created" if self.created || self.events > 0 => {
                log.broken(Rule::EventOrder, "expected response.created first and once, found it later");
            }
            "response.created" | "error" => {}
            _ if self.events == 0 => {
                let message = format!("expected response.created first, found {kind:?}");
                log.deviates(Rule::EventOrder, Deviation::ResumedStream, message);
            }
            "response.in_progress" | "response.queued" if !self.items.is_empty() => {
                log.broken(
                    Rule::EventOrder,
                    format!("expected {kind} before the first item, found it later"),
                );
            }
            _ => {}
        }
        self.created |= kind == "response.created";
    }

    fn dispatch(&mut self, kind: &str, object: &Value, log: &mut Log) {
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                if !object["response"].is_object() {
                    log.broken(
                        Rule::Shape,
                        format!("expected a response, found {}", brief(object.get("response"))),
                    );
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" | "error" => {
                self.end(kind, object, log);
            }
            "response.output_item.added" => self.item_added(object, log),
            "response.output_item.done" => self.item_done(object, log),
            "keepalive" => {}
            _ if kind.starts_with("response.") => self.in_item(kind, object, log),
            "ping" => log.deviates(Rule::UnknownEvent, Deviation::ForeignPing, "expected no ping, found one"),
            _ => log.broken(Rule::UnknownEvent, format!("expected an event of the format, found {kind:?}")),
        }
    }

    fn item_added(&mut self, object: &Value, log: &mut Log) {
        let next = self.items.len() as u64;
        if number(object, "output_index") != Some(next) {
            let found = brief(object.get("output_index"));
            log.broken(Rule::Index, format!("expected output_index {next}, found {found}"));
        }
        let item = Item::open(&object["item"], log);
        if !item.call_id.is_empty() && item.is_call() && self.items.iter().any(|known| known.repeats(&item)) {
            log.broken(
                Rule::CallIdentity,
                format!("expected a call_id of its own, found {:?} again", item.call_id),
            );
        }
        self.items.push(item);
    }

    fn item_done(&mut self, object: &Value, log: &mut Log) {
        let Some(item) = self.item("response.output_item.done", object, log) else { return };
        let place = "output_item.done";
        if item.content.iter().chain(&item.summary).any(|piece| !piece.is_closed()) {
            log.broken(Rule::Pairing, "expected every part to be done before its item, found one open");
        }
        if !item.payload.is_closed() || item.commands.iter().any(|piece| !piece.is_closed()) {
            log.broken(Rule::Pairing, "expected the done of the call's deltas before its item, found none");
        }
        copies::compare(item, &object["item"], place, log);
        item.done = Some(object["item"].clone());
    }

    /// An event of an item that is open.
    fn in_item(&mut self, kind: &str, object: &Value, log: &mut Log) {
        let Some(item) = self.item(kind, object, log) else { return };
        match text(object, "item_id") {
            Some(id) if id != item.id => {
                let message = format!("expected item_id {:?}, found {id:?}", item.id);
                log.deviates(Rule::ItemId, Deviation::ItemIdChanges, message);
            }
            // Shell commands are told by the output index alone.
            None if !kind.starts_with("response.shell_call_command") => {
                log.broken(
                    Rule::Shape,
                    format!("expected an item_id, found {}", brief(object.get("item_id"))),
                );
            }
            _ => {}
        }
        match kind {
            "response.content_part.added" => item.add(Slot::Content(""), object, log),
            "response.reasoning_summary_part.added" => item.add(Slot::Summary, object, log),
            "response.shell_call_command.added" => item.add(Slot::Command, object, log),
            "response.content_part.done" => part_done(item, Slot::Content(""), object, log),
            "response.reasoning_summary_part.done" => part_done(item, Slot::Summary, object, log),
            _ => {
                if let Some((family, delta)) = Family::of(kind) {
                    stream(item, family, delta, object, log);
                }
            }
        }
    }

    /// The open item an event is for.
    fn item(&mut self, kind: &str, object: &Value, log: &mut Log) -> Option<&mut Item> {
        let count = self.items.len();
        let index = number(object, "output_index").and_then(|index| usize::try_from(index).ok());
        let Some(item) = index.and_then(|index| self.items.get_mut(index)) else {
            let found = brief(object.get("output_index"));
            log.broken(
                Rule::Index,
                format!("expected an output_index below {count} in {kind}, found {found}"),
            );
            return None;
        };
        if item.done.is_some() {
            log.broken(Rule::Pairing, format!("expected nothing for an item that is done, found {kind:?}"));
        }
        Some(item)
    }
}

/// A delta or a done of one text.
fn stream(item: &mut Item, family: &Family, delta: bool, object: &Value, log: &mut Log) {
    let name = family.name;
    if let Slot::Payload(kind) = family.slot
        && item.kind != kind
    {
        log.broken(
            Rule::DeltaType,
            format!("expected {name} in a {kind:?} item, found it in a {:?} one", item.kind),
        );
        return;
    }
    let Some(piece) = piece(item, family.slot, object, log) else { return };
    if let Slot::Content(kind) = family.slot
        && piece.kind != kind
    {
        log.broken(
            Rule::DeltaType,
            format!("expected {name} in a {kind:?} part, found it in a {:?} one", piece.kind),
        );
    }
    let key = if delta { "delta" } else { family.whole };
    match text(object, key) {
        Some(more) if delta => piece.delta(more, name, log),
        Some(whole) => piece.text_done(whole, name, log),
        None => {
            log.broken(Rule::Shape, format!("expected {key} in {name}, found {}", brief(object.get(key))));
        }
    }
}

fn part_done(item: &mut Item, slot: Slot, object: &Value, log: &mut Log) {
    let part = &object["part"];
    if let Some(piece) = piece(item, slot, object, log) {
        piece.part_done(text(part, "type").unwrap_or_default(), part_text(part), log);
    }
}

fn piece<'a>(item: &'a mut Item, slot: Slot, object: &Value, log: &mut Log) -> Option<&'a mut piece::Piece> {
    let pieces = item.pieces(slot);
    let Some(key) = slot.index_key() else { return pieces.first_mut() };
    let (count, found) = (pieces.len(), number(object, key).and_then(|index| usize::try_from(index).ok()));
    if found.is_none_or(|index| index >= count) {
        let found = brief(object.get(key));
        log.broken(Rule::Index, format!("expected {key} below {count}, found {found}"));
    }
    pieces.get_mut(found?)
}
