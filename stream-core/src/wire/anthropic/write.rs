//! Writing streams: each frame by the fate of its parts, its numbers by the blocks before.

use std::borrow::Cow;
use std::collections::VecDeque;

use bytes::Bytes;

use crate::block::BlockKey;
use crate::delta::{Channel, DeltaKind, FinishReason, Usage};
use crate::json;
use crate::sse::Frame;
use crate::wire::sink::Sink;
use crate::wire::template::MadeEvent;
use crate::wire::turn::{RefusalRule, Turn, Weight};
use crate::wire::writer::{self, Grammar, WireState};
use crate::wire::{Fate, Odd, Outgoing, Part, WriterOptions};

use super::block::{CHOICE, is_empty_input};
use super::blocks::{BlockKind, Blocks};
use super::normal;
use super::templates::{self, StopFields};

/// Writes one message.
#[derive(Debug)]
pub(super) struct MessagesWriter {
    pub(super) state: WireState,
    pub(super) blocks: Blocks,
    /// Inserted text and calls that wait for the block on the wire to stop.
    pub(super) waiting: VecDeque<DeltaKind>,
    /// Token counts, also those of dropped events.
    counts: Usage,
    /// The data of a dropped `message_start`.
    pub(super) held_opening: Option<Bytes>,
}

/// A frame to write, and the upstream's frame where it was normalised: the spans of deltas refer to the upstream's frame.
#[derive(Debug)]
pub(super) struct EventFrame {
    pub(super) frame: Frame,
    came: Option<Frame>,
}

impl EventFrame {
    /// The data of the upstream.
    pub(super) fn data(&self) -> String {
        data(self.came.as_ref().unwrap_or(&self.frame))
    }
}

