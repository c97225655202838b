//! The strings of one document.

use std::borrow::Cow;

use super::{Known, Scrub, logprobs};
use crate::json::{self, quote};

/// The document with other strings in place of those that are changed; `None` if all stay. Every other byte stays.
///
/// What `document` begins and ends with as `last` does was searched before.
pub(super) fn scrub(
    document: &str,
    last: &[u8],
    known: &Known<'_>,
    scrub: &dyn Scrub,
    reason: &mut Option<String>,
) -> Option<String> {
    let bytes = document.as_bytes();
    let begins = bytes.iter().zip(last).take_while(|(a, b)| a == b).count();
    let shorter = bytes.len().min(last.len()) - begins;
    let ends = bytes.iter().rev().zip(last.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    let ends = bytes.len() - ends;
    let mut values = known.values();
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    let mut put = |start: usize, end: usize, new: &str| {
        out.push_str(&document[copied..start]);
        out.push_str(new);
        copied = end;
    };
    let mut is_changed = false;
    let mut key: &str = "";
    while at < bytes.len() {
        let start = at;
        let text = match bytes[at] {
            b'"' => {
                at = end_of_string(bytes, at);
                let inner = document.get(start + 1..at - 1).unwrap_or_default();
                let is_key = document[at..].trim_ascii_start().starts_with(':');
                let is_word = is_key || WORDS.contains(&key);
                key = if is_key { inner } else { "" };
                if is_word && super::is_word(inner) && !matches!(inner, "logprobs" | "logprobsResult") {
                    continue;
                }
                if inner.contains('\\') {
                    json::unquote(&document[start..at]).map_or(Cow::Borrowed(inner), Cow::Owned)
                } else {
                    Cow::Borrowed(inner)
                }
            }
            b'-' | b'0'..=b'9' => {
                at = end_of_number(bytes, at);
                // A fraction that looks like a number of some kind is none.
                match &document[start..at] {
                    whole if whole.len() > SHORTEST && whole.bytes().all(|byte| byte.is_ascii_digit()) => {
                        Cow::Borrowed(whole)
                    }
                    _ => continue,
                }
            }
            b'{' | b'[' => {
                at += values.at(&document[at..]).unwrap_or(1);
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
            put(from, end, "null");
            is_changed = true;
            *reason = reason.take().or(found.reason);
            at = end;
            continue;
        }
        if at <= begins || start >= ends || text.is_empty() {
            continue;
        }
        if known.is_text(&text) {
            values.pass(&text);
            continue;
        }
        if let Some(found) = scrub.scrub(&text) {
            put(start, at, &quote(found.body()));
            is_changed = true;
            *reason = reason.take().or(found.reason);
        }
    }
    if !is_changed {
        return None;
    }
    put(document.len(), document.len(), "");
    Some(out)
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

/// Keys whose values are words of the protocol, without which nobody could read the frame.
const WORDS: [&str; 8] =
    ["type", "object", "role", "status", "finish_reason", "stop_reason", "finishReason", "blockReason"];
