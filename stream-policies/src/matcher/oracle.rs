//! What is found in a whole text, by another engine and by the book.

use std::ops::Range;

use regex::Regex;

use super::context::Context;
use super::pattern::What;
use super::{Hit, Matcher, OVER_LIMIT, Pattern, Patterns};

/// Patterns, and the regexes that say what is to be found of them.
pub(crate) struct Oracle(Vec<(Pattern, Regex)>);

impl Oracle {
    pub(crate) fn new(patterns: &[Pattern]) -> Self {
        let regex = |pattern: &Pattern| {
            let source = source(pattern);
            let source = if pattern.preset { format!(r"\A(?:{source})") } else { source };
            (pattern.clone(), Regex::new(&source).expect("a regex"))
        };
        Self(patterns.iter().map(regex).collect())
    }

    /// The matches of each pattern, joined where they overlap.
    pub(crate) fn find(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        for (rule, (pattern, regex)) in self.0.iter().enumerate() {
            let ranges =
                if pattern.preset { preset(pattern, regex, text) } else { plain(pattern, regex, text) };
            found.extend(ranges.into_iter().map(|range| (rule, range)));
        }
        joined(found)
    }
}

/// The leftmost match, then the leftmost behind its end. Every occurrence of a literal counts, also those that overlap.
fn plain(pattern: &Pattern, regex: &Regex, text: &str) -> Vec<Range<usize>> {
    let is_literal = matches!(pattern.what, What::Literal { .. });
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(range) = regex.find_at(text, from).map(|found| found.range()) {
        let first = text[range.start..].chars().next().map_or(1, char::len_utf8);
        from = if is_literal { range.start + first } else { range.end };
        found.push(range);
    }
    found
}

/// From each place where a match of a preset may start.
fn preset(pattern: &Pattern, regex: &Regex, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut context = Context::Start;
    let mut from = 0;
    for (start, byte) in text.bytes().enumerate() {
        let here = start >= from && text.is_char_boundary(start) && pattern.lead.allows(context);
        context = context.then(byte);
        let range = here.then(|| regex.find(&text[start..])).flatten();
        let counts = range.and_then(|found| match pattern.check {
            Some(check) => check(found.as_str()),
            None => Some(found.range()),
        });
        if let Some(counts) = counts {
            found.push(start + counts.start..start + counts.end);
            from = start + counts.end;
        }
    }
    found
}

pub(crate) fn source(pattern: &Pattern) -> String {
    match &pattern.what {
        What::Regex(regex) => regex.clone(),
        What::Literal { text, ignore_case: false } => regex::escape(text),
        What::Literal { text, ignore_case: true } => format!("(?i-u:{})", regex::escape(text)),
    }
}

/// What hits are about, joined where they overlap.
pub(crate) fn spans(hits: &[Hit]) -> Vec<(usize, Range<usize>)> {
    joined(hits.iter().map(|hit| (hit.rule, hit.start..hit.end)).collect())
}

fn joined(mut found: Vec<(usize, Range<usize>)>) -> Vec<(usize, Range<usize>)> {
    found.sort_by_key(|(rule, range)| (range.start, *rule));
    let mut joined: Vec<(usize, Range<usize>)> = Vec::new();
    for (rule, range) in found {
        match joined.last_mut() {
            Some((_, last)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push((rule, range)),
        }
    }
    joined
}

/// Pushes a text cut at these places, and checks after each piece that what is said to be decided is.
pub(crate) fn streamed(patterns: &Patterns, text: &str, cuts: &[usize], limit: usize) -> (Vec<Hit>, Matcher) {
    let mut matcher = Matcher::new(patterns.clone(), limit);
    let mut hits = Vec::new();
    let mut decided = Vec::new();
    for piece in pieces(text, cuts) {
        matcher.push(piece, &mut hits);
        decided.push((matcher.decided(), hits.len()));
    }
    matcher.finish(&mut hits);
    for (until, known) in decided {
        let late = hits[known..].iter().find(|hit| hit.start < until && hit.rule != OVER_LIMIT);
        assert_eq!(late, None, "decided up to {until} of {text:?}");
    }
    (hits, matcher)
}

fn pieces<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.retain(|cut| text.is_char_boundary(*cut));
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect()
}
