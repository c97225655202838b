//! Tagged parameters: `<parameter=key>value</parameter>`, as often as there are any, then the call's closer.

use std::collections::HashSet;
use std::ops::Range;

use memchr::memchr;

use super::dialect::Parameters;
use super::event::ProblemKind;
use super::json::Progress;
use super::template::{Match, Matcher, Piece, Template};

/// A resumable reader of tagged parameters. Positions are in the text it is given, which only ever grows.
#[derive(Debug, Clone)]
pub(super) struct Tagged {
    state: State,
    /// Where the parameter that is being read opened.
    opened: usize,
    /// Where the last parameter ended.
    reached: usize,
    key: Range<usize>,
    is_string: Option<bool>,
    keys: HashSet<Vec<u8>>,
    pub(super) found: Vec<Parameter>,
    /// Where the first tag behind the opening ended.
    pub(super) confirmed: Option<usize>,
    /// Where the body ends and the closer begins.
    pub(super) body_end: usize,
}

/// A parameter as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
    /// Where the markup says whether the value is a string or JSON.
    pub(super) is_string: Option<bool>,
}

#[derive(Debug, Clone)]
enum State {
    /// The next parameter or the call's closer.
    Between { open: Option<Matcher>, close: Option<Matcher> },
    /// A value, searched for its closer up to here.
    Value { from: usize, pos: usize, close: Option<Matcher> },
}

impl Tagged {
    pub(super) fn at(pos: usize) -> Self {
        Self {
            state: State::between(pos),
            opened: pos,
            reached: pos,
            key: pos..pos,
            is_string: None,
            keys: HashSet::new(),
            found: Vec::new(),
            confirmed: None,
            body_end: pos,
        }
    }

    /// Reads on, to the end of the call's closer.
    pub(super) fn run(&mut self, parameters: &Parameters, closer: &Template, text: &[u8]) -> Progress {
        loop {
            match &mut self.state {
                State::Between { open, close } => {
                    let opened = step(open, &parameters.open, text);
                    let closed = step(close, closer, text);
                    if let Some(Match::Done(end)) = opened
                        && let Some(matcher) = open
                    {
                        self.opened = matcher.call.unwrap_or(end);
                        self.key = matcher.key.clone().unwrap_or(end..end);
                        self.is_string = matcher.is_string.clone().map(|range| &text[range] != b"false");
                        self.confirmed.get_or_insert(end);
                        self.state = State::Value { from: end, pos: end, close: None };
                    } else if let Some(Match::Done(end)) = closed {
                        self.confirmed.get_or_insert(end);
                        self.body_end = close.as_ref().and_then(|matcher| matcher.call).unwrap_or(end);
                        return Progress::End(end);
                    } else if open.is_none() && close.is_none() {
                        let fail = |found: Option<Match>| match found {
                            Some(Match::Fail(at)) => at,
                            _ => 0,
                        };
                        let at = fail(opened).max(fail(closed));
                        return Progress::Fail { end: at, at, kind: ProblemKind::UnclosedCall };
                    } else {
                        return Progress::More;
                    }
                }
                State::Value { from, pos, close } => {
                    let Some(end) = find(&parameters.close, text, pos, close) else { return Progress::More };
                    let value = *from..end.start;
                    let key = self.key.clone();
                    if !self.keys.insert(text[key.clone()].to_vec()) {
                        let kind = ProblemKind::RepeatedKey;
                        return Progress::Fail { end: end.end, at: self.opened, kind };
                    }
                    self.found.push(Parameter { key, value, is_string: self.is_string });
                    self.reached = end.end;
                    self.state = State::between(end.end);
                }
            }
        }
    }

    /// The values of the parameters.
    pub(super) fn values(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.found.iter().map(|parameter| parameter.value.clone())
    }

    /// The key of the parameter that stands at a place, or is being read there.
    pub(super) fn parameter_at(&self, at: usize) -> Option<Range<usize>> {
        let is_here = |parameter: &&Parameter| (parameter.key.start..=parameter.value.end).contains(&at);
        let found = self.found.iter().find(is_here).map(|parameter| parameter.key.clone());
        let is_open = matches!(self.state, State::Value { .. }) && at >= self.opened;
        found.or_else(|| is_open.then(|| self.key.clone())).filter(|key| !key.is_empty())
    }

    /// Where the tag that is being read, or was read last, begins.
    pub(super) fn reached(&self) -> usize {
        self.reached
    }

    /// What is missing at the end of the text.
    pub(super) fn missing(&self) -> Option<(usize, ProblemKind)> {
        match self.state {
            State::Value { .. } => Some((self.opened, ProblemKind::UnclosedParameter)),
            State::Between { .. } => None,
        }
    }
}

impl State {
    fn between(pos: usize) -> Self {
        Self::Between { open: Some(Matcher::at(pos)), close: Some(Matcher::at(pos)) }
    }
}

/// The pattern of something that stands behind white space, whose own begin is then known.
pub(super) fn after_space(template: &Template) -> Template {
    Template::new("{~}").ends_lead().then(template)
}

/// Runs a matcher that has not failed; takes it away when it does.
fn step(slot: &mut Option<Matcher>, template: &Template, text: &[u8]) -> Option<Match> {
    let found = slot.as_mut()?.run(template, text, false);
    if let Match::Fail(_) = found {
        *slot = None;
    }
    Some(found)
}

/// Whether a tag stands in a text.
pub(super) fn occurs(tag: &Template, text: &[u8]) -> bool {
    find(tag, text, &mut 0, &mut None).is_some()
}

/// Searches a closer, from `pos` on. What was searched is not searched again.
fn find(
    template: &Template,
    text: &[u8],
    pos: &mut usize,
    under_way: &mut Option<Matcher>,
) -> Option<Range<usize>> {
    loop {
        if under_way.is_none() {
            let Some(Piece::Literal { any, .. }) = template.pieces.first() else { return None };
            let first = any[0].as_bytes()[0];
            match memchr(first, &text[*pos..]) {
                Some(at) => *pos += at,
                None => {
                    *pos = text.len();
                    return None;
                }
            }
            *under_way = Some(Matcher::at(*pos));
        }
        match under_way.as_mut()?.run(template, text, false) {
            Match::More => return None,
            Match::Done(end) => return Some(*pos..end),
            Match::Fail(_) => {
                *under_way = None;
                *pos += 1;
            }
        }
    }
}
