//! One candidate: a call, a wrapper's end or a reasoning tag that may stand at one place of the text.

use std::ops::Range;

use crate::dialect::Body;
use crate::event::ProblemKind;
use crate::json::{Object, Progress, decode};
use crate::loose::{self, Loose};
use crate::matcher::{Match, Matcher};
use crate::options::ScanOptions;
use crate::plan::{Kind, Mark, Plan};
use crate::python::{self, Python};
use crate::schema::{Schemas, push_string};
use crate::set::Plans;
use crate::space::{Space, space_at};
use crate::tagged::{Tagged, first, occurs};
use crate::template::{Piece, Template};
use crate::xml;

/// What may stand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// The first call of a dialect, with everything before it.
    First { plan: usize, opener: usize },
    /// Another call of a wrapper or list.
    Next { plan: usize, call: usize, kind: Kind },
    /// The end of a wrapper or list.
    Close { plan: usize, close: usize, kind: Kind },
    /// The end of what a marker opened that was no call itself.
    Leave(usize),
    /// A reasoning tag opens.
    Think(usize),
    /// A reasoning tag closes.
    Thought(usize),
}

/// A candidate under way. Positions are in the text it is given, which begins where the candidate does and only ever
/// grows.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) unit: Unit,
    lead: Matcher,
    payload: Option<Payload>,
    tail: Option<Matcher>,
    /// Where the tags before the body end.
    head: usize,
    /// Where the body ends.
    body_end: usize,
    /// The byte behind those that decided that it is one.
    pub(crate) confirmed: Option<usize>,
    pub(crate) outcome: Option<Outcome>,
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It ended before this byte.
    Done(usize),
    /// It stops being one before `end`; what is wrong shows at `at`.
    Fail { end: usize, at: usize, kind: ProblemKind },
}

#[derive(Debug, Clone)]
enum Payload {
    Object(Object),
    Arguments(Object),
    Tagged(Box<Tagged>),
    Python(Python),
    Loose(Loose),
}

impl Machine {
    pub(crate) fn new(unit: Unit) -> Self {
        Self {
            unit,
            lead: Matcher::at(0),
            payload: None,
            tail: None,
            head: 0,
            body_end: 0,
            confirmed: None,
            outcome: None,
        }
    }

    /// Reads on.
    pub(crate) fn run(&mut self, plans: &Plans, text: &[u8], ended: bool, options: &ScanOptions) {
        if self.outcome.is_some() {
            return;
        }
        if self.payload.is_none() {
            match self.lead.run(self.template(plans), text, ended) {
                Match::More => return,
                Match::Fail(at) => return self.fail(at, at, ProblemKind::MissingCall),
                Match::Done(end) => {
                    let Some(plan) = self.plan(plans) else {
                        self.confirmed = Some(end);
                        self.outcome = Some(Outcome::Done(end));
                        return;
                    };
                    self.head = end;
                    self.payload = Some(Payload::new(&plan.dialect.body, end));
                    let is_nameless = !plan.dialect.names_in_body() && self.lead.name.is_none();
                    let problem = match self.mark(plan) {
                        Mark::Pattern { .. } => {
                            Some((end, ProblemKind::Malformed { expected: "a call behind its marker" }))
                        }
                        _ => is_nameless.then_some((end, ProblemKind::MissingName)),
                    };
                    if let Some((at, kind)) = self.lead.problem.take().or(problem) {
                        self.confirmed = Some(end);
                        return self.fail(end, at, kind);
                    }
                    if self.lead.is_empty && plan.dialect.xml {
                        self.body_end = end;
                        self.confirmed = Some(end);
                        self.outcome = Some(Outcome::Done(end));
                        return;
                    }
                }
            }
        }
        let Some(plan) = self.plan(plans) else { return };
        if self.tail.is_none() {
            self.payload(plan, text, ended, options);
        }
        if let Some(tail) = &mut self.tail
            && let Match::Done(end) = tail.run(&plan.tail, text, ended)
        {
            if end > self.body_end {
                self.body_end = tail.call.unwrap_or(self.body_end);
            }
            self.outcome = Some(Outcome::Done(end));
            if plan.dialect.only_whole {
                self.confirmed = Some(tail.pos.max(end));
            }
        }
    }

