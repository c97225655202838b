//! Deltas: the content of a frame, in the same types for all wire formats.
//!
//! A [wire format](crate::wire::WireFormat) reads a frame into [`Delta`]s, in wire order. Each delta becomes one *part* of that frame, with a
//! fate of its own; the frame is written when the fate of every part is known.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::text_calls::{TextCall, UnparsedCall};

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

/// The place of a delta in the data of its frame, or in a whole body. A writer takes the bytes of the delta from there, without a second
/// search.
///
/// A delta that was not read (inserted text, or a delta of a format that gives no spans) has empty spans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Site {
    /// The JSON value that says the delta and can be kept or cut as one piece: an item of a list, an object, or the value of a member.
    /// Several deltas of one element have the same span.
    pub element: Span,
    /// The choice or candidate around the element; empty for a delta of the whole stream.
    pub holder: Span,
    /// The position of that choice among the choices of its frame.
    pub position: u32,
    /// The fields that hold the text: see [`Delta::read_in`].
    pub fields: u16,
    /// The element opens the numbered block of the slot, where the kind of the delta does not show whether it opens or continues the block.
    pub(crate) opens: bool,
}

/// A stretch of a frame's data, in bytes.
///
/// ```
/// use stream_core::delta::Span;
///
/// let data = r#"{"text":"Hi"}"#;
/// let text = Span::of(&data[8..12], data).unwrap();
/// assert_eq!(text, Span::new(8, 12));
/// assert_eq!(text.slice(data), "\"Hi\"");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The span from `start` to before `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: clamp(start), end: clamp(end) }
    }

    /// The span of `part`, which is a slice of `data`, as parsers that borrow from the data give them; `None` if `part` is no slice of `data`.
    #[must_use]
    pub fn of(part: &str, data: &str) -> Option<Self> {
        let start = (part.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let end = start.checked_add(part.len())?;
        (end <= data.len()).then(|| Self::new(start, end))
    }

    /// The first byte.
    #[must_use]
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// The byte behind the last one.
    #[must_use]
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Returns whether the span has no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// The stretch of `data`; empty where `data` is shorter, or is cut within a character.
    #[must_use]
    pub fn slice(self, data: &str) -> &str {
        data.get(self.start()..self.end()).unwrap_or_default()
    }
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

/// The block of a delta, as the wire names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Slot {
    /// No block.
    None,
    /// The running text of the delta's channel: consecutive text of one channel is one block, and any other delta of the choice ends it
    /// (chat, Gemini).
    Run,
    /// The transcript of spoken audio: running content, in a block of its own.
    Speech,
    /// A call named by index and id, either of which may be missing, repeated or wrong (chat; Gemini without both).
    Call {
        /// The index the provider sent, if it sent one.
        index: Option<u64>,
    },
    /// A numbered block that the format opens and closes itself (Anthropic `index`; Responses `output_index` and
    /// the part within).
    At {
        /// Anthropic `index`, Responses `output_index`.
        item: u32,
        /// The part within the item; [`Slot::ITEM`] is the item itself.
        part: u32,
    },
}

impl Slot {
    /// The `part` that stands for the item as a whole: an envelope around the blocks of its parts.
    pub const ITEM: u32 = u32::MAX;

