//! Writing a whole response with dropped, edited and inserted parts.

use std::borrow::Cow;

use bytes::Bytes;

use super::calls::ChoiceLedger;
use super::grammar::{self, Field, SIGNATURES};
use super::rebuild::{self, CameChunk};
use super::templates::{self, Finish, Members};
use super::write::ChatWriter;
use crate::delta::{Channel, DeltaKind};
use crate::json::{self, Object};
use crate::wire::document::{Spans, Value};
use crate::wire::writer::WholeBody;
use crate::wire::{Ending, Fate, Part};

impl WholeBody for ChatWriter {
    /// The body, with choices made of the parts that are not dropped.
    fn body(&mut self, came: &Bytes, parts: &[Part], refusal: Option<&str>) -> String {
        let data = std::str::from_utf8(came).unwrap_or_default();
        let mut spans = Spans::default();
        let came = CameChunk { data, chunk: grammar::chunk(&mut spans, came) };
        let envelope = grammar::envelope(came.chunk);
        if let Some(error) = parts.iter().find(|part| matches!(part.delta.kind, DeltaKind::Error(_))) {
            return envelope.raw("error", &rebuild::error(error, parts, data)).finish();
        }
        // A body without choices is written with one, for the refusal or the notice.
        let mut choices: Vec<Option<Value<'_>>> = came.choices().map(Some).collect();
        if choices.is_empty() {
            choices.push(None);
        }
        let mut of_choices = vec![Vec::new(); choices.len()];
        let number_of = |choice: &Option<Value<'_>>| choice.map_or(0, grammar::number);
        for part in parts {
            let Some(number) = part.delta.choice else { continue };
            let position = match part.fate {
                Fate::Inserted => choices.iter().position(|choice| number_of(choice) == number),
                _ => Some(part.delta.site.position as usize),
            };
            if let Some(parts) = position.and_then(|position| of_choices.get_mut(position)) {
                parts.push(part);
            }
        }
        let odd = self.state.odd.is_some();
        let written = choices.iter().zip(&of_choices).enumerate().map(|(at, (choice, parts))| {
            self::choice(&mut self.state.turns, data, *choice, odd.then_some(at), parts, refusal)
        });
        let usage = came.chunk.and_then(grammar::usage).map(Value::raw);
        templates::completion(templates::envelope(envelope, templates::COMPLETION), written, usage)
    }

    fn error_body(&mut self, came: &Bytes, parts: &[Part], ending: &Ending) -> String {
        // An error of the upstream is an ending of its own.
        match parts.iter().any(|part| matches!(part.delta.kind, DeltaKind::Error(_))) {
            true => self.body(came, parts, None),
            false => templates::error(ending).finish(),
        }
    }
}

/// One choice; with `refusal`, as a refused one. A body without choices has `None` as its `choice`. Where the body is not plain
/// (rule 28), the choice has a `position`, and is written from its deltas.
fn choice(
    ledger: &mut ChoiceLedger,
    data: &str,
    choice: Option<Value<'_>>,
    position: Option<usize>,
    parts: &[&Part],
    refusal: Option<&str>,
) -> String {
    let field = |name: &str| choice.and_then(|choice| choice.get(name));
    let body = field("message").filter(|message| message.is_object()).or_else(|| field("delta"));
    let raw = choice.map_or("", Value::raw);
    let first = body.and_then(|body| body.get("tool_calls")?.items().next());
    let mut message = Message {
        touched: position.is_some(),
        normal: position.is_some(),
        numbered: first.is_some_and(|call| call.members().any(|(name, _)| name == "index")),
        ..Message::default()
    };
    for part in parts {
        let index = ledger.track(part);
        match (&part.delta.kind, part.fate) {
            (DeltaKind::Call(_), Fate::Kept) if message.normal => {
                message.add(&Part { fate: Fate::Edited, ..(*part).clone() }, data, index);
            }
            _ => message.add(part, data, index),
        }
    }
    if !message.touched && refusal.is_none() {
        let Some(word) = message.new_finish else { return raw.to_owned() };
        return json::set(raw, &[("finish_reason", &word), ("native_finish_reason", &word)]);
    }
    match refusal {
        Some(text) => message.refuse(text),
        None => {
            let number = choice.map_or(0, grammar::number);
            let notice = ledger.notice(number).map(|notice| templates::notice(&notice));
            message.members.extend(notice.into_iter().flatten());
        }
    }
    let index = position.map(|position| position.to_string());
    let document = message.document(body, refusal.is_some());
    let new = message.new_finish;
    let raw_of = |name: &str| field(name).map(Value::raw);
    let native = grammar::native_finish(raw).map(str::to_owned);
    let finish = Finish {
        native: native.map(|native| new.clone().unwrap_or(native)),
        reason: Some(new.as_deref().or(raw_of("finish_reason")).unwrap_or("\"stop\"").to_owned()),
    };
    let index = index.as_deref().or(raw_of("index")).unwrap_or("0");
    templates::ending_choice(index, "message", &document, &finish)
}

