//! The strings of one document.

use std::borrow::Cow;

use super::{Scrub, ShownTexts, logprobs, words};
use crate::json::{self, quote};

/// What a search of a document found.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    /// Strings that no block shows, and what stands in their place.
    changes: Vec<Change>,
    /// Strings and values that say what a block shows: one of them is the block's own, others may stand beside it.
    doubtful: Vec<Change>,
    document: &'a str,
    /// Why, as the policy said.
    pub(super) reason: Option<String>,
}

/// A stretch of a document, and what stands in its place.
#[derive(Debug)]
struct Change {
    start: usize,
    end: usize,
    new: String,
}

impl Found<'_> {
    /// Puts something else in the place of a string, whatever was found there before.
    pub(super) fn change(&mut self, start: usize, end: usize, new: String, reason: Option<String>) {
        self.changes.retain(|change| change.start != start);
        self.doubtful.retain(|change| change.start != start);
        self.changes.push(Change { start, end, new });
        self.reason = self.reason.take().or(reason);
    }

    /// Whether nothing was found, not even in what blocks show.
    pub(super) fn is_nothing(&self) -> bool {
        self.changes.is_empty() && self.doubtful.is_empty()
    }

    /// The document with other strings in place of those that are changed; `None` if all stay. Every other byte stays.
    ///
    /// `shown` reads the document once more with another text in each place that is in doubt, and answers whether a block
    /// shows that text: a block's own text is the policy's, which sees it over all pieces that it comes in.
    pub(super) fn changed(
        mut self,
        known: &ShownTexts<'_>,
        shown: impl FnOnce(&str) -> Shown,
    ) -> Option<String> {
        if !self.doubtful.is_empty() {
            let absent = known.absent();
            let markers: Vec<String> =
                (0..self.doubtful.len()).map(|number| format!("{absent}{number}.")).collect();
            let marks = self.doubtful.iter().zip(&markers).map(|(doubt, marker)| {
                match self.document.as_bytes()[doubt.start] {
                    b'{' => format!("{{\"{marker}\":0}}"),
                    b'[' => format!("[\"{marker}\"]"),
                    _ => format!("\"{marker}\""),
                }
            });
            let marks: Vec<String> = marks.collect();
            let spans = self.doubtful.iter().map(|doubt| (doubt.start, doubt.end));
            let marked = replaced(self.document, spans.zip(marks.iter().map(String::as_str)));
            let shown = shown(&marked);
            for ((doubt, mark), marker) in self.doubtful.into_iter().zip(&marks).zip(&markers) {
                if !shown.contains(marker) && !shown.contains(mark) {
                    self.changes.push(doubt);
                }
            }
        }
        if self.changes.is_empty() {
            return None;
        }
        self.changes.sort_by_key(|change| change.start);
        let changes = self.changes.iter().map(|change| ((change.start, change.end), &*change.new));
        Some(replaced(self.document, changes))
    }
}

/// The texts that a reading shows.
pub(super) type Shown = std::collections::HashSet<String>;

/// A document with other bytes in these places, in their order. Of several in one place the first counts.
fn replaced<'a>(document: &str, changes: impl Iterator<Item = ((usize, usize), &'a str)>) -> String {
    let (mut out, mut copied) = (String::new(), 0);
    for ((start, end), new) in changes {
        if start < copied {
            continue;
        }
        out.push_str(&document[copied..start]);
        out.push_str(new);
        copied = end;
    }
    out.push_str(&document[copied..]);
    out
}

/// Searches the strings of a document.
///
/// What `document` begins and ends with as `last` does was searched before.
pub(super) fn search<'a>(
    document: &'a str,
    last: &[u8],
    known: &ShownTexts<'_>,
    scrub: &dyn Scrub,
) -> Found<'a> {
    let bytes = document.as_bytes();
    let begins = bytes.iter().zip(last).take_while(|(a, b)| a == b).count();
    let shorter = bytes.len().min(last.len()) - begins;
    let ends = bytes.iter().rev().zip(last.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    let ends = bytes.len() - ends;
    let mut values = known.values();
    let mut all = Found { document, ..Found::default() };
    let mut at = 0;
    let (mut key, mut key_start) = ("", 0);
    while at < bytes.len() {
        let start = at;
        // Where what decides over this string starts: the key before it may make it a word of the protocol.
        let mut decides = start;
        let text = match bytes[at] {
            b'"' => {
                at = end_of_string(bytes, at);
                let inner = document.get(start + 1..at - 1).unwrap_or_default();
                let is_key = document[at..].trim_ascii_start().starts_with(':');
                if !is_key && !key.is_empty() {
                    decides = key_start;
                }
                let is_known = || at <= begins || decides >= ends || words::is_known(inner);
                let is_word = is_key || (WORDS.contains(&key) && is_known());
                (key, key_start) = if is_key { (inner, start) } else { ("", start) };
                if is_word && super::is_word(inner) && !matches!(inner, "logprobs" | "logprobsResult") {
                    continue;
                }
                string_of(inner, || &document[start..at])
            }
            b'-' | b'0'..=b'9' => {
                at = end_of_number(bytes, at);
                match &document[start..at] {
                    number if is_searched(number) => Cow::Borrowed(number),
                    _ => continue,
                }
            }
            b'{' | b'[' => {
                let Some(length) = values.at(&document[at..]) else {
                    at += 1;
                    continue;
                };
                at += length;
                let inner = search(&document[start..at], &[], &ShownTexts::default(), scrub);
                let reason = inner.reason.clone();
                if let Some(new) = inner.changed(known, |_| Shown::default()) {
                    all.reason = all.reason.take().or(reason);
                    all.doubtful.push(Change { start, end: at, new });
                }
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        if matches!(&*text, "logprobs" | "logprobsResult")
            && let Some((from, end)) = logprobs::value(document, at)
            && let Some(found) = scrub.scrub(&logprobs::spelled(&document[from..end]))
        {
            all.changes.push(Change { start: from, end, new: "null".to_owned() });
            all.reason = all.reason.take().or(found.reason);
            at = end;
            continue;
        }
        if at <= begins || decides >= ends || text.is_empty() {
            continue;
        }
        let is_shown = known.is_text(&text);
        if is_shown {
            values.pass(&text);
        }
        if let Some(found) = scrub.scrub(&text) {
            let change = Change { start, end: at, new: quote(found.body()) };
            if is_shown {
                all.doubtful.push(change);
            } else {
                all.changes.push(change);
            }
            all.reason = all.reason.take().or(found.reason);
        }
    }
    all
}

/// What a string says that has this between its quotes.
pub(super) fn string_of<Q: AsRef<str>>(inner: &str, quoted: impl FnOnce() -> Q) -> Cow<'_, str> {
    match inner.contains('\\') {
        true => json::unquote(quoted().as_ref()).map_or(Cow::Borrowed(inner), Cow::Owned),
        false => Cow::Borrowed(inner),
    }
}

/// Whether a number is long enough to be searched. A fraction that looks like a number of some kind is none.
pub(super) fn is_searched(number: &str) -> bool {
    number.len() > SHORTEST && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    start + bytes[start..].iter().take_while(is_part).count()
}

/// Whole numbers up to this many digits count something.
const SHORTEST: usize = 11;

/// Keys whose values are words of the protocol.
const WORDS: [&str; 8] =
    ["type", "object", "role", "status", "finish_reason", "stop_reason", "finishReason", "blockReason"];
