//! Several answers as one: what every API's joiner does.

use bytes::Bytes;
use stream_core::CallFlavor;
use stream_core::sse::Frame;

use super::executor::ToolResult;
use super::json::{Object, Unreadable};
use super::tools::ToolSpec;
use super::{anthropic, chat, gemini, responses};
use crate::Api;

/// What of an answer the client gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// All of it: the answer is the last.
    Pass,
    /// All but its calls: the answer is the last, and its calls are nobody's.
    WithoutCalls,
    /// Neither its calls nor its ending: another answer follows, or an ending of the loop's own.
    Inner,
}

impl Mode {
    /// Whether calls are taken away.
    pub(super) fn strips_calls(self) -> bool {
        self != Self::Pass
    }

    /// Whether finish, usage and terminal marker stay.
    pub(super) fn keeps_ending(self) -> bool {
        self != Self::Inner
    }
}

/// How the client's answer is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Style {
    /// Stands between the texts of two answers, where an API has one text.
    pub(super) separator: String,
    /// The tools that were added to the request; an answer that lists its tools leaves without them.
    pub(super) added: Vec<String>,
    /// Whether the upstream keeps the answers, so that a later request may name the last one.
    pub(super) stored: bool,
}

/// A call of a turn, and what the model is told of it.
#[derive(Debug, Clone)]
pub(super) struct Answered {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) flavor: CallFlavor,
    pub(super) result: ToolResult,
}

/// Joins the streamed answers of one API.
pub(super) trait Join: Send + Sync {
    /// Gathers what a frame adds to the turn under way. Called for every frame, in order.
    fn read(&mut self, frame: &Frame) -> Result<(), Unreadable>;

    /// Writes a frame of the answer under way for the client.
    fn write(&mut self, frame: &Frame, mode: Mode, out: &mut Vec<Bytes>) -> Result<(), Unreadable>;

    /// The request with the turn under way and the results of its calls.
    fn extend(&self, request: &mut Object, answered: &[Answered]) -> Result<(), Unreadable>;

    /// The answer under way is over, and another follows.
    fn next(&mut self);

    /// Writes a text of the loop's own.
    fn say(&mut self, text: &str, out: &mut Vec<Bytes>);

    /// Ends the answer at a limit, in the API's own words.
    fn stop(&mut self, out: &mut Vec<Bytes>);

    /// Ends the answer with the API's error.
    fn fail(&mut self, message: &str, out: &mut Vec<Bytes>);

    /// Whether the client has text.
    fn has_text(&self) -> bool;

    /// A keep-alive that the API's clients accept (rule 23).
    fn keep_alive(&self) -> Bytes {
        Bytes::from_static(b": keep-alive\n\n")
    }
}

/// A joiner of streamed answers.
pub(super) fn joiner(api: Api, style: Style) -> Box<dyn Join> {
    match api {
        Api::OpenAiChat => Box::new(chat::Joiner::new(style)),
        Api::OpenAiResponses => Box::new(responses::Joiner::new(style)),
        Api::AnthropicMessages => Box::new(anthropic::Joiner::default()),
        Api::Gemini => Box::new(gemini::Joiner::new(style)),
    }
}

/// Joins whole answers. The mode is that of the last one; all before it are inner ones. With [`Mode::Inner`] the answer
/// ends at a limit, and says `closing` if it would say nothing.
pub(super) fn whole(
    api: Api,
    answers: &[Bytes],
    mode: Mode,
    style: &Style,
    closing: &str,
) -> Result<Bytes, Unreadable> {
    let texts: Vec<&str> = answers.iter().map(|answer| text(answer)).collect::<Result<_, _>>()?;
    let joined = match api {
        Api::OpenAiChat => chat::whole(&texts, mode, style, closing),
        Api::OpenAiResponses => responses::whole(&texts, mode, style, closing),
        Api::AnthropicMessages => anthropic::whole(&texts, mode, closing),
        Api::Gemini => gemini::whole(&texts, mode, style, closing),
    };
    joined.map(Bytes::from)
}

/// Adds the turn of a whole answer, and the results of its calls, to a request.
pub(super) fn extend_whole(
    api: Api,
    request: &mut Object,
    answer: &Bytes,
    answered: &[Answered],
) -> Result<(), Unreadable> {
    let answer = text(answer)?;
    match api {
        Api::OpenAiChat => chat::extend_whole(request, answer, answered),
        Api::OpenAiResponses => responses::extend_whole(request, answer, answered),
        Api::AnthropicMessages => anthropic::extend_whole(request, answer, answered),
        Api::Gemini => gemini::extend_whole(request, answer, answered),
    }
}

/// Whether a request can be looped: it asks for an answer, and for one.
pub(super) fn can_loop(api: Api, request: &Object) -> bool {
    match api {
        Api::OpenAiChat => chat::can_loop(request),
        Api::OpenAiResponses => responses::can_loop(request),
        Api::AnthropicMessages => request.get("messages").is_some(),
        Api::Gemini => gemini::can_loop(request),
    }
}

/// Offers tools in the API's own form.
pub(super) fn offer(api: Api, request: &mut Object, specs: &[&ToolSpec]) {
    if specs.is_empty() {
        return;
    }
    match api {
        Api::OpenAiChat => chat::offer(request, specs),
        Api::OpenAiResponses => responses::offer(request, specs),
        Api::AnthropicMessages => anthropic::offer(request, specs),
        Api::Gemini => gemini::offer(request, specs),
    }
}

/// Leaves it to the model whether a tool is called. A request that forces a call would never end.
pub(super) fn free_choice(api: Api, request: &mut Object) {
    match api {
        Api::OpenAiChat => chat::free_choice(request),
        Api::OpenAiResponses => responses::free_choice(request),
        Api::AnthropicMessages => anthropic::free_choice(request),
        Api::Gemini => gemini::free_choice(request),
    }
}

/// Adds elements to a list of the request, which may be missing.
pub(super) fn append(request: &mut Object, key: &str, more: impl IntoIterator<Item = String>) {
    let mut list = request.items(key);
    list.extend(more);
    request.set(key, super::json::array(list));
}

/// An event with data, named where its format names events.
pub(super) fn event(name: Option<&str>, data: &str) -> Bytes {
    match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n").into(),
        None => format!("data: {data}\n\n").into(),
    }
}

/// The data of a frame as text.
pub(super) fn data(frame: &Frame) -> Result<Option<&str>, Unreadable> {
    frame.data_bytes().map(text).transpose()
}

fn text(bytes: &[u8]) -> Result<&str, Unreadable> {
    std::str::from_utf8(bytes).map_err(|_| Unreadable)
}
