//! What a hook may do.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::block::BlockKey;
use crate::chunk::Chunk;
use crate::ledger::Ledgers;
use crate::policy::{PolicyError, Replacement, Verdict};
use crate::record::Staged;
use crate::request::Request;
use crate::state::StreamState;
use crate::wire::{Ending, EndingKind, Traits};

/// The effects a hook may have on its stream. They are staged, in order, and take place when the hook returns `Ok`.
///
/// # What happens to a step
///
/// | step | the hook | becomes |
/// |---|---|---|
/// | payload (text, tool call, opaque) | [`send`](Self::send) | leaves when everything before it in its choice has |
/// | | `send` of an edited chunk | leaves with the new text or arguments; its frame is written anew |
/// | | [`buffer`](Self::buffer) | held, in its place |
/// | | nothing, block under [`decide`](Self::decide) | held until the verdict |
/// | | nothing | discarded, and recorded |
/// | held | [`flush`](Self::flush), [`flush_block`](Self::flush_block), `Verdict::Release` | leaves as it came |
/// | | [`flush_first`](Self::flush_first) | the oldest chunks leave, as they came or edited |
/// | | [`discard`](Self::discard), `Verdict::Drop` | does not leave |
/// | | [`replace`](Self::replace), `Verdict::Replace` | leaves as one piece with the new content |
/// | | [`replace_with_text`](Self::replace_with_text) | the text leaves in its place |
/// | | [`promote`](Self::promote) | a call that was written as text leaves as a structured call |
/// | | [`settle_after`](Self::settle_after) | gets that verdict when the time is over, unless settled before |
/// | | still held after `on_end` | dropped, and recorded |
/// | structure (opening, finish, usage, ping, terminal marker …) | anything | leaves by itself, in order |
/// | completion | anything | nothing to send; the time to flush, judge or discard the block |
/// | any | [`terminate`](Self::terminate) | what is held is dropped, the client gets the ending, nothing follows |
/// | any | returns `Err`, panics, takes too long | nothing staged takes place; [`OnFailure`](crate::policy::OnFailure) says the rest |
///
/// ```
/// use stream_core::{Chunk, Context, Policy, PolicyError, StreamState, async_trait};
///
/// /// Replaces the arguments of every complete call, and says so.
/// struct DryRun;
///
/// #[async_trait]
/// impl Policy for DryRun {
///     async fn on_chunk(
///         &mut self,
///         chunk: Chunk,
///         state: &StreamState,
///         ctx: &mut Context<'_>,
///     ) -> Result<(), PolicyError> {
///         if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
///             ctx.replace(call.key(), stream_core::Replacement::new(r#"{"dry_run":true}"#))?;
///         } else if chunk.is_tool_call() {
///             ctx.buffer(chunk);
///         } else {
///             ctx.send(chunk);
///         }
///         Ok(())
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Context<'a> {
    step: u64,
    now: Duration,
    choice: Option<u32>,
    state: &'a StreamState,
    ledgers: &'a Ledgers,
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
        ledgers: &'a Ledgers,
        request: &'a Request,
        traits: Traits,
    ) -> Self {
        Self { step, now, choice, state, ledgers, request, traits, effects: Effects::default() }
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

    /// Whether the stream's reasoning carries a signature or an id that stands for its text (Anthropic, Responses): it
    /// can be emptied, and never says anything else (rule 22).
    #[must_use]
    pub fn reasoning_is_signed(&self) -> bool {
        self.traits.reasoning_is_signed
    }

    /// Sends this step's chunk, as it is or edited. It leaves when everything before it has (rule 11). Structure and
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
        self.push(Effect::FlushAll);
    }

    /// Releases what is held of a block.
    pub fn flush_block(&mut self, key: BlockKey) {
        self.push(Effect::Flush(key));
    }

    /// Releases the oldest held chunks of a block, one for each item: as it came for `None`, with other text or
    /// arguments for `Some`. What is behind them stays held.
    ///
    /// This is how text that is matched across chunks leaves: a chunk that is not decided is
    /// [buffered](Self::buffer), and says what it is to say when a later one has decided it. A chunk that this hook
    /// has buffered counts. Chunks that leave as they came are not recorded; edits are, with the reason. Text that
    /// becomes empty does not leave, and signed reasoning is emptied (rule 22).
    pub fn flush_first(
        &mut self,
        key: BlockKey,
        texts: impl IntoIterator<Item = Option<String>>,
        reason: Option<String>,
    ) {
        self.push(Effect::FlushFirst { key, texts: texts.into_iter().collect(), reason });
    }

    /// Drops what came behind a block in its choice, was let go and has not left, because something before it was
    /// held. What is held of other blocks is not touched. For a policy that releases the start of a text and ends it
    /// there.
    pub fn cut_behind(&mut self, key: BlockKey) {
        self.push(Effect::CutBehind(key));
    }

    /// Drops what is held of a block. A tool call whose opening is dropped this way stays dropped, whatever comes of
    /// it later. A [decision](Self::decide) it is under no longer counts.
    pub fn discard(&mut self, key: BlockKey) {
        self.push(Effect::Discard { key, reason: None });
    }

    /// Drops what is held of a block, and records why.
    pub fn discard_because(&mut self, key: BlockKey, reason: impl Into<String>) {
        self.push(Effect::Discard { key, reason: Some(reason.into()) });
    }

    /// Puts a text in place of a block of any kind: what is held of it does not leave, the text does where there is a place
    /// for one (rule 21). Recorded as an edit, with the reason.
    ///
    /// # Errors
    ///
    /// When the block is not known, something of it has left, or nothing of it is held.
    pub fn replace_with_text(
        &mut self,
        key: BlockKey,
        text: impl Into<String>,
        reason: impl Into<String>,
    ) -> Result<(), EffectError> {
        self.replaceable(key)?;
        self.push(Effect::Say { key, text: text.into(), reason: reason.into() });
        Ok(())
    }

    /// Puts other content in place of a block, in one piece. What comes of it later is dropped, and a
    /// [decision](Self::decide) it is under no longer counts. Signed reasoning is emptied (rule 22).
    ///
    /// # Errors
    ///
    /// When the block is not known, something of it has left, or the format needs a JSON object and this is none.
    pub fn replace(&mut self, key: BlockKey, with: Replacement) -> Result<(), EffectError> {
        self.replaceable(key)?;
        let block = self.state.block(key);
        block.map_or(Ok(()), |block| block.takes(&with, self.traits))?;
        self.push(Effect::Replace { key, with });
        Ok(())
    }

    /// Lets a held call that was [written as text](crate::block::ToolCall::written) leave as a structured call of the
    /// stream's format, with this id. Its text does not leave; the call stands behind all text, just before its choice
    /// finishes, and the finish reason says that there are calls.
    ///
    /// # Errors
    ///
    /// When the block is no such call, its arguments are no JSON object, something of it has left, or nothing of it is held.
    pub fn promote(&mut self, key: BlockKey, id: impl Into<String>) -> Result<(), EffectError> {
        self.replaceable(key)?;
        let block = self.state.block(key).ok_or(EffectError::UnknownBlock)?;
        let call = block.as_tool_call().filter(|call| call.written().is_some());
        let call = call.ok_or(EffectError::NotWritten)?;
        if !crate::json::is_object(call.arguments()) {
            return Err(EffectError::NotAnObject);
        }
        self.push(Effect::Promote { key, id: id.into() });
        Ok(())
    }

    /// Inserts text at this point of the stream.
    ///
    /// # Errors
    ///
    /// [`EffectError::NoPlace`] after the choice has finished, and behind a tool call where the format allows no text
    /// there (rule 21).
    pub fn send_text(&mut self, text: impl Into<String>) -> Result<(), EffectError> {
        let over = self.ledgers.is_over(self.choice.unwrap_or(0));
        // A call that opens in this step and is not sent yet stands behind the text.
        let opening = self.state.current.filter(|_| !self.is_staged()).and_then(|key| self.ledgers.get(key));
        let behind = usize::from(opening.is_some_and(|ledger| ledger.is_call && ledger.is_opening()));
        if over || (!self.traits.text_after_call && self.ledgers.calls_ahead() > behind) {
            return Err(EffectError::NoPlace);
        }
        self.push(Effect::Insert(text.into()));
        Ok(())
    }

    /// Ends the stream. What is held is dropped, no hook of this policy is called again.
    pub fn terminate(&mut self, ending: Ending) {
        self.push(Effect::Terminate(ending));
    }

    /// Holds a block until a future answers, while the stream is read on and other blocks are judged beside it (rule
    /// 13). The future is first polled after this hook has returned, and has the policy timeout as its deadline;
    /// an error, a panic or the deadline drops the block (or, failing open, releases it).
    ///
    /// # Errors
    ///
    /// When the block is not known, is already under a decision, or something of it has left.
    pub fn decide<F>(&mut self, key: BlockKey, verdict: F) -> Result<(), EffectError>
    where
        F: Future<Output = Result<Verdict, PolicyError>> + Send + 'static,
    {
        self.decide_in(key, None, Box::pin(verdict))
    }

    /// As [`decide`](Self::decide), with a deadline of its own.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    pub fn decide_within<F>(&mut self, key: BlockKey, within: Duration, verdict: F) -> Result<(), EffectError>
    where
        F: Future<Output = Result<Verdict, PolicyError>> + Send + 'static,
    {
        self.decide_in(key, Some(within), Box::pin(verdict))
    }

    /// Settles a block after a time, unless it was settled before: what is then still held of it gets this verdict. The
    /// block stays free to be flushed, discarded, replaced or put under a decision, and the end of the stream does not
    /// wait for it. Said again, the later word counts.
    ///
    /// # Errors
    ///
    /// When the block is not known.
    pub fn settle_after(
        &mut self,
        key: BlockKey,
        time: Duration,
        verdict: Verdict,
    ) -> Result<(), EffectError> {
        if self.state.block(key).is_none() {
            return Err(EffectError::UnknownBlock);
        }
        self.push(Effect::SettleAfter { key, time, verdict });
        Ok(())
    }

    /// What the hook staged, for [`Engine::commit`](crate::engine::Engine::commit).
    #[must_use]
    pub fn into_effects(self) -> Effects {
        self.effects
    }

    fn decide_in(
        &mut self,
        key: BlockKey,
        within: Option<Duration>,
        future: VerdictFuture,
    ) -> Result<(), EffectError> {
        self.untouched(key)?;
        let pending = self.ledgers.get(key).is_some_and(|ledger| ledger.pending.is_some());
        let staged = self
            .effects
            .list
            .iter()
            .any(|effect| matches!(effect, Effect::Decide { key: k, .. } if *k == key));
        if pending || staged {
            return Err(EffectError::AlreadyDeciding);
        }
        self.push(Effect::Decide { key, within, future });
        Ok(())
    }

    /// Errs unless the block is known and nothing of it has left or is staged to leave.
    fn untouched(&self, key: BlockKey) -> Result<(), EffectError> {
        if self.state.block(key).is_none() {
            return Err(EffectError::UnknownBlock);
        }
        let left = self.ledgers.get(key).is_some_and(|ledger| ledger.kept > 0);
        let staged = self.effects.list.iter().any(|effect| match effect {
            Effect::Flush(flushed) => *flushed == key,
            Effect::FlushFirst { key: flushed, .. } => *flushed == key,
            Effect::FlushAll => true,
            Effect::Send { .. } => self.state.current == Some(key),
            _ => false,
        });
        if left || staged { Err(EffectError::AlreadyLeft) } else { Ok(()) }
    }

    /// Whether something else can stand in a block's place: it is held, and nothing of it has left.
    fn replaceable(&self, key: BlockKey) -> Result<(), EffectError> {
        self.untouched(key)?;
        let held = self.ledgers.get(key).is_some_and(|ledger| ledger.undecided > 0);
        if held || self.state.current == Some(key) { Ok(()) } else { Err(EffectError::NothingHeld) }
    }

    /// Whether the hook has said what becomes of its chunk.
    fn is_staged(&self) -> bool {
        let decides = |effect: &Effect| matches!(effect, Effect::Send { .. } | Effect::Buffer { .. });
        self.effects.list.iter().any(decides)
    }

    fn owns(&mut self, chunk: &Chunk) -> bool {
        if chunk.step != self.step {
            self.effects.misuse = Some(
                "expected a chunk of this step, found one that was stored in an earlier step: hold it there with `buffer`, and let it go \
                 later with `flush` or `flush_block`",
            );
        }
        chunk.step == self.step
    }

    fn push(&mut self, effect: Effect) {
        self.effects.list.push(effect);
    }
}

