//! What has left is never taken back.

use super::case::{Breach, Case, went_wrong};
use super::standing::Standing;
use crate::conformance::{ChoiceView, View, check as read};

/// After each output, the text of every channel is a prefix of what the policy makes of the whole text at once.
pub(super) fn check(case: &Case<'_>) -> Result<Standing, Breach> {
    let whole = case.merged().run();
    if whole.whole || went_wrong(&whole) {
        return Ok(Standing::Vacuous);
    }
    let result = whole.view();
    for run in [case.replay().run(), case.split().run()] {
        for end in case.points(run.output.len(), POINTS) {
            let so_far: Vec<u8> =
                run.output[..end].iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
            is_prefix(read(run.format, &so_far).view(), &result)?;
        }
    }
    let texts = |choice: &ChoiceView| {
        [&choice.content, &choice.reasoning, &choice.refusal, &choice.spoken].map(String::len)
    };
    let said: usize = result.choices.iter().flat_map(texts).sum();
    Ok(Standing::held_if(said > 0))
}

fn is_prefix(so_far: &View, result: &View) -> Result<(), Breach> {
    let none = ChoiceView::default();
    for choice in &so_far.choices {
        let result = result.choices.iter().find(|other| other.index == choice.index).unwrap_or(&none);
        for (channel, left, whole) in [
            ("content", &choice.content, &result.content),
            ("reasoning", &choice.reasoning, &result.reasoning),
            ("refusal", &choice.refusal, &result.refusal),
            ("transcript", &choice.spoken, &result.spoken),
        ] {
            if !whole.starts_with(left.as_str()) {
                return Breach::new(
                    format!("a prefix of the {channel} that the whole text gives, {whole:?}"),
                    format!("{left:?}"),
                );
            }
        }
    }
    Ok(())
}

/// How many points of a run are looked at.
const POINTS: usize = 8;
