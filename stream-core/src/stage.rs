//! A stage: one policy's fold and outbox.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::assembler::fold::{Fold, Keep, Transition};
use crate::block::{BlockKey, BlockStatus, StreamBlock};
use crate::chunk::{Chunk, ChunkKind, Structure};
use crate::context::{Context, Effect, Effects, VerdictFuture};
use crate::delta::{Channel, Delta, DeltaKind, Slot, Text};
use crate::error::Error;
use crate::ledger::{Decided, Ledgers, Outcome, Ticket};
use crate::limits::Limits;
use crate::outbox::{Mark, Outbox, Queued, Waiting, edited, inserted_text, replace_body};
use crate::policy::{Attention, Needs, OnFailure, Replacement, Verdict};
use crate::record::{Action, Decision};
use crate::request::Request;
use crate::wire::{Ending, Fate, Outgoing, Part, SharedFormat};

/// One policy's view of the stream: its own fold, and the queue of what it has not let go.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) name: Arc<str>,
    pub(crate) needs: Needs,
    pub(crate) on_failure: OnFailure,
    pub(crate) fold: Fold,
    pub(crate) ledgers: Ledgers,
    outbox: Outbox,
    format: SharedFormat,
    input: VecDeque<Outgoing>,
    input_bytes: usize,
    under_way: Option<UnderWay>,
    /// What the hook that is called now is shown.
    pub(crate) shown: Option<Shown>,
    step: u64,
    /// Counts what was held, so that a part held after a flush, in the same hook, is not flushed by it.
    marks: u64,
    /// Failed open: everything passes.
    bypassed: bool,
    /// Keys of the stage before, and the keys of the same blocks here.
    renamed: HashMap<BlockKey, BlockKey>,
    /// Inserted texts that wait for the end of a call, with their choices.
    deferred: Vec<(u32, Text)>,
    pub(crate) decisions: Vec<Decision>,
}

/// A frame whose parts are being stepped through.
#[derive(Debug)]
struct UnderWay {
    queued: Queued,
    rest: VecDeque<Part>,
}

/// The step a hook is shown.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) step: u64,
    pub(crate) kind: ChunkKind,
    /// The part it is about; a completion caused by another part has none.
    part: Option<Waiting>,
    choice: Option<u32>,
}

/// What [`Stage::advance`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advance {
    /// A hook is to be called.
    Hook,
    /// A step passed the policy by.
    Passed,
    /// There is no more input.
    Idle,
}

/// What a commit asks the engine to do.
#[derive(Default)]
pub(crate) struct Committed {
    pub(crate) terminate: Option<Ending>,
    pub(crate) decide: Vec<(BlockKey, Option<Duration>, VerdictFuture)>,
    /// Blocks that were discarded or replaced: the verdict they waited for comes too late.
    pub(crate) settled: Vec<BlockKey>,
}

