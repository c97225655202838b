//! What a frame says, normalised over the wire formats.
//!
//! A [wire format](crate::wire::WireFormat) turns a frame into [`Delta`]s, in wire order. Each becomes one
//! *part* of that frame, with a fate of its own; the frame leaves when the fate of every part is known.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::text_calls::{TextCall, UnparsedCall};

/// Text shared without copying between the fold, the policy and the writer.
pub type Text = Arc<str>;

/// One thing a frame says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Delta {
    /// The choice (chat) or candidate (Gemini) it belongs to. `None` for what belongs to the whole stream:
    /// openings, usage, pings, the terminal marker.
    pub choice: Option<u32>,
    /// The block it speaks of, as the wire names it.
    pub slot: Slot,
    /// What it says.
    pub kind: DeltaKind,
    /// Where it stands in the data of its frame.
    pub site: Site,
    /// Set on pieces of a text in which calls were found; writers never see one.
    pub(crate) split: Option<Box<Split>>,
}

impl Delta {
    /// A delta that belongs to no choice and no block.
    #[must_use]
    pub fn stream(kind: DeltaKind) -> Self {
        Self { choice: None, slot: Slot::None, kind, site: Site::default(), split: None }
    }

    /// A delta of a choice.
    #[must_use]
    pub fn new(choice: u32, slot: Slot, kind: DeltaKind) -> Self {
        Self { choice: Some(choice), slot, kind, site: Site::default(), split: None }
    }

    /// The same delta, said by this element of the frame's data.
    #[must_use]
    pub fn at(mut self, element: Span) -> Self {
        self.site.element = element;
        self
    }

    /// The same delta, in the choice that stands here, which is the one at `position` of its frame.
    #[must_use]
    pub fn held_by(mut self, holder: Span, position: u32) -> Self {
        self.site.holder = holder;
        self.site.position = position;
        self
    }

    /// The same delta, whose text stands in these of its channel's fields, one bit each: a client may read any of them
    /// and not the others (chat: `reasoning` and `reasoning_content`, a string and a list as `content`). No bit stands
    /// for all of them.
    #[must_use]
    pub fn read_in(mut self, fields: u16) -> Self {
        self.site.fields = fields;
        self
    }
}

/// Where a delta stands in the data of its frame, or in a whole body. A writer takes the bytes of a delta from there, and
/// never looks for them again.
///
/// A delta that is made here (inserted text, or one of a format that gives no spans) stands nowhere: its spans are empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Site {
    /// The JSON value that says it and can be kept or cut as one piece: an item of a list, an object, or the value of a
    /// member. Several deltas of one element have the same span.
    pub element: Span,
    /// The choice or candidate around the element; empty for what stands in none.
    pub holder: Span,
    /// The position of that choice among those of its frame.
    pub position: u32,
    /// The fields that the text stands in: see [`Delta::read_in`].
    pub fields: u16,
    /// The element opens the numbered block of the slot, rather than goes on with it, where the kind of the delta tells neither.
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
    /// The bytes from `start` to before `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: clamp(start), end: clamp(end) }
    }

    /// Where `part`, a slice of `data`, stands in it; `None` if it is no slice of `data`. Parsers that borrow from the
    /// data give such slices.
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

    /// Whether no byte is in it.
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

/// Which piece of a text a delta is, where calls were found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    /// The piece.
    pub(crate) piece: u32,
    /// The call it belongs to.
    pub(crate) call: Option<u32>,
    /// The wrapper around calls, or the reasoning tags, that it stands in; numbered as items are, and unlike them.
    pub(crate) section: Option<u32>,
    /// Since when the call it begins has waited for its end, and in how many bytes of frames it stands.
    pub(crate) waited: Option<(Duration, usize)>,
}

/// How the wire names the block a delta speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Slot {
    /// No block.
    None,
    /// The running text of the delta's channel: consecutive text of one channel is one block, anything else
    /// of the choice in between ends it (chat, Gemini).
    Run,
    /// As [`Run`](Self::Run), for the transcript of spoken audio: content, in a block of its own.
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

