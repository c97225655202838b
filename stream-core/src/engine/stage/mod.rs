//! A stage: one policy's fold and queue.

mod close;
pub(crate) mod commit;
mod decide;
mod desk;
mod insert;
mod parts;
mod pass;

use desk::{Desk, UnderWay};
pub(crate) use pass::PassedText;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::assembler::fold::{Fold, Keep, Transition};
use crate::block::BlockKey;
use crate::chunk::{Chunk, ChunkKind};
use crate::context::Context;
use crate::delta::{Delta, DeltaKind, Text};
use crate::engine::Settings;
use crate::engine::accounts::{Accounts, Ticket};
use crate::engine::queue::{Mark, Queue, Queued, Waiting};
use crate::error::Error;
use crate::policy::{Attention, Needs, OnFailure, Verdict, VerdictFuture};
use crate::record::{Action, Cause, Decision};
use crate::request::Request;
use crate::text_calls::Searched;
use crate::wire::{Ending, Fate, Outgoing, Part, SharedFormat};

/// One policy's view of the stream: its own fold, and the queue of what it has not let go.
#[derive(Debug)]
pub(crate) struct StageState {
    pub(crate) name: Arc<str>,
    pub(crate) needs: Needs,
    pub(crate) on_failure: OnFailure,
    pub(crate) fold: Fold,
    pub(crate) accounts: Accounts,
    queue: Queue,
    format: SharedFormat,
    /// What it is at work on, while there is something.
    desk: Option<Box<Desk>>,
    step: u64,
    /// Counts what was held, so that a part held after a flush, in the same hook, is not flushed by it.
    marks: u64,
    /// Failed open: everything passes.
    bypassed: bool,
    /// The policy has put texts of its own into the stream.
    pub(crate) speaks: bool,
    /// Another stage is behind it, which is told what is complete.
    pub(crate) hands_on: bool,
    /// Only watches: frames pass it by on their way, and what it lets go goes nowhere.
    pub(crate) watching: bool,
    /// No policy that is enforced looks at anything: what breaks the protocol passes, too.
    pub(crate) blind: bool,
    /// What brings the decisions about that are made now.
    pub(crate) cause: Cause,
    /// Calls are looked for in the text.
    pub(crate) text_calls: Searched,
    /// Keys of the stage before, and the keys of the same blocks here.
    renamed: BTreeMap<BlockKey, BlockKey>,
    /// Inserted texts that wait for the end of a call, with their choices.
    deferred: Vec<(u32, Text)>,
    pub(crate) decisions: Vec<Decision>,
    /// A verdict ended the stream: nothing leaves of what came after the frame in which the judge was asked.
    ends_after: Option<u64>,
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

/// What [`StageState::advance`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advance {
    /// A hook is to be called.
    Hook,
    /// A step passed the policy by.
    Passed,
    /// There is no more input.
    Idle,
}

/// A judge that a hook asked.
pub(crate) struct Asked {
    pub(crate) key: BlockKey,
    pub(crate) within: Option<Duration>,
    pub(crate) otherwise: Option<Verdict>,
    pub(crate) future: VerdictFuture,
}

/// What a commit asks the engine to do.
#[derive(Default)]
pub(crate) struct Committed {
    pub(crate) terminate: Option<Ending>,
    pub(crate) decide: Vec<Asked>,
    /// The decisions over blocks that were discarded or replaced: their verdicts come too late.
    pub(crate) settled: Vec<Ticket>,
    pub(crate) settle_after: Vec<(BlockKey, Duration, Verdict)>,
}

impl StageState {
    pub(crate) fn new(
        number: u8,
        name: Arc<str>,
        needs: &Needs,
        on_failure: OnFailure,
        format: SharedFormat,
        settings: &Arc<Settings>,
    ) -> Self {
        let wants = |attention| attention != Attention::Nothing;
        let keep = Keep {
            content: wants(needs.content),
            reasoning: wants(needs.reasoning),
            refusal: wants(needs.refusal),
            calls: wants(needs.calls),
        };
        Self {
            name,
            needs: needs.clone(),
            on_failure,
            fold: Fold::new(format.clone(), number, keep, Arc::clone(settings)),
            accounts: Accounts::default(),
            queue: Queue::new(format.clone()),
            format,
            desk: None,
            step: 0,
            marks: 0,
            bypassed: false,
            speaks: false,
            hands_on: false,
            watching: false,
            blind: false,
            cause: Cause::default(),
            text_calls: Searched::Nothing,
            renamed: BTreeMap::new(),
            deferred: Vec::new(),
            decisions: Vec::new(),
            ends_after: None,
        }
    }