    /// The slot of a numbered block without parts.
    #[must_use]
    pub const fn item(item: u32) -> Self {
        Self::At { item, part: 0 }
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

/// The opening of a tool call, or a further piece of it. Every field is optional, since providers omit, repeat and empty each of them.
///
/// ```
/// use stream_core::delta::CallDelta;
///
/// let whole = CallDelta::whole("call_1", "ls", r#"{"path":"/"}"#);
/// assert!(whole.starts);
///
/// let mut more = CallDelta::default();
/// more.arguments = Some(r#""/"}"#.into());
/// assert_eq!(more.name, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CallDelta {
    /// The provider's id. Decoders report an absent, `null` or empty id, and the string `"null"`, as `None`.
    pub id: Option<Text>,
    /// The tool's name; `None` when absent, null or empty.
    pub name: Option<Text>,
    /// A fragment of the arguments as raw JSON text; `None` when absent or null.
    pub arguments: Option<Text>,
    /// The kind of the call.
    pub flavor: CallFlavor,
    /// `true` if the wire opens a call here, whatever the ids are.
    pub starts: bool,
    /// `true` if the stream was resumed behind the opening of the call.
    pub unopened: bool,
    /// The text of the call, if the model wrote the call as text.
    pub written: Option<Arc<TextCall>>,
    /// The text of a policy, in place of the text of the call.
    pub(crate) instead: Option<Text>,
}

impl CallDelta {
    /// Creates a function call in one piece.
    #[must_use]
    pub fn whole(id: impl Into<Text>, name: impl Into<Text>, arguments: impl Into<Text>) -> Self {
        Self {
            id: Some(id.into()),
            name: Some(name.into()),
            arguments: Some(arguments.into()),
            starts: true,
            ..Self::default()
        }
    }
}

/// The kinds of calls that a client executes ([rule 7](crate::guide::rules#rule-7)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallFlavor {
    /// A function the client offered: arguments are JSON.
    #[default]
    Function,
    /// Chat's legacy `function_call`, which has no id.
    LegacyFunction,
    /// Responses `custom_tool_call`: the input is free text.
    Custom,
    /// A tool of the API's own that the client runs (`shell_call`, `apply_patch_call`, `computer_call`,
    /// `mcp_approval_request` …): the name is the item's type, the arguments are the raw JSON of its action.
    Builtin,
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

/// The reason of the end of a choice: a kind, and the provider's word.
#[derive(Clone, PartialEq, Eq)]
pub struct FinishReason {
    kind: FinishKind,
    raw: Text,
}

impl FinishReason {
    /// Creates a reason from its kind and the provider's word.
    #[must_use]
    pub fn new(kind: FinishKind, raw: impl Into<Text>) -> Self {
        Self { kind, raw: raw.into() }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> FinishKind {
        self.kind
    }

    /// The provider's word.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }
}

impl fmt::Debug for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({:?})", self.kind, self.raw)
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.raw)
    }
}

/// The kinds of finish reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishKind {
    /// A natural end (`stop`, `end_turn`, `stop_sequence`, `STOP`, `completed`, `eos`).
    Stop,
    /// The model waits for tool results (`tool_calls`, `function_call`, `tool_use`).
    ToolCalls,
    /// A token limit (`length`, `max_tokens`, `MAX_TOKENS`, `incomplete` for that reason).
    Length,
    /// A filter (`content_filter`, `SAFETY`, `RECITATION` …).
    Filter,
    /// The model refused (`refusal`).
    Refusal,
    /// The provider paused a long turn (`pause_turn`).
    Pause,
    /// The provider failed (`error`, `failed`, `MALFORMED_FUNCTION_CALL`).
    Error,
    /// Any other word.
    Other,
}

/// Token counts, as far as the upstream has sent them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Tokens of both.
    pub total: Option<u64>,
}

impl Usage {
    /// Creates the counts of the tokens of the request and of the answer.
    #[must_use]
    pub fn new(input: Option<u64>, output: Option<u64>) -> Self {
        Self { input, output, total: None }
    }

    /// Replaces every count that `later` has.
    pub fn merge(&mut self, later: Usage) {
        self.input = later.input.or(self.input);
        self.output = later.output.or(self.output);
        self.total = later.total.or(self.total);
    }
}

/// An error that the upstream reports in the stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpstreamError {
    /// The code or the type, as text.
    pub code: Option<Text>,
    /// The message.
    pub message: Option<Text>,
}

impl UpstreamError {
    /// Creates an error with a code and a message.
    #[must_use]
    pub fn new(code: impl Into<Text>, message: impl Into<Text>) -> Self {
        Self { code: Some(code.into()), message: Some(message.into()) }
    }
}

fn clamp(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
