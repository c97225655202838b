//! A text of a stream on its way through the scanner: of one block, or of all blocks of a choice joined.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use stream_text_calls::{
    DialectSet, Event, Markup, MarkupRole, Problem, ProblemKind, ScanOptions, Scanner, TextCall, Unparsed,
};

use super::block_text::BlockName;

/// A text, and what was found in it.
#[derive(Debug)]
pub(super) struct TextSource {
    scanner: Scanner,
    /// What was found and has not been given out.
    pub(super) found: VecDeque<Segment>,
    /// How much of the text has come.
    pub(super) length: u64,
    /// How much of it is decided.
    pub(super) decided: u64,
    /// The block whose text came last.
    pub(super) block: Option<BlockName>,
    ended: bool,
    /// Where the call that is open began, with what stood before it in its list.
    opened: Option<u64>,
    /// The wrapper that is open, by the scanner's number and ours, and what separates the next call in it.
    section: Option<(u32, u32)>,
    reasoning: Option<u32>,
    /// A wrapper that ended without a closer, before the next segment.
    unclosed: Option<u32>,
}

/// A stretch of a text.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) range: Range<u64>,
    pub(super) what: What,
    pub(super) section: Option<u32>,
    /// A wrapper that ended before it, without a closer.
    pub(super) closes: Option<u32>,
    /// The number of a call.
    pub(super) call: Option<u32>,
}

/// What a stretch of a text is.
#[derive(Debug, Clone)]
pub(super) enum What {
    Text,
    Reasoning,
    /// Tags around what stands in a section.
    Open,
    Close,
    /// A call, behind `lead` bytes that separate it from the one before.
    Call {
        call: Arc<TextCall>,
        lead: u64,
    },
    /// What began like a call and is none.
    Unparsed(Arc<UnparsedCall>),
}

/// What began like a call in the text of a stream and is none: its text, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnparsedCall {
    text: String,
    problem: Problem,
}

impl UnparsedCall {
    /// The text, from where the call began.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The problem: of which tool and parameter, where in the text, and what was expected.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// Numbering for sections and calls, unique in a stream.
#[derive(Debug)]
pub(super) struct Numbering {
    section: u32,
    call: u32,
}

impl Default for Numbering {
    fn default() -> Self {
        // Sections are numbered as items are, and must not be mistaken for one.
        Self { section: 1 << 31, call: 0 }
    }
}

impl TextSource {
    pub(super) fn new(set: &DialectSet, options: ScanOptions) -> Self {
        Self {
            scanner: Scanner::new(set, options),
            found: VecDeque::new(),
            length: 0,
            decided: 0,
            block: None,
            ended: false,
            opened: None,
            section: None,
            reasoning: None,
            unclosed: None,
        }
    }

    /// Takes more text; where it stands.
    pub(super) fn push(&mut self, text: &str, numbers: &mut Numbering) -> Range<u64> {
        let start = self.length;
        self.length += text.len() as u64;
        if self.ended && !text.is_empty() {
            // It was over: nobody can tell what this goes on with, and nothing waits for it.
            self.unreadable(text, numbers);
            return start..self.length;
        }
        let events: Vec<Event> = self.scanner.push(text).collect();
        events.into_iter().for_each(|event| self.take(event, numbers));
        start..self.length
    }

    /// Takes text of which nobody can tell what it goes on with; where it stands. What comes behind it is read afresh.
    pub(super) fn push_unreadable(&mut self, text: &str, numbers: &mut Numbering) -> Range<u64> {
        let events: Vec<Event> = self.scanner.end().collect();
        events.into_iter().for_each(|event| self.take(event, numbers));
        let start = self.length;
        self.length += text.len() as u64;
        self.unreadable(text, numbers);
        self.scanner.restart(self.length);
        start..self.length
    }

    fn unreadable(&mut self, text: &str, numbers: &mut Numbering) {
        let start = self.length - text.len() as u64;
        let problem = Problem::new(ProblemKind::UnknownPlace, start);
        let unparsed = Arc::new(UnparsedCall { text: text.to_owned(), problem });
        self.segment(start..self.length, What::Unparsed(unparsed), None, Some(numbers.call()));
    }

