//! Writing a touched response: patched where little differs, else built anew from its parts.

use std::borrow::Cow;
use std::collections::HashSet;

use super::calls::CandidateLedger;
use super::grammar::{KEPT_OF_CANDIDATE, KEPT_OF_CONTENT, KEPT_OF_ERROR, KEPT_OF_RESPONSE};
use super::read::{BESIDE, locate};
use super::templates::{self, Draft, draft};
use crate::delta::{CallDelta, Channel, Delta, DeltaKind};
use crate::json::{self, Object};
use crate::wire::document::{Rewrite, Value};
use crate::wire::template::{Raw, object, renewed};
use crate::wire::{Fate, Part};

/// How a rebuilt response closes the choices that finish in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Closing<'d> {
    /// As it came, after a notice where nothing is left of the answer (rule 21).
    Own,
    /// Not at all: a refusal follows.
    Later,
    /// Every choice is refused, with this message.
    Refused(&'d str),
}

/// Patches a response of which no part was touched: with a signature that moves in from an earlier call, or another
/// finish reason. `None` if that is not enough; the same text if nothing had to change.
pub(super) fn patch(ledger: &mut CandidateLedger, response: Value<'_>, parts: &[Part]) -> Option<String> {
    let reworded = |part: &Part| matches!(part.delta.kind, DeltaKind::Finish(_)) && part.fate == Fate::Edited;
    if !parts.iter().all(|part| ledger.fate(part) == Fate::Kept || reworded(part)) {
        return None;
    }
    let mut rewrite = Rewrite::new(response);
    for part in parts {
        let (_, position) = locate(part.delta.place.outer);
        let candidate = response.get("candidates").and_then(|candidates| candidates.items().nth(position));
        if let DeltaKind::Finish(reason) = &part.delta.kind
            && part.fate == Fate::Edited
        {
            let came = candidate.and_then(|candidate| candidate.get("finishReason"));
            came.into_iter().for_each(|came| rewrite.set(came, json::quote(reason.raw())));
        } else if ledger.signs(part) {
            let parts = candidate.and_then(|candidate| candidate.get("content")?.get("parts"))?;
            let came = parts.items().nth(part.delta.place.inner as usize)?;
            let signature = ledger.take_signature(part.delta.choice.unwrap_or_default())?;
            if templates::signature(came.raw()).is_none() {
                rewrite.set(came, templates::with_signature(came.raw(), &signature));
            }
        }
    }
    Some(rewrite.finish())
}

/// Builds a response anew from what is left of its parts; `None` if nothing has to leave.
pub(super) fn rebuild(
    ledger: &mut CandidateLedger,
    response: Value<'_>,
    parts: &[Part],
    closing: Closing<'_>,
) -> Option<String> {
    let touched = parts.iter().filter(|part| part.fate != Fate::Kept && part.fate != Fate::Inserted);
    let candidates: Vec<Taken<'_>> =
        response.get("candidates").into_iter().flat_map(Value::items).map(Taken::apart).collect();
    let mut rebuild = Rebuild {
        ledger,
        drafts: (0..candidates.len()).map(|position| Draft::new(number(parts, position))).collect(),
        candidates,
        touched: touched.map(place).collect(),
        whole: None,
        signed: None,
        called: None,
    };
    let mut lasting = response.get("promptFeedback").is_some();
    for part in parts {
        rebuild.part(part, closing);
        lasting |= matches!(part.delta.kind, DeltaKind::Usage(_) | DeltaKind::Error(_));
    }
    let Rebuild { ledger, candidates, mut drafts, .. } = rebuild;
    if let Closing::Refused(message) = closing {
        for number in ledger.choices() {
            draft(&mut drafts, number).refuse(message);
        }
    }
    let says = lasting || drafts.iter().any(|draft| !draft.is_empty());
    says.then(|| build(response, &candidates, &drafts))
}

