//! The settings of a stream.

use std::sync::{Arc, LazyLock};

use crate::ending::EndingWords;
use crate::limits::Limits;
use crate::request::Request;
use crate::sse::Framing;
use crate::text_calls::{DialectSet, ScanOptions};
use crate::wire::{SharedFormat, WriterOptions};

/// The settings of a stream: format, request, limits, endings, calls written as text.
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

/// Settings that many streams share, until one of them changes its own.
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
    /// Sets the wire format. A stream of another format is closed with [`ErrorKind::WrongFormat`](crate::ErrorKind::WrongFormat). By default
    /// the format is recognised from the first frames.
    pub fn format(mut self, format: SharedFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Adds a wire format to those that are recognised, before the built-in ones.
    ///
    /// A format whose frames are [lines](crate::sse::Framing::Lines) is recognised only in whole responses, since the framing of a stream has to
    /// be known before its first frame. For streams of such a format, set [`format`](Self::format).
    pub fn also(mut self, format: SharedFormat) -> Self {
        self.change().formats.push(format);
        self
    }

    /// The framing of the stream.
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

    /// The facts of the request.
    pub fn requested(&self) -> &Request {
        &self.request
    }

    /// Sets the facts of the request.
    pub fn request(mut self, request: impl Into<Arc<Request>>) -> Self {
        self.request = request.into();
        self
    }

    /// Sets the text of an answer of which everything was dropped; `None` for no text.
    pub fn empty_notice(mut self, notice: Option<&str>) -> Self {
        self.change().writer.empty_notice = notice.map(Into::into);
        self
    }

    /// Sets the code of error endings of policies that [set none](crate::Ending::with_code). The default is
    /// [`Ending::BLOCKED_BY_POLICY`](crate::Ending::BLOCKED_BY_POLICY), on every API.
    pub fn error_code(mut self, code: &str) -> Self {
        self.change().ending_words.code = Some(code.into());
        self
    }

    /// Sets the type of error endings of policies that [set none](crate::Ending::with_type). The default is
    /// [`Ending::POLICY_ERROR`](crate::Ending::POLICY_ERROR).
    pub fn error_type(mut self, error_type: &str) -> Self {
        self.change().ending_words.error_type = Some(error_type.into());
        self
    }

    /// Sets the dialects of [calls written as text](crate::guide::text_calls). Policies see such calls, and reasoning in tags, as blocks.
    ///
    /// Without [`text_call_options`](Self::text_call_options), calls count everywhere if a policy [guards](crate::policy::Needs::guards) calls
    /// ([`ScanOptions::strict`]), else only outside code and reasoning. The known tools are those that the [request](Self::request) offers.
    ///
    /// An empty set switches the search off. Where this method is never called, a policy that [handles](crate::policy::Needs::text_calls) such
    /// calls is refused.
    pub fn text_calls(mut self, dialects: DialectSet) -> Self {
        self.change().text_calls = Some(dialects);
        self
    }

    /// Sets which calls written as text count.
    pub fn text_call_options(mut self, options: ScanOptions) -> Self {
        self.change().text_call_options = Some(options);
        self
    }

    /// Sets whether the calls of a choice complete only at its finish, unless the format ends them itself. Some providers send more of a call
    /// whose arguments were one whole JSON value when the next block started, which by default closes the stream ([rule 5](crate::guide::rules#rule-5)). Deltas of calls
    /// that are not whole may take turns in any case.
    pub fn interleaved_calls(mut self, allowed: bool) -> Self {
        self.change().interleaved = allowed;
        self
    }

    /// Sets whether text frames that no policy needs may pass without being read in full; `true` by default.
    ///
    /// The output is the same either way: a frame passes so only if its bytes equal those of frames that were read, but for the values that the
    /// format [lists](crate::wire::WireFormat::holes). Without the lane, a frame costs about ten times as much.
    pub fn lane(mut self, allowed: bool) -> Self {
        self.lane = allowed;
        self
    }
}
