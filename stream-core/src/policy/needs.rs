//! The blocks that a policy looks at.

use std::sync::Arc;

use crate::block::StreamBlock;
use crate::delta::Channel;
use crate::scrub::Scrub;

/// The blocks that a policy looks at, and how closely.
///
/// A block that the policy does not need passes without it and costs nothing. A block that the policy needs [`Completed`](Attention::Completed)
/// is held until it is complete, and is then one step: the hook releases it, or it stays held.
///
/// ```
/// use stream_core::{Attention, Channel, Needs};
///
/// // Every chunk of text, complete calls; reasoning, refusals and opaque blocks pass.
/// let needs = Needs::nothing().content(Attention::Chunks).calls(Attention::Completed);
/// assert_eq!(needs.of_channel(Channel::Content), Attention::Chunks);
/// assert_eq!(needs.of_channel(Channel::Reasoning), Attention::Nothing);
/// assert_eq!(needs.of_calls(), Attention::Completed);
/// ```
#[derive(Debug, Clone)]
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
    scrubs: Option<Arc<Scrubs>>,
}

/// Functions over strings. Few policies have any, and every stage keeps its needs.
#[derive(Debug, Clone, Default)]
struct Scrubs {
    /// Over the strings of frames that are in no block.
    frames: Option<Arc<dyn Scrub>>,
    /// Over the texts of several choices.
    joined: Option<Arc<dyn Scrub>>,
}

impl Needs {
    /// Needs for every chunk of every kind, and for structural steps. The default.
    pub const fn everything() -> Self {
        let all = Attention::Chunks;
        Self::nothing().content(all).reasoning(all).refusal(all).calls(all).opaque(all).structure(true)
    }

    /// Needs for nothing. The other methods add to them.
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
            scrubs: None,
        }
    }

    /// Sets the attention for content.
    pub const fn content(mut self, attention: Attention) -> Self {
        self.content = attention;
        self
    }

    /// Sets the attention for reasoning.
    pub const fn reasoning(mut self, attention: Attention) -> Self {
        self.reasoning = attention;
        self
    }

    /// Sets the attention for refusals.
    pub const fn refusal(mut self, attention: Attention) -> Self {
        self.refusal = attention;
        self
    }

    /// Sets the attention for tool calls.
    pub const fn calls(mut self, attention: Attention) -> Self {
        self.calls = attention;
        self
    }

    /// Sets the attention for opaque blocks.
    pub const fn opaque(mut self, attention: Attention) -> Self {
        self.opaque = attention;
        self
    }

    /// Sets whether structural steps (openings, finishes, usage) are shown. Structure passes by itself either way.
    pub const fn structure(mut self, shown: bool) -> Self {
        self.structure = shown;
        self
    }

    /// Declares that the policy turns calls into text. A chain in which a later stage needs calls is refused: that stage would never
    /// see one.
    pub const fn hides_calls(mut self) -> Self {
        self.hides_calls = true;
        self
    }

    /// Sets whether the policy guards calls, that is, drops some of them; `true` by default. Where a policy guards calls, calls written as
    /// text count everywhere (in code, under names that were not offered), since a client's parser may count them. A policy that
    /// only reshapes calls sets `false`, so that an example in a code fence stays an example.
    pub const fn guards(mut self, guards: bool) -> Self {
        self.guards = guards;
        self
    }

    /// Declares that the policy counts by the [session](crate::request::SessionKey) of a request. Building a stream fails if its request
    /// neither names a session nor [declares that there is none](crate::request::Request::without_session).
    pub const fn session(mut self) -> Self {
        self.session = true;
        self
    }

    /// Declares that the policy handles calls written as text. Building a stream fails if its settings do not name the
    /// [dialects](crate::engine::Config::text_calls): the policy would never see a call.
    pub const fn text_calls(mut self) -> Self {
        self.text_calls = true;
        self
    }

    /// Declares that the policy honours the [tags](crate::request::CallTags) that a request asks for.
    pub const fn call_tags(mut self) -> Self {
        self.call_tags = true;
        self
    }

    /// Adds a function over the strings of frames that are in no block: unknown fields, opaque payload, annotations, ids, errors.
    pub fn scrub(mut self, scrub: impl Scrub + 'static) -> Self {
        Arc::make_mut(self.scrubs.get_or_insert_default()).frames = Some(Arc::new(scrub));
        self
    }

    /// Adds a function over the texts of several choices, joined in the order in which they are written: some clients read them so.
    /// Of a match that begins in one choice and ends in another, the end is dropped. The policy itself sees the texts of each choice.
    pub fn joined(mut self, joined: impl Scrub + 'static) -> Self {
        Arc::make_mut(self.scrubs.get_or_insert_default()).joined = Some(Arc::new(joined));
        self
    }

    /// Reduces the needs to calls and structure.
    pub fn only_calls(self) -> Self {
        let none = Attention::Nothing;
        Self { scrubs: None, ..self }.content(none).reasoning(none).refusal(none).opaque(none)
    }

    /// Returns whether the policy looks at nothing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        let kinds = [self.content, self.reasoning, self.refusal, self.calls, self.opaque];
        !self.structure && self.scrubs.is_none() && kinds.iter().all(|kind| *kind == Attention::Nothing)
    }

    /// The function over the strings of frames that are in no block.
    pub(crate) fn scrubs_frames(&self) -> Option<&Arc<dyn Scrub>> {
        self.scrubs.as_ref()?.frames.as_ref()
    }

    /// The function over the texts of several choices.
    pub(crate) fn scrubs_joined(&self) -> Option<&Arc<dyn Scrub>> {
        self.scrubs.as_ref()?.joined.as_ref()
    }

    /// Returns whether the policy honours the tags that a request asks for.
    #[must_use]
    pub const fn takes_call_tags(&self) -> bool {
        self.call_tags
    }

    /// Returns whether the policy counts by the session of a request.
    #[must_use]
    pub const fn needs_session(&self) -> bool {
        self.session
    }

    /// The attention for a block of this kind.
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

    /// The attention for a channel of text.
    #[must_use]
    pub fn of_channel(&self, channel: Channel) -> Attention {
        match channel {
            Channel::Content => self.content,
            Channel::Reasoning => self.reasoning,
            Channel::Refusal => self.refusal,
        }
    }

    /// The attention for tool calls.
    #[must_use]
    pub fn of_calls(&self) -> Attention {
        self.calls
    }

    /// The attention for opaque blocks.
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

/// The attention of a policy for one kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Attention {
    /// None: the block passes without the policy.
    Nothing,
    /// Complete blocks: the block is held, and the hook is called once, when the block is complete.
    Completed,
    /// Every chunk, and the completion.
    Chunks,
}
