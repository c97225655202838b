//! Frames on their way in: texts in which calls were found are cut into pieces, each a part of its own.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use stream_text_calls::{DialectSet, ScanOptions, TextCall};

use super::block_text::{BlockName, BlockText};
use super::source::{Numbering, TextSource, What, index};
use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Site, Slot, Split};
use crate::engine::Config;
use crate::limits::Limits;
use crate::wire::{Fate, Outgoing, Part, Traits};

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
    /// A signature stands for reasoning: it can be emptied and not edited.
    pub(super) signed: bool,
    sources: Vec<TextSource>,
    /// The texts that are read joined, by choice and channel.
    joined: HashMap<(Option<u32>, Slot, Channel), usize>,
    pub(super) blocks: HashMap<BlockName, BlockText>,
    numbers: Numbering,
    /// The texts of each item.
    items: HashMap<u32, Vec<BlockName>>,
    /// Numbered slots that hold something else than text, and what items hold.
    others: HashSet<Slot>,
    channels: HashMap<u32, Channel>,
    queue: VecDeque<HeldFrame>,
    bytes: usize,
    next_piece: u32,
    next_wire: u32,
    pub(super) pieces: HashMap<u32, CutPiece>,
    pub(super) wires: HashMap<u32, Wire>,
    pub(super) calls: HashMap<u32, super::join::Left>,
    /// Numbered texts that have been opened on the wire.
    pub(super) opened: HashSet<Slot>,
    /// Sections of which a call has left.
    pub(super) sections: HashSet<u32>,
}

/// Which texts of a stream are searched for calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Searched {
    Nothing,
    /// Content alone.
    Content,
    /// Content, reasoning, refusals and transcripts.
    AllText,
}

/// A part of a frame that was cut into pieces.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) delta: Delta,
    pub(super) block: BlockName,
    /// Where it stands in its block.
    pub(super) start: u64,
}

/// A piece of a text.
#[derive(Debug)]
pub(super) struct CutPiece {
    pub(super) wire: u32,
    pub(super) raw: String,
    /// How many bytes of it separate a call from the one before.
    pub(super) lead: usize,
}

/// A frame that waits for its text to be decided.
#[derive(Debug)]
struct HeldFrame {
    frame: Outgoing,
    texts: Vec<FrameText>,
    came: Duration,
}

/// A text, or a copy of one, in a frame.
#[derive(Debug)]
struct FrameText {
    part: usize,
    block: BlockName,
    source: usize,
    /// Where it stands in its source.
    range: Range<u64>,
    /// Where it stands in its block; of a copy, how much of the block it says again.
    start: u64,
    is_copy: bool,
}

impl TextCalls {
    /// What a stream's settings ask for; `None` if nothing is looked for. `looks`: a policy looks at calls.
    pub(crate) fn of(config: &Config, looks: bool, traits: Traits) -> Option<Self> {
        let set = config.shared.text_calls.clone().filter(|set| !set.is_empty())?;
        let default = || if looks { ScanOptions::strict() } else { ScanOptions::new() };
        let options = config.shared.text_call_options.clone().unwrap_or_else(default);
        let options = options.or_tools(config.request.tools());
        Some(Self::new(set, options, config.shared.limits, traits))
    }