impl Stage {
    pub(crate) fn new(
        number: u8,
        name: &str,
        needs: Needs,
        on_failure: OnFailure,
        format: SharedFormat,
        limits: Limits,
        interleaved: bool,
    ) -> Self {
        let wants = |attention| attention != Attention::Nothing;
        let keep = Keep {
            content: wants(needs.content),
            reasoning: wants(needs.reasoning),
            refusal: wants(needs.refusal),
            calls: wants(needs.calls),
        };
        Self {
            name: name.into(),
            needs,
            on_failure,
            fold: Fold::new(format.clone(), number, keep, limits, interleaved),
            ledgers: Ledgers::default(),
            outbox: Outbox::new(format.clone()),
            format,
            input: VecDeque::new(),
            input_bytes: 0,
            under_way: None,
            shown: None,
            step: 0,
            marks: 0,
            bypassed: false,
            renamed: HashMap::new(),
            deferred: Vec::new(),
            decisions: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, frame: Outgoing) {
        self.input_bytes += size(&frame);
        self.input.push_back(frame);
    }

    /// How many bytes of frames it has and has not let go.
    pub(crate) fn held(&self) -> usize {
        let under_way = self.under_way.as_ref().map_or(0, |under_way| under_way.queued.bytes());
        self.outbox.bytes() + self.input_bytes + under_way
    }

    /// Makes one step, and takes what may leave.
    pub(crate) fn advance(&mut self, now: Duration, out: &mut Vec<Outgoing>) -> Result<Advance, Error> {
        let Some(under_way) = &mut self.under_way else {
            let Some(frame) = self.input.pop_front() else { return Ok(Advance::Idle) };
            self.input_bytes -= size(&frame);
            let queued = Queued::new(frame.frame, Vec::with_capacity(frame.parts.len()));
            self.under_way = Some(UnderWay { queued, rest: frame.parts.into() });
            return self.advance(now, out);
        };
        let Some(part) = under_way.rest.front_mut() else {
            if let Some(under_way) = self.under_way.take() {
                self.outbox.push(under_way.queued);
            }
            self.outbox.release(&mut self.ledgers, out);
            return Ok(Advance::Passed);
        };
        if part.fate == Fate::Dropped {
            self.pass_dropped();
            return Ok(Advance::Passed);
        }
        let transition = self.fold.step(&mut part.delta)?;
        self.step += 1;
        match transition {
            Transition::Completed(key) => {
                let choice = part.delta.choice;
                self.ledgers.get_mut(key).closed = true;
                Ok(self.show_completion(key, choice))
            }
            Transition::Folded(key) => self.folded(key, false, now),
            Transition::Disagrees(key) => self.folded(key, true, now),
        }
    }

    /// The chunk, state and context for the hook that is due.
    pub(crate) fn hook<'a>(&'a self, request: &'a Request) -> Option<(Chunk, Context<'a>)> {
        let shown = self.shown.as_ref()?;
        let chunk = match &shown.part {
            Some(waiting) => Chunk::of(shown.step, &waiting.part.delta, waiting.part.key, shown.kind),
            None => Chunk {
                step: shown.step,
                choice: shown.choice,
                block: self.fold.state.current,
                kind: shown.kind,
                body: None,
                edit: None,
            },
        };
        Some((chunk, self.context(request)))
    }

    pub(crate) fn context<'a>(&'a self, request: &'a Request) -> Context<'a> {
        let choice = self.shown.as_ref().and_then(|shown| shown.choice);
        Context::new(self.step, choice, &self.fold.state, &self.ledgers, request, self.format.traits())
    }

