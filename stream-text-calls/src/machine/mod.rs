//! One candidate: a call, a wrapper's end or a reasoning tag that may stand at one place of the text.

mod content;
mod doubts;

use content::lossy;

use crate::dialect::Body;
use crate::event::ProblemKind;
use crate::json::{Object, Progress};
use crate::loose::Loose;
use crate::matcher::{Match, Matcher};
use crate::options::ScanOptions;
use crate::plan::{Kind, Mark, Plan};
use crate::python::{self, Python};
use crate::set::Plans;
use crate::tagged::Tagged;
use crate::template::Template;

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
