//! Scripted streams: one description, a valid response in every API's format.

mod anthropic;
mod chat;
mod events;
mod gemini;
mod item;
mod responses;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;

use self::item::{Entry, Item, Packing};
pub use self::item::{Finish, Fragments};
use crate::{ChunkLog, WireKind};

/// The answer of a model, which can be written as a stream or a whole response of any [`WireKind`].
///
/// The same script gives the same bytes each time. Where a format has no place for something, the nearest is
/// written: a refusal is a text in Anthropic and Gemini, choices other than the first are left out of Anthropic and
/// Responses.
///
/// ```
/// use stream_testkit::{Fragments, Script, WireKind};
///
/// let script = Script::new()
///     .text_fragments(Fragments::Chars(5))
///     .text("Let me look.")
///     .call("call_1", "read_file", r#"{"path":"a.txt"}"#)
///     .usage(12, 7);
/// for kind in WireKind::ALL {
///     let log = script.to_log(kind);
///     assert_eq!(log.kind(), Some(kind));
///     assert_eq!(log.bytes(), &script.bytes(kind));
///     assert!(script.whole(kind).starts_with(b"{"));
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Script {
    entries: Vec<Entry>,
    choice: u32,
    pause: Duration,
    pace: Duration,
    finishes: BTreeMap<u32, Finish>,
    usage: Option<(u64, u64)>,
    error: Option<String>,
    cut: bool,
    text_fragments: Fragments,
    argument_fragments: Fragments,
    packing: Packing,
    pings: bool,
}

impl Script {
    /// Creates an empty answer.
    pub fn new() -> Self {
        Self {
            entries: Vec::new(),
            choice: 0,
            pause: Duration::ZERO,
            pace: Duration::ZERO,
            finishes: BTreeMap::new(),
            usage: None,
            error: None,
            cut: false,
            text_fragments: Fragments::Whole,
            argument_fragments: Fragments::Whole,
            packing: Packing::OneByOne,
            pings: false,
        }
    }

