//! A stage: the fold and the queue of one policy.

mod close;
pub(crate) mod commit;
mod decide;
mod desk;
mod insert;
mod parts;
mod pass;

use desk::{Desk, UnderWay};
pub(crate) use pass::PassedText;

use std::sync::Arc;
use std::time::Duration;

use crate::assembler::fold::{Fold, Keep, Transition};
use crate::block::BlockKey;
use crate::chunk::{Chunk, ChunkKind};
use crate::context::Context;
use crate::delta::{Delta, DeltaKind, Text};
use crate::engine::Settings;
use crate::engine::accounts::{Accounts, Ticket};
use crate::engine::queue::{Queue, Queued, Waiting};
use crate::error::Error;
use crate::few::Few;
use crate::policy::{Attention, Needs, OnFailure, Verdict, VerdictFuture};
use crate::record::{Action, Cause, Decision};
use crate::request::Request;
use crate::text_calls::Searched;
use crate::wire::{Ending, Fate, Outgoing, Part, SharedFormat};

/// The state of a stage: its own fold, and the queue of frames that its policy has not released.
#[derive(Debug)]
pub(crate) struct StageState {
    pub(crate) name: Arc<str>,
    pub(crate) needs: Needs,
    pub(crate) on_failure: OnFailure,
    pub(crate) fold: Fold,
    pub(crate) accounts: Accounts,
    queue: Queue,
    /// The frames that the stage works on, if any.
    desk: Option<Box<Desk>>,
    step: u64,
    /// The number of holds so far: a part that is held after a flush in the same hook is not flushed.
    marks: u64,
    /// The policy failed open: everything passes.
    bypassed: bool,
    /// The policy has inserted text.
    pub(crate) speaks: bool,
    /// Another stage follows, to which completions are passed.
    pub(crate) hands_on: bool,
    /// The stage is a dry run: it gets copies of the frames, and its output is discarded.
    pub(crate) watching: bool,
    /// No enforced policy needs anything: violations of the protocol pass, too.
    pub(crate) blind: bool,
    /// The cause of the decisions that are made now.
    pub(crate) cause: Cause,
    /// The texts that are searched for calls.
    pub(crate) text_calls: Searched,
    /// The keys of blocks in the stage before, with the keys of the same blocks here.
    renamed: Few<BlockKey, BlockKey>,
    /// Inserted texts that wait for the end of a call, with their choices.
    deferred: Vec<(u32, Text)>,
    pub(crate) decisions: Vec<Decision>,
    /// The frame in which the judge was started whose verdict ended the stream: no later frame is written.
    ends_after: Option<u64>,
}

/// The step of a hook that is due.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) step: u64,
    pub(crate) kind: ChunkKind,
    /// The mark of the part of the step; a completion caused by another part has none.
    part: Option<Waiting>,
    choice: Option<u32>,
}

/// The result of [`StageState::advance`].
#[derive(Debug)]
pub(crate) enum Advance {
    /// A hook is due.
    Hook,
    /// A frame passes without the queue.
    Leaves(Outgoing),
    /// A frame was stepped through and queued.
    Queued,
    /// The stage has no more input.
    Idle,
}

/// A judge that a hook started.
pub(crate) struct Asked {
    pub(crate) key: BlockKey,
    pub(crate) within: Option<Duration>,
    pub(crate) otherwise: Option<Verdict>,
    pub(crate) future: VerdictFuture,
}