/// The response built anew. The first drafts are those of its candidates, in order; others are added.
fn build(response: Value<'_>, candidates: &[Taken<'_>], drafts: &[Draft<'_>]) -> String {
    let own = candidates.iter().map(Some).chain(std::iter::repeat(None));
    let candidates = json::array(drafts.iter().zip(own).map(|(draft, candidate)| match candidate {
        Some(candidate) => candidate.build(draft),
        None => draft.candidate(),
    }));
    let came = response.raw();
    let listed = !drafts.is_empty() || json::member(came, "candidates").is_some();
    let candidates = listed.then(|| ("candidates", object! { "candidates": Raw(candidates) }));
    let error = json::member(came, "error");
    let error = error.map(|error| ("error", object! { "error": json::only(error, &KEPT_OF_ERROR) }));
    renewed(came, &KEPT_OF_RESPONSE, candidates.into_iter().chain(error)).finish()
}

/// A candidate taken apart.
struct Taken<'d> {
    candidate: Value<'d>,
    content: Option<Value<'d>>,
    parts: Vec<Value<'d>>,
}

impl<'d> Taken<'d> {
    fn apart(candidate: Value<'d>) -> Self {
        let content = candidate.get("content");
        let parts = content.and_then(|content| content.get("parts"));
        Self { candidate, content, parts: parts.into_iter().flat_map(Value::items).collect() }
    }

    fn build(&self, draft: &Draft<'_>) -> String {
        let came = self.candidate.raw();
        let says = !draft.parts.is_empty() || json::member(came, "content").is_some();
        let content = object! { "content": says.then(|| Raw(self.content(draft))) };
        let finish = draft.finish(Object::new());
        renewed(came, &KEPT_OF_CANDIDATE, [("content", content), ("finishReason", finish)]).finish()
    }

    fn content(&self, draft: &Draft<'_>) -> String {
        let content = self.content.filter(|content| content.members().next().is_some());
        let parts = (!draft.parts.is_empty()).then(|| Raw(json::array(&draft.parts)));
        match (content, parts) {
            (None, None) => String::from("{}"),
            (None, Some(_)) => draft.content(),
            (Some(content), parts) => {
                renewed(content.raw(), &KEPT_OF_CONTENT, [("parts", object! { "parts": parts })]).finish()
            }
        }
    }
}

/// Makes the part that an inserted delta asks for.
pub(super) fn inserted(ledger: &mut CandidateLedger, delta: &Delta) -> Option<String> {
    match &delta.kind {
        DeltaKind::Text { channel, text } if !text.is_empty() => Some(templates::text(*channel, text, None)),
        DeltaKind::Call(call) => {
            let signature = ledger.take_signature(delta.choice.unwrap_or_default());
            Some(templates::call(call, signature.as_deref()))
        }
        _ => None,
    }
}

struct Rebuild<'a, 'd> {
    ledger: &'a mut CandidateLedger,
    candidates: Vec<Taken<'d>>,
    /// One for each candidate, then those that insertions needed.
    drafts: Vec<Draft<'d>>,
    /// The places of which something was dropped or edited.
    touched: HashSet<(u32, u32)>,
    /// The place that left whole last, whose signature was used last, whose call was written last: a part can say
    /// several things.
    whole: Option<(u32, u32)>,
    signed: Option<(u32, u32)>,
    called: Option<(u32, u32)>,
}

