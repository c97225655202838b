//! What a policy looks at.

use std::sync::Arc;

use crate::block::StreamBlock;
use crate::delta::Channel;
use crate::scrub::Scrub;

/// What a policy looks at (rule 14).
///
/// A block that the policy does not need leaves without it. A block that the policy needs [`Completed`](Attention::Completed) is held
/// until it is complete, and shown once.
///
/// ```
/// use stream_core::{Attention, Needs};
///
/// // Text as it comes, calls when they are whole; reasoning, refusals and everything else pass by.
/// let needs = Needs::nothing().content(Attention::Chunks).calls(Attention::Completed);
/// # let _ = needs;
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
    pub(crate) scrub: Option<Arc<dyn Scrub>>,
    pub(crate) joined: Option<Arc<dyn Scrub>>,
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
            scrub: None,
            joined: None,
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
            scrub: None,
            joined: None,
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

    /// The policy turns calls into text, so that no later stage sees them as calls. A chain in which a later stage needs calls is
    /// refused (rule 15).
    pub const fn hides_calls(mut self) -> Self {
        self.hides_calls = true;
        self
    }

    /// Whether the policy looks at calls to keep some of them back; true unless said otherwise. For such a policy, calls that are
    /// written as text count wherever they stand (in code, under names that were not offered): a client's parser may not
    /// care. A policy that only reshapes calls says false, so that an example in a fence stays an example.
    pub const fn guards(mut self, guards: bool) -> Self {
        self.guards = guards;
        self
    }

    /// Says that the policy counts by the [session](crate::request::SessionKey) of a request. A stream whose request
    /// neither names its session nor says that it has [none](crate::request::Request::without_session) is then refused when it is built.
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

    /// Adds what the policy does to the strings of frames that no block shows: fields nobody knows, opaque payload,
    /// annotations, ids, errors.
    pub fn scrub(mut self, scrub: impl Scrub + 'static) -> Self {
        self.scrub = Some(Arc::new(scrub));
        self
    }

    /// Adds what the policy does to the texts of several choices, as those clients read them that put them together in the order in
    /// which they leave. The texts of one choice are the policy's own to look at; of something that begins in one choice and
    /// ends in another, the end does not leave.
    pub fn joined(mut self, joined: impl Scrub + 'static) -> Self {
        self.joined = Some(Arc::new(joined));
        self
    }

    /// The same needs, but for text, opaque blocks and the strings that no block shows: calls and structure are left.
    pub fn only_calls(self) -> Self {
        let none = Attention::Nothing;
        Self { scrub: None, joined: None, ..self }.content(none).reasoning(none).refusal(none).opaque(none)
    }

    /// Whether the policy looks at nothing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        let kinds = [self.content, self.reasoning, self.refusal, self.calls, self.opaque];
        !self.structure && self.scrub.is_none() && kinds.iter().all(|kind| *kind == Attention::Nothing)
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