    /// Carries out what a hook staged.
    pub(crate) fn commit(&mut self, effects: Effects, now: Duration, out: &mut Vec<Outgoing>) -> Committed {
        let mut shown = self.shown.take();
        let mut part = shown.as_mut().and_then(|shown| shown.part.take());
        let choice = shown.as_ref().and_then(|shown| shown.choice);
        let payload = part.as_ref().is_some_and(|waiting| waiting.part.delta.kind.is_payload());
        let mut undecided = payload;
        // Inserted before the chunk, should it leave.
        let mut lead: Option<Text> = None;
        let mut committed = Committed::default();
        for effect in effects.list {
            match effect {
                Effect::Send { edit } => {
                    if let (Some(waiting), true) = (&mut part, std::mem::take(&mut undecided)) {
                        self.send(waiting, edit, now);
                        if let Some(text) = lead.take()
                            && !self.join(waiting, &text, true)
                        {
                            self.insert(choice.unwrap_or(0), text);
                        }
                    }
                }
                Effect::Buffer { edit } => {
                    if let (Some(waiting), true) = (&mut part, std::mem::take(&mut undecided)) {
                        self.hold(waiting, edit, now);
                    }
                }
                Effect::FlushAll => {
                    for key in self.ledgers.waiting() {
                        let pending = self.ledgers.get(key).is_some_and(|ledger| ledger.pending.is_some());
                        if !pending && !self.is_yet_to_be_judged(key) {
                            self.settle(key, Outcome::Release, None, now);
                        }
                    }
                }
                Effect::Flush(key) => self.settle(key, Outcome::Release, None, now),
                Effect::Discard { key, reason } => {
                    self.overrule(key, &mut committed);
                    self.settle(key, Outcome::Drop { notice: None }, reason, now);
                }
                Effect::Replace { key, with } => {
                    self.overrule(key, &mut committed);
                    if let Some(waiting) = part.as_mut().filter(|waiting| waiting.part.key == Some(key))
                        && std::mem::take(&mut undecided)
                    {
                        self.hold(waiting, None, now);
                    }
                    self.settle(key, Outcome::Replace(with), None, now);
                }
                Effect::Insert(text) => {
                    let text = Text::from(text);
                    if let Some(waiting) = &mut part {
                        if undecided && self.joins(waiting) {
                            lead = Some(lead.map_or(text.clone(), |lead| format!("{lead}{text}").into()));
                            continue;
                        }
                        if payload && !undecided && self.join(waiting, &text, false) {
                            continue;
                        }
                    }
                    // What was sent before the text stands before it.
                    if payload && !undecided {
                        if let Some(lead) = lead.take() {
                            self.insert(choice.unwrap_or(0), lead);
                        }
                        if let Some(waiting) = part.take() {
                            self.queue(waiting);
                        }
                    }
                    self.insert(choice.unwrap_or(0), text);
                }
                Effect::Terminate(ending) => {
                    committed.terminate = Some(ending);
                    break;
                }
                Effect::Decide { key, within, future } => {
                    // Marked at once, so that what the hook left undecided is held.
                    self.ledgers.get_mut(key).pending = Some(Ticket(u64::MAX));
                    committed.decide.push((key, within, future));
                }
            }
        }
        if let Some(text) = lead {
            self.insert(choice.unwrap_or(0), text);
        }
        if let Some(mut waiting) = part {
            if undecided {
                self.leave_undecided(&mut waiting, now);
            }
            self.queue(waiting);
        }
        self.outbox.release(&mut self.ledgers, out);
        committed
    }

    /// Whether a block can be replaced so: where arguments are a JSON value, with nothing but an object (rule 25).
    pub(crate) fn takes(&self, key: BlockKey, with: &Replacement) -> bool {
        let is_call = self.fold.state.block(key).is_some_and(|block| block.as_tool_call().is_some());
        !is_call || !self.format.traits().arguments_are_json || crate::json::is_object(&with.body)
    }

    /// Carries out a verdict. An ending, if it was to terminate.
    pub(crate) fn verdict(
        &mut self,
        key: BlockKey,
        verdict: Verdict,
        now: Duration,
        out: &mut Vec<Outgoing>,
    ) -> Option<Ending> {
        self.ledgers.get_mut(key).pending = None;
        let ending = match verdict {
            Verdict::Release => {
                self.settle(key, Outcome::Release, None, now);
                None
            }
            Verdict::Drop { reason, notice } => {
                let notice = notice.map(Text::from);
                self.settle(key, Outcome::Drop { notice }, Some(reason), now);
                // The verdict is over the block, also over what has not come yet.
                self.ledgers.lose(key);
                None
            }
            Verdict::Replace(with) => {
                self.settle(key, Outcome::Replace(with), None, now);
                None
            }
            Verdict::Terminate(ending) => Some(ending),
        };
        self.outbox.release(&mut self.ledgers, out);
        ending
    }

