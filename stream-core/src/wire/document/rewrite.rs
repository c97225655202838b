//! Rewriting a document at the spans of its values.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::{Of, Spans, Value};
use crate::delta::Span;

/// The document with the changes of `change`. Without a change the text itself is returned, as is a text that cannot be read.
pub(crate) fn rewrite(
    text: &str,
    of: Of,
    change: impl for<'d> FnOnce(Value<'d>, &mut Rewrite<'d>),
) -> Cow<'_, str> {
    let mut spans = Spans::default();
    let Ok(document) = spans.read(text, of) else { return Cow::Borrowed(text) };
    let mut rewrite = Rewrite::new(document);
    change(document, &mut rewrite);
    match rewrite.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(rewrite.finish()),
    }
}

/// Changes to a document: values that are replaced, and members or items that are cut out. All other bytes are copied unchanged; a cut
/// removes exactly one comma.
#[derive(Debug)]
pub(crate) struct Rewrite<'d> {
    document: Value<'d>,
    splices: Vec<(Span, String)>,
    cuts: Vec<usize>,
}

impl<'d> Rewrite<'d> {
    /// An empty set of changes to the document with this root.
    pub(crate) fn new(document: Value<'d>) -> Self {
        Self { document, splices: Vec::new(), cuts: Vec::new() }
    }

    /// Replaces a value with raw JSON.
    pub(crate) fn set(&mut self, value: Value<'d>, raw: impl Into<String>) {
        self.splices.push((value.span(), raw.into()));
    }

    /// Cuts out a member, with its key, or an item.
    pub(crate) fn cut(&mut self, value: Value<'d>) {
        self.cuts.push(value.place());
    }

    /// Cuts out the members of a known object with one of these names.
    pub(crate) fn cut_members(&mut self, object: Value<'d>, names: impl Fn(&str) -> bool) {
        for (_, member) in object.members().filter(|(name, _)| names(name)) {
            self.cut(member);
        }
    }

    /// Whether nothing is changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.splices.is_empty() && self.cuts.is_empty()
    }

    /// The changed document. A change within a value that is cut out or replaced has no effect.
    pub(crate) fn finish(mut self) -> String {
        self.cuts.sort_unstable();
        self.cuts.dedup();
        if !self.cuts.is_empty() {
            self.cut_within(self.document);
        }
        let text = self.document.text_of_document();
        spliced(text, Span::new(0, text.len()), self.splices)
    }

    fn cut_within(&mut self, container: Value<'d>) {
        let within: Vec<Value<'d>> = container.within().collect();
        let is_cut = |value: &Value<'d>| self.cuts.binary_search(&value.place()).is_ok();
        let kept = within.iter().position(|value| !is_cut(value));
        let mut gaps = Vec::new();
        for (at, value) in within.iter().enumerate().filter(|(_, value)| is_cut(value)) {
            let own = value.member_span();
            gaps.push(match kept {
                // Before the first value that is kept, a cut takes the comma behind it; after that value, the comma before it.
                Some(kept) if at < kept => Span::new(own.start(), within[at + 1].member_span().start()),
                Some(_) => Span::new(within[at - 1].member_span().end(), own.end()),
                None if at + 1 < within.len() => Span::new(own.start(), within[at + 1].member_span().start()),
                None => own,
            });
        }
        self.splices.extend(gaps.into_iter().map(|gap| (gap, String::new())));
        for value in within {
            self.cut_within(value);
        }
    }
}

/// The text of a span, with splices within it; of splices that overlap, the one that starts first counts.
pub(crate) fn spliced(text: &str, within: Span, mut splices: Vec<(Span, String)>) -> String {
    splices.sort_by_key(|(span, _)| (span.start(), Reverse(span.end())));
    let mut changed = String::with_capacity(within.end() - within.start() + 16);
    let mut done = within.start();
    for (span, new) in splices.iter().filter(|(span, _)| span.end() <= within.end()) {
        if span.start() >= done {
            changed.push_str(&text[done..span.start()]);
            changed.push_str(new);
            done = span.end();
        }
    }
    changed.push_str(&text[done..within.end()]);
    changed
}
