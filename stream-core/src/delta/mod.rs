//! Deltas: the content of a frame, in the same types for all wire formats.
//!
//! A [wire format](crate::wire::WireFormat) reads a frame into [`Delta`]s, in wire order. Each delta becomes one *part* of that frame, with a
//! fate of its own; the frame is written when the fate of every part is known.

mod call;
mod site;
mod slot;
mod structure;

use std::sync::Arc;
use std::time::Duration;

pub use call::{CallDelta, CallFlavor};
pub use site::{Site, Span};
pub use slot::Slot;
pub use structure::{FinishKind, FinishReason, UpstreamError, Usage};

use crate::text_calls::UnparsedCall;

/// Text that the fold, the policy and the writer share without copies.
pub type Text = Arc<str>;

/// One thing that a frame says: a piece of text or of a call, an opening, an end, a copy, a count.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Delta {
    /// The choice (chat) or candidate (Gemini) of the delta. Openings, usage, pings and the terminal marker belong to the whole stream, and
    /// have none.
    pub choice: Option<u32>,
    /// The block of the delta, as the wire names it.
    pub slot: Slot,
    /// The kind of the delta, with its content.
    pub kind: DeltaKind,
    /// The place of the delta in the data of its frame.
    pub site: Site,
    /// Set on pieces of a text in which calls were found; writers never see one.
    pub(crate) split: Option<Box<Split>>,
}

impl Delta {
    /// Creates a delta of no choice and no block.
    #[must_use]
    pub fn stream(kind: DeltaKind) -> Self {
        Self { choice: None, slot: Slot::None, kind, site: Site::default(), split: None }
    }

    /// Creates a delta of a choice.
    #[must_use]
    pub fn new(choice: u32, slot: Slot, kind: DeltaKind) -> Self {
        Self { choice: Some(choice), slot, kind, site: Site::default(), split: None }
    }

    /// Sets the element of the frame's data that says the delta.
    #[must_use]
    pub fn at(mut self, element: Span) -> Self {
        self.site.element = element;
        self
    }

    /// Sets the span of the choice around the delta, and the position of that choice in the frame.
    #[must_use]
    pub fn held_by(mut self, holder: Span, position: u32) -> Self {
        self.site.holder = holder;
        self.site.position = position;
        self
    }

    /// Sets the fields that hold the text, one bit per field of the channel: a client may read one field and not the others (chat: `reasoning`
    /// and `reasoning_content`, a string and a list as `content`). No bit means all fields.
    #[must_use]
    pub fn read_in(mut self, fields: u16) -> Self {
        self.site.fields = fields;
        self
    }
}

/// The kinds of deltas.
///
/// A policy decides over *payload*. *Structure* is written to the client in order, without a decision. *Followers* share the fate of their
/// block.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DeltaKind {
    /// Payload: text of a channel. Never empty, unless it opens a block in a numbered slot.
    Text {
        /// The channel.
        channel: Channel,
        /// The text, decoded.
        text: Text,
    },
    /// Payload: the opening of a tool call, a fragment of its arguments, or both.
    Call(CallDelta),
    /// Payload: neither text nor a call that the client runs. In a numbered slot the delta continues the block of the slot.
    Opaque {
        /// The provider's word: `server_tool_use`, `web_search_call`, `inlineData` …
        kind: Text,
        /// The party that runs the call.
        runs: Runs,
        /// The number of bytes of payload.
        bytes: usize,
    },
    /// Payload: a text that begins like a call and is none.
    Unparsed(Arc<UnparsedCall>),
    /// Follower: a numbered text block opens. The opening is written with the first text of the block.
    Start {
        /// The channel of the block.
        channel: Channel,
    },
    /// Follower: an item that holds several blocks opens (Responses `output_item.added` of a message or a
    /// reasoning item). Its slot is the item's [`Slot::ITEM`].
    ItemStart {
        /// The channel of its parts. A reasoning item is always written ([rule 22](crate::guide::rules#rule-22)), a message with its first text.
        channel: Channel,
    },
    /// Follower: the block in the slot is complete; for [`Slot::ITEM`] the item and all its parts.
    Stop,
    /// Follower: a copy of the block in the slot ([rule 19](crate::guide::rules#rule-19)).
    Copy(Restated),
    /// Follower: a further piece of the text of a call that was written as text. The piece shares the fate of the call.
    CallText,
    /// Follower: tags around calls or reasoning that were written as text. The tags share the fate of the blocks between them.
    Markup {
        /// `true` for closing tags.
        closes: bool,
    },
    /// Follower: an annotation of the block in the slot, or with [`Slot::Run`] of the choice: citations, grounding, log probabilities. The
    /// annotation is written only if the block was written untouched.
    Annotation {
        /// `true` if the annotation shares the fate of the next payload of the choice: `logprobs` without a delta can spell the name of a call
        /// that has not opened yet.
        ahead: bool,
    },
    /// Structure: a signature or encrypted form of the block in the slot, which is always written ([rule 22](crate::guide::rules#rule-22)).
    Signature,
    /// Structure: the end of a choice.
    Finish(FinishReason),
    /// Structure: token counts.
    Usage(Usage),
    /// Structure: an error that the upstream reports in the stream.
    Error(UpstreamError),
    /// Structure: the terminal marker (`[DONE]`, `message_stop`, `response.completed`).
    Terminal,
    /// Structure: the opening of the stream.
    Opening,
    /// Structure: a role without payload.
    Role,
    /// Structure: a keep-alive event of the upstream.
    Ping,
    /// Structure: an SSE comment or blank lines.
    Comment,
    /// Structure: any other frame in which a client can read no output.
    Meta,
    /// The completion of a block, from a stage to the next one. Formats neither read nor write this kind.
    Completed,
}