impl<'d> Rebuild<'_, 'd> {
    fn part(&mut self, part: &Part, closing: Closing<'d>) {
        let fate = self.ledger.fate(part);
        let (_, candidate) = locate(part.delta.place.outer);
        let finishes = match &part.delta.kind {
            // An ending takes its place.
            DeltaKind::Finish(_) if fate == Fate::Dropped => true,
            DeltaKind::Finish(reason) => {
                let raw = self.candidates.get(candidate).filter(|_| fate == Fate::Kept);
                let raw = raw.and_then(|taken| taken.candidate.get("finishReason")).map(Value::raw);
                if let (Closing::Own, Some(draft)) = (closing, self.drafts.get_mut(candidate)) {
                    draft.finish =
                        Some(raw.map_or_else(|| Cow::Owned(json::quote(reason.raw())), Cow::Borrowed));
                }
                true
            }
            DeltaKind::Terminal => true,
            _ if fate == Fate::Inserted => {
                if let Some(made) = inserted(self.ledger, &part.delta) {
                    let choice = part.delta.choice.unwrap_or_default();
                    draft(&mut self.drafts, choice).parts.push(made.into());
                }
                false
            }
            _ => {
                if part.delta.place.inner != BESIDE {
                    self.own(part, fate, candidate);
                }
                false
            }
        };
        if finishes && !matches!(closing, Closing::Own) {
            return;
        }
        for (choice, notice) in self.ledger.book(part, fate) {
            let made = templates::text(Channel::Content, &notice, None);
            draft(&mut self.drafts, choice).parts.push(made.into());
        }
    }

    /// Writes what is left of one of upstream's parts.
    fn own(&mut self, part: &Part, fate: Fate, candidate: usize) {
        let place = place(part);
        let inner = part.delta.place.inner as usize;
        let Some(raw) = self.candidates.get(candidate).and_then(|taken| taken.parts.get(inner)) else {
            return;
        };
        let raw = raw.raw();
        if fate == Fate::Kept && !self.touched.contains(&place) {
            if self.whole != Some(place) {
                self.whole = Some(place);
                let raw = self.moved(part, raw);
                self.push(candidate, raw);
            }
            return;
        }
        let own = templates::signature(raw).filter(|_| self.signed != Some(place));
        self.signed = Some(place);
        if let Some(made) = self.piece(part, fate, raw, own) {
            self.push(candidate, made.into());
        }
    }

    /// A part that leaves whole, with the signature that waits for it.
    fn moved(&mut self, part: &Part, raw: &'d str) -> Cow<'d, str> {
        if self.ledger.signs(part)
            && let Some(signature) = self.ledger.take_signature(part.delta.choice.unwrap_or_default())
            && templates::signature(raw).is_none()
        {
            return templates::with_signature(raw, &signature).into();
        }
        raw.into()
    }

    /// One of the things a part says, as a part of its own.
    fn piece(&mut self, part: &Part, fate: Fate, raw: &str, own: Option<&str>) -> Option<String> {
        let choice = part.delta.choice.unwrap_or_default();
        let leaves = fate != Fate::Dropped;
        match &part.delta.kind {
            DeltaKind::Text { channel, text } => {
                // A signature outlives its text (rule 22).
                let text = if leaves { &**text } else { "" };
                (!text.is_empty() || own.is_some()).then(|| templates::text(*channel, text, own))
            }
            DeltaKind::Call(call) if leaves => {
                self.called = Some(place(part));
                Some(self.call(choice, call, fate, raw, own))
            }
            DeltaKind::Call(_) => {
                if let Some(own) = own {
                    self.ledger.keep_signature(choice, own);
                }
                None
            }
            DeltaKind::Opaque { kind, .. } if leaves => {
                json::member(raw, kind).map(|value| templates::field(kind, value, own))
            }
            DeltaKind::Opaque { .. } => own.map(|own| templates::text(Channel::Content, "", Some(own))),
            DeltaKind::Stop if leaves && self.called != Some(place(part)) && self.ledger.is_open(choice) => {
                Some(templates::field("functionCall", "{}", own))
            }
            _ => None,
        }
    }

    fn call(&mut self, choice: u32, call: &CallDelta, fate: Fate, raw: &str, own: Option<&str>) -> String {
        let waiting = if call.starts { self.ledger.take_signature(choice) } else { None };
        let signature = own.or(waiting.as_deref());
        let came = json::member(raw, "functionCall");
        match came {
            Some(came) if fate == Fate::Kept => templates::field("functionCall", came, signature),
            came if !call.starts => templates::fragment(came, call.arguments.as_deref(), signature),
            _ => templates::call(call, signature),
        }
    }

    fn push(&mut self, candidate: usize, made: Cow<'d, str>) {
        if let Some(draft) = self.drafts.get_mut(candidate) {
            draft.parts.push(made);
        }
    }
}

/// The choice of the candidate at a position, as it was read.
fn number(parts: &[Part], position: usize) -> u32 {
    let own = parts.iter().find(|part| {
        part.fate != Fate::Inserted
            && part.delta.choice.is_some()
            && locate(part.delta.place.outer).1 == position
    });
    own.and_then(|part| part.delta.choice).unwrap_or(position as u32)
}

fn place(part: &Part) -> (u32, u32) {
    (part.delta.place.outer, part.delta.place.inner)
}
