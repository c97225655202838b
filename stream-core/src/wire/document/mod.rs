//! The JSON reader of all formats: one strict pass over the data of a frame, driven by a format's table of known keys.
//!
//! A [`Table`] lists the known keys of an object, in their one spelling, and for each key what the format looks for in its value. The
//! pass validates the whole text, and records the span of every member of a known object and of every item of a known list. All other
//! values are validated and skipped.
//!
//! Three kinds of keys are a [`Fault`], because a client could read their values while no policy sees them (rule 9): a known key that
//! occurs twice in one object, a key that a lax parser mistakes for a known key, and the key `__proto__`.
//!
//! A [`Rewrite`] replaces or cuts values at the recorded spans, and copies all other bytes unchanged.

mod rewrite;
mod scan;
mod value;

pub(crate) use rewrite::{Rewrite, rewrite, spliced};
pub(crate) use scan::{Fault, FaultKind, special};
pub(crate) use value::{Value, is_void, unquote, utf8};

use std::cell::Cell;

use scan::{Faulty, Scan};

use crate::spelling;
use crate::wire::DecodeError;

/// The known keys of one kind of object.
#[derive(Debug)]
pub(crate) struct Table {
    keys: &'static [(&'static str, Of)],
    is_loose: bool,
    /// The first letters and the outlines of all keys. Most unknown keys differ from every known key in one of the two, so that the keys
    /// need not be compared.
    firsts: u32,
    outlines: u64,
    /// For each [mark](mark), the position of the key that has the mark, counted from 1; 0 where no key has the mark, [`SEVERAL`] where
    /// more than one key has it.
    places: [u8; 64],
}

/// More than one key of a table has the mark.
const SEVERAL: u8 = u8::MAX;

impl Table {
    /// The keys of an object whose values clients show or execute. A duplicate of a known key is a fault.
    pub(crate) const fn new(keys: &'static [(&'static str, Of)]) -> Self {
        let (firsts, outlines) = (spelling::firsts(keys), spelling::outlines(keys));
        Self { keys, is_loose: false, firsts, outlines, places: places(keys) }
    }

    /// The keys of an object without content for policies, such as token counts. Duplicates and other spellings of a known key are no
    /// fault; of duplicates the first counts.
    pub(crate) const fn loose(keys: &'static [(&'static str, Of)]) -> Self {
        Self { keys, is_loose: true, firsts: 0, outlines: 0, places: places(keys) }
    }
}

/// The part of a value that a format reads. The pass skips a value of another type; the format decides whether that type is an
/// error.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
    /// The value alone: a string, a number, or raw JSON.
    Leaf,
    /// The members of an object.
    Object(&'static Table),
    /// The items of a list.
    List(&'static Of),
    /// The members of an object, or the items of a list.
    Either(&'static Table, &'static Of),
}

impl Of {
    fn object(&self) -> Option<&'static Table> {
        match self {
            Self::Object(table) | Self::Either(table, _) => Some(table),
            Self::Leaf | Self::List(_) => None,
        }
    }

    fn item(&self) -> Option<&'static Self> {
        match self {
            Self::List(item) | Self::Either(_, item) => Some(item),
            Self::Leaf | Self::Object(_) => None,
        }
    }
}

/// The spans of one document. The documents of a thread reuse the same memory, so that reading a frame allocates nothing and a stream
/// keeps nothing.
#[derive(Debug, Default)]
pub(crate) struct Spans(Vec<SpanNode>);

thread_local! {
    /// The memory of the previous document.
    static SPARE: Cell<Vec<SpanNode>> = const { Cell::new(Vec::new()) };
}

impl Drop for Spans {
    fn drop(&mut self) {
        // Spans without memory of their own must not overwrite the spare memory.
        if self.0.capacity() == 0 {
            return;
        }
        self.0.shrink_to(USUAL);
        // The thread may be ending, and its spare memory be gone.
        let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.0)));
    }
}

impl Spans {
    /// Reads a document, with or without white space around it.
    pub(crate) fn read<'d>(&'d mut self, text: &'d str, of: Of) -> Result<Value<'d>, Fault> {
        if self.0.capacity() == 0 {
            self.0 = SPARE.try_with(Cell::take).unwrap_or_default();
        }
        self.0.clear();
        if u32::try_from(text.len()).is_err() {
            return Err(Fault { kind: FaultKind::Long, at: 0 });
        }
        let mut reader = SpanReader { scan: Scan::new(text), nodes: &mut self.0, text };
        match reader.document(&of) {
            Ok(()) => Ok(Value::root(text, &self.0)),
            Err(Faulty) => Err(reader.scan.found()),
        }
    }