    /// The policy failed and fails open: what it held is released in order, and it is not called again.
    pub(crate) fn bypass(&mut self, now: Duration, out: &mut Vec<Outgoing>) {
        self.bypassed = true;
        for key in self.ledgers.waiting() {
            self.ledgers.get_mut(key).pending = None;
            self.settle(key, Outcome::Release, Some("the policy failed open".into()), now);
        }
        let mut shown = self.shown.take();
        if let Some(mut waiting) = shown.as_mut().and_then(|shown| shown.part.take()) {
            if waiting.part.delta.kind.is_payload() {
                self.send(&mut waiting, None, now);
            }
            self.queue(waiting);
        }
        self.outbox.release(&mut self.ledgers, out);
    }

    /// Nothing more comes: drops what is still held, and unless the stream `finished` the annotations that wait for
    /// what has not come. With `abrupt`, also what waits behind it, and the endings on their way. True if anything was
    /// dropped.
    pub(crate) fn close(
        &mut self,
        finished: bool,
        abrupt: bool,
        now: Duration,
        out: &mut Vec<Outgoing>,
    ) -> bool {
        let looks = self.needs != Needs::nothing() && !self.bypassed;
        let mut dropped = looks && !finished && self.outbox.drop_ahead(&self.ledgers);
        if dropped {
            let reason = Some("what it speaks of never came".into());
            self.note(None, Action::Dropped, reason, 0, Duration::ZERO);
        }
        if abrupt {
            self.outbox.drop_endings();
            self.outbox.release(&mut self.ledgers, out);
            self.outbox.abandon(&mut self.ledgers);
        }
        for key in self.ledgers.waiting() {
            self.ledgers.get_mut(key).pending = None;
            self.settle(key, Outcome::Drop { notice: None }, Some("still held at the end".into()), now);
            dropped = true;
        }
        self.ledgers.close_all(self.fold.state.blocks().len(), abrupt);
        self.outbox.no_more(u64::MAX);
        if !abrupt {
            self.insert_deferred();
        }
        self.outbox.release(&mut self.ledgers, out);
        dropped
    }

    /// Takes nothing more: what was not stepped through is dropped, and so is the step whose hook did not return.
    pub(crate) fn cut_input(&mut self) {
        self.input.clear();
        self.input_bytes = 0;
        let mut shown = self.shown.take();
        if let Some(mut waiting) = shown.as_mut().and_then(|shown| shown.part.take()) {
            if waiting.part.delta.kind.is_payload() {
                self.discard(&mut waiting, "the hook did not return");
            }
            self.queue(waiting);
        }
        if let Some(mut under_way) = self.under_way.take() {
            for mut part in under_way.rest {
                part.fate = Fate::Dropped;
                under_way.queued.parts.push(Waiting { part, mark: Mark::Decided, opener: false });
            }
            self.outbox.push(under_way.queued);
        }
    }

    /// At the end of a finished stream: completes the next block that is still open. Whether the policy is shown it.
    pub(crate) fn complete_next(&mut self) -> Option<bool> {
        let key = self.fold.complete_next()?;
        self.step += 1;
        self.ledgers.get_mut(key).closed = true;
        let choice = self.fold.state.blocks[key.index()].choice();
        Some(self.show_completion(key, Some(choice)) == Advance::Hook)
    }

    /// Whether it failed open.
    pub(crate) fn is_bypassed(&self) -> bool {
        self.bypassed
    }

    /// Whether every frame it was given has been stepped through.
    pub(crate) fn is_drained(&self) -> bool {
        self.input.is_empty() && self.under_way.is_none() && self.shown.is_none()
    }

    fn pass_dropped(&mut self) {
        let Some(under_way) = &mut self.under_way else { return };
        let Some(mut part) = under_way.rest.pop_front() else { return };
        part.key = part.key.map(|key| self.renamed.get(&key).copied().unwrap_or(key));
        under_way.queued.parts.push(Waiting { part, mark: Mark::Decided, opener: false });
    }

    fn show_completion(&mut self, key: BlockKey, choice: Option<u32>) -> Advance {
        if !self.watches(key) {
            return Advance::Passed;
        }
        self.shown = Some(Shown { step: self.step, kind: ChunkKind::Completed, part: None, choice });
        Advance::Hook
    }

