//! Arguments of calls: matched string by string, as the tool will read them.

use std::borrow::Cow;

use crate::matcher::{Hit, Patterns};

/// What became of arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Redacted {
    /// Nothing was found.
    Clean,
    /// The arguments without what was found in them, still JSON; the rules that found something, in order.
    Changed { arguments: String, rules: Vec<usize> },
    /// Something was found in what is no JSON: there is no telling what a tool would read.
    Unreadable { rules: Vec<usize> },
}

/// Looks for patterns in every key and value.
///
/// Strings are matched decoded, so that no escape hides anything, and written anew only if something was found in them.
/// A number in which something is found becomes a string.
pub(super) fn redact(arguments: &str, patterns: &Patterns, put: impl Fn(&Hit) -> String) -> Redacted {
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
    let mut rules = Vec::new();
    let mut out = String::new();
    let mut copied = 0;
    for token in tokens(arguments) {
        let hits = patterns.find_all(&token.text);
        let text = if hits.is_empty() {
            // What is found only behind more escapes has no place of its own: all of the string goes.
            let Some(hit) = escaped_again(&token.text, patterns) else { continue };
            rules.push(hit.rule);
            put(&hit)
        } else {
            rules.extend(hits.iter().map(|hit| hit.rule));
            replaced(&token.text, &hits, &put)
        };
        out.push_str(&arguments[copied..token.start]);
        copied = token.end;
        out.push_str(&serde_json::Value::from(text).to_string());
    }
    if is_json {
        if rules.is_empty() {
            return Redacted::Clean;
        }
        out.push_str(&arguments[copied..]);
        return Redacted::Changed { arguments: out, rules };
    }
    rules.extend(patterns.find_all(arguments).iter().map(|hit| hit.rule));
    if rules.is_empty() { Redacted::Clean } else { Redacted::Unreadable { rules } }
}

/// What is found in a string once escapes in what it says are resolved too, as in JSON that is written into a string.
pub(super) fn escaped_again(text: &str, patterns: &Patterns) -> Option<Hit> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MOST_ESCAPES {
        if !text.contains('\\') {
            return None;
        }
        text = Cow::Owned(decode(&text));
        if let Some(hit) = patterns.find_all(&text).into_iter().next() {
            return Some(hit);
        }
    }
    None
}

/// How often JSON may be written into a string of JSON: each time the text that hides something doubles.
const MOST_ESCAPES: usize = 8;

/// A text without what was found in it.
pub(super) fn replaced(text: &str, hits: &[Hit], put: impl Fn(&Hit) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for hit in hits {
        out.push_str(&text[at..hit.start]);
        out.push_str(&put(hit));
        at = hit.end;
    }
    out.push_str(&text[at..]);
    out
}

/// A string, or a number: where it stands, and what it says.
struct StringToken {
    start: usize,
    end: usize,
    text: String,
}

/// The strings and numbers of a JSON text. In what is no JSON it still finds everything between quotes.
fn tokens(json: &str) -> impl Iterator<Item = StringToken> + '_ {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            match bytes[at] {
                b'"' => {
                    at = end_of_string(bytes, at);
                    return Some(StringToken { start, end: at, text: decode(&json[start + 1..at]) });
                }
                b'-' | b'0'..=b'9' => {
                    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    at += bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                    return Some(StringToken { start, end: at, text: json[start..at].to_owned() });
                }
                _ => at += 1,
            }
        }
        None
    })
}

/// Behind the closing quote of the string that opens at `start`, or the end of the text.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// What a string says: its escapes resolved, as far as they are any. `quoted` may end with its quote.
fn decode(quoted: &str) -> String {
    let mut out = String::with_capacity(quoted.len());
    let mut rest = quoted.strip_suffix('"').unwrap_or(quoted);
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        rest = match chars.next() {
            Some('u') => decode_unicode(after, &mut out),
            Some(escaped) => {
                out.push(match escaped {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    other => other,
                });
                chars.as_str()
            }
            None => "",
        };
    }
    out.push_str(rest);
    out
}

/// Decodes `uXXXX`, and the second half of a pair; what is no character becomes U+FFFD.
fn decode_unicode<'a>(escape: &'a str, out: &mut String) -> &'a str {
    let unit =
        |text: &str| text.strip_prefix('u')?.get(..4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
    let Some(first) = unit(escape) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return &escape[1..];
    };
    let rest = &escape[5..];
    let second = rest.strip_prefix('\\').and_then(unit).filter(|low| (0xDC00..0xE000).contains(low));
    match (first, second) {
        (0xD800..0xDC00, Some(low)) => {
            out.extend(char::decode_utf16([first, low]).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
            &rest[6..]
        }
        _ => {
            out.push(char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER));
            rest
        }
    }
}
