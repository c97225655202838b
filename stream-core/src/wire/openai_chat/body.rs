//! Reading the payload of a choice.

use std::borrow::Cow;

use super::grammar::{SIGNATURES, filled, integer, is_void};
use super::place::{Field, put};
use super::read::opaque;
use crate::delta::{CallDelta, CallFlavor, Channel, Delta, DeltaKind, Runs, Slot, Text};
use crate::json;
use crate::wire::document::Value;
use crate::wire::{DecodeError, Decoded, Odd};

/// Reads the payload of one `delta` or `message`: reasoning, content, refusal, calls.
pub(super) struct BodyReader<'r> {
    pub(super) into: &'r mut Decoded,
    /// The choice, and its position in the frame.
    pub(super) number: u32,
    pub(super) outer: usize,
    pub(super) whole: bool,
}

impl BodyReader<'_> {
    pub(super) fn body(&mut self, body: Value<'_>) -> Result<(), DecodeError> {
        self.reasoning(body)?;
        match body.get("content").map(|content| Content::read(content, "content")).transpose()? {
            Some(Content::Text(text)) => {
                self.text(Channel::Content, &text, Field::Content, 0, bit(Field::Content));
            }
            Some(Content::List(list)) => {
                for (item, part) in list.items().enumerate() {
                    self.content_part(part, item)?;
                }
            }
            None => {}
        }
        if let Some(audio) = body.get("audio") {
            let audio = audio.expect_object("audio")?;
            if let Some(text) = string(audio, "transcript")? {
                self.text(Channel::Content, &text, Field::Transcript, 0, 0);
            }
            if let Some(data) = audio.get("data").filter(|data| !is_void(data.raw())) {
                let kind = opaque("audio", Runs::Server, data.raw().len());
                self.push(Slot::None, kind, Field::Audio, 0);
            }
        }
        if let Some(text) = string(body, "refusal")? {
            self.text(Channel::Refusal, &text, Field::Refusal, 0, 0);
        }
        self.calls(body)
    }

    fn reasoning(&mut self, body: Value<'_>) -> Result<(), DecodeError> {
        let details = Details::read(body)?;
        // Twins repeat each other and are said once; one that says something else is payload of its own.
        let twins = [
            (string(body, "reasoning_content")?, Field::ReasoningContent),
            (string(body, "reasoning")?, Field::Reasoning),
        ];
        let mut said: Option<&str> = None;
        for (at, (twin, field)) in twins.iter().enumerate() {
            let Some(text) = twin.as_deref().filter(|text| !text.is_empty() && said != Some(*text)) else {
                continue;
            };
            let mut fields = bit(*field);
            for (other, field) in &twins[at + 1..] {
                fields |= if other.as_deref() == Some(text) { bit(*field) } else { 0 };
            }
            if details.text == text {
                fields |= bit(Field::ReasoningDetail);
            }
            self.text(Channel::Reasoning, text, *field, 0, fields);
            said = Some(text);
        }
        for (item, [first, second]) in details.items.iter().enumerate() {
            let field = Field::ReasoningDetail;
            if said != Some(&details.text) {
                self.text(Channel::Reasoning, first, field, item, bit(field));
            }
            self.text(Channel::Reasoning, second, field, item, bit(Field::Other));
        }
        let signs =
            |(name, value): (Cow<'_, str>, Value<'_>)| SIGNATURES.contains(&&*name) && !is_void(value.raw());
        if details.are_signed || body.unknown().any(signs) {
            self.push(Slot::Run, DeltaKind::Signature, Field::Signature, 0);
        }
        Ok(())
    }

    fn content_part(&mut self, part: Value<'_>, item: usize) -> Result<(), DecodeError> {
        if part.is_string() {
            // Some clients take a string for a part with nothing but text.
            self.text(Channel::Content, &part.text(), Field::ContentItem, item, bit(Field::ContentItem));
            return Ok(());
        }
        let text = string(part, "text")?;
        let untyped = if text.is_some() { "text" } else { "unknown" };
        let kind = string(part, "type")?.filter(|kind| !kind.is_empty()).unwrap_or(Cow::Borrowed(untyped));
        let thinking =
            part.get("thinking").map(|thinking| Content::read(thinking, "thinking")).transpose()?;
        let own = match &*kind {
            "text" | "output_text" => "text",
            "thinking" => "thinking",
            _ => "",
        };
        // Some clients go by the fields of a part, whatever its type: what it says is a text of its own.
        let is_foreign =
            |name: &&str| *name != own && part.get(name).is_some_and(|field| !is_void(field.raw()));
        if ["text", "thinking"].iter().any(is_foreign) {
            self.into.odd = self.into.odd.or(Some(Odd::Foreign));
        }
        let mut say = |channel, text: &str| {
            self.text(channel, text, Field::ContentItem, item, bit(Field::ContentItem));
        };
        match (text, thinking) {
            (Some(text), _) if own == "text" => say(Channel::Content, &text),
            (_, Some(thinking)) if own == "thinking" => say(Channel::Reasoning, &thinking.joined()?),
            _ if is_void(part.raw()) => {}
            (text, _) => {
                say(Channel::Content, &text.unwrap_or_default());
                let kind = opaque(&kind, Runs::Unknown, part.raw().len());
                self.push(Slot::None, kind, Field::ContentItem, item);
            }
        }
        Ok(())
    }

    fn calls(&mut self, body: Value<'_>) -> Result<(), DecodeError> {
        if let Some(calls) = body.get("tool_calls") {
            for (item, call) in calls.expect_items("tool_calls")?.enumerate() {
                if !call.is_null() {
                    self.tool_call(call.expect_object("tool_calls[]")?, item)?;
                }
            }
        }
        if let Some(call) = body.get("function_call") {
            let call = call.expect_object("function_call")?;
            let delta = self.call_delta(None, call, "arguments", CallFlavor::LegacyFunction)?;
            self.call(Slot::Call { index: None }, delta, Field::FunctionCall, 0);
        }
        Ok(())
    }

    fn tool_call(&mut self, call: Value<'_>, item: usize) -> Result<(), DecodeError> {
        let (function, custom) = (call.get("function"), call.get("custom"));
        let (tool, input, flavor) = match (function, custom) {
            // Which of them runs is up to the client; only one could be judged.
            (Some(_), Some(_)) => {
                return Err(DecodeError::ambiguous("a call of one kind of tool", "one of two kinds"));
            }
            (Some(function), _) => (function.expect_object("function")?, "arguments", CallFlavor::Function),
            (None, Some(custom)) => (custom.expect_object("custom")?, "input", CallFlavor::Custom),
            (None, None) if call.unknown().any(|(_, value)| !is_void(value.raw())) => {
                let kind = opaque("tool_call", Runs::Unknown, call.raw().len());
                self.push(Slot::None, kind, Field::ToolCall, item);
                return Ok(());
            }
            // Neither a name nor arguments.
            (None, None) => (call, "arguments", CallFlavor::Function),
        };
        self.into.odd = self.into.odd.or_else(|| odd_call(call));
        // Some servers send an empty id, or the word `null`, on continuations.
        let id = filled(call.get("id")).filter(|id| id != "null");
        let delta = self.call_delta(id.map(Text::from), tool, input, flavor)?;
        let index = call.get("index").and_then(|index| integer(index.raw()));
        self.call(Slot::Call { index }, delta, Field::ToolCall, item);
        Ok(())
    }

    fn call_delta(
        &self,
        id: Option<Text>,
        tool: Value<'_>,
        input: &str,
        flavor: CallFlavor,
    ) -> Result<CallDelta, DecodeError> {
        Ok(CallDelta {
            id,
            name: string(tool, "name")?.filter(|name| !name.is_empty()).map(Text::from),
            arguments: filled(tool.get(input)).map(Text::from),
            flavor,
            starts: self.whole,
            unopened: false,
            ..CallDelta::default()
        })
    }

    fn call(&mut self, slot: Slot, call: CallDelta, field: Field, item: usize) {
        // In a whole response even a call that says nothing is one; in a stream it is an empty continuation.
        if call.starts || call.id.is_some() || call.name.is_some() || call.arguments.is_some() {
            self.push(slot, DeltaKind::Call(call), field, item);
        }
    }

    fn text(&mut self, channel: Channel, text: &str, field: Field, item: usize, fields: u16) {
        if !text.is_empty() {
            let slot = if field == Field::Transcript { Slot::Speech } else { Slot::Run };
            let delta = Delta::new(self.number, slot, DeltaKind::Text { channel, text: text.into() });
            self.into.deltas.push(put(delta, self.outer, field, item).read_in(fields));
        }
    }

    fn push(&mut self, slot: Slot, kind: DeltaKind, field: Field, item: usize) {
        self.into.deltas.push(put(Delta::new(self.number, slot, kind), self.outer, field, item));
    }
}