impl MessagesWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self {
            state: WireState::new(options, Sink::default()),
            blocks: Blocks::new(options.normalise),
            waiting: VecDeque::new(),
            counts: Usage::default(),
            held_opening: None,
        }
    }

    /// The frame to write: the upstream's if it is plain, else its event; `None` where there is no event.
    fn normal(&mut self, frame: Frame, parts: &mut Vec<Part>) -> Option<EventFrame> {
        self.state.enter(&frame, frame.odd(), parts);
        match self.state.odd {
            None => Some(EventFrame { frame, came: None }),
            // Lines that no client can read.
            Some(_) if !parts.iter().any(Part::came) => None,
            Some(_) => {
                let normal = normal::frame(&frame, self.state.sink.is_named_or(&frame))?;
                Some(EventFrame { frame: normal, came: Some(frame) })
            }
        }
    }

    /// The block of a part; without fields of other types where the frame is not plain.
    pub(super) fn block<'d>(&self, part: &Part, data: &'d str) -> Cow<'d, str> {
        let raw = part.delta.site.element.slice(data);
        if self.state.odd.is_some() { normal::block(raw) } else { raw.into() }
    }

    /// Records the weight and the token counts of every part, written or dropped.
    pub(super) fn note(&mut self, parts: &[Part]) {
        for part in own(parts) {
            let weight = match &part.delta.kind {
                DeltaKind::Usage(usage) => {
                    self.counts.merge(*usage);
                    continue;
                }
                // A block that the provider runs, and its tool name.
                DeltaKind::Opaque { .. } => Weight::Aside,
                DeltaKind::Call(call) if !call.starts => Weight::Aside,
                kind if kind.is_payload() => Weight::of(kind),
                _ => continue,
            };
            self.state.turns.note(part, part.fate, weight);
        }
    }

    /// Writes the event of any frame but a `message_start`: its parts belong to one block, or to the message.
    fn event(&mut self, event: &EventFrame, parts: &[Part], out: &mut Vec<Bytes>) {
        let in_block = own(parts).find_map(|part| Some((part, part.item()?)));
        let Some((first, item)) = in_block else { return self.message_event(&event.frame, parts, out) };
        let continues = matches!(first.delta.kind, DeltaKind::Opaque { .. }) && !first.delta.site.opens;
        let Some(kind) = BlockKind::opened_by(&first.delta.kind).filter(|_| !continues) else {
            return self.block_event(&event.frame, item, first, out);
        };
        let leaves = first.fate != Fate::Dropped;
        if let Some(displaced) = self.blocks.displace(item) {
            self.state.turns.turn(CHOICE).whole_call(displaced);
            self.emit(templates::block_stop(displaced), out);
        }
        if let Some(number) = self.start(first.key, item, kind, leaves) {
            self.block_start(event, (item, number), (first, kind), parts, out);
        }
    }

    /// Records the start of an upstream block, and returns its number on the wire; `None` if the block is dropped.
    fn start(&mut self, key: Option<BlockKey>, item: u32, kind: BlockKind, leaves: bool) -> Option<u64> {
        let number = self.blocks.start(key, item, kind, leaves)?;
        let turn = self.state.turns.turn(CHOICE);
        turn.opened = true;
        if kind.may_run() {
            turn.half_call(number);
        }
        Some(number)
    }

    fn block_start(
        &mut self,
        event: &EventFrame,
        (item, number): (u32, u64),
        (first, kind): (&Part, BlockKind),
        parts: &[Part],
        out: &mut Vec<Bytes>,
    ) {
        let text = text_left(own(parts));
        if own(parts).all(|part| part.fate == Fate::Kept) && self.state.odd != Some(Odd::Type) {
            return self.keep(&event.frame, item, number, out);
        }
        let data = event.data();
        let block = &*self.block(first, &data);
        match (&first.delta.kind, kind) {
            (DeltaKind::Call(call), _) => {
                let arguments = call.arguments.as_deref().unwrap_or_default();
                let was_filled = json::member(block, "input").is_some_and(|input| !is_empty_input(input));
                let fits = was_filled && json::is_object(arguments) && self.state.odd != Some(Odd::Type);
                let input = if fits { arguments } else { "{}" };
                self.emit(templates::block_start(number, &templates::call_block(block, call, input)), out);
                if !fits && !arguments.is_empty() {
                    self.emit(templates::input_delta(number, arguments), out);
                }
            }
            (DeltaKind::Opaque { .. }, _) if self.state.odd == Some(Odd::Type) => {
                let input = json::member(block, "input").unwrap_or("{}");
                let empty = json::set(block, &[("input", "{}")]);
                self.emit(templates::block_start(number, &empty), out);
                self.emit(templates::input_delta(number, input), out);
            }
            (_, BlockKind::Thinking) => {
                self.emit(templates::block_start(number, &templates::thinking_block(block, text)), out);
            }
            (_, BlockKind::Text) => {
                self.emit(templates::block_start(number, &templates::text_block(text)), out);
            }
            _ => self.keep(&event.frame, item, number, out),
        }
    }

    /// Writes a delta or the stop of a block.
    fn block_event(&mut self, frame: &Frame, item: u32, part: &Part, out: &mut Vec<Bytes>) {
        if self.state.normalise && part.fate != Fate::Dropped {
            if !self.blocks.knows(part.key, item) {
                self.start_unopened(item, part, out);
            }
            if matches!(part.delta.kind, DeltaKind::Call(_)) && !self.blocks.takes_input(part.key, item) {
                // Some clients would assign these arguments to another call.
                self.state.mark(Some(Odd::Identity));
                return;
            }
        }
        let stops = matches!(part.delta.kind, DeltaKind::Stop);
        if let Some(number) = self.blocks.find(part.key, item) {
            if part.fate == Fate::Dropped {
                return;
            }
            self.state.turns.turn(CHOICE).opened = true;
            match (&part.delta.kind, part.fate) {
                (DeltaKind::Text { text, .. }, Fate::Edited) if text.is_empty() => {}
                (DeltaKind::Text { channel, text }, Fate::Edited) => {
                    self.emit(templates::text_delta(number, *channel, text), out);
                }
                (DeltaKind::Call(call), Fate::Edited) => {
                    let arguments = call.arguments.as_deref().filter(|arguments| !arguments.is_empty());
                    if let Some(arguments) = arguments {
                        self.emit(templates::input_delta(number, arguments), out);
                    }
                }
                _ => self.keep(frame, item, number, out),
            }
        }
        // The stop of a dropped block still has to be recorded.
        if stops {
            if let Some(number) = self.blocks.stop(part.key, item) {
                self.state.turns.turn(CHOICE).whole_call(number);
            }
            self.settle(false, out);
        }
    }

    /// Starts the text block of a delta whose start is missing. Any other delta is meaningless without its start.
    fn start_unopened(&mut self, item: u32, part: &Part, out: &mut Vec<Bytes>) {
        self.state.mark(Some(Odd::Order));
        let DeltaKind::Text { channel, .. } = part.delta.kind else { return };
        let (kind, block) = match channel {
            Channel::Reasoning => (BlockKind::Thinking, templates::thinking_block("{}", "")),
            Channel::Content | Channel::Refusal => (BlockKind::Text, templates::text_block("")),
        };
        if let Some(number) = self.start(part.key, item, kind, true) {
            self.emit(templates::block_start(number, &block), out);
        }
    }

    /// Writes an event of the message as a whole, or of nothing known.
    fn message_event(&mut self, frame: &Frame, parts: &[Part], out: &mut Vec<Bytes>) {
        if let Some(data) = writer::data(frame) {
            self.state.remember_usage(&data, parts);
        }
        if own(parts).all(|part| part.fate == Fate::Dropped) {
            return;
        }
        let finish = own(parts).find_map(|part| match &part.delta.kind {
            DeltaKind::Finish(reason) => Some((reason, part.fate)),
            _ => None,
        });
        match finish {
            Some((reason, Fate::Edited)) => self.state.sink.patched(frame, &finish_with(frame, reason), out),
            // An ending is written in its place, with the usage.
            Some((_, Fate::Dropped)) => return,
            _ => self.state.sink.raw(frame, out),
        }
        for part in own(parts).filter(|part| part.fate != Fate::Dropped) {
            if ends_message(&part.delta.kind) || matches!(part.delta.kind, DeltaKind::Error(_)) {
                self.state.turns.note(part, part.fate, Weight::Nothing);
                self.state.turns.turn(CHOICE).opened = true;
            }
        }
    }

    /// Writes a frame with the number of its block on the wire, and no other change.
    fn keep(&mut self, frame: &Frame, item: u32, number: u64, out: &mut Vec<Bytes>) {
        if u64::from(item) == number {
            return self.state.sink.raw(frame, out);
        }
        self.state.sink.patched(frame, &json::set(&data(frame), &[("index", &number.to_string())]), out);
    }

    /// The counts of the upstream's last `message_delta`, written or dropped, else the sum of all counts.
    fn known_usage(&self) -> String {
        let counts = self.state.usage_at(&["usage"]).filter(|usage| json::is_object(usage));
        counts.map_or_else(|| templates::usage(self.counts), str::to_owned)
    }
}