/// The part of a commit that is left to the engine.
#[derive(Default)]
pub(crate) struct Committed {
    pub(crate) terminate: Option<Ending>,
    pub(crate) decide: Vec<Asked>,
    /// The judges of blocks that were settled otherwise.
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
            queue: Queue::new(format),
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
            renamed: Few::default(),
            deferred: Vec::new(),
            decisions: Vec::new(),
            ends_after: None,
        }
    }

    pub(crate) fn push(&mut self, frame: Outgoing) {
        self.desk().push(frame);
    }

    /// Gives back the desk, if there is nothing on it.
    pub(crate) fn rest(&mut self) {
        if self.is_drained() {
            self.desk.take().into_iter().for_each(Desk::give_back);
        }
    }

    /// Returns whether a hook is due.
    pub(crate) fn is_shown(&self) -> bool {
        self.desk.as_ref().is_some_and(|desk| desk.shown.is_some())
    }

    fn desk(&mut self) -> &mut Desk {
        self.desk.get_or_insert_with(Desk::lent)
    }

    fn take_shown(&mut self) -> Option<Shown> {
        self.desk.as_mut()?.shown.take()
    }

    fn under_way(&mut self) -> Option<&mut UnderWay> {
        self.desk.as_mut()?.under_way.as_mut()
    }

    /// The current part.
    fn part(&mut self) -> Option<&mut Part> {
        self.under_way()?.part()
    }

    /// The block of the current part, if the part is payload.
    fn payload_at_hand(&mut self) -> Option<BlockKey> {
        self.part().filter(|part| part.delta.kind.is_payload())?.key
    }

    /// The bytes of the current frame.
    fn frame_bytes(&self) -> usize {
        let under_way = self.desk.as_ref().and_then(|desk| desk.under_way.as_ref());
        under_way.map_or(0, |under_way| under_way.queued.bytes())
    }

    /// The bytes of the frames in the stage.
    pub(crate) fn held(&self) -> usize {
        let input = self.desk.as_ref().map_or(0, |desk| desk.input_bytes);
        self.queue.bytes() + input + self.frame_bytes()
    }

    /// Steps through a frame up to the next hook or its end. Frames that pass by that go to `out`.
    pub(crate) fn advance(&mut self, now: Duration, out: &mut Vec<Outgoing>) -> Result<Advance, Error> {
        loop {
            let under_way = self.desk.as_mut().and_then(|desk| desk.next());
            let Some(under_way) = under_way else { return Ok(Advance::Idle) };
            let Some(part) = under_way.part() else {
                let done = self.desk.as_mut().and_then(|desk| desk.under_way.take());
                let leaves = done.and_then(|done| self.queue.pass(done.queued, &mut self.accounts, out));
                return Ok(leaves.map_or(Advance::Queued, Advance::Leaves));
            };
            let is_shown = if part.fate == Fate::Dropped {
                self.pass_by();
                false
            } else if matches!(part.delta.kind, DeltaKind::Completed) {
                self.told_complete()
            } else {
                match self.fold.step(&mut part.delta) {
                    Err(_) if self.blind => {
                        self.pass_by();
                        false
                    }
                    transition => self.stepped(transition?, now),
                }
            };
            if is_shown {
                return Ok(Advance::Hook);
            }
        }
    }

    /// Handles a step of the current part. Returns whether the policy is shown it.
    fn stepped(&mut self, transition: Transition, now: Duration) -> bool {
        self.step += 1;
        match transition {
            Transition::Completed(key) => {
                self.accounts.get_mut(key).closed = true;
                // An earlier part of the frame may belong to this block. The next stage then gets the whole frame at once, and finds the
                // completion itself.
                let is_first =
                    self.hands_on && self.under_way().is_some_and(|under_way| !under_way.has_said());
                if is_first && self.fold.is_surely_over(key) {
                    let choice = self.fold.state.blocks[key.index()].choice();
                    self.queue.push(Queued::made(completion(choice, key)));
                }
                let choice = self.part().and_then(|part| part.delta.choice);
                self.show_completion(key, choice)
            }
            Transition::Folded(key) => self.folded(key, false, now),
            Transition::Disagrees(key) => self.folded(key, !self.blind, now),
        }
    }

    /// The chunk, state and context for the hook that is due.
    pub(crate) fn hook<'a>(&'a self, request: &'a Request, now: Duration) -> Option<(Chunk, Context<'a>)> {
        let desk = self.desk.as_ref()?;
        let shown = desk.shown.as_ref()?;
        let part = desk.under_way.as_ref().and_then(UnderWay::shown).filter(|_| shown.part.is_some());
        let chunk = match part {
            Some((part, frame)) => Chunk::of(shown.step, &part.delta, part.key, shown.kind, frame),
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
        let traits = self.fold.format.traits();
        Context::new(self.step, now, choice, &self.fold.state, &self.accounts, request, traits)
    }

    /// Returns whether the policy failed open.
    pub(crate) fn is_bypassed(&self) -> bool {
        self.bypassed
    }

    /// Returns whether every frame was stepped through.
    pub(crate) fn is_drained(&self) -> bool {
        self.desk.as_ref().is_none_or(|desk| desk.is_empty())
    }

    /// Passes the current part unchanged, without a step.
    fn pass_by(&mut self) {
        let under_way = self.desk.as_mut().and_then(|desk| desk.under_way.as_mut());
        let Some(under_way) = under_way else { return };
        if let Some(part) = under_way.part() {
            part.key = part.key.map(|key| self.renamed.get(key).copied().unwrap_or(key));
        }
        under_way.go_on(Waiting::default());
    }

    /// Handles the completion that the stage before passes on when it has released all of a block: the delta that would show it may be held there.
    /// Returns whether the policy is shown it.
    fn told_complete(&mut self) -> bool {
        let under_way = self.desk.as_mut().and_then(|desk| desk.under_way.as_mut());
        let Some(under_way) = under_way else { return false };
        let Some(part) = under_way.part() else { return false };
        let known = part.key.and_then(|key| self.renamed.get(key)).copied();
        let Some(key) = known.filter(|key| self.fold.complete_told(*key)) else {
            under_way.remove();
            return false;
        };
        self.step += 1;
        self.accounts.get_mut(key).closed = true;
        let choice = part.delta.choice;
        part.key = Some(key);
        under_way.go_on(Waiting::default());
        self.show_completion(key, choice)
    }

    /// Shows a completion to the policy, if the policy needs the block. Returns whether it does.
    fn show_completion(&mut self, key: BlockKey, choice: Option<u32>) -> bool {
        let is_shown = self.watches(key);
        if is_shown {
            self.show(ChunkKind::Completed, None, choice);
        }
        is_shown
    }

    fn show(&mut self, kind: ChunkKind, part: Option<Waiting>, choice: Option<u32>) {
        let step = self.step;
        self.desk().shown = Some(Shown { step, kind, part, choice });
    }

    fn watches(&self, key: BlockKey) -> bool {
        !self.bypassed && self.needs.of(&self.fold.state.blocks[key.index()]) != Attention::Nothing
    }

    /// Moves on behind the current part, with its mark.
    fn queue(&mut self, waiting: Waiting) {
        let under_way = self.desk.as_mut().and_then(|desk| desk.under_way.as_mut());
        let Some(under_way) = under_way else { return };
        if let Some(part) = under_way.part().filter(|part| part.fate != Fate::Dropped) {
            match part.delta.kind {
                DeltaKind::Finish(_) => self.accounts.finish(part.delta.choice),
                DeltaKind::Terminal | DeltaKind::Error(_) => self.accounts.finish(None),
                _ => {}
            }
        }
        under_way.go_on(waiting);
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

/// The completion of a block, for the next stage.
fn completion(choice: u32, key: BlockKey) -> Part {
    let delta = Delta { choice: Some(choice), ..Delta::stream(DeltaKind::Completed) };
    Part { delta, key: Some(key), fate: Fate::Kept }
}