/// The bit of a field among those that a client may read alone.
fn bit(field: Field) -> u16 {
    1 << (field as u16)
}

/// What is not plain about the fields of a call, whatever came before it.
fn odd_call(call: Value<'_>) -> Option<Odd> {
    let (index, id) = (call.get("index"), call.get("id"));
    if index.is_some_and(|raw| json::count(raw.raw()).is_none()) {
        return Some(Odd::Number);
    }
    // The word that some servers send for no id is a new one to those who go by ids.
    if id.is_some_and(|raw| raw.raw() == "\"null\"") {
        return Some(Odd::Identity);
    }
    let (function, custom) = (call.get("function"), call.get("custom"));
    let arguments = function.and_then(|function| function.get("arguments"));
    let input = custom.and_then(|custom| custom.get("input"));
    let strings = [id, arguments, input].into_iter().flatten().all(Value::is_string);
    let said = match call.get("type").map_or("\"\"", Value::raw) {
        "\"\"" => true,
        "\"function\"" => custom.is_none(),
        "\"custom\"" => function.is_none(),
        _ => function.is_none() && custom.is_none(),
    };
    (!strings || !said).then_some(Odd::Type)
}

/// Content, or thinking: a string, or a list of parts.
pub(super) enum Content<'d> {
    Text(Cow<'d, str>),
    List(Value<'d>),
}

impl<'d> Content<'d> {
    pub(super) fn read(value: Value<'d>, what: &str) -> Result<Self, DecodeError> {
        match value.is_list() {
            true => Ok(Self::List(value)),
            false => value.expect_string(what).map(Self::Text),
        }
    }

    /// The text of all parts.
    fn joined(self) -> Result<Cow<'d, str>, DecodeError> {
        let list = match self {
            Self::Text(text) => return Ok(text),
            Self::List(list) => list,
        };
        list.items()
            .try_fold(String::new(), |mut all, part| {
                all.push_str(&string(part.expect_object("thinking[]")?, "text")?.unwrap_or_default());
                Ok(all)
            })
            .map(Cow::Owned)
    }
}

