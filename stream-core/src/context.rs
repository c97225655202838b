//! The effects of a hook.

use std::fmt;
use std::time::Duration;

use crate::block::BlockKey;
use crate::chunk::Chunk;
use crate::ending::Ending;
use crate::engine::accounts::Accounts;
use crate::policy::{Decide, Release, Replacement, Verdict, VerdictFuture, With};
use crate::record::Staged;
use crate::request::Request;
use crate::state::StreamState;
use crate::wire::Traits;

/// The effects a hook may have on its stream. Effects are staged, in order, and take place when the hook returns `Ok`.
///
/// # What happens to a step
///
/// | step | the hook | becomes |
/// |---|---|---|
/// | payload (text, tool call, opaque) | [`send`](Self::send) | written to the client behind everything before it in its choice |
/// | | `send` of an edited chunk | written with the new text or arguments; its frame is made anew |
/// | | [`buffer`](Self::buffer) | held, in its place |
/// | | [`settle`](Self::settle) of its block | shares the verdict over what is held of the block |
/// | | nothing, block under [`decide`](Self::decide) | held until the verdict |
/// | | nothing | discarded, and recorded |
/// | held | [`flush`](Self::flush), [`Verdict::Release`] | written unchanged |
/// | | [`release`](Self::release) | the oldest chunks are written, unchanged or edited |
/// | | [`Verdict::Drop`] | dropped; a notice may take its place |
/// | | [`Verdict::Replace`] | written as one piece with the new content |
/// | | [`Decide::after`] | gets that verdict when the time is over, unless settled before |
/// | | still held after `on_end` | dropped, and recorded |
/// | structure (opening, finish, usage, ping, terminal marker …) | anything | written in order, without a decision |
/// | completion | anything | nothing to send; the time to settle the block, or to have it judged |
/// | any | [`terminate`](Self::terminate) | what is held is dropped, the client gets the ending, nothing follows |
/// | any | returns `Err`, panics, exceeds its time limit | no staged effect takes place; [`OnFailure`](crate::policy::OnFailure) decides the rest |
///
/// ```
/// use stream_core::{Replacement, Verdict, policy_fn};
///
/// /// Replaces the arguments of every complete call.
/// let dry_run = policy_fn(|chunk, state, ctx| {
///     if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
///         ctx.settle(call.key(), Verdict::Replace(Replacement::arguments(r#"{"dry_run":true}"#)))?;
///     } else if chunk.is_tool_call() {
///         ctx.buffer(chunk);
///     } else {
///         ctx.send(chunk);
///     }
///     Ok(())
/// });
/// # let _ = stream_core::StreamProcessor::builder().policy(dry_run);
/// ```
#[derive(Debug)]
pub struct Context<'a> {
    step: u64,
    now: Duration,
    choice: Option<u32>,
    state: &'a StreamState,
    accounts: &'a Accounts,
    request: &'a Request,
    traits: Traits,
    effects: Effects,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        step: u64,
        now: Duration,
        choice: Option<u32>,
        state: &'a StreamState,
        accounts: &'a Accounts,
        request: &'a Request,
        traits: Traits,
    ) -> Self {
        Self { step, now, choice, state, accounts, request, traits, effects: Effects::default() }
    }

    /// The facts of the request.
    pub fn request(&self) -> &'a Request {
        self.request
    }

    /// The time since the stream started.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.now
    }

    /// Sends the chunk of this step, unchanged or edited. The chunk is written to the client behind everything before it ([rule 11](crate::guide::rules#rule-11)). Structure
    /// is written without a decision: sending it has no effect.
    pub fn send(&mut self, chunk: Chunk) {
        if self.owns(&chunk) && chunk.is_payload() {
            self.push(Effect::Send { edit: chunk.edit });
        }
    }

    /// Holds the chunk of this step, in its place. An edited chunk is held with its edit.
    pub fn buffer(&mut self, chunk: Chunk) {
        if self.owns(&chunk) && chunk.is_payload() {
            self.push(Effect::Buffer { edit: chunk.edit });
        }
    }

    /// Releases everything that this policy holds, except for blocks under [`decide`](Self::decide). At the completion of a block, open calls
    /// that overlap the block stay held: each has a completion of its own ([rule 1](crate::guide::rules#rule-1)).
    pub fn flush(&mut self) {
        self.push(Effect::Flush);
    }

    /// Applies a verdict to a block: to its held parts, to the chunk of this step if the chunk belongs to the block and was neither sent nor
    /// buffered, and, except for [`Verdict::Release`], to the deltas of the block that are still to come. A judge of the block is dropped.
    ///
    /// # Errors
    ///
    /// When the block is not known. For a replacement, also when a part of the block was released, no part of it is held, or the block cannot be
    /// replaced in this way: arguments that are no JSON object where the format requires one, a call that was not written as text.
    pub fn settle(&mut self, key: BlockKey, verdict: Verdict) -> Result<(), EffectError> {
        let block = self.state.block(key).ok_or(EffectError::UnknownBlock)?;
        if let Verdict::Replace(with) = &verdict {
            self.replaceable(key)?;
            block.takes(with, self.traits)?;
        }
        self.push(match verdict {
            Verdict::Terminate(ending) => Effect::Terminate(ending),
            verdict => Effect::Settle { key, verdict },
        });
        Ok(())
    }

    /// Releases the oldest held chunks of a block, each unchanged or with other text or arguments; later chunks stay held.
    ///
    /// A policy that matches text across chunks [buffers](Self::buffer) a chunk until a later chunk decides over it, and then releases it. A
    /// chunk that this hook has buffered counts. Edits are recorded, with the reason; unchanged chunks are not. A chunk whose text becomes empty
    /// is dropped, and signed reasoning is emptied ([rule 22](crate::guide::rules#rule-22)).
    pub fn release(&mut self, key: BlockKey, release: Release) {
        self.push(Effect::Release { key, release });
    }

    /// Inserts text at this point of the stream.
    ///
    /// # Errors
    ///
    /// [`EffectError::NoPlace`] after the finish of the choice, and behind a tool call where the format allows no text there
    /// ([rule 21](crate::guide::rules#rule-21)). The missing text is recorded, whatever the hook does with the error.
    pub fn insert(&mut self, text: impl Into<String>) -> Result<(), EffectError> {
        let over = self.accounts.is_over(self.choice.unwrap_or(0));
        // A call that opens in this step and is not sent yet stands behind the text.
        let opening = self.state.current.filter(|_| !self.is_staged()).and_then(|key| self.accounts.get(key));
        let behind = usize::from(opening.is_some_and(|account| account.is_call && account.is_opening()));
        if over || (!self.traits.text_after_call && self.accounts.calls_ahead > behind) {
            self.push(Effect::NoPlace { bytes: text.into().len() });
            return Err(EffectError::NoPlace);
        }
        self.push(Effect::Insert(text.into()));
        Ok(())
    }

    /// Ends the stream. Held blocks are dropped, and no hook of this policy is called again.
    pub fn terminate(&mut self, ending: Ending) {
        self.push(Effect::Terminate(ending));
    }

    /// Starts a judge over a block, or sets a time for a verdict ([rule 13](crate::guide::rules#rule-13)). The argument is a future, or a [`Decide`] with a deadline and a
    /// fallback.
    ///
    /// The block is held until the judge returns, while the stream is read on and other blocks are judged. The future is first polled after this
    /// hook has returned, and dropped as soon as its verdict cannot count any more: its deadline has passed, the block was settled otherwise,
    /// the stream has ended. An error, a panic or the deadline drops the block; a stage that fails open releases it.
    ///
    /// # Errors
    ///
    /// When the block is not known; for a judge, also when the block already has one, or a part of the block was released.
    pub fn decide(&mut self, key: BlockKey, decide: impl Into<Decide>) -> Result<(), EffectError> {
        let Decide { judge, within, otherwise } = decide.into();
        let Some(future) = judge else {
            self.state.block(key).ok_or(EffectError::UnknownBlock)?;
            let (time, verdict) = (within.unwrap_or_default(), otherwise.unwrap_or(Verdict::Release));
            self.push(Effect::SettleAfter { key, time, verdict });
            return Ok(());
        };
        self.untouched(key)?;
        let pending = self.accounts.get(key).is_some_and(|account| account.pending.is_some());
        let asks = |effect: &Effect| matches!(effect, Effect::Decide { key: asked, .. } if *asked == key);
        if pending || self.effects.rest.iter().any(asks) {
            return Err(EffectError::AlreadyDeciding);
        }
        self.push(Effect::Decide { key, within, otherwise, future });
        Ok(())
    }

    /// The staged effects.
    pub(crate) fn into_effects(self) -> Effects {
        self.effects
    }

    /// Checks that the block is known and that no part of it was released, or is staged to be.
    fn untouched(&self, key: BlockKey) -> Result<(), EffectError> {
        if self.state.block(key).is_none() {
            return Err(EffectError::UnknownBlock);
        }
        let left = self.accounts.get(key).is_some_and(|account| account.kept > 0);
        let sent = self.effects.sent && self.state.current == Some(key);
        let staged = self.effects.rest.iter().any(|effect| match effect {
            Effect::Settle { key: released, verdict: Verdict::Release } => *released == key,
            Effect::Release { key: released, .. } => *released == key,
            Effect::Flush => true,
            Effect::Send { .. } => self.state.current == Some(key),
            _ => false,
        });
        if left || sent || staged { Err(EffectError::AlreadyLeft) } else { Ok(()) }
    }

    /// Checks that a block can be replaced: a part of it is held, and none was released.
    fn replaceable(&self, key: BlockKey) -> Result<(), EffectError> {
        self.untouched(key)?;
        let held = self.accounts.get(key).is_some_and(|account| account.undecided > 0);
        if held || self.state.current == Some(key) { Ok(()) } else { Err(EffectError::NothingHeld) }
    }

    /// Returns whether the hook has sent or buffered its chunk.
    fn is_staged(&self) -> bool {
        self.effects.decide_chunk()
    }

    fn owns(&mut self, chunk: &Chunk) -> bool {
        if chunk.step != self.step {
            self.effects.misuse = Some(
                "expected a chunk of this step, found one that was stored in an earlier step: hold it there with `buffer`, and let it go \
                 later with `flush` or `settle`",
            );
        }
        chunk.step == self.step
    }

    fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }
}