impl Ending {
    /// The API's own refusal, with a sentence for the client.
    #[must_use]
    pub fn refuse(message: impl Into<String>) -> Self {
        Self { kind: EndingKind::Refuse, message: message.into() }
    }

    /// The API's error event, with a sentence for the client.
    #[must_use]
    pub fn error(message: impl Into<String>) -> Self {
        Self { kind: EndingKind::Error, message: message.into() }
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
            Self::NotWritten => "expected a call that was written as text, found another block",
        })
    }
}

impl std::error::Error for EffectError {}

/// A judge at work.
pub(crate) type VerdictFuture = Pin<Box<dyn Future<Output = Result<Verdict, PolicyError>> + Send>>;

/// What a hook staged, in order.
#[derive(Debug, Default)]
pub struct Effects {
    pub(crate) list: Vec<Effect>,
    pub(crate) misuse: Option<&'static str>,
}

impl Effects {
    /// Whether the hook ended the stream.
    pub(crate) fn terminates(&self) -> bool {
        self.list.iter().any(|effect| matches!(effect, Effect::Terminate(_)))
    }

    /// The effects without their content, for an observer.
    pub(crate) fn staged(&self) -> Vec<Staged> {
        self.list.iter().map(Effect::staged).collect()
    }
}

pub(crate) enum Effect {
    Send { edit: Option<crate::delta::Text> },
    Buffer { edit: Option<crate::delta::Text> },
    FlushAll,
    Flush(BlockKey),
    CutBehind(BlockKey),
    FlushFirst { key: BlockKey, texts: Vec<Option<String>>, reason: Option<String> },
    Discard { key: BlockKey, reason: Option<String> },
    Say { key: BlockKey, text: String, reason: String },
    Replace { key: BlockKey, with: Replacement },
    Promote { key: BlockKey, id: String },
    Insert(String),
    Terminate(Ending),
    Decide { key: BlockKey, within: Option<Duration>, future: VerdictFuture },
    SettleAfter { key: BlockKey, time: Duration, verdict: Verdict },
}

