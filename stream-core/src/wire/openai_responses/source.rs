//! The source of a rebuilt event: the upstream's event with the fates of its parts.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::delta::DeltaKind;
use crate::json::Object;
use crate::sse::Frame;
use crate::wire::document::{Of, Rewrite, Spans, Table, Value};
use crate::wire::{Fate, Part};

/// An event with the fates of its parts.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) frame: &'a Frame,
    pub(super) json: &'a str,
    /// The document; `None` for data that is no event.
    event: Option<Value<'a>>,
    pub(super) parts: &'a [&'a Part],
}

impl<'a> Source<'a> {
    pub(super) fn read(frame: &'a Frame, json: &'a str, parts: &'a [&'a Part], spans: &'a mut Spans) -> Self {
        Self { frame, json, event: spans.read(json, Of::Object(&SOURCE)).ok(), parts }
    }

    /// The raw value of a member.
    pub(super) fn member(&self, name: &str) -> Option<&'a str> {
        self.event?.known().find(|(key, _)| key == name).map(|(_, value)| value.raw())
    }

    /// The number that a member is.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.member(name)?.parse().ok()
    }

    /// The number of an item or a part.
    pub(super) fn small_number(&self, name: &str) -> Option<u32> {
        u32::try_from(self.number(name)?).ok()
    }

    /// The event with new raw values for some members.
    pub(super) fn with(&self, new: &[(&str, String)]) -> String {
        let Some(event) = self.event else { return self.json.to_owned() };
        let mut rewrite = Rewrite::new(event);
        for (name, raw) in new {
            event.get(name).into_iter().for_each(|member| rewrite.set(member, raw));
        }
        rewrite.finish()
    }

    /// The known fields of the event, with new raw values for some. Log probabilities are emptied.
    pub(super) fn anew(&self, new: &[(&str, String)]) -> String {
        let fields = self.event.into_iter().flat_map(Value::known);
        let object = fields.fold(Object::new(), |object, (name, value)| {
            let new = new.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str());
            object.raw(&name, new.unwrap_or(if name == "logprobs" { "[]" } else { value.raw() }))
        });
        object.finish()
    }

    /// Whether a part of the event is of this kind.
    pub(super) fn has(&self, kind: &DeltaKind) -> bool {
        self.parts.iter().any(|part| part.delta.kind == *kind)
    }

    /// Whether all parts of the event have this fate.
    pub(super) fn all(&self, fate: Fate) -> bool {
        self.parts.iter().all(|part| part.fate == fate)
    }

    /// The item of the event.
    pub(super) fn item(&self) -> Option<u32> {
        self.parts.iter().find_map(|part| part.item())
    }
}

/// The fields of an event that is written anew. Any other field may hold a copy of dropped payload.
static SOURCE: Table = Table::loose(&[
    ("type", Of::Leaf),
    ("sequence_number", Of::Leaf),
    ("response_id", Of::Leaf),
    ("item_id", Of::Leaf),
    ("output_index", Of::Leaf),
    ("content_index", Of::Leaf),
    ("summary_index", Of::Leaf),
    ("name", Of::Leaf),
    ("item", Of::Leaf),
    ("part", Of::Leaf),
    ("response", Of::Leaf),
    ("delta", Of::Leaf),
    ("text", Of::Leaf),
    ("refusal", Of::Leaf),
    ("transcript", Of::Leaf),
    ("arguments", Of::Leaf),
    ("input", Of::Leaf),
    ("logprobs", Of::Leaf),
]);

/// The `sequence_number` of an event that is written as its bytes. Where no object opens before the key, or the event ends with the
/// number, the number is the event's own; else the event is read.
pub(super) fn sequence_number(data: &[u8]) -> Option<u64> {
    const KEY: &[u8] = b"\"sequence_number\"";
    // Building the finder costs more than a search.
    static FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(KEY));
    let at = FINDER.find(data)?;
    let digits = data[at + KEY.len()..].strip_prefix(b":").unwrap_or_default();
    let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let opens_none = || data.starts_with(b"{") && memchr::memchr(b'{', &data[1..at]).is_none();
    let is_last = digits[len..] == *b"}" && data[..at].ends_with(b",");
    if is_last || (matches!(digits.get(len), Some(b',' | b'}')) && opens_none()) {
        return std::str::from_utf8(&digits[..len]).ok()?.parse().ok();
    }
    let mut spans = Spans::default();
    let event = spans.read(std::str::from_utf8(data).ok()?, Of::Object(&SOURCE)).ok()?;
    event.get("sequence_number")?.raw().parse().ok()
}
