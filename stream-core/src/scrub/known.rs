//! What blocks show: it is the policy's to look at, over all pieces that it comes in.

use std::collections::HashSet;

use crate::delta::{Channel, Delta, DeltaKind, Slot};

/// The texts, arguments and names that a frame says of blocks.
#[derive(Debug, Default)]
pub(crate) struct ShownTexts<'a> {
    texts: HashSet<&'a str>,
    /// Arguments that may stand in the frame as raw JSON, in wire order.
    values: Vec<&'a str>,
    /// All content, put together.
    content: String,
}

impl<'a> ShownTexts<'a> {
    pub(crate) fn of(deltas: impl Iterator<Item = &'a Delta> + Clone) -> Self {
        let mut known = Self::default();
        let mut pieces = 0;
        // What a call of the provider's says beside its opening is shown by no block that is edited.
        let opaque: HashSet<Slot> =
            deltas.clone().filter(|delta| is_opaque(delta)).map(|delta| delta.slot).collect();
        for delta in deltas.filter(|delta| !opaque.contains(&delta.slot)) {
            match &delta.kind {
                DeltaKind::Text { channel, text } => {
                    known.texts.insert(text);
                    if *channel == Channel::Content {
                        known.content.push_str(text);
                        pieces += 1;
                    }
                }
                DeltaKind::Call(call) => {
                    known.texts.extend(call.name.as_deref());
                    known.arguments(call.arguments.as_deref());
                }
                // A copy without a block is held against nothing.
                DeltaKind::Copy(copy) if matches!(delta.slot, Slot::At { .. }) => {
                    known.texts.extend(copy.name.as_deref());
                    known.arguments(copy.body.as_deref());
                    known
                        .content
                        .push_str(copy.body.as_deref().filter(|_| copy.name.is_none()).unwrap_or(""));
                    pieces += 1;
                }
                _ => {}
            }
        }
        if pieces < 2 {
            known.content.clear();
        }
        known
    }

    fn arguments(&mut self, arguments: Option<&'a str>) {
        let Some(arguments) = arguments else { return };
        self.texts.insert(arguments);
        // A piece of arguments that stands in the frame as a string may begin as the frame does.
        let is_whole = || serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
        if arguments.starts_with(['{', '[']) && is_whole() {
            self.values.push(arguments);
        }
    }

    /// Whether a string says the same as such a text. Some servers say all content once more, put together.
    pub(super) fn is_text(&self, text: &str) -> bool {
        self.texts.contains(text) || (!text.is_empty() && text == self.content)
    }

    /// The texts that blocks show.
    pub(super) fn into_texts(self) -> HashSet<String> {
        self.texts.into_iter().map(str::to_owned).collect()
    }

    /// Letters that stand in no text one behind the other.
    pub(super) fn absent(&self) -> String {
        let runs = self.texts.iter().flat_map(|text| text.split(|letter| letter != '~'));
        "~".repeat(runs.map(str::len).max().unwrap_or(0) + 1)
    }

    /// Finds arguments that stand in a document as raw JSON.
    pub(super) fn values(&self) -> Values<'_> {
        Values { rest: &self.values }
    }
}

/// Arguments that have not been found yet.
#[derive(Debug)]
pub(super) struct Values<'a> {
    rest: &'a [&'a str],
}

impl Values<'_> {
    /// How many bytes of `document` are arguments, if it starts with some. Looks at the next few only: arguments come
    /// in their order, and those that are strings are none of these.
    pub(super) fn at(&mut self, document: &str) -> Option<usize> {
        let near = &self.rest[..self.rest.len().min(AHEAD)];
        let found = near.iter().position(|value| document.starts_with(value))?;
        let length = self.rest[found].len();
        self.rest = &self.rest[found + 1..];
        Some(length)
    }

    /// Arguments that are a string were passed.
    pub(super) fn pass(&mut self, text: &str) {
        let near = &self.rest[..self.rest.len().min(AHEAD)];
        if let Some(found) = near.iter().position(|value| *value == text) {
            self.rest = &self.rest[found + 1..];
        }
    }
}

const AHEAD: usize = 4;

/// Whether a delta is of something opaque that has a number.
fn is_opaque(delta: &Delta) -> bool {
    let is_copy = matches!(&delta.kind, DeltaKind::Copy(copy) if copy.runs.is_some());
    (is_copy || matches!(delta.kind, DeltaKind::Opaque { .. })) && matches!(delta.slot, Slot::At { .. })
}
