//! Putting values into letters that nothing else is written in.

use serde_json::Value;
use stream_core::sse::Framer;

/// The text in canary letters. Spaces and what JSON is made of stay: the fold looks at them.
pub(crate) fn cage(text: &str) -> String {
    let letter = |letter: char| match letter {
        ' ' | '\t' | '\n' | '\r' | '{' | '}' | '[' | ']' | '"' | ':' | ',' | '\\' => letter,
        other => char::from_u32(FIRST + u32::from(other) % SPAN).unwrap(),
    };
    text.chars().map(letter).collect()
}

/// Where a canary stands, as itself or as an escape.
pub(crate) fn find(out: &str) -> Option<usize> {
    let letters = char::from_u32(FIRST).unwrap()..=char::from_u32(FIRST + SPAN).unwrap();
    let escaped = ["\\udb8", "\\uDB8"].into_iter().filter_map(|escape| out.find(escape)).min();
    out.find(|letter| letters.contains(&letter)).or(escaped)
}

/// Every string of a value in canary letters, keys of objects included.
pub(crate) fn cage_all(value: &mut Value) {
    match value {
        Value::String(text) => *text = cage(text),
        Value::Array(items) => items.iter_mut().for_each(cage_all),
        Value::Object(members) => {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(name, mut value)| {
                    cage_all(&mut value);
                    (cage(&name), value)
                })
                .collect();
        }
        _ => {}
    }
}

/// As [`cage_all`], for the named members of an object; what is null stays so.
pub(crate) fn cage_members(object: &mut Value, names: &[&str]) {
    for name in names {
        if let Some(value) = object.get_mut(name) {
            cage_all(value);
        }
    }
}

/// The stream with every event's JSON changed; all else as it came. What is no JSON stays.
pub(crate) fn rewrite(body: &[u8], mut change: impl FnMut(&mut Value)) -> Vec<u8> {
    assert_eq!(find(&String::from_utf8_lossy(body)), None, "a recording with letters of private use");
    let mut framer = Framer::new(usize::MAX);
    framer.push(body);
    let mut out = Vec::new();
    while let Some(frame) = framer.next_frame().ok().flatten().or_else(|| framer.finish()) {
        let value = frame.data_bytes().and_then(|data| serde_json::from_slice::<Value>(data).ok());
        let Some(mut value) = value.filter(|_| !frame.is_stray()) else {
            out.extend_from_slice(frame.raw());
            continue;
        };
        change(&mut value);
        if let Some(event) = frame.event() {
            out.extend_from_slice(format!("event: {event}\n").as_bytes());
        }
        out.extend_from_slice(format!("data: {value}\n\n").as_bytes());
    }
    out
}

/// In the second private plane: one model writes its citations in the first area of that kind.
const FIRST: u32 = 0xF_0000;
const SPAN: u32 = 0x1000;
