//! Writing streams: what has left, what waits, and each frame by the fate of its parts.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::delta::{Channel, DeltaKind, FinishReason, Slot, Text, Usage};
use crate::json::{self, At};
use crate::sse::Frame;
use crate::wire::{self, Ending, Fate, Odd, Outgoing, Part, Writer, WriterOptions};

use super::block::{OPENS, is_empty_input};
use super::normal;
use super::numbers::{BlockKind, Numbers};
use super::render;

/// Writes one message.
#[derive(Debug)]
pub(super) struct MessagesWriter {
    /// Stands in for an answer of which nothing is left.
    pub(super) notice: Option<Text>,
    pub(super) numbers: Numbers,
    /// Inserted text and calls that wait for the block on the wire to stop.
    pub(super) waiting: VecDeque<DeltaKind>,
    /// Bytes of inserted text that found no place.
    pub(super) unplaced: usize,
    /// Token counts seen, also in what did not leave, and the event with the last of them.
    pub(super) usage: Usage,
    pub(super) last_usage: Option<Bytes>,
    /// The data of a `message_start` that did not leave.
    pub(super) held_opening: Option<Bytes>,
    /// The message has begun on the wire.
    pub(super) opened: bool,
    /// Text or a call has left; reasoning alone leaves a turn empty.
    pub(super) shown: bool,
    /// Payload was dropped.
    pub(super) withheld: bool,
    /// A stop reason has left.
    pub(super) finished: bool,
    /// A `message_stop` or an error has left.
    pub(super) ended: bool,
    /// The last bytes written were an event without its border.
    torn: bool,
    /// Frames that are not plain are written anew (rule 28).
    pub(super) normalise: bool,
    /// Events have an `event` line: some proxies write none.
    named: Option<bool>,
    /// Why the last frame was written anew, and whether every part of it was kept.
    pub(super) odd: Option<Odd>,
    pub(super) untouched: bool,
}

