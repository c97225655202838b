//! A dialect made ready for the scanner: every way in, the ways on, and the ways out.

use std::sync::Arc;

use crate::dialect::{Array, Body, Dialect, Parameters};
use crate::tagged::behind;
use crate::template::{Piece, Template, literal};

/// What the scanner looks for, for one dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) dialect: Arc<Dialect>,
    pub(crate) openers: Vec<Opener>,
    /// The next call in a wrapper, or in a list.
    next: [Vec<Template>; 2],
    /// The end of the wrapper, or of the list and the wrapper around it.
    close: [Vec<Template>; 2],
    /// What may stand behind a body: the call's closer.
    pub(crate) tail: Template,
    /// Tagged parameters and the closer, each behind white space.
    pub(crate) parameters: Parameters,
    pub(crate) closer: Template,
    /// What a parser by pattern takes for the name and the arguments of a JSON call: the first that stands in it.
    pub(crate) keys: [Template; 2],
    /// What ends the region that a marker opens; empty where nothing does.
    pub(crate) leave: Template,
}

/// One way into a dialect: everything up to the body of the first call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opener {
    pub(crate) template: Template,
    pub(crate) kind: Kind,
    pub(crate) mark: Mark,
}

/// What shows that a call begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The tags before it, or, without any, that it is whole.
    Own,
    /// A marker of its dialect that stands before it, with other words in between: parsers look behind the marker by
    /// pattern. An object with a name is a call there.
    Region,
    /// The same, for what is no call and read as one, and whether it stands directly behind a word.
    Pattern { behind_word: bool },
}

/// What a call stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing: the call stands alone.
    Alone,
    /// A wrapper.
    Wrapped,
    /// A list, with or without a wrapper.
    Listed,
}

impl Opener {
    /// The bytes it can begin with. A JSON object is its own marker where there is no other.
    pub(crate) fn first_bytes(&self) -> Vec<u8> {
        if self.template.is_empty() { vec![b'{'] } else { self.template.first_bytes() }
    }
}

impl Plan {
    pub(crate) fn new(dialect: Dialect) -> Self {
        let space = dialect.space();
        let list = Template::new("{~}[{~}");
        let mut openers = Vec::new();
        let wrappers = [
            dialect.wrapper.clone().map(|wrapper| wrapper.then(&space)),
            (dialect.wrapper.is_none() || dialect.wrapper_optional).then(Template::default),
        ];
        // Tags around each call may stand around a list of calls that have none of their own.
        let tags_hold_lists = dialect.tags_hold_lists();
        for wrapper in wrappers.into_iter().flatten() {
            for call in &dialect.calls {
                let kind = if wrapper.is_empty() { Kind::Alone } else { Kind::Wrapped };
                // A marker tells by itself that calls follow: brackets around them may be missing.
                let is_marked = !wrapper.is_empty() && matches!(dialect.body, Body::Object(_));
                if dialect.array != Array::Always || is_marked {
                    let template = wrapper.clone().ends_lead().then(call);
                    openers.push(Opener { template, kind, mark: Mark::Own });
                }
                if tags_hold_lists {
                    let template = call.clone().then(&list).ends_lead();
                    openers.push(Opener { template, kind: Kind::Listed, mark: Mark::Own });
                } else if dialect.array != Array::Never {
                    // Without a wrapper the bracket itself is the marker.
                    let open = if wrapper.is_empty() { Template::new("[{~}") } else { list.clone() };
                    let template = wrapper.clone().then(&open).ends_lead().then(call);
                    openers.push(Opener { template, kind: Kind::Listed, mark: Mark::Own });
                }
            }
        }
        openers.extend(in_region(&dialect));
        let closers: Vec<String> = dialect.call_close.iter().chain(&dialect.wrapper_close).cloned().collect();
        let next = |between: &Template| {
            dialect.calls.iter().map(|call| between.clone().ends_lead().then(call)).collect()
        };
        let between = match &dialect.separator {
            Some(separator) => Template::new(&format!("{{~}}{{{separator}?}}{{~}}")),
            None if dialect.xml => space.clone(),
            None => Template::new("{~}{,?}{~}"),
        };
        // A comma that is missing does not hide the call behind it.
        let comma = Template::new("{~}{,?}{~}");
        let listed = if tags_hold_lists { vec![comma.ends_lead()] } else { next(&comma) };
        let tags_end = if tags_hold_lists { &dialect.call_close } else { &dialect.wrapper_close };
        let end = Template::optional_end(tags_end);
        let closes = dialect.wrapper_close.iter().map(|close| space.clone().then(&dialect.tag(close)));
        let (parameters, closer) = match &dialect.body {
            Body::Parameters(parameters) => (
                Parameters { next: behind(&space, &parameters.open), ..parameters.clone() },
                dialect
                    .call_close
                    .first()
                    .map(|close| behind(&space, &dialect.tag(close)))
                    .unwrap_or_default(),
            ),
            _ => (Parameters::default(), Template::default()),
        };
        Self {
            openers,
            next: [next(&between), listed],
            close: [closes.collect(), vec![Template::new("{~}]").then(&end)]],
            tail: Template::optional_end(&dialect.call_close),
            parameters,
            closer,
            keys: match &dialect.body {
                Body::Object(fields) if has_tags(&dialect) && !fields.name_is_key => {
                    [key(&fields.name), key(&fields.arguments)]
                }
                _ => Default::default(),
            },
            // Who takes the marker out knows no end of what it opens.
            leave: match closers.is_empty() || dialect.marks_all {
                true => Template::default(),
                false => Template::of(vec![literal(closers)]),
            },
            dialect: Arc::new(dialect),
        }
    }

    /// Whether a marker of this dialect opens a region.
    pub(crate) fn has_region(&self) -> bool {
        self.openers.iter().any(|opener| opener.mark != Mark::Own)
    }

    pub(crate) fn next(&self, kind: Kind) -> &[Template] {
        &self.next[usize::from(kind == Kind::Listed)]
    }

    pub(crate) fn close(&self, kind: Kind) -> &[Template] {
        &self.close[usize::from(kind == Kind::Listed)]
    }
}

/// Whether calls have a marker of their own.
fn has_tags(dialect: &Dialect) -> bool {
    !dialect.only_whole && (dialect.wrapper.is_some() || dialect.calls.iter().all(|call| !call.is_empty()))
}

fn space() -> Piece {
    Piece::Space { required: false, written: ' ' }
}

/// One of these keys in a JSON object.
fn key(names: &[String]) -> Template {
    let names = names.iter().map(|name| format!("\"{name}\""));
    Template::of(vec![literal(names), space(), literal([":"]), space()])
}

/// Calls behind a marker and other words.
fn in_region(dialect: &Dialect) -> Vec<Opener> {
    match &dialect.body {
        _ if !has_tags(dialect) => Vec::new(),
        Body::Object(fields) if !fields.name_is_key => {
            let name = key(&fields.name).then(&Template::new("\""));
            let list = Template::new("[{~}").ends_lead();
            vec![
                Opener { template: Template::default(), kind: Kind::Alone, mark: Mark::Region },
                Opener { template: list, kind: Kind::Listed, mark: Mark::Region },
                Opener { template: name, kind: Kind::Alone, mark: Mark::Pattern { behind_word: false } },
            ]
        }
        Body::Arguments if dialect.calls.iter().any(Template::is_open_ended) => {
            let object = vec![literal(["{"]), space(), literal(["\"", "}"])];
            let mark = Mark::Pattern { behind_word: true };
            vec![Opener { template: Template::of(object), kind: Kind::Alone, mark }]
        }
        _ => Vec::new(),
    }
}
