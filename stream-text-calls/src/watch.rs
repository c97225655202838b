//! A bare object with other keys than a call's: it leaves as text, and must not become a call by what follows.

use crate::dialect::{Body, Fields};
use crate::json::decode;
use crate::options::ScanOptions;
use crate::set::Plans;

/// Follows the text through one JSON object, each byte once. An object that has a name *and* arguments at its top is a call to
/// parsers by pattern, whatever other keys it has; most objects have not, and none is held to find out. An object that begins an answer needs no
/// arguments, where its name is that of a tool that was offered (SGLang's parser for Llama 3).
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
    /// The object begins the answer.
    is_first: bool,
    /// The value of the name that is being read, with its quotes; `None` of any other value.
    name: Option<Vec<u8>>,
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
    pub(crate) fn begin(&mut self, is_first: bool) {
        if self.state == Watched::Nothing {
            *self = Self { state: Watched::Key, depth: 1, is_first, ..Self::default() };
        }
    }

    /// Whether an object is being followed.
    pub(crate) fn is_on(&self) -> bool {
        self.state != Watched::Nothing
    }

    /// Reads on; the place of the colon, or of the quote behind a name, that would make the object a call. It is not passed.
    pub(crate) fn run(&mut self, plans: &Plans, options: &ScanOptions, text: &[u8]) -> Option<usize> {
        for (at, &byte) in text.iter().enumerate() {
            if self.state == Watched::Nothing {
                return None;
            }
            if self.ends_at(plans, options, byte) {
                return Some(at);
            }
            self.named(byte);
            self.byte(byte);
        }
        None
    }

    /// Whether this byte, which is not passed, would make the object a call. Then the object is not followed any more.
    pub(crate) fn ends_at(&mut self, plans: &Plans, options: &ScanOptions, byte: u8) -> bool {
        let is_call = match self.state {
            Watched::Colon if byte == b':' => self.is_call(plans),
            Watched::InString if byte == self.quote => self.is_named(options),
            _ => false,
        };
        if is_call {
            *self = Self::default();
        }
        is_call
    }

    /// Takes the next byte of the value of a name.
    fn named(&mut self, byte: u8) {
        let Some(name) = self.name.as_mut() else { return };
        let goes_on = match self.state {
            Watched::Value => name.is_empty() && (byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'')),
            _ => name.len() < LONGEST_KEY,
        };
        if !goes_on {
            self.name = None;
        } else if matches!(self.state, Watched::InString | Watched::EscapeInString) {
            name.push(byte);
        }
    }

    /// Whether the string that ends here names a tool that was offered.
    fn is_named(&self, options: &ScanOptions) -> bool {
        let name = self.name.as_ref().and_then(|name| decode(&[b"\"", &name[..], b"\""].concat()));
        name.is_some_and(|name| options.schemas.offers(&name))
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
        let is_name = is(|fields| &fields.name);
        self.name = (is_name && self.is_first).then(Vec::new);
        self.has_name |= is_name;
        self.has_arguments |= is(|fields| &fields.arguments);
        self.has_name && self.has_arguments
    }
}

/// The longest key that is looked at: longer than any of a call's, each letter escaped.
const LONGEST_KEY: usize = 256;
