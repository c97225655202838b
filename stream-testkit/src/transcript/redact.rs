//! What a transcript leaves out, so that it stays the same when a log is recorded again.

use std::cell::RefCell;

/// The values that a transcript omits. None by default, since a log does not change by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[must_use]
pub struct Redact {
    ids: bool,
    times: bool,
}

impl Redact {
    /// Creates settings that omit nothing.
    pub const fn nothing() -> Self {
        Self { ids: false, times: false }
    }

    /// Ids of responses, items and calls become `[id 1]`, `[id 2]` …, the same id the same number; times are left
    /// out.
    pub const fn all() -> Self {
        Self { ids: true, times: true }
    }

    /// Ids too.
    pub const fn ids(mut self) -> Self {
        self.ids = true;
        self
    }

    /// Times too.
    pub const fn times(mut self) -> Self {
        self.times = true;
        self
    }

    pub(super) fn has_times(self) -> bool {
        self.times
    }
}

/// Carries out a [`Redact`] over one transcript.
#[derive(Debug)]
pub(super) struct Redactor {
    redact: Redact,
    ids: RefCell<Vec<String>>,
}

impl Redactor {
    pub(super) fn new(redact: Redact) -> Self {
        Self { redact, ids: RefCell::default() }
    }

    /// An id, or what stands for it.
    pub(super) fn id(&self, id: &str) -> String {
        if !self.redact.ids || id.is_empty() {
            return id.to_owned();
        }
        let mut ids = self.ids.borrow_mut();
        let number = ids.iter().position(|known| known == id).unwrap_or_else(|| {
            ids.push(id.to_owned());
            ids.len() - 1
        });
        format!("[id {}]", number + 1)
    }

    /// A text with JSON in it.
    pub(super) fn json(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(quote) = rest.find('"') {
            let (before, from) = rest.split_at(quote);
            out.push_str(before);
            let key = token(from);
            let after = &from[key.len()..];
            out.push_str(key);
            rest = after;
            let Some(value) = after.strip_prefix(':').map(str::trim_start) else { continue };
            out.push_str(&after[..after.len() - value.len()]);
            let (value, next) = value.split_at(token(value).len());
            out.push_str(&self.value(key.trim_matches('"'), value));
            rest = next;
        }
        out + rest
    }

    fn value(&self, key: &str, value: &str) -> String {
        let string = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        match string {
            Some(id) if IDS.contains(&key) => format!("\"{}\"", self.id(id)),
            _ if TIMES.contains(&key) && self.redact.times && !value.is_empty() => "[time]".to_owned(),
            _ => value.to_owned(),
        }
    }
}

/// A string or number at the start of a text; empty if there is neither.
fn token(text: &str) -> &str {
    if !text.starts_with('"') {
        let end = text.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(text.len());
        return &text[..end];
    }
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, char)| {
        let ends = *char == '"' && !escaped;
        escaped = *char == '\\' && !escaped;
        ends
    });
    end.map_or(text, |(end, _)| &text[..=end])
}

const IDS: [&str; 6] = ["id", "call_id", "item_id", "response_id", "responseId", "tool_use_id"];
const TIMES: [&str; 4] = ["created", "created_at", "completed_at", "createTime"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_id_gets_the_same_number() {
        let redactor = Redactor::new(Redact::all());
        assert_eq!(
            redactor.json(r#"{"id":"a","item": {"id": "b", "text":"id: \"a\""},"call_id":"a","created":17}"#),
            r#"{"id":"[id 1]","item": {"id": "[id 2]", "text":"id: \"a\""},"call_id":"[id 1]","created":[time]}"#
        );
        assert_eq!(redactor.id("b"), "[id 2]");
    }

    #[test]
    fn nothing_is_redacted_unasked() {
        let text = r#"data: {"id":"a","created":17,"half":"#;
        assert_eq!(Redactor::new(Redact::nothing()).json(text), text);
        assert_eq!(Redactor::new(Redact::nothing().times()).json(text), text.replace("17", "[time]"));
        assert_eq!(Redactor::new(Redact::nothing().ids()).json(text), text.replace("\"a\"", "\"[id 1]\""));
    }
}
