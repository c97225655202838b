//! One JSON object, read byte by byte: where it ends, and where its name, id and arguments stand.

use std::ops::Range;

use memchr::memchr2;

use crate::dialect::Fields;
use crate::event::ProblemKind;
use crate::space::{Space, space_at};

/// A resumable, string-aware reader of one object. Positions are in the text it is given, which only ever grows; no
/// byte is looked at twice.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    begin: usize,
    pos: usize,
    expect: Expect,
    /// `}` or `]` for every open bracket.
    stack: Vec<u8>,
    /// Where the string or scalar that is being read began.
    from: usize,
    /// The role of the value that is being read, at the top of the object.
    role: Role,
    /// The first byte behind the opening that shows that this is an object.
    pub(crate) confirmed: Option<usize>,
    pub(crate) name: Option<Range<usize>>,
    pub(crate) arguments: Option<Range<usize>>,
    pub(crate) id: Option<Range<usize>>,
    /// Where a key that plays no part ended.
    pub(crate) other_key: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Open,
    KeyOrEnd,
    Key,
    InKey,
    Colon,
    Value,
    ValueOrEnd,
    InString,
    Scalar,
    CommaOrEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    None,
    Name,
    Arguments,
    Id,
}

/// Where a reader stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    /// It ended before this byte.
    End(usize),
    /// It stops being one before `end`; what is wrong shows at `at`.
    Fail {
        end: usize,
        at: usize,
        kind: ProblemKind,
    },
}

impl Object {
    pub(crate) fn at(pos: usize) -> Self {
        Self {
            begin: pos,
            pos,
            expect: Expect::Open,
            stack: Vec::new(),
            from: pos,
            role: Role::None,
            confirmed: None,
            name: None,
            arguments: None,
            id: None,
            other_key: None,
        }
    }

