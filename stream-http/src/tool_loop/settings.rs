//! What the loop may use, and what the client sees of it.

use std::time::Duration;

/// Bounds of a loop, and what its client sees meanwhile.
///
/// ```
/// use std::time::Duration;
/// use stream_http::tool_loop::{AtLimit, LoopSettings};
///
/// let settings = LoopSettings::new()
///     .max_iterations(3)
///     .deadline(Duration::from_secs(10))
///     .notice("[running {tool}]")
///     .at_limit(AtLimit::Error);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct LoopSettings {
    pub(super) max_iterations: u32,
    pub(super) total_time: Duration,
    pub(super) total_bytes: usize,
    pub(super) deadline: Duration,
    pub(super) result_bytes: usize,
    pub(super) notice: Option<String>,
    pub(super) separator: String,
    pub(super) at_limit: AtLimit,
    pub(super) clash: Clash,
}

impl LoopSettings {
    /// The defaults: 5 iterations, 300 s, 32 MiB, 30 s per call, 256 KiB per result, no notice, an empty line between
    /// texts.
    pub fn new() -> Self {
        Self {
            max_iterations: 5,
            total_time: Duration::from_secs(300),
            total_bytes: 32 << 20,
            deadline: Duration::from_secs(30),
            result_bytes: 256 << 10,
            notice: None,
            separator: "\n\n".to_owned(),
            at_limit: AtLimit::default(),
            clash: Clash::default(),
        }
    }

    /// Sets how often tools are run and the model is asked again, at most.
    pub fn max_iterations(mut self, times: u32) -> Self {
        self.max_iterations = times;
        self
    }

    /// Sets how long the loop takes at most, from its first call to its last answer.
    pub fn total_time(mut self, time: Duration) -> Self {
        self.total_time = time;
        self
    }

    /// Sets how many bytes the answers and results of one loop have at most.
    pub fn total_bytes(mut self, bytes: usize) -> Self {
        self.total_bytes = bytes;
        self
    }

    /// Sets how long one call takes at most. The model is told of a call that took longer.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = time;
        self
    }

    /// Sets how many bytes of a result the model gets at most; a longer one is cut, and says so.
    pub fn result_bytes(mut self, bytes: usize) -> Self {
        self.result_bytes = bytes;
        self
    }

    /// Sets a text that a streaming client gets for every call before the call runs; `{tool}` is the tool's name.
    pub fn notice(mut self, notice: impl Into<String>) -> Self {
        self.notice = Some(notice.into());
        self
    }

    /// Sets what stands between the texts of two answers where an API has one text (chat, Gemini).
    pub fn separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = separator.into();
        self
    }

    /// Sets what becomes of an answer that reaches a limit.
    pub fn at_limit(mut self, at_limit: AtLimit) -> Self {
        self.at_limit = at_limit;
        self
    }

    /// Sets what becomes of a request that offers a tool with the name of one of the proxy's.
    pub fn clash(mut self, clash: Clash) -> Self {
        self.clash = clash;
        self
    }
}

impl Default for LoopSettings {
    fn default() -> Self {
        Self::new()
    }
}

/// What becomes of an answer that reaches a limit: iterations, time or bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AtLimit {
    /// The answer ends with the text that there is, in the API's words for an answer that is cut short: `length`,
    /// `max_tokens`, `response.incomplete`, `MAX_TOKENS`.
    #[default]
    Finish,
    /// The answer ends with the API's error.
    Error,
}

/// What becomes of a request that offers a tool with the name of one of the proxy's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clash {
    /// The tool is the client's: the proxy does not offer its own in this request, and does not run it.
    #[default]
    Client,
    /// The request is answered with status 400.
    Refuse,
}
