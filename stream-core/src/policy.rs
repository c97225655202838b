//! The seam: what a policy is, what it looks at, what it answers.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use crate::block::StreamBlock;
use crate::chunk::Chunk;
use crate::context::Context;
use crate::delta::{Channel, UpstreamError};
use crate::error::Error;
use crate::request::Request;
use crate::scrub::Scrub;
use crate::state::StreamState;
use crate::wire::Ending;

/// Decides over one stream.
///
/// One value per stream, made by a factory: no state is shared between streams unless the policy shares it itself.
///
/// ```
/// use stream_core::{Chunk, Context, Policy, PolicyError, StreamState, async_trait};
///
/// /// Lets text flow and holds every call until it is complete; `rm` never leaves.
/// struct NoRm;
///
/// #[async_trait]
/// impl Policy for NoRm {
///     async fn on_chunk(
///         &mut self,
///         chunk: Chunk,
///         state: &StreamState,
///         ctx: &mut Context<'_>,
///     ) -> Result<(), PolicyError> {
///         match state.just_completed().and_then(|block| block.as_tool_call()) {
///             Some(call) if call.name() == "rm" => ctx.discard(call.key()),
///             Some(call) => ctx.flush_block(call.key()),
///             None if chunk.is_tool_call() => ctx.buffer(chunk),
///             None => ctx.send(chunk),
///         }
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait Policy: Send {
    /// The name under which decisions are recorded.
    fn name(&self) -> &str {
        let full = std::any::type_name::<Self>();
        full.rsplit("::").next().unwrap_or(full)
    }

    /// What it looks at; everything by default.
    ///
    /// What a policy does not look at costs it nothing and leaves without it.
    fn needs(&self) -> Needs {
        Needs::everything()
    }

    /// What it looks at in the answer to this request. Where it has nothing to say of a request, it need not look: then
    /// the stream leaves as if the policy were not there. This is what a stream asks, once, when it starts.
    fn needs_for(&self, request: &Request) -> Needs {
        let _ = request;
        self.needs()
    }

    /// What happens when a hook returns `Err`, panics or takes too long.
    fn on_failure(&self) -> OnFailure {
        OnFailure::Close
    }

    /// A tighter limit for its hooks and decisions than [`Limits::policy`](crate::limits::Limits::policy), which holds
    /// in any case for hooks. Read once, when the stream starts.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// Whether what it does takes place. One that answers false is run beside the stream: it sees what it would see and
    /// holds what it would hold, but the stream leaves without it, at once. What it does is recorded as a
    /// [`Decision`](crate::record::Decision) that was not enforced. Read once, when the stream starts.
    ///
    /// A hook that waits still delays the stream; a [decision](Context::decide) does not, but for the very end: when all
    /// output has left, the decisions that are still under way are waited for.
    fn enforces(&self) -> bool {
        true
    }

    /// Whether a hook may ever wait. A host that cannot wait refuses a policy that answers true.
    fn awaits(&self) -> bool {
        true
    }

    /// What it does to the strings of frames that no block shows: fields nobody knows, opaque payload, annotations, ids,
    /// errors. Nothing by default. Read once, when the stream starts.
    fn scrub(&self, request: &Request) -> Option<Box<dyn Scrub>> {
        let _ = request;
        None
    }

    /// Called at every step the policy [needs](Self::needs). May do what [`Context`] offers; what it does takes
    /// effect when it returns `Ok`, and not at all when it returns `Err`, panics, takes too long or is dropped.
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError>;

    /// Called once when the stream is over and every decision has come: the last chance to flush. What is still held
    /// afterwards is dropped and recorded. Not called after this policy failed or terminated, nor after
    /// [`on_abort`](Self::on_abort).
    async fn on_end(
        &mut self,
        end: End,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let _ = (end, state, ctx);
        Ok(())
    }

    /// The client went away, or a later stage ended the stream. Synchronous: it is also called when the stream is
    /// dropped.
    fn on_abort(&mut self) {}
}

