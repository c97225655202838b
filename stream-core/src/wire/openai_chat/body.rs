//! Reading the payload of a choice.

use std::borrow::Cow;

use super::grammar::{Field, SIGNATURES, filled, integer, is_void};
use super::read::{Holder, opaque};
use crate::delta::{CallDelta, CallFlavor, Channel, DeltaKind, Runs, Slot, Text};
use crate::json;
use crate::wire::document::Value;
use crate::wire::{DecodeError, Decoded, Odd};

/// Reads the payload of one `delta` or `message`: reasoning, content, refusal, calls.
pub(super) struct BodyReader<'r> {
    pub(super) into: &'r mut Decoded,
    pub(super) holder: Holder,
    pub(super) whole: bool,
}

impl BodyReader<'_> {
    pub(super) fn body(&mut self, body: Value<'_>) -> Result<(), DecodeError> {
        self.reasoning(body)?;
        if let Some(content) = body.get("content") {
            match Content::read(content, "content")? {
                Content::Text(text) => self.text(Channel::Content, &text, content, Field::Content.bit()),
                Content::List(list) => list.items().try_for_each(|part| self.content_part(part))?,
            }
        }
        if let Some(audio) = body.get("audio") {
            let audio = audio.expect_object("audio")?;
            if let Some(text) = audio.filled("transcript")? {
                let kind = DeltaKind::Text { channel: Channel::Content, text };
                self.push(Slot::Speech, kind, audio, 0);
            }
            if let Some(data) = audio.get("data").filter(|data| !is_void(data.raw())) {
                let kind = opaque("audio", Runs::Server, data.raw().len());
                self.push(Slot::None, kind, audio, Field::Audio.bit());
            }
        }
        if let Some(refusal) = body.get("refusal") {
            self.text(Channel::Refusal, &refusal.expect_string("refusal")?, refusal, 0);
        }
        self.calls(body)
    }

    fn reasoning(&mut self, body: Value<'_>) -> Result<(), DecodeError> {
        let is_told = |name: &&str| body.get(name).is_some();
        let thinks = ["reasoning_content", "reasoning", "reasoning_details"].iter().any(is_told);
        let are_signed = thinks && self.thoughts(body)?;
        let signs =
            |(name, value): (Cow<'_, str>, Value<'_>)| SIGNATURES.contains(&&*name) && !is_void(value.raw());
        if are_signed || body.unknown().any(signs) {
            self.push(Slot::Run, DeltaKind::Signature, body, Field::Signature.bit());
        }
        Ok(())
    }

    /// The texts of the reasoning. Answers whether details of it are signed.
    fn thoughts(&mut self, body: Value<'_>) -> Result<bool, DecodeError> {
        let details = Details::read(body)?;
        // Fields with the same text are one delta; a field with another text is payload of its own.
        let twin = |name| body.said(name).map(Option::unwrap_or_default);
        let twins = [
            (twin("reasoning_content")?, body.get("reasoning_content"), Field::ReasoningContent),
            (twin("reasoning")?, body.get("reasoning"), Field::Reasoning),
        ];
        let mut said: Option<&str> = None;
        for (at, (text, came, field)) in twins.iter().enumerate() {
            let Some(came) = came.filter(|_| said != Some(text)) else { continue };
            let mut fields = field.bit();
            for (other, _, field) in &twins[at + 1..] {
                fields |= if other == text { field.bit() } else { 0 };
            }
            if details.text == *text {
                fields |= Field::Detail.bit();
            }
            self.text(Channel::Reasoning, text, came, fields);
            said = Some(&**text).filter(|text| !text.is_empty()).or(said);
        }
        for Detail { came, texts: [first, second] } in &details.items {
            if said != Some(&details.text) {
                self.text(Channel::Reasoning, first, *came, Field::Detail.bit());
            }
            self.text(Channel::Reasoning, second, *came, Field::Summary.bit());
        }
        Ok(details.are_signed)
    }

    fn content_part(&mut self, part: Value<'_>) -> Result<(), DecodeError> {
        if part.is_string() {
            // Some clients take a string for a text part.
            self.text(Channel::Content, &part.text(), part, Field::ContentItem.bit());
            return Ok(());
        }
        let text = part.said("text")?;
        let untyped = if text.is_some() { "text" } else { "unknown" };
        let kind = part.said("type")?.filter(|kind| !kind.is_empty()).unwrap_or(Cow::Borrowed(untyped));
        let thinking =
            part.get("thinking").map(|thinking| Content::read(thinking, "thinking")).transpose()?;
        let own = match &*kind {
            "text" | "output_text" => "text",
            "thinking" => "thinking",
            _ => "",
        };
        // Some clients go by the fields of a part, whatever its type.
        let is_foreign =
            |name: &&str| *name != own && part.get(name).is_some_and(|field| !is_void(field.raw()));
        self.into.mark(["text", "thinking"].iter().any(is_foreign).then_some(Odd::Foreign));
        let mut say = |channel, text: &str| self.text(channel, text, part, Field::ContentItem.bit());
        match (text, thinking) {
            (Some(text), _) if own == "text" => say(Channel::Content, &text),
            (_, Some(thinking)) if own == "thinking" => say(Channel::Reasoning, &thinking.joined()?),
            _ if is_void(part.raw()) => {}
            (text, _) => {
                say(Channel::Content, &text.unwrap_or_default());
                let kind = opaque(&kind, Runs::Unknown, part.raw().len());
                self.push(Slot::None, kind, part, Field::ContentItem.bit());
            }
        }
        Ok(())
    }

    fn calls(&mut self, body: Value<'_>) -> Result<(), DecodeError> {
        if let Some(calls) = body.get("tool_calls") {
            for call in calls.expect_items("tool_calls")?.filter(|call| !call.is_null()) {
                self.tool_call(call.expect_object("tool_calls[]")?)?;
            }
        }
        if let Some(call) = body.get("function_call") {
            let call = call.expect_object("function_call")?;
            let delta = self.call_delta(None, call, "arguments", CallFlavor::LegacyFunction)?;
            self.call(Slot::Call { index: None }, delta, call);
        }
        Ok(())
    }

    fn tool_call(&mut self, call: Value<'_>) -> Result<(), DecodeError> {
        let (function, custom) = (call.get("function"), call.get("custom"));
        let (tool, input, flavor) = match (function, custom) {
            // Clients differ in which of the two they run, and only one could be judged.
            (Some(_), Some(_)) => {
                return Err(DecodeError::ambiguous("a call of one kind of tool", "one of two kinds"));
            }
            (Some(function), _) => (function.expect_object("function")?, "arguments", CallFlavor::Function),
            (None, Some(custom)) => (custom.expect_object("custom")?, "input", CallFlavor::Custom),
            (None, None) if call.unknown().any(|(_, value)| !is_void(value.raw())) => {
                let kind = opaque("tool_call", Runs::Unknown, call.raw().len());
                self.push(Slot::None, kind, call, Field::ToolCall.bit());
                return Ok(());
            }
            // Neither a name nor arguments.
            (None, None) => (call, "arguments", CallFlavor::Function),
        };
        self.into.mark(odd_call(call));
        // Some servers send an empty id, or the word `null`, on continuations.
        let id = filled(call.get("id")).filter(|id| id != "null");
        let delta = self.call_delta(id.map(Text::from), tool, input, flavor)?;
        let index = call.get("index").and_then(|index| integer(index.raw()));
        self.call(Slot::Call { index }, delta, call);
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
            name: tool.filled("name")?,
            arguments: filled(tool.get(input)).map(Text::from),
            flavor,
            starts: self.whole,
            unopened: false,
            ..CallDelta::default()
        })
    }

    fn call(&mut self, slot: Slot, call: CallDelta, came: Value<'_>) {
        // An empty call is a call in a whole response, and an empty continuation in a stream.
        if call.starts || call.id.is_some() || call.name.is_some() || call.arguments.is_some() {
            self.push(slot, DeltaKind::Call(call), came, 0);
        }
    }

    fn text(&mut self, channel: Channel, text: &str, element: Value<'_>, fields: u16) {
        if !text.is_empty() {
            self.push(Slot::Run, DeltaKind::Text { channel, text: text.into() }, element, fields);
        }
    }

    fn push(&mut self, slot: Slot, kind: DeltaKind, element: Value<'_>, fields: u16) {
        self.into.deltas.push(self.holder.says(slot, kind, element).read_in(fields));
    }
}

