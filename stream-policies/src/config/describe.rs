//! What policies look at, and what they do not.

use std::fmt;
use std::time::Duration;

use stream_core::{Attention, Channel, OnFailure};

use super::set::Entry;

/// The needs of the policies of a set, in order. `Display` has one line per policy, and one for calls in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    policies: Vec<Described>,
    text_calls: String,
}

/// The needs of one policy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Described {
    /// The kind that the file names.
    pub kind: String,
    /// Under which conditions it is run; empty if always.
    pub when: String,
    /// The blocks that the policy needs.
    pub looks_at: Vec<String>,
    /// The blocks that pass without the policy.
    pub passes_by: Vec<&'static str>,
    /// `true` if the policy is enforced; `false` for a dry run.
    pub enforces: bool,
    /// `true` if the policy fails open.
    pub fails_open: bool,
    /// The time limit of its hooks and decisions, if it is shorter than that of the stream.
    pub time_limit: Option<Duration>,
}

impl Description {
    pub(super) fn of(entries: &[Entry], text_calls: String) -> Self {
        Self { policies: entries.iter().map(describe).collect(), text_calls }
    }

    /// Each policy, in order.
    #[must_use]
    pub fn policies(&self) -> &[Described] {
        &self.policies
    }

    /// The calls that are searched for in the text, as a sentence.
    #[must_use]
    pub fn text_calls(&self) -> &str {
        &self.text_calls
    }

    /// The blocks that no policy needs, which are written unchanged.
    #[must_use]
    pub fn unseen(&self) -> Vec<&'static str> {
        let unseen = PARTS.iter().map(|(name, _)| *name);
        unseen.filter(|name| self.policies.iter().all(|policy| policy.passes_by.contains(name))).collect()
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, policy) in self.policies.iter().enumerate() {
            writeln!(f, "{}. {policy}", at + 1)?;
        }
        writeln!(f, "{}", self.text_calls)
    }
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.when.is_empty() {
            write!(f, " ({})", self.when)?;
        }
        if !self.enforces {
            f.write_str(", only watches")?;
        }
        f.write_str(if self.fails_open { ", fails open" } else { ", fails closed" })?;
        if let Some(limit) = self.time_limit {
            write!(f, ", within {limit:?}")?;
        }
        let or_nothing = |list: &[&str]| if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
        let seen: Vec<&str> = self.looks_at.iter().map(String::as_str).collect();
        write!(f, ": looks at {}", or_nothing(&seen))?;
        if !self.passes_by.is_empty() {
            write!(f, "; does not look at {}", self.passes_by.join(", "))?;
        }
        Ok(())
    }
}

fn describe(entry: &Entry) -> Described {
    let stage = entry.stage();
    let needs = entry.needs();
    let (mut looks_at, mut passes_by) = (Vec::new(), Vec::new());
    for (name, part) in PARTS {
        let attention = match part {
            Part::Channel(channel) => needs.of_channel(*channel),
            Part::Calls => needs.of_calls(),
            Part::Opaque => needs.of_opaque(),
        };
        match attention {
            Attention::Nothing => passes_by.push(*name),
            Attention::Completed => looks_at.push(format!("completed {name}")),
            _ => looks_at.push((*name).to_owned()),
        }
    }
    Described {
        kind: entry.kind.clone(),
        when: entry.common.to_string(),
        looks_at,
        passes_by,
        enforces: stage.is_enforced(),
        fails_open: stage.on_failure() == OnFailure::Open,
        time_limit: stage.time_limit(),
    }
}

enum Part {
    Channel(Channel),
    Calls,
    Opaque,
}

const PARTS: &[(&str, Part)] = &[
    ("content", Part::Channel(Channel::Content)),
    ("reasoning", Part::Channel(Channel::Reasoning)),
    ("refusals", Part::Channel(Channel::Refusal)),
    ("calls", Part::Calls),
    ("opaque blocks", Part::Opaque),
];