    /// A part was folded: marks it, and shows it if the policy needs to see it.
    fn folded(&mut self, key: Option<BlockKey>, disagrees: bool, now: Duration) -> Result<Advance, Error> {
        let Some(mut part) = self.under_way.as_mut().and_then(|under_way| under_way.rest.pop_front()) else {
            return Ok(Advance::Idle);
        };
        if let (Some(old), Some(new)) = (part.key, key) {
            self.renamed.insert(old, new);
        }
        self.insert_deferred();
        part.key = key;
        let completed = self.fold.state.completed;
        if let Some(done) = completed {
            self.ledgers.get_mut(done).closed = true;
        }
        let mut waiting = Waiting { part, mark: Mark::Decided, opener: false };
        if disagrees {
            waiting.part.fate = Fate::Dropped;
            self.note(
                key,
                Action::Dropped,
                Some("a copy disagreed with the deltas".into()),
                0,
                Duration::ZERO,
            );
            self.queue(waiting);
            return Ok(Advance::Passed);
        }
        let payload = waiting.part.delta.kind.is_payload();
        let (kind, shown) = match (payload, key) {
            (true, Some(key)) => return Ok(self.payload(waiting, key, completed.is_some(), now)),
            (true, None) => (ChunkKind::Structure(Structure::Filler), false),
            (false, _) if completed.is_some() => {
                (ChunkKind::Completed, completed.is_some_and(|key| self.watches(key)))
            }
            (false, _) => {
                let kind = ChunkKind::Structure(structure(&waiting.part.delta.kind));
                (kind, self.needs.structure && !self.bypassed)
            }
        };
        waiting.mark = self.follow(&waiting.part.delta, key);
        if !shown {
            self.queue(waiting);
            return Ok(Advance::Passed);
        }
        let choice = waiting.part.delta.choice;
        self.shown = Some(Shown { step: self.step, kind, part: Some(waiting), choice });
        Ok(Advance::Hook)
    }

    /// A payload part: who decides over it depends on how closely the policy looks.
    fn payload(&mut self, mut waiting: Waiting, key: BlockKey, completes: bool, now: Duration) -> Advance {
        let block = &self.fold.state.blocks[key.index()];
        let attention = if self.bypassed { Attention::Nothing } else { self.needs.of(block) };
        let kind = match block {
            StreamBlock::ToolCall(_) => ChunkKind::ToolCall,
            StreamBlock::Opaque(_) => ChunkKind::Opaque,
            other => match (&waiting.part.delta.kind, other.channel()) {
                (DeltaKind::Text { .. } | DeltaKind::Copy(_), Some(channel)) => ChunkKind::Text(channel),
                _ => ChunkKind::Opaque,
            },
        };
        let item = match waiting.part.delta.slot {
            Slot::At { item, .. } if self.fold.item_channel(item).is_some() => Some(item),
            _ => None,
        };
        let choice = block.choice();
        waiting.opener = self.ledgers.came(block, item, attention != Attention::Nothing);
        self.outbox.payload_came(choice, self.step, Some(key));
        match attention {
            Attention::Nothing => {
                self.send(&mut waiting, None, now);
                self.queue(waiting);
                Advance::Passed
            }
            Attention::Completed => {
                if self.ledgers.get_mut(key).gone {
                    self.discard(&mut waiting, "its opening was dropped");
                } else {
                    self.hold(&mut waiting, None, now);
                }
                self.queue(waiting);
                if completes { self.show_completion(key, Some(choice)) } else { Advance::Passed }
            }
            Attention::Chunks => {
                self.shown = Some(Shown { step: self.step, kind, part: Some(waiting), choice: Some(choice) });
                Advance::Hook
            }
        }
    }