/// A message made of its parts: the sum of the deltas of a stream.
#[derive(Default)]
struct Message {
    touched: bool,
    /// The body is not plain: the message is written from its deltas.
    normal: bool,
    /// Calls have an index.
    numbered: bool,
    members: Members,
    /// The content is a list.
    is_list: bool,
    /// Some reasoning was dropped or edited: its copies are stale.
    reasoning_touched: bool,
    new_finish: Option<String>,
}

impl Message {
    fn add(&mut self, part: &Part, data: &str, index: Option<u64>) {
        let finishes = matches!(part.delta.kind, DeltaKind::Finish(_));
        self.touched |= part.fate != Fate::Kept && !finishes;
        let field = Field::of(&part.delta).filter(|_| part.came());
        self.is_list |= field == Some(Field::ContentItem);
        if let DeltaKind::Text { channel: Channel::Reasoning, .. } = part.delta.kind {
            self.reasoning_touched |= part.fate != Fate::Kept;
        }
        match &part.delta.kind {
            DeltaKind::Finish(reason) if part.fate == Fate::Edited => {
                self.new_finish = Some(json::quote(reason.raw()));
            }
            // Signatures are members of their own.
            _ if part.fate == Fate::Dropped || field == Some(Field::Signature) => {}
            _ => self.members.extend(templates::members(part, data, index, self.numbered)),
        }
    }

    fn refuse(&mut self, message: &str) {
        let refusal = templates::refusal(message);
        self.members.retain(|(name, _)| refusal.iter().all(|(field, _)| field != name));
        self.members.extend(refusal);
        self.new_finish = Finish::refused().reason;
    }

    /// The values of a member, one for each delta.
    fn said(&self, name: &str) -> impl Iterator<Item = &str> {
        self.members.iter().filter(move |(field, _)| *field == name).map(|(_, raw)| raw.as_str())
    }

    /// The strings of a member as one.
    fn text(&self, name: &str) -> Option<String> {
        let text: String =
            self.said(name).filter_map(|raw| raw.strip_prefix('"')?.strip_suffix('"')).collect();
        (!text.is_empty()).then(|| format!("\"{text}\""))
    }

    /// The lists of a member as one; a string becomes a text item.
    fn list(&self, name: &str) -> Option<String> {
        let items =
            self.said(name).map(|raw| match raw.strip_prefix('[').and_then(|raw| raw.strip_suffix(']')) {
                Some(items) => Cow::Borrowed(items),
                None => templates::text_item(raw).into(),
            });
        Some(json::array(items)).filter(|list| list != "[]")
    }

    /// The message: the upstream's members with their new values, in their order; then new members.
    fn document(&self, body: Option<Value<'_>>, refused: bool) -> String {
        let mut message = Object::new();
        if body.is_none_or(|body| body.get("role").is_none()) {
            message = message.string("role", "assistant");
        }
        let raw = body.map_or("", Value::raw);
        let mut written = Vec::new();
        for (name, value) in body.into_iter().flat_map(Value::members) {
            if let Some(value) = self.member(&name, value.raw(), raw, refused) {
                message = message.raw(&name, &value);
                written.push(name);
            }
        }
        for name in ["content", "refusal", "tool_calls", "function_call"] {
            if !written.iter().any(|written| written == name)
                && let Some(value) = self.member(name, "null", raw, refused).filter(|value| value != "null")
            {
                message = message.raw(name, &value);
            }
        }
        message.finish()
    }

    /// The new value of a member of the message; `None` if the member is left out. `body` is the upstream's message.
    fn member(&self, name: &str, value: &str, body: &str, refused: bool) -> Option<String> {
        match name {
            "role" if self.normal => Some(json::quote("assistant")),
            "role" => Some(value.to_owned()).filter(|value| value != "null"),
            "content" => {
                let content = if self.is_list { self.list(name) } else { self.text(name) };
                let is_empty = refused || value == "\"\"";
                Some(content.unwrap_or_else(|| String::from(if is_empty { "\"\"" } else { "null" })))
            }
            "refusal" => Some(self.text(name).unwrap_or_else(|| String::from("null"))),
            "tool_calls" => self.list(name),
            "function_call" => self.said(name).last().map(str::to_owned),
            "audio" => self.audio(value),
            "reasoning_content" | "reasoning" | "reasoning_details" if !self.reasoning_touched => {
                Some(value.to_owned())
            }
            "reasoning_details" => self.list(name).or_else(|| {
                let mut signatures = templates::signatures(body).into_iter();
                signatures.find(|(field, _)| *field == name).map(|(_, value)| value)
            }),
            "reasoning_content" | "reasoning" => self.text(name),
            _ => SIGNATURES.contains(&name).then(|| value.to_owned()),
        }
    }

    fn audio(&self, raw: &str) -> Option<String> {
        let made = |name: &str| {
            let made = self.said("audio").filter_map(|audio| json::member(audio, name)).last();
            made.map(|made| Cow::Owned(made.to_owned()))
        };
        self.said("audio").next()?;
        let audio = json::map(raw, |name, value| match name {
            "id" | "expires_at" => Some(Cow::Borrowed(value)),
            "data" | "transcript" => made(name),
            _ => None,
        });
        Some(audio.finish())
    }
}