    /// Whether a name stands on a line of its own or before the tag of a parameter, and something behind it that fits no parameter: a
    /// parser that looks for the name alone finds a call.
    pub(crate) fn names_a_line(&self, plans: &Plans, text: &[u8]) -> bool {
        let is_tagged = matches!(self.payload, Some(Payload::Tagged(_)));
        let tag = self.plan(plans).and_then(|plan| plan.parameters.open.pieces.first());
        let is_tag = || match tag {
            Some(Piece::Literal { any, .. }) => {
                any.iter().any(|tag| text[self.head..].starts_with(tag.as_bytes()))
            }
            _ => false,
        };
        let ends_line = || matches!(text.get(self.head), Some(b'\n' | b'\r'));
        is_tagged && self.lead.name.is_some() && (ends_line() || is_tag())
    }

    /// Whether a name stands between its markers: a call to parsers that take whatever follows for its arguments.
    pub(crate) fn is_named(&self, plans: &Plans) -> bool {
        let is_marked = |plan| !self.lead_is_open(plan) && self.lead.name.is_some();
        matches!(self.payload, Some(Payload::Arguments(_))) && self.plan(plans).is_some_and(is_marked)
    }

    /// Where the call itself begins, behind what belongs to its wrapper.
    pub(crate) fn call_start(&self) -> usize {
        self.lead.call.unwrap_or(0)
    }

    /// The bytes that are certainly the call's.
    pub(crate) fn committed(&self, text: &[u8]) -> usize {
        match (&self.outcome, &self.tail) {
            (Some(Outcome::Done(end)), _) => *end,
            (Some(Outcome::Fail { end, .. }), _) => *end,
            (None, Some(_)) => self.body_end,
            (None, None) => match &self.payload {
                Some(Payload::Tagged(tagged)) => tagged.unsure().unwrap_or(text.len()),
                _ => text.len(),
            },
        }
    }

    /// The tool's name, once it is known; an error if there can be none.
    pub(crate) fn name(&self, text: &[u8]) -> Option<Result<String, ProblemKind>> {
        match &self.payload {
            Some(Payload::Object(object)) => {
                let range = object.name.clone().filter(|range| !range.is_empty());
                let name = range.and_then(|range| decode(&text[range])).filter(|name| !name.is_empty());
                // None is not missed before the call is over: how much of it has come depends on the cut.
                let over = matches!(self.outcome, Some(Outcome::Done(_)));
                name.map(Ok).or_else(|| over.then_some(Err(ProblemKind::MissingName)))
            }
            Some(_) => self.lead.name.clone().map(|range| Ok(self.said(text, range))),
            None => None,
        }
    }

    /// The call's id, if it stands before the name.
    pub(crate) fn id_before_name(&self, text: &[u8]) -> Option<String> {
        let stands_before = match &self.payload {
            Some(Payload::Object(object)) => {
                let start = |range: &Option<Range<usize>>| range.as_ref().map(|range| range.start);
                start(&object.id) < start(&object.name)
            }
            _ => true,
        };
        self.id(text).filter(|_| stands_before)
    }

    /// The call's id, as far as it is known.
    pub(crate) fn id(&self, text: &[u8]) -> Option<String> {
        match &self.payload {
            Some(Payload::Object(object)) => {
                let range = object.id.clone().filter(|range| !range.is_empty())?;
                decode(&text[range]).filter(|id| !id.is_empty())
            }
            _ => self.lead.id.clone().map(|range| self.said(text, range)),
        }
    }

    /// What a stretch of a tag says.
    fn said(&self, text: &[u8], range: Range<usize>) -> String {
        let raw = lossy(text, range);
        // White space around a name is no part of it, as a reference either.
        if self.lead.is_xml { xml::decode(&raw).trim().to_owned() } else { raw }
    }

    /// The text between the call's tags.
    pub(crate) fn body(&self) -> Range<usize> {
        self.head..self.body_end
    }

    /// What is missing when the text ends here.
    pub(crate) fn missing(&self, text: &[u8]) -> (usize, ProblemKind) {
        match &self.payload {
            Some(Payload::Tagged(tagged)) => tagged.missing(),
            _ => None,
        }
        .unwrap_or((text.len(), ProblemKind::Truncated))
    }

