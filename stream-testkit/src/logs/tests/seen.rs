//! What a log shows on the wire, read with nothing of the core: lines, and the JSON of every event.

use serde_json::Value;

use crate::logs::OwnLog;

/// One log.
pub(super) struct Seen {
    pub(super) text: String,
    pub(super) events: Vec<Event>,
}

/// One event.
#[derive(Default)]
pub(super) struct Event {
    pub(super) name: Option<String>,
    pub(super) data: String,
    /// The data as JSON, or null.
    pub(super) json: Value,
}

impl Seen {
    pub(super) fn of(own: &OwnLog) -> Self {
        let text = String::from_utf8(own.log().bytes().to_vec()).unwrap();
        let lines = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
        let mut events: Vec<Event> = lines.split("\n\n").map(event).collect();
        events.retain(|event| !event.data.is_empty());
        Self { text, events }
    }

    /// The JSON of every event that has some.
    pub(super) fn json(&self) -> impl Iterator<Item = &Value> {
        self.events.iter().map(|event| &event.json).filter(|json| !json.is_null())
    }

    /// The lines of the stream.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.split(['\r', '\n']).filter(|line| !line.is_empty())
    }

    pub(super) fn has_comment(&self) -> bool {
        self.lines().any(|line| line.starts_with(':'))
    }

    pub(super) fn is_done(&self) -> bool {
        self.events.iter().any(|event| event.data == "[DONE]")
    }

    /// Whether the last event has no blank line behind it.
    pub(super) fn is_unterminated(&self) -> bool {
        !["\n\n", "\r\r", "\r\n\r\n"].iter().any(|border| self.text.ends_with(border))
    }

    /// The events of these types, in order.
    pub(super) fn typed<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Value> {
        self.json().filter(|json| json["type"].as_str().is_some_and(|name| names.contains(&name)))
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.typed(names).next().is_some()
    }

    /// Whether any object of any event has this member, and the test holds for it.
    pub(super) fn member(&self, name: &str, test: impl Fn(&Value) -> bool + Copy) -> bool {
        self.json().any(|json| member(json, name, test))
    }
}

fn event(lines: &str) -> Event {
    let mut event = Event::default();
    let mut data = Vec::new();
    for line in lines.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => event.name = Some(value.to_owned()),
            "data" => data.push(value),
            _ => {}
        }
    }
    event.data = data.join("\n");
    event.json = serde_json::from_str(&event.data).unwrap_or_default();
    event
}

fn member(json: &Value, name: &str, test: impl Fn(&Value) -> bool + Copy) -> bool {
    match json {
        Value::Object(members) => {
            members.iter().any(|(key, value)| (key == name && test(value)) || member(value, name, test))
        }
        Value::Array(elements) => elements.iter().any(|element| member(element, name, test)),
        _ => false,
    }
}

/// A member that is a string of at least one character.
pub(super) fn says(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

pub(super) fn is_empty(value: &Value) -> bool {
    value.as_str() == Some("")
}
