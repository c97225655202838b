//! What counts as a call.

use std::sync::Arc;

use crate::schema::Schemas;
use crate::tool::Tool;

/// What counts as a call, and how long one may be.
///
/// By default a call counts outside code and outside reasoning, and, where the offered tools are known, if it names one
/// of them. [`strict`](Self::strict) is for chains with a gate: what a client's parser might run counts.
#[derive(Debug, Clone)]
#[must_use]
pub struct ScanOptions {
    pub(crate) in_code: bool,
    pub(crate) in_reasoning: bool,
    pub(crate) unknown_names: bool,
    pub(crate) malformed: bool,
    pub(crate) every_reading: bool,
    pub(crate) limit: usize,
    pub(crate) schemas: Arc<Schemas>,
}

impl ScanOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            in_code: false,
            in_reasoning: false,
            unknown_names: false,
            malformed: false,
            every_reading: false,
            limit: 16 << 20,
            schemas: Arc::default(),
        }
    }

    /// Calls count wherever they stand and whatever they name, what begins like a call and is none is
    /// [reported](crate::Event::Unparsed), and [every reading](Self::every_reading) counts: the client's parser may be less
    /// careful.
    pub fn strict() -> Self {
        Self::new()
            .in_code(true)
            .in_reasoning(true)
            .unknown_names(true)
            .report_malformed(true)
            .every_reading(true)
    }

    /// Whether calls count in fences and inline code.
    pub fn in_code(mut self, count: bool) -> Self {
        self.in_code = count;
        self
    }

    /// Whether calls count in reasoning.
    pub fn in_reasoning(mut self, count: bool) -> Self {
        self.in_reasoning = count;
        self
    }

    /// Whether calls count that name no tool that was offered.
    pub fn unknown_names(mut self, count: bool) -> Self {
        self.unknown_names = count;
        self
    }

    /// Whether what diverges soon after its opener, before its name, is reported instead of being text.
    pub fn report_malformed(mut self, report: bool) -> Self {
        self.malformed = report;
        self
    }

    /// Whether the readings of other parsers count as well. Parsers that look for markers by pattern find them inside of
    /// strings and values too, many read the texts of all blocks of an answer joined, and some read calls out of reasoning.
    ///
    /// - A call that holds the marker of a call in its name, arguments or values is reported: it has no single meaning.
    /// - What stands directly before a call and could be the begin of a marker leaves only with the call, since the text
    ///   behind a call that is gone might complete it.
    /// - In a stream, the text of all blocks of a choice is searched joined, and native reasoning, refusals and transcripts
    ///   are searched like content.
    pub fn every_reading(mut self, count: bool) -> Self {
        self.every_reading = count;
        self
    }

    /// The longest call, in bytes: what is longer is reported as unparsed there.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes.max(WINDOW);
        self
    }

    /// The tools that were offered. With none, every name counts, except where a dialect has no marker of its own.
    pub fn tools(mut self, tools: &[Tool]) -> Self {
        self.schemas = Arc::new(Schemas::new(tools));
        self
    }

    /// The tools that were offered, unless [others](Self::tools) were named before.
    pub fn or_tools(self, tools: &[Tool]) -> Self {
        if self.schemas.is_empty() { self.tools(tools) } else { self }
    }

    /// Whether [every reading](Self::every_reading) counts.
    #[must_use]
    pub fn counts_every_reading(&self) -> bool {
        self.every_reading
    }

    /// Whether a call of this name counts.
    pub(crate) fn counts(&self, name: &str) -> bool {
        self.unknown_names || self.schemas.is_empty() || self.schemas.offers(name)
    }

    /// Whether a tool of this name may be run: one that was offered, where it is known which were.
    pub(crate) fn may_run(&self, name: &str) -> bool {
        self.schemas.is_empty() || self.schemas.offers(name)
    }

    /// Whether a call of this name counts that has no marker of its own.
    pub(crate) fn counts_unmarked(&self, name: &str) -> bool {
        self.unknown_names || self.schemas.offers(name)
    }
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Within how many bytes behind its begin a candidate must show what it is.
pub(crate) const WINDOW: usize = 1024;
