//! The fold: deltas become blocks, one transition at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::assembler::choice::{FoldedChoice, FoldedItem};
use crate::assembler::copies;
use crate::block::{BlockKey, BlockStatus, MAX_BLOCKS, StreamBlock, TextBlock};
use crate::delta::{Channel, Delta, DeltaKind, Slot, Text};
use crate::engine::Settings;
use crate::error::{Error, ErrorKind};
use crate::few::Few;
use crate::state::StreamState;
use crate::wire::SharedFormat;

/// The result of one call of [`Fold::step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transition {
    /// A block completed because of the delta, which is not folded yet: step again.
    Completed(BlockKey),
    /// The delta is folded into this block.
    Folded(Option<BlockKey>),
    /// The delta is a copy that differs from the block, in a place that clients do not read: the copy must not be
    /// written.
    Disagrees(Option<BlockKey>),
}

/// The text that is kept, by kind of block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Keep {
    pub(crate) content: bool,
    pub(crate) reasoning: bool,
    pub(crate) refusal: bool,
    pub(crate) calls: bool,
}

impl Keep {
    pub(crate) const ALL: Self = Self { content: true, reasoning: true, refusal: true, calls: true };

    pub(crate) fn channel(self, channel: Channel) -> bool {
        match channel {
            Channel::Content => self.content,
            Channel::Reasoning => self.reasoning,
            Channel::Refusal => self.refusal,
        }
    }
}

/// Folds deltas into a [`StreamState`].
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) state: StreamState,
    pub(crate) format: SharedFormat,
    /// The number of the stage: keys are unique over all stages.
    pub(super) stage: u8,
    pub(super) choices: Few<FoldedChoice>,
    /// The numbered blocks, by item and part.
    slots: Few<Few<Slots>>,
    /// The channels of items that hold several blocks, and the blocks they hold.
    pub(super) items: Few<FoldedItem>,
    /// Calls that were written as text, by their numbers.
    pub(super) written: Few<BlockKey>,
    pub(super) keep: Keep,
    pub(super) settings: Arc<Settings>,
}

/// The blocks of one slot, by their classes.
type Slots = [Option<BlockKey>; 4];

/// The kind of a block in a numbered slot. A slot may hold one block of each kind: one adapter sends thinking deltas
/// inside a text block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Text(Channel),
    Other,
}

impl Class {
    fn place(self) -> usize {
        match self {
            Self::Text(Channel::Content) => 0,
            Self::Text(Channel::Reasoning) => 1,
            Self::Text(Channel::Refusal) => 2,
            Self::Other => 3,
        }
    }
}

impl Fold {
    pub(crate) fn new(format: SharedFormat, stage: u8, keep: Keep, settings: Arc<Settings>) -> Self {
        Self {
            state: StreamState::default(),
            format,
            stage,
            choices: Few::default(),
            slots: Few::default(),
            items: Few::default(),
            written: Few::default(),
            keep,
            settings,
        }
    }

