//! Whole answers.

use super::super::join::{Answered, Mode, Style, append};
use super::super::json::{Object, Unreadable, array, joined, parsed, quote};
use super::said::Said;

pub(in super::super) fn extend_whole(
    request: &mut Object,
    answer: &str,
    answered: &[Answered],
) -> Result<(), Unreadable> {
    let mut said = Said::default();
    said.add(&message(&Object::parse(answer)?)?.1);
    append(request, "messages", said.messages(answered));
    Ok(())
}

pub(in super::super) fn whole(
    answers: &[&str],
    mode: Mode,
    style: &Style,
    closing: &str,
) -> Result<String, Unreadable> {
    let answers = parsed(answers)?;
    let mut joined = joined(&answers, &["id", "created", "model"], "usage")?;
    let (mut choice, mut message_) = message(&joined)?;
    if mode.strips_calls() {
        message_.remove("tool_calls");
        message_.remove("function_call");
    }
    for field in ["content", "reasoning_content", "reasoning", "refusal"] {
        let separator = if field == "content" { style.separator.as_str() } else { "" };
        let mut texts = Vec::new();
        for answer in &answers {
            let mut said = Said::default();
            said.add(&message(answer)?.1);
            texts.push(said.text(field).to_owned());
        }
        texts.retain(|text| !text.is_empty());
        let nothing = field == "content" && texts.is_empty() && mode == Mode::Inner;
        if nothing {
            texts.push(closing.to_owned());
        }
        if answers.len() > 1 && !texts.is_empty() || nothing {
            message_.set(field, quote(&texts.join(separator)));
        }
    }
    if mode == Mode::Inner {
        choice.set("finish_reason", quote("length"));
    }
    if answers.len() > 1 {
        // They would be those of the last text alone.
        choice.replace("logprobs", "null");
    }
    choice.set("message", message_.to_string());
    joined.set("choices", array([choice.to_string()]));
    Ok(joined.to_string())
}

/// The choice of an answer, and its message.
fn message(answer: &Object) -> Result<(Object, Object), Unreadable> {
    let choice = Object::parse(answer.items("choices").first().ok_or(Unreadable)?)?;
    let message = choice.object("message").ok_or(Unreadable)?;
    Ok((choice, message))
}