/// The reason why an effect is not possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EffectError {
    /// No block has this key.
    UnknownBlock,
    /// A part of the block was released.
    AlreadyLeft,
    /// No part of the block is held.
    NothingHeld,
    /// The block already has a judge.
    AlreadyDeciding,
    /// The format has no place for text here.
    NoPlace,
    /// The format requires a JSON object as arguments, and the replacement is none.
    NotAnObject,
    /// The call was not written as text.
    NotWritten,
    /// The replacement has arguments, and the block is no tool call.
    NotACall,
}

impl fmt::Display for EffectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownBlock => "expected the key of a block of this stream, found another",
            Self::AlreadyLeft => "expected a block of which nothing has left, found one on its way",
            Self::NothingHeld => "expected a block of which something is held, found nothing of it",
            Self::AlreadyDeciding => "expected a block without a decision, found one under way",
            Self::NoPlace => "expected a place for text, found none behind a tool call or a finish",
            Self::NotAnObject => "expected a JSON object as arguments, found something else",
            Self::NotACall => "expected a tool call to have other arguments, found another block",
            Self::NotWritten => "expected a call that was written as text, found another block",
        })
    }
}

impl std::error::Error for EffectError {}

/// The staged effects of a hook, in order.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// The chunk was sent unchanged, as the first effect: most hooks do only this, and need no list.
    sent: bool,
    rest: Vec<Effect>,
    pub(crate) misuse: Option<&'static str>,
}