    /// The whole object, once it has ended.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.begin..self.pos + 1
    }

    /// Where the name ends, if there is one.
    pub(crate) fn name_end(&self, text: &[u8]) -> Option<usize> {
        let name = self.name.clone().filter(|range| !range.is_empty())?;
        decode(&text[name.clone()]).filter(|said| !said.is_empty()).map(|_| name.end)
    }

    /// Reads on. `fields` tells what the keys at the top mean; without them the object itself is the arguments.
    pub(crate) fn run(&mut self, fields: Option<&Fields>, text: &[u8]) -> Progress {
        while let Some(&byte) = text.get(self.pos) {
            match self.expect {
                Expect::InKey | Expect::InString => {
                    let Some(end) = self.string_end(text) else { return Progress::More };
                    self.pos = end + 1;
                    if self.expect == Expect::InKey {
                        if self.stack.len() == 1
                            && let Err(problem) = self.key(fields, text, self.from + 1..end)
                        {
                            return Progress::Fail { end: self.pos, at: self.from, kind: problem };
                        }
                        self.expect = Expect::Colon;
                    } else {
                        self.value_ends(self.pos);
                    }
                    continue;
                }
                Expect::Scalar if !matches!(byte, b',' | b'}' | b']') && !byte.is_ascii_whitespace() => {
                    if self.pos - self.from > LONGEST_SCALAR {
                        return self.fail("a JSON number or literal");
                    }
                }
                Expect::Scalar => {
                    if serde_json::from_slice::<serde::de::IgnoredAny>(&text[self.from..self.pos]).is_err() {
                        let kind = ProblemKind::Malformed { expected: "a JSON value" };
                        return Progress::Fail { end: self.pos, at: self.from, kind };
                    }
                    self.value_ends(self.pos);
                    continue;
                }
                _ if byte.is_ascii_whitespace() => {}
                Expect::Open if byte == b'{' => {
                    // Behind a marker this is a call, or one that went wrong.
                    self.confirmed.get_or_insert(self.pos + 1);
                    self.begin = self.pos;
                    self.open(b'}');
                }
                Expect::Open => match space_at(text, self.pos) {
                    Space::Some(len) => self.pos += len - 1,
                    Space::More => return Progress::More,
                    Space::None => return self.fail("a JSON object"),
                },
                Expect::KeyOrEnd | Expect::Key if byte == b'"' => {
                    self.confirmed.get_or_insert(self.pos + 1);
                    self.from = self.pos;
                    self.expect = Expect::InKey;
                }
                Expect::KeyOrEnd if byte == b'}' => {
                    self.confirmed.get_or_insert(self.pos + 1);
                    if let Some(end) = self.close() {
                        return Progress::End(end);
                    }
                }
                Expect::KeyOrEnd | Expect::Key => return self.fail("a key in quotes"),
                Expect::Colon if byte == b':' => self.expect = Expect::Value,
                Expect::Colon => return self.fail("a colon"),
                Expect::ValueOrEnd if byte == b']' => {
                    if let Some(end) = self.close() {
                        return Progress::End(end);
                    }
                }
                Expect::Value | Expect::ValueOrEnd => {
                    self.from = self.pos;
                    match byte {
                        b'{' | b'[' if self.stack.len() >= DEEPEST => {
                            return self.fail("fewer brackets in each other");
                        }
                        b'{' => self.open(b'}'),
                        b'[' => self.open(b']'),
                        b'"' => self.expect = Expect::InString,
                        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.expect = Expect::Scalar,
                        _ => return self.fail("a JSON value"),
                    }
                }
                Expect::CommaOrEnd => match (byte, self.stack.last()) {
                    (b',', Some(b'}')) => self.expect = Expect::Key,
                    (b',', Some(_)) => self.expect = Expect::Value,
                    (byte, Some(close)) if byte == *close => {
                        if let Some(end) = self.close() {
                            return Progress::End(end);
                        }
                    }
                    _ => return self.fail("a comma or a closing bracket"),
                },
            }
            self.pos += 1;
        }
        Progress::More
    }

    /// Finds the quote that ends a string; an escape that is split over two chunks is read when it is whole.
    fn string_end(&mut self, text: &[u8]) -> Option<usize> {
        while let Some(found) = memchr2(b'"', b'\\', text.get(self.pos..)?) {
            let at = self.pos + found;
            if text[at] == b'"' {
                return Some(at);
            }
            if at + 1 >= text.len() {
                self.pos = at;
                return None;
            }
            self.pos = at + 2;
        }
        self.pos = text.len();
        None
    }

    fn open(&mut self, close: u8) {
        // Where a value at the top began must survive what is inside it.
        if self.stack.len() == 1 {
            self.value_began(self.pos);
        }
        self.stack.push(close);
        self.expect = if close == b'}' { Expect::KeyOrEnd } else { Expect::ValueOrEnd };
    }

    fn value_began(&mut self, at: usize) {
        match self.role {
            Role::Arguments => self.arguments = Some(at..at),
            Role::Name => self.name = Some(at..at),
            Role::Id => self.id = Some(at..at),
            Role::None => {}
        }
    }

    /// A bracket closes; the end, if it was the last one.
    fn close(&mut self) -> Option<usize> {
        self.stack.pop();
        if self.stack.is_empty() {
            return Some(self.pos + 1);
        }
        if self.stack.len() == 1 {
            let end = self.pos + 1;
            let slot = match self.role {
                Role::Arguments => self.arguments.as_mut(),
                Role::Name => self.name.as_mut(),
                Role::Id => self.id.as_mut(),
                Role::None => None,
            };
            if let Some(range) = slot {
                range.end = end;
            }
            self.role = Role::None;
        }
        self.expect = Expect::CommaOrEnd;
        None
    }

    /// A string or scalar ends.
    fn value_ends(&mut self, end: usize) {
        if self.stack.len() == 1 {
            let range = Some(self.from..end);
            match std::mem::replace(&mut self.role, Role::None) {
                Role::Arguments => self.arguments = range,
                Role::Name => self.name = range,
                Role::Id => self.id = range,
                Role::None => {}
            }
        }
        self.expect = Expect::CommaOrEnd;
    }

    /// A key at the top was read.
    fn key(&mut self, fields: Option<&Fields>, text: &[u8], range: Range<usize>) -> Result<(), ProblemKind> {
        let Some(fields) = fields else { return Ok(()) };
        let raw = &text[range.clone()];
        let decoded = decode(&text[range.start - 1..=range.end]);
        let key = decoded.as_deref().map_or(raw, str::as_bytes);
        let is = |names: &[String]| names.iter().any(|name| name.as_bytes() == key);
        let (role, taken) = if fields.name_is_key {
            let taken = self.name.is_some();
            self.name.get_or_insert(range.start - 1..range.end + 1);
            (Role::Arguments, taken)
        } else if is(&fields.name) {
            (Role::Name, self.name.is_some())
        } else if is(&fields.arguments) {
            (Role::Arguments, self.arguments.is_some())
        } else if is(&fields.id) {
            (Role::Id, self.id.is_some())
        } else {
            if key != b"type" {
                self.other_key.get_or_insert(range.end);
            }
            (Role::None, false)
        };
        self.role = role;
        if taken { Err(ProblemKind::RepeatedKey) } else { Ok(()) }
    }

    fn fail(&self, expected: &'static str) -> Progress {
        Progress::Fail { end: self.pos, at: self.pos, kind: ProblemKind::Malformed { expected } }
    }
}

/// A JSON string, with its quotes, as what it says.
pub(crate) fn decode(quoted: &[u8]) -> Option<String> {
    serde_json::from_slice(quoted).ok()
}

/// The longest number or literal.
const LONGEST_SCALAR: usize = 1024;

/// How deep brackets may stand in each other.
const DEEPEST: usize = 512;
