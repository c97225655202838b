//! Blocks: what a stream is folded into.

use std::fmt;
use std::sync::Arc;

use crate::context::EffectError;
use crate::delta::{CallFlavor, Channel, Runs, Text};
use crate::json;
use crate::policy::{Replacement, With};
use crate::text_calls::{Problem, TextCall, UnparsedCall};
use crate::wire::Traits;

/// Names a block. Opaque, unique in its stream, and the only name that effects take: ids and indices are what the
/// provider sent (rule 6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey(pub(crate) u32);

impl BlockKey {
    /// The key of block `index` in a stage. Stages fold on their own, and what one of them dropped is still
    /// accounted for by the writer, so keys must not repeat between them.
    pub(crate) fn new(stage: u8, index: u32) -> Self {
        Self(u32::from(stage) << INDEX_BITS | index)
    }

    /// The stage that folded it.
    pub(crate) fn stage(self) -> usize {
        (self.0 >> INDEX_BITS) as usize
    }

    /// Where the block stands in its stage's state.
    pub(crate) fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }
}

impl fmt::Debug for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index())
    }
}

impl fmt::Display for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index())
    }
}

/// A block: what the deltas of a choice add up to.
///
/// ```
/// use stream_core::{StreamBlock, policy_fn};
///
/// // Counts what is complete, and sends everything.
/// let mut words = 0;
/// let mut calls = 0;
/// let count = policy_fn(move |chunk, state, ctx| {
///     match state.just_completed() {
///         Some(StreamBlock::Content(text)) => words += text.text().split_whitespace().count(),
///         Some(StreamBlock::ToolCall(_)) => calls += 1,
///         _ => {}
///     }
///     ctx.send(chunk);
///     Ok(())
/// });
/// # let _ = count;
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamBlock {
    /// What the user reads.
    Content(TextBlock),
    /// Reasoning, thinking, thoughts.
    Reasoning(TextBlock),
    /// A refusal in the model's words.
    Refusal(TextBlock),
    /// A call that the client executes.
    ToolCall(ToolCall),
    /// Anything else: server tools, images, block types that are not known.
    Opaque(OpaqueBlock),
}

impl StreamBlock {
    /// The block's name for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head().key
    }

    /// The choice (chat) or candidate (Gemini) it belongs to; 0 where the format has one answer.
    #[must_use]
    pub fn choice(&self) -> u32 {
        self.head().choice
    }

    /// Open, complete or aborted.
    #[must_use]
    pub fn status(&self) -> BlockStatus {
        self.head().status
    }

    /// Whether the block is complete: its end came. A call that is complete may still not be
    /// [finished](ToolCall::is_finished).
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.status() == BlockStatus::Complete
    }

    /// How many bytes of text or arguments have come, kept or not.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.head().bytes
    }

    /// The call, if it is one.
    #[must_use]
    pub fn as_tool_call(&self) -> Option<&ToolCall> {
        match self {
            Self::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    /// The text of a content, reasoning or refusal block.
    #[must_use]
    pub fn as_text(&self) -> Option<&TextBlock> {
        match self {
            Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) => Some(block),
            _ => None,
        }
    }

    /// The channel of a text block.
    #[must_use]
    pub fn channel(&self) -> Option<Channel> {
        match self {
            Self::Content(_) => Some(Channel::Content),
            Self::Reasoning(_) => Some(Channel::Reasoning),
            Self::Refusal(_) => Some(Channel::Refusal),
            _ => None,
        }
    }

    /// Whether it can be replaced so. Calls take nothing but a JSON object where arguments are a JSON value (rule 25),
    /// and where they were written as text, since most dialects can say nothing else.
    pub(crate) fn takes(&self, with: &Replacement, traits: Traits) -> Result<(), EffectError> {
        let call = self.as_tool_call();
        let written = call.filter(|call| call.written.is_some());
        match (&with.with, call) {
            (With::Text(_), _) => Ok(()),
            (With::Written(_), _) => written.map(|_| ()).ok_or(EffectError::NotWritten),
            (With::Structured { .. }, _) => {
                let call = written.ok_or(EffectError::NotWritten)?;
                json::is_object(call.arguments()).then_some(()).ok_or(EffectError::NotAnObject)
            }
            (With::Arguments(_), None) => Err(EffectError::NotACall),
            (With::Arguments(arguments), Some(_)) => {
                let takes_objects = written.is_some() || traits.arguments_are_json;
                (!takes_objects || json::is_object(arguments)).then_some(()).ok_or(EffectError::NotAnObject)
            }
        }
    }

    /// The name of the block's kind, for transcripts: `content`, `reasoning`, `refusal`, `tool call`, `opaque`.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Content(_) => "content",
            Self::Reasoning(_) => "reasoning",
            Self::Refusal(_) => "refusal",
            Self::ToolCall(_) => "tool call",
            Self::Opaque(_) => "opaque",
        }
    }

    /// A transcript of spoken audio.
    pub(crate) fn new_speech(key: BlockKey, choice: u32) -> Self {
        Self::Content(TextBlock {
            head: Head::new(key, choice),
            text: String::new(),
            spoken: true,
            signed: false,
        })
    }

    pub(crate) fn new_text(channel: Channel, key: BlockKey, choice: u32) -> Self {
        let block =
            TextBlock { head: Head::new(key, choice), text: String::new(), spoken: false, signed: false };
        match channel {
            Channel::Content => Self::Content(block),
            Channel::Reasoning => Self::Reasoning(block),
            Channel::Refusal => Self::Refusal(block),
        }
    }

    /// Text or arguments kept so far.
    pub(crate) fn body(&self) -> &str {
        match self {
            Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) => &block.text,
            Self::ToolCall(call) => &call.arguments,
            Self::Opaque(block) => &block.arguments,
        }
    }

    pub(crate) fn append(&mut self, text: &str, keep: bool) {
        self.head_mut().bytes += text.len();
        if keep {
            match self {
                Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) => {
                    block.text.push_str(text);
                }
                Self::ToolCall(call) => call.arguments.push_str(text),
                Self::Opaque(block) => block.arguments.push_str(text),
            }
        }
    }

    /// Takes back the text that was appended last.
    pub(crate) fn retract(&mut self, bytes: usize) {
        self.head_mut().bytes -= bytes;
        if let Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) = self {
            block.text.truncate(block.text.len() - bytes);
        }
    }

    pub(crate) fn head(&self) -> &Head {
        match self {
            Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) => &block.head,
            Self::ToolCall(call) => &call.head,
            Self::Opaque(block) => &block.head,
        }
    }

    pub(crate) fn head_mut(&mut self) -> &mut Head {
        match self {
            Self::Content(block) | Self::Reasoning(block) | Self::Refusal(block) => &mut block.head,
            Self::ToolCall(call) => &mut call.head,
            Self::Opaque(block) => &mut block.head,
        }
    }
}

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockStatus {
    /// More may come.
    Open,
    /// Its end came.
    Complete,
    /// The stream was cut or failed before its end came (rule 4).
    Aborted,
}