    /// The tagged parameter that stands at a place, or is being read.
    pub(crate) fn parameter(&self, text: &[u8], at: usize) -> Option<String> {
        match &self.payload {
            Some(Payload::Tagged(tagged)) => tagged.parameter_at(at).map(|key| self.said(text, key)),
            _ => None,
        }
    }

    /// Whether a value of a tagged call holds tags of a call itself.
    pub(crate) fn hides_tags(&self, plan: &Plan, text: &[u8]) -> bool {
        let (Some(Payload::Tagged(tagged)), Body::Parameters(parameters)) =
            (&self.payload, &plan.dialect.body)
        else {
            return false;
        };
        let closers: Vec<Template> =
            plan.dialect.call_close.iter().map(|close| plan.dialect.tag(close)).collect();
        let tags = plan.dialect.calls.iter().chain([&parameters.open]).chain(&closers);
        tagged.values().any(|value| tags.clone().any(|tag| occurs(tag, &text[value.clone()])))
    }

    /// Where a call that is done may hold another: what a hole for anything took, and the body. The brace that opens the
    /// body is no begin of another call.
    pub(crate) fn inside(&self) -> impl Iterator<Item = Range<usize>> {
        let body = match &self.payload {
            Some(Payload::Object(object) | Payload::Arguments(object)) => {
                object.whole().start + 1..self.body_end
            }
            _ => self.head..self.body_end,
        };
        self.lead.skipped.clone().into_iter().chain([body])
    }

    /// Where a JSON call that is done has a name or arguments that are not its own, before or instead of its own: parsers
    /// by pattern take the first.
    pub(crate) fn says_otherwise(&self, plan: &Plan, text: &[u8]) -> Option<usize> {
        let Some(Payload::Object(object)) = &self.payload else { return None };
        let body = object.whole();
        let own = [&object.name, &object.arguments].map(|own| own.as_ref().map(|range| range.start));
        plan.keys.iter().zip(own).find_map(|(key, own)| {
            if key.is_empty() {
                return None;
            }
            let found = first(key, &text[body.clone()])?.end + body.start;
            (Some(found) != own).then_some(found)
        })
    }

    /// Whether a call that is done has no closing tag, though its dialect has one, and goes on with what could be more
    /// calls.
    pub(crate) fn goes_on(&self, plan: &Plan, end: usize, text: &[u8]) -> bool {
        let is_unclosed = self.tail.is_some() && end <= self.body_end && !plan.dialect.call_close.is_empty();
        let mut next = end;
        while let Space::Some(length) = space_at(text, next) {
            next += length;
        }
        is_unclosed && matches!(text.get(next), Some(b'{' | b'[' | b',' | b';'))
    }

    /// Whether a value of a tagged call opens a parameter, so that the tag behind it may be the closer of that one. In XML
    /// a value ends where its element does.
    pub(crate) fn may_be_cut(&self, plan: &Plan, text: &[u8]) -> bool {
        let (Some(Payload::Tagged(tagged)), Body::Parameters(parameters)) =
            (&self.payload, &plan.dialect.body)
        else {
            return false;
        };
        !plan.dialect.xml && tagged.values().any(|value| occurs(&parameters.open, &text[value]))
    }

