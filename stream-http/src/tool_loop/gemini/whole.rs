//! Whole answers, and the JSON array in which a stream without `alt=sse` comes.

use bytes::Bytes;
use stream_core::sse::Frame;

use super::super::join::{Answered, Join as _, Mode, Style};
use super::super::json::{Object, Unreadable, array, items, joined, parsed, quote};
use super::join::{Joiner, USAGE};
use super::said::Said;
use super::{candidate, is_call, text};

pub(in super::super) fn extend_whole(
    request: &mut Object,
    answer: &str,
    answered: &[Answered],
) -> Result<(), Unreadable> {
    let mut said = Said::default();
    for chunk in chunks(answer) {
        let content = candidate(&Object::parse(&chunk)?).and_then(|candidate| candidate.object("content"));
        for part in content.iter().flat_map(|content| content.items("parts")) {
            said.add(Object::parse(&part)?);
        }
    }
    said.extend(request, answered);
    Ok(())
}

pub(in super::super) fn whole(
    answers: &[&str],
    mode: Mode,
    style: &Style,
    closing: &str,
) -> Result<String, Unreadable> {
    if answers.iter().any(|answer| answer.trim_start().starts_with('[')) {
        return stream(answers, mode, style, closing);
    }
    let answers = parsed(answers)?;
    let mut joined = joined(&answers, &["modelVersion", "responseId"], USAGE)?;
    let mut parts = Vec::new();
    let mut has_text = false;
    for (place, answer) in answers.iter().enumerate() {
        let strips = mode.strips_calls() || place + 1 < answers.len();
        let mut separated = !has_text;
        let content = candidate(answer).and_then(|candidate| candidate.object("content"));
        for part in content.iter().flat_map(|content| content.items("parts")) {
            let mut part = Object::parse(&part)?;
            if strips && is_call(&part) {
                continue;
            }
            if let Some(text) = text(&part) {
                if !std::mem::replace(&mut separated, true) {
                    part.set("text", quote(&format!("{}{text}", style.separator)));
                }
                has_text = true;
            }
            parts.push(part.to_string());
        }
    }
    // A prompt that was blocked has no candidate, and stays so.
    if let Some(mut candidate) = candidate(&joined) {
        if mode == Mode::Inner {
            candidate.set("finishReason", quote("MAX_TOKENS"));
            if parts.is_empty() {
                parts.push(format!(r#"{{"text":{}}}"#, quote(closing)));
            }
        }
        let mut content = candidate.object("content").unwrap_or_default();
        content.set("parts", array(parts));
        content.set("role", quote("model"));
        candidate.set("content", content.to_string());
        joined.set("candidates", array([candidate.to_string()]));
    }
    Ok(joined.to_string())
}

/// A stream that comes as one array leaves as one.
fn stream(answers: &[&str], mode: Mode, style: &Style, closing: &str) -> Result<String, Unreadable> {
    let mut joiner = Joiner::new(style.clone());
    let mut out = Vec::new();
    for (place, answer) in answers.iter().enumerate() {
        if place > 0 {
            joiner.next();
        }
        let mode = if place + 1 < answers.len() { Mode::Inner } else { mode };
        let frames: Vec<Frame> =
            chunks(answer).into_iter().map(|chunk| Frame::whole(Bytes::from(chunk))).collect();
        for frame in &frames {
            joiner.read(frame)?;
        }
        for frame in &frames {
            joiner.write(frame, mode, &mut out)?;
        }
    }
    if mode == Mode::Inner {
        if !joiner.has_text() {
            joiner.say(closing, &mut out);
        }
        joiner.stop(&mut out);
    }
    let chunks = out.iter().filter_map(|event| {
        let text = std::str::from_utf8(event).ok()?;
        Some(text.strip_prefix("data: ").unwrap_or(text).trim().to_owned())
    });
    Ok(array(chunks.collect::<Vec<_>>()))
}

/// The answers that a body holds.
fn chunks(answer: &str) -> Vec<String> {
    if answer.trim_start().starts_with('[') {
        items(answer).unwrap_or_default()
    } else {
        vec![answer.to_owned()]
    }
}
