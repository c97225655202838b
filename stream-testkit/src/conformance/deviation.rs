//! What real providers do otherwise.

use std::collections::BTreeSet;

use crate::named::named;

use super::Report;

named! {
    /// A way in which a provider is known to break a rule.
    pub enum Deviation ("deviation") {
        /// The last event has no blank line after it. Anthropic 3, Anthropic's compatible endpoint 1, Mistral
        /// 1, NVIDIA NIM 1, Ollama 1; 7 of 345 recordings.
        NoFinalBorder = "no-final-border",
        /// A line that is no field: ` data:` with a space before it, an `error:` line, a bare JSON error.
        /// GPUStack 1, OpenRouter 1, Vertex 1; 3 of 345 recordings.
        StrayLine = "stray-line",
        /// An event without payload after the ending: a chunk without choices, or a ping. OpenCode Zen 4 of 345
        /// recordings.
        EventAfterEnding = "event-after-ending",
        /// The error of a chat stream has an `event: error` line. Groq 1 of 345 recordings.
        EventLineInChat = "event-line-in-chat",
        /// Events of a Responses stream without their `event` lines. OpenRouter 4 of 345 recordings.
        NoEventLine = "no-event-line",
        /// `[DONE]` in a format that has none. OpenRouter 4, Anthropic 1; 5 of 345 recordings.
        ForeignDone = "foreign-done",
        /// A `ping` event in a Responses stream. OpenCode Zen 2 of 345 recordings.
        ForeignPing = "foreign-ping",
        /// A chat stream ends without `[DONE]`. Writer 3, GPUStack 2, Perplexity 2; 7 of 345 recordings.
        NoDone = "no-done",
        /// A choice never gets a finish reason. GPUStack 1, Google 1, Hugging Face 1, LiteLLM 1, OpenAI 1,
        /// OpenRouter 1, TGI 1, Vertex 1; 8 of 345 recordings.
        NoFinishReason = "no-finish-reason",
        /// The same finish reason comes again. OpenRouter 8, Google 7, Vertex 3, Avian 2, Doubleword 2,
        /// Cloudflare 1, Together 1; 24 of 345 recordings.
        FinishRepeated = "finish-repeated",
        /// Another finish reason comes after the first. Google 2, Vertex 1; 3 of 345 recordings.
        FinishChanges = "finish-changes",
        /// Payload comes after the finish of its choice. Google 7, Vertex 3, Baseten 1; 11 of 345 recordings.
        DeltaAfterFinish = "delta-after-finish",
        /// A finish reason outside the documented set: `eos`. Together 2 of 345 recordings.
        UnknownFinishReason = "unknown-finish-reason",
        /// `stop` although there are calls: a call the request asked for by name. OpenAI 3 of 345 recordings.
        StopWithCalls = "stop-with-calls",
        /// The error comes in a chunk that has choices. OpenRouter 2 of 345 recordings.
        ErrorBesideChoices = "error-beside-choices",
        /// A chunk comes after the error. OpenAI 1 of 345 recordings.
        ChunkAfterError = "chunk-after-error",
        /// `object` is empty, missing or another word. GitHub Copilot 7, Perplexity 3, Azure 2, Pollinations 2,
        /// AI21 1, OpenAI 1, OpenCode Zen 1, Together 1; 18 of 345 recordings.
        OtherObject = "other-object",
        /// A chunk has no `id`, or an empty one: most often the first, which tells the prompt filter's results.
        /// GitHub Copilot 6, Pollinations 2, TGI 2, Azure 1, OpenAI 1; 12 of 345 recordings.
        ChunkWithoutId = "chunk-without-id",
        /// The `id` of the chunks changes on the way. Avian 2, GitHub Copilot 1, Groq 1, OpenCode Zen 1; 5 of
        /// 345 recordings.
        ChunkIdChanges = "chunk-id-changes",
        /// A chunk has no `choices` key. OpenAI 1 of 345 recordings.
        NoChoices = "no-choices",
        /// A chunk has neither a choice nor usage: most often the prompt filter's results. GitHub Copilot 6,
        /// Azure 2, Pollinations 2, OpenAI 1, OpenCode Zen 1; 12 of 345 recordings.
        EmptyChoices = "empty-choices",
        /// A choice has no `delta`. Azure 1 of 345 recordings.
        NoDelta = "no-delta",
        /// The first delta of a choice does not tell the role. GPUStack 2, Azure 1, Cloudflare 1, GitHub
        /// Copilot 1, Groq 1, LiteLLM 1, Mistral 1; 8 of 345 recordings.
        NoRole = "no-role",
        /// `content` is a list of parts. Mistral 1 of 345 recordings.
        ContentParts = "content-parts",
        /// The cumulative `message` beside the delta is not the content so far. Writer 1 of 345 recordings.
        OtherMessage = "other-message",
        /// Usage comes before the finish. Baseten 5, Perplexity 3, Databricks 2, Hugging Face 2, NVIDIA NIM 2,
        /// DeepSeek 1, LiteLLM 1, OpenAI 1, OpenRouter 1, llama.cpp 1; 19 of 345 recordings.
        UsageBeforeFinish = "usage-before-finish",
        /// Usage comes several times. Baseten 5, Groq 3, Perplexity 3, Databricks 2, Hugging Face 2, NVIDIA NIM
        /// 2, Cloudflare 1, DeepSeek 1, llama.cpp 1; 20 of 345 recordings.
        UsageRepeated = "usage-repeated",
        /// A call delta has no `index`. Mistral 1 of 345 recordings.
        CallWithoutIndex = "call-without-index",
        /// The first call has an index above 0: the text block was counted. Anthropic's compatible endpoint 1
        /// of 345 recordings.
        FirstCallIndex = "first-call-index",
        /// Two calls share one index. A client that knows calls by index takes them for one. GitHub Copilot 1
        /// of 345 recordings.
        CallIndexShared = "call-index-shared",
        /// A call opens without an id. Hugging Face 1 of 345 recordings.
        CallWithoutId = "call-without-id",
        /// Later deltas of a call repeat its id: a client that concatenates doubles it. Baseten 2, OpenRouter
        /// 1, TGI 1; 4 of 345 recordings.
        CallIdRepeated = "call-id-repeated",
        /// Later deltas of a call repeat its name. GitHub Copilot 1, OpenRouter 1; 2 of 345 recordings.
        CallNameRepeated = "call-name-repeated",
        /// A call opens without a `type`. Mistral 4 of 345 recordings.
        CallWithoutType = "call-without-type",
        /// A call opens with `arguments` missing or null. Writer 2, GitHub Copilot 1, OpenRouter 1, vLLM 1; 5
        /// of 345 recordings.
        CallWithoutArguments = "call-without-arguments",
        /// The arguments of a finished call are no JSON: markup of the model leaked into them. Together 2,
        /// GitHub Copilot 1; 3 of 345 recordings.
        BrokenArguments = "broken-arguments",
        /// `message_start` already holds blocks and the stop reason, and no `message_delta` follows. Anthropic
        /// 2 of 345 recordings.
        PrefilledMessage = "prefilled-message",
        /// A block that `max_tokens` cut never stops. Anthropic 1 of 345 recordings.
        BlockLeftOpen = "block-left-open",
        /// A `server_tool_use` block follows a `tool_use` block. Anthropic 1 of 345 recordings.
        ServerToolAfterToolUse = "server-tool-after-tool-use",
        /// A thinking block without a signature. Ollama 1 of 345 recordings.
        UnsignedThinking = "unsigned-thinking",
        /// A text block without text. Anthropic 1 of 345 recordings.
        EmptyTextBlock = "empty-text-block",
        /// A resumed stream: no `response.created`, and `sequence_number` starts above 0. OpenAI 1 of 345
        /// recordings.
        ResumedStream = "resumed-stream",
        /// An event has no `sequence_number`. OpenCode Zen 2 of 345 recordings.
        NoSequenceNumber = "no-sequence-number",
        /// The id of an item is another in later events. GitHub Copilot 1, OpenAI 1, OpenRouter 1; 3 of 345
        /// recordings.
        ItemIdChanges = "item-id-changes",
        /// An `mcp_list_tools` item never gets its `output_item.done`. OpenAI 1 of 345 recordings.
        ItemNeverDone = "item-never-done",
        /// Arguments come at once, in their `done` event. LM Studio 1 of 345 recordings.
        ArgumentsOnlyInDone = "arguments-only-in-done",
        /// The terminal event has no output list though items came. OpenAI 1 of 345 recordings.
        NoOutput = "no-output",
        /// An `error` event is followed by `response.failed`. OpenAI 2 of 345 recordings.
        ErrorThenFailed = "error-then-failed",
    }
}

/// The deviations that a check tolerates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allow(BTreeSet<Deviation>);

impl Allow {
    /// None: every rule holds.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// All that are known.
    #[must_use]
    pub fn all() -> Self {
        Deviation::ALL.iter().copied().collect()
    }

    /// Those that another stream needed: what came out may deviate as what came in did, and no further.
    #[must_use]
    pub fn as_in(report: &Report) -> Self {
        Self(report.deviations())
    }

    /// One more.
    #[must_use]
    pub fn with(mut self, deviation: Deviation) -> Self {
        self.0.insert(deviation);
        self
    }

    /// Whether it is tolerated.
    #[must_use]
    pub fn has(&self, deviation: Deviation) -> bool {
        self.0.contains(&deviation)
    }
}

impl FromIterator<Deviation> for Allow {
    fn from_iter<T: IntoIterator<Item = Deviation>>(deviations: T) -> Self {
        Self(deviations.into_iter().collect())
    }
}