impl DeltaKind {
    /// Returns whether the delta is payload, over which a policy decides.
    #[must_use]
    pub fn is_payload(&self) -> bool {
        match self {
            Self::Text { .. } | Self::Call(_) | Self::Opaque { .. } | Self::Unparsed(_) => true,
            Self::Copy(copy) => copy.is_first,
            _ => false,
        }
    }

    /// Returns whether the delta opens or continues a block. Such a delta behind the terminal marker is a violation (rule 8).
    pub(crate) fn speaks(&self) -> bool {
        self.is_payload()
            || matches!(
                self,
                Self::Start { .. }
                    | Self::ItemStart { .. }
                    | Self::Copy(_)
                    | Self::Annotation { .. }
                    | Self::Signature
            )
    }
}

/// The content of a copy.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Restated {
    /// The id, where the copy has one.
    pub id: Option<Text>,
    /// The name, where the copy has one.
    pub name: Option<Text>,
    /// The whole text or arguments, where the copy has them.
    pub body: Option<Text>,
    /// The kind of call, for a copy of a call. A call without deltas before the copy is of this kind.
    pub flavor: CallFlavor,
    /// The party that runs the call, for a copy of an opaque block: `name` is then the provider's word for the block.
    pub runs: Option<Runs>,
    /// The tool that an opaque block names, if the block is a call.
    pub tool: Option<Text>,
    /// Set by the fold where the block has no deltas before the copy: the copy *is* the payload ([rule 19](crate::guide::rules#rule-19); LM Studio sends arguments only so).
    pub is_first: bool,
}

impl Restated {
    /// Creates a copy of text or arguments.
    #[must_use]
    pub fn body(body: impl Into<Text>) -> Self {
        Self { body: Some(body.into()), ..Self::default() }
    }
}

/// The channels of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Channel {
    /// The answer for the user.
    Content,
    /// Reasoning, thinking, thoughts.
    Reasoning,
    /// A refusal in the model's words.
    Refusal,
}

/// The party that runs the call in an opaque block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Runs {
    /// The provider.
    Server,
    /// Not known: gates treat the block as a call of the client.
    Unknown,
}

/// The place of a delta in a text in which calls were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    /// The number of the piece.
    pub(crate) piece: u32,
    /// The call of the piece.
    pub(crate) call: Option<u32>,
    /// The wrapper around calls, or the reasoning tags, around the piece. Sections have numbers in the range of items, and share none with them.
    pub(crate) section: Option<u32>,
    /// For the first piece of a call: the time since which the call has waited for its end, and the bytes of the frames that hold it.
    pub(crate) waited: Option<(Duration, usize)>,
}
