//! Rules ready to match.

use regex::Regex;
use serde_json::Value;

use super::super::arguments::Unreadable;
use super::places::Path;
use super::settings::{Condition, Rule, RunBy};
use crate::glob::Glob;
use crate::names;
use crate::settings_error::SettingsError;

/// A rule ready to match.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    names: Vec<Name>,
    tests: Vec<(Path, Test)>,
    /// The pointers of the tests, as the settings write them.
    pointers: Vec<String>,
    runs: Option<RunBy>,
    reason: String,
}

/// Whether a rule is for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matched {
    Yes,
    No,
    /// It would depend on arguments that cannot be read.
    Unreadable(Unreadable),
}

#[derive(Debug, Clone)]
struct Name {
    exact: Glob,
    folded: Glob,
}

#[derive(Debug, Clone)]
enum Test {
    Equals(Value),
    Glob(Glob),
    /// Once for a part of a value, once for all of it: a leftmost match need not be the longest.
    Regex {
        part: Regex,
        all: Regex,
    },
    Present(bool),
}

impl Compiled {
    pub(super) fn new(rule: &Rule) -> Result<Self, SettingsError> {
        if rule.tools.is_empty() {
            return Err(SettingsError::new("tools", "at least one glob (* is all tools)", "none"));
        }
        let names = rule.tools.iter().enumerate().map(|(n, glob)| {
            let at = format!("tools[{n}]");
            Ok(Name { exact: Glob::new(glob, &at)?, folded: Glob::new(&names::fold(glob), &at)? })
        });
        let tests = rule.when.iter().enumerate().map(|(n, condition)| {
            let test = Test::new(condition).map_err(|error| error.within(&format!("when[{n}]")))?;
            Ok((Path::new(&condition.at), test))
        });
        let reason = rule.because.clone();
        Ok(Self {
            names: names.collect::<Result<_, SettingsError>>()?,
            tests: tests.collect::<Result<_, SettingsError>>()?,
            pointers: rule.when.iter().map(|condition| condition.at.clone()).collect(),
            runs: rule.runs,
            reason: reason.unwrap_or_else(|| format!("a rule denies {}", rule.tools.join(", "))),
        })
    }

    /// Why it denies.
    pub(super) fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether it is for calls of whoever runs this one.
    pub(super) fn is_for(&self, who: RunBy) -> bool {
        self.runs.is_none_or(|runs| runs == who)
    }

    /// Whether it allows a call. Names are compared exactly, and tests hold for all of a value.
    pub(super) fn allows(&self, name: &str, arguments: Result<&Value, Unreadable>) -> Matched {
        let named = self.names.iter().any(|own| own.exact.matches(name));
        self.matched(named, arguments, Test::allows)
    }

    /// The pointer of the first pattern that matches a part of a value and not all of it, where nothing else keeps the rule
    /// from allowing the call.
    pub(super) fn allows_a_part(&self, name: &str, arguments: &Value) -> Option<&str> {
        let named = self.names.iter().any(|own| own.exact.matches(name));
        let in_part = |at: &Path, test: &Test| {
            let Test::Regex { part, .. } = test else { return false };
            at.only(arguments).and_then(scalar).is_some_and(|text| part.is_match(&text))
        };
        let near = |(at, test): &(Path, Test)| test.allows(at, arguments) || in_part(at, test);
        if !named || !self.tests.iter().all(near) {
            return None;
        }
        let only = self.tests.iter().position(|(at, test)| !test.allows(at, arguments))?;
        self.pointers.get(only).map(String::as_str)
    }

    /// Whether it denies a call. Names are compared as leniently as any client might, and tests hold for any part of a
    /// value.
    pub(super) fn denies(&self, name: &str, folded: &str, arguments: Result<&Value, Unreadable>) -> Matched {
        let named = self.names.iter().any(|own| own.exact.matches(name) || own.folded.matches(folded));
        self.matched(named, arguments, Test::denies)
    }

    fn matched(
        &self,
        named: bool,
        arguments: Result<&Value, Unreadable>,
        holds: fn(&Test, &Path, &Value) -> bool,
    ) -> Matched {
        match arguments {
            _ if !named => Matched::No,
            _ if self.tests.is_empty() => Matched::Yes,
            Err(why) => Matched::Unreadable(why),
            Ok(arguments) if self.tests.iter().all(|(at, test)| holds(test, at, arguments)) => Matched::Yes,
            Ok(_) => Matched::No,
        }
    }
}

