//! Doubts about a candidate: what another parser would read in the same text.

use std::ops::Range;

use super::{Machine, Payload};
use crate::dialect::Body;
use crate::options::ScanOptions;
use crate::plan::Plan;
use crate::set::Plans;
use crate::space::{Space, space_at};
use crate::tagged::{first, occurs};
use crate::template::{Piece, Template};

impl Machine {
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

    /// Whether the name is another one to parsers that take what stands behind its last dot.
    pub(crate) fn has_two_names(&self, text: &[u8], options: &ScanOptions) -> bool {
        let is_of_id = self.lead.id.is_some() && !matches!(self.payload, Some(Payload::Object(_)));
        let last = |name: String| name.rsplit_once('.').map(|(_, last)| last.to_owned());
        let name = self.name(text).and_then(Result::ok).filter(|_| is_of_id);
        name.and_then(last).is_some_and(|last| options.may_run(&last))
    }
}