/// What a [`Delta`] says.
///
/// *Payload* is decided by the policy; *structure* leaves by itself, in order; *followers* share the fate of the
/// block they speak of.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DeltaKind {
    /// Payload: text of a channel. Never empty, unless it opens a block in a numbered slot.
    Text {
        /// Which kind of text.
        channel: Channel,
        /// The text, decoded.
        text: Text,
    },
    /// Payload: a tool call's opening, or more of its arguments, or both.
    Call(CallDelta),
    /// Payload: something that is neither text nor a call the client runs. In a numbered slot it continues the
    /// block there.
    Opaque {
        /// The provider's word for it: `server_tool_use`, `web_search_call`, `inlineData` …
        kind: Text,
        /// Who runs it.
        runs: Runs,
        /// How many bytes of payload it carries.
        bytes: usize,
    },
    /// Payload: what began like a call in the text and is none.
    Unparsed(Arc<UnparsedCall>),
    /// Follower: a numbered text block opens. It leaves with the first text of the block.
    Start {
        /// Which kind of text it will hold.
        channel: Channel,
    },
    /// Follower: an item that holds several blocks opens (Responses `output_item.added` of a message or a
    /// reasoning item). Its slot is the item's [`Slot::ITEM`].
    ItemStart {
        /// The channel of its parts. A reasoning item always leaves (rule 22), a message with its first text.
        channel: Channel,
    },
    /// Follower: the block in the slot is complete; for [`Slot::ITEM`] the item and all its parts.
    Stop,
    /// Follower: says again what the block in the slot holds (rule 19).
    Copy(Restated),
    /// Follower: more of the text of a call that was written as text. Leaves as the call does.
    CallText,
    /// Follower: tags around calls or reasoning that were written as text. They leave with what they stand around.
    Markup {
        /// The closing tags.
        closes: bool,
    },
    /// Follower: rides on the block in the slot, or with [`Slot::Run`] on the choice: citations, grounding,
    /// log probabilities. Leaves only if the block left untouched.
    Annotation {
        /// Waits for the choice's next payload and shares its fate: `logprobs` without a delta can spell
        /// the name of a call that has not opened yet.
        ahead: bool,
    },
    /// Structure: a signature or encrypted form of the block in the slot. Always leaves (rule 22).
    Signature,
    /// Structure: a choice ends.
    Finish(FinishReason),
    /// Structure: token counts.
    Usage(Usage),
    /// Structure: an error reported in the stream itself.
    Error(UpstreamError),
    /// Structure: the terminal marker (`[DONE]`, `message_stop`, `response.completed`).
    Terminal,
    /// Structure: the stream opens.
    Opening,
    /// Structure: a role without payload.
    Role,
    /// Structure: a keep-alive event of the upstream.
    Ping,
    /// Structure: an SSE comment or blank lines.
    Comment,
    /// Structure: nothing of the above, and nothing a client could read as output.
    Meta,
    /// The stage before says that a block is complete. Made between stages: formats neither read nor write it.
    Completed,
}

impl DeltaKind {
    /// Whether the policy decides over it.
    #[must_use]
    pub fn is_payload(&self) -> bool {
        match self {
            Self::Text { .. } | Self::Call(_) | Self::Opaque { .. } | Self::Unparsed(_) => true,
            Self::Copy(copy) => copy.is_first,
            _ => false,
        }
    }

    /// Whether it says something of a block, or opens one: what must not come after the terminal marker (rule 8).
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

/// More of a tool call. Everything is optional, since providers leave out, repeat and empty every field.
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
    /// What kind of call it is.
    pub flavor: CallFlavor,
    /// The wire says that a call opens here, whatever the ids say.
    pub starts: bool,
    /// The opening of this call was not in the stream (it was resumed).
    pub unopened: bool,
    /// The model wrote the call as text: this is where and how.
    pub written: Option<Arc<TextCall>>,
    /// The text that a policy put in the place of the one that was written.
    pub(crate) instead: Option<Text>,
}

impl CallDelta {
    /// A function call that comes in one piece.
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

/// The kinds of calls a client executes (rule 7).
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

/// What a copy says about its block.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Restated {
    /// The id, where the copy has one.
    pub id: Option<Text>,
    /// The name, where the copy has one.
    pub name: Option<Text>,
    /// The whole text or arguments, where the copy has them.
    pub body: Option<Text>,
    /// The kind of call, where the copy is of a call: a call that is first seen here is of this kind.
    pub flavor: CallFlavor,
    /// Who runs it, where the copy is of something opaque: `name` is then the provider's word for it.
    pub runs: Option<Runs>,
    /// The tool that something opaque names, where it is a call of one.
    pub tool: Option<Text>,
    /// Set by the fold: no delta came before, so this *is* the payload (rule 19; LM Studio sends arguments only
    /// so).
    pub is_first: bool,
}

impl Restated {
    /// A copy of text or arguments.
    #[must_use]
    pub fn body(body: impl Into<Text>) -> Self {
        Self { body: Some(body.into()), ..Self::default() }
    }
}

/// The channels of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Channel {
    /// What the user reads.
    Content,
    /// Reasoning, thinking, thoughts.
    Reasoning,
    /// A refusal in the model's words.
    Refusal,
}

/// Who runs what an opaque block asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Runs {
    /// The provider did, or will.
    Server,
    /// Not known: gates treat it as a call.
    Unknown,
}

/// Why a choice ended, typed, with the provider's own word.
#[derive(Clone, PartialEq, Eq)]
pub struct FinishReason {
    kind: FinishKind,
    raw: Text,
}

impl FinishReason {
    /// A reason with the provider's word for it.
    #[must_use]
    pub fn new(kind: FinishKind, raw: impl Into<Text>) -> Self {
        Self { kind, raw: raw.into() }
    }

    /// The typed reason.
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

/// Token counts, as far as they were sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Both.
    pub total: Option<u64>,
}

impl Usage {
    /// The tokens of the request and of the answer, as far as they were sent.
    #[must_use]
    pub fn new(input: Option<u64>, output: Option<u64>) -> Self {
        Self { input, output, total: None }
    }

    /// Takes over every count that `later` has.
    pub fn merge(&mut self, later: Usage) {
        self.input = later.input.or(self.input);
        self.output = later.output.or(self.output);
        self.total = later.total.or(self.total);
    }
}

/// An error that the upstream reported inside the stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpstreamError {
    /// The code or the type, as text.
    pub code: Option<Text>,
    /// The message.
    pub message: Option<Text>,
}

impl UpstreamError {
    /// An error with a code and a message.
    #[must_use]
    pub fn new(code: impl Into<Text>, message: impl Into<Text>) -> Self {
        Self { code: Some(code.into()), message: Some(message.into()) }
    }
}

fn clamp(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
