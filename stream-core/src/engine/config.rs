//! Settings of one stream.

use std::sync::{Arc, LazyLock};

use crate::ending::EndingWords;
use crate::limits::Limits;
use crate::request::Request;
use crate::sse::Framing;
use crate::text_calls::{DialectSet, ScanOptions};
use crate::wire::{SharedFormat, WriterOptions};

/// Settings of one stream.
///
/// ```
/// use stream_core::{Config, Limits, Request, Tool, wire};
///
/// let config = Config::default()
///     // The format is named: a stream of another format is closed with an error.
///     .format(wire::named("anthropic-messages").unwrap())
///     .request(Request::new().model("some-model").tool(Tool::new("search")))
///     .limits(Limits::default().held(1 << 20))
///     .error_code("guardrail");
/// assert_eq!(config.requested().model_name(), Some("some-model"));
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Config {
    pub(crate) format: Option<SharedFormat>,
    pub(crate) request: Arc<Request>,
    pub(crate) shared: Arc<Settings>,
    pub(crate) lane: bool,
}

/// What many streams have in common. They share it, until one of them says something else.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) formats: Vec<SharedFormat>,
    pub(crate) limits: Limits,
    pub(crate) writer: WriterOptions,
    pub(crate) ending_words: EndingWords,
    pub(crate) interleaved: bool,
    pub(crate) text_calls: Option<DialectSet>,
    pub(crate) text_call_options: Option<ScanOptions>,
}

impl Default for Config {
    fn default() -> Self {
        static DEFAULT: LazyLock<Config> = LazyLock::new(|| Config {
            format: None,
            request: Arc::default(),
            shared: Arc::default(),
            lane: true,
        });
        DEFAULT.clone()
    }
}

impl Config {
    /// Names the wire format, instead of finding it out from the frames.
    pub fn format(mut self, format: SharedFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Adds a wire format to those that are looked for, before the built-in ones.
    ///
    /// A format whose streams are [lines](crate::sse::Framing::Lines) is found only in whole responses: frames have to be cut before
    /// they can tell their format. Streams of such a format are [named](Self::format).
    pub fn also(mut self, format: SharedFormat) -> Self {
        self.change().formats.push(format);
        self
    }

    /// How the stream is cut into frames.
    pub(crate) fn framing(&self) -> Framing {
        self.format.as_ref().map_or_else(Framing::default, |format| format.framing())
    }

    fn change(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.shared)
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.change().limits = limits;
        self
    }

    /// What is known of the request.
    pub fn requested(&self) -> &Request {
        &self.request
    }

    /// Says what is known of the request.
    pub fn request(mut self, request: impl Into<Arc<Request>>) -> Self {
        self.request = request.into();
        self
    }

    /// The text that stands in for an answer of which everything was dropped; `None` for no text.
    pub fn empty_notice(mut self, notice: Option<&str>) -> Self {
        self.change().writer.empty_notice = notice.map(Into::into);
        self
    }

    /// The code of errors with which policies end the stream, unless a policy [names one](crate::Ending::with_code). By default it is
    /// [`Ending::BLOCKED_BY_POLICY`](crate::Ending::BLOCKED_BY_POLICY), on every API.
    pub fn error_code(mut self, code: &str) -> Self {
        self.change().ending_words.code = Some(code.into());
        self
    }

    /// The type of errors with which policies end the stream, unless a policy [names one](crate::Ending::with_type). By default it is
    /// [`Ending::POLICY_ERROR`](crate::Ending::POLICY_ERROR).
    pub fn error_type(mut self, error_type: &str) -> Self {
        self.change().ending_words.error_type = Some(error_type.into());
        self
    }

    /// Looks for tool calls, and reasoning, that the model writes as text: policies then see them as blocks like any
    /// other.
    ///
    /// Unless [`text_call_options`](Self::text_call_options) say otherwise, calls count wherever they stand if a policy
    /// [guards](crate::policy::Needs::guards) calls ([`ScanOptions::strict`]), else outside code and reasoning only. The tools that the
    /// [request](Self::request) offers are the tools that are known.
    ///
    /// A set that is empty says that nothing is looked for in this stream. Without any word, a policy that is
    /// [about](crate::policy::Needs::text_calls) such calls is refused.
    pub fn text_calls(mut self, dialects: DialectSet) -> Self {
        self.change().text_calls = Some(dialects);
        self
    }

    /// Says which calls count that are written as text.
    pub fn text_call_options(mut self, options: ScanOptions) -> Self {
        self.change().text_call_options = Some(options);
        self
    }

    /// Completes the calls of a choice at its finish and not before, unless the format ends them itself: for a provider that
    /// sends more of a call whose arguments were one whole JSON value when the next block started (rule 5). Deltas of calls
    /// that are not whole may take turns in any case.
    pub fn interleaved_calls(mut self, allowed: bool) -> Self {
        self.change().interleaved = allowed;
        self
    }

    /// Sets whether text frames that nobody holds may leave without being read in full; they may by default.
    ///
    /// The stream is the same either way: every frame that leaves so is byte for byte like frames before it that were read, but
    /// for values that the format [lists](crate::wire::WireFormat::holes). Without it, a frame costs about ten times as much.
    pub fn lane(mut self, allowed: bool) -> Self {
        self.lane = allowed;
        self
    }
}