/// A block of text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextBlock {
    head: Head,
    text: String,
    pub(crate) spoken: bool,
    pub(crate) signed: bool,
}

impl TextBlock {
    /// The text so far. Empty when no policy [needs](crate::policy::Needs) this kind of text; its length is counted
    /// all the same ([`StreamBlock::bytes`]).
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is the transcript of spoken audio.
    #[must_use]
    pub fn is_spoken(&self) -> bool {
        self.spoken
    }

    /// Whether a signature or an id stands for the text (reasoning of Anthropic and Responses): the block can be emptied, and
    /// never says anything else (rule 22).
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.signed
    }

    /// The block's name for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head.key
    }
}

/// A tool call that the client executes (rule 7).
///
/// Arguments are the text that the model wrote: read them with a parser that refuses what it does not understand.
///
/// ```
/// use stream_core::{Verdict, each_call};
/// use stream_testkit::{Replay, Script, WireKind};
///
/// let inside = || each_call(|call, _request| {
///     let arguments: Result<serde_json::Value, _> = serde_json::from_str(call.arguments());
///     match arguments.ok().as_ref().and_then(|arguments| arguments["path"].as_str()) {
///         Some(path) if path.starts_with("/workspace/") => Verdict::Release,
///         _ => Verdict::drop(format!("{} reaches outside of the workspace", call.name())),
///     }
/// });
///
/// let script = Script::new().call("call_1", "cat", r#"{"path":"/etc/passwd"}"#).call("call_2", "cat", r#"{"path":"/workspace/a"}"#);
/// let replayed = Replay::new(&script.to_log(WireKind::OpenAiChat)).policy(inside).run();
/// let left: Vec<_> = replayed.view().choices[0].calls.iter().map(|call| call.id.clone()).collect();
/// assert_eq!(left, ["call_2"]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub(crate) head: Head,
    pub(crate) id: Option<Text>,
    pub(crate) name: Text,
    pub(crate) index: Option<u64>,
    pub(crate) arguments: String,
    pub(crate) flavor: CallFlavor,
    pub(crate) unopened: bool,
    pub(crate) joined: bool,
    pub(crate) written: Option<Arc<TextCall>>,
    /// A finish reason or terminal marker came after its last delta.
    pub(crate) finish_seen: bool,
    /// The call was the last of its choice when the choice ended for length, a filter or an error.
    pub(crate) cut_short: bool,
}

