//! Reading the payload of a choice.

use serde_json::value::RawValue;

use super::place::{Field, put};
use super::read::{opaque, parse};
use super::view::{Body, Call, Content, ContentPart, Detail, Str, is_void, text_of};
use crate::delta::{CallDelta, CallFlavor, Channel, Delta, DeltaKind, Runs, Slot, Text};
use crate::json;
use crate::wire::{DecodeError, Decoded};

/// Reads the payload of one `delta` or `message`: reasoning, content, refusal, calls.
pub(super) struct BodyReader<'r> {
    pub(super) into: &'r mut Decoded,
    /// The choice, and its position in the frame.
    pub(super) number: u32,
    pub(super) outer: usize,
    pub(super) whole: bool,
}

impl BodyReader<'_> {
    pub(super) fn body(&mut self, body: &Body<'_>) -> Result<(), DecodeError> {
        self.reasoning(body)?;
        match &body.content {
            Some(Content::Text(text)) => {
                self.text(Channel::Content, text, Field::Content, 0, bit(Field::Content));
            }
            Some(Content::List(items)) => {
                for (item, raw) in items.iter().enumerate() {
                    self.content_part(raw.get(), item)?;
                }
            }
            None => {}
        }
        if let Some(audio) = &body.audio {
            if let Some(Str(text)) = &audio.transcript {
                self.text(Channel::Content, text, Field::Transcript, 0, 0);
            }
            if let Some(data) = audio.data.filter(|data| !is_void(data.get())) {
                let kind = opaque("audio", Runs::Server, data.get().len());
                self.push(Slot::None, kind, Field::Audio, 0);
            }
        }
        if let Some(Str(text)) = &body.refusal {
            self.text(Channel::Refusal, text, Field::Refusal, 0, 0);
        }
        self.calls(body)
    }

    fn reasoning(&mut self, body: &Body<'_>) -> Result<(), DecodeError> {
        let mut signed = body.signed;
        let details = match body.reasoning_details {
            Some(raw) => parse::<Vec<Option<Detail<'_>>>>(raw.get(), "a list of reasoning details")?,
            None => Vec::new(),
        };
        // Twins repeat each other and are said once; one that says something else is payload of its own.
        let filled = |twin: &'_ Option<Str<'_>>| twin.as_ref().is_some_and(|text| !text.0.is_empty());
        let of_details: String = details.iter().flatten().map(Detail::first).collect();
        let twins = [(&body.reasoning_content, Field::ReasoningContent), (&body.reasoning, Field::Reasoning)];
        let mut said: Option<&str> = None;
        for (at, (twin, field)) in twins.iter().enumerate() {
            let Some(Str(text)) = twin else { continue };
            if !filled(twin) || said == Some(text) {
                continue;
            }
            let mut fields = bit(*field);
            for (other, field) in &twins[at + 1..] {
                let same = other.as_ref().is_some_and(|other| other.0 == *text);
                fields |= if same { bit(*field) } else { 0 };
            }
            if of_details == *text {
                fields |= bit(Field::ReasoningDetail);
            }
            self.text(Channel::Reasoning, text, *field, 0, fields);
            said = Some(text);
        }
        for (item, detail) in details.iter().enumerate() {
            let Some(detail) = detail else { continue };
            let field = Field::ReasoningDetail;
            if said != Some(&of_details) {
                self.text(Channel::Reasoning, detail.first(), field, item, bit(field));
            }
            self.text(Channel::Reasoning, detail.second(), field, item, bit(Field::Other));
        }
        signed |= details.iter().flatten().any(Detail::is_signed);
        if signed {
            self.push(Slot::Run, DeltaKind::Signature, Field::Signature, 0);
        }
        Ok(())
    }

    fn content_part(&mut self, raw: &str, item: usize) -> Result<(), DecodeError> {
        let is_object = raw.starts_with('{');
        let part = match is_object {
            true => Some(parse::<ContentPart<'_>>(raw, "a content part")?),
            false => None,
        };
        let kind = part.as_ref().and_then(|part| part.kind.as_ref()).map_or("unknown", |kind| &kind.0);
        match part.as_ref() {
            Some(ContentPart { text: Some(Str(text)), .. }) if matches!(kind, "text" | "output_text") => {
                self.text(Channel::Content, text, Field::ContentItem, item, bit(Field::ContentItem));
            }
            Some(ContentPart { thinking: Some(thinking), .. }) if kind == "thinking" => {
                let text = thinking_text(thinking)?;
                self.text(Channel::Reasoning, &text, Field::ContentItem, item, bit(Field::ContentItem));
            }
            _ if is_void(raw) => {}
            _ => {
                let kind = opaque(kind, Runs::Unknown, raw.len());
                self.push(Slot::None, kind, Field::ContentItem, item);
            }
        }
        Ok(())
    }

    fn calls(&mut self, body: &Body<'_>) -> Result<(), DecodeError> {
        if let Some(raw) = body.tool_calls {
            let calls = parse::<Vec<&RawValue>>(raw.get(), "a list of tool calls")?;
            for (item, call) in calls.into_iter().enumerate() {
                self.tool_call(call.get(), item)?;
            }
        }
        if let Some(call) = &body.function_call {
            let name = call.name.as_ref().map(|name| name.0.as_ref());
            let delta = self.call_delta(None, name, call.arguments, CallFlavor::LegacyFunction);
            self.call(Slot::Call { index: None }, delta, Field::FunctionCall, 0);
        }
        Ok(())
    }

    fn tool_call(&mut self, raw: &str, item: usize) -> Result<(), DecodeError> {
        let Some(call) = parse::<Option<Call<'_>>>(raw, "a tool call")? else { return Ok(()) };
        let (name, arguments, flavor) = match (&call.function, &call.custom) {
            // Which of them runs is up to the client; only one could be judged.
            (Some(_), Some(_)) => {
                return Err(DecodeError::ambiguous("a call of one kind of tool", "one of two kinds"));
            }
            (Some(function), _) => (function.name.as_ref(), function.arguments, CallFlavor::Function),
            (None, Some(custom)) => (custom.name.as_ref(), custom.input, CallFlavor::Custom),
            (None, None) if is_foreign(raw) => {
                let kind = opaque("tool_call", Runs::Unknown, raw.len());
                self.push(Slot::None, kind, Field::ToolCall, item);
                return Ok(());
            }
            (None, None) => (None, None, CallFlavor::Function),
        };
        self.into.odd = self.into.odd.or_else(|| call.odd());
        let id = call.id();
        let delta = self.call_delta(id.as_deref(), name.map(|name| name.0.as_ref()), arguments, flavor);
        self.call(Slot::Call { index: call.index() }, delta, Field::ToolCall, item);
        Ok(())
    }

    fn call_delta(
        &self,
        id: Option<&str>,
        name: Option<&str>,
        arguments: Option<&RawValue>,
        flavor: CallFlavor,
    ) -> CallDelta {
        CallDelta {
            id: id.map(Text::from),
            name: name.filter(|name| !name.is_empty()).map(Text::from),
            arguments: arguments
                .map(|raw| text_of(raw.get()))
                .filter(|text| !text.is_empty())
                .map(Text::from),
            flavor,
            starts: self.whole,
            unopened: false,
            ..CallDelta::default()
        }
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

/// The text of a `thinking` part: a string, or a list of text parts.
fn thinking_text(thinking: &Content<'_>) -> Result<String, DecodeError> {
    match thinking {
        Content::Text(text) => Ok(text.as_ref().to_owned()),
        Content::List(items) => items.iter().try_fold(String::new(), |mut all, raw| {
            let part = parse::<ContentPart<'_>>(raw.get(), "a part of thinking")?;
            all.push_str(part.text.as_ref().map_or("", |text| &text.0));
            Ok(all)
        }),
    }
}

/// Whether an item of `tool_calls` that is neither a function nor a custom tool holds something all the same.
fn is_foreign(raw: &str) -> bool {
    json::members(raw)
        .into_iter()
        .flatten()
        .any(|(name, value)| !matches!(name.as_ref(), "index" | "id" | "type") && !is_void(value))
}
