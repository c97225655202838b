//! Models of clients: the way in which each client reads a stream, written from the client's side.
//!
//! A client that reads other content in the same bytes than the policy was shown bypasses every policy (rule 28). A model is one client's
//! way of reading: which characters end a line, what several `data:` lines mean, which of `index`, `id` and position distinguishes calls,
//! and which of several copies counts. The models share no code with the decoders of stream-core, so that both sides do not share a
//! mistake; `tests/clients` compares the models with the SDKs whose names they have.
//!
//! ```
//! use stream_testkit::{Script, WireKind, models};
//!
//! let log = Script::new().text("On it.").call("c1", "ls", "{}").to_log(WireKind::OpenAiChat);
//! for model in models::of(WireKind::OpenAiChat) {
//!     let reading = model.read(log.bytes());
//!     assert_eq!(reading.calls, [models::Call::function("ls", "{}")], "{}", model.name());
//!     assert!(reading.says("On it."), "{}", model.name());
//! }
//! ```

mod anthropic;
mod chat;
mod gemini;
mod keys;
mod lines;
mod reading;
mod responses;
mod whole;
mod written;

use serde_json::Value;

pub use self::reading::{Call, CallKind, Reading, Said};
pub use self::written::written;
use crate::WireKind;
use lines::{Lines, Sse};

/// The way in which one client reads a stream.
#[derive(Clone, Copy)]
pub struct Model {
    name: &'static str,
    kind: WireKind,
    lines: Lines,
    fold: fn(&[Sse]) -> Reading,
    one_choice: bool,
}

impl Model {
    /// The name of the client: an SDK with the part that reads, or a habit of many programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The API of the client.
    #[must_use]
    pub fn kind(&self) -> WireKind {
        self.kind
    }

    /// Returns whether the client reads only the first choice or candidate of every chunk, whatever its index. Such a client requests one
    /// answer.
    #[must_use]
    pub fn asks_for_one(&self) -> bool {
        self.one_choice
    }

    /// Reads a body as the client does.
    #[must_use]
    pub fn read(&self, body: &[u8]) -> Reading {
        (self.fold)(&self.lines.events(body))
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// The models of an API's clients, over streams.
pub fn of(kind: WireKind) -> impl Iterator<Item = Model> {
    all().into_iter().filter(move |model| model.kind == kind)
}

/// Every model over streams.
#[must_use]
pub fn all() -> Vec<Model> {
    use WireKind::{AnthropicMessages, Gemini, OpenAiChat, OpenAiResponses};
    let model =
        |name, kind, lines, fold: fn(&[Sse]) -> Reading| Model { name, kind, lines, fold, one_choice: false };
    let one = |model: Model| Model { one_choice: true, ..model };
    let chat = |name, lines, fold| model(name, OpenAiChat, lines, fold);
    let messages = |name, lines, fold| model(name, AnthropicMessages, lines, fold);
    let responses = |name, lines, fold| model(name, OpenAiResponses, lines, fold);
    let gemini = |name, lines, fold| model(name, Gemini, lines, fold);
    vec![
        chat("openai-python .stream()", Lines::OPENAI, chat::by_position),
        chat("openai-python", Lines::OPENAI, chat::every_choice),
        chat("openai-node .stream()", Lines::STANDARD, chat::by_property),
        one(chat("openai-node", Lines::STANDARD, chat::first_choice)),
        one(chat("ai (chat)", Lines::STANDARD, chat::by_index_and_name)),
        one(chat("ai, earlier (chat)", Lines::STANDARD, chat::until_it_parses)),
        one(chat("langchain", Lines::OPENAI, chat::merged)),
        one(chat("an id opens a call", Lines::STANDARD, chat::by_id)),
        chat("litellm (chat)", Lines::LITELLM, chat::every_choice),
        chat("litellm stream_chunk_builder (chat)", Lines::LITELLM, chat::joined_choices),
        one(chat("a script over iter_lines", Lines::SCRIPT, chat::first_choice)),
        one(chat("a script over split", Lines::SPLIT, chat::by_id)),
        messages("anthropic-python .stream()", Lines::OPENAI, anthropic::appended),
        messages("anthropic-node .stream()", Lines::STANDARD, anthropic::appended),
        messages("anthropic-python", Lines::OPENAI, anthropic::by_index),
        messages("ai (messages)", Lines::STANDARD, anthropic::when_stopped),
        messages("litellm (messages)", Lines::LITELLM, anthropic::last_opened),
        messages("a script over iter_lines (messages)", Lines::SCRIPT, anthropic::by_index_unnamed),
        responses("openai-python .stream() (responses)", Lines::OPENAI, responses::final_response),
        responses("openai-python (responses)", Lines::OPENAI, responses::items_done),
        responses("openai-node (responses)", Lines::STANDARD, responses::by_output_index),
        responses("ai (responses)", Lines::STANDARD, responses::by_output_index),
        responses("by item id", Lines::STANDARD, responses::by_item_id),
        responses("items appended", Lines::OPENAI, responses::appended),
        responses("litellm (responses)", Lines::LITELLM, responses::items_done),
        responses("a script over iter_lines (responses)", Lines::SCRIPT, responses::final_response),
        one(gemini("google-genai-python", Lines::GENAI_PYTHON, gemini::first_candidate)),
        one(gemini("google-genai-js", Lines::GENAI_JS, gemini::first_candidate)),
        one(gemini("ai (gemini)", Lines::STANDARD, gemini::first_candidate)),
        gemini("by candidate", Lines::SCRIPT, gemini::every_candidate),
        gemini("litellm (gemini)", Lines::LITELLM, gemini::every_candidate),
    ]
}

/// Reads a whole response as clients do. Of two equal keys, the JSON readers of Python and JavaScript take the last.
#[must_use]
pub fn read_whole(kind: WireKind, body: &[u8]) -> Reading {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => whole::read(kind, &value),
        Err(error) => Reading::raised(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