    pub(crate) fn push(&mut self, frame: Outgoing) {
        let desk = self.desk();
        desk.input_bytes += size(&frame);
        // Nearly always one at a time.
        desk.input.reserve_exact(usize::from(desk.input.capacity() == 0));
        desk.input.push_back(frame);
    }

    /// There is nothing to do: what is needed only for work is given back.
    pub(crate) fn rest(&mut self) {
        if self.is_drained() {
            self.desk.take().into_iter().for_each(Desk::give_back);
        }
    }

    /// Whether a hook is to be called.
    pub(crate) fn is_shown(&self) -> bool {
        self.desk.as_ref().is_some_and(|desk| desk.shown.is_some())
    }

    fn desk(&mut self) -> &mut Desk {
        self.desk.get_or_insert_with(Desk::lent)
    }

    fn take_shown(&mut self) -> Option<Shown> {
        self.desk.as_mut()?.shown.take()
    }

    fn under_way(&self) -> Option<&UnderWay> {
        self.desk.as_ref()?.under_way.as_ref()
    }

    fn under_way_mut(&mut self) -> Option<&mut UnderWay> {
        self.desk.as_mut()?.under_way.as_mut()
    }

    /// How many bytes of frames it has and has not let go.
    pub(crate) fn held(&self) -> usize {
        let Some(desk) = &self.desk else { return self.queue.bytes() };
        let under_way = desk.under_way.as_ref().map_or(0, |under_way| under_way.queued.bytes());
        self.queue.bytes() + desk.input_bytes + under_way
    }

    /// Makes one step, and takes what may leave.
    pub(crate) fn advance(&mut self, now: Duration, out: &mut Vec<Outgoing>) -> Result<Advance, Error> {
        let Some(desk) = &mut self.desk else { return Ok(Advance::Idle) };
        let under_way = match &mut desk.under_way {
            Some(under_way) => under_way,
            under_way => {
                let Some(frame) = desk.input.pop_front() else { return Ok(Advance::Idle) };
                desk.input_bytes -= size(&frame);
                let queued = Queued::new(frame.frame, Vec::with_capacity(frame.parts.len()));
                under_way.insert(UnderWay { queued, rest: frame.parts.into() })
            }
        };
        let Some(part) = under_way.rest.front_mut() else {
            if let Some(under_way) = desk.under_way.take() {
                self.queue.pass(under_way.queued, under_way.rest.into(), &mut self.accounts, out);
            }
            return Ok(Advance::Passed);
        };
        if part.fate == Fate::Dropped {
            self.pass_by();
            return Ok(Advance::Passed);
        }
        if part.delta.kind == DeltaKind::Completed {
            return Ok(self.told_complete());
        }
        let transition = match self.fold.step(&mut part.delta) {
            Err(_) if self.blind => {
                self.pass_by();
                return Ok(Advance::Passed);
            }
            transition => transition?,
        };
        self.step += 1;
        match transition {
            Transition::Completed(key) => {
                let choice = part.delta.choice;
                self.accounts.get_mut(key).closed = true;
                // Where the frame has said something of a block already, it may have been this one: the stage behind gets all of it
                // at once, and sees for itself.
                let is_first = under_way.queued.parts.iter().all(|waiting| waiting.part.key.is_none());
                if self.hands_on && is_first && self.fold.is_surely_over(key) {
                    let choice = self.fold.state.blocks[key.index()].choice();
                    self.queue.push(Queued::new(None, vec![completion(choice, key)]));
                }
                Ok(self.show_completion(key, choice))
            }
            Transition::Folded(key) => self.folded(key, false, now),
            Transition::Disagrees(key) => self.folded(key, !self.blind, now),
        }
    }

