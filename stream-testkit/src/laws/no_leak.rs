//! Nothing leaves of what was dropped.

use std::collections::HashSet;

use stream_core::Action;

use super::canary;
use super::case::{Breach, Case, did};
use super::standing::Standing;
use super::story::{Story, Told};
use crate::ChunkLog;
use crate::conformance::CallView;
use crate::replay::{Replay, Replayed};

/// Wherever the stream ends: of a call of which anything was dropped, and of any other block that was dropped as a
/// whole, no six bytes leave, in no copy.
pub(super) fn check(case: &Case<'_>) -> Result<Standing, Breach> {
    let run = case.replay().run();
    let story = Story::of_run(&run, case.config);
    let secrets: Vec<&Told> = dropped(&run, &story).collect();
    let sung = canary::sing(&case.log, run.format.name(), case.config, &secrets);
    let log = sung.filter(|_| !run.whole).unwrap_or_else(|| case.log.clone());
    let mut standing = is_tight(case, &log, &case.replay_of(&log).cut(case.cut), "")?;
    if run.whole {
        return Ok(standing);
    }
    for bytes in case.points(log.bytes().len(), POINTS) {
        let replay = case.replay_of(&log).cut(case.cut);
        let ends = replay.clone().end_after(bytes);
        standing = standing.or(is_tight(case, &log, &ends, &format!(" of the first {bytes} bytes"))?);
        standing = standing.or(is_tight(
            case,
            &log,
            &replay.transport_error_after(bytes),
            &format!(" of a stream broken after {bytes} bytes"),
        )?);
    }
    Ok(standing)
}

fn is_tight(case: &Case<'_>, log: &ChunkLog, replay: &Replay, of_what: &str) -> Result<Standing, Breach> {
    let run = replay.run();
    let story = Story::of_run(&run, case.config);
    let secrets: Vec<&Told> = dropped(&run, &story).collect();
    // What was said elsewhere too is no secret; nor is a name that the policy itself tells.
    let speaks = did(&run, Action::Inserted) || did(&run, Action::Terminated);
    let mut windows: HashSet<&[u8]> = HashSet::new();
    for secret in &secrets {
        let name = if speaks { "" } else { secret.name.as_str() };
        windows.extend(
            [secret.body.as_str(), secret.id.as_str(), name].iter().flat_map(|text| in_windows(text)),
        );
    }
    for (_, call) in strangers(&story, &secrets) {
        windows.extend([&call.arguments, &call.id].iter().flat_map(|text| in_windows(text)));
    }
    if windows.is_empty() {
        return Ok(Standing::Vacuous);
    }
    let mut others = canary::everything_else(log, &secrets);
    let kept = story.blocks.iter().filter(|told| secrets.iter().all(|secret| secret.key != told.key));
    others.extend(kept.map(|told| told.body.clone()));
    for other in others.iter().flat_map(|text| in_windows(text)) {
        windows.remove(other);
    }
    for left in what_left(&run) {
        if let Some(found) = left.windows(WINDOW).find(|window| windows.contains(window)) {
            let of = secrets.iter().find(|secret| {
                [&secret.body, &secret.id, &secret.name]
                    .iter()
                    .any(|text| in_windows(text).any(|it| it == found))
            });
            let key = of.map(|secret| secret.key.to_string()).unwrap_or_default();
            return Breach::new(
                format!("nothing{of_what} of block {key}, which was dropped, to leave"),
                format!(
                    "{:?} in {:?}",
                    String::from_utf8_lossy(found),
                    String::from_utf8_lossy(around(&left, found))
                ),
            );
        }
    }
    Ok(Standing::Held)
}

/// The blocks that must not leave: calls of which something was dropped, and others of which everything was.
fn dropped<'a>(run: &'a Replayed, story: &'a Story) -> impl Iterator<Item = &'a Told> {
    story.blocks.iter().filter(|told| {
        let enforced = || run.decisions.iter().filter(|decision| decision.enforced);
        let of_block = || enforced().filter(|decision| decision.block == Some(told.key));
        let bytes = of_block()
            .filter(|decision| decision.action == Action::Dropped)
            .map(|decision| decision.bytes)
            .reduce(|sum, bytes| sum + bytes);
        let edited = of_block().any(|decision| decision.action == Action::Edited);
        let whole = |bytes: usize| told.is_call || bytes == told.frame_bytes;
        !edited && bytes.is_some_and(whole)
    })
}

/// Calls that a client reads and the fold does not, in choices of which every call was dropped: they are parts of what was.
fn strangers<'a>(story: &'a Story, secrets: &'a [&Told]) -> impl Iterator<Item = &'a (u64, CallView)> {
    story.strangers.iter().filter(|(choice, _)| {
        let is_secret = |told: &Told| secrets.iter().any(|secret| secret.key == told.key);
        let mut here = story.blocks.iter().filter(|told| told.is_call && told.choice == *choice).peekable();
        here.peek().is_some() && here.all(is_secret)
    })
}

/// The output as it is, and each value as a client puts it together.
fn what_left(run: &Replayed) -> Vec<Vec<u8>> {
    let mut left = vec![run.bytes().to_vec()];
    for choice in run.view().choices {
        left.extend([choice.content, choice.reasoning, choice.refusal].map(String::into_bytes));
        for call in choice.calls {
            left.extend([call.id, call.name, call.arguments].map(String::into_bytes));
        }
    }
    left
}

/// Its windows that lie inside of values: JSON's punctuation stands everywhere.
fn in_windows(text: &str) -> impl Iterator<Item = &[u8]> {
    text.as_bytes().windows(WINDOW).filter(|window| !window.iter().any(|byte| b"\"{}[]:,\\".contains(byte)))
}

/// The neighbourhood of a window, for a message.
fn around<'a>(left: &'a [u8], found: &[u8]) -> &'a [u8] {
    let at = left.windows(WINDOW).position(|window| window == found).unwrap_or(0);
    &left[at.saturating_sub(40)..left.len().min(at + 60)]
}

/// How many bytes in a row are a leak.
const WINDOW: usize = 6;
/// At how many points the stream ends.
const POINTS: usize = 6;