    /// What a part that is not payload waits for.
    fn follow(&mut self, delta: &Delta, key: Option<BlockKey>) -> Mark {
        let block = key.map(|key| &self.fold.state.blocks[key.index()]);
        // Signed thinking and reasoning items always keep their frame (rule 22).
        let reasoning = block.is_some_and(|block| block.channel() == Some(Channel::Reasoning));
        match (&delta.kind, delta.slot) {
            (DeltaKind::ItemStart { channel }, Slot::At { item, .. }) => match channel {
                Channel::Reasoning => Mark::Decided,
                _ => {
                    self.ledgers.open_item(item);
                    Mark::Wraps { item }
                }
            },
            (DeltaKind::Stop, Slot::At { item, part: Slot::ITEM }) => {
                self.ledgers.close_item(item);
                match self.fold.item_channel(item) {
                    Some(Channel::Content | Channel::Refusal) => Mark::Wraps { item },
                    _ => Mark::Decided,
                }
            }
            (DeltaKind::Start { .. }, _) if !reasoning && block.is_some() => Mark::Opens,
            (DeltaKind::Stop | DeltaKind::Meta, _) if !reasoning && block.is_some() => Mark::Closes,
            (DeltaKind::Copy(_), Slot::At { .. }) => Mark::Copies,
            (DeltaKind::Copy(_), _) => Mark::Rides,
            // One that speaks of nothing that has come can only speak of what comes.
            (DeltaKind::Annotation { ahead }, _) if *ahead || key.is_none() => {
                self.outbox.waits_ahead(delta.choice.unwrap_or(0));
                Mark::RidesAhead { seq: self.step }
            }
            (DeltaKind::Annotation { .. }, _) => Mark::Rides,
            (DeltaKind::Finish(_), _) => {
                self.outbox.payload_came(delta.choice.unwrap_or(0), self.step, None);
                Mark::Decided
            }
            (DeltaKind::Terminal | DeltaKind::Error(_), _) => {
                self.outbox.no_more(self.step);
                Mark::Decided
            }
            _ => Mark::Decided,
        }
    }

    fn watches(&self, key: BlockKey) -> bool {
        !self.bypassed && self.needs.of(&self.fold.state.blocks[key.index()]) != Attention::Nothing
    }

    fn send(&mut self, waiting: &mut Waiting, edit: Option<Text>, now: Duration) {
        let Some(key) = waiting.part.key else { return };
        if self.ledgers.get_mut(key).gone {
            self.discard(waiting, "its opening was dropped");
            return;
        }
        if self.ledgers.get(key).is_some_and(|ledger| ledger.pending.is_some()) {
            // Under a decision nothing leaves before the verdict.
            self.hold(waiting, edit, now);
            return;
        }
        let what = self.edit(waiting, edit);
        if what != Decided::Kept {
            self.note(Some(key), Action::Edited, None, 0, Duration::ZERO);
        }
        self.ledgers.decided(key, what, waiting.opener);
    }

    fn hold(&mut self, waiting: &mut Waiting, edit: Option<Text>, now: Duration) {
        let Some(key) = waiting.part.key else { return };
        if self.ledgers.get_mut(key).gone {
            self.discard(waiting, "its opening was dropped");
            return;
        }
        match self.edit(waiting, edit) {
            Decided::Kept => {}
            Decided::Edited => {
                self.ledgers.get_mut(key).edited += 1;
                self.ledgers.touch(key);
                self.note(Some(key), Action::Edited, None, 0, Duration::ZERO);
            }
            Decided::Dropped => {
                self.note(Some(key), Action::Edited, None, 0, Duration::ZERO);
                self.ledgers.decided(key, Decided::Dropped, waiting.opener);
                return;
            }
        }
        self.marks += 1;
        waiting.mark = Mark::Held { seq: self.marks };
        let bytes = self.under_way.as_ref().map_or(0, |under_way| under_way.queued.bytes());
        self.ledgers.held(key, bytes, now);
    }

