//! Writing a whole response: the document with parts taken out, changed or put in.

use bytes::Bytes;

use super::fragment;
use super::place::{self, Field};
use super::raw::{RawChoice, RawChunk};
use super::state::Ledger;
use super::view::SIGNATURES;
use super::write::error_document;
use crate::delta::{CallFlavor, Channel, DeltaKind};
use crate::json::{self, At, Object};
use crate::sse::Frame;
use crate::wire::{Ending, EndingKind, Fate, Outgoing, Part, WriterOptions};

/// The body as it leaves.
pub(super) fn write(
    ledger: &mut Ledger,
    options: &WriterOptions,
    body: &Outgoing,
    ending: Option<&Ending>,
) -> Bytes {
    let odd = options.normalise && body.frame.as_ref().is_some_and(|frame| frame.odd().is_some());
    if let (None, true, false, Some(frame)) = (ending, body.is_untouched(), odd, &body.frame) {
        return frame.raw().clone();
    }
    let data = body.frame.as_ref().and_then(Frame::data).unwrap_or_default();
    let raw = RawChunk::read(&data).unwrap_or_default();
    // An error of the upstream is an ending already.
    if body.parts.iter().any(|part| matches!(part.delta.kind, DeltaKind::Error(_))) {
        let with_generation = body.parts.iter().any(|part| {
            part.fate == Fate::Kept && place::field(part.delta.place) == Some(Field::FailedGeneration)
        });
        return raw.object().raw("error", &raw.error(with_generation)).finish().into();
    }
    if let Some(Ending { kind: EndingKind::Error, message }) = ending {
        return error_document(message).into();
    }
    let refusal = ending.map(|ending| ending.message.as_str());
    let mut document = if raw.envelope.is_empty() { made() } else { raw.object() };
    let usage = raw.usage;
    // A body without choices is still answered with one: refused, or with the notice.
    let mut of_choices: Vec<RawChoice<'_>> = raw.choices.into_iter().map(RawChoice::of_message).collect();
    if of_choices.is_empty() {
        of_choices.push(RawChoice::default());
    }
    let mut parts = vec![Vec::new(); of_choices.len()];
    for part in &body.parts {
        let Some(number) = part.delta.choice else { continue };
        let outer = match part.fate {
            Fate::Inserted => of_choices.iter().position(|choice| choice.number() == number),
            _ => Some(part.delta.place.outer as usize),
        };
        if let Some(parts) = outer.and_then(|outer| parts.get_mut(outer)) {
            parts.push(part);
        }
    }
    let choices: Vec<String> = of_choices
        .iter()
        .zip(&parts)
        .enumerate()
        .map(|(at, (choice, parts))| {
            let position = odd.then_some(at);
            self::choice(ledger, options, choice, position, parts, refusal)
        })
        .collect();
    document = document.raw("choices", &json::array(choices));
    if let Some(usage) = usage {
        document = document.raw("usage", usage);
    }
    document.finish().into()
}

/// One choice; with `refusal`, as a refused one. Where the body is not plain (rule 28), it has a position, and is written
/// from what was judged.
fn choice(
    ledger: &mut Ledger,
    options: &WriterOptions,
    raw: &RawChoice<'_>,
    position: Option<usize>,
    parts: &[&Part],
    refusal: Option<&str>,
) -> String {
    let number = raw.number();
    let mut message =
        Message { touched: position.is_some(), normal: position.is_some(), ..Message::default() };
    for part in parts {
        let index = ledger.track(part);
        message.touched |= part.fate != Fate::Kept && !matches!(part.delta.kind, DeltaKind::Finish(_));
        match (&part.delta.kind, part.fate) {
            (DeltaKind::Call(_), Fate::Kept) if message.normal => {
                message.add(&Part { fate: Fate::Edited, ..(*part).clone() }, raw, index);
            }
            _ => message.add(part, raw, index),
        }
    }
    if !message.touched && refusal.is_none() {
        let Some(word) = message.new_finish else { return raw.raw.to_owned() };
        let path = |name| [At::Key(name)];
        return json::patch(
            raw.raw,
            &[(&path("finish_reason"), &word), (&path("native_finish_reason"), &word)],
        );
    }
    match refusal {
        Some(text) => message.refuse(text),
        None if ledger.wants_notice(number) => {
            if let Some(notice) = &options.empty_notice {
                message.text(notice);
            }
        }
        None => {}
    }
    let index = position.map(|position| position.to_string());
    let mut choice = Object::new()
        .raw("index", index.as_deref().or(raw.get("index")).unwrap_or("0"))
        .raw("message", &message.document(raw, refusal.is_some()));
    let finish = message.new_finish.as_deref();
    choice = choice.raw("finish_reason", finish.or(raw.get("finish_reason")).unwrap_or("\"stop\""));
    if let Some(native) = raw.get("native_finish_reason") {
        choice = choice.raw("native_finish_reason", finish.unwrap_or(native));
    }
    choice.finish()
}

