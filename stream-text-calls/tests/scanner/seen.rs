//! What a scanner reported, as text, and the laws that hold for every scan.

use stream_text_calls::{DialectSet, Event, ProblemKind, ScanOptions, Scanner};

/// One stretch of the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    Text(String),
    Markup(String),
    Call { dialect: String, name: String, id: Option<String>, arguments: String, raw: String },
    Think(String),
    Reasoning(String),
    Thought(String),
    Unparsed { raw: String, kind: ProblemKind, at: u64 },
}

pub(crate) fn text(text: &str) -> Seen {
    Seen::Text(text.to_owned())
}

pub(crate) fn markup(text: &str) -> Seen {
    Seen::Markup(text.to_owned())
}

pub(crate) fn call(dialect: &str, name: &str, arguments: &str, raw: &str) -> Seen {
    Seen::Call {
        dialect: dialect.to_owned(),
        name: name.to_owned(),
        id: None,
        arguments: arguments.to_owned(),
        raw: raw.to_owned(),
    }
}

pub(crate) fn call_with_id(dialect: &str, name: &str, id: &str, arguments: &str, raw: &str) -> Seen {
    match call(dialect, name, arguments, raw) {
        Seen::Call { dialect, name, arguments, raw, .. } => {
            Seen::Call { dialect, name, id: Some(id.to_owned()), arguments, raw }
        }
        other => other,
    }
}

pub(crate) fn unparsed(raw: &str, kind: ProblemKind, at: u64) -> Seen {
    Seen::Unparsed { raw: raw.to_owned(), kind, at }
}

/// Scans a text in these pieces. Every byte is reported once, in order (rule 8 of the text calls).
pub(crate) fn scan(set: &DialectSet, options: &ScanOptions, pieces: &[&str]) -> Vec<Seen> {
    let whole = pieces.concat();
    let mut scanner = Scanner::new(set, options.clone());
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(scanner.push(piece));
        assert_eq!(scanner.decided(), reached(&events));
    }
    events.extend(scanner.end());
    assert_eq!(reached(&events), whole.len() as u64);
    see(&whole, &events)
}

/// Scans a text whole, cut in two at every place, and character by character: the result is the same.
pub(crate) fn every_cut(set: &DialectSet, options: &ScanOptions, text: &str) -> Vec<Seen> {
    let seen = scan(set, options, &[text]);
    for (at, _) in text.char_indices() {
        let (head, tail) = text.split_at(at);
        assert_eq!(scan(set, options, &[head, tail]), seen, "cut at {at}: {head:?} | {tail:?}");
    }
    let characters: Vec<String> = text.chars().map(String::from).collect();
    let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
    assert_eq!(scan(set, options, &characters), seen, "one character at a time");
    seen
}

/// Checks that ranges follow each other without gap and overlap; the end of the last.
fn reached(events: &[Event]) -> u64 {
    let mut at = 0;
    for range in events.iter().filter_map(Event::range) {
        assert_eq!(range.start, at, "a gap or an overlap");
        at = range.end;
    }
    at
}

fn see(whole: &str, events: &[Event]) -> Vec<Seen> {
    let slice = |from: u64, to: u64| whole[from as usize..to as usize].to_owned();
    let mut seen: Vec<Seen> = Vec::new();
    let mut open = String::new();
    for event in events {
        let raw = event.range().map(|range| slice(range.start, range.end)).unwrap_or_default();
        match (event, seen.last_mut()) {
            (Event::Text(_), Some(Seen::Text(text))) => text.push_str(&raw),
            (Event::Text(_), _) => seen.push(Seen::Text(raw)),
            (Event::Reasoning(_), Some(Seen::Reasoning(text))) => text.push_str(&raw),
            (Event::Reasoning(_), _) => seen.push(Seen::Reasoning(raw)),
            (Event::ReasoningStart(_), _) => seen.push(Seen::Think(raw)),
            (Event::ReasoningEnd(_), _) => seen.push(Seen::Thought(raw)),
            (Event::Markup(_), _) => seen.push(Seen::Markup(raw)),
            (Event::CallStart(_), _) => open.clear(),
            (Event::CallText(_), _) => open.push_str(&raw),
            (Event::CallEnd(call), _) => {
                assert_eq!(call.raw(), open);
                assert_eq!(slice(call.range().start, call.range().end), open);
                assert_eq!(format!("{}{}{}", call.opener(), call.body(), call.closer()), open);
                seen.push(Seen::Call {
                    dialect: call.dialect().name().to_owned(),
                    name: call.name().to_owned(),
                    id: call.id().map(str::to_owned),
                    arguments: call.arguments().to_owned(),
                    raw: std::mem::take(&mut open),
                });
            }
            (Event::Unparsed(unparsed), _) => {
                let raw = if unparsed.begun { std::mem::take(&mut open) + &raw } else { raw };
                seen.push(Seen::Unparsed {
                    raw,
                    kind: unparsed.problem.kind.clone(),
                    at: unparsed.problem.at,
                });
            }
        }
    }
    seen
}