impl Effects {
    fn push(&mut self, effect: Effect) {
        match effect {
            Effect::Send { edit: None } if !self.sent && self.rest.is_empty() => self.sent = true,
            effect => self.rest.push(effect),
        }
    }

    /// The effects of a hook that sends its chunk unchanged.
    pub(crate) fn sent() -> Self {
        Self { sent: true, ..Self::default() }
    }

    /// Returns whether the chunk was sent unchanged, and nothing else was staged.
    pub(crate) fn only_sent(&self) -> bool {
        self.sent && self.rest.is_empty() && self.misuse.is_none()
    }

    /// Returns whether the chunk was sent or buffered.
    pub(crate) fn decide_chunk(&self) -> bool {
        let decides = |effect: &Effect| matches!(effect, Effect::Send { .. } | Effect::Buffer { .. });
        self.sent || self.rest.iter().any(decides)
    }

    /// The effects, in order.
    pub(crate) fn into_list(self) -> impl Iterator<Item = Effect> {
        self.sent.then_some(Effect::Send { edit: None }).into_iter().chain(self.rest)
    }

    /// The effects without their content, for an observer.
    pub(crate) fn staged(&self) -> Vec<Staged> {
        let sent = self.sent.then_some(Staged::Send { edited: false });
        sent.into_iter().chain(self.rest.iter().map(Effect::staged)).collect()
    }
}

pub(crate) enum Effect {
    Send {
        edit: Option<crate::delta::Text>,
    },
    Buffer {
        edit: Option<crate::delta::Text>,
    },
    Flush,
    Settle {
        key: BlockKey,
        verdict: Verdict,
    },
    Release {
        key: BlockKey,
        release: Release,
    },
    Insert(String),
    /// A text was to be inserted where there is no place for one.
    NoPlace {
        bytes: usize,
    },
    Terminate(Ending),
    Decide {
        key: BlockKey,
        within: Option<Duration>,
        otherwise: Option<Verdict>,
        future: VerdictFuture,
    },
    SettleAfter {
        key: BlockKey,
        time: Duration,
        verdict: Verdict,
    },
}

impl Effect {
    fn staged(&self) -> Staged {
        match self {
            Self::Send { edit } => Staged::Send { edited: edit.is_some() },
            Self::Buffer { edit } => Staged::Buffer { edited: edit.is_some() },
            Self::Flush => Staged::Flush(None),
            Self::Settle { key, verdict } => match verdict {
                Verdict::Release => Staged::Flush(Some(*key)),
                Verdict::Drop { .. } => Staged::Discard(*key),
                Verdict::Replace(Replacement { with: With::Structured { .. }, .. }) => Staged::Promote(*key),
                Verdict::Replace(_) => Staged::Replace(*key),
                Verdict::Terminate(_) => Staged::Terminate,
            },
            Self::Release { key, release } => {
                let edited = release.texts.iter().filter(|text| text.is_some()).count();
                let (chunks, cuts) = (release.texts.len(), release.cuts);
                Staged::Release { block: *key, chunks, edited, cuts }
            }
            Self::Insert(_) | Self::NoPlace { .. } => Staged::Insert,
            Self::Terminate(_) => Staged::Terminate,
            Self::Decide { key, .. } => Staged::Decide(*key),
            Self::SettleAfter { key, .. } => Staged::SettleAfter(*key),
        }
    }
}

impl fmt::Debug for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.staged())
    }
}
