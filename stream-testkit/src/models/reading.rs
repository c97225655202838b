//! The result of a client's reading.

use serde_json::Value;

/// The result of a client's reading: the calls that the client would run, and the texts that the client would show, log or pass on.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// The calls, in the client's order. Empty if the client raised an error: such a client runs nothing.
    pub calls: Vec<Call>,
    /// The texts: those of single blocks, and the concatenated texts of each channel.
    pub texts: Vec<Said>,
    /// The error that the client raised, if there was one.
    pub raised: Option<String>,
}

impl Reading {
    /// The reading of a client that raised an error before it read anything.
    pub(super) fn raised(why: impl Into<String>) -> Self {
        Self { raised: Some(why.into()), ..Self::default() }
    }

    /// Returns whether one of the texts equals `text`.
    #[must_use]
    pub fn says(&self, text: &str) -> bool {
        self.texts.iter().any(|said| said.text() == text)
    }

    pub(super) fn say(&mut self, said: Said) {
        if !said.text().is_empty() && !self.texts.contains(&said) {
            self.texts.push(said);
        }
    }

    /// Adds the texts of blocks: each text alone, and the concatenated texts of each channel.
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

    /// Adds each string of a value that is in no channel of text: inputs and results of tools that the provider runs, files, and unknown
    /// fields.
    pub(super) fn say_strings(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.say(Said::Other(text.clone())),
            Value::Array(list) => list.iter().for_each(|value| self.say_strings(value)),
            Value::Object(members) => members.values().for_each(|value| self.say_strings(value)),
            _ => {}
        }
    }
}

/// A text, with the place where the client shows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Said {
    /// The answer.
    Content(String),
    /// Reasoning.
    Reasoning(String),
    /// A refusal.
    Refusal(String),
    /// A string of anything else, such as the results of a tool that the provider ran.
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
    /// The kind of the call.
    pub kind: CallKind,
    /// The name of the tool; for a built-in tool of the API, the type of its item.
    pub name: String,
    /// The concatenated arguments, or the JSON of a value.
    pub arguments: String,
}

impl Call {
    /// A call of a function.
    #[must_use]
    pub fn function(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { kind: CallKind::Function, name: name.into(), arguments: arguments.into() }
    }

    /// Returns whether both are the same call. Arguments may differ in white space and in the order of keys; empty arguments equal an empty
    /// object.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.name == other.name && same_json(&self.arguments, &other.arguments)
    }
}

/// The kinds of calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CallKind {
    /// A function or tool that the client offered.
    Function,
    /// A tool whose input is free text.
    Custom,
    /// A built-in tool of the API that the client runs, by the type of its item: `local_shell_call` …
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