impl Effect {
    fn staged(&self) -> Staged {
        match self {
            Self::Send { edit } => Staged::Send { edited: edit.is_some() },
            Self::Buffer { edit } => Staged::Buffer { edited: edit.is_some() },
            Self::FlushAll => Staged::Flush(None),
            Self::Flush(key) => Staged::Flush(Some(*key)),
            Self::CutBehind(key) => Staged::CutBehind(*key),
            Self::FlushFirst { key, texts, .. } => {
                let edited = texts.iter().filter(|text| text.is_some()).count();
                Staged::FlushFirst { block: *key, chunks: texts.len(), edited }
            }
            Self::Discard { key, .. } => Staged::Discard(*key),
            Self::Replace { key, .. } | Self::Say { key, .. } => Staged::Replace(*key),
            Self::Promote { key, .. } => Staged::Promote(*key),
            Self::Insert(_) => Staged::Insert,
            Self::Terminate(_) => Staged::Terminate,
            Self::Decide { key, .. } => Staged::Decide(*key),
            Self::SettleAfter { key, .. } => Staged::SettleAfter(*key),
        }
    }
}

impl fmt::Debug for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send { edit } => f.debug_struct("Send").field("edit", edit).finish(),
            Self::Buffer { edit } => f.debug_struct("Buffer").field("edit", edit).finish(),
            Self::FlushAll => f.write_str("FlushAll"),
            Self::Flush(key) => f.debug_tuple("Flush").field(key).finish(),
            Self::CutBehind(key) => f.debug_tuple("CutBehind").field(key).finish(),
            Self::FlushFirst { key, .. } => f.debug_tuple("FlushFirst").field(key).finish(),
            Self::Discard { key, .. } => f.debug_tuple("Discard").field(key).finish(),
            Self::Say { key, .. } => f.debug_tuple("Say").field(key).finish(),
            Self::Replace { key, .. } => f.debug_tuple("Replace").field(key).finish(),
            Self::Promote { key, .. } => f.debug_tuple("Promote").field(key).finish(),
            Self::Insert(_) => f.write_str("Insert"),
            Self::Terminate(ending) => f.debug_tuple("Terminate").field(ending).finish(),
            Self::Decide { key, .. } => f.debug_tuple("Decide").field(key).finish(),
            Self::SettleAfter { key, .. } => f.debug_tuple("SettleAfter").field(key).finish(),
        }
    }
}
