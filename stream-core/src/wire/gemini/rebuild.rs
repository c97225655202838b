//! Writing a touched response: patched where little differs, else built anew from its parts.

use std::borrow::Cow;
use std::collections::HashSet;

use super::document::Document;
use super::ledger::Ledger;
use super::parts::{self, Draft, draft};
use super::read::{BESIDE, locate};
use crate::delta::{CallDelta, Channel, Delta, DeltaKind};
use crate::json::{self, At};
use crate::wire::{Fate, Part};

/// How a rebuilt response closes the choices that finish in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Closing<'d> {
    /// As it came, after a notice where nothing is left of the answer (rule 21).
    Own(Option<&'d str>),
    /// Not at all: a refusal follows.
    Later,
    /// Every choice is refused, with this message.
    Refused(&'d str),
}

/// Patches a response of which no part was touched: with a signature that moves in from an earlier call, or another
/// finish reason. `None` if that is not enough; the same text if nothing had to change.
pub(super) fn patch(ledger: &mut Ledger, text: &str, parts: &[Part]) -> Option<String> {
    let reworded = |part: &Part| matches!(part.delta.kind, DeltaKind::Finish(_)) && part.fate == Fate::Edited;
    if !parts.iter().all(|part| ledger.fate(part) == Fate::Kept || reworded(part)) {
        return None;
    }
    let mut edits: Vec<(Vec<At<'static>>, String)> = Vec::new();
    for part in parts {
        let (_, candidate) = locate(part.delta.place.outer);
        let mut path = vec![At::Key("candidates"), At::Item(candidate)];
        if let DeltaKind::Finish(reason) = &part.delta.kind
            && part.fate == Fate::Edited
        {
            path.push(At::Key("finishReason"));
            edits.push((path, json::quote(reason.raw())));
        } else if ledger.signs(part) {
            path.extend([At::Key("content"), At::Key("parts"), At::Item(part.delta.place.inner as usize)]);
            let signature = ledger.take_signature(part.delta.choice.unwrap_or_default())?;
            let raw = json::find(text, &path)?;
            if parts::signature(raw).is_none() {
                edits.push((path, parts::with_signature(raw, &signature)));
            }
        }
    }
    let edits: Vec<(&[At<'_>], &str)> = edits.iter().map(|(path, raw)| (&path[..], &raw[..])).collect();
    Some(json::patch(text, &edits))
}

/// Builds a response anew from what is left of its parts; `None` if nothing has to leave.
pub(super) fn rebuild(
    ledger: &mut Ledger,
    document: &Document<'_>,
    parts: &[Part],
    closing: Closing<'_>,
) -> Option<String> {
    let touched = parts.iter().filter(|part| part.fate != Fate::Kept && part.fate != Fate::Inserted);
    let mut rebuild = Rebuild {
        ledger,
        document,
        drafts: (0..document.candidates()).map(|position| Draft::new(number(parts, position))).collect(),
        touched: touched.map(place).collect(),
        whole: None,
        signed: None,
        called: None,
    };
    let mut lasting = document.has_prompt_feedback();
    for part in parts {
        rebuild.part(part, closing);
        lasting |= matches!(part.delta.kind, DeltaKind::Usage(_) | DeltaKind::Error(_));
    }
    let Rebuild { ledger, mut drafts, .. } = rebuild;
    if let Closing::Refused(message) = closing {
        for number in ledger.numbers() {
            draft(&mut drafts, number).refuse(message);
        }
    }
    let says = lasting || drafts.iter().any(|draft| !draft.is_empty());
    says.then(|| document.build(&drafts))
}

/// Makes the part that an inserted delta asks for.
pub(super) fn inserted(ledger: &mut Ledger, delta: &Delta) -> Option<String> {
    match &delta.kind {
        DeltaKind::Text { channel, text } if !text.is_empty() => Some(parts::text(*channel, text, None)),
        DeltaKind::Call(call) => {
            let signature = ledger.take_signature(delta.choice.unwrap_or_default());
            Some(parts::call(call, signature.as_deref()))
        }
        _ => None,
    }
}

struct Rebuild<'a, 'd> {
    ledger: &'a mut Ledger,
    document: &'a Document<'d>,
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
                let raw = self.document.finish(candidate).filter(|_| fate == Fate::Kept);
                if let (Closing::Own(_), Some(draft)) = (closing, self.drafts.get_mut(candidate)) {
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
        let mut empty = Vec::new();
        if matches!(closing, Closing::Own(_)) || !finishes {
            self.ledger.note(part, fate, &mut empty);
        }
        let Closing::Own(Some(notice)) = closing else { return };
        for choice in empty {
            let made = parts::text(Channel::Content, notice, None);
            draft(&mut self.drafts, choice).parts.push(made.into());
        }
    }

    /// Writes what is left of one of upstream's parts.
    fn own(&mut self, part: &Part, fate: Fate, candidate: usize) {
        let place = place(part);
        let Some(raw) = self.document.part(candidate, part.delta.place.inner as usize) else { return };
        if fate == Fate::Kept && !self.touched.contains(&place) {
            if self.whole != Some(place) {
                self.whole = Some(place);
                let raw = self.moved(part, raw);
                self.push(candidate, raw);
            }
            return;
        }
        let own = parts::signature(raw).filter(|_| self.signed != Some(place));
        self.signed = Some(place);
        if let Some(made) = self.piece(part, fate, raw, own) {
            self.push(candidate, made.into());
        }
    }

    /// A part that leaves whole, with the signature that waits for it.
    fn moved(&mut self, part: &Part, raw: &'d str) -> Cow<'d, str> {
        if self.ledger.signs(part)
            && let Some(signature) = self.ledger.take_signature(part.delta.choice.unwrap_or_default())
            && parts::signature(raw).is_none()
        {
            return parts::with_signature(raw, &signature).into();
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
                (!text.is_empty() || own.is_some()).then(|| parts::text(*channel, text, own))
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
                json::member(raw, kind).map(|value| parts::field(kind, value, own))
            }
            DeltaKind::Opaque { .. } => own.map(|own| parts::text(Channel::Content, "", Some(own))),
            DeltaKind::Stop if leaves && self.called != Some(place(part)) && self.ledger.is_open(choice) => {
                Some(parts::field("functionCall", "{}", own))
            }
            _ => None,
        }
    }

    fn call(&mut self, choice: u32, call: &CallDelta, fate: Fate, raw: &str, own: Option<&str>) -> String {
        let waiting = if call.starts { self.ledger.take_signature(choice) } else { None };
        let signature = own.or(waiting.as_deref());
        let came = json::member(raw, "functionCall");
        match came {
            Some(came) if fate == Fate::Kept => parts::field("functionCall", came, signature),
            came if !call.starts => parts::fragment(came, call.arguments.as_deref(), signature),
            _ => parts::call(call, signature),
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