    /// The hook said nothing of its payload.
    fn leave_undecided(&mut self, waiting: &mut Waiting, now: Duration) {
        let pending =
            waiting.part.key.and_then(|key| self.ledgers.get(key)).is_some_and(|l| l.pending.is_some());
        if pending {
            self.hold(waiting, None, now);
        } else {
            self.discard(waiting, "neither sent nor buffered");
        }
    }

    fn discard(&mut self, waiting: &mut Waiting, reason: &str) {
        waiting.part.fate = Fate::Dropped;
        waiting.mark = Mark::Decided;
        let bytes = self.under_way.as_ref().map_or(0, |under_way| under_way.queued.bytes());
        if let Some(key) = waiting.part.key {
            self.ledgers.decided(key, Decided::Dropped, waiting.opener);
            self.note(Some(key), Action::Dropped, Some(reason.into()), bytes, Duration::ZERO);
        }
    }

    fn edit(&self, waiting: &mut Waiting, edit: Option<Text>) -> Decided {
        let Some(body) = edit else { return Decided::Kept };
        let emptied = body.is_empty() && matches!(waiting.part.delta.kind, DeltaKind::Text { .. });
        if emptied || waiting.part.key.is_some_and(|key| self.is_signed(key)) {
            // Nothing is left of it: no empty block is to be opened for it.
            waiting.part.fate = Fate::Dropped;
            return Decided::Dropped;
        }
        replace_body(&mut waiting.part.delta.kind, &body, None);
        waiting.part.fate = edited(waiting.part.fate);
        Decided::Edited
    }

    /// Whether a signature stands for the block's text, so that it can be emptied and not edited (rule 22).
    fn is_signed(&self, key: BlockKey) -> bool {
        let reasoning =
            self.fold.state.block(key).is_some_and(|block| block.channel() == Some(Channel::Reasoning));
        reasoning && self.format.traits().reasoning_is_signed
    }

    /// Whether this is the completion of another block, and a call that overlaps it still goes on: "judge, then flush"
    /// was not said of that one (rule 1).
    fn is_yet_to_be_judged(&self, key: BlockKey) -> bool {
        let block = &self.fold.state.blocks[key.index()];
        let goes_on = block.status() == BlockStatus::Open && block.channel().is_none();
        goes_on && self.fold.state.completed.is_some_and(|completed| completed != key)
    }

    /// The policy says itself what becomes of a block that it had given to a judge.
    fn overrule(&mut self, key: BlockKey, committed: &mut Committed) {
        if self.ledgers.get_mut(key).pending.take().is_some() {
            committed.decide.retain(|(asked, ..)| *asked != key);
            committed.settled.push(key);
        }
    }

    /// Decides over what is held of a block.
    fn settle(&mut self, key: BlockKey, outcome: Outcome, reason: Option<String>, now: Duration) {
        if self.ledgers.get(key).is_some_and(|ledger| ledger.pending.is_some()) {
            // The verdict decides, not a flush beside it.
            return;
        }
        let outcome = match outcome {
            Outcome::Replace(_) if self.is_signed(key) => Outcome::Drop { notice: None },
            outcome => outcome,
        };
        let action = match &outcome {
            Outcome::Release => Action::Released,
            Outcome::Drop { .. } => Action::Dropped,
            Outcome::Replace(_) => Action::Edited,
        };
        let ledger = self.ledgers.get_mut(key);
        let bytes = std::mem::take(&mut ledger.held_bytes);
        let held = ledger.held_since.take().map_or(Duration::ZERO, |since| now.saturating_sub(since));
        if self.ledgers.settle(key, self.marks, outcome) {
            self.note(Some(key), action, reason, bytes, held);
        }
    }

    /// Whether inserted text becomes part of this one: where a text is said again later, only what the text's own block
    /// says can stand inside of it.
    fn joins(&self, waiting: &Waiting) -> bool {
        let content = matches!(waiting.part.delta.kind, DeltaKind::Text { channel: Channel::Content, .. });
        content && self.format.traits().restates
    }

