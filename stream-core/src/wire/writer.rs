//! The writer: the work that is the same in all formats, over the parts that a format supplies.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use bytes::Bytes;

use super::sink::{self, Sink};
use super::template::MadeEvent;
use super::turn::{RefusalRule, TurnLedger};
use super::{Ending, EndingKind, Fate, Odd, Outgoing, Part, Writer, WriterOptions, without_stray};
use crate::block::BlockKey;
use crate::delta::DeltaKind;
use crate::json;
use crate::sse::{self, Frame};

/// The state of every writer for one response. `T` is the state of a format beside each turn.
#[derive(Debug, Default)]
pub(super) struct WireState<T = ()> {
    /// Frames that are not plain are written anew (rule 28).
    pub(super) normalise: bool,
    /// The request asked for several choices.
    pub(super) several: bool,
    /// Calls that some clients would read together with those of another choice, or at another position than that of their choice.
    pub(super) apart: BTreeSet<BlockKey>,
    pub(super) turns: TurnLedger<T>,
    pub(super) sink: Sink,
    /// The data of the last frame with token counts, written or not: an ending repeats the counts.
    pub(super) usage: Option<Bytes>,
    /// The number of bytes of inserted text that were discarded, since the format allows no text there.
    pub(super) unplaced: usize,
    /// The reason why the current frame is written anew (rule 28).
    pub(super) odd: Option<Odd>,
    /// Every part of the current frame is kept.
    untouched: bool,
    /// The reason why a frame was written anew although every part was kept; the engine takes the reason once.
    normalised: Option<Odd>,
}

impl<T: Default> WireState<T> {
    pub(super) fn new(options: &WriterOptions, sink: Sink) -> Self {
        let &WriterOptions { normalise, several, .. } = options;
        Self { normalise, several, turns: TurnLedger::new(options), sink, ..Self::default() }
    }

    /// Begins a frame, which is written anew if it is odd. Lines that are no event are then left out of the parts.
    pub(super) fn enter(&mut self, frame: &Frame, odd: Option<Odd>, parts: &mut Vec<Part>) {
        self.odd = None;
        self.untouched = parts.iter().all(|part| part.fate == Fate::Kept);
        self.mark(odd);
        if self.odd.is_some() {
            without_stray(frame, parts);
        }
    }

    /// Sets the reason why the current frame is written anew; the first reason stays.
    pub(super) fn mark(&mut self, odd: Option<Odd>) {
        self.odd = self.odd.or(odd).filter(|_| self.normalise);
        self.normalised = self.normalised.or(self.odd.filter(|_| self.untouched));
    }

    /// Keeps the data of a frame that has token counts.
    pub(super) fn remember_usage(&mut self, data: &Bytes, parts: &[Part]) {
        if parts.iter().any(|part| matches!(part.delta.kind, DeltaKind::Usage(_))) {
            self.usage = Some(data.clone());
        }
    }

    /// The token counts of the last frame that had them, as JSON, at this path of its data.
    pub(super) fn usage_at(&self, path: &[&str]) -> Option<&str> {
        json::find(std::str::from_utf8(self.usage.as_ref()?).ok()?, path)
    }

    /// Whether a part belongs to a call that is set apart.
    pub(super) fn is_apart(&self, part: &Part) -> bool {
        !self.apart.is_empty() && part.key.is_some_and(|key| self.apart.contains(&key))
    }

    /// Whether the position of a choice has to be its number: clients that did not ask for several choices may go by
    /// position.
    pub(super) fn by_position(&self) -> bool {
        self.normalise && !self.several
    }
}

/// The templates that begin and end a response, in a format's `templates.rs`.
pub(super) trait Templates {
    /// The terminal marker, where it is no event.
    const TERMINAL: Option<&'static str> = None;

    /// An error.
    fn error(ending: &Ending) -> MadeEvent;

    /// A keep-alive.
    fn keep_alive(&self) -> &'static str {
        COMMENT
    }
}

/// How a format writes a whole response, in its `whole.rs`.
pub(super) trait WholeBody: Templates {
    /// The response anew; with a `refusal`, as a refused one.
    fn body(&mut self, came: &Bytes, parts: &[Part], refusal: Option<&str>) -> String;

    /// The response that is an error.
    fn error_body(&mut self, _came: &Bytes, _parts: &[Part], ending: &Ending) -> String {
        Self::error(ending).data.finish()
    }
}

/// The parts that a format supplies: its capabilities, its templates, and how a frame is written. In the format's `write.rs`.
pub(super) trait Grammar: WholeBody + fmt::Debug + Send {
    /// The state of the format beside each turn.
    type Own: fmt::Debug + Default + Send;

    /// Which choices a refusal may finish.
    const REFUSAL: RefusalRule;

    /// Whether clients tell calls of several choices apart by their index alone.
    const SETS_APART: bool = false;

    fn state(&self) -> &WireState<Self::Own>;