/// A message as its parts leave it, values as raw JSON.
#[derive(Default)]
struct Message {
    touched: bool,
    /// The body is not plain: the message is written from what was judged.
    normal: bool,
    content: String,
    /// The content as a list, if it came as one.
    items: Vec<String>,
    is_list: bool,
    reasoning: Option<(&'static str, String)>,
    details: Vec<String>,
    /// Some reasoning was dropped or edited: its copies are stale.
    reasoning_touched: bool,
    refusal: String,
    calls: Vec<String>,
    function_call: Option<String>,
    transcript: Option<String>,
    has_sound: bool,
    new_finish: Option<String>,
}

impl Message {
    fn add(&mut self, part: &Part, raw: &RawChoice<'_>, index: Option<u64>) {
        let field = match part.fate {
            Fate::Inserted => None,
            _ => place::field(part.delta.place),
        };
        let item = place::item(part.delta.place);
        if field == Some(Field::ContentItem) {
            self.is_list = true;
        }
        if let DeltaKind::Text { channel: Channel::Reasoning, .. } = part.delta.kind {
            self.reasoning_touched |= part.fate != Fate::Kept;
        }
        if part.fate == Fate::Dropped {
            return;
        }
        match &part.delta.kind {
            DeltaKind::Text { text, .. } if text.is_empty() => {}
            DeltaKind::Text { channel, text } => match (field, channel) {
                (Some(Field::ContentItem), _) => self.items.push(fragment::content_item(&part.delta, text)),
                (Some(Field::Transcript), _) => self.transcript = Some(json::quote(text)),
                (Some(Field::ReasoningDetail), _) => {
                    let detail = raw.item("reasoning_details", item).unwrap_or("{}");
                    self.details.push(fragment::detail(detail, Some(text)));
                }
                (Some(Field::Reasoning), _) => self.reasoning = Some(("reasoning", json::quote(text))),
                (_, Channel::Content) => self.text(text),
                (_, Channel::Refusal) => self.refusal.push_str(text),
                (_, Channel::Reasoning) => self.reasoning = Some(("reasoning_content", json::quote(text))),
            },
            DeltaKind::Call(call) if call.flavor == CallFlavor::LegacyFunction => {
                self.function_call = Some(fragment::function(call));
            }
            DeltaKind::Call(_) => {
                let numbered =
                    raw.item("tool_calls", 0).is_some_and(|item| json::member(item, "index").is_some());
                self.calls.push(fragment::call(part, raw, index, numbered));
            }
            DeltaKind::Opaque { .. } => match field {
                Some(Field::ContentItem) => self.items.extend(raw.item("content", item).map(str::to_owned)),
                Some(Field::ToolCall) => self.calls.extend(raw.item("tool_calls", item).map(str::to_owned)),
                Some(Field::Audio) => self.has_sound = true,
                _ => {}
            },
            DeltaKind::Copy(copy) if copy.is_first => self.text(copy.body.as_deref().unwrap_or_default()),
            DeltaKind::Finish(reason) if part.fate == Fate::Edited => {
                self.new_finish = Some(json::quote(reason.raw()));
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        self.content.push_str(text);
        self.items.push(Object::new().string("type", "text").string("text", text).finish());
    }

    fn refuse(&mut self, message: &str) {
        if !message.is_empty() {
            message.clone_into(&mut self.refusal);
        }
        self.new_finish = Some(json::quote("content_filter"));
    }

    /// The message: what came, with what is left of it, in its order; then what is new.
    fn document(&self, raw: &RawChoice<'_>, refused: bool) -> String {
        let mut message = Object::new();
        if raw.body("role").is_none() {
            message = message.string("role", "assistant");
        }
        let mut written: Vec<&str> = Vec::new();
        for (name, value) in raw.body_members() {
            if let Some(value) = self.member(name, value, raw, refused) {
                message = message.raw(name, &value);
                written.push(name);
            }
        }
        for name in ["content", "refusal", "tool_calls", "function_call"] {
            if !written.contains(&name)
                && let Some(value) = self.member(name, "null", raw, refused).filter(|value| value != "null")
            {
                message = message.raw(name, &value);
            }
        }
        message.finish()
    }

    /// What a member of the message says now; `None` if it goes.
    fn member(&self, name: &str, value: &str, raw: &RawChoice<'_>, refused: bool) -> Option<String> {
        match name {
            "role" if self.normal => Some(json::quote("assistant")),
            "role" => Some(value.to_owned()).filter(|value| value != "null"),
            "content" => Some(self.content_value(value, refused)),
            "refusal" if self.refusal.is_empty() => Some(String::from("null")),
            "refusal" => Some(json::quote(&self.refusal)),
            "tool_calls" => (!self.calls.is_empty()).then(|| json::array(&self.calls)),
            "function_call" => self.function_call.clone(),
            "audio" => self.audio(value),
            "reasoning_content" | "reasoning" | "reasoning_details" if !self.reasoning_touched => {
                Some(value.to_owned())
            }
            "reasoning_details" if !self.details.is_empty() => Some(json::array(&self.details)),
            "reasoning_details" => fragment::signatures(raw)
                .into_iter()
                .find(|(field, _)| *field == name)
                .map(|(_, value)| value),
            "reasoning_content" | "reasoning" => {
                self.reasoning.as_ref().filter(|(field, _)| *field == name).map(|(_, text)| text.clone())
            }
            _ => SIGNATURES.contains(&name).then(|| value.to_owned()),
        }
    }

    fn content_value(&self, old: &str, refused: bool) -> String {
        if self.is_list && !self.items.is_empty() {
            json::array(&self.items)
        } else if !self.content.is_empty() {
            json::quote(&self.content)
        } else if refused || old == "\"\"" {
            String::from("\"\"")
        } else {
            String::from("null")
        }
    }

    fn audio(&self, raw: &str) -> Option<String> {
        if self.transcript.is_none() && !self.has_sound {
            return None;
        }
        let mut audio = Object::new();
        for (name, value) in json::members(raw)? {
            audio = match name.as_ref() {
                "id" | "expires_at" => audio.raw(&name, value),
                "data" if self.has_sound => audio.raw(&name, value),
                "transcript" => match &self.transcript {
                    Some(text) => audio.raw(&name, text),
                    None => audio,
                },
                _ => audio,
            };
        }
        Some(audio.finish())
    }
}

fn made() -> Object {
    Object::new()
        .string("id", "chatcmpl-blocked")
        .string("object", "chat.completion")
        .number("created", 0)
        .string("model", "")
}
