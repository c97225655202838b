//! Copies: what later events repeat of an item.

use serde_json::Value;

use super::{
    super::{
        Deviation, Rule,
        json::{list, text},
        report::Log,
    },
    item::{Item, part_text, payload},
    piece::Piece,
};

/// Compares a copy of an item with what was folded. `place` is where the copy stands.
pub(super) fn compare(item: &Item, copy: &Value, place: &str, log: &mut Log) {
    if text(copy, "type") != Some(&item.kind) {
        let found = text(copy, "type").unwrap_or_default();
        log.broken(Rule::Copy, format!("expected {place} to be a {:?} item, found {found:?}", item.kind));
        return;
    }
    if text(copy, "id").unwrap_or_default() != item.id {
        let found = text(copy, "id").unwrap_or_default();
        let message = format!("expected {place} to have the id {:?}, found {found:?}", item.id);
        log.deviates(Rule::ItemId, Deviation::ItemIdChanges, message);
    }
    for (key, known) in [("call_id", &item.call_id), ("name", &item.name)] {
        let found = text(copy, key).unwrap_or_default();
        if found != known {
            log.broken(Rule::Copy, format!("expected {place} to have the {key} {known:?}, found {found:?}"));
        }
    }
    if payload(copy).is_some_and(|found| found != item.payload.text) {
        log.broken(
            Rule::Copy,
            format!("expected {place} to repeat the deltas of its call, found another text"),
        );
    }
    let commands: Vec<_> = list(&copy["action"], "commands").iter().filter_map(Value::as_str).collect();
    if item.kind == "shell_call" && !item.commands.iter().map(|piece| &piece.text).eq(&commands) {
        log.broken(Rule::Copy, format!("expected {place} to repeat its commands, found others"));
    }
    parts(&item.content, list(copy, "content"), "content", place, log);
    parts(&item.summary, list(copy, "summary"), "summary", place, log);
}

fn parts(pieces: &[Piece], copies: &[Value], key: &str, place: &str, log: &mut Log) {
    if pieces.len() != copies.len() {
        let (known, found) = (pieces.len(), copies.len());
        log.broken(Rule::Copy, format!("expected {place} to have {known} parts of {key}, found {found}"));
    }
    for (piece, copy) in pieces.iter().zip(copies) {
        if text(copy, "type") != Some(&piece.kind) || part_text(copy) != piece.text {
            log.broken(
                Rule::Copy,
                format!("expected the {key} of {place} to repeat its deltas, found another text"),
            );
        }
    }
}
