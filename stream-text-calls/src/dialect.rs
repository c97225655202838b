//! What a dialect is: data, from which one scanner reads them all.

use std::borrow::Cow;

use crate::template::{Piece, Template};

/// How a model writes tool calls into its text.
///
/// ```
/// use stream_text_calls::{Dialect, DialectSet, Event, ScanOptions, Scanner};
///
/// let mine = Dialect::tagged("mine").call("<do {name}>", "</do>").parameter("<with {key}>", "</with>");
/// let mut scanner = Scanner::new(&DialectSet::new().with(mine), ScanOptions::new());
/// let text = "Sure. <do search><with query>rust</with></do>";
/// let call = scanner.push(text).find_map(|event| match event {
///     Event::CallEnd(call) => Some(call),
///     _ => None,
/// });
/// assert_eq!(call.unwrap().arguments(), r#"{"query":"rust"}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Dialect {
    pub(crate) name: Cow<'static, str>,
    pub(crate) wrapper: Option<Template>,
    pub(crate) wrapper_close: Vec<String>,
    pub(crate) wrapper_optional: bool,
    pub(crate) calls: Vec<Template>,
    pub(crate) call_close: Vec<String>,
    pub(crate) body: Body,
    pub(crate) array: Array,
    pub(crate) separator: Option<String>,
    pub(crate) only_whole: bool,
    /// Tags and values are XML.
    pub(crate) xml: bool,
    /// Its marker, wherever it stands, makes calls of what stands before and behind it.
    pub(crate) marks_all: bool,
    /// It counts only where every reading does.
    pub(crate) guarded: bool,
    /// Other readings of some parsers, which count only where every reading does.
    pub(crate) beside: Vec<Dialect>,
}

/// What stands inside a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// One JSON object that holds name and arguments.
    Object(Fields),
    /// The arguments as JSON; the name stands before.
    Arguments,
    /// Tagged parameters; the name stands before.
    Parameters(Parameters),
    /// Keyword arguments of a Python call.
    Python,
    /// An object with bare keys and quotes of its own.
    Loose { quote: String },
}

/// Which keys of a JSON object hold what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) name: Vec<String>,
    pub(crate) arguments: Vec<String>,
    pub(crate) id: Vec<String>,
    /// The only key *is* the name, and its value the arguments.
    pub(crate) name_is_key: bool,
}

/// How tagged parameters are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Parameters {
    pub(crate) open: Template,
    pub(crate) close: Template,
    /// One new line after the opener and one before the closer belong to the tags.
    pub(crate) framed: bool,
    /// Behind white space, where the next parameter is looked for.
    pub(crate) next: Template,
}

/// Whether calls stand in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Array {
    Never,
    Always,
    Either,
}

impl Dialect {
    /// Calls are JSON objects with the keys `name` and `arguments` (or `parameters`).
    pub fn json(name: impl Into<Cow<'static, str>>) -> Self {
        let strings = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        Self::new(
            name,
            Body::Object(Fields {
                name: strings(&["name"]),
                arguments: strings(&["arguments", "parameters"]),
                id: strings(&["id", "tool_call_id"]),
                name_is_key: false,
            }),
        )
    }

