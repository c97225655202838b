//! Streamed answers.

use bytes::Bytes;
use serde_json::Value;
use stream_core::sse::Frame;

use super::super::join::{Answered, Join, Mode, Style, data, event};
use super::super::json::{Object, Unreadable, added, array, quote};
use super::said::Said;
use super::{candidate, is_call, text};

/// Joins streams: parts one after the other, one `finishReason`, counts added up.
#[derive(Debug)]
pub(in super::super) struct Joiner {
    style: Style,
    said: Said,
    /// What the chunks of the first answer are called.
    names: Object,
    before: Value,
    usage: Value,
    answer: usize,
    has_text: bool,
    separated: bool,
}

impl Joiner {
    pub(in super::super) fn new(style: Style) -> Self {
        Self {
            style,
            said: Said::default(),
            names: Object::default(),
            before: Value::Null,
            usage: Value::Null,
            answer: 0,
            has_text: false,
            separated: true,
        }
    }

    /// Edits a chunk; `false` if nothing of it is left.
    fn edit(&mut self, chunk: &mut Object, mode: Mode) -> Result<bool, Unreadable> {
        for (key, value) in self.names.iter() {
            chunk.replace(key, value);
        }
        let mut is_left = chunk.some("promptFeedback").is_some();
        if chunk.some(USAGE).is_some() {
            if mode.keeps_ending() {
                chunk.set(USAGE, added(&self.before, &chunk.value(USAGE)).to_string());
            } else {
                chunk.remove(USAGE);
            }
        }
        let mut candidates = Vec::new();
        for item in chunk.items("candidates") {
            let mut item = Object::parse(&item)?;
            if !mode.keeps_ending() {
                item.remove("finishReason");
                item.remove("finishMessage");
            }
            is_left |= item.some("finishReason").is_some();
            if let Some(mut content) = item.object("content") {
                let parts = self.edit_parts(&content, mode)?;
                is_left |= !parts.is_empty();
                content.set("parts", array(parts));
                item.set("content", content.to_string());
            }
            candidates.push(item.to_string());
        }
        let counts_only = candidates.is_empty() && chunk.some(USAGE).is_some();
        chunk.replace("candidates", array(candidates));
        Ok(is_left || counts_only)
    }

    fn edit_parts(&mut self, content: &Object, mode: Mode) -> Result<Vec<String>, Unreadable> {
        let mut parts = Vec::new();
        for part in content.items("parts") {
            let mut part = Object::parse(&part)?;
            if mode.strips_calls() && is_call(&part) {
                continue;
            }
            if let Some(text) = text(&part) {
                if !std::mem::replace(&mut self.separated, true) && self.has_text {
                    part.set("text", quote(&format!("{}{text}", self.style.separator)));
                }
                self.has_text = true;
            }
            parts.push(part.to_string());
        }
        Ok(parts)
    }

    fn made(&self, candidate: &str, usage: &Value) -> Bytes {
        let mut chunk = Object::default();
        chunk.set("candidates", format!("[{candidate}]"));
        if !usage.is_null() {
            chunk.set(USAGE, usage.to_string());
        }
        for (key, value) in self.names.iter() {
            chunk.set(key, value);
        }
        event(None, &chunk.to_string())
    }
}

impl Join for Joiner {
    fn read(&mut self, frame: &Frame) -> Result<(), Unreadable> {
        let Some(json) = data(frame)? else { return Ok(()) };
        let chunk = Object::parse(json)?;
        if self.answer == 0 {
            for key in ["modelVersion", "responseId"] {
                if let (None, Some(value)) = (self.names.get(key), chunk.some(key)) {
                    self.names.set(key, value);
                }
            }
        }
        if chunk.some(USAGE).is_some() {
            self.usage = chunk.value(USAGE);
        }
        let content = candidate(&chunk).and_then(|candidate| candidate.object("content"));
        for part in content.iter().flat_map(|content| content.items("parts")) {
            self.said.add(Object::parse(&part)?);
        }
        Ok(())
    }

    fn write(&mut self, frame: &Frame, mode: Mode, out: &mut Vec<Bytes>) -> Result<(), Unreadable> {
        let raw = frame.raw().clone();
        let Some(json) = data(frame)? else {
            out.push(raw);
            return Ok(());
        };
        let mut chunk = Object::parse(json)?;
        if chunk.some("error").is_some() || (self.answer == 0 && mode == Mode::Pass) {
            out.push(raw);
        } else if self.edit(&mut chunk, mode)? {
            out.push(event(None, &chunk.to_string()));
        }
        Ok(())
    }

    fn extend(&self, request: &mut Object, answered: &[Answered]) -> Result<(), Unreadable> {
        self.said.extend(request, answered);
        Ok(())
    }

    fn next(&mut self) {
        self.has_text |= self.said.has_text();
        self.said = Said::default();
        self.before = added(&self.before, &std::mem::take(&mut self.usage));
        self.answer += 1;
        self.separated = false;
    }

    fn say(&mut self, text: &str, out: &mut Vec<Bytes>) {
        self.has_text |= self.said.has_text();
        let text = if self.has_text { format!("{}{text}", self.style.separator) } else { text.to_owned() };
        let text = quote(&text);
        let part = format!(r#"{{"content":{{"parts":[{{"text":{text}}}],"role":"model"}},"index":0}}"#);
        out.push(self.made(&part, &Value::Null));
        self.has_text = true;
        self.separated = false;
    }

    fn stop(&mut self, out: &mut Vec<Bytes>) {
        let finish =
            r#"{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"MAX_TOKENS","index":0}"#;
        out.push(self.made(finish, &added(&self.before, &self.usage)));
    }

    fn fail(&mut self, message: &str, out: &mut Vec<Bytes>) {
        let message = quote(message);
        let error = format!(r#"{{"error":{{"code":500,"message":{message},"status":"INTERNAL"}}}}"#);
        out.push(event(None, &error));
    }

    fn has_text(&self) -> bool {
        self.has_text || self.said.has_text()
    }

    fn keep_alive(&self) -> Bytes {
        // Google's own SDK fails on comments (rule 23).
        Bytes::from_static(b"\n")
    }
}

pub(super) const USAGE: &str = "usageMetadata";
