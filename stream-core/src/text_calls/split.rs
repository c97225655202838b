//! Frames on their way in: texts in which calls were found are cut into pieces, each a part of its own.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use super::options::ScanOptions;
use super::set::DialectSet;
use super::source::{Numbers, Source, What, index};

use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Place, Runs, Slot, Split};
use crate::engine::Config;
use crate::limits::Limits;
use crate::wire::{Fate, Outgoing, Part};

/// Cuts texts into pieces before the stages see them, and puts them together again behind.
///
/// A text part of a frame becomes one part per stretch of content, call, or tag in it. A frame waits here until all of its
/// text is decided: at most for the longest marker, or for the end of a call.
#[derive(Debug)]
pub(crate) struct TextCalls {
    set: DialectSet,
    options: ScanOptions,
    limit: usize,
    /// How many choices there may be.
    choices: usize,
    /// The format says texts again: what is left of each has to be known.
    restates: bool,
    pub(super) sources: HashMap<SourceName, Source>,
    numbers: Numbers,
    /// The texts of each item.
    items: HashMap<u32, Vec<SourceName>>,
    /// Numbered slots, and items, that hold something else than content.
    others: HashSet<Slot>,
    other_items: HashSet<u32>,
    queue: VecDeque<Frame>,
    bytes: usize,
    next_piece: u32,
    next_wire: u32,
    pub(super) pieces: HashMap<u32, Piece>,
    pub(super) wires: HashMap<u32, Wire>,
    pub(super) calls: HashMap<u32, super::join::Left>,
    /// Numbered texts that have been opened on the wire.
    pub(super) opened: HashSet<Slot>,
    /// Sections of which a call has left.
    pub(super) sections: HashSet<u32>,
}

/// How the wire names a text.
pub(super) type SourceName = (Option<u32>, Slot);

/// A part of a frame that was cut into pieces.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) delta: Delta,
    pub(super) source: SourceName,
    pub(super) range: Range<u64>,
}

/// A piece of a text.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) wire: u32,
    pub(super) raw: String,
    /// How many bytes of it separate a call from the one before.
    pub(super) lead: usize,
}

/// A frame that waits for its text to be decided.
#[derive(Debug)]
struct Frame {
    frame: Outgoing,
    texts: Vec<Text>,
}

/// A text, or a copy of one, in a frame.
#[derive(Debug)]
struct Text {
    part: usize,
    source: SourceName,
    range: Range<u64>,
    is_copy: bool,
}

impl TextCalls {
    /// What a stream's settings ask for; `None` if nothing is looked for. `looks`: a policy looks at calls.
    pub(crate) fn of(config: &Config, looks: bool, restates: bool) -> Option<Self> {
        let set = Some(config.text_calls.clone()).filter(|set| !set.is_empty())?;
        let default = || if looks { ScanOptions::strict() } else { ScanOptions::new() };
        let options = config.text_call_options.clone().unwrap_or_else(default);
        let options = options.with_tools_of(&config.request);
        Some(Self::new(set, options, config.limits, restates))
    }

    fn new(set: DialectSet, options: ScanOptions, limits: Limits, restates: bool) -> Self {
        Self {
            restates,
            set,
            options,
            limit: limits.block,
            choices: limits.choices,
            sources: HashMap::new(),
            numbers: Numbers::default(),
            items: HashMap::new(),
            others: HashSet::new(),
            other_items: HashSet::new(),
            queue: VecDeque::new(),
            bytes: 0,
            next_piece: 0,
            next_wire: 0,
            pieces: HashMap::new(),
            wires: HashMap::new(),
            calls: HashMap::new(),
            opened: HashSet::new(),
            sections: HashSet::new(),
        }
    }

    /// How many bytes of frames wait.
    pub(crate) fn held(&self) -> usize {
        self.bytes
    }

    /// Takes a frame; gives those whose text is decided.
    pub(crate) fn push(&mut self, frame: Outgoing) -> Vec<Outgoing> {
        let mut texts = Vec::new();
        for (at, part) in frame.parts.iter().enumerate() {
            texts.extend(self.read(at, &part.delta));
        }
        self.bytes += size(&frame);
        self.queue.push_back(Frame { frame, texts });
        self.release()
    }

    /// No more text comes: gives the frames that waited.
    pub(crate) fn end(&mut self) -> Vec<Outgoing> {
        self.end_sources();
        self.release()
    }

