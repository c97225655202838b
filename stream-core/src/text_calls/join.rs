//! Frames on their way out: the pieces of a text become one part again, as the format has it.

use super::split::{CutPiece, TextCalls, Wire};
use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Restated, Slot};
use crate::wire::{Fate, Outgoing, Part};

/// How a call left, for the rest of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// As it stands in the text; without what separated it from a call before, where that is gone.
    Written { bare: bool },
    /// Not at all, or in other words: nothing of its text leaves.
    Gone,
}

/// A part that is being put together.
struct Joined {
    wire: u32,
    /// Where it stands among the frame's parts.
    at: usize,
    text: String,
    part: Part,
}

impl TextCalls {
    /// Puts the pieces of a frame's texts together.
    pub(crate) fn join(&mut self, frame: Outgoing) -> Outgoing {
        for part in &frame.parts {
            if matches!(part.delta.kind, DeltaKind::Start { .. }) && part.fate != Fate::Dropped {
                self.opened.insert(part.delta.slot);
            }
        }
        let is_whole = |part: &Part| part.delta.split.is_none();
        if frame.parts.iter().all(is_whole) {
            return frame;
        }
        let mut parts: Vec<Part> = Vec::with_capacity(frame.parts.len());
        let mut open: Option<Joined> = None;
        // A text that was put before a piece, in place of a call.
        let mut lead: Option<Part> = None;
        for part in frame.parts {
            let Some(split) = &part.delta.split else {
                parts.extend(lead.take());
                match (&mut open, &part.delta.kind) {
                    // A text that was put between two pieces is part of their text.
                    (Some(joined), DeltaKind::Text { text, .. })
                        if part.fate == Fate::Inserted && part.delta.choice == joined.part.delta.choice =>
                    {
                        joined.text.push_str(text);
                    }
                    (None, DeltaKind::Text { .. }) if part.fate == Fate::Inserted => lead = Some(part),
                    _ => parts.push(part),
                }
                continue;
            };
            let Some(piece) = self.pieces.remove(&split.piece) else { continue };
            if let Some(done) = open.take_if(|joined| joined.wire != piece.wire) {
                self.finish(done, &mut parts);
            }
            if let DeltaKind::Copy(_) = part.delta.kind {
                parts.extend(lead.take());
                parts.extend(self.copied(part, piece.wire));
                continue;
            }
            let mut text = self.left(&part, &piece);
            if let Some(lead) = lead.take() {
                match &lead.delta.kind {
                    DeltaKind::Text { text: said, .. } if self.takes(&lead, &part) => {
                        text.insert_str(0, said);
                    }
                    _ => parts.push(lead),
                }
            }
            match &mut open {
                Some(joined) => {
                    joined.text.push_str(&text);
                    if joined.part.fate == Fate::Dropped && part.fate != Fate::Dropped {
                        joined.part.key = part.key;
                    }
                }
                None => {
                    let at = parts.len();
                    let Some(wire) = self.wires.get(&piece.wire) else { continue };
                    let part = Part { delta: wire.delta.clone(), key: part.key, fate: part.fate };
                    open = Some(Joined { wire: piece.wire, at, text, part });
                }
            }
        }
        if let Some(done) = open {
            self.finish(done, &mut parts);
        }
        parts.extend(lead);
        Outgoing { frame: frame.frame, parts }
    }

    /// Whether a text can stand in a piece's text: a numbered one must have been opened.
    fn takes(&self, inserted: &Part, piece: &Part) -> bool {
        let is_open = match piece.delta.slot {
            Slot::At { .. } => self.opened.contains(&piece.delta.slot),
            _ => true,
        };
        is_open && inserted.delta.choice == piece.delta.choice
    }