    /// Makes one transition. On [`Transition::Completed`] the caller steps again with the same delta.
    pub(crate) fn step(&mut self, delta: &mut Delta) -> Result<Transition, Error> {
        self.state.current = None;
        self.state.completed = None;
        if let Some(choice) = delta.choice {
            self.see_choice(choice)?;
        }
        // Of two ends some clients take the first, others the last.
        let ends = matches!(delta.kind, DeltaKind::Finish(_));
        if self.state.terminal && (ends || delta.kind.speaks()) {
            return Err(Error::new(
                ErrorKind::AfterTerminal,
                "expected no delta after the terminal marker, found one",
            ));
        }
        let choice = delta.choice.unwrap_or(0);
        let written = delta.split.as_ref().and_then(|split| split.call);
        let transition = match &mut delta.kind {
            DeltaKind::Call(call) if call.written.is_some() => {
                let opening = &*call;
                self.written(choice, written, |fold| fold.open_call(choice, None, opening))?
            }
            DeltaKind::Unparsed(unparsed) => {
                self.written(choice, written, |fold| fold.open_unparsed(choice, unparsed))?
            }
            DeltaKind::CallText => {
                Transition::Folded(written.and_then(|call| self.written.get(call).copied()))
            }
            DeltaKind::Markup { .. } => Transition::Folded(None),
            DeltaKind::Text { channel, text } => match delta.slot {
                Slot::At { item, part } => self.numbered_text(choice, item, part, *channel, text)?,
                slot => self.running_text(choice, *channel, slot == Slot::Speech, text)?,
            },
            DeltaKind::Call(call) => match delta.slot {
                Slot::At { item, part } => self.numbered_call(choice, item, part, call)?,
                Slot::Call { index } => self.named_call(choice, index, call)?,
                _ => self.named_call(choice, None, call)?,
            },
            DeltaKind::Opaque { kind, runs, bytes } => {
                self.opaque(choice, delta.slot, kind.clone(), *runs, *bytes)?
            }
            DeltaKind::Start { channel } => self.start(choice, delta.slot, *channel)?,
            DeltaKind::ItemStart { channel } => {
                if let Slot::At { item, .. } = delta.slot {
                    self.items.insert(item, FoldedItem { channel: *channel, blocks: VecDeque::new() });
                }
                Transition::Folded(None)
            }
            DeltaKind::Stop => self.stop(choice, delta.slot),
            DeltaKind::Copy(copy) => match delta.slot {
                Slot::At { item, part } => match self.numbered(item, part) {
                    Some(key) => {
                        self.check_copy(key, copy)?;
                        Transition::Folded(Some(key))
                    }
                    None => self.open_from_copy(choice, item, part, copy)?,
                },
                _ if self.restates_content(choice, copy) => Transition::Folded(self.last_of(choice)),
                _ => Transition::Disagrees(self.last_of(choice)),
            },
            DeltaKind::Finish(reason) => {
                let reason = reason.clone();
                match self.complete_one(Some(choice)) {
                    Some(key) => Transition::Completed(key),
                    None => {
                        self.finish(choice, reason)?;
                        Transition::Folded(None)
                    }
                }
            }
            DeltaKind::Terminal => match self.complete_one(None) {
                Some(key) => Transition::Completed(key),
                None => {
                    self.state.terminal = true;
                    self.mark_calls_finished(None, false);
                    Transition::Folded(None)
                }
            },
            DeltaKind::Usage(usage) => {
                self.state.usage.get_or_insert_default().merge(*usage);
                Transition::Folded(None)
            }
            DeltaKind::Error(error) => {
                self.state.error = Some(Box::new(error.clone()));
                Transition::Folded(None)
            }
            DeltaKind::Annotation { .. } => Transition::Folded(match delta.slot {
                Slot::At { item, part } => self.numbered(item, part),
                _ => self.last_of(choice),
            }),
            DeltaKind::Signature | DeltaKind::Meta => Transition::Folded(match delta.slot {
                Slot::At { item, part } => self.numbered(item, part),
                _ => None,
            }),
            DeltaKind::Opening
            | DeltaKind::Role
            | DeltaKind::Ping
            | DeltaKind::Comment
            | DeltaKind::Completed => Transition::Folded(None),
        };
        match transition {
            Transition::Completed(key) => {
                self.state.current = Some(key);
                self.state.completed = Some(key);
            }
            Transition::Folded(key) | Transition::Disagrees(key) => self.state.current = key,
        }
        Ok(transition)
    }

    /// Whether a copy beside the deltas of a choice repeats the choice's content so far. The answer is true where no policy
    /// looks at the text.
    fn restates_content(&self, choice: u32, copy: &crate::delta::Restated) -> bool {
        let (Some(body), true) = (&copy.body, self.keep.content) else { return true };
        let Some(known) = self.choices.get(choice) else { return body.is_empty() };
        let blocks = known.content.iter().map(|key| self.state.blocks[key.index()].body());
        body.len() == known.content_bytes && copies::is_concatenation(body, blocks)
    }

    /// Keeps the content, whatever the policy looks at.
    pub(crate) fn keep_content(&mut self) {
        self.keep.content = true;
    }

    /// Keeps the text of every channel, whatever the policy looks at.
    pub(crate) fn keep_text(&mut self) {
        let calls = self.keep.calls;
        self.keep = Keep { calls, ..Keep::ALL };
    }

    /// Sets id and model; the first ones stay.
    pub(crate) fn meta(&mut self, id: Option<Text>, model: Option<Text>) {
        if self.state.id.is_none() {
            self.state.id = id;
        }
        if self.state.model.is_none() {
            self.state.model = model;
        }
    }