    fn state_mut(&mut self) -> &mut WireState<Self::Own>;

    /// Writes a frame whose parts are all decided.
    fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>);

    /// Writes the frames that waited for others, at the end of the stream.
    fn flush(&mut self, _out: &mut Vec<Bytes>) {}

    /// Opens the response, if nothing of the response was written.
    fn open(&mut self, _out: &mut Vec<Bytes>) {}

    /// Refuses the choices: closes open blocks, writes the message and finishes each choice.
    fn refuse(&mut self, choices: &[u32], message: &str, out: &mut Vec<Bytes>);

    /// Writes an event of a template.
    fn emit(&mut self, event: MadeEvent, out: &mut Vec<Bytes>) {
        self.state_mut().sink.event(event.name, &event.data.finish(), out);
    }

    /// Whether the format would write more text of an open block as its bytes.
    fn is_idle(&self) -> bool {
        false
    }

    /// Whether frames that say a text twice are written as their bytes, as far as the format knows.
    fn copies_pass(&self) -> bool {
        true
    }

    /// The number of bytes in frames that wait to be written.
    fn held(&self) -> usize {
        0
    }
}

/// The writer of a format.
#[derive(Debug)]
pub(super) struct FormatWriter<G>(pub(super) G);

impl<G: Grammar> Writer for FormatWriter<G> {
    fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        self.0.frame(outgoing, out);
    }

    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        let grammar = &mut self.0;
        grammar.flush(out);
        if !grammar.state_mut().turns.end() {
            return;
        }
        grammar.open(out);
        let refusable = grammar.state().turns.refusable(G::REFUSAL);
        match refusable.filter(|_| ending.kind == EndingKind::Refuse) {
            Some(choices) => grammar.refuse(&choices, &ending.message, out),
            None => grammar.emit(G::error(ending), out),
        }
        if let Some(terminal) = G::TERMINAL {
            grammar.state_mut().sink.put(Bytes::from_static(terminal.as_bytes()), out);
        }
    }

    fn flush(&mut self, out: &mut Vec<Bytes>) {
        self.0.flush(out);
    }

    fn keep_alive(&self) -> Bytes {
        Bytes::from_static(self.0.keep_alive().as_bytes())
    }

    fn whole(&mut self, mut body: Outgoing, ending: Option<&Ending>) -> Bytes {
        let grammar = &mut self.0;
        let untouched = ending.is_none() && body.is_untouched();
        if let Some(frame) = &body.frame {
            grammar.state_mut().enter(frame, frame.odd(), &mut body.parts);
        }
        // A body that could not be decoded has no frame, but an ending.
        let came = body.frame.as_ref().map(|frame| frame.raw().clone()).unwrap_or_default();
        let written = match ending {
            None if untouched && grammar.state().odd.is_none() => came,
            Some(ending) if ending.kind == EndingKind::Error => {
                grammar.error_body(&came, &body.parts, ending).into()
            }
            ending => grammar.body(&came, &body.parts, ending.map(Ending::message)).into(),
        };
        let state = grammar.state_mut();
        let written = match std::str::from_utf8(&written).map(sse::escaped) {
            // Clients that asked for a stream read a body line by line, and put the lines together without what parts them.
            Ok(Cow::Owned(escaped)) if state.normalise => {
                state.mark(Some(Odd::Lines));
                escaped.into()
            }
            _ => written,
        };
        state.normalised = state.normalised.filter(|_| untouched);
        state.turns.end();
        written
    }

    fn ended(&self) -> bool {
        self.0.state().turns.has_ended()
    }

    fn held(&self) -> usize {
        self.0.held()
    }

    fn unplaced(&mut self) -> usize {
        std::mem::take(&mut self.0.state_mut().unplaced)
    }

    fn is_plain(&self) -> bool {
        self.is_plain_again() && self.0.copies_pass()
    }

    fn is_plain_again(&self) -> bool {
        let state = self.0.state();
        state.sink.is_at_border() && !state.turns.has_ended() && self.0.is_idle()
    }

    fn sets_apart(&self) -> bool {
        G::SETS_APART
    }

    fn set_apart(&mut self, call: BlockKey) {
        self.0.state_mut().apart.insert(call);
    }

    fn normalised(&mut self) -> Option<Odd> {
        self.0.state_mut().normalised.take()
    }
}

/// The data of a frame, also the data that only lenient clients read.
pub(super) fn data(frame: &Frame) -> Option<Bytes> {
    frame.data().or_else(|| frame.lenient_data())
}

/// A frame with the event alone, without the lines that belong to no event.
pub(super) fn event_only(frame: &Frame) -> Option<Frame> {
    let data = data(frame)?;
    let json = std::str::from_utf8(&data).ok()?;
    sink::frame(sink::name(frame, json).as_deref(), json)
}

/// The keep-alive of all APIs but Gemini.
pub(super) const COMMENT: &str = ": keep-alive\n\n";
