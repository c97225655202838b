//! A response taken apart into raw slices, and put together again with other parts.

use std::borrow::Cow;

use super::parts::Draft;
use crate::json::{self, Object};

/// What survives when a response is built anew, everywhere in it. Any other field may hold a copy of what was
/// dropped.
const ENVELOPE: [&str; 5] = ["promptFeedback", "usageMetadata", "modelVersion", "responseId", "createTime"];
const CANDIDATE: [&str; 2] = ["index", "safetyRatings"];
const CONTENT: [&str; 1] = ["role"];
const ERROR: [&str; 3] = ["code", "message", "status"];

type Members<'d> = Vec<(Cow<'d, str>, &'d str)>;

/// A response, as raw slices.
#[derive(Debug)]
pub(super) struct Document<'d> {
    members: Members<'d>,
    candidates: Vec<Candidate<'d>>,
}

#[derive(Debug)]
struct Candidate<'d> {
    members: Members<'d>,
    content: Members<'d>,
    parts: Vec<&'d str>,
}

impl<'d> Document<'d> {
    /// Takes a response apart; `None` if it is no object.
    pub(super) fn read(text: &'d str) -> Option<Self> {
        let members = json::members(text)?;
        let candidates = value(&members, "candidates").and_then(json::items).unwrap_or_default();
        let candidates = candidates.into_iter().map(Candidate::read).collect();
        Some(Self { members, candidates })
    }

    /// How many candidates it has.
    pub(super) fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// A part of a candidate.
    pub(super) fn part(&self, candidate: usize, part: usize) -> Option<&'d str> {
        self.candidates.get(candidate)?.parts.get(part).copied()
    }

    /// The raw finish reason of a candidate.
    pub(super) fn finish(&self, candidate: usize) -> Option<&'d str> {
        value(&self.candidates.get(candidate)?.members, "finishReason")
    }

    /// Whether it says something about the prompt.
    pub(super) fn has_prompt_feedback(&self) -> bool {
        value(&self.members, "promptFeedback").is_some_and(|raw| raw != "null")
    }

    /// Builds the response anew. The first drafts are those of its candidates, in order; others are added.
    pub(super) fn build(&self, drafts: &[Draft<'_>]) -> String {
        let own = self.candidates.iter().map(Some).chain(std::iter::repeat(None));
        let candidates = || {
            json::array(drafts.iter().zip(own.clone()).map(|(draft, candidate)| match candidate {
                Some(candidate) => candidate.build(draft),
                None => draft.candidate(),
            }))
        };
        let mut response = Object::new();
        for (name, raw) in &self.members {
            response = match &**name {
                "candidates" => response.raw(name, &candidates()),
                "error" => response.raw(name, &only(raw, &ERROR)),
                name if ENVELOPE.contains(&name) => response.raw(name, raw),
                _ => response,
            };
        }
        if value(&self.members, "candidates").is_none() && !drafts.is_empty() {
            response = response.raw("candidates", &candidates());
        }
        response.finish()
    }
}

impl<'d> Candidate<'d> {
    fn read(text: &'d str) -> Self {
        let members = json::members(text).unwrap_or_default();
        let content = value(&members, "content").and_then(json::members).unwrap_or_default();
        let parts = value(&content, "parts").and_then(json::items).unwrap_or_default();
        Self { members, content, parts }
    }

    fn build(&self, draft: &Draft<'_>) -> String {
        let mut candidate = Object::new();
        let (mut said, mut finished) = (false, false);
        for (name, raw) in &self.members {
            candidate = match &**name {
                "content" => {
                    said = true;
                    candidate.raw(name, &self.content(draft))
                }
                "finishReason" => {
                    finished = true;
                    draft.finish(candidate)
                }
                name if CANDIDATE.contains(&name) => candidate.raw(name, raw),
                _ => candidate,
            };
        }
        if !said && !draft.parts.is_empty() {
            candidate = candidate.raw("content", &draft.content());
        }
        if !finished {
            candidate = draft.finish(candidate);
        }
        candidate.finish()
    }

    fn content(&self, draft: &Draft<'_>) -> String {
        if self.content.is_empty() && !draft.parts.is_empty() {
            return draft.content();
        }
        let mut content = Object::new();
        let mut said = draft.parts.is_empty();
        for (name, raw) in &self.content {
            if name == "parts" && !said {
                said = true;
                content = content.raw(name, &json::array(&draft.parts));
            } else if CONTENT.contains(&&**name) {
                content = content.raw(name, raw);
            }
        }
        if !said {
            content = content.raw("parts", &json::array(&draft.parts));
        }
        content.finish()
    }
}

/// A response made here, with what is known of the stream it belongs to.
pub(super) fn response(drafts: &[Draft<'_>], envelope: &[(&'static str, String)]) -> String {
    let response = Object::new().raw("candidates", &json::array(drafts.iter().map(Draft::candidate)));
    envelope.iter().fold(response, |response, (name, raw)| response.raw(name, raw)).finish()
}

/// The error body of Google's APIs.
pub(super) fn error(message: &str) -> String {
    let error = Object::new().number("code", 500).string("message", message).string("status", "INTERNAL");
    Object::new().raw("error", &error.finish()).finish()
}

/// An object's members of these names; what is no object says nothing that could be kept.
fn only(object: &str, names: &[&str]) -> String {
    let members = json::members(object).unwrap_or_default();
    let kept = members.iter().filter(|(name, _)| names.contains(&&**name));
    kept.fold(Object::new(), |object, (name, raw)| object.raw(name, raw)).finish()
}

fn value<'d>(members: &Members<'d>, name: &str) -> Option<&'d str> {
    members.iter().find(|(key, _)| key == name).map(|(_, raw)| *raw)
}