    /// Reads bytes that may be a document; `None` if the bytes are not JSON.
    pub(crate) fn probe<'d>(&'d mut self, bytes: &'d [u8], of: Of) -> Option<Value<'d>> {
        self.read(std::str::from_utf8(bytes).ok()?, of).ok()
    }

    /// Reads a document; the error names what was expected.
    pub(crate) fn decode<'d>(
        &'d mut self,
        text: &'d str,
        of: Of,
        expected: &str,
    ) -> Result<Value<'d>, DecodeError> {
        self.read(text, of).map_err(|fault| fault.of(text, expected))
    }
}

/// The key that sets the prototype of a JavaScript object when members are copied by assignment. `openai` for Node copies deltas in this
/// way, so that a tool call under this key becomes a call of the message.
const PROTOTYPE: &[u8] = b"__proto__";

/// The number of nodes that the spare memory holds at most. Nearly all documents have fewer; the memory of a larger document is
/// given back.
const USUAL: usize = 1024;

impl Fault {
    /// The error of a frame whose text has this fault.
    pub(crate) fn of(self, text: &str, expected: &str) -> DecodeError {
        let found = match self.kind {
            // The message of serde_json is more precise. A second pass is affordable: the stream ends with this error.
            FaultKind::Syntax => match serde_json::from_str::<serde::de::IgnoredAny>(text) {
                Err(error) => error.to_string(),
                Ok(_) => format!("{} at byte {}", self.kind, self.at),
            },
            kind => {
                let before = &text[..self.at];
                let line = before.matches('\n').count() + 1;
                let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
                format!("{kind} at line {line} column {column}")
            }
        };
        DecodeError::new(expected, found)
    }
}

/// One value of a document: the root, a member of a known object or an item of a known list.
#[derive(Debug, Clone, Copy, Default)]
struct SpanNode {
    start: u32,
    end: u32,
    /// The span of the key with its quotes; empty for the root and for items.
    key: (u32, u32),
    /// The index of the node behind this one and all nodes within it.
    next: u32,
    /// `true` if the members or items of the value were recorded: the value has the type that the format looks for.
    is_read: bool,
    /// The [mark](mark) of a known key, with the bit [`KNOWN`]; 0 for an unknown key.
    mark: u8,
    /// One bit for the mark of each known member that is not null.
    marks: u64,
}

/// The bit that distinguishes the mark of a known key from 0.
const KNOWN: u8 = 0x40;

/// The positions of the keys by mark: see [`Table::places`].
const fn places(keys: &[(&str, Of)]) -> [u8; 64] {
    let (mut places, mut at) = ([0; 64], 0);
    while at < keys.len() {
        let mark = mark(keys[at].0.as_bytes()) as usize;
        places[mark] = if places[mark] == 0 { at as u8 + 1 } else { SEVERAL };
        at += 1;
    }
    places
}

/// A hash of a key below 64, so that most lookups need no comparison of keys. With these factors, only two pairs of keys within the
/// tables of the formats share a mark.
#[inline]
const fn mark(key: &[u8]) -> u8 {
    match key {
        [first, .., last] => {
            let len = (key.len() as u8).wrapping_mul(4);
            len.wrapping_add(first.wrapping_mul(5)).wrapping_add(last.wrapping_mul(23)) & 63
        }
        [only] => *only & 63,
        [] => 0,
    }
}

struct SpanReader<'r, 'd> {
    scan: Scan<'d>,
    nodes: &'r mut Vec<SpanNode>,
    text: &'d str,
}

impl SpanReader<'_, '_> {
    /// Reads the whole text as one value.
    fn document(&mut self, of: &Of) -> Result<(), Faulty> {
        self.scan.space();
        self.value(of, SpanNode { start: self.scan.at as u32, ..SpanNode::default() })?;
        self.scan.space();
        match self.scan.at == self.text.len() {
            true => Ok(()),
            false => Err(self.scan.fault(FaultKind::Syntax)),
        }
    }

    /// Reads one value, and records its node and the nodes within. `node` has the start of the value.
    #[inline(always)]
    fn value(&mut self, of: &Of, node: SpanNode) -> Result<(), Faulty> {
        match self.scan.peek() {
            b'"' => {
                self.scan.string()?;
            }
            b'{' | b'[' => return self.container(of, node),
            _ => self.scan.scalar()?,
        }
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(SpanNode { end: self.scan.at as u32, next, ..node });
        Ok(())
    }

