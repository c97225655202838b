//! A delta that stands alone in its event.

use std::ops::Range;

use serde_json::value::RawValue;

/// A delta of text or arguments that is all its event says.
#[derive(Debug)]
pub(super) struct Plain {
    /// What it is said in. Neighbours with the same lane say one thing.
    pub(super) lane: String,
    /// The text.
    pub(super) text: String,
    /// It says more than a later piece may say: a call's id and name.
    pub(super) opens: bool,
    /// Where the text stands, as a JSON string.
    pub(super) place: Range<usize>,
    /// How a later piece is written, if not the same way: what comes before and after the text, in place of what.
    pub(super) later: Option<(Range<usize>, [String; 2])>,
}

impl Plain {
    /// The data with other text.
    pub(super) fn first(&self, data: &str, text: &str) -> String {
        splice(data, &self.place, &quoted(text))
    }

    /// The data of a piece that continues the text.
    pub(super) fn later(&self, data: &str, text: &str) -> String {
        match &self.later {
            Some((place, [before, after])) => {
                splice(data, place, &[before, &quoted(text)[..], after].concat())
            }
            None => self.first(data, text),
        }
    }
}

/// A string, read; `None` for anything else.
pub(super) fn string(value: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(value?.get()).ok()
}

/// Where a value that was read from `data` stands in it.
pub(super) fn place_in(data: &str, value: &RawValue) -> Range<usize> {
    // A raw value borrows from the text, so the distance of their starts is its place.
    let start = (value.get().as_ptr() as usize).saturating_sub(data.as_ptr() as usize);
    start..start + value.get().len()
}

/// A text with something else in one place.
pub(super) fn splice(text: &str, place: &Range<usize>, with: &str) -> String {
    [&text[..place.start], with, &text[place.end..]].concat()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