    fn new(set: DialectSet, options: ScanOptions, limits: Limits, traits: Traits) -> Self {
        Self {
            restates: traits.restates,
            signed: traits.reasoning_is_signed,
            set,
            options,
            limit: limits.block,
            choices: limits.choices,
            sources: Vec::new(),
            joined: HashMap::new(),
            blocks: HashMap::new(),
            numbers: Numbering::default(),
            items: HashMap::new(),
            others: HashSet::new(),
            channels: HashMap::new(),
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

    /// Which texts are searched.
    pub(crate) fn searched(&self) -> Searched {
        if self.options.counts_every_reading() { Searched::AllText } else { Searched::Content }
    }

    /// How many bytes of frames wait.
    pub(crate) fn held(&self) -> usize {
        self.bytes
    }

    /// Takes a frame; gives those whose text is decided.
    pub(crate) fn push(&mut self, frame: Outgoing, now: Duration) -> Vec<Outgoing> {
        let mut texts = Vec::new();
        for (at, part) in frame.parts.iter().enumerate() {
            texts.extend(self.read(at, &part.delta));
        }
        self.bytes += size(&frame);
        self.queue.push_back(HeldFrame { frame, texts, came: now });
        self.release()
    }

    /// No more text comes: gives the frames that waited.
    pub(crate) fn end(&mut self) -> Vec<Outgoing> {
        self.end_sources();
        self.release()
    }

    fn read(&mut self, part: usize, delta: &Delta) -> Option<FrameText> {
        match (&delta.kind, delta.slot) {
            (DeltaKind::Text { channel, text }, slot) if self.searches(*channel, slot) => {
                let block = (delta.choice, slot, *channel);
                // More choices than may be are refused by the fold.
                let fields = delta.site.fields;
                (!self.is_crowded(block)).then(|| self.text(part, block, fields, text))
            }
            (DeltaKind::Copy(copy), slot) => {
                let body = copy.body.as_deref()?;
                let channels = [Channel::Content, Channel::Refusal, Channel::Reasoning];
                let known = channels.into_iter().map(|channel| (delta.choice, slot, channel));
                let known = known.into_iter().find_map(|name| Some((name, self.blocks.get(&name)?)));
                if let Some((block, known)) = known {
                    let (source, range) = (known.source, 0..known.reached);
                    let start = known.length;
                    return Some(FrameText { part, block, source, range, start, is_copy: true });
                }
                // No delta came before: the copy is the text (rule 19).
                let channel = self.channel_of(slot)?;
                if copy.name.is_some() || body.is_empty() || !self.searches(channel, slot) {
                    return None;
                }
                Some(self.text(part, (delta.choice, slot, channel), delta.site.fields, body))
            }
            (DeltaKind::ItemStart { channel }, Slot::At { item, .. }) => {
                self.channels.insert(item, *channel);
                None
            }
            (DeltaKind::Start { channel }, Slot::At { .. }) if self.searches(*channel, delta.slot) => {
                let block = (delta.choice, delta.slot, *channel);
                if let Some(source) = self.blocks.get(&block).map(|known| known.source) {
                    self.sources[source].reopen();
                }
                None
            }
            (DeltaKind::Stop, Slot::At { item, part }) if !self.options.counts_every_reading() => {
                let of_item = self.items.get(&item).map_or(&[][..], Vec::as_slice);
                for name in of_item.iter().filter(|(_, slot, _)| part == Slot::ITEM || *slot == delta.slot) {
                    if let Some(known) = self.blocks.get(name) {
                        self.sources[known.source].end(&mut self.numbers);
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
            ) => {
                self.others.insert(slot);
                None
            }
            _ => None,
        }
    }

    /// Whether a text is searched.
    fn searches(&self, channel: Channel, slot: Slot) -> bool {
        let is_text = matches!(slot, Slot::Run | Slot::At { .. });
        self.options.counts_every_reading() || (channel == Channel::Content && is_text)
    }

    fn is_crowded(&self, block: BlockName) -> bool {
        let is_numbered = matches!(block.1, Slot::At { .. });
        // Each choice has at most content, a transcript, reasoning and a refusal.
        let most = self.choices.saturating_mul(4);
        !is_numbered && !self.blocks.contains_key(&block) && self.blocks.len() >= most
    }

    /// The channel of what stands in a numbered slot, if it is text, as far as is known.
    fn channel_of(&self, slot: Slot) -> Option<Channel> {
        match slot {
            Slot::At { item, .. } if !self.others.contains(&slot) => {
                Some(self.channels.get(&item).copied().unwrap_or(Channel::Content))
            }
            _ => None,
        }
    }

    /// Takes a text.
    fn text(&mut self, part: usize, block: BlockName, fields: u16, text: &str) -> FrameText {
        let source = self.source(block);
        let limit = self.limit;
        let of = &mut self.sources[source];
        let last = of.block.filter(|last| *last != block);
        if let Some(last) = last.and_then(|last| self.blocks.get_mut(&last)) {
            last.is_broken |= !of.is_decided();
        }
        of.enter(block);
        let said = self.blocks.entry(block).or_insert_with(|| BlockText::new(source, limit));
        if self.options.counts_every_reading() {
            said.enter(fields, of.is_decided());
        }
        let range = if said.is_broken_in(fields) {
            of.push_unreadable(text, &mut self.numbers)
        } else {
            of.push(text, &mut self.numbers)
        };
        let start = said.push(text);
        said.reached = range.end;
        FrameText { part, block, source, range, start, is_copy: false }
    }

    /// The source in which a block is read: its own, or the one of all such blocks of its choice.
    fn source(&mut self, block: BlockName) -> usize {
        if let Some(known) = self.blocks.get(&block) {
            return known.source;
        }
        let (choice, slot, channel) = block;
        if let Slot::At { item, .. } = slot {
            self.items.entry(item).or_default().push(block);
        }
        let as_one = match slot {
            Slot::At { .. } if self.options.counts_every_reading() => Slot::Run,
            slot => slot,
        };
        *self.joined.entry((choice, as_one, channel)).or_insert_with(|| {
            self.sources.push(TextSource::new(&self.set, self.options.clone()));
            self.sources.len() - 1
        })
    }

    fn end_sources(&mut self) {
        for source in &mut self.sources {
            source.end(&mut self.numbers);
        }
    }

    fn release(&mut self) -> Vec<Outgoing> {
        let mut out = Vec::new();
        while let Some(next) = self.queue.front() {
            let is_decided = |text: &FrameText| self.sources[text.source].decided >= text.range.end;
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
    fn cut(&mut self, frame: HeldFrame) -> Outgoing {
        let held = (frame.came, size(&frame.frame));
        let HeldFrame { frame: Outgoing { frame, parts }, texts, .. } = frame;
        let mut texts = texts.into_iter().peekable();
        let mut out = Vec::with_capacity(parts.len());
        for (at, part) in parts.into_iter().enumerate() {
            match texts.next_if(|text| text.part == at) {
                Some(text) if text.is_copy => out.push(self.copy(part, &text)),
                Some(text) => self.pieces(part, &text, held, &mut out),
                None => out.push(part),
            }
        }
        Outgoing { frame, parts: out }
    }

    /// A copy of a text: the stages compare it with the content they were shown.
    fn copy(&mut self, mut part: Part, text: &FrameText) -> Part {
        let said = self.blocks.get(&text.block).filter(|said| said.holds_more_than_text());
        let Some(said) = said else { return part };
        let original = part.delta.clone();
        let DeltaKind::Copy(copy) = &mut part.delta.kind else { return part };
        let content = copy.body.as_deref().and_then(|body| said.content(text.start, body));
        // One that says something else is left to the stages, which refuse it.
        let Some(content) = content else { return part };
        copy.body = Some(content.into());
        let wire = self.wire(original, text);
        let piece = self.piece(wire, String::new(), 0);
        part.delta.split = Some(Box::new(Split { piece, call: None, section: None, waited: None }));
        part
    }

    fn pieces(&mut self, part: Part, text: &FrameText, held: (Duration, usize), out: &mut Vec<Part>) {
        let said: Arc<str> = match &part.delta.kind {
            DeltaKind::Text { text, .. } => Arc::clone(text),
            DeltaKind::Copy(copy) => copy.body.clone().unwrap_or_default(),
            _ => return out.push(part),
        };
        let (choice, slot, fields) = (part.delta.choice, part.delta.slot, part.delta.site.fields);
        let range = text.range.clone();
        // An empty text opens a numbered block, and is nothing else.
        if range.is_empty() || self.is_plain(text.source, &range) {
            return out.push(part);
        }
        let (_, _, channel) = text.block;
        let wire = self.wire(part.delta, text);
        loop {
            let source = &mut self.sources[text.source];
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
            if !matches!(segment.what, What::Text)
                && let Some(said) = self.blocks.get_mut(&text.block)
            {
                let start = text.start + (from - range.start);
                said.remove(start..start + (to - from));
            }
            let first = segment.range.start >= range.start;
            let mut lead = 0;
            let kind = match &segment.what {
                What::Text => DeltaKind::Text { channel, text: raw.into() },
                What::Reasoning => DeltaKind::Text { channel: Channel::Reasoning, text: raw.into() },
                What::Open => DeltaKind::Markup { closes: false },
                What::Close => DeltaKind::Markup { closes: true },
                What::Call { call, lead: all } => {
                    let behind = segment.range.start + all;
                    lead = index(behind.clamp(from, to) - from);
                    if first { whole(call) } else { DeltaKind::CallText }
                }
                What::Unparsed(unparsed) if first => DeltaKind::Unparsed(Arc::clone(unparsed)),
                What::Unparsed(_) => DeltaKind::CallText,
            };
            let begins = first && segment.call.is_some();
            // Only where a call begins: each of its frames looking at all behind it would take quadratic time.
            let waited = begins.then(|| {
                let is_cut = segment.range.end > range.end;
                let rest = if is_cut { self.bytes_through(text.source, segment.range.end) } else { 0 };
                (held.0, held.1 + rest)
            });
            let mut put = |kind, piece, call: Option<u32>, section| {
                let waited = waited.filter(|_| call.is_some());
                let split = Some(Box::new(Split { piece, call, section, waited }));
                let site = Site { fields, ..Site::default() };
                out.push(Part {
                    delta: Delta { choice, slot, kind, site, split },
                    key: None,
                    fate: Fate::Kept,
                });
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
    fn is_plain(&mut self, source: usize, range: &Range<u64>) -> bool {
        if self.restates {
            return false;
        }
        let found = &mut self.sources[source].found;
        let plain = found.front().is_some_and(|first| {
            matches!(first.what, What::Text) && first.closes.is_none() && first.range.end >= range.end
        });
        if plain && found.front().is_some_and(|first| first.range.end == range.end) {
            found.pop_front();
        }
        plain
    }

    /// The bytes of the frames that wait and hold text of a source before `end`.
    fn bytes_through(&self, source: usize, end: u64) -> usize {
        let holds = |frame: &&HeldFrame| {
            let of_source = |text: &&FrameText| text.source == source && !text.is_copy;
            frame.texts.iter().find(of_source).is_none_or(|text| text.range.start < end)
        };
        let frames = self.queue.iter().take_while(holds);
        let holding = frames.filter(|frame| frame.texts.iter().any(|text| text.source == source));
        holding.map(|frame| size(&frame.frame)).sum()
    }

    fn wire(&mut self, delta: Delta, text: &FrameText) -> u32 {
        self.next_wire += 1;
        let wire = Wire { delta, block: text.block, start: text.start };
        self.wires.insert(self.next_wire, wire);
        self.next_wire
    }

    fn piece(&mut self, wire: u32, raw: String, lead: usize) -> u32 {
        self.next_piece += 1;
        self.pieces.insert(self.next_piece, CutPiece { wire, raw, lead });
        self.next_piece
    }
}

/// What an [opaque block](crate::block::OpaqueBlock) is called that began like a call and is none, or was cut off.
pub const UNPARSED: &str = "unparsed_text_call";

fn whole(call: &Arc<TextCall>) -> DeltaKind {
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
