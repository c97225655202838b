//! What the scanner reports.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::dialect::Dialect;

/// What a stretch of the text is. Ranges are byte offsets in the whole text; those of all events together cover it
/// once, in order: nothing is lost, nothing is doubled.
///
/// The variants are all there are: whoever hands the text on has to place every byte of it, so that a new kind of stretch is a new
/// major version.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Plain text.
    Text(Range<u64>),
    /// Tags around calls: of a wrapper, of a list, and what separates calls in it.
    Markup(Markup),
    /// A call begins. Its name is known; its bytes follow as [`CallText`](Self::CallText).
    CallStart(CallStart),
    /// Bytes of the call that began last, its own tags included.
    CallText(Range<u64>),
    /// The call is whole.
    CallEnd(Box<TextCall>),
    /// A reasoning tag opens.
    ReasoningStart(Range<u64>),
    /// Text of the reasoning.
    Reasoning(Range<u64>),
    /// A reasoning tag closes.
    ReasoningEnd(Range<u64>),
    /// What began like a call and is none, or was cut off.
    Unparsed(Unparsed),
}

impl Event {
    /// The bytes it covers, where it covers any.
    #[must_use]
    pub fn range(&self) -> Option<&Range<u64>> {
        match self {
            Self::Text(range)
            | Self::CallText(range)
            | Self::ReasoningStart(range)
            | Self::Reasoning(range)
            | Self::ReasoningEnd(range) => Some(range),
            Self::Markup(markup) => Some(&markup.range),
            Self::Unparsed(unparsed) => Some(&unparsed.range),
            Self::CallStart(_) | Self::CallEnd(_) => None,
        }
    }
}

/// Tags around calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Markup {
    /// Where it stands.
    pub range: Range<u64>,
    /// The wrapper it belongs to, counted from 0.
    pub section: u32,
    /// Which part of the wrapper it is.
    pub role: MarkupRole,
}

/// The parts of a wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkupRole {
    /// Before the first call.
    Open,
    /// Between two calls.
    Between,
    /// Behind the last call.
    Close,
}

/// A call begins.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallStart {
    /// Its dialect.
    pub dialect: Arc<Dialect>,
    /// The tool's name.
    pub name: String,
    /// The call's id, where one stands before the name or beside it.
    pub id: Option<String>,
    /// Where the call begins.
    pub at: u64,
    /// The wrapper it stands in.
    pub section: Option<u32>,
}

/// A call that was found in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextCall {
    pub(crate) dialect: Arc<Dialect>,
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) arguments: String,
    pub(crate) raw: String,
    pub(crate) body: Range<usize>,
    pub(crate) at: u64,
    pub(crate) section: Option<u32>,
}

impl TextCall {
    /// Its dialect.
    #[must_use]
    pub fn dialect(&self) -> &Arc<Dialect> {
        &self.dialect
    }

    /// The tool's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The call's id, where the text has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The arguments: the raw slice where they were JSON, else a JSON object made of them in document order.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// The exact text of the call, its own tags included, the wrapper around several calls not.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The text between the call's own tags.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.raw[self.body.clone()]
    }

    /// What tells the call to a reader who knows nothing of its tags: the [body](Self::body) where the name stands in it,
    /// else the call with its own tags.
    #[must_use]
    pub fn told(&self) -> &str {
        if self.dialect.names_in_body() { self.body() } else { self.raw() }
    }

    /// The tag before the body.
    #[must_use]
    pub fn opener(&self) -> &str {
        &self.raw[..self.body.start]
    }

    /// The tag behind the body; empty where the model left it out.
    #[must_use]
    pub fn closer(&self) -> &str {
        &self.raw[self.body.end..]
    }

    /// Where it stands in the text.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.at..self.at + self.raw.len() as u64
    }

    /// The wrapper it stands in, counted from 0; `None` if it has none.
    #[must_use]
    pub fn section(&self) -> Option<u32> {
        self.section
    }
}

/// What began like a call and is none.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Unparsed {
    /// Its bytes, as far as they were not reported as [`CallText`](Event::CallText).
    pub range: Range<u64>,
    /// Where it began.
    pub start: u64,
    /// Its dialect.
    pub dialect: Arc<Dialect>,
    /// Whether a [`CallStart`](Event::CallStart) was reported for it.
    pub begun: bool,
    /// Its text, from where it began.
    pub text: String,
    /// What is wrong, and where.
    pub problem: Problem,
}