impl Test {
    fn new(condition: &Condition) -> Result<Self, SettingsError> {
        check_pointer(&condition.at)?;
        let Condition { equals, glob, regex, present, .. } = condition;
        match (equals, glob, regex, present) {
            (Some(value), None, None, None) => Ok(Self::Equals(value.clone())),
            (None, Some(glob), None, None) => Ok(Self::Glob(Glob::new(glob, "glob")?)),
            (None, None, Some(pattern), None) => {
                let regex = |pattern: &str| Regex::new(pattern).map_err(|error| bad_regex(&error));
                Ok(Self::Regex { part: regex(pattern)?, all: regex(&format!(r"\A(?:{pattern})\z"))? })
            }
            (None, None, None, Some(present)) => Ok(Self::Present(*present)),
            _ => {
                let set = [equals.is_some(), glob.is_some(), regex.is_some(), present.is_some()];
                let found = set.into_iter().filter(|set| *set).count();
                let expected = "exactly one of equals, glob, regex and present";
                Err(SettingsError::new("", expected, found.to_string()))
            }
        }
    }

    /// Whether it allows: it holds for all of the one value that any reader would find there.
    fn allows(&self, at: &Path, arguments: &Value) -> bool {
        match self {
            Self::Present(false) => !at.any(arguments, &|_| true),
            _ => at.only(arguments).is_some_and(|value| self.holds(value)),
        }
    }

    /// Whether it denies: it holds for any part of any value that some reader could find there.
    fn denies(&self, at: &Path, arguments: &Value) -> bool {
        match self {
            Self::Present(false) => !at.is_there(arguments),
            _ => at.any(arguments, &|value| self.hits(value)),
        }
    }

    /// Whether it holds for all of a value.
    fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Present(present) => *present,
            Self::Equals(own) => is_same(own, value),
            Self::Glob(_) | Self::Regex { .. } => scalar(value).is_some_and(|text| self.matches_all(&text)),
        }
    }

    /// Whether it holds for any part of a value. A list, an object or another type is no way around it.
    fn hits(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Present(present), _) => *present,
            (Self::Equals(own), value) => {
                is_like(own, value)
                    || value.as_array().is_some_and(|items| items.iter().any(|item| self.hits(item)))
            }
            (_, Value::Array(items)) => {
                items.iter().any(|item| self.hits(item)) || self.matches_part(&joined(items))
            }
            (_, Value::Object(members)) => {
                members.iter().any(|(key, value)| self.matches_part(key) || self.hits(value))
            }
            (_, value) => {
                scalar(value).is_some_and(|text| self.matches_part(&text))
                    || whole(value).is_some_and(|text| self.matches_part(&text))
            }
        }
    }

    fn matches_all(&self, text: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.matches(text),
            Self::Regex { all, .. } => all.is_match(text),
            Self::Equals(_) | Self::Present(_) => false,
        }
    }

    fn matches_part(&self, text: &str) -> bool {
        match self {
            Self::Regex { part, .. } => part.is_match(text),
            _ => self.matches_all(text),
        }
    }
}

/// The text of a string, number or boolean.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A number that was written with a fraction or an exponent and has none.
fn whole(value: &Value) -> Option<String> {
    let number = value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0)?;
    (number.abs() < 1e15).then(|| format!("{number:.0}"))
}

/// What a list of words says when it is run as one line.
fn joined(items: &[Value]) -> String {
    items.iter().filter_map(scalar).collect::<Vec<_>>().join(" ")
}

/// Whether two values are the same, however their numbers are written.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Whether two values are the same to a reader that makes numbers and booleans of texts, or texts of them.
fn is_like(one: &Value, other: &Value) -> bool {
    is_same(one, other)
        || match (one, other) {
            (Value::Number(number), Value::String(text)) | (Value::String(text), Value::Number(number)) => {
                text.trim().parse().is_ok_and(|read: f64| Some(read) == number.as_f64())
            }
            (Value::Bool(value), Value::String(text)) | (Value::String(text), Value::Bool(value)) => {
                text.trim().eq_ignore_ascii_case(if *value { "true" } else { "false" })
            }
            _ => false,
        }
}

fn check_pointer(pointer: &str) -> Result<(), SettingsError> {
    let escapes = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if (pointer.is_empty() || pointer.starts_with('/')) && escapes {
        return Ok(());
    }
    let expected = "a JSON Pointer (empty, or / before each key, with ~0 for ~ and ~1 for /)";
    Err(SettingsError::new("at", expected, format!("{pointer:?}")))
}

fn bad_regex(error: &regex::Error) -> SettingsError {
    // The message draws the pattern over several lines; the last one says what is wrong.
    let message = error.to_string();
    let last = message.lines().last().unwrap_or_default();
    SettingsError::new("regex", "a regular expression", last.trim_start_matches("error: "))
}