#[async_trait]
impl<P: Policy + ?Sized> Policy for Box<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn needs_for(&self, request: &Request) -> Needs {
        (**self).needs_for(request)
    }

    fn scrub(&self, request: &Request) -> Option<Box<dyn Scrub>> {
        (**self).scrub(request)
    }

    fn on_failure(&self) -> OnFailure {
        (**self).on_failure()
    }

    fn time_limit(&self) -> Option<Duration> {
        (**self).time_limit()
    }

    fn enforces(&self) -> bool {
        (**self).enforces()
    }

    fn awaits(&self) -> bool {
        (**self).awaits()
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        (**self).on_chunk(chunk, state, ctx).await
    }

    async fn on_end(
        &mut self,
        end: End,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        (**self).on_end(end, state, ctx).await
    }

    fn on_abort(&mut self) {
        (**self).on_abort();
    }
}

/// What a policy looks at (rule 14).
///
/// What it does not need passes it by. What it needs [`Completed`](Attention::Completed) is held for it and shown once,
/// complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Needs {
    pub(crate) content: Attention,
    pub(crate) reasoning: Attention,
    pub(crate) refusal: Attention,
    pub(crate) calls: Attention,
    pub(crate) opaque: Attention,
    pub(crate) structure: bool,
    pub(crate) hides_calls: bool,
    pub(crate) guards: bool,
    pub(crate) session: bool,
    pub(crate) text_calls: bool,
    pub(crate) call_tags: bool,
}

impl Needs {
    /// Every chunk of every kind, and the structural steps.
    pub const fn everything() -> Self {
        let all = Attention::Chunks;
        Self {
            content: all,
            reasoning: all,
            refusal: all,
            calls: all,
            opaque: all,
            structure: true,
            hides_calls: false,
            guards: true,
            session: false,
            text_calls: false,
            call_tags: false,
        }
    }

    /// Nothing; add to it.
    pub const fn nothing() -> Self {
        let none = Attention::Nothing;
        Self {
            content: none,
            reasoning: none,
            refusal: none,
            calls: none,
            opaque: none,
            structure: false,
            hides_calls: false,
            guards: true,
            session: false,
            text_calls: false,
            call_tags: false,
        }
    }

    /// How much it looks at content.
    pub const fn content(mut self, attention: Attention) -> Self {
        self.content = attention;
        self
    }

    /// How much it looks at reasoning.
    pub const fn reasoning(mut self, attention: Attention) -> Self {
        self.reasoning = attention;
        self
    }

    /// How much it looks at refusals.
    pub const fn refusal(mut self, attention: Attention) -> Self {
        self.refusal = attention;
        self
    }

    /// How much it looks at tool calls.
    pub const fn calls(mut self, attention: Attention) -> Self {
        self.calls = attention;
        self
    }

    /// How much it looks at opaque blocks.
    pub const fn opaque(mut self, attention: Attention) -> Self {
        self.opaque = attention;
        self
    }

    /// Whether it is shown structural steps.
    pub const fn structure(mut self, shown: bool) -> Self {
        self.structure = shown;
        self
    }

    /// Says that it turns calls into text, so that no policy behind it sees them as calls. A chain in which one
    /// behind it needs calls is refused (rule 15).
    pub const fn hides_calls(mut self) -> Self {
        self.hides_calls = true;
        self
    }

    /// Whether it looks at calls to keep some of them back; true unless said otherwise. For one that does, calls that are
    /// written as text count wherever they stand (in code, under names that were not offered): a client's parser may not
    /// care. One that only reshapes calls says false, so that an example in a fence stays one.
    pub const fn guards(mut self, guards: bool) -> Self {
        self.guards = guards;
        self
    }

    /// Says that the policy counts by the [session](crate::request::SessionKey) of a request. A stream whose request
    /// neither names its session nor says that it has [none](Request::without_session) is then refused when it is built.
    pub const fn session(mut self) -> Self {
        self.session = true;
        self
    }

    /// Says that the policy is about calls that are written as text. A stream whose settings do not say
    /// [which are looked for](crate::engine::Config::text_calls) is then refused when it is built: the policy would never
    /// see one.
    pub const fn text_calls(mut self) -> Self {
        self.text_calls = true;
        self
    }

