//! Streamed answers.

use bytes::Bytes;
use serde_json::Value;
use stream_core::sse::Frame;

use super::super::join::{Answered, Join, Mode, Style, append, data, event};
use super::super::json::{Object, Unreadable, added, array, quote};
use super::said::Said;

/// Joins streams: one role, one text, one finish, one `[DONE]`.
#[derive(Debug)]
pub(in super::super) struct Joiner {
    style: Style,
    said: Said,
    /// What the chunks of the first answer are called.
    names: Object,
    /// The counts of the answers before, and of the one under way.
    before: Value,
    usage: Value,
    /// Which answer is under way.
    answer: usize,
    opened: bool,
    /// Whether text has left, and whether the separator before the next one has.
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
            opened: false,
            has_text: false,
            separated: true,
        }
    }

    /// Edits a chunk; `false` if nothing of it is left.
    fn edit(&mut self, chunk: &mut Object, mode: Mode) -> Result<bool, Unreadable> {
        for (key, value) in self.names.iter() {
            chunk.replace(key, value);
        }
        let mut is_left = false;
        if chunk.some("usage").is_some() {
            if mode.keeps_ending() {
                chunk.set("usage", added(&self.before, &chunk.value("usage")).to_string());
                is_left = true;
            } else {
                chunk.remove("usage");
            }
        }
        let mut choices = Vec::new();
        for choice in chunk.items("choices") {
            let mut choice = Object::parse(&choice)?;
            is_left |= self.edit_choice(&mut choice, mode)?;
            choices.push(choice.to_string());
        }
        self.opened |= is_left && !choices.is_empty();
        chunk.replace("choices", array(choices));
        Ok(is_left)
    }

    fn edit_choice(&mut self, choice: &mut Object, mode: Mode) -> Result<bool, Unreadable> {
        // A cumulative copy of the answer under way alone.
        choice.remove("message");
        if !mode.keeps_ending() {
            choice.replace("finish_reason", "null");
            choice.remove("native_finish_reason");
        }
        let mut is_left = choice.some("finish_reason").is_some();
        if choice.some("delta").is_some() {
            let mut delta = choice.object("delta").ok_or(Unreadable)?;
            if mode.strips_calls() {
                delta.remove("tool_calls");
                delta.remove("function_call");
            }
            if self.opened {
                // SDKs would join two roles to one word.
                delta.remove("role");
            }
            let opens = delta.some("role").is_some();
            if let Some(text) = delta.text("content").filter(|text| !text.is_empty()) {
                if !std::mem::replace(&mut self.separated, true) && self.has_text {
                    delta.set("content", quote(&format!("{}{text}", self.style.separator)));
                }
                self.has_text = true;
            }
            let speaks = |(key, value): (&str, &str)| key != "role" && !EMPTY.contains(&value);
            let has_payload = delta.iter().any(speaks);
            if !has_payload && mode.strips_calls() {
                // They may spell the name of a call.
                choice.replace("logprobs", "null");
            }
            is_left |= opens || has_payload || choice.some("logprobs").is_some();
            choice.set("delta", delta.to_string());
        }
        Ok(is_left)
    }

    fn made(&self, choices: &str, usage: Option<&Value>) -> Bytes {
        let mut chunk = Object::default();
        chunk.set("id", self.names.get("id").unwrap_or("\"chatcmpl-0\""));
        chunk.set("object", quote("chat.completion.chunk"));
        chunk.set("created", self.names.get("created").unwrap_or("0"));
        chunk.set("model", self.names.get("model").unwrap_or("\"\""));
        chunk.set("choices", choices);
        if let Some(usage) = usage {
            chunk.set("usage", usage.to_string());
        }
        event(None, &chunk.to_string())
    }
}

impl Join for Joiner {
    fn read(&mut self, frame: &Frame) -> Result<(), Unreadable> {
        let Some(text) = data(frame)?.filter(|text| text.trim() != DONE) else { return Ok(()) };
        let chunk = Object::parse(text)?;
        if self.answer == 0 {
            for key in ["id", "created", "model"] {
                if let (None, Some(value)) =
                    (self.names.get(key), chunk.some(key).filter(|value| *value != "\"\""))
                {
                    self.names.set(key, value);
                }
            }
        }
        if chunk.some("usage").is_some() {
            self.usage = chunk.value("usage");
        }
        for choice in chunk.items("choices") {
            if let Some(delta) = Object::parse(&choice)?.object("delta") {
                self.said.add(&delta);
            }
        }
        Ok(())
    }

    fn write(&mut self, frame: &Frame, mode: Mode, out: &mut Vec<Bytes>) -> Result<(), Unreadable> {
        let Some(text) = data(frame)? else {
            out.push(frame.raw().clone());
            return Ok(());
        };
        if text.trim() == DONE {
            if mode.keeps_ending() {
                out.push(frame.raw().clone());
            }
            return Ok(());
        }
        let mut chunk = Object::parse(text)?;
        if chunk.some("error").is_some() {
            out.push(frame.raw().clone());
        } else if self.answer == 0 && mode == Mode::Pass {
            self.opened |= !chunk.items("choices").is_empty();
            out.push(frame.raw().clone());
        } else if self.edit(&mut chunk, mode)? {
            out.push(event(frame.event(), &chunk.to_string()));
        }
        Ok(())
    }

    fn extend(&self, request: &mut Object, answered: &[Answered]) -> Result<(), Unreadable> {
        append(request, "messages", self.said.messages(answered));
        Ok(())
    }

    fn next(&mut self) {
        self.has_text |= !self.said.text("content").is_empty();
        self.said = Said::default();
        self.before = added(&self.before, &std::mem::take(&mut self.usage));
        self.answer += 1;
        self.separated = false;
    }

    fn say(&mut self, text: &str, out: &mut Vec<Bytes>) {
        self.has_text |= !self.said.text("content").is_empty();
        let text = if self.has_text { format!("{}{text}", self.style.separator) } else { text.to_owned() };
        let role = if std::mem::replace(&mut self.opened, true) { "" } else { r#""role":"assistant","# };
        let content = quote(&text);
        out.push(self.made(
            &format!(r#"[{{"index":0,"delta":{{{role}"content":{content}}},"finish_reason":null}}]"#),
            None,
        ));
        self.has_text = true;
        self.separated = false;
    }

    fn stop(&mut self, out: &mut Vec<Bytes>) {
        out.push(self.made(r#"[{"index":0,"delta":{},"finish_reason":"length"}]"#, None));
        let usage = added(&self.before, &self.usage);
        if !usage.is_null() {
            out.push(self.made("[]", Some(&usage)));
        }
        out.push(event(None, DONE));
    }

    fn fail(&mut self, message: &str, out: &mut Vec<Bytes>) {
        let message = quote(message);
        let error =
            format!(r#"{{"error":{{"message":{message},"type":"server_error","param":null,"code":null}}}}"#);
        out.push(event(None, &error));
    }

    fn has_text(&self) -> bool {
        self.has_text || !self.said.text("content").is_empty()
    }
}

const DONE: &str = "[DONE]";
/// Values that say nothing.
const EMPTY: [&str; 3] = ["null", "\"\"", "[]"];
