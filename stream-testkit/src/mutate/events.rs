//! A stream as a list of events that can be changed.

use bytes::Bytes;
use serde_json::Value;

use crate::log::frames;

/// The events of a stream.
#[derive(Debug, Clone)]
pub(super) struct Events(pub(super) Vec<Event>);

/// One event: its bytes, or what it was changed into.
#[derive(Debug, Clone)]
pub(super) struct Event {
    raw: Bytes,
    pub(super) name: Option<String>,
    pub(super) data: Option<Value>,
    changed: bool,
    /// The line end of the stream.
    end: &'static str,
}

impl Events {
    pub(super) fn of(body: &[u8]) -> Self {
        let end = if body.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
        let event = |frame: stream_core::sse::Frame| Event {
            raw: frame.raw().clone(),
            name: frame.event().map(str::to_owned),
            data: frame.data().and_then(|data| serde_json::from_slice(&data).ok()),
            changed: false,
            end,
        };
        Self(frames(body).map(event).collect())
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.0.iter().flat_map(Event::bytes).collect()
    }

    /// The places of events whose data hold a member of this name with a value that passes.
    pub(super) fn having(&self, key: &str, is: impl Fn(&Value) -> bool) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (at, event) in self.0.iter().enumerate() {
            let mut pointers = Vec::new();
            if let Some(data) = &event.data {
                search(data, "", &mut |pointer, name, value| {
                    if name == key && is(value) {
                        pointers.push(pointer.to_owned());
                    }
                });
            }
            found.extend(pointers.into_iter().map(|pointer| (at, pointer)));
        }
        found
    }

    /// The places of events whose data pass.
    pub(super) fn where_data(&self, is: impl Fn(&Value) -> bool) -> Vec<usize> {
        let all = self.0.iter().enumerate();
        all.filter(|(_, event)| event.data.as_ref().is_some_and(&is)).map(|(at, _)| at).collect()
    }

    /// The data of an event, to be changed.
    pub(super) fn data(&mut self, at: usize) -> Option<&mut Value> {
        let event = self.0.get_mut(at)?;
        event.changed = true;
        event.data.as_mut()
    }

    /// A value in an event, to be changed.
    pub(super) fn value(&mut self, at: usize, pointer: &str) -> Option<&mut Value> {
        self.data(at)?.pointer_mut(pointer)
    }

    /// Puts an event with these data before another.
    pub(super) fn insert(&mut self, at: usize, name: Option<&str>, data: Value) {
        let end = self.0.first().map_or("\n", |event| event.end);
        let name = name.map(str::to_owned);
        let event = Event { raw: Bytes::new(), name, data: Some(data), changed: true, end };
        self.0.insert(at.min(self.0.len()), event);
    }

    /// Puts bytes as they are before an event.
    pub(super) fn insert_raw(&mut self, at: usize, raw: impl Into<Bytes>) {
        let end = self.0.first().map_or("\n", |event| event.end);
        let event = Event { raw: raw.into(), name: None, data: None, changed: false, end };
        self.0.insert(at.min(self.0.len()), event);
    }
}

impl Event {
    /// The bytes of the event.
    pub(super) fn bytes(&self) -> Bytes {
        match &self.data {
            Some(data) if self.changed => {
                let name = self.name.iter().map(|name| format!("event: {name}{}", self.end));
                let name: String = name.collect();
                format!("{name}data: {}{}{}", spelled(data), self.end, self.end).into()
            }
            _ => self.raw.clone(),
        }
    }

    pub(super) fn mark(&mut self) {
        self.changed = true;
    }
}

/// A value that is written as these very letters.
pub(super) fn raw(letters: &str) -> Value {
    Value::String(format!("@raw:{letters}@"))
}

/// A key that is written like another one, before it: a JSON object has each key once.
pub(super) fn twin(key: &str) -> String {
    format!("@twin@{key}")
}

/// A key whose first letter is written as an escape.
pub(super) fn escaped(key: &str) -> String {
    format!("@escaped@{key}")
}

fn spelled(data: &Value) -> String {
    let mut text = data.to_string().replace("@twin@", "");
    while let Some(at) = text.find("\"@raw:") {
        let Some(end) = text[at..].find("@\"").map(|end| at + end) else { break };
        let letters = text[at + 6..end].replace("\\\"", "\"");
        text.replace_range(at..end + 2, &letters);
    }
    while let Some(at) = text.find("@escaped@") {
        let behind = at + "@escaped@".len();
        let Some(letter) = text[behind..].chars().next() else { break };
        text.replace_range(at..behind + letter.len_utf8(), &format!("\\u{:04x}", u32::from(letter)));
    }
    text
}

fn search(value: &Value, pointer: &str, found: &mut impl FnMut(&str, &str, &Value)) {
    match value {
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                search(value, &format!("{pointer}/{at}"), found);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                found(&pointer, key, value);
                search(value, &pointer, found);
            }
        }
        _ => {}
    }
}