    fn read(&mut self, part: usize, delta: &Delta) -> Option<Text> {
        let source = (delta.choice, delta.slot);
        match (&delta.kind, delta.slot) {
            // More choices than may be are refused by the fold.
            (DeltaKind::Text { .. }, Slot::Run) if self.is_crowded(source) => None,
            (DeltaKind::Text { channel: Channel::Content, text }, Slot::Run | Slot::At { .. }) => {
                let (known, numbers) = self.source(source);
                let range = known.push(text, numbers);
                Some(Text { part, source, range, is_copy: false })
            }
            (DeltaKind::Copy(copy), slot) => {
                let body = copy.body.as_deref()?;
                if let Some(known) = self.sources.get(&source) {
                    let range = 0..known.length;
                    return Some(Text { part, source, range, is_copy: true });
                }
                // No delta came before: the copy is the text (rule 19).
                if !self.is_content(slot) || copy.name.is_some() || body.is_empty() {
                    return None;
                }
                let (known, numbers) = self.source(source);
                let range = known.push(body, numbers);
                Some(Text { part, source, range, is_copy: false })
            }
            (DeltaKind::ItemStart { channel }, Slot::At { item, .. }) if *channel != Channel::Content => {
                self.other_items.insert(item);
                None
            }
            (DeltaKind::Start { channel: Channel::Content }, Slot::At { .. }) => {
                if let Some(known) = self.sources.get_mut(&source) {
                    known.reopen();
                }
                None
            }
            (DeltaKind::Stop, Slot::At { item, part }) => {
                let of_item = self.items.get(&item).map_or(&[][..], Vec::as_slice);
                for name in of_item.iter().filter(|(_, slot)| part == Slot::ITEM || *slot == delta.slot) {
                    if let Some(known) = self.sources.get_mut(name) {
                        known.end(&mut self.numbers);
                    }
                }
                None
            }
            (DeltaKind::Terminal | DeltaKind::Error(_), _) => {
                self.end_sources();
                None
            }
            (
                DeltaKind::Text { .. }
                | DeltaKind::Start { .. }
                | DeltaKind::Call(_)
                | DeltaKind::Opaque { .. },
                slot @ Slot::At { .. },
            ) if !matches!(delta.kind, DeltaKind::Start { channel: Channel::Content }) => {
                self.others.insert(slot);
                None
            }
            _ => None,
        }
    }

    fn is_crowded(&self, source: SourceName) -> bool {
        !self.sources.contains_key(&source) && self.sources.len() >= self.choices
    }

    /// Whether what stands in a numbered slot is content, as far as is known.
    fn is_content(&self, slot: Slot) -> bool {
        match slot {
            Slot::At { item, .. } => !self.other_items.contains(&item) && !self.others.contains(&slot),
            _ => false,
        }
    }

    fn source(&mut self, name: SourceName) -> (&mut Source, &mut Numbers) {
        let new = || {
            if let Slot::At { item, .. } = name.1 {
                self.items.entry(item).or_default().push(name);
            }
            Source::new(&self.set, self.options.clone(), self.limit)
        };
        (self.sources.entry(name).or_insert_with(new), &mut self.numbers)
    }

    fn end_sources(&mut self) {
        for source in self.sources.values_mut() {
            source.end(&mut self.numbers);
        }
    }

    fn release(&mut self) -> Vec<Outgoing> {
        let mut out = Vec::new();
        while let Some(next) = self.queue.front() {
            let is_decided = |text: &Text| {
                self.sources.get(&text.source).is_none_or(|source| source.decided >= text.range.end)
            };
            if !next.texts.iter().all(is_decided) {
                break;
            }
            if let Some(frame) = self.queue.pop_front() {
                self.bytes -= size(&frame.frame);
                out.push(self.cut(frame));
            }
        }
        out
    }

    /// Cuts the texts of a frame.
    fn cut(&mut self, frame: Frame) -> Outgoing {
        let Frame { frame: Outgoing { frame, parts }, texts } = frame;
        let mut texts = texts.into_iter().peekable();
        let mut out = Vec::with_capacity(parts.len());
        for (at, part) in parts.into_iter().enumerate() {
            match texts.next_if(|text| text.part == at) {
                Some(text) if text.is_copy => out.push(self.copy(part, text)),
                Some(text) => self.pieces(part, text, &mut out),
                None => out.push(part),
            }
        }
        Outgoing { frame, parts: out }
    }

    /// A copy of a text: the stages compare it with the content they were shown.
    fn copy(&mut self, mut part: Part, text: Text) -> Part {
        let source = self.sources.get(&text.source).filter(|source| source.holds_more_than_content());
        let Some(source) = source else { return part };
        let original = part.delta.clone();
        let DeltaKind::Copy(copy) = &mut part.delta.kind else { return part };
        let content = copy.body.as_deref().and_then(|body| source.content(text.range.end, body));
        // One that says something else is left to the stages, which refuse it.
        let Some(content) = content else { return part };
        copy.body = Some(content.into());
        let wire = self.wire(original, text);
        let piece = self.piece(wire, String::new(), 0);
        part.delta.place.split = Some(Split { piece, call: None, section: None });
        part
    }