    /// The chunk, state and context for the hook that is due.
    pub(crate) fn hook<'a>(&'a self, request: &'a Request, now: Duration) -> Option<(Chunk, Context<'a>)> {
        let shown = self.desk.as_ref()?.shown.as_ref()?;
        let chunk = match &shown.part {
            Some(waiting) => {
                let frame = self.under_way().and_then(|under_way| under_way.queued.frame.as_ref());
                Chunk::of(shown.step, &waiting.part.delta, waiting.part.key, shown.kind, frame)
            }
            None => Chunk {
                step: shown.step,
                choice: shown.choice,
                block: self.fold.state.current,
                kind: shown.kind,
                body: None,
                edit: None,
                fields: 0,
            },
        };
        Some((chunk, self.context(request, now)))
    }

    pub(crate) fn context<'a>(&'a self, request: &'a Request, now: Duration) -> Context<'a> {
        let shown = self.desk.as_ref().and_then(|desk| desk.shown.as_ref());
        let choice = shown.and_then(|shown| shown.choice);
        let traits = self.format.traits();
        Context::new(self.step, now, choice, &self.fold.state, &self.accounts, request, traits)
    }

    /// Whether it failed open.
    pub(crate) fn is_bypassed(&self) -> bool {
        self.bypassed
    }

    /// Whether every frame it was given has been stepped through.
    pub(crate) fn is_drained(&self) -> bool {
        self.desk.as_ref().is_none_or(|desk| desk.is_empty())
    }

    /// Lets a part go as it came, without a look at it.
    fn pass_by(&mut self) {
        let under_way = self.desk.as_mut().and_then(|desk| desk.under_way.as_mut());
        let Some(under_way) = under_way else { return };
        let Some(mut part) = under_way.rest.pop_front() else { return };
        part.key = part.key.map(|key| self.renamed.get(&key).copied().unwrap_or(key));
        under_way.queued.parts.push(Waiting { part, mark: Mark::Decided, opener: false });
    }

    /// The stage before has let go all of a block, and says that it is complete: what comes next, and would tell it, may be
    /// held there.
    fn told_complete(&mut self) -> Advance {
        let under_way = self.desk.as_mut().and_then(|desk| desk.under_way.as_mut());
        let Some(under_way) = under_way else { return Advance::Idle };
        let Some(mut part) = under_way.rest.pop_front() else { return Advance::Idle };
        let Some(key) = part.key.and_then(|key| self.renamed.get(&key)).copied() else {
            return Advance::Passed;
        };
        if !self.fold.complete_told(key) {
            return Advance::Passed;
        }
        self.step += 1;
        self.accounts.get_mut(key).closed = true;
        let choice = part.delta.choice;
        part.key = Some(key);
        under_way.queued.parts.push(Waiting { part, mark: Mark::Decided, opener: false });
        self.show_completion(key, choice)
    }

    fn show_completion(&mut self, key: BlockKey, choice: Option<u32>) -> Advance {
        if !self.watches(key) {
            return Advance::Passed;
        }
        let step = self.step;
        self.desk().shown = Some(Shown { step, kind: ChunkKind::Completed, part: None, choice });
        Advance::Hook
    }

    fn watches(&self, key: BlockKey) -> bool {
        !self.bypassed && self.needs.of(&self.fold.state.blocks[key.index()]) != Attention::Nothing
    }

    fn queue(&mut self, waiting: Waiting) {
        if waiting.part.fate != Fate::Dropped {
            match waiting.part.delta.kind {
                DeltaKind::Finish(_) => self.accounts.finish(waiting.part.delta.choice),
                DeltaKind::Terminal | DeltaKind::Error(_) => self.accounts.finish(None),
                _ => {}
            }
        }
        if let Some(under_way) = self.under_way_mut() {
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
        let enforced = !self.watching;
        let decision = Decision::new(&*self.name, action, self.cause);
        self.decisions.push(Decision { block, reason, bytes, held, enforced, ..decision });
    }
}

/// The word that a block is complete.
fn completion(choice: u32, key: BlockKey) -> Waiting {
    let delta = Delta { choice: Some(choice), ..Delta::stream(DeltaKind::Completed) };
    Waiting { part: Part { delta, key: Some(key), fate: Fate::Kept }, mark: Mark::Decided, opener: false }
}

fn size(frame: &Outgoing) -> usize {
    frame.frame.as_ref().map_or(0, |frame| frame.raw().len())
}
