//! A bare object with other keys than a call's: it leaves as text, and must not become a call by what follows.

use crate::dialect::{Body, Fields};
use crate::json::decode;
use crate::set::Plans;

/// Follows the text through one JSON object, each byte once. An object that has a name *and* arguments at its top is a call to
/// parsers by pattern, whatever other keys it has; most objects have not, and none is held to find out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    state: Watched,
    /// How many brackets are open.
    depth: usize,
    /// The key at the top that is being read, or was read last, with its quotes.
    key: Vec<u8>,
    /// The quotes around the string that is being read: SGLang takes Python's as well.
    quote: u8,
    has_name: bool,
    has_arguments: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Watched {
    /// No object.
    #[default]
    Nothing,
    /// A key of the object, or its end.
    Key,
    InKey,
    Escape,
    /// The colon behind a key.
    Colon,
    /// A value, or what follows one, at any depth.
    Value,
    InString,
    EscapeInString,
}

impl Watch {
    /// An object begins here, behind its brace; one that is followed already goes on.
    pub(crate) fn begin(&mut self) {
        if self.state == Watched::Nothing {
            *self = Self { state: Watched::Key, depth: 1, ..Self::default() };
        }
    }

    /// Whether an object is being followed.
    pub(crate) fn is_on(&self) -> bool {
        self.state != Watched::Nothing
    }

    /// Reads on; the place of the colon that would make the object a call. It is not passed.
    pub(crate) fn run(&mut self, plans: &Plans, text: &[u8]) -> Option<usize> {
        for (at, &byte) in text.iter().enumerate() {
            if self.state == Watched::Nothing {
                return None;
            }
            if self.state == Watched::Colon && byte == b':' && self.is_call(plans) {
                *self = Self::default();
                return Some(at);
            }
            self.byte(byte);
        }
        None
    }

    fn byte(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (Watched::InKey | Watched::Escape, _) if self.key.len() >= LONGEST_KEY => self.in_string(byte),
            (Watched::Key, b'"' | b'\'') => {
                self.key.clear();
                self.key.push(byte);
                self.quote = byte;
                Watched::InKey
            }
            (Watched::Key | Watched::Colon, _) if byte.is_ascii_whitespace() => self.state,
            (Watched::InKey, _) => {
                self.key.push(byte);
                match byte {
                    b'\\' => Watched::Escape,
                    _ if byte == self.quote => Watched::Colon,
                    _ => Watched::InKey,
                }
            }
            (Watched::Escape, _) => {
                self.key.push(byte);
                Watched::InKey
            }
            (Watched::Colon, b':') => Watched::Value,
            (Watched::InString, b'\\') => Watched::EscapeInString,
            (Watched::InString, _) if byte == self.quote => Watched::Value,
            (Watched::InString | Watched::EscapeInString, _) => Watched::InString,
            (Watched::Value, b'"' | b'\'') => {
                self.quote = byte;
                Watched::InString
            }
            (Watched::Value, b'{' | b'[') => {
                self.depth += 1;
                Watched::Value
            }
            (Watched::Value, b'}' | b']') if self.depth > 1 => {
                self.depth -= 1;
                Watched::Value
            }
            (Watched::Value, b',') if self.depth == 1 => Watched::Key,
            (Watched::Value, b'}' | b']') | (Watched::Nothing | Watched::Key | Watched::Colon, _) => {
                Watched::Nothing
            }
            (Watched::Value, _) => Watched::Value,
        };
    }

    /// A key that is too long to be one of a call's is a string like any other, but for the colon behind it.
    fn in_string(&mut self, byte: u8) -> Watched {
        match (self.state, byte) {
            (Watched::Escape, _) => Watched::InKey,
            (_, b'\\') => Watched::Escape,
            _ if byte == self.quote => Watched::Colon,
            _ => Watched::InKey,
        }
    }

    /// Whether the object has a name and arguments with the key that was read last.
    fn is_call(&mut self, plans: &Plans) -> bool {
        let inside = &self.key[1..self.key.len() - 1];
        let key = decode(&[b"\"", inside, b"\""].concat());
        let Some(key) = key else { return false };
        let fields = plans.dialects.iter().filter_map(|plan| match &plan.dialect.body {
            Body::Object(fields) if plan.dialect.is_bare() || plan.dialect.marks_all => Some(fields),
            _ => None,
        });
        let is =
            |names: fn(&Fields) -> &Vec<String>| fields.clone().any(|fields| names(fields).contains(&key));
        self.has_name |= is(|fields| &fields.name);
        self.has_arguments |= is(|fields| &fields.arguments);
        self.has_name && self.has_arguments
    }
}

/// The longest key that is looked at: longer than any of a call's, each letter escaped.
const LONGEST_KEY: usize = 256;
