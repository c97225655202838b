//! Calls of several choices, as those clients read them that tell calls apart by their index alone (rule 28): litellm's
//! `stream_chunk_builder` puts the arguments of all choices at one index together, under the last name (of `function_call` under the first).
//!
//! Two calls with arguments in brackets, one behind the other, are no JSON to such a client, and leave as they came. A call that would be
//! read with another's arguments is set apart. The first choice cannot be: where its call would be read so, the stream closes.

use std::collections::HashMap;

use serde::de::IgnoredAny;

use super::Engine;
use crate::block::{BlockKey, ToolCall};
use crate::delta::{CallDelta, CallFlavor, DeltaKind, Text};
use crate::error::{Error, ErrorKind};
use crate::few::Few;
use crate::json::Nesting;
use crate::policy::Attention;
use crate::wire::{Fate, Outgoing, Part};

/// The calls that were written and are not set apart, as such a client joins them.
#[derive(Debug, Default)]
pub(super) struct JoinedCalls {
    calls: HashMap<BlockKey, CallPlace>,
    /// The number of calls of each choice that were written.
    left: Few<u32>,
    /// The joined arguments by the index of the calls on the wire; those of `function_call` under `u32::MAX`.
    places: Few<Place>,
}

/// A call whose first part was written.
#[derive(Debug, Clone)]
struct CallPlace {
    choice: u32,
    place: u32,
    name: Text,
    id: Option<Text>,
    apart: bool,
    /// The judged arguments, once the call was seen complete.
    judged: Option<Judged>,
}

/// The arguments that such a client has joined at one index.
#[derive(Debug, Default)]
struct Place {
    choices: Vec<u32>,
    /// The call that wrote last, and its name.
    last: Option<BlockKey>,
    name: Text,
    first_name: Text,
    /// The arguments, as long as they may be JSON, and who has written them.
    text: String,
    nesting: Nesting,
    writers: Vec<BlockKey>,
    is_broken: bool,
    is_custom: bool,
}

/// The shape of the arguments of a call, as they were judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judged {
    Blank,
    /// An object or a list.
    Brackets,
    Other,
}

/// The most calls of which the joined reading is looked at: each look goes over all calls.
const MOST: usize = 1024;

impl Engine {
    /// Records the calls of a frame before it is written, and sets apart those that a client would read with the arguments of another.
    ///
    /// # Errors
    ///
    /// When such a call is of the first choice.
    pub(super) fn without_joined_calls(&mut self, frame: &Outgoing) -> Result<(), Error> {
        let Some(mut joined) = self.joined_calls.take() else { return Ok(()) };
        let parts = frame.parts.iter().filter(|part| part.fate != Fate::Dropped);
        let found = parts.into_iter().try_for_each(|part| self.joined_call(&mut joined, part));
        self.joined_calls = Some(joined);
        found
    }

    fn joined_call(&mut self, joined: &mut JoinedCalls, part: &Part) -> Result<(), Error> {
        let (DeltaKind::Call(call), Some(choice), Some(key)) =
            (&part.delta.kind, part.delta.choice, part.key)
        else {
            return Ok(());
        };
        let Some(of) = joined.calls.get(&key).cloned().or_else(|| joined.open(key, choice, call)) else {
            return Ok(());
        };
        if of.apart {
            return Ok(());
        }
        let place = joined.places.or_default(of.place);
        if !place.choices.contains(&choice) {
            place.choices.push(choice);
        }
        if place.choices.len() > 1 && joined.calls.len() > MOST {
            let message =
                format!("expected at most {MOST} calls in several choices, found {}", joined.calls.len());
            return Err(Error::new(ErrorKind::Ambiguous, message));
        }
        let judged = if place.choices.len() > 1 { self.judged(key, &of, call, part.fate) } else { None };
        if let Some(judged) = judged {
            joined.calls.entry(key).and_modify(|of| of.judged = Some(judged));
            // Arguments of a call whose name has left would come under the name of this one.
            let waiting = place.last.filter(|last| *last != key && place.text.is_empty());
            let waiting = waiting.and_then(|last| self.complete(last, joined.calls.get(&last)?));
            let waiting = waiting.unwrap_or(Judged::Blank);
            if place.fits(key, &of, call, judged, waiting) {
                place.add(key, &of, call);
                return Ok(());
            }
            let gives_way = !place.is_custom && call.flavor == CallFlavor::Function && place.text.is_empty();
            let other = place.last.filter(|last| choice == 0 && gives_way && *last != key);
            let Some(apart) = other.or(Some(key).filter(|_| choice > 0)) else {
                let message = "expected calls of one choice at each index, found arguments of another choice before a call of the first";
                return Err(Error::new(ErrorKind::Ambiguous, message));
            };
            joined.calls.entry(apart).and_modify(|call| call.apart = true);
            self.writer.iter_mut().for_each(|writer| writer.set_apart(apart));
            if apart == key {
                return Ok(());
            }
        }
        joined.places.or_default(of.place).add(key, &of, call);
        Ok(())
    }