impl ToolCall {
    /// The block's name for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head.key
    }

    /// The choice it belongs to.
    #[must_use]
    pub fn choice(&self) -> u32 {
        self.head.choice
    }

    /// The provider's id, if it sent one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The tool's name; empty until it has come.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The index the provider sent, if it sent one. Not an identity: see [`key`](Self::key).
    #[must_use]
    pub fn index(&self) -> Option<u64> {
        self.index
    }

    /// The arguments so far: the raw JSON text, never parsed or repaired.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// The kind of the call.
    #[must_use]
    pub fn flavor(&self) -> CallFlavor {
        self.flavor
    }

    /// Whether the stream was resumed after this call's opening, so that its name was never seen.
    #[must_use]
    pub fn is_unopened(&self) -> bool {
        self.unopened
    }

    /// Whether its arguments came in pieces of another form and were put together when it was complete (Gemini's
    /// partial arguments).
    #[must_use]
    pub fn is_joined(&self) -> bool {
        self.joined
    }

    /// The call as it stands in the text, if the model wrote it there: its dialect, its exact text and tags. A native
    /// call has none.
    #[must_use]
    pub fn written(&self) -> Option<&TextCall> {
        self.written.as_deref()
    }

    /// Whether its end came.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.head.status == BlockStatus::Complete
    }

    /// Whether it is ready to run (rule 3): complete, a finish reason or terminal marker came after its last delta,
    /// its arguments are empty or one whole JSON value, and it is not the last call of a choice that ended for
    /// length, a filter or an error. Scans the arguments once per question.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.is_complete() && self.finish_seen && !self.cut_short && self.has_whole_arguments()
    }

    fn has_whole_arguments(&self) -> bool {
        self.flavor == CallFlavor::Custom
            || self.arguments.trim().is_empty()
            || serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}

/// A block that is neither text nor a call the client is known to execute.
#[derive(Debug, Clone, PartialEq)]
pub struct OpaqueBlock {
    pub(crate) head: Head,
    pub(crate) kind: Text,
    pub(crate) runs: Runs,
    pub(crate) unparsed: Option<Arc<UnparsedCall>>,
    pub(crate) name: Option<Text>,
    pub(crate) arguments: String,
}

impl OpaqueBlock {
    pub(crate) fn new(head: Head, kind: Text, runs: Runs) -> Self {
        let name = SERVER_CALLS.contains(&&*kind).then(|| kind.clone());
        Self { head, kind, runs, unparsed: None, name, arguments: String::new() }
    }

    /// The block's name for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head.key
    }

    /// The provider's word for it.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The name of the call that it is, whoever runs it: the tool that `server_tool_use`, `mcp_tool_use` or `mcp_call`
    /// names, the type of a call without a name (`web_search_call`, `executableCode`). `None` for what is no call, such
    /// as results.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The arguments of the call that it is, as far as they are known: the raw JSON text.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Who runs it; gates treat [`Runs::Unknown`] as a call.
    #[must_use]
    pub fn runs(&self) -> Runs {
        self.runs
    }

    /// Its text, if it began like a call that is [written as text](crate::text_calls) and is none.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.unparsed.as_ref().map(|unparsed| unparsed.text())
    }

    /// What is wrong with a call that is written as text, and is none: of which tool and parameter, where in the text,
    /// and what was expected.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        self.unparsed.as_ref().map(|unparsed| unparsed.problem())
    }
}

/// What all blocks have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    pub(crate) key: BlockKey,
    pub(crate) choice: u32,
    pub(crate) status: BlockStatus,
    pub(crate) bytes: usize,
    /// The format opens and closes it itself: no other block's start ends it.
    pub(crate) numbered: bool,
}

impl Head {
    pub(crate) fn new(key: BlockKey, choice: u32) -> Self {
        Self { key, choice, status: BlockStatus::Open, bytes: 0, numbered: false }
    }
}

/// What the provider runs and has no name but its type.
const SERVER_CALLS: &[&str] = &[
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "tool_search_call",
    "executableCode",
];

/// How many bits of a key number the block within its stage; the rest number the stage.
const INDEX_BITS: u32 = 26;

/// The most blocks a stage can name.
pub(crate) const MAX_BLOCKS: usize = 1 << INDEX_BITS;

/// The most stages a stream can have.
pub(crate) const MAX_STAGES: usize = 1 << (u32::BITS - INDEX_BITS);
