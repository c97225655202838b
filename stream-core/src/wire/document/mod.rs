//! The one reader: a strict single pass over the JSON of a frame, driven by a format's table of known keys.
//!
//! A [`Table`] says which keys an object has, in their one spelling, and what is looked for under each. The pass checks the
//! whole text, keeps the span of every member of a known object and of every item of a known list, and walks over everything
//! else. A known key that stands twice, a key that only a lax parser takes for a known one, or a key that stands for a
//! prototype is a [`Fault`]: what stands under it would be read by a client and seen by no policy (rule 9).
//!
//! A [`Rewrite`] changes a document at the spans that were read; all other bytes stay as they came.

mod rewrite;
mod scan;
mod value;

pub(crate) use rewrite::{Rewrite, rewrite, spliced};
pub(crate) use scan::{Fault, FaultKind};
pub(crate) use value::{Value, is_void, unquote, utf8};

use std::cell::Cell;

use scan::{Faulty, Scan};

use crate::spelling;
use crate::wire::DecodeError;

/// What a format knows of one kind of object.
#[derive(Debug)]
pub(crate) struct Table {
    keys: &'static [(&'static str, Of)],
    is_loose: bool,
    /// The first letters of all keys, and their outlines: unknown keys are told from all of them by theirs.
    firsts: u32,
    outlines: u64,
    /// Where the key with each [mark](mark) stands, behind none; [`SEVERAL`] where there are more of them.
    places: [u8; 64],
}

/// More than one key of a table has the mark.
const SEVERAL: u8 = u8::MAX;

impl Table {
    /// The keys of an object that clients read.
    pub(crate) const fn new(keys: &'static [(&'static str, Of)]) -> Self {
        let (firsts, outlines) = (spelling::firsts(keys), spelling::outlines(keys));
        Self { keys, is_loose: false, firsts, outlines, places: places(keys) }
    }

    /// The keys of an object that says nothing which a policy looks at, such as token counts: of a key that stands there
    /// twice the first counts, and any spelling may stand beside it.
    pub(crate) const fn loose(keys: &'static [(&'static str, Of)]) -> Self {
        Self { keys, is_loose: true, firsts: 0, outlines: 0, places: places(keys) }
    }
}

/// What a format looks for in a value. A value of another type is walked over: whether that is an error is up to the
/// format.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
    /// Nothing within: text, a number, or a value that is kept as it is.
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

/// The spans of a document. Their memory serves one document of the thread after the other, so that a frame costs no
/// allocation and a stream keeps none.
#[derive(Debug, Default)]
pub(crate) struct Spans(Vec<SpanNode>);

thread_local! {
    /// What the document before has left.
    static SPARE: Cell<Vec<SpanNode>> = const { Cell::new(Vec::new()) };
}

impl Drop for Spans {
    fn drop(&mut self) {
        // Spans that read nothing leave what is there for those who do.
        if self.0.capacity() == 0 {
            return;
        }
        self.0.shrink_to(USUAL);
        // A thread that ends keeps nothing.
        let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.0)));
    }
}

impl Spans {
    /// Reads a document, which may have white space around it.
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

    /// Reads bytes that may be a document; `None` where they are none.
    pub(crate) fn probe<'d>(&'d mut self, bytes: &'d [u8], of: Of) -> Option<Value<'d>> {
        self.read(std::str::from_utf8(bytes).ok()?, of).ok()
    }

    /// Reads a document, or says what was expected in its place.
    pub(crate) fn decode<'d>(
        &'d mut self,
        text: &'d str,
        of: Of,
        expected: &str,
    ) -> Result<Value<'d>, DecodeError> {
        self.read(text, of).map_err(|fault| fault.of(text, expected))
    }
}

/// What JavaScript takes for the prototype of an object where members are copied by assignment: `openai` for Node does so with a
/// delta, so that a call that stands there is one of the message.
const PROTOTYPE: &[u8] = b"__proto__";

/// As many values as all but a few documents have: what a large one needed more is not kept.
const USUAL: usize = 1024;

impl Fault {
    /// The error of a frame whose text has this fault.
    pub(crate) fn of(self, text: &str, expected: &str) -> DecodeError {
        let found = match self.kind {
            // The words of a parser that tells more; this text will not be read again.
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
    /// The key with its quotes; empty for the root and for items.
    key: (u32, u32),
    /// The node behind this one and all within it.
    next: u32,
    /// There are nodes within, if it is not empty: the value is of the type that was looked for.
    is_read: bool,
    /// The [mark](mark) of a known key, with [`KNOWN`]; 0 for any other.
    mark: u8,
    /// A bit for the mark of each known member that is not null.
    marks: u64,
}

/// Tells the mark of a known key from that of any other.
const KNOWN: u8 = 0x40;

/// The place of each key, from 1, under its mark.
const fn places(keys: &[(&str, Of)]) -> [u8; 64] {
    let (mut places, mut at) = ([0; 64], 0);
    while at < keys.len() {
        let mark = mark(keys[at].0.as_bytes()) as usize;
        places[mark] = if places[mark] == 0 { at as u8 + 1 } else { SEVERAL };
        at += 1;
    }
    places
}

/// A number below 64 for a key, to tell most keys apart without comparing them: by these factors all but two pairs of the formats'
/// tables have numbers of their own.
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
    /// Reads all of the text.
    fn document(&mut self, of: &Of) -> Result<(), Faulty> {
        self.scan.space();
        self.value(of, SpanNode { start: self.scan.at as u32, ..SpanNode::default() })?;
        self.scan.space();
        match self.scan.at == self.text.len() {
            true => Ok(()),
            false => Err(self.scan.fault(FaultKind::Syntax)),
        }
    }

    /// Reads one value into a node, which says where it starts, and those within it.
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

    /// Reads an object or a list, with the values within it where they are looked for.
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

    /// The key between these quotes, if it is one of the table.
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

/// A key of a table: where it stands there, and its [mark](mark).
struct KnownKey {
    at: usize,
    mark: u8,
}

/// What is wrong with a key that is none of the known ones.
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