    /// The arguments of a call that is done.
    pub(crate) fn arguments(
        &self,
        plan: &Plan,
        name: &str,
        text: &[u8],
        schemas: &Schemas,
    ) -> Result<String, (usize, ProblemKind)> {
        let shifted = |from: usize| move |(at, kind): (usize, ProblemKind)| (from + at, kind);
        match (&self.payload, &plan.dialect.body) {
            (Some(Payload::Object(object)), _) => {
                let raw = object.arguments.clone().map_or(&b"{}"[..], |range| &text[range]);
                // Some models write the arguments as a string, as the API does.
                Ok(match raw.first() {
                    Some(b'"') => decode(raw).unwrap_or_else(|| lossy(raw, 0..raw.len())),
                    _ => lossy(raw, 0..raw.len()),
                })
            }
            (Some(Payload::Arguments(object)), _) => Ok(lossy(text, object.whole())),
            (Some(Payload::Tagged(tagged)), Body::Parameters(parameters)) => {
                let mut out = String::from("{");
                for (number, parameter) in tagged.found.iter().enumerate() {
                    if number > 0 {
                        out.push(',');
                    }
                    let key = self.said(text, parameter.key.clone());
                    let value = lossy(text, parameter.value.clone());
                    let value = if parameters.framed { unframed(&value) } else { &value };
                    let value = if plan.dialect.xml { xml::decode(value) } else { value.into() };
                    push_string(&key, &mut out);
                    out.push(':');
                    schemas.write(name, &key, &value, parameter.is_string, &mut out);
                }
                out.push('}');
                Ok(out)
            }
            (Some(Payload::Python(python)), _) => {
                let inside = self.head..python.end();
                python::arguments(&lossy(text, inside)).map_err(shifted(self.head))
            }
            (Some(Payload::Loose(loose)), Body::Loose { quote }) => {
                loose::arguments(&lossy(text, self.head..loose.end()), quote).map_err(shifted(self.head))
            }
            _ => Ok("{}".to_owned()),
        }
    }

    fn payload(&mut self, plan: &Plan, text: &[u8], ended: bool, options: &ScanOptions) {
        let dialect = &plan.dialect;
        let open_ended = self.lead_is_open(plan);
        let in_region = self.mark(plan) == Mark::Region;
        let Some(payload) = &mut self.payload else { return };
        let progress = match (&mut *payload, &dialect.body) {
            (Payload::Object(object), Body::Object(fields)) => object.run(Some(fields), text),
            (Payload::Object(object) | Payload::Arguments(object), _) => object.run(None, text),
            (Payload::Tagged(tagged), _) => tagged.run(&plan.parameters, &plan.closer, text),
            (Payload::Python(python), _) => python.run(text, ended),
            (Payload::Loose(loose), Body::Loose { quote }) => loose.run(quote, text),
            (Payload::Loose(_), _) => Progress::More,
        };
        let payload = &*payload;
        let confirmed = match payload {
            Payload::Object(object) if in_region => object.name_end(text),
            Payload::Object(object) | Payload::Arguments(object) => object.confirmed,
            Payload::Tagged(tagged) if open_ended => tagged.confirmed,
            Payload::Tagged(_) | Payload::Python(_) => Some(self.head),
            Payload::Loose(loose) => loose.confirmed,
        };
        if dialect.only_whole {
            // A doubt at any byte before the end, wherever the text was cut, and it is none.
            let other_key = match payload {
                Payload::Object(object) => object.other_key,
                _ => None,
            };
            let named = match payload {
                Payload::Object(object) => {
                    object.name.clone().filter(|range| !range.is_empty()).map(|range| range.end)
                }
                _ => Some(self.head),
            };
            // Behind the name of a tool that was offered, some parser needs nothing else.
            let is_offered = self.is_offered(text, options);
            let other_key = other_key.filter(|at| !is_offered || named.is_none_or(|named| *at < named));
            let unknown = named
                .filter(|_| !matches!(self.name(text), Some(Ok(name)) if options.counts_unmarked(&name)));
            if let Some(at) = other_key.into_iter().chain(unknown).min() {
                return self.fail(at, at, ProblemKind::MissingName);
            }
        } else {
            self.confirmed = confirmed;
        }
        match progress {
            Progress::More => {}
            Progress::Fail { end, at, kind } => self.fail(end, at, kind),
            Progress::End(end) => {
                self.body_end = end;
                if let Some(Payload::Tagged(tagged)) = &self.payload {
                    self.body_end = tagged.body_end;
                    self.outcome = Some(Outcome::Done(end));
                } else if dialect.only_whole
                    && (self.is_nameless(text, options) || self.is_no_python(text, end, options))
                {
                    self.fail(end, end, ProblemKind::MissingName);
                } else {
                    self.tail = Some(Matcher::at(end));
                }
            }
        }
    }

    /// Whether an object lacks what makes it a call.
    fn is_nameless(&self, text: &[u8], options: &ScanOptions) -> bool {
        let Some(Payload::Object(object)) = &self.payload else { return false };
        let needs_arguments = !self.is_offered(text, options);
        object.name.is_none() || (needs_arguments && object.arguments.is_none())
    }