    /// Adds a text.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.item(Item::Text(text.into()))
    }

    /// Thinks a text: `reasoning_content`, a reasoning summary, a signed `thinking` block, a `thought` part.
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.item(Item::Reasoning(text.into()))
    }

    /// Refuses with a text.
    pub fn refusal(self, text: impl Into<String>) -> Self {
        self.item(Item::Refusal(text.into()))
    }

    /// Calls a tool that the client runs. Arguments need not be JSON, as models do not always write it; but Gemini's
    /// chunks and whole Anthropic responses hold them as a value, and are malformed with it. Empty arguments are none.
    pub fn call(self, id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.item(Item::Call { id: id.into(), name: name.into(), arguments: arguments.into() })
    }

    /// Has something that is neither a text nor a call: a field of a chat delta, an output item, a content block or a
    /// part of this kind. `json` is an object; items and blocks take its members, the others hold it.
    pub fn opaque(self, kind: impl Into<String>, json: impl Into<String>) -> Self {
        self.item(Item::Opaque { kind: kind.into(), json: json.into() })
    }

    /// Goes on in another choice (chat) or candidate (Gemini).
    pub fn choice(mut self, choice: u32) -> Self {
        self.choice = choice;
        self
    }

    /// Sets the finish reason of the choice. The default is [`Finish::ToolCalls`] for a choice with calls, else [`Finish::Stop`].
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finishes.insert(self.choice, finish);
        self
    }

    /// Sets the token counts.
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }

    /// Ends with an error in the stream, in place of finish reason and terminal marker. As a whole response it is the
    /// API's error body.
    pub fn error(mut self, message: impl Into<String>) -> Self {
        self.error = Some(message.into());
        self
    }

    /// Ends inside of the last item: it is not closed, and neither finish reason nor terminal marker follows. With
    /// [`error`](Self::error), that is all that follows. A whole response is not cut.
    pub fn cut(mut self) -> Self {
        self.cut = true;
        self
    }

    /// Sets the pieces of texts over chunks; one piece by default.
    pub fn text_fragments(mut self, fragments: Fragments) -> Self {
        self.text_fragments = fragments;
        self
    }

    /// Sets the pieces of arguments over chunks; one piece by default, and always for Gemini.
    pub fn argument_fragments(mut self, fragments: Fragments) -> Self {
        self.argument_fragments = fragments;
        self
    }

    /// Waits before the next item, or before the end.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause += pause;
        self
    }

    /// Waits before each chunk but the first.
    pub fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Neighbours alternate, fragment by fragment, where they are calls of one choice or belong to different choices.
    /// Anthropic's blocks never do.
    pub fn interleaved(mut self) -> Self {
        self.packing = Packing::Interleaved;
        self
    }

    /// Calls of a choice that follow each other come in one chunk, each whole (chat, Gemini).
    pub fn calls_in_one_chunk(mut self) -> Self {
        self.packing = Packing::CallsTogether;
        self
    }

    /// Puts the whole answer into one chunk, with the finish reasons (chat, Gemini).
    pub fn in_one_chunk(mut self) -> Self {
        self.packing = Packing::AllTogether;
        self
    }

    /// With a `ping` after the start of each block, where Anthropic's servers send them. The other formats have none.
    pub fn pings(mut self) -> Self {
        self.pings = true;
        self
    }

    /// The stream as a log, one network chunk for each event.
    #[must_use]
    pub fn to_log(&self, kind: WireKind) -> ChunkLog {
        let events = match kind {
            WireKind::OpenAiChat => chat::stream(self),
            WireKind::OpenAiResponses => responses::stream(self),
            WireKind::AnthropicMessages => anthropic::stream(self),
            WireKind::Gemini => gemini::stream(self),
        };
        ChunkLog::from_chunks(format!("script.{kind}"), events.into_chunks(kind))
    }

    /// The bytes of the stream.
    #[must_use]
    pub fn bytes(&self, kind: WireKind) -> Bytes {
        self.to_log(kind).bytes().clone()
    }

    /// The body of the response when it is not streamed.
    #[must_use]
    pub fn whole(&self, kind: WireKind) -> Bytes {
        let body = match kind {
            WireKind::OpenAiChat => chat::whole(self),
            WireKind::OpenAiResponses => responses::whole(self),
            WireKind::AnthropicMessages => anthropic::whole(self),
            WireKind::Gemini => gemini::whole(self),
        };
        body.into()
    }

    fn item(mut self, item: Item) -> Self {
        let pause = std::mem::take(&mut self.pause);
        self.entries.push(Entry { choice: self.choice, pause, item });
        self
    }

    /// The choices that are spoken of, or the first.
    fn choices(&self) -> BTreeSet<u32> {
        let mut choices: BTreeSet<u32> = self.entries.iter().map(|entry| entry.choice).collect();
        choices.extend(self.finishes.keys());
        if choices.is_empty() {
            choices.insert(0);
        }
        choices
    }

    fn finish_of(&self, choice: u32) -> Finish {
        let calls = || self.of(choice).any(|entry| matches!(entry.item, Item::Call { .. }));
        let found = self.finishes.get(&choice).copied();
        found.unwrap_or_else(|| if calls() { Finish::ToolCalls } else { Finish::Stop })
    }

    /// The entries of a choice.
    fn of(&self, choice: u32) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.choice == choice)
    }

    /// The text and argument fragments of an item.
    fn fragments<'a>(&self, item: &'a Item) -> Vec<&'a str> {
        match item {
            Item::Text(text) | Item::Reasoning(text) | Item::Refusal(text) => self.text_fragments.split(text),
            Item::Call { arguments, .. } => self.argument_fragments.split(arguments),
            Item::Opaque { .. } => Vec::new(),
        }
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

/// Named in every response.
const MODEL: &str = "scripted";
/// When every response was made.
const CREATED: u64 = 1_700_000_000;