impl Grammar for MessagesWriter {
    type Own = ();

    const REFUSAL: RefusalRule = RefusalRule::Together;

    fn state(&self) -> &WireState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut WireState {
        &mut self.state
    }

    fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        let Outgoing { frame, mut parts } = outgoing;
        self.note(&parts);
        let Some(mut event) = frame.and_then(|frame| self.normal(frame, &mut parts)) else {
            return self.insert_all(&parts, out);
        };
        let frame = &event.frame;
        self.state.sink.learn(frame, frame.data_bytes());
        if parts.is_empty() {
            return self.state.sink.raw(frame, out);
        }
        let untouched = parts.iter().all(|part| part.fate == Fate::Kept);
        // The dropped part may be one of the lines that belong to no event.
        if let Some(alone) = (frame.is_stray() && !untouched).then(|| writer::event_only(frame)).flatten() {
            event.frame = alone;
        }
        if parts.iter().any(|part| matches!(part.delta.kind, DeltaKind::Opening)) {
            return self.opening(&event, &parts, out);
        }
        if parts.iter().any(|part| ends_message(&part.delta.kind) && part.fate != Fate::Dropped) {
            self.insert_all(&parts, out);
            self.complete(out);
            return self.event(&event, &parts, out);
        }
        let mut written = false;
        for part in &parts {
            if part.fate == Fate::Inserted {
                self.insert(&part.delta.kind, out);
            } else if !std::mem::replace(&mut written, true) {
                self.event(&event, &parts, out);
            }
        }
    }

    fn open(&mut self, out: &mut Vec<Bytes>) {
        if !self.state.turns.turn(CHOICE).opened {
            let opening = self.held_opening.take().unwrap_or_default();
            let opening = String::from_utf8_lossy(&opening);
            let message = json::member(&opening, "message");
            let message = templates::message(message, &[], &StopFields::default());
            self.emit(templates::message_start(&message), out);
        }
    }

    fn refuse(&mut self, _choices: &[u32], message: &str, out: &mut Vec<Bytes>) {
        // Waiting text is still written, since it may explain the refusal; a client would run a waiting call.
        self.waiting.retain(|kind| matches!(kind, DeltaKind::Text { .. }));
        for number in self.blocks.close_all() {
            self.emit(templates::block_stop(number), out);
        }
        self.settle(true, out);
        let usage = self.known_usage();
        self.emit(templates::message_delta(&StopFields::refusal(message), &usage), out);
        self.emit(templates::message_stop(), out);
    }

    /// Writes a made event, with a name where the events of the stream have names. Clients that go by names know an error by its name
    /// alone.
    fn emit(&mut self, event: MadeEvent, out: &mut Vec<Bytes>) {
        let sink = &mut self.state.sink;
        let name = event.name.filter(|name| sink.is_named() || *name == "error");
        sink.event(name, &event.data.finish(), out);
    }

    fn is_idle(&self) -> bool {
        let finished = self.state.turns.known(CHOICE).is_some_and(Turn::is_finished);
        !finished && self.waiting.is_empty()
    }
}

/// The data of a frame that is written anew.
pub(super) fn data(frame: &Frame) -> String {
    String::from_utf8_lossy(&writer::data(frame).unwrap_or_default()).into_owned()
}

/// The parts of the upstream.
fn own(parts: &[Part]) -> impl Iterator<Item = &Part> {
    parts.iter().filter(|part| part.came())
}

/// The text among the parts of a block that is not dropped; empty where there is none.
pub(super) fn text_left<'p>(mut parts: impl Iterator<Item = &'p Part>) -> &'p str {
    let text = parts.find_map(|part| match &part.delta.kind {
        DeltaKind::Text { text, .. } if part.fate != Fate::Dropped => Some(&**text),
        _ => None,
    });
    text.unwrap_or_default()
}

fn ends_message(kind: &DeltaKind) -> bool {
    matches!(kind, DeltaKind::Finish(_) | DeltaKind::Terminal)
}

/// The data of a `message_delta` with another stop reason; the stop sequence belonged to the old reason.
fn finish_with(frame: &Frame, reason: &FinishReason) -> String {
    let reason = json::quote(reason.raw());
    let data = data(frame);
    let delta = json::member(&data, "delta").unwrap_or("{}");
    let delta = json::set(delta, &[("stop_reason", &reason), ("stop_sequence", "null")]);
    json::set(&data, &[("delta", &delta)])
}
