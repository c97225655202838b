//! Whole answers.

use std::collections::HashSet;

use super::super::join::{Answered, Mode, Style};
use super::super::json::{Object, Unreadable, array, parsed, quote, sum_of};
use super::{hide, is_call, made, request, whole_of_all};

pub(in super::super) fn extend_whole(
    request: &mut Object,
    answer: &str,
    answered: &[Answered],
) -> Result<(), Unreadable> {
    request::extend(request, &Object::parse(answer)?.items("output"), answered)
}

pub(in super::super) fn whole(
    answers: &[&str],
    mode: Mode,
    style: &Style,
    closing: &str,
) -> Result<String, Unreadable> {
    let answers = parsed(answers)?;
    let (Some(first), Some(last)) = (answers.first(), answers.last()) else { return Err(Unreadable) };
    let mut joined = last.clone();
    let usage = sum_of(&answers, "usage");
    if answers.len() > 1 {
        whole_of_all(&mut joined, first, &usage, style);
    }
    hide(&mut joined, style);
    let mut output = Vec::new();
    let mut ids = HashSet::new();
    for (place, answer) in answers.iter().enumerate() {
        let strips = mode.strips_calls() || place + 1 < answers.len();
        let items: Vec<Object> =
            answer.items("output").iter().map(|item| Object::parse(item)).collect::<Result<_, _>>()?;
        for mut item in items.iter().filter(|item| !(strips && is_call(item))).cloned() {
            // An upstream that counts from the start in each answer gives ids twice.
            if let Some(id) = item.text("id").filter(|id| ids.contains(id)) {
                item.set("id", quote(&format!("{id}_{place}")));
            }
            output.push(item.to_string());
        }
        ids.extend(items.iter().filter_map(|item| item.text("id")));
    }
    if mode == Mode::Inner {
        joined.set("status", quote("incomplete"));
        joined.set("incomplete_details", r#"{"reason":"max_output_tokens"}"#);
        if output.is_empty() {
            output.push(made::message(0, "completed", closing));
        }
    }
    joined.set("output", array(output));
    Ok(joined.to_string())
}