    /// Reads an object or a list, and records the values within if the format looks for them.
    #[inline(never)]
    fn container(&mut self, of: &Of, node: SpanNode) -> Result<(), Faulty> {
        let at = self.nodes.len();
        self.nodes.push(node);
        let is_read = match (self.scan.peek(), of.object(), of.item()) {
            (b'{', Some(table), _) => self.members(table).map(|()| true)?,
            (b'[', _, Some(of)) => self.items(of).map(|()| true)?,
            _ => self.scan.value().map(|()| false)?,
        };
        let next = self.nodes.len() as u32;
        let node = &mut self.nodes[at];
        (node.end, node.next, node.is_read) = (self.scan.at as u32, next, is_read);
        Ok(())
    }

    fn items(&mut self, of: &Of) -> Result<(), Faulty> {
        self.scan.expect(b'[')?;
        if self.scan.peek() == b']' {
            self.scan.at += 1;
            return Ok(());
        }
        loop {
            self.value(of, SpanNode { start: self.scan.at as u32, ..SpanNode::default() })?;
            if !self.scan.goes_on(b']')? {
                return Ok(());
            }
        }
    }

    fn members(&mut self, table: &'static Table) -> Result<(), Faulty> {
        self.scan.expect(b'{')?;
        if self.scan.peek() == b'}' {
            self.scan.at += 1;
            return Ok(());
        }
        let object = self.nodes.len() - 1;
        let (mut seen, mut marks) = (0_u64, 0_u64);
        loop {
            let start = self.scan.at;
            let escaped = self.scan.string()?;
            let end = self.scan.at;
            let (mut of, mut mark) = (&Of::Leaf, 0);
            if let Some(known) = self.known(table, start, end, escaped)? {
                let (name, of_key) = &table.keys[known.at];
                let bit = 1 << known.at;
                if seen & bit == 0 {
                    (of, mark) = (of_key, known.mark | KNOWN);
                } else if !table.is_loose {
                    return Err(self.scan.fault(FaultKind::Twice(name)));
                }
                seen |= bit;
            }
            self.scan.space();
            self.scan.expect(b':')?;
            if mark != 0 && self.scan.peek() != b'n' {
                marks |= 1 << (mark & !KNOWN);
            }
            let key = (start as u32, end as u32);
            let start = self.scan.at as u32;
            self.value(of, SpanNode { start, key, mark, ..SpanNode::default() })?;
            if !self.scan.goes_on(b'}')? {
                self.nodes[object].marks = marks;
                return Ok(());
            }
        }
    }

    /// The entry of the table for the key between these quotes; `None` for a key that is not in the table.
    #[inline]
    fn known(
        &mut self,
        table: &Table,
        start: usize,
        end: usize,
        escaped: bool,
    ) -> Result<Option<KnownKey>, Faulty> {
        let unescaped;
        let key = match escaped {
            false => &self.text.as_bytes()[start + 1..end - 1],
            true => {
                let quoted = &self.text[start..end];
                let Some(key) = unquote(quoted) else { return Err(self.scan.fault(FaultKind::Syntax)) };
                unescaped = key;
                unescaped.as_bytes()
            }
        };
        let mark = mark(key);
        let at = match table.places[usize::from(mark)] {
            0 => None,
            SEVERAL => table.keys.iter().position(|(name, _)| name.as_bytes() == key),
            place => Some(usize::from(place) - 1).filter(|at| table.keys[*at].0.as_bytes() == key),
        };
        match at {
            Some(at) => Ok(Some(KnownKey { at, mark })),
            None => match stranger(table, key) {
                None => Ok(None),
                Some(kind) => Err(self.scan.fault(kind)),
            },
        }
    }
}

/// A known key: its position in the table, and its [mark](mark).
struct KnownKey {
    at: usize,
    mark: u8,
}

/// The fault of a key that is not in the table, if the key is one.
fn stranger(table: &Table, key: &[u8]) -> Option<FaultKind> {
    if table.is_loose {
        return None;
    }
    if key == PROTOTYPE {
        return Some(FaultKind::Prototype);
    }
    let is_near = |(name, _): &(&str, Of)| spelling::is_near(key, name.as_bytes());
    let may_be = spelling::may_be_near(key, table.firsts) && spelling::is_outlined(key, table.outlines);
    (may_be && table.keys.iter().any(is_near)).then_some(FaultKind::Near)
}

#[cfg(test)]
mod tests;