    /// What the arguments of a call are, all of them, if a policy has seen it complete. A call that nobody saw so was not judged.
    fn judged(&self, key: BlockKey, of: &CallPlace, call: &CallDelta, fate: Fate) -> Option<Judged> {
        match fate {
            Fate::Kept => of.judged.or_else(|| self.complete(key, of)),
            // A replacement comes whole, in its first part.
            _ => Some(Judged::of(call.arguments.as_deref().unwrap_or_default())),
        }
    }

    /// What the arguments of a call are that came complete.
    fn complete(&self, key: BlockKey, of: &CallPlace) -> Option<Judged> {
        let stages =
            self.stages.iter().filter(|stage| !stage.watching && stage.needs.calls != Attention::Nothing);
        let is_it = |known: &&ToolCall| {
            let same =
                || known.choice() == of.choice && known.name() == &*of.name && known.id() == of.id.as_deref();
            known.is_complete() && (known.key() == key || same())
        };
        let mut found = stages.filter_map(|stage| stage.fold.state.tool_calls().find(is_it));
        found.next().map(|known| Judged::of(known.arguments()))
    }
}

impl JoinedCalls {
    /// A call begins to leave, if it has its name: until then none of it does.
    fn open(&mut self, key: BlockKey, choice: u32, call: &CallDelta) -> Option<CallPlace> {
        let name = call.name.clone()?;
        let left = self.left.or_default(choice);
        let place = if call.flavor == CallFlavor::LegacyFunction { u32::MAX } else { *left };
        *left += u32::from(place == *left);
        let opened = CallPlace { choice, place, name, id: call.id.clone(), apart: false, judged: None };
        self.calls.insert(key, opened.clone());
        Some(opened)
    }
}

impl Place {
    /// Whether more of a call, where several choices have written, makes nothing of it that was not judged.
    fn fits(&self, key: BlockKey, of: &CallPlace, call: &CallDelta, judged: Judged, waiting: Judged) -> bool {
        let is_alone = self.text.is_empty() && waiting == Judged::Blank;
        let piece = call.arguments.as_deref().unwrap_or_default();
        match call.flavor {
            CallFlavor::Custom => false,
            _ if self.is_custom => false,
            CallFlavor::LegacyFunction => match judged {
                Judged::Brackets if !self.text.is_empty() => !self.is_whole_with(key, piece),
                Judged::Blank => self.first_name == of.name,
                _ => is_alone && self.first_name == of.name,
            },
            _ => match judged {
                // Behind all of it there is no JSON, but for what several have written.
                Judged::Brackets => waiting != Judged::Other && !self.is_whole_with(key, piece),
                Judged::Blank => is_alone || self.name == of.name,
                Judged::Other => is_alone || self.writers == [key],
            },
        }
    }

    /// Whether the arguments of several calls, with this piece, are one JSON value.
    fn is_whole_with(&self, key: BlockKey, piece: &str) -> bool {
        let is_joined = self.writers.iter().any(|writer| *writer != key) && !piece.trim().is_empty();
        let mut nesting = self.nesting;
        nesting.read(piece);
        let is_value = || serde_json::from_str::<IgnoredAny>(&[&self.text, piece].concat()).is_ok();
        is_joined && !self.is_broken && nesting.is_whole() && (self.text.len() > LONGEST || is_value())
    }

    fn add(&mut self, key: BlockKey, of: &CallPlace, call: &CallDelta) {
        if self.last.is_none() {
            self.first_name.clone_from(&of.name);
        }
        if call.name.is_some() {
            self.name.clone_from(&of.name);
        }
        self.last = Some(key);
        self.is_custom |= call.flavor == CallFlavor::Custom;
        let piece = call.arguments.as_deref().unwrap_or_default();
        if piece.trim().is_empty() {
            return;
        }
        if !self.writers.contains(&key) {
            self.writers.push(key);
        }
        // Behind one whole value there is no JSON any more, whatever follows. Numbers are none.
        self.is_broken |= self.nesting.is_whole() && self.text.ends_with(['}', ']']);
        self.nesting.read(piece);
        if !self.is_broken && self.text.len() <= LONGEST {
            self.text.push_str(piece.trim_end());
        }
    }
}

/// How much of the arguments is kept. What is longer counts as JSON where its brackets are closed.
const LONGEST: usize = 1 << 20;

impl Judged {
    fn of(arguments: &str) -> Self {
        match arguments.trim_start().as_bytes().first() {
            None => Self::Blank,
            Some(b'{' | b'[') if serde_json::from_str::<IgnoredAny>(arguments).is_ok() => Self::Brackets,
            Some(_) => Self::Other,
        }
    }
}