/// What `reasoning_details` say.
#[derive(Default)]
struct Details<'d> {
    /// For each its text, or its summary where it has none; and a summary beside the text that says something else.
    items: Vec<[Cow<'d, str>; 2]>,
    /// The first of all.
    text: String,
    are_signed: bool,
}

impl<'d> Details<'d> {
    fn read(body: Value<'d>) -> Result<Self, DecodeError> {
        let mut details = Self::default();
        let Some(list) = body.get("reasoning_details") else { return Ok(details) };
        for detail in list.expect_items("reasoning_details")? {
            if detail.is_null() {
                details.items.push(Default::default());
                continue;
            }
            let detail = detail.expect_object("reasoning_details[]")?;
            let text = string(detail, "text")?.unwrap_or_default();
            let summary = string(detail, "summary")?.unwrap_or_default();
            let (first, second) = match (text.is_empty(), text == summary) {
                (true, _) => (summary, Cow::default()),
                (_, true) => (text, Cow::default()),
                _ => (text, summary),
            };
            details.text.push_str(&first);
            details.items.push([first, second]);
            let signed = |name: &&str| detail.get(name).is_some_and(|raw| !is_void(raw.raw()));
            details.are_signed |= ["data", "signature"].iter().any(signed);
        }
        Ok(details)
    }
}

/// A field that has to be a string, if it is there.
fn string<'d>(object: Value<'d>, name: &str) -> Result<Option<Cow<'d, str>>, DecodeError> {
    object.get(name).map(|field| field.expect_string(name)).transpose()
}