    /// Says that a request may tell the policy which [tags](crate::request::CallTags) it wants around calls.
    pub const fn call_tags(mut self) -> Self {
        self.call_tags = true;
        self
    }

    /// Whether a request may tell the policy which tags it wants around calls.
    #[must_use]
    pub const fn takes_call_tags(&self) -> bool {
        self.call_tags
    }

    /// Whether the policy counts by the session of a request.
    #[must_use]
    pub const fn needs_session(&self) -> bool {
        self.session
    }

    /// What it looks at in a block of this kind.
    #[must_use]
    pub fn of(&self, block: &StreamBlock) -> Attention {
        match block {
            StreamBlock::Content(_) => self.content,
            StreamBlock::Reasoning(_) => self.reasoning,
            StreamBlock::Refusal(_) => self.refusal,
            StreamBlock::ToolCall(_) => self.calls,
            StreamBlock::Opaque(_) => self.opaque,
        }
    }

    /// What it looks at in a channel of text.
    #[must_use]
    pub fn of_channel(&self, channel: Channel) -> Attention {
        match channel {
            Channel::Content => self.content,
            Channel::Reasoning => self.reasoning,
            Channel::Refusal => self.refusal,
        }
    }

    /// What it looks at in tool calls.
    #[must_use]
    pub fn of_calls(&self) -> Attention {
        self.calls
    }

    /// What it looks at in opaque blocks.
    #[must_use]
    pub fn of_opaque(&self) -> Attention {
        self.opaque
    }
}

impl Default for Needs {
    fn default() -> Self {
        Self::everything()
    }
}

/// How closely a policy looks at one kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Attention {
    /// Not at all: it leaves at once.
    Nothing,
    /// At whole blocks: the block is held, and the hook is called once, when it is complete.
    Completed,
    /// At every chunk.
    Chunks,
}

/// What happens when a policy fails (rule 16).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// Fail closed: what is held is dropped, the client gets an error ending.
    #[default]
    Close,
    /// Fail open: what it held is released in order, and it is not called again.
    Open,
}

/// How a stream ended (rule 4).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum End {
    /// A finish reason or the terminal marker came.
    Finished,
    /// The bytes ended early, or the stream was closed for this error. Open blocks were aborted.
    Cut(Option<Error>),
    /// The upstream reported an error in the stream. Open blocks were aborted.
    Failed(UpstreamError),
    /// An earlier stage ended the stream so.
    Terminated(Ending),
}

/// The answer of a judge (rule 13).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// What is held of the block leaves.
    Release,
    /// The block does not leave.
    Drop {
        /// Why, for the record; never sent.
        reason: String,
        /// A text for the client in its place, where there is a place for one.
        notice: Option<String>,
    },
    /// The block leaves with other content.
    Replace(Replacement),
    /// The stream ends.
    Terminate(Ending),
}

impl Verdict {
    /// A [`Verdict::Drop`] without a notice.
    #[must_use]
    pub fn drop(reason: impl Into<String>) -> Self {
        Self::Drop { reason: reason.into(), notice: None }
    }
}

/// What a block is replaced with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Replacement {
    pub(crate) name: Option<String>,
    pub(crate) body: String,
    /// The exact text of a call that was written as text.
    pub(crate) text: Option<String>,
    pub(crate) reason: Option<String>,
}

impl Replacement {
    /// Other text, or other arguments as raw JSON.
    pub fn new(body: impl Into<String>) -> Self {
        Self { name: None, body: body.into(), text: None, reason: None }
    }

    /// Exactly this text in place of a call that was [written as text](crate::block::ToolCall::written), outside of any
    /// wrapper around it. For those behind it in a chain it is still the call that it was.
    pub fn written(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::new("") }
    }

    /// Also another tool name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The text, or the arguments.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The other tool name, if there is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Why, for the record; never sent.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// Any error of a policy. Made from every error type by `?`.
pub struct PolicyError(Box<dyn StdError + Send + Sync>);

impl PolicyError {
    /// An error of one sentence.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into().into())
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for PolicyError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