/// The reason why a call is not plain by its own fields.
fn odd_call(call: Value<'_>) -> Option<Odd> {
    let (index, id) = (call.get("index"), call.get("id"));
    if index.is_some_and(|raw| json::count(raw.raw()).is_none()) {
        return Some(Odd::Number);
    }
    // The string that some servers send in place of an absent id is a new id to clients.
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
                all.push_str(&part.expect_object("thinking[]")?.said("text")?.unwrap_or_default());
                Ok(all)
            })
            .map(Cow::Owned)
    }
}

/// The texts of `reasoning_details`.
#[derive(Default)]
struct Details<'d> {
    items: Vec<Detail<'d>>,
    /// The concatenated first texts of all details.
    text: String,
    are_signed: bool,
}

struct Detail<'d> {
    came: Value<'d>,
    /// The text, or the summary where there is no text; and a summary that differs from the text.
    texts: [Cow<'d, str>; 2],
}

impl<'d> Details<'d> {
    fn read(body: Value<'d>) -> Result<Self, DecodeError> {
        let mut details = Self::default();
        let Some(list) = body.get("reasoning_details") else { return Ok(details) };
        for came in list.expect_items("reasoning_details")?.filter(|detail| !detail.is_null()) {
            let detail = came.expect_object("reasoning_details[]")?;
            let text = detail.said("text")?.unwrap_or_default();
            let summary = detail.said("summary")?.unwrap_or_default();
            let (first, second) = match (text.is_empty(), text == summary) {
                (true, _) => (summary, Cow::default()),
                (_, true) => (text, Cow::default()),
                _ => (text, summary),
            };
            details.text.push_str(&first);
            details.items.push(Detail { came, texts: [first, second] });
            let signed = |name: &&str| detail.get(name).is_some_and(|raw| !is_void(raw.raw()));
            details.are_signed |= ["data", "signature"].iter().any(signed);
        }
        Ok(details)
    }
}