    fn pieces(&mut self, part: Part, text: Text, out: &mut Vec<Part>) {
        let Text { source: name, range, .. } = text;
        let said: Arc<str> = match &part.delta.kind {
            DeltaKind::Text { text, .. } => Arc::clone(text),
            DeltaKind::Copy(copy) => copy.body.clone().unwrap_or_default(),
            _ => return out.push(part),
        };
        let (choice, slot) = (part.delta.choice, part.delta.slot);
        // An empty text opens a numbered block, and is nothing else.
        if range.is_empty() || self.is_plain(&name, &range) {
            return out.push(part);
        }
        let wire = self.wire(part.delta, Text { range: range.clone(), ..text });
        loop {
            let Some(source) = self.sources.get_mut(&name) else { return };
            let Some(segment) =
                source.found.front().filter(|segment| segment.range.start < range.end).cloned()
            else {
                return;
            };
            if segment.range.end <= range.end {
                source.found.pop_front();
            }
            let from = segment.range.start.max(range.start);
            let to = segment.range.end.min(range.end);
            let raw = &said[index(from - range.start)..index(to - range.start)];
            let first = segment.range.start >= range.start;
            let mut lead = 0;
            let kind = match &segment.what {
                What::Text => DeltaKind::Text { channel: Channel::Content, text: raw.into() },
                What::Reasoning => DeltaKind::Text { channel: Channel::Reasoning, text: raw.into() },
                What::Open => DeltaKind::Markup { closes: false },
                What::Close => DeltaKind::Markup { closes: true },
                What::Call { call, lead: all } => {
                    let behind = segment.range.start + all;
                    lead = index(behind.clamp(from, to) - from);
                    if first { whole(call) } else { DeltaKind::CallText }
                }
                What::Unparsed if first => DeltaKind::Opaque {
                    kind: UNPARSED.into(),
                    runs: Runs::Unknown,
                    bytes: index(segment.range.end - segment.range.start),
                },
                What::Unparsed => DeltaKind::CallText,
            };
            let mut put = |kind, piece, call, section| {
                let split = Some(Split { piece, call, section });
                let place = Place { split, ..Place::default() };
                out.push(Part { delta: Delta { choice, slot, kind, place }, key: None, fate: Fate::Kept });
            };
            if let Some(section) = segment.closes.filter(|_| first) {
                let piece = self.piece(wire, String::new(), 0);
                put(DeltaKind::Markup { closes: true }, piece, None, Some(section));
            }
            let piece = self.piece(wire, raw.to_owned(), lead);
            put(kind, piece, segment.call, segment.section);
            if segment.range.end > range.end {
                return;
            }
        }
    }

    /// Whether a part is text and nothing else, which nobody has to remember. What was found of it is taken.
    fn is_plain(&mut self, name: &SourceName, range: &Range<u64>) -> bool {
        let restates = self.restates;
        let Some(source) = self.sources.get_mut(name).filter(|_| !restates) else { return false };
        let plain = source.found.front().is_some_and(|first| {
            matches!(first.what, What::Text) && first.closes.is_none() && first.range.end >= range.end
        });
        if plain && source.found.front().is_some_and(|first| first.range.end == range.end) {
            source.found.pop_front();
        }
        plain
    }

    fn wire(&mut self, delta: Delta, text: Text) -> u32 {
        self.next_wire += 1;
        let wire = Wire { delta, source: text.source, range: text.range };
        self.wires.insert(self.next_wire, wire);
        self.next_wire
    }

    fn piece(&mut self, wire: u32, raw: String, lead: usize) -> u32 {
        self.next_piece += 1;
        self.pieces.insert(self.next_piece, Piece { wire, raw, lead });
        self.next_piece
    }
}

/// What an [opaque block](crate::block::OpaqueBlock) is called that began like a call and is none, or was cut off.
pub const UNPARSED: &str = "unparsed_text_call";

fn whole(call: &Arc<super::TextCall>) -> DeltaKind {
    DeltaKind::Call(CallDelta {
        id: call.id().map(Into::into),
        name: Some(call.name().into()),
        arguments: Some(call.arguments().into()),
        starts: true,
        written: Some(Arc::clone(call)),
        ..CallDelta::default()
    })
}

fn size(frame: &Outgoing) -> usize {
    frame.frame.as_ref().map_or(0, |frame| frame.raw().len())
}