/// What is wrong with a call, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// The byte of the text at which it shows.
    pub at: u64,
    /// The tool that the call names, as far as that is known.
    pub tool: Option<String>,
    /// The parameter in which it shows, where the dialect has a tag for each.
    pub parameter: Option<String>,
}

impl Problem {
    /// What is wrong at this byte of the text, with a call whose tool is not known.
    #[must_use]
    pub fn new(kind: ProblemKind, at: u64) -> Self {
        Self { kind, at, tool: None, parameter: None }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tool) = &self.tool {
            write!(f, "tool {}", Plain(tool))?;
            if let Some(parameter) = &self.parameter {
                write!(f, ", parameter {}", Plain(parameter))?;
            }
            f.write_str(": ")?;
        }
        write!(f, "{} at byte {}", self.kind, self.at)
    }
}

/// A name in a message: in quotes if it is made as names are, else not quoted at all, since the model chose it.
struct Plain<'a>(&'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
        let is_plain = self.0.len() <= 64 && self.0.chars().all(is_name);
        if is_plain { write!(f, "{:?}", self.0) } else { f.write_str("of an odd name") }
    }
}

impl std::error::Error for Problem {}

/// What can be wrong with a call. None of these quotes the text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text ended inside the call.
    Truncated,
    /// The call is longer than the limit.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// What should be JSON (or a Python literal) is not.
    Malformed {
        /// What was expected instead.
        expected: &'static str,
    },
    /// The wrapper around the calls is missing.
    MissingWrapper,
    /// The wrapper's closing tag is missing.
    UnclosedWrapper,
    /// There is no call in the wrapper.
    MissingCall,
    /// The call has no name.
    MissingName,
    /// The call's closing tag is missing.
    UnclosedCall,
    /// A parameter has no name.
    MissingKey,
    /// A parameter was not closed; the place is where it opened.
    UnclosedParameter,
    /// The same key stands twice: readers disagree over which counts.
    RepeatedKey,
    /// A Python argument without a name: which parameter it means is not known.
    UnnamedArgument,
    /// The call holds the tags of another one: parsers disagree over where it ends and what is called.
    InnerCall,
    /// More payload follows where the call's closing tag belongs.
    MissingCloser,
    /// The begin of a marker stands directly before a reasoning tag: without the reasoning it could be a call.
    InterruptedMarker,
    /// The text goes on with something that nobody can tell: its block was over, or others came in between.
    UnknownPlace,
    /// The marker stands behind text that it makes a call of, to parsers that take the marker out first.
    BehindCall,
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the call is cut off"),
            Self::TooLong { limit } => write!(f, "expected at most {limit} bytes in a call, found more"),
            Self::Malformed { expected } => write!(f, "expected {expected}, found something else"),
            Self::MissingWrapper => {
                f.write_str("expected the wrapper's opening tag, found a call without it")
            }
            Self::UnclosedWrapper => f.write_str("expected the wrapper's closing tag, found something else"),
            Self::MissingCall => f.write_str("expected a call's opening tag, found something else"),
            Self::MissingName => f.write_str("expected the tool's name, found none"),
            Self::UnclosedCall => {
                f.write_str("expected a parameter or the call's closing tag, found something else")
            }
            Self::MissingKey => f.write_str("expected the parameter's name, found none"),
            Self::UnclosedParameter => f.write_str("expected the parameter's closing tag, found the end"),
            Self::RepeatedKey => f.write_str("expected each key once, found one twice"),
            Self::UnnamedArgument => f.write_str("expected a named argument, found one without a name"),
            Self::InnerCall => f.write_str("expected one call, found the tags of another inside of it"),
            Self::MissingCloser => f.write_str("expected the call's closing tag, found more payload"),
            Self::InterruptedMarker => {
                f.write_str("expected the rest of a call's marker, found a reasoning tag")
            }
            Self::UnknownPlace => f.write_str("expected the text of an open block, found more of one before"),
            Self::BehindCall => {
                f.write_str("expected no call before the marker, found text that the marker makes one of")
            }
        }
    }
}