    /// What is left of a piece.
    fn left(&mut self, part: &Part, piece: &CutPiece) -> String {
        let CutPiece { raw, lead, .. } = piece;
        let split = part.delta.split.as_deref();
        let section = split.and_then(|split| split.section);
        let Some(number) = split.and_then(|split| split.call) else {
            return match (part.fate, &part.delta.kind) {
                (Fate::Dropped, _) => String::new(),
                (_, DeltaKind::Text { text, .. }) => text.to_string(),
                _ => raw.clone(),
            };
        };
        if let DeltaKind::CallText = part.delta.kind {
            return match self.calls.get(&number) {
                Some(Left::Written { bare: true }) => raw[*lead..].to_owned(),
                Some(Left::Written { bare: false }) => raw.clone(),
                _ => String::new(),
            };
        }
        // What separates it from the call before leaves only if such a call did.
        let bare = section.is_some_and(|section| !self.sections.contains(&section));
        let separator = if bare { "" } else { &raw[..*lead] };
        let (text, left) = match (part.fate, &part.delta.kind) {
            (Fate::Dropped, _) => (String::new(), Left::Gone),
            (Fate::Kept, _) => (format!("{separator}{}", &raw[*lead..]), Left::Written { bare }),
            (_, DeltaKind::Call(CallDelta { instead: Some(text), .. })) => (text.to_string(), Left::Gone),
            (_, DeltaKind::Call(call)) => {
                let written = call.written.as_ref();
                let again = written.and_then(|written| {
                    let name = call.name.as_deref().unwrap_or(written.name());
                    written.rewritten(name, call.arguments.as_deref().unwrap_or("{}"))
                });
                // What the dialect cannot say does not leave at all.
                (again.map_or_else(String::new, |again| format!("{separator}{again}")), Left::Gone)
            }
            _ => (String::new(), Left::Gone),
        };
        let unwrapped = matches!(&part.delta.kind, DeltaKind::Call(call) if call.instead.is_some());
        if let (Some(section), false, false) = (section, text.is_empty(), unwrapped) {
            self.sections.insert(section);
        }
        self.calls.insert(number, left);
        text
    }

    /// All pieces of a part came: it leaves as it came, with what is left, or not at all.
    fn finish(&mut self, joined: Joined, parts: &mut Vec<Part>) {
        let Joined { wire, at, mut text, mut part } = joined;
        let Some(Wire { delta, block, start }) = self.wires.remove(&wire) else { return };
        let untouched = said(&delta) == Some(text.as_str());
        if !untouched && self.signed && block.2 == Channel::Reasoning {
            // A signature stands for it: it is emptied, never edited (rule 22).
            text.clear();
        }
        if let Some(block) = self.blocks.get_mut(&block) {
            if !untouched {
                block.edited(start);
            }
            if let Some(sent) = &mut block.sent {
                sent.push_str(&text);
            }
        }
        part.delta = delta;
        if let DeltaKind::Copy(copy) = &mut part.delta.kind {
            // It was the text itself, since nothing came before.
            copy.is_first = true;
        }
        part.fate = if untouched {
            Fate::Kept
        } else if text.is_empty() {
            Fate::Dropped
        } else {
            say(&mut part.delta, &text);
            Fate::Edited
        };
        parts.insert(at, part);
    }

    /// A copy says what is left of its text.
    fn copied(&mut self, mut part: Part, wire: u32) -> Option<Part> {
        let Wire { delta, block, .. } = self.wires.remove(&wire)?;
        let sent = self.blocks.get(&block).and_then(|block| block.sent.clone());
        part.delta = delta;
        match sent {
            _ if part.fate == Fate::Dropped => {}
            None => part.fate = Fate::Kept,
            // Reasoning keeps its frame.
            Some(sent) if sent.is_empty() && block.2 != Channel::Reasoning => part.fate = Fate::Dropped,
            Some(sent) => {
                say(&mut part.delta, &sent);
                part.fate = Fate::Edited;
            }
        }
        Some(part)
    }
}

/// The text of a delta.
fn said(delta: &Delta) -> Option<&str> {
    match &delta.kind {
        DeltaKind::Text { text, .. } => Some(text),
        DeltaKind::Copy(Restated { body, .. }) => body.as_deref(),
        _ => None,
    }
}

/// Puts another text in a delta's place.
fn say(delta: &mut Delta, new: &str) {
    match &mut delta.kind {
        DeltaKind::Text { text, .. } => *text = new.into(),
        DeltaKind::Copy(copy) => copy.body = Some(new.into()),
        _ => {}
    }
}
