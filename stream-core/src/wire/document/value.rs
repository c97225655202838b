//! Values of a document that was read.

use std::borrow::Cow;

use memchr::memchr;

use super::{KNOWN, SpanNode, mark};
use crate::delta::{Span, Text};
use crate::wire::DecodeError;

/// A value of a document: its text, and its members or items, where the tables list them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'d> {
    text: &'d str,
    nodes: &'d [SpanNode],
    at: usize,
}

impl<'d> Value<'d> {
    pub(super) fn root(text: &'d str, nodes: &'d [SpanNode]) -> Self {
        Self { text, nodes, at: 0 }
    }

    /// The value as raw JSON.
    pub(crate) fn raw(self) -> &'d str {
        let node = self.node();
        &self.text[node.start as usize..node.end as usize]
    }

    /// The span of the value in its document.
    pub(crate) fn span(self) -> Span {
        let node = self.node();
        Span::new(node.start as usize, node.end as usize)
    }

    /// The position of the value among all nodes of the document.
    pub(super) fn place(self) -> usize {
        self.at
    }

    /// The text of the whole document.
    pub(super) fn text_of_document(self) -> &'d str {
        self.text
    }

    /// The span of a member with its key; the span of the value for an item.
    pub(super) fn member_span(self) -> Span {
        let node = self.node();
        let start = if node.key == (0, 0) { node.start } else { node.key.0 };
        Span::new(start as usize, node.end as usize)
    }

    /// The span of the key of a member, with its quotes.
    pub(crate) fn key_span(self) -> Span {
        let (start, end) = self.node().key;
        Span::new(start as usize, end as usize)
    }

    /// Whether the value is a known object, whose members were read.
    pub(crate) fn is_object(self) -> bool {
        self.node().is_read && self.first() == b'{'
    }

    /// Whether the value is a known list, whose items were read.
    pub(crate) fn is_list(self) -> bool {
        self.node().is_read && self.first() == b'['
    }

    /// Whether the value is null.
    pub(crate) fn is_null(self) -> bool {
        self.first() == b'n'
    }

    /// Whether the value is a string.
    pub(crate) fn is_string(self) -> bool {
        self.first() == b'"'
    }

    /// The member of this name, which has to be one of the object's table. Null counts as absent.
    #[inline(always)]
    pub(crate) fn get(self, name: &str) -> Option<Value<'d>> {
        let mark = mark(name.as_bytes());
        if self.node().marks & 1 << mark == 0 { None } else { self.find(name, mark) }
    }

    #[inline(never)]
    fn find(self, name: &str, mark: u8) -> Option<Value<'d>> {
        let end = self.node().next as usize;
        let mut at = self.at + 1;
        // An object with marks has been read, so that all up to its end is within it.
        while at < end {
            let node = self.nodes.get(at)?;
            let member = Value { at, ..self };
            if node.mark == mark | KNOWN && member.has_name(name) && !member.is_null() {
                return Some(member);
            }
            at = node.next as usize;
        }
        None
    }

    /// The members of a known object, null ones included, in their order.
    pub(crate) fn members(self) -> impl Iterator<Item = (Cow<'d, str>, Value<'d>)> {
        self.all_members().map(|member| (member.key(), member))
    }

    /// The members of a known object whose keys are in its table, null ones included.
    pub(crate) fn known(self) -> impl Iterator<Item = (Cow<'d, str>, Value<'d>)> {
        let known = self.all_members().filter(|member| member.node().mark != 0);
        known.map(|member| (member.key(), member))
    }

    /// The members of a known object whose keys are not in its table, null ones included.
    pub(crate) fn unknown(self) -> impl Iterator<Item = (Cow<'d, str>, Value<'d>)> {
        let unknown = self.all_members().filter(|member| member.node().mark == 0);
        unknown.map(|member| (member.key(), member))
    }

    /// The items of a known list, null ones included; none of any other value.
    pub(crate) fn items(self) -> impl Iterator<Item = Value<'d>> {
        let is_list = self.is_list();
        self.within().filter(move |_| is_list)
    }

    /// The string that the value is; `None` for any other value, and for a string with half a surrogate pair.
    pub(crate) fn string(self) -> Option<Cow<'d, str>> {
        unquote(self.raw())
    }

    /// The string that the value is, or its JSON.
    pub(crate) fn text(self) -> Cow<'d, str> {
        self.string().unwrap_or(Cow::Borrowed(self.raw()))
    }

    /// The string that the member of this name is; `None` for any other value.
    pub(crate) fn word(self, name: &str) -> Option<Cow<'d, str>> {
        self.get(name).and_then(Value::string)
    }

    /// The string that the member of this name is, where it is one and not empty.
    pub(crate) fn name(self, name: &str) -> Option<Text> {
        self.word(name).filter(|text| !text.is_empty()).map(Text::from)
    }

    /// The string that the member of this name has to be, if it is there.
    pub(crate) fn said(self, name: &str) -> Result<Option<Cow<'d, str>>, DecodeError> {
        self.get(name).map(|field| field.expect_string(name)).transpose()
    }

    /// As [`said`](Self::said), where the string is not empty.
    pub(crate) fn filled(self, name: &str) -> Result<Option<Text>, DecodeError> {
        Ok(self.said(name)?.filter(|text| !text.is_empty()).map(Text::from))
    }

    /// The id that the member of this name is; some servers write an absent id as the string `"null"`.
    pub(crate) fn id(self, name: &str) -> Result<Option<Text>, DecodeError> {
        Ok(self.filled(name)?.filter(|id| &**id != "null"))
    }

    /// The string that the value of this field has to be.
    pub(crate) fn expect_string(self, field: &str) -> Result<Cow<'d, str>, DecodeError> {
        self.string().ok_or_else(|| DecodeError::new(format!("a string as `{field}`"), self.describe()))
    }

    /// The value, which has to be a known object.
    pub(crate) fn expect_object(self, field: &str) -> Result<Self, DecodeError> {
        match self.is_object() {
            true => Ok(self),
            false => Err(DecodeError::new(format!("an object as `{field}`"), self.describe())),
        }
    }

    /// The items of the value, which has to be a list.
    pub(crate) fn expect_items(self, field: &str) -> Result<impl Iterator<Item = Value<'d>>, DecodeError> {
        match self.is_list() {
            true => Ok(self.items()),
            false => Err(DecodeError::new(format!("a list as `{field}`"), self.describe())),
        }
    }

    /// The type of the value, for errors, which quote nothing of the stream.
    pub(crate) fn describe(self) -> &'static str {
        match self.first() {
            b'{' => "an object",
            b'[' => "a list",
            b'"' => "a string",
            b't' | b'f' => "a truth value",
            b'n' => "null",
            _ => "a number",
        }
    }

    fn all_members(self) -> impl Iterator<Item = Value<'d>> {
        let is_object = self.is_object();
        self.within().filter(move |_| is_object)
    }

    /// The members of a known object, or the items of a known list.
    pub(super) fn within(self) -> impl Iterator<Item = Value<'d>> {
        let node = self.node();
        let end = if node.is_read { node.next as usize } else { self.at + 1 };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            let value = Value { at, ..self };
            (at < end).then(|| {
                at = value.node().next as usize;
                value
            })
        })
    }

    fn has_name(self, name: &str) -> bool {
        let (start, end) = self.node().key;
        let key = &self.text.as_bytes()[start as usize + 1..end as usize - 1];
        // A key with an escape is longer than its name.
        key == name.as_bytes() || (key.len() > name.len() && self.key() == name)
    }

    /// The key of a member, without its quotes and escapes.
    fn key(self) -> Cow<'d, str> {
        let (start, end) = self.node().key;
        unquote(&self.text[start as usize..end as usize]).unwrap_or_default()
    }

    fn node(self) -> &'d SpanNode {
        &self.nodes[self.at]
    }

    fn first(self) -> u8 {
        self.text.as_bytes()[self.node().start as usize]
    }
}

/// The text of bytes, which have to be UTF-8.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, DecodeError> {
    std::str::from_utf8(bytes).map_err(|error| DecodeError::new("UTF-8", error.to_string()))
}

/// The string that a JSON value is, borrowed where it has no escape; `None` for any other value.
pub(crate) fn unquote(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    match memchr(b'\\', inner.as_bytes()) {
        None => Some(Cow::Borrowed(inner)),
        Some(_) => serde_json::from_str(raw).ok().map(Cow::Owned),
    }
}

/// Whether a JSON value is null or an empty container.
pub(crate) fn is_void(raw: &str) -> bool {
    raw == "null"
        || matches!(raw.as_bytes(), [b'{', inner @ .., b'}'] | [b'[', inner @ .., b']']
            if inner.trim_ascii().is_empty())
}