    /// The name stands in the tag, and only the arguments are JSON.
    pub fn json_arguments(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Body::Arguments)
    }

    /// The name stands in the tag, and each argument has a tag of its own; see [`parameter`](Self::parameter).
    pub fn tagged(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Body::Parameters(Parameters::default()))
    }

    /// As [`tagged`](Self::tagged), with tags and values as an XML parser reads them: `<invoke name={name}>` is found with its
    /// attributes in any order, with any spacing and quotes, beside others, and closed by `/>`; comments are passed over; in
    /// names and values references are decoded and CDATA sections are what they hold. A value ends where its element does,
    /// so that one that holds such calls itself is not cut short. What is no XML in a value (`a < b && c`) stands for
    /// itself.
    pub fn xml(name: impl Into<Cow<'static, str>>) -> Self {
        Self { xml: true, ..Self::tagged(name) }
    }

    /// Calls are written as in Python: `search(query="rust", limit=3)`.
    pub fn python(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Body::Python)
    }

    /// The name stands in the tag; the arguments are an object with bare keys, whose strings stand between `quote`s
    /// (Gemma).
    pub fn loose(name: impl Into<Cow<'static, str>>, quote: &str) -> Self {
        Self::new(name, Body::Loose { quote: quote.to_owned() })
    }

    /// The tags around each call. `open` is a [pattern](Template); where it holds the name, it has a `{name}`. Of several
    /// `close`, separated by `{or}`, any will do. White space around what is inside belongs to the call.
    pub fn call(mut self, open: &str, close: &str) -> Self {
        self.calls = vec![self.tag(open)];
        self.call_close = alternatives(close);
        self
    }

    /// Another opening of a call, beside the one before.
    pub fn also_call(mut self, open: &str) -> Self {
        self.calls.push(self.tag(open));
        self
    }

    /// The tags around one or more calls; `close` may be empty where there is none.
    pub fn wrapper(mut self, open: &str, close: &str) -> Self {
        self.wrapper = Some(self.tag(open));
        self.wrapper_close = alternatives(close);
        self
    }

    /// Calls count also without their wrapper, which models forget.
    pub fn wrapper_optional(mut self) -> Self {
        self.wrapper_optional = true;
        self
    }

    /// The tags around each tagged parameter: `open` has a `{key}`.
    pub fn parameter(mut self, open: &str, close: &str) -> Self {
        let (open, close) = (self.tag(open), self.tag(close));
        if let Body::Parameters(parameters) = &mut self.body {
            (parameters.open, parameters.close) = (open, close);
        }
        self
    }

    /// One new line behind a parameter's opener, and one before its closer, belong to the tags.
    pub fn framed_values(mut self) -> Self {
        if let Body::Parameters(parameters) = &mut self.body {
            parameters.framed = true;
        }
        self
    }

    /// The keys of a JSON call.
    pub fn fields(mut self, name: &str, arguments: &str) -> Self {
        if let Body::Object(fields) = &mut self.body {
            fields.name = vec![name.to_owned()];
            fields.arguments = vec![arguments.to_owned()];
        }
        self
    }

    /// A JSON call has one key, which is its name.
    pub fn name_is_key(mut self) -> Self {
        if let Body::Object(fields) = &mut self.body {
            fields.name_is_key = true;
        }
        self
    }

    /// Calls stand in a list, in brackets; behind a wrapper's opener a single call without brackets counts, too.
    pub fn array(mut self) -> Self {
        self.array = Array::Always;
        self
    }

    /// Calls may stand in a list, inside of the wrapper or, where there is none, inside of the tags of one call.
    pub fn maybe_array(mut self) -> Self {
        self.array = Array::Either;
        self
    }

    /// What may stand between two calls of one wrapper, besides white space.
    pub fn separator(mut self, separator: &str) -> Self {
        self.separator = Some(separator.to_owned());
        self
    }

    /// A call counts only when it is whole and its tool was offered: for what looks like any other text until its end
    /// (bare JSON). It begins a line. Until its end it is held.
    pub fn only_whole(mut self) -> Self {
        self.only_whole = true;
        self
    }

    /// Some parser takes the marker out, wherever it stands, and looks for calls in all of the text.
    pub(crate) fn marks_all(mut self) -> Self {
        self.marks_all = true;
        self
    }

    /// Some parser takes this for a call as well: it counts where every reading does.
    pub(crate) fn beside(mut self, other: Self) -> Self {
        self.beside.push(Self { guarded: true, ..other });
        self
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the name of a call stands inside of its tags.
    pub(crate) fn names_in_body(&self) -> bool {
        matches!(self.body, Body::Object(_))
    }

    /// Whether a JSON object by itself is a call.
    pub(crate) fn is_bare(&self) -> bool {
        let is_plain = self.wrapper.is_none() && self.array == Array::Never;
        is_plain && self.only_whole && self.names_in_body() && self.calls.iter().all(Template::is_empty)
    }

    /// A pattern of this dialect.
    pub(crate) fn tag(&self, pattern: &str) -> Template {
        if self.xml { Template::xml(pattern) } else { Template::new(pattern) }
    }

    /// Every tag of this dialect, the wrapper's included.
    pub(crate) fn tags(&self) -> impl Iterator<Item = Template> + '_ {
        let closers = self.call_close.iter().chain(&self.wrapper_close).map(|close| self.tag(close));
        let parameters = match &self.body {
            Body::Parameters(parameters) => vec![parameters.open.clone(), parameters.close.clone()],
            _ => Vec::new(),
        };
        let openers = self.wrapper.iter().chain(&self.calls).cloned();
        openers.chain(closers).chain(parameters)
    }

    /// What may stand between two tags.
    pub(crate) fn space(&self) -> Template {
        if self.xml { Template::of(vec![Piece::Filler]) } else { Template::new("{~}") }
    }

    /// Whether the tags around one call may hold a list of calls instead.
    pub(crate) fn tags_hold_lists(&self) -> bool {
        let is_tagged = self.wrapper.is_none() && self.calls.iter().all(|call| !call.is_empty());
        self.array == Array::Either && is_tagged && self.names_in_body()
    }

    fn new(name: impl Into<Cow<'static, str>>, body: Body) -> Self {
        Self {
            name: name.into(),
            wrapper: None,
            wrapper_close: Vec::new(),
            wrapper_optional: false,
            calls: vec![Template::default()],
            call_close: Vec::new(),
            body,
            array: Array::Never,
            separator: None,
            only_whole: false,
            xml: false,
            marks_all: false,
            guarded: false,
            beside: Vec::new(),
        }
    }
}

fn alternatives(close: &str) -> Vec<String> {
    close.split("{or}").filter(|text| !text.is_empty()).map(str::to_owned).collect()
}
