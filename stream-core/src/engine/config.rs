//! Settings of one stream.

use std::sync::Arc;

use crate::limits::Limits;
use crate::request::Request;
use crate::text_calls::{DialectSet, ScanOptions};
use crate::wire::{SharedFormat, WriterOptions};

/// Settings of one stream.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Config {
    pub(crate) format: Option<SharedFormat>,
    pub(crate) formats: Vec<SharedFormat>,
    pub(crate) limits: Limits,
    pub(crate) request: Arc<Request>,
    pub(crate) writer: WriterOptions,
    pub(crate) interleaved: bool,
    pub(crate) text_calls: Option<DialectSet>,
    pub(crate) text_call_options: Option<ScanOptions>,
}

impl Config {
    /// Names the wire format, instead of finding it out from the frames.
    pub fn format(mut self, format: SharedFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Adds a wire format to those that are looked for, before the built-in ones.
    pub fn also(mut self, format: SharedFormat) -> Self {
        self.formats.push(format);
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
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
        self.writer.empty_notice = notice.map(Into::into);
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
        self.text_calls = Some(dialects);
        self
    }

    /// Says which calls count that are written as text.
    pub fn text_call_options(mut self, options: ScanOptions) -> Self {
        self.text_call_options = Some(options);
        self
    }

    /// Completes the calls of a choice at its finish and not before, unless the format ends them itself: for a provider that
    /// sends more of a call whose arguments were one whole JSON value when the next block started (rule 5). Deltas of calls
    /// that are not whole may take turns in any case.
    pub fn interleaved_calls(mut self, allowed: bool) -> Self {
        self.interleaved = allowed;
        self
    }
}
