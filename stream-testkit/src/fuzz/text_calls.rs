//! Calls written as text.

use std::sync::LazyLock;

use stream_core::Tool;
use stream_core::text_calls::{DialectSet, Event, ScanOptions, Scanner, known};

use super::plan::split;

/// The events of a text do not depend on the cut, every byte is reported once and in order, and a call is the text it was
/// read from.
///
/// # Panics
///
/// When one of these is not so.
pub fn text_calls(data: &[u8]) {
    let (mut plan, text) = split(data);
    let text = String::from_utf8_lossy(text);
    // A seed's `#` is all dialects at once, however many there are.
    let set = &SETS[(plan.number() + 256 * SETS.len() - usize::from(b'#')) % SETS.len()];
    let options = &OPTIONS[plan.below(OPTIONS.len())];
    let whole = scan(set, options, &text, [&*text]);
    assert_eq!(scan(set, options, &text, plan.cut_text(&text)), whole, "cut as planned");
    let ends = text.char_indices().map(|(at, letter)| &text[at..at + letter.len_utf8()]);
    assert_eq!(scan(set, options, &text, ends), whole, "cut after each character");
}

static OPTIONS: LazyLock<[ScanOptions; 3]> = LazyLock::new(|| {
    [
        ScanOptions::strict(),
        ScanOptions::new().unknown_names(true),
        ScanOptions::new().tools(&[Tool::new("ls"), Tool::new("rm")]),
    ]
});

/// A dialect each, and all of them at once with tags for reasoning.
static SETS: LazyLock<Vec<DialectSet>> = LazyLock::new(|| {
    let all = known::all().into_iter().fold(DialectSet::new(), DialectSet::with);
    let each = known::all().into_iter().map(|dialect| DialectSet::new().with(dialect));
    std::iter::once(all.reasoning("<think>", "</think>")).chain(each).collect()
});

/// What a stretch of the text is, its bytes, and what was read from it.
type Stretch = (&'static str, String, String);

fn scan<'a>(
    set: &DialectSet,
    options: &ScanOptions,
    text: &str,
    pieces: impl IntoIterator<Item = &'a str>,
) -> Vec<Stretch> {
    let mut scanner = Scanner::new(set, options.clone());
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(scanner.push(piece));
    }
    events.extend(scanner.end());
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut at = 0;
    for event in &events {
        let mut raw = "";
        if let Some(range) = event.range() {
            let [start, end] =
                [range.start, range.end].map(|at| usize::try_from(at).expect("a text in memory"));
            assert_eq!(start, at, "ranges follow each other");
            at = end;
            raw = &text[start..end];
        }
        let (kind, read) = describe(event);
        // How much of a call has been reported when it turns out to be none depends on the cut.
        let begun = matches!(event, Event::Unparsed(unparsed) if unparsed.begun);
        if let Some((_, call, _)) = stretches.pop_if(|last| begun && last.0 == "call") {
            stretches.push((kind, call + raw, read));
            continue;
        }
        match stretches.last_mut().filter(|last| is_joined(event) && last.0 == kind) {
            Some(last) => last.1.push_str(raw),
            None => stretches.push((kind, raw.to_owned(), read)),
        }
        if let (Event::CallEnd(call), [.., (_, written, _), _]) = (event, &stretches[..]) {
            assert_eq!(call.raw(), written, "a call is the text it was read from");
        }
    }
    assert_eq!(at, text.len(), "the whole text is reported");
    stretches
}

/// Whether events of this kind come in as many pieces as the text does.
fn is_joined(event: &Event) -> bool {
    matches!(event, Event::Text(_) | Event::CallText(_) | Event::Reasoning(_))
}

fn describe(event: &Event) -> (&'static str, String) {
    match event {
        Event::Text(_) => ("text", String::new()),
        Event::Markup(markup) => ("markup", format!("{} {:?}", markup.section, markup.role)),
        Event::CallStart(start) => ("start", format!("{} {:?} {:?}", start.name, start.id, start.section)),
        Event::CallText(_) => ("call", String::new()),
        Event::CallEnd(call) => ("end", format!("{} {:?} {}", call.name(), call.id(), call.arguments())),
        Event::ReasoningStart(_) => ("think", String::new()),
        Event::Reasoning(_) => ("reasoning", String::new()),
        Event::ReasoningEnd(_) => ("thought", String::new()),
        Event::Unparsed(unparsed) => ("unparsed", format!("{:?}", unparsed.problem)),
    }
}
