//! What a hook may do.

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
/// | payload (text, tool call, opaque) | [`send`](Self::send) | leaves when everything before it in its choice has |
/// | | `send` of an edited chunk | leaves with the new text or arguments; its frame is written anew |
/// | | [`buffer`](Self::buffer) | held, in its place |
/// | | [`settle`](Self::settle) of its block | shares the verdict over what is held of the block |
/// | | nothing, block under [`decide`](Self::decide) | held until the verdict |
/// | | nothing | discarded, and recorded |
/// | held | [`flush`](Self::flush), [`Verdict::Release`] | leaves as it came |
/// | | [`release`](Self::release) | the oldest chunks leave, as they came or edited |
/// | | [`Verdict::Drop`] | does not leave; a notice may leave in its place |
/// | | [`Verdict::Replace`] | leaves as one piece with the new content |
/// | | [`Decide::after`] | gets that verdict when the time is over, unless settled before |
/// | | still held after `on_end` | dropped, and recorded |
/// | structure (opening, finish, usage, ping, terminal marker …) | anything | leaves by itself, in order |
/// | completion | anything | nothing to send; the time to settle the block, or to have it judged |
/// | any | [`terminate`](Self::terminate) | what is held is dropped, the client gets the ending, nothing follows |
/// | any | returns `Err`, panics, takes too long | nothing staged takes place; [`OnFailure`](crate::policy::OnFailure) says the rest |
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

    /// What the host knows of the request.
    pub fn request(&self) -> &'a Request {
        self.request
    }

    /// The time since the stream started.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.now
    }

    /// Sends this step's chunk, as it is or edited. The chunk leaves when everything before it has (rule 11). Structure and
    /// completions leave by themselves: sending them changes nothing.
    pub fn send(&mut self, chunk: Chunk) {
        if self.owns(&chunk) && chunk.is_payload() {
            self.push(Effect::Send { edit: chunk.edit });
        }
    }

    /// Holds this step's chunk, in its place. An edited chunk is held edited.
    pub fn buffer(&mut self, chunk: Chunk) {
        if self.owns(&chunk) && chunk.is_payload() {
            self.push(Effect::Buffer { edit: chunk.edit });
        }
    }

    /// Releases everything this policy holds, but for blocks under [`decide`](Self::decide). At the completion of a
    /// block, calls that overlap it and still go on stay held: they will complete by themselves (rule 1).
    pub fn flush(&mut self) {
        self.push(Effect::Flush);
    }

    /// Applies a verdict to a block: to what is held of it, to this step's chunk if the chunk is of that block and nothing was
    /// said of it, and, but for [`Verdict::Release`], to what is still to come of it. A judge that the block is under is
    /// dropped: its verdict no longer counts.
    ///
    /// # Errors
    ///
    /// When the block is not known. For a replacement, also when something of the block has left, nothing of it is held, or
    /// the block cannot be replaced so: arguments that are no JSON object where the format takes nothing else, a call that
    /// was not written as text.
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

    /// Releases the oldest held chunks of a block, each as it came or with other text or arguments; what is behind them stays
    /// held.
    ///
    /// This is how text that is matched across chunks leaves: a chunk that is not decided is
    /// [buffered](Self::buffer), and says what it is to say when a later one has decided it. A chunk that this hook
    /// has buffered counts. Chunks that leave as they came are not recorded; edits are, with the reason. Text that
    /// becomes empty does not leave, and signed reasoning is emptied (rule 22).
    pub fn release(&mut self, key: BlockKey, release: Release) {
        self.push(Effect::Release { key, release });
    }

    /// Inserts text at this point of the stream.
    ///
    /// # Errors
    ///
    /// [`EffectError::NoPlace`] after the choice has finished, and behind a tool call where the format allows no text
    /// there (rule 21). That the text found no place is recorded, whatever the hook makes of the error.
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

    /// Has a block decided by a judge, or by time (rule 13): takes a future, or a [`Decide`] with a deadline and a fallback.
    ///
    /// The block is held until the judge answers, while the stream is read on and other blocks are judged beside it. The
    /// future is first polled after this hook has returned, and dropped at once when its verdict can no longer count: its
    /// deadline has passed, the block was settled otherwise, the stream has ended. An error, a panic or the deadline drops
    /// the block (or, failing open, releases it).
    ///
    /// # Errors
    ///
    /// When the block is not known; for a judge, also when the block is already under one, or something of it has left.
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

    /// What the hook staged.
    pub(crate) fn into_effects(self) -> Effects {
        self.effects
    }

    /// Errs unless the block is known and nothing of it has left or is staged to leave.
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

    /// Whether something else can stand in a block's place: it is held, and nothing of it has left.
    fn replaceable(&self, key: BlockKey) -> Result<(), EffectError> {
        self.untouched(key)?;
        let held = self.accounts.get(key).is_some_and(|account| account.undecided > 0);
        if held || self.state.current == Some(key) { Ok(()) } else { Err(EffectError::NothingHeld) }
    }

    /// Whether the hook has said what becomes of its chunk.
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

/// Why an effect is not possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EffectError {
    /// No block has this key.
    UnknownBlock,
    /// Something of the block has left.
    AlreadyLeft,
    /// Nothing of the block is held.
    NothingHeld,
    /// The block is already under a decision.
    AlreadyDeciding,
    /// There is no place for text here.
    NoPlace,
    /// The format's arguments are a JSON object, and the replacement is none.
    NotAnObject,
    /// The call was not written as text.
    NotWritten,
    /// The replacement is other arguments, and the block is no tool call.
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

/// What a hook staged, in order.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// The chunk was sent as it came, first of all: what most hooks do needs no list.
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

    /// That the chunk was sent as it came, and nothing else.
    pub(crate) fn sent() -> Self {
        Self { sent: true, ..Self::default() }
    }

    /// Whether the chunk was sent as it came, and nothing else was done.
    pub(crate) fn only_sent(&self) -> bool {
        self.sent && self.rest.is_empty() && self.misuse.is_none()
    }

    /// Whether something was said of the chunk itself.
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
