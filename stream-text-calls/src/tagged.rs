//! Tagged parameters: `<parameter=key>value</parameter>`, as often as there are any, then the call's closer.

use std::collections::HashSet;
use std::ops::Range;

use memchr::memchr;

use crate::dialect::Parameters;
use crate::event::ProblemKind;
use crate::json::Progress;
use crate::matcher::{Match, Matcher};
use crate::template::Template;
use crate::xml::{self, XmlSection};

/// A resumable reader of tagged parameters. Positions are in the text it is given, which only ever grows.
#[derive(Debug, Clone)]
pub(crate) struct Tagged {
    state: Awaited,
    /// Where the parameter that is being read opened.
    opened: usize,
    /// Where the last parameter ended.
    reached: usize,
    key: Range<usize>,
    is_string: Option<bool>,
    keys: HashSet<String>,
    is_xml: bool,
    pub(crate) found: Vec<Parameter>,
    /// Where the first tag behind the opening ended.
    pub(crate) confirmed: Option<usize>,
    /// Where the body ends and the closer begins.
    pub(crate) body_end: usize,
}

/// A parameter as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) key: Range<usize>,
    pub(crate) value: Range<usize>,
    /// Where the markup says whether the value is a string or JSON.
    pub(crate) is_string: Option<bool>,
}

#[derive(Debug, Clone)]
enum Awaited {
    /// The next parameter or the call's closer.
    Between {
        open: Option<Matcher>,
        close: Option<Matcher>,
    },
    Value(Value),
}

/// A value, searched for its closer.
#[derive(Debug, Clone)]
struct Value {
    from: usize,
    /// How far it was searched.
    pos: usize,
    close: Option<Matcher>,
    /// A tag of the same name that may open here.
    open: Option<Matcher>,
    /// How many elements of the same name are open in it.
    depth: usize,
    section: Option<XmlSection>,
}

impl Value {
    fn at(from: usize) -> Self {
        Self { from, pos: from, close: None, open: None, depth: 0, section: None }
    }

    /// Where the first closer stands.
    fn end(&mut self, parameters: &Parameters, text: &[u8]) -> Option<Range<usize>> {
        find(&parameters.close, text, &mut self.pos, &mut self.close)
    }

    /// Where the closer of this element stands: elements of the same name, CDATA sections and comments are passed over.
    fn element(&mut self, parameters: &Parameters, text: &[u8]) -> Option<Range<usize>> {
        loop {
            if let Some(section) = self.section {
                self.pos = xml::section_end(section, text, &mut self.pos)?;
                self.section = None;
            }
            if self.close.is_none() && self.open.is_none() {
                match memchr(b'<', &text[self.pos..]) {
                    Some(at) => self.pos += at,
                    None => {
                        self.pos = text.len();
                        return None;
                    }
                }
                if let Some((section, inside)) = xml::section_at(text, self.pos)? {
                    self.section = Some(section);
                    self.pos = inside;
                    continue;
                }
                self.close = Some(Matcher::at(self.pos));
                self.open = Some(Matcher::at(self.pos));
            }
            let closed = step(&mut self.close, &parameters.close, text);
            let opened = step(&mut self.open, &parameters.open, text);
            let start = self.pos;
            match (closed, opened) {
                (Some(Match::Done(end)), _) => {
                    (self.close, self.open, self.pos) = (None, None, end);
                    match self.depth.checked_sub(1) {
                        Some(depth) => self.depth = depth,
                        None => return Some(start..end),
                    }
                }
                (_, Some(Match::Done(end))) => {
                    let is_empty = self.open.as_ref().is_some_and(|open| open.is_empty);
                    self.depth += usize::from(!is_empty);
                    (self.close, self.open, self.pos) = (None, None, end);
                }
                _ if self.close.is_some() || self.open.is_some() => return None,
                _ => self.pos += 1,
            }
        }
    }
}

impl Tagged {
    pub(crate) fn at(pos: usize) -> Self {
        Self {
            state: Awaited::between(pos),
            opened: pos,
            reached: pos,
            key: pos..pos,
            is_string: None,
            keys: HashSet::new(),
            is_xml: false,
            found: Vec::new(),
            confirmed: None,
            body_end: pos,
        }
    }