impl MessagesWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self {
            notice: options.empty_notice.clone(),
            numbers: Numbers::new(options.normalise),
            waiting: VecDeque::new(),
            unplaced: 0,
            usage: Usage::default(),
            last_usage: None,
            held_opening: None,
            opened: false,
            shown: false,
            withheld: false,
            finished: false,
            ended: false,
            torn: false,
            normalise: options.normalise,
            named: None,
            odd: None,
            untouched: false,
        }
    }

    /// The frame as it is to be written: as it came if it is plain; `None` where nothing of it is an event.
    fn normal(&mut self, frame: Frame, parts: &mut Vec<Part>) -> Option<Frame> {
        let has_data = frame.data_bytes().is_some_and(|data| data.starts_with(b"{"));
        let named = match has_data {
            true => *self.named.get_or_insert(frame.event().is_some()),
            false => self.named.unwrap_or(true),
        };
        self.odd = frame.odd().filter(|_| self.normalise);
        if self.odd.is_none() {
            return Some(frame);
        }
        wire::without_stray(&frame, parts);
        normal::frame(&frame, named)
    }

    /// Writes events of our own, after the border that the last one may lack.
    pub(super) fn emit(&mut self, bytes: Bytes, out: &mut Vec<Bytes>) {
        if std::mem::take(&mut self.torn) {
            out.push(Bytes::from_static(b"\n\n"));
        }
        out.push(bytes);
    }

    /// Takes in what counts of every part, whether it leaves or not.
    pub(super) fn note(&mut self, parts: &[Part]) {
        for part in parts {
            match &part.delta.kind {
                DeltaKind::Usage(usage) => self.usage.merge(*usage),
                DeltaKind::Text { text, .. } if part.fate == Fate::Edited => self.withheld |= text.is_empty(),
                kind => self.withheld |= part.fate == Fate::Dropped && kind.is_payload(),
            }
        }
    }

    /// Writes the event of a frame that holds just one, as all but `message_start` do.
    fn event(&mut self, frame: &Frame, parts: &[Part], out: &mut Vec<Bytes>) {
        let in_block = own(parts).find_map(|part| match part.delta.slot {
            Slot::At { item, .. } => Some((part, item)),
            _ => None,
        });
        let Some((first, item)) = in_block else { return self.message_event(frame, parts, out) };
        let continues = matches!(first.delta.kind, DeltaKind::Opaque { .. })
            && usize::try_from(first.delta.place.inner) != Ok(OPENS);
        let Some(kind) = BlockKind::opened_by(&first.delta.kind).filter(|_| !continues) else {
            return self.block_event(frame, item, first, out);
        };
        let leaves = first.fate != Fate::Dropped;
        if let Some(displaced) = self.numbers.displace(item) {
            self.emit(render::block_stop(displaced), out);
        }
        if let Some(number) = self.numbers.start(first.key, item, kind, leaves) {
            self.block_start(frame, (item, number), (first, kind), parts, out);
        }
    }

    fn block_start(
        &mut self,
        frame: &Frame,
        (item, number): (u32, u32),
        (first, kind): (&Part, BlockKind),
        parts: &[Part],
        out: &mut Vec<Bytes>,
    ) {
        self.opened = true;
        let text = own(parts).find_map(|part| match &part.delta.kind {
            DeltaKind::Text { text, .. } if part.fate != Fate::Dropped => Some(&**text),
            _ => None,
        });
        let text = text.unwrap_or_default();
        self.shown |= kind == BlockKind::Call || (kind == BlockKind::Text && !text.is_empty());
        if own(parts).all(|part| part.fate == Fate::Kept) && self.odd != Some(Odd::Type) {
            return self.keep(frame, item, number, out);
        }
        let data = data(frame);
        let block = json::find(&data, &[At::Key("content_block")]).unwrap_or("{}");
        match (&first.delta.kind, kind) {
            (DeltaKind::Call(call), _) => {
                let arguments = call.arguments.as_deref().unwrap_or_default();
                let was_filled = json::member(block, "input").is_some_and(|input| !is_empty_input(input));
                let fits = was_filled && json::is_object(arguments) && self.odd != Some(Odd::Type);
                let input = if fits { arguments } else { "{}" };
                self.emit(render::block_start(number, &render::call_block(block, call, input)), out);
                if !fits && !arguments.is_empty() {
                    self.emit(render::input_delta(number, arguments), out);
                }
            }
            (DeltaKind::Opaque { .. }, _) if self.odd == Some(Odd::Type) => {
                let input = json::member(block, "input").unwrap_or("{}");
                let empty = json::patch(block, &[(&[At::Key("input")], "{}")]);
                self.emit(render::block_start(number, &empty), out);
                self.emit(render::input_delta(number, input), out);
            }
            (_, BlockKind::Thinking) => {
                self.emit(render::block_start(number, &render::thinking_block(block, text)), out);
            }
            (_, BlockKind::Text) => self.emit(render::block_start(number, &render::text_block(text)), out),
            _ => self.keep(frame, item, number, out),
        }
    }

    /// A delta or stop of a block.
    fn block_event(&mut self, frame: &Frame, item: u32, part: &Part, out: &mut Vec<Bytes>) {
        if self.normalise && part.fate != Fate::Dropped && !self.numbers.knows(part.key, item) {
            self.start_unopened(item, part, out);
        }
        if self.normalise
            && part.fate != Fate::Dropped
            && matches!(part.delta.kind, DeltaKind::Call(_))
            && !self.numbers.takes_input(part.key, item)
        {
            // Some clients would give these arguments to a call that they are not of.
            self.odd = self.odd.or(Some(Odd::Identity));
            return;
        }
        let number = self.numbers.find(part.key, item);
        let stops = part.delta.kind == DeltaKind::Stop;
        match (&part.delta.kind, number) {
            // A block whose start did not leave has nothing that could.
            (_, None) => {}
            _ if part.fate == Fate::Dropped => return,
            (DeltaKind::Text { channel, text }, Some(number)) => {
                self.opened = true;
                self.shown |= *channel != Channel::Reasoning && !text.is_empty();
                match part.fate {
                    Fate::Edited if text.is_empty() => {}
                    Fate::Edited => self.emit(render::text_delta(number, *channel, text), out),
                    _ => self.keep(frame, item, number, out),
                }
            }
            (DeltaKind::Call(call), Some(number)) if part.fate == Fate::Edited => {
                self.opened = true;
                if let Some(arguments) = call.arguments.as_deref().filter(|arguments| !arguments.is_empty()) {
                    self.emit(render::input_delta(number, arguments), out);
                }
            }
            (_, Some(number)) => {
                self.opened = true;
                self.keep(frame, item, number, out);
            }
        }
        if stops {
            self.numbers.stop(part.key, item);
            self.settle(false, out);
        }
    }

    /// Text of a block that never started: starts it. All else makes no sense without its start.
    fn start_unopened(&mut self, item: u32, part: &Part, out: &mut Vec<Bytes>) {
        let DeltaKind::Text { channel, .. } = part.delta.kind else { return };
        let (kind, block) = match channel {
            Channel::Reasoning => (BlockKind::Thinking, render::thinking_block("{}", "")),
            Channel::Content | Channel::Refusal => (BlockKind::Text, render::text_block("")),
        };
        if let Some(number) = self.numbers.start(part.key, item, kind, true) {
            self.emit(render::block_start(number, &block), out);
        }
    }

    /// An event of the message as a whole, or of nothing at all.
    fn message_event(&mut self, frame: &Frame, parts: &[Part], out: &mut Vec<Bytes>) {
        if own(parts).any(|part| matches!(part.delta.kind, DeltaKind::Usage(_))) {
            self.last_usage = frame.data().or_else(|| frame.lenient_data());
        }
        if own(parts).all(|part| part.fate == Fate::Dropped) {
            return;
        }
        let finish = own(parts).find_map(|part| match &part.delta.kind {
            DeltaKind::Finish(reason) => Some((reason, part.fate)),
            _ => None,
        });
        match finish {
            Some((reason, Fate::Edited)) => self.patched(frame, &finish_with(frame, reason), out),
            // An ending takes its place, with the usage.
            Some((_, Fate::Dropped)) => return,
            _ => self.raw(frame, out),
        }
        for part in own(parts).filter(|part| part.fate != Fate::Dropped) {
            match part.delta.kind {
                DeltaKind::Finish(_) => self.finished = true,
                DeltaKind::Terminal | DeltaKind::Error(_) => self.ended = true,
                _ => continue,
            }
            self.opened = true;
        }
    }

    /// Writes a frame as it came, but for the number of its block.
    fn keep(&mut self, frame: &Frame, item: u32, number: u32, out: &mut Vec<Bytes>) {
        if item == number {
            return self.raw(frame, out);
        }
        let number = number.to_string();
        self.patched(frame, &json::patch(&data(frame), &[(&[At::Key("index")], &number)]), out);
    }

    fn patched(&mut self, frame: &Frame, data: &str, out: &mut Vec<Bytes>) {
        self.emit(render::with_data(frame, data), out);
        self.torn = !frame.is_terminated();
    }

    pub(super) fn raw(&mut self, frame: &Frame, out: &mut Vec<Bytes>) {
        self.emit(frame.raw().clone(), out);
        self.torn = !frame.is_terminated();
    }
}

