//! Streamed answers.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use serde_json::Value;
use stream_core::sse::Frame;

use super::super::join::{Answered, Join, Mode, Style, data, event};
use super::super::json::{Object, Unreadable, added, array, quote};
use super::{hide, is_call, made, request, whole_of_all};

/// Joins streams: one opening, items and events numbered on, one terminal event with the items of all.
#[derive(Debug)]
pub(in super::super) struct Joiner {
    style: Style,
    /// The response of the first opening.
    first: Object,
    /// The items of the answer under way, calls included, by their number there.
    items: Vec<(u64, String)>,
    /// The items that have left, of all answers.
    left: Vec<String>,
    before: Value,
    usage: Value,
    answer: usize,
    has_text: bool,
    /// The client's number of the next item, and those of the answer under way; `None` for items that do not leave.
    next: u64,
    numbers: HashMap<u64, Option<u64>>,
    /// The ids of items of earlier answers. An upstream that counts from the start in each answer gives them twice.
    ids: HashSet<String>,
    /// The number of the next event; `None` while the upstream has sent none.
    sequence: Option<u64>,
    /// Whether events were left out or added, so that the upstream's numbers are no longer the client's.
    shifted: bool,
}

impl Joiner {
    pub(in super::super) fn new(style: Style) -> Self {
        Self {
            style,
            first: Object::default(),
            items: Vec::new(),
            left: Vec::new(),
            before: Value::Null,
            usage: Value::Null,
            answer: 0,
            has_text: false,
            next: 0,
            numbers: HashMap::new(),
            ids: HashSet::new(),
            sequence: None,
            shifted: false,
        }
    }

    /// Writes an event with its number. One that was not edited, and keeps its number, leaves as it came.
    fn put(&mut self, frame: &Frame, mut payload: Object, edited: bool, out: &mut Vec<Bytes>) {
        let Some(sent) = payload.number(SEQUENCE) else {
            out.push(if edited { event(frame.event(), &payload.to_string()) } else { frame.raw().clone() });
            return;
        };
        let number = self.sequence.filter(|_| self.shifted).unwrap_or(sent);
        self.sequence = Some(number + 1);
        if number == sent && !edited {
            out.push(frame.raw().clone());
        } else {
            payload.set(SEQUENCE, number.to_string());
            out.push(event(frame.event(), &payload.to_string()));
        }
    }