    /// Reads on, to the end of the call's closer.
    pub(crate) fn run(&mut self, parameters: &Parameters, closer: &Template, text: &[u8]) -> Progress {
        loop {
            match &mut self.state {
                Awaited::Between { open, close } => {
                    let opened = step(open, &parameters.next, text);
                    let closed = step(close, closer, text);
                    if let Some(Match::Done(end)) = opened
                        && let Some(matcher) = open
                    {
                        self.opened = matcher.call.unwrap_or(end);
                        self.key = matcher.key.clone().unwrap_or(end..end);
                        self.is_string = matcher.is_string.clone().map(|range| &text[range] != b"false");
                        self.confirmed.get_or_insert(end);
                        self.is_xml = matcher.is_xml;
                        if let Some((at, kind)) = matcher.problem.take() {
                            return Progress::Fail { end, at, kind };
                        }
                        let is_empty = matcher.is_empty;
                        self.state = Awaited::Value(Value::at(end));
                        if is_empty && let Some(fail) = self.value_ends(text, end..end, end) {
                            return fail;
                        }
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
                Awaited::Value(value) => {
                    let found = if self.is_xml {
                        value.element(parameters, text)
                    } else {
                        value.end(parameters, text)
                    };
                    let Some(end) = found else { return Progress::More };
                    let value = value.from..end.start;
                    if let Some(fail) = self.value_ends(text, value, end.end) {
                        return fail;
                    }
                }
            }
        }
    }

    /// A value was read, and the tag behind it.
    fn value_ends(&mut self, text: &[u8], value: Range<usize>, end: usize) -> Option<Progress> {
        let key = self.key.clone();
        let said = String::from_utf8_lossy(&text[key.clone()]);
        let said = if self.is_xml { xml::decode(&said) } else { said.as_ref().into() };
        if !self.keys.insert(said.into_owned()) {
            return Some(Progress::Fail { end, at: self.opened, kind: ProblemKind::RepeatedKey });
        }
        self.found.push(Parameter { key, value, is_string: self.is_string });
        self.reached = end;
        self.state = Awaited::between(end);
        None
    }

    /// The values of the parameters.
    pub(crate) fn values(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.found.iter().map(|parameter| parameter.value.clone())
    }

    /// The key of the parameter that stands at a place, or is being read there.
    pub(crate) fn parameter_at(&self, at: usize) -> Option<Range<usize>> {
        let is_here = |parameter: &&Parameter| (parameter.key.start..=parameter.value.end).contains(&at);
        let found = self.found.iter().find(is_here).map(|parameter| parameter.key.clone());
        let is_open = matches!(self.state, Awaited::Value(_)) && at >= self.opened;
        found.or_else(|| is_open.then(|| self.key.clone())).filter(|key| !key.is_empty())
    }

    /// Where the tag that is being read, or was read last, begins.
    pub(crate) fn reached(&self) -> usize {
        self.reached
    }

    /// Where something begins that may be no part of the call.
    pub(crate) fn unsure(&self) -> Option<usize> {
        match &self.state {
            Awaited::Between { open, close } => {
                [open, close].into_iter().flatten().filter_map(|matcher| matcher.unsure).min()
            }
            // A tag of the same name may turn out to be none, and the closer to stand in its quotes.
            Awaited::Value(value) => value.open.is_some().then_some(value.pos),
        }
    }

    /// What is missing at the end of the text.
    pub(crate) fn missing(&self) -> Option<(usize, ProblemKind)> {
        match self.state {
            Awaited::Value(_) => Some((self.opened, ProblemKind::UnclosedParameter)),
            Awaited::Between { .. } => None,
        }
    }
}

impl Awaited {
    fn between(pos: usize) -> Self {
        Self::Between { open: Some(Matcher::at(pos)), close: Some(Matcher::at(pos)) }
    }
}

/// The pattern of something that stands behind white space, whose own begin is then known.
pub(crate) fn behind(space: &Template, template: &Template) -> Template {
    space.clone().ends_lead().then(template)
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
pub(crate) fn occurs(tag: &Template, text: &[u8]) -> bool {
    first(tag, text).is_some()
}

/// Where the first of these patterns stands in a text.
pub(crate) fn first(template: &Template, text: &[u8]) -> Option<Range<usize>> {
    find(template, text, &mut 0, &mut None)
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
            let first = *template.first_bytes().first()?;
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