    /// The text goes on in another block, or in the same one again.
    pub(super) fn enter(&mut self, block: BlockName) {
        if self.block.replace(block).is_some_and(|last| last != block) {
            self.scanner.begin_block();
        }
    }

    /// Whether all that came is decided.
    pub(super) fn is_decided(&self) -> bool {
        self.decided >= self.length
    }

    /// No more of it comes.
    pub(super) fn end(&mut self, numbers: &mut Numbering) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let events: Vec<Event> = self.scanner.end().collect();
        events.into_iter().for_each(|event| self.take(event, numbers));
    }

    /// A new block in the same place: it goes on.
    pub(super) fn reopen(&mut self) {
        self.ended = false;
    }

    fn take(&mut self, event: Event, numbers: &mut Numbering) {
        match event {
            Event::Text(range) => {
                self.leave_section();
                self.segment(range, What::Text, None, None);
            }
            Event::Reasoning(range) => self.segment(range, What::Reasoning, self.reasoning, None),
            Event::ReasoningStart(range) => {
                self.leave_section();
                self.reasoning = Some(numbers.section());
                self.segment(range, What::Open, self.reasoning, None);
            }
            Event::ReasoningEnd(range) => {
                let section = self.reasoning.take();
                let what = if section.is_some() { What::Close } else { What::Text };
                self.segment(range, what, section, None);
            }
            Event::Markup(markup) => self.markup(&markup, numbers),
            Event::CallStart(start) => {
                if start.section.is_none() || start.section != self.section.map(|(theirs, _)| theirs) {
                    self.leave_section();
                }
                self.opened.get_or_insert(start.at);
            }
            Event::CallText(_) => {}
            Event::CallEnd(call) => {
                let range = self.opened.take().unwrap_or(call.range().start)..call.range().end;
                let lead = call.range().start - range.start;
                let section = call.section().and(self.section).map(|(_, ours)| ours);
                let what = What::Call { call: Arc::from(call), lead };
                self.segment(range, what, section, Some(numbers.call()));
            }
            Event::Unparsed(unparsed) => {
                let section = if unparsed.begun { self.section.map(|(_, ours)| ours) } else { None };
                if !unparsed.begun {
                    self.leave_section();
                }
                let start = self.opened.take().unwrap_or(unparsed.range.start);
                let end = unparsed.range.end;
                let Unparsed { text, problem, .. } = unparsed;
                let what = What::Unparsed(Arc::new(UnparsedCall { text, problem }));
                self.segment(start..end, what, section, Some(numbers.call()));
            }
        }
    }

    fn markup(&mut self, markup: &Markup, numbers: &mut Numbering) {
        let range = markup.range.clone();
        let ours = self.section.filter(|(theirs, _)| *theirs == markup.section).map(|(_, ours)| ours);
        match (markup.role, ours) {
            (MarkupRole::Open, _) => {
                self.leave_section();
                let ours = numbers.section();
                self.section = Some((markup.section, ours));
                self.segment(range, What::Open, Some(ours), None);
            }
            // It goes with the call behind it.
            (MarkupRole::Between, _) => self.opened = Some(range.start),
            (MarkupRole::Close, Some(ours)) => {
                self.section = None;
                self.segment(range, What::Close, Some(ours), None);
            }
            // All that stood in the wrapper is text, and so is its opener.
            (MarkupRole::Close, None) => self.segment(range, What::Text, None, None),
        }
    }

    fn leave_section(&mut self) {
        if let Some((_, ours)) = self.section.take() {
            self.unclosed = Some(ours);
        }
    }

    fn segment(&mut self, range: Range<u64>, what: What, section: Option<u32>, call: Option<u32>) {
        if range.is_empty() {
            return;
        }
        self.decided = range.end;
        let closes = self.unclosed.take();
        self.found.push_back(Segment { range, what, section, closes, call });
    }
}

impl Numbering {
    fn section(&mut self) -> u32 {
        self.section += 1;
        self.section
    }

    fn call(&mut self) -> u32 {
        self.call += 1;
        self.call
    }
}

/// An offset in a text that is in memory.
pub(super) fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
