//! Writing a touched response: patched where only a signature or a finish reason differs, else anew from its parts.

use std::borrow::Cow;
use std::collections::HashSet;

use super::calls::CandidateLedger;
use super::grammar::{self, KEPT_OF_ERROR, KEPT_OF_RESPONSE, is_part};
use super::templates::{self, Draft, draft};
use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Span};
use crate::json;
use crate::wire::document::{Value, spliced};
use crate::wire::template::{Raw, object, renewed};
use crate::wire::{Fate, Part};

/// A response of the upstream: its span in the data that the spans of its deltas refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Came<'d> {
    pub(super) data: &'d str,
    pub(super) span: Span,
}

impl<'d> Came<'d> {
    /// All of the data.
    pub(super) fn all(data: &'d str) -> Self {
        Self { data, span: Span::new(0, data.len()) }
    }

    pub(super) fn text(self) -> &'d str {
        self.span.slice(self.data)
    }
}

/// How a rebuilt response ends the choices that finish in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Closing<'d> {
    /// With the upstream's finish, after a notice where the turn is emptied (rule 21).
    Own,
    /// Not at all: a refusal follows.
    Later,
    /// With a refusal of every choice, with this message.
    Refused(&'d str),
}

/// A response whose parts are kept, with the signature of an earlier, dropped call, or with another finish reason. `None` if
/// other parts are touched; the same text if nothing has to change.
pub(super) fn patch(ledger: &mut CandidateLedger, came: Came<'_>, parts: &[Part]) -> Option<String> {
    let reworded = |part: &Part| matches!(part.delta.kind, DeltaKind::Finish(_)) && part.fate == Fate::Edited;
    if !parts.iter().all(|part| ledger.fate(part) == Fate::Kept || reworded(part)) {
        return None;
    }
    let mut splices = Vec::new();
    for part in parts.iter().filter(|part| !part.delta.site.holder.is_empty()) {
        let element = part.delta.site.element;
        if let (DeltaKind::Finish(reason), Fate::Edited) = (&part.delta.kind, part.fate) {
            splices.push((element, json::quote(reason.raw())));
        } else if ledger.signs(part) {
            let signature = ledger.take_signature(part.delta.choice.unwrap_or_default())?;
            let raw = element.slice(came.data);
            if templates::signature(raw).is_none() {
                splices.push((element, templates::with_signature(raw, &signature)));
            }
        }
    }
    Some(spliced(came.data, came.span, splices))
}

/// Writes a response anew from its parts; `None` if nothing has to be written. The spans of the parts refer to `data`.
pub(super) fn rebuild(
    ledger: &mut CandidateLedger,
    data: &str,
    response: Value<'_>,
    parts: &[Part],
    closing: Closing<'_>,
) -> Option<String> {
    let touched = parts.iter().filter(|part| part.fate != Fate::Kept && part.fate != Fate::Inserted);
    let candidates: Vec<Value<'_>> = response.get("candidates").into_iter().flat_map(Value::items).collect();
    let own = candidates.iter().enumerate().map(|(position, candidate)| {
        Draft::new(grammar::number(*candidate, position).unwrap_or(position as u32))
    });
    let mut rebuild = Rebuild {
        ledger,
        data,
        drafts: own.collect(),
        touched: touched.map(|part| part.delta.site.element).collect(),
        whole: None,
        signed: None,
        called: None,
    };
    let mut lasting = response.get("promptFeedback").is_some();
    for part in parts {
        rebuild.part(part, closing);
        lasting |= matches!(part.delta.kind, DeltaKind::Usage(_) | DeltaKind::Error(_));
    }
    let Rebuild { ledger, mut drafts, .. } = rebuild;
    if let Closing::Refused(message) = closing {
        for number in ledger.choices() {
            draft(&mut drafts, number).refuse(message);
        }
    }
    let says = lasting || drafts.iter().any(|draft| !draft.is_empty());
    says.then(|| build(response, &candidates, &drafts))
}

/// The response written anew. The first drafts are those of the upstream's candidates, in order; others are added.
fn build(response: Value<'_>, candidates: &[Value<'_>], drafts: &[Draft<'_>]) -> String {
    let own = candidates.iter().map(Some).chain(std::iter::repeat(None));
    let candidates = json::array(drafts.iter().zip(own).map(|(draft, candidate)| match candidate {
        Some(candidate) => draft.renewed(*candidate),
        None => draft.candidate(),
    }));
    let came = response.raw();
    let listed = !drafts.is_empty() || json::member(came, "candidates").is_some();
    let candidates = listed.then(|| ("candidates", object! { "candidates": Raw(candidates) }));
    let error = json::member(came, "error");
    let error = error.map(|error| ("error", object! { "error": json::only(error, &KEPT_OF_ERROR) }));
    renewed(came, &KEPT_OF_RESPONSE, candidates.into_iter().chain(error)).finish()
}

/// The part for an inserted delta.
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
    data: &'d str,
    /// A draft for each candidate, then those of insertions.
    drafts: Vec<Draft<'d>>,
    /// The elements with a dropped or edited delta.
    touched: HashSet<Span>,
    /// The last element that was written whole, the last whose signature was used, and the last whose call was written: an
    /// element can have several deltas.
    whole: Option<Span>,
    signed: Option<Span>,
    called: Option<Span>,
}

impl<'d> Rebuild<'_, 'd> {
    fn part(&mut self, part: &Part, closing: Closing<'d>) {
        let fate = self.ledger.fate(part);
        let finishes = match &part.delta.kind {
            // An ending is written in its place.
            DeltaKind::Finish(_) if fate == Fate::Dropped => true,
            DeltaKind::Finish(reason) => {
                let draft = self.drafts.get_mut(part.delta.site.position as usize);
                if let (Closing::Own, Some(draft)) = (closing, draft) {
                    draft.finish = Some(match fate {
                        Fate::Kept => part.delta.site.element.slice(self.data).into(),
                        _ => json::quote(reason.raw()).into(),
                    });
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
                let left = if is_part(&part.delta) { self.own(part, fate) } else { None };
                let draft = self.drafts.get_mut(part.delta.site.position as usize);
                if let (Some(left), Some(draft)) = (left, draft) {
                    draft.parts.push(left);
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

    /// The element of a kept or edited part, or what is left of it.
    fn own(&mut self, part: &Part, fate: Fate) -> Option<Cow<'d, str>> {
        let element = part.delta.site.element;
        let raw = element.slice(self.data);
        if fate == Fate::Kept && !self.touched.contains(&element) {
            let is_first = self.whole.replace(element) != Some(element);
            return is_first.then(|| self.moved(part, raw));
        }
        let is_first = self.signed.replace(element) != Some(element);
        let own = templates::signature(raw).filter(|_| is_first);
        self.piece(part, fate, raw, own).map(Cow::Owned)
    }

    /// A kept element, with the signature of a dropped call where the element opens the next call.
    fn moved(&mut self, part: &Part, raw: &'d str) -> Cow<'d, str> {
        if self.ledger.signs(part)
            && let Some(signature) = self.ledger.take_signature(part.delta.choice.unwrap_or_default())
            && templates::signature(raw).is_none()
        {
            return templates::with_signature(raw, &signature).into();
        }
        raw.into()
    }

    /// One delta of an element, as an element of its own.
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
                self.called = Some(part.delta.site.element);
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
            DeltaKind::Stop if leaves && self.called != Some(part.delta.site.element) => {
                self.ledger.is_open(choice).then(|| templates::field("functionCall", "{}", own))
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
}
