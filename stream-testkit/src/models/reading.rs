//! What a client ends up with.

use serde_json::Value;

/// What a client ends up with: the calls it would run, and the texts it would show, log or hand on.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// The calls, in the order the client lists them. Empty if the client raised: it then runs nothing.
    pub calls: Vec<Call>,
    /// Every text, in each of its readings: block by block, and the blocks of a channel joined.
    pub texts: Vec<Said>,
    /// Why the client raised an error, if it did.
    pub raised: Option<String>,
}

impl Reading {
    /// The reading of a client that raised an error at once.
    pub(super) fn raised(why: impl Into<String>) -> Self {
        Self { raised: Some(why.into()), ..Self::default() }
    }

    /// Whether one of the texts is exactly this.
    #[must_use]
    pub fn says(&self, text: &str) -> bool {
        self.texts.iter().any(|said| said.text() == text)
    }

    pub(super) fn say(&mut self, said: Said) {
        if !said.text().is_empty() && !self.texts.contains(&said) {
            self.texts.push(said);
        }
    }

    /// Adds the texts of blocks: each by itself, and those of a channel joined.
    pub(super) fn say_blocks(&mut self, blocks: impl IntoIterator<Item = Said>) {
        let (mut content, mut reasoning, mut refusal) = (String::new(), String::new(), String::new());
        for said in blocks {
            match &said {
                Said::Content(text) => content.push_str(text),
                Said::Reasoning(text) => reasoning.push_str(text),
                Said::Refusal(text) => refusal.push_str(text),
                Said::Other(_) => {}
            }
            self.say(said);
        }
        self.say(Said::Content(content));
        self.say(Said::Reasoning(reasoning));
        self.say(Said::Refusal(refusal));
    }

    /// Adds each string of a value that no channel of text has: inputs and results of tools that the provider runs,
    /// files, and fields nobody knows.
    pub(super) fn say_strings(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.say(Said::Other(text.clone())),
            Value::Array(list) => list.iter().for_each(|value| self.say_strings(value)),
            Value::Object(members) => members.values().for_each(|value| self.say_strings(value)),
            _ => {}
        }
    }
}

/// A text, and where the client shows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Said {
    /// The answer.
    Content(String),
    /// Reasoning.
    Reasoning(String),
    /// A refusal.
    Refusal(String),
    /// A string in something else: a tool that the provider ran, its results.
    Other(String),
}

impl Said {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Content(text) | Self::Reasoning(text) | Self::Refusal(text) | Self::Other(text) => text,
        }
    }
}

/// A call that a client would run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Call {
    /// What kind of call.
    pub kind: CallKind,
    /// The name of the tool; for a tool of the API's own, the type of its item.
    pub name: String,
    /// The arguments as they were put together, or the JSON of a value.
    pub arguments: String,
}

impl Call {
    /// A call of a function.
    #[must_use]
    pub fn function(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { kind: CallKind::Function, name: name.into(), arguments: arguments.into() }
    }

    /// Whether both are the same call: arguments may differ in white space and in the order of keys, and none at all is
    /// an empty object.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.name == other.name && same_json(&self.arguments, &other.arguments)
    }
}

/// What a client takes a call for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CallKind {
    /// A function or tool that the client offered.
    Function,
    /// A tool whose input is free text.
    Custom,
    /// A tool of the API's own that the client runs, by the type of its item: `local_shell_call` …
    Builtin(String),
}

fn same_json(one: &str, other: &str) -> bool {
    let value = |text: &str| {
        let text = if text.trim().is_empty() { "{}" } else { text };
        serde_json::from_str::<Value>(text)
            .ok()
            .map(|value| if value.is_null() { Value::Object(Default::default()) } else { value })
    };
    one == other || value(one).is_some_and(|one| Some(one) == value(other))
}
