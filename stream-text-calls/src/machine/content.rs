//! The content of a candidate: the name, the id and the arguments of its call.

use std::ops::Range;

use super::{Machine, Outcome, Payload};
use crate::dialect::Body;
use crate::event::ProblemKind;
use crate::json::decode;
use crate::loose;
use crate::plan::Plan;
use crate::python;
use crate::schema::{Schemas, push_string};
use crate::xml;

impl Machine {
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
}

/// A value without the new lines that frame it.
fn unframed(value: &str) -> &str {
    let value = value.strip_prefix('\n').unwrap_or(value);
    value.strip_suffix('\n').unwrap_or(value)
}

/// A stretch of the text as a string. It is cut at ASCII bytes, so nothing is lost.
pub(super) fn lossy(text: &[u8], range: Range<usize>) -> String {
    String::from_utf8_lossy(&text[range]).into_owned()
}