    /// Whether a parser that asks for no arguments finds a tool of this name.
    fn is_offered(&self, text: &[u8], options: &ScanOptions) -> bool {
        options.every_reading && matches!(self.name(text), Some(Ok(name)) if options.schemas.offers(&name))
    }

    /// Whether the name is another one to parsers that take what stands behind its last dot.
    pub(crate) fn has_two_names(&self, text: &[u8], options: &ScanOptions) -> bool {
        let is_of_id = self.lead.id.is_some() && !matches!(self.payload, Some(Payload::Object(_)));
        let last = |name: String| name.rsplit_once('.').map(|(_, last)| last.to_owned());
        let name = self.name(text).and_then(Result::ok).filter(|_| is_of_id);
        name.and_then(last).is_some_and(|last| options.may_run(&last))
    }

    /// Whether what looks like Python arguments is something else.
    fn is_no_python(&self, text: &[u8], end: usize, options: &ScanOptions) -> bool {
        // Parsers pass over arguments without a name.
        matches!(self.payload, Some(Payload::Python(_)))
            && !self.is_offered(text, options)
            && python::arguments(&lossy(text, self.head..end - 1)).is_err()
    }

    /// What shows that a call begins here.
    pub(crate) fn mark(&self, plan: &Plan) -> Mark {
        match self.unit {
            Unit::First { opener, .. } => plan.openers[opener].mark,
            _ => Mark::Own,
        }
    }

    /// The dialect whose marker stands here, within so many bytes.
    pub(crate) fn marked(&self, plans: &Plans, within: usize) -> Option<usize> {
        let Unit::First { plan, .. } = self.unit else { return None };
        let is_marked = self.lead.marker.is_some_and(|end| end <= within);
        (is_marked && self.mark(&plans.dialects[plan]) == Mark::Own).then_some(plan)
    }

    fn lead_is_open(&self, plan: &Plan) -> bool {
        match self.unit {
            Unit::First { opener, .. } => plan.openers[opener].template.is_open_ended(),
            Unit::Next { call, kind, .. } => plan.next(kind)[call].is_open_ended(),
            _ => false,
        }
    }

    fn template<'a>(&self, plans: &'a Plans) -> &'a Template {
        match self.unit {
            Unit::First { plan, opener } => &plans.dialects[plan].openers[opener].template,
            Unit::Next { plan, call, kind } => &plans.dialects[plan].next(kind)[call],
            Unit::Close { plan, close, kind } => &plans.dialects[plan].close(kind)[close],
            Unit::Leave(plan) => &plans.dialects[plan].leave,
            Unit::Think(tag) => &plans.reasoning[tag].0,
            Unit::Thought(tag) => &plans.reasoning[tag].1,
        }
    }

    /// The plan of a call; other units have none.
    fn plan<'a>(&self, plans: &'a Plans) -> Option<&'a Plan> {
        match self.unit {
            Unit::First { plan, .. } | Unit::Next { plan, .. } => plans.dialects.get(plan).map(AsRef::as_ref),
            _ => None,
        }
    }

    fn fail(&mut self, end: usize, at: usize, kind: ProblemKind) {
        self.outcome = Some(Outcome::Fail { end, at, kind });
    }
}

impl Payload {
    fn new(body: &Body, at: usize) -> Self {
        match body {
            Body::Object(_) => Self::Object(Object::at(at)),
            Body::Arguments => Self::Arguments(Object::at(at)),
            Body::Parameters(_) => Self::Tagged(Box::new(Tagged::at(at))),
            Body::Python => Self::Python(Python::at(at)),
            Body::Loose { .. } => Self::Loose(Loose::at(at)),
        }
    }
}

/// A value without the new lines that frame it.
fn unframed(value: &str) -> &str {
    let value = value.strip_prefix('\n').unwrap_or(value);
    value.strip_suffix('\n').unwrap_or(value)
}

/// A stretch of the text as a string. It is cut at ASCII bytes, so nothing is lost.
fn lossy(text: &[u8], range: Range<usize>) -> String {
    String::from_utf8_lossy(&text[range]).into_owned()
}