    /// Writes an event of the loop's own.
    fn make(&mut self, name: &str, fields: &str, out: &mut Vec<Bytes>) {
        self.shifted = true;
        let number = match &mut self.sequence {
            Some(next) => {
                *next += 1;
                format!(r#","{SEQUENCE}":{}"#, *next - 1)
            }
            None => String::new(),
        };
        out.push(event(Some(name), &format!(r#"{{"type":"{name}"{number}{fields}}}"#)));
    }

    /// The client's number of an item, as its first event tells it; `None` if the item does not leave.
    fn number(&mut self, payload: &Object, index: u64, mode: Mode) -> Option<u64> {
        if let Some(known) = self.numbers.get(&index) {
            return *known;
        }
        let of_call = payload.object("item").is_some_and(|item| is_call(&item))
            || payload.text("type").is_some_and(|kind| OF_CALLS.iter().any(|start| kind.starts_with(start)));
        let number = if of_call && mode.strips_calls() {
            None
        } else {
            self.next += 1;
            Some(self.next - 1)
        };
        self.numbers.insert(index, number);
        number
    }

    /// Gives the item of an event an id of its own; whether it had none.
    fn rename(&self, payload: &mut Object) -> bool {
        let mut is_renamed = false;
        if let Some(id) = payload.text("item_id").and_then(|id| self.own_id(&id)) {
            payload.set("item_id", quote(&id));
            is_renamed = true;
        }
        if let Some(item) = payload.get("item").and_then(|item| self.renamed(item)) {
            payload.set("item", item);
            is_renamed = true;
        }
        is_renamed
    }

    /// An item with an id of its own, if its id was there before.
    fn renamed(&self, item: &str) -> Option<String> {
        let mut item = Object::parse(item).ok()?;
        let id = self.own_id(&item.text("id")?)?;
        item.set("id", quote(&id));
        Some(item.to_string())
    }

    fn own_id(&self, id: &str) -> Option<String> {
        self.ids.contains(id).then(|| format!("{id}_{}", self.answer))
    }

    /// The terminal response, of all answers.
    fn terminal(&self, response: &mut Object, mode: Mode) {
        hide(response, &self.style);
        if self.answer == 0 && mode == Mode::Pass {
            return;
        }
        let usage = added(&self.before, &self.usage);
        whole_of_all(response, &self.first, &usage, &self.style);
        let under_way = self.under_way(mode.strips_calls());
        response.set("output", array(self.left.iter().chain(&under_way)));
    }

    /// The items of the answer under way, as the client numbers them.
    fn under_way(&self, strips_calls: bool) -> Vec<String> {
        let stays = |item: &str| !(strips_calls && Object::parse(item).is_ok_and(|item| is_call(&item)));
        let mut items: Vec<&(u64, String)> = self.items.iter().filter(|(_, item)| stays(item)).collect();
        items.sort_by_key(|(index, _)| {
            (self.numbers.get(index).copied().flatten().unwrap_or(u64::MAX), *index)
        });
        items.into_iter().map(|(_, item)| self.renamed(item).unwrap_or_else(|| item.clone())).collect()
    }
}

impl Join for Joiner {
    fn read(&mut self, frame: &Frame) -> Result<(), Unreadable> {
        let Some(text) = data(frame)?.filter(|text| text.trim() != DONE) else { return Ok(()) };
        let payload = Object::parse(text)?;
        if payload.text("type").as_deref() == Some("response.output_item.done") {
            let item = payload.get("item").ok_or(Unreadable)?.to_owned();
            self.items.push((payload.number("output_index").ok_or(Unreadable)?, item));
            self.items.sort_by_key(|(index, _)| *index);
        }
        let Some(response) = payload.object("response") else { return Ok(()) };
        if self.answer == 0 && self.first == Object::default() {
            self.first = response.clone();
        }
        if response.some("usage").is_some() {
            self.usage = response.value("usage");
        }
        // The last event is the one that SDKs believe.
        let said = response.items("output");
        if !said.is_empty() {
            self.items = (0..).zip(said).collect();
        }
        Ok(())
    }

    fn write(&mut self, frame: &Frame, mode: Mode, out: &mut Vec<Bytes>) -> Result<(), Unreadable> {
        let text = data(frame)?;
        let Some(text) = text.filter(|text| text.trim() != DONE) else {
            if text.is_none() || mode.keeps_ending() {
                out.push(frame.raw().clone());
            }
            return Ok(());
        };
        let mut payload = Object::parse(text)?;
        if let Some(mut response) = payload.object("response") {
            let kind = payload.text("type").unwrap_or_default();
            let ends = ENDS.contains(&kind.as_str());
            if (ends && !mode.keeps_ending()) || (!ends && self.answer > 0) {
                self.shifted = true;
                return Ok(());
            }
            if ends {
                self.terminal(&mut response, mode);
            } else {
                hide(&mut response, &self.style);
            }
            let response = response.to_string();
            let edited = payload.object("response").is_none_or(|old| old.to_string() != response);
            payload.set("response", response);
            self.put(frame, payload, edited, out);
        } else if let Some(index) = payload.number("output_index") {
            match self.number(&payload, index, mode) {
                Some(number) => {
                    payload.set("output_index", number.to_string());
                    let renamed = self.rename(&mut payload);
                    self.put(frame, payload, renamed || number != index, out);
                }
                None => self.shifted = true,
            }
        } else {
            self.put(frame, payload, false, out);
        }
        Ok(())
    }

    fn extend(&self, request: &mut Object, answered: &[Answered]) -> Result<(), Unreadable> {
        let items: Vec<String> = self.items.iter().map(|(_, item)| item.clone()).collect();
        request::extend(request, &items, answered)
    }

    fn next(&mut self) {
        self.has_text = self.has_text();
        self.left.extend(self.under_way(true));
        let items = std::mem::take(&mut self.items);
        self.ids.extend(items.iter().filter_map(|(_, item)| Object::parse(item).ok()?.text("id")));
        self.before = added(&self.before, &std::mem::take(&mut self.usage));
        self.answer += 1;
        self.numbers.clear();
    }

    fn say(&mut self, text: &str, out: &mut Vec<Bytes>) {
        for (name, fields) in made::events(self.next, text) {
            self.make(name, &fields, out);
        }
        let message = made::message(self.next, "completed", text);
        // Behind the items of the answer under way, which have left.
        let under_way = self.items.iter().map(|(index, _)| index + 1).max().unwrap_or_default();
        self.items.push((under_way, message));
        self.next += 1;
        self.has_text = true;
    }

    fn stop(&mut self, out: &mut Vec<Bytes>) {
        let mut response = self.first.clone();
        hide(&mut response, &self.style);
        response.set("status", quote("incomplete"));
        response.set("incomplete_details", r#"{"reason":"max_output_tokens"}"#);
        let under_way = self.under_way(true);
        response.set("output", array(self.left.iter().chain(&under_way)));
        let usage = added(&self.before, &self.usage);
        if !usage.is_null() {
            response.set("usage", usage.to_string());
        }
        self.make("response.incomplete", &format!(r#","response":{response}"#), out);
    }

    fn fail(&mut self, message: &str, out: &mut Vec<Bytes>) {
        let message = quote(message);
        self.make("error", &format!(r#","code":"server_error","message":{message},"param":null"#), out);
    }

    fn has_text(&self) -> bool {
        let is_message = |item: &str| {
            Object::parse(item).is_ok_and(|item| item.text("type").as_deref() == Some("message"))
        };
        self.has_text || self.items.iter().any(|(_, item)| is_message(item))
    }
}

const DONE: &str = "[DONE]";
const SEQUENCE: &str = "sequence_number";
const ENDS: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];
/// Events that only calls have.
const OF_CALLS: [&str; 2] = ["response.function_call_arguments", "response.custom_tool_call_input"];