    /// The open calls of a choice that have no number.
    pub(crate) fn open_calls(&self, choice: u32) -> impl Iterator<Item = BlockKey> + '_ {
        self.choices
            .get(choice)
            .into_iter()
            .filter_map(|known| known.calls.as_ref())
            .flat_map(|calls| calls.open.iter().copied())
    }

    /// The channel of an item, if the format groups blocks in items.
    pub(crate) fn item_channel(&self, item: u32) -> Option<Channel> {
        self.items.get(item).map(|item| item.channel)
    }

    pub(super) fn see_choice(&mut self, choice: u32) -> Result<(), Error> {
        if self.state.finishes.iter().any(|(known, _)| *known == choice) {
            return Ok(());
        }
        if self.state.finishes.len() >= self.settings.limits.choices {
            return Err(Error::new(
                ErrorKind::ChoicesLimit,
                format!("expected at most {} choices, found one more", self.settings.limits.choices),
            ));
        }
        let finishes = &mut self.state.finishes;
        finishes.reserve_exact(usize::from(finishes.is_empty()));
        finishes.push((choice, None));
        Ok(())
    }

    pub(super) fn open(
        &mut self,
        choice: u32,
        block: impl FnOnce(BlockKey) -> StreamBlock,
    ) -> Result<BlockKey, Error> {
        if self.state.blocks.len() >= self.settings.limits.blocks.min(MAX_BLOCKS) {
            return Err(Error::new(
                ErrorKind::BlocksLimit,
                format!("expected at most {} blocks, found one more", self.settings.limits.blocks),
            ));
        }
        let key = BlockKey::new(self.stage, u32::try_from(self.state.blocks.len()).unwrap_or(u32::MAX));
        let mut block = block(key);
        let traits = self.format.traits();
        if let StreamBlock::Reasoning(text) = &mut block {
            text.signed = traits.reasoning_is_signed;
        }
        if let StreamBlock::Content(text) | StreamBlock::Reasoning(text) = &mut block {
            text.mixed = traits.mixes_reasoning;
        }
        let known = self.choices.or_default(choice);
        known.open.insert(key);
        known.last = Some(key);
        match block {
            StreamBlock::ToolCall(_) => {
                let calls = known.calls.get_or_insert_default();
                calls.open.insert(key);
                calls.touched.insert(key);
                calls.unfinished.push(key);
                calls.last = Some(key);
            }
            StreamBlock::Content(_) => {
                known.texts.push(key);
                known.content.push(key);
            }
            _ => known.texts.push(key),
        }
        if self.state.blocks.is_empty() {
            self.state.blocks.reserve_exact(1);
        }
        self.state.blocks.push(block);
        Ok(key)
    }

    pub(super) fn append(&mut self, key: BlockKey, text: &str) -> Result<(), Error> {
        let keep = self.keeps(key);
        let block = &mut self.state.blocks[key.index()];
        if keep && block.body().len() + text.len() > self.settings.limits.block {
            return Err(block_too_long(key, self.settings.limits.block));
        }
        block.append(text, keep);
        if let Some(known) = self.choices.get_mut(block.choice()) {
            known.last = Some(key);
            if let Some(calls) = known.calls.as_mut().filter(|calls| calls.open.contains(&key))
                && !text.is_empty()
            {
                calls.touched.insert(key);
            }
            if block.channel() == Some(Channel::Content) {
                known.content_bytes += text.len();
            }
        }
        Ok(())
    }

    /// The open block that more text of this slot continues, if the text ends no other block.
    pub(crate) fn running(&self, choice: u32, slot: Slot, channel: Channel) -> Option<BlockKey> {
        let known = self.choices.get(choice)?;
        let key = known.last.filter(|key| known.open.contains(key))?;
        let block = &self.state.blocks[key.index()];
        let goes_on = block.channel() == Some(channel)
            && match slot {
                Slot::At { item, part } => self.at(item, part, Class::Text(channel)) == Some(key),
                Slot::Run => known.open.len() == 1 && !block.as_text().is_some_and(TextBlock::is_spoken),
                _ => false,
            };
        let is_over = self.state.terminal || self.state.finish_reason_of(choice).is_some();
        (goes_on && !is_over).then_some(key)
    }

    /// The number of bytes that a block can still take.
    pub(crate) fn room(&self, key: BlockKey) -> usize {
        self.settings.limits.block.saturating_sub(self.state.blocks[key.index()].body().len())
    }

    /// Records text of a block that the lane has forwarded: that many bytes, which are already appended if `kept`.
    pub(crate) fn passed(&mut self, key: BlockKey, bytes: usize, kept: bool) {
        self.state.current = Some(key);
        self.state.completed = None;
        let block = &mut self.state.blocks[key.index()];
        if !kept {
            block.head_mut().bytes += bytes;
        }
        if block.channel() == Some(Channel::Content)
            && let Some(known) = self.choices.get_mut(block.choice())
        {
            known.content_bytes += bytes;
        }
    }

    pub(crate) fn keeps(&self, key: BlockKey) -> bool {
        let block = &self.state.blocks[key.index()];
        match block.channel() {
            Some(channel) => self.keep.channel(channel),
            None => self.keep.calls,
        }
    }

    /// The block of this class that stands in a numbered slot.
    pub(super) fn at(&self, item: u32, part: u32, class: Class) -> Option<BlockKey> {
        self.slots.get(item)?.get(part)?[class.place()]
    }

    /// Puts a block into a numbered slot.
    pub(super) fn put(&mut self, item: u32, part: u32, class: Class, key: BlockKey) {
        self.slots.or_default(item).or_default(part)[class.place()] = Some(key);
    }

    pub(super) fn is_open(&self, key: BlockKey) -> bool {
        self.state.blocks[key.index()].status() == BlockStatus::Open
    }

    fn last_of(&self, choice: u32) -> Option<BlockKey> {
        self.choices.get(choice).and_then(|known| known.last)
    }
}

pub(super) fn renamed(key: BlockKey) -> Error {
    Error::new(ErrorKind::Renamed, format!("expected no other name for the call in block {key}, found one"))
}

pub(crate) fn block_too_long(key: BlockKey, limit: usize) -> Error {
    Error::new(
        ErrorKind::BlockLimit,
        format!("expected at most {limit} bytes of text in a block, found more in block {key}"),
    )
}
