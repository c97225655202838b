//! Whole answers.

use super::super::join::{Answered, Mode};
use super::super::json::{Object, Unreadable, array, joined, parsed, quote};
use super::is_call;
use super::said::Said;

pub(in super::super) fn extend_whole(
    request: &mut Object,
    answer: &str,
    answered: &[Answered],
) -> Result<(), Unreadable> {
    let mut said = Said::default();
    for block in Object::parse(answer)?.items("content") {
        said.whole(Object::parse(&block)?);
    }
    said.extend(request, answered)
}

pub(in super::super) fn whole(answers: &[&str], mode: Mode, closing: &str) -> Result<String, Unreadable> {
    let answers = parsed(answers)?;
    let mut joined = joined(&answers, &["id", "model"], "usage")?;
    let mut content = Vec::new();
    for (place, answer) in answers.iter().enumerate() {
        let strips = mode.strips_calls() || place + 1 < answers.len();
        for block in answer.items("content") {
            if !(strips && is_call(&Object::parse(&block)?)) {
                content.push(block);
            }
        }
    }
    if mode == Mode::Inner {
        joined.set("stop_reason", quote("max_tokens"));
        if content.is_empty() {
            content.push(format!(r#"{{"type":"text","text":{}}}"#, quote(closing)));
        }
    }
    joined.set("content", array(content));
    Ok(joined.to_string())
}
