//! Writing a whole message: a response that is not streamed, or the message in a `message_start`.

use bytes::Bytes;

use crate::delta::{Channel, DeltaKind, FinishReason};
use crate::json;
use crate::wire::writer::{self, Grammar as _, WholeBody};
use crate::wire::{Fate, Part};

use super::block::CHOICE;
use super::blocks::BlockKind;
use super::templates::{self, StopFields};
use super::write::{EventFrame, MessagesWriter, text_left};

impl WholeBody for MessagesWriter {
    /// Writes the kept, edited and inserted blocks of a whole response (rule 24).
    fn body(&mut self, came: &Bytes, parts: &[Part], refusal: Option<&str>) -> String {
        self.note(parts);
        let data = std::str::from_utf8(came).unwrap_or_default();
        let message = Some(data).filter(|json| is_message(json));
        if let Some(explanation) = refusal {
            // A refusal ends the turn: a client would run a call, so that only text is kept.
            let content = self.content(data, parts, |kind| kind == BlockKind::Text);
            return templates::message(message, &content, &StopFields::refusal(explanation));
        }
        let mut content = self.content(data, parts, |_| true);
        self.complete_whole(&mut content);
        let stop = match message {
            Some(json) => stop_fields(json, finish(parts)),
            None => StopFields::reason("end_turn"),
        };
        templates::message(message, &content, &stop)
    }
}

impl MessagesWriter {
    /// Writes a `message_start`, which may hold blocks, and even a stop reason.
    pub(super) fn opening(&mut self, event: &EventFrame, parts: &[Part], out: &mut Vec<Bytes>) {
        let frame = &event.frame;
        if parts.iter().any(|part| part.delta.kind == DeltaKind::Opening && part.fate == Fate::Dropped) {
            self.held_opening = writer::data(frame);
            return;
        }
        if self.state.normalise && self.state.turns.turn(CHOICE).opened {
            // One adapter sends two; to some clients the second one is a new message.
            return self.insert_all(parts, out);
        }
        let finish = finish(parts);
        if finish.is_none() && !parts.iter().any(is_in_block) {
            self.state.sink.raw(frame, out);
            self.state.turns.turn(CHOICE).opened = true;
            self.settle(false, out);
            return self.insert_all(parts, out);
        }
        let untouched = self.waiting.is_empty() && parts.iter().all(|part| part.fate == Fate::Kept);
        let data = event.data();
        let message = json::member(&data, "message").unwrap_or("{}");
        let mut content = self.content(&data, parts, |_| true);
        if finish.is_some() {
            self.complete_whole(&mut content);
        }
        let turn = self.state.turns.turn(CHOICE);
        turn.opened = true;
        if finish.is_some() {
            turn.finish();
        }
        if untouched {
            return self.state.sink.raw(frame, out);
        }
        let message = templates::message(Some(message), &content, &stop_fields(message, finish));
        self.emit(templates::message_start(&message), out);
    }

    /// The blocks of a message that are written, by the fate of their parts, and those inserted between them. The spans of
    /// the parts refer to `data`.
    fn content(&mut self, data: &str, parts: &[Part], may_leave: fn(BlockKind) -> bool) -> Vec<String> {
        let mut content = Vec::new();
        for kind in std::mem::take(&mut self.waiting) {
            self.insert_whole(&kind, &mut content);
        }
        let mut block: Vec<&Part> = Vec::new();
        let mut after: Vec<&Part> = Vec::new();
        for part in parts {
            if part.fate == Fate::Inserted {
                if BlockKind::opened_by(&part.delta.kind).is_some_and(|kind| !may_leave(kind)) {
                    continue;
                }
                // Insertions stand behind a block that has had payload, or before the block.
                if block.iter().any(|part| part.delta.kind.is_payload()) {
                    after.push(part);
                } else {
                    self.insert_whole(&part.delta.kind, &mut content);
                }
            } else if is_in_block(part) {
                block.push(part);
                if part.delta.kind == DeltaKind::Stop {
                    let raw = self.block(part, data);
                    content.extend(self.whole_block(&raw, &std::mem::take(&mut block), may_leave));
                    for part in after.drain(..) {
                        self.insert_whole(&part.delta.kind, &mut content);
                    }
                }
            }
        }
        content
    }

    /// Adds the notice, if the turn is emptied.
    pub(super) fn complete_whole(&mut self, content: &mut Vec<String>) {
        if let Some(text) = self.state.turns.notice(CHOICE) {
            self.insert_whole(&DeltaKind::Text { channel: Channel::Content, text }, content);
        }
    }

    fn whole_block(
        &mut self,
        raw: &str,
        parts: &[&Part],
        may_leave: fn(BlockKind) -> bool,
    ) -> Option<String> {
        let first = parts.first()?;
        let item = first.item()?;
        let kind = BlockKind::opened_by(&first.delta.kind)?;
        let block = if may_leave(kind) { written(raw, kind, parts) } else { None };
        self.blocks.start(first.key, item, kind, block.is_some());
        self.blocks.stop(first.key, item);
        block
    }
}

/// The stop fields of a message by the fate of its finish.
pub(super) fn stop_fields(message: &str, finish: Option<(&FinishReason, Fate)>) -> StopFields {
    match finish {
        Some((reason, Fate::Edited)) => StopFields::reason(reason.raw()),
        _ => StopFields::of(message),
    }
}

/// The finish among the parts that is not dropped, and its fate.
pub(super) fn finish(parts: &[Part]) -> Option<(&FinishReason, Fate)> {
    parts.iter().find_map(|part| match &part.delta.kind {
        DeltaKind::Finish(reason) if part.fate != Fate::Dropped => Some((reason, part.fate)),
        _ => None,
    })
}

fn is_in_block(part: &Part) -> bool {
    part.came() && part.item().is_some()
}

/// A whole block, by the fate of its parts; `None` if nothing of the block is written.
fn written(raw: &str, kind: BlockKind, parts: &[&Part]) -> Option<String> {
    let first = parts.first()?;
    if parts.iter().all(|part| part.fate == Fate::Kept) {
        return Some(raw.to_owned());
    }
    let text = text_left(parts.iter().copied());
    match (&first.delta.kind, kind) {
        (_, BlockKind::Thinking) => Some(templates::thinking_block(raw, text)),
        _ if first.fate == Fate::Dropped => None,
        // The API refuses an empty text block in the next request.
        (_, BlockKind::Text) => (!text.is_empty()).then(|| templates::text_block(text)),
        (DeltaKind::Call(call), _) if first.fate == Fate::Edited => {
            Some(templates::call_block(raw, call, &templates::whole_input(call.arguments.as_deref())))
        }
        _ => Some(raw.to_owned()),
    }
}

fn is_message(json: &str) -> bool {
    json::member(json, "content").is_some()
        || json::member(json, "type").and_then(json::unquote).as_deref() == Some("message")
}