impl Writer for MessagesWriter {
    fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        self.untouched = outgoing.is_untouched();
        let Outgoing { frame, mut parts } = outgoing;
        self.note(&parts);
        let Some(frame) = frame else {
            return self.insert_all(&parts, out);
        };
        let Some(frame) = self.normal(frame, &mut parts) else {
            return self.insert_all(&parts, out);
        };
        if parts.is_empty() {
            return self.raw(&frame, out);
        }
        let untouched = parts.iter().all(|part| part.fate == Fate::Kept);
        let frame = if frame.is_stray() && !untouched { render::event_only(&frame) } else { frame };
        if parts.iter().any(|part| part.delta.kind == DeltaKind::Opening) {
            return self.opening(&frame, &parts, out);
        }
        if parts.iter().any(|part| ends_message(&part.delta.kind) && part.fate != Fate::Dropped) {
            self.insert_all(&parts, out);
            self.complete(out);
            return self.event(&frame, &parts, out);
        }
        let mut written = false;
        for part in &parts {
            if part.fate == Fate::Inserted {
                self.insert(&part.delta.kind, out);
            } else if !std::mem::replace(&mut written, true) {
                self.event(&frame, &parts, out);
            }
        }
    }

    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        self.end_stream(ending, out);
    }

    fn keep_alive(&self) -> Bytes {
        if self.opened {
            return Bytes::from_static(b"event: ping\ndata: {\"type\": \"ping\"}\n\n");
        }
        Bytes::from_static(b": keep-alive\n\n")
    }

    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes {
        self.write_body(&body, ending)
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn unplaced(&mut self) -> usize {
        std::mem::take(&mut self.unplaced)
    }

    fn normalised(&mut self) -> Option<Odd> {
        self.odd.take().filter(|_| self.untouched)
    }
}

/// The data of a frame that is written anew.
pub(super) fn data(frame: &Frame) -> String {
    let data = frame.data().or_else(|| frame.lenient_data()).unwrap_or_default();
    String::from_utf8_lossy(&data).into_owned()
}

/// The parts that came with the frame.
fn own(parts: &[Part]) -> impl Iterator<Item = &Part> {
    parts.iter().filter(|part| part.fate != Fate::Inserted)
}

fn ends_message(kind: &DeltaKind) -> bool {
    matches!(kind, DeltaKind::Finish(_) | DeltaKind::Terminal)
}

/// The data of a `message_delta` with another stop reason; the stop sequence belonged to the one before.
fn finish_with(frame: &Frame, reason: &FinishReason) -> String {
    let reason = json::quote(reason.raw());
    let delta = |field| [At::Key("delta"), At::Key(field)];
    let edits = [(&delta("stop_reason")[..], &*reason), (&delta("stop_sequence")[..], "null")];
    json::patch(&data(frame), &edits)
}
