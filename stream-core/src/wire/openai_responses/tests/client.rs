//! A client as strict as the SDKs: it keeps a list of items, indexes into it, and repairs nothing.

use serde_json::Value;

use crate::sse::Framer;

/// What a client holds after a stream.
#[derive(Debug, Default)]
pub(super) struct Client {
    pub(super) items: Vec<Value>,
    pub(super) terminal: Option<Value>,
    last_number: Option<u64>,
}

impl Client {
    pub(super) fn read(stream: &str) -> Self {
        let mut framer = Framer::new(1 << 24);
        framer.push(stream.as_bytes());
        let mut client = Self::default();
        while let Some(frame) = framer.next_frame().unwrap().or_else(|| framer.finish()) {
            let Some(data) = frame.data().filter(|data| data.starts_with(b"{")) else { continue };
            let event: Value = serde_json::from_slice(&data).unwrap();
            if let Some(name) = frame.event() {
                assert_eq!(event["type"], name);
            }
            client.number(&event);
            client.event(&event);
        }
        client
    }

    fn number(&mut self, event: &Value) {
        let Some(number) = event["sequence_number"].as_u64() else { return };
        if let Some(last) = self.last_number.replace(number) {
            assert_eq!(number, last + 1, "{event}");
        }
    }

    fn event(&mut self, event: &Value) {
        let Some(name) = event["type"].as_str().unwrap().strip_prefix("response.") else { return };
        match name {
            "output_item.added" => {
                assert_eq!(index(event, "output_index"), self.items.len(), "{event}");
                self.items.push(event["item"].clone());
            }
            "output_item.done" => {
                let item = self.item(event);
                for (field, done) in event["item"].as_object().unwrap() {
                    let streamed = item[field].as_str().is_some_and(|text| !text.is_empty());
                    if ["arguments", "input"].contains(&field.as_str()) && streamed {
                        assert_eq!(item[field], *done, "{event}");
                    }
                    if field == "content" && item[field].as_array().is_some_and(|parts| !parts.is_empty()) {
                        assert_eq!(texts(&item[field]), texts(done), "{event}");
                    }
                }
                *item = event["item"].clone();
            }
            "content_part.added" => self.open_part(event, "content", "content_index"),
            "reasoning_summary_part.added" => self.open_part(event, "summary", "summary_index"),
            "output_text.delta" | "reasoning_text.delta" => {
                self.text(event, "content", "content_index", "text");
            }
            "refusal.delta" => self.text(event, "content", "content_index", "refusal"),
            "reasoning_summary_text.delta" => self.text(event, "summary", "summary_index", "text"),
            "output_text.done" => {
                let at = index(event, "content_index");
                let text = self.item(event)["content"][at]["text"].clone();
                assert_eq!(text, event["text"], "{event}");
            }
            "function_call_arguments.delta" => append(&mut self.item(event)["arguments"], &event["delta"]),
            "custom_tool_call_input.delta" => append(&mut self.item(event)["input"], &event["delta"]),
            "completed" | "incomplete" | "failed" => self.terminal = Some(event["response"].clone()),
            _ if event["output_index"].is_u64() => {
                self.item(event);
            }
            _ => {}
        }
    }

    fn item(&mut self, event: &Value) -> &mut Value {
        let at = index(event, "output_index");
        self.items.get_mut(at).unwrap_or_else(|| panic!("no item {at}: {event}"))
    }

    fn open_part(&mut self, event: &Value, list: &str, number: &str) {
        let at = index(event, number);
        let item = self.item(event);
        if item[list].is_null() {
            item[list] = Value::Array(Vec::new());
        }
        let parts = item[list].as_array_mut().unwrap();
        assert_eq!(at, parts.len(), "{event}");
        parts.push(event["part"].clone());
    }

    fn text(&mut self, event: &Value, list: &str, number: &str, field: &str) {
        let at = index(event, number);
        let item = self.item(event);
        if item[list].as_array().is_none_or(|parts| parts.len() <= at) {
            // Some providers open no reasoning parts.
            assert_eq!(item["type"], "reasoning", "{event}");
            return;
        }
        append(&mut item[list][at][field], &event["delta"]);
    }
}

/// The texts of a list of parts.
pub(super) fn texts(parts: &Value) -> Vec<String> {
    let text =
        |part: &Value| part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default().to_owned();
    parts.as_array().into_iter().flatten().map(text).collect()
}

fn append(text: &mut Value, delta: &Value) {
    *text = Value::from(format!("{}{}", text.as_str().unwrap(), delta.as_str().unwrap()));
}

fn index(event: &Value, name: &str) -> usize {
    usize::try_from(event[name].as_u64().unwrap()).unwrap()
}