    /// Makes inserted text part of one that leaves; false if there is no such.
    fn join(&mut self, waiting: &mut Waiting, text: &str, before: bool) -> bool {
        let leaves = waiting.part.fate != Fate::Dropped && waiting.mark == Mark::Decided;
        let (true, Some(key)) = (leaves && self.joins(waiting), waiting.part.key) else { return false };
        let DeltaKind::Text { text: said, .. } = &mut waiting.part.delta.kind else { return false };
        *said = if before { format!("{text}{said}") } else { format!("{said}{text}") }.into();
        waiting.part.fate = edited(waiting.part.fate);
        self.ledgers.get_mut(key).edited += 1;
        self.note(Some(key), Action::Inserted, None, text.len(), Duration::ZERO);
        true
    }

    /// Inserts text. Inside of a call there is no place: it waits for the call's end (rule 21). Numbered blocks may
    /// overlap, and their writers know where there is a place.
    fn insert(&mut self, choice: u32, text: Text) {
        self.note(None, Action::Inserted, None, text.len(), Duration::ZERO);
        if self.has_open_call(choice) {
            self.deferred.push((choice, text));
        } else {
            self.queue_text(choice, text);
        }
    }

    /// Inserts the texts that waited for the end of a call, as far as it has come.
    fn insert_deferred(&mut self) {
        if self.deferred.is_empty() {
            return;
        }
        for (choice, text) in std::mem::take(&mut self.deferred) {
            if self.has_open_call(choice) {
                self.deferred.push((choice, text));
            } else {
                self.queue_text(choice, text);
            }
        }
    }

    /// Whether a call of the choice is open, and something of it has left or may leave.
    fn has_open_call(&self, choice: u32) -> bool {
        self.fold
            .open_calls(choice)
            .any(|key| self.ledgers.get(key).is_some_and(crate::ledger::Ledger::stands))
    }

    fn queue_text(&mut self, choice: u32, text: Text) {
        let waiting = inserted_text(choice, text);
        match &mut self.under_way {
            Some(under_way) => under_way.queued.parts.push(waiting),
            None => self.outbox.push(Queued::new(None, vec![waiting])),
        }
    }

    fn queue(&mut self, waiting: Waiting) {
        if waiting.part.fate != Fate::Dropped {
            match waiting.part.delta.kind {
                DeltaKind::Finish(_) => self.ledgers.finish(waiting.part.delta.choice),
                DeltaKind::Terminal | DeltaKind::Error(_) => self.ledgers.finish(None),
                _ => {}
            }
        }
        if let Some(under_way) = &mut self.under_way {
            under_way.queued.parts.push(waiting);
        }
    }

    fn note(
        &mut self,
        block: Option<BlockKey>,
        action: Action,
        reason: Option<String>,
        bytes: usize,
        held: Duration,
    ) {
        let policy = self.name.to_string();
        self.decisions.push(Decision { policy, block, action, reason, bytes, held });
    }
}

fn size(frame: &Outgoing) -> usize {
    frame.frame.as_ref().map_or(0, |frame| frame.raw().len())
}

fn structure(kind: &DeltaKind) -> Structure {
    match kind {
        DeltaKind::Opening | DeltaKind::Role | DeltaKind::Start { .. } | DeltaKind::ItemStart { .. } => {
            Structure::Opening
        }
        DeltaKind::Finish(_) => Structure::Finish,
        DeltaKind::Usage(_) => Structure::Usage,
        DeltaKind::Error(_) => Structure::Error,
        DeltaKind::Terminal => Structure::Terminal,
        DeltaKind::Copy(_) | DeltaKind::Annotation { .. } | DeltaKind::Signature | DeltaKind::Stop => {
            Structure::Attached
        }
        _ => Structure::Filler,
    }
}
