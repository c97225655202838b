//! What nobody dropped has left.

use stream_core::{Action, BlockKey, Cause};

use super::case::{Breach, Case, did, went_wrong};
use super::standing::Standing;
use super::story::{Story, Told};
use crate::conformance::{CallView, ChoiceView, View};
use crate::replay::Replayed;

/// What a client reads in a valid stream is what the blocks say. At a finished stream nothing is left to be dropped for want of a decision; and where no drop was recorded, every
/// block that was not edited has left.
pub(super) fn check(case: &Case<'_>) -> Result<Standing, Breach> {
    let run = case.replay().run();
    if run.whole || went_wrong(&run) || did(&run, Action::Terminated) {
        return Ok(Standing::Vacuous);
    }
    let story = Story::of_run(&run, case.config);
    story.is_read_as_folded()?;
    if !story.finished {
        return Ok(Standing::Vacuous);
    }
    if let Some(forgotten) = run.decisions.iter().find(|decision| {
        decision.action == Action::Dropped && decision.cause == Cause::StreamEnded && decision.block.is_some()
    }) {
        let block = forgotten.block.map(|key| key.to_string()).unwrap_or_default();
        return Breach::new(
            "a decision over everything held before a finished stream ends",
            format!("{} bytes of block {block} still held", forgotten.bytes),
        );
    }
    if did(&run, Action::Dropped) {
        return Ok(Standing::Held);
    }
    let (before, after) = (case.input(&run).view().clone(), run.view());
    if !did(&run, Action::Edited) && story.blocks.iter().all(|told| !told.is_written) {
        channels(&before, &after)?;
    }
    texts(&run, &story, &after)?;
    calls(&run, &story, &before, &after)?;
    Ok(Standing::Held)
}

/// Where nothing was edited, every channel leaves with all that a strict client read in it before, in order; notices may
/// stand between. The fold has no say in this.
fn channels(before: &View, after: &View) -> Result<(), Breach> {
    let none = ChoiceView::default();
    for choice in &before.choices {
        let left = after.choices.iter().find(|other| other.index == choice.index).unwrap_or(&none);
        for (channel, came, left) in [
            ("content", &choice.content, &left.content),
            ("reasoning", &choice.reasoning, &left.reasoning),
            ("refusal", &choice.refusal, &left.refusal),
            ("transcript", &choice.spoken, &left.spoken),
        ] {
            let mut rest = left.chars();
            if !came.chars().all(|letter| rest.any(|other| other == letter)) {
                return Breach::new(format!("{channel} with {came:?}"), format!("{left:?}"));
            }
        }
    }
    Ok(())
}

/// The text of every block that was not edited stands in its channel, in order.
fn texts(run: &Replayed, story: &Story, after: &View) -> Result<(), Breach> {
    use stream_core::Channel;
    for choice in &after.choices {
        for (channel, is_spoken, mut rest) in [
            (Channel::Content, false, choice.content.as_str()),
            (Channel::Content, true, choice.spoken.as_str()),
            (Channel::Reasoning, false, choice.reasoning.as_str()),
            (Channel::Refusal, false, choice.refusal.as_str()),
        ] {
            let of_channel = |told: &&Told| {
                let is_here = told.channel == Some(channel) && told.is_spoken == is_spoken;
                is_here && told.choice == choice.index
            };
            for told in story.blocks.iter().filter(of_channel).filter(|told| !is_edited(run, told.key)) {
                // A text into which a call was written leaves with the call in its midst.
                let written = story.blocks.iter().any(|told| told.is_written);
                let fragments = told.fragments.iter().map(|(_, text)| text.as_str());
                let pieces: Vec<&str> = if written { fragments.collect() } else { vec![&told.body] };
                for piece in pieces {
                    let Some(at) = rest.find(piece) else {
                        return Breach::new(format!("{channel:?} with {:?}", told.body), format!("{rest:?}"));
                    };
                    rest = &rest[at + piece.len()..];
                }
            }
        }
    }
    Ok(())
}

/// Every call that was not edited has left, as a client reads it.
fn calls(run: &Replayed, story: &Story, before: &View, after: &View) -> Result<(), Breach> {
    for choice in &before.choices {
        let folded: Vec<&Told> =
            story.blocks.iter().filter(|told| told.is_call && told.choice == choice.index).collect();
        if folded.len() != choice.calls.len() {
            many(run, choice, &folded, after)?;
            continue;
        }
        let untouched = choice.calls.iter().zip(folded).filter(|(_, told)| !is_edited(run, told.key));
        // Where a frame is not plain, clients do not read the same: what was folded is what it is written anew with.
        let normalised = did(run, Action::Normalised);
        let left = after.choices.iter().find(|other| other.index == choice.index);
        let mut left = left.map_or(&[][..], |left| &left.calls).iter();
        for (call, told) in untouched {
            let is_folded =
                |other: &CallView| (&other.name, &other.arguments) == (&told.folded.0, &told.folded.1);
            if !left.any(|other| other == call || (normalised && is_folded(other))) {
                return Breach::new(format!("{call:?}"), "no such call");
            }
        }
    }
    Ok(())
}

/// The fold and a strict client do not see the same calls. What was written anew says what the fold saw; anything else
/// says what the client saw, but for as many calls as were edited.
fn many(run: &Replayed, choice: &ChoiceView, folded: &[&Told], after: &View) -> Result<(), Breach> {
    let left = after.choices.iter().find(|other| other.index == choice.index);
    let left = left.map_or(&[][..], |left| &left.calls);
    if did(run, Action::Normalised) {
        for told in folded.iter().filter(|told| !is_edited(run, told.key)) {
            if !left.iter().any(|call| call.name == told.name && call.arguments == told.body) {
                return Breach::new(format!("the call {} {}", told.name, told.body), format!("{left:?}"));
            }
        }
        return Ok(());
    }
    let edited = folded.iter().filter(|told| is_edited(run, told.key)).count();
    let lost: Vec<&CallView> = choice.calls.iter().filter(|call| !left.contains(call)).collect();
    if lost.len() > edited {
        return Breach::new(format!("{lost:?}"), format!("{left:?}"));
    }
    Ok(())
}

fn is_edited(run: &Replayed, key: BlockKey) -> bool {
    run.decisions
        .iter()
        .any(|decision| decision.enforced && decision.block == Some(key) && decision.action == Action::Edited)
}
