//! What is held, and what it costs, has a bound.

use stream_core::Limits;
use stream_core::wire::{self, Decoded};

use super::case::{Breach, Case};
use super::standing::Standing;
use super::story::Story;
use crate::log::frames;
use crate::replay::{Replayed, Step};

/// With a limit of a quarter of the stream: the core holds no more than that and the event it is at, the policy holds
/// no more back behind its back, and every step is shown once.
pub(super) fn check(case: &Case<'_>) -> Result<Standing, Breach> {
    if case.log.is_whole() {
        return Ok(Standing::Vacuous);
    }
    let largest = case.events().iter().map(bytes::Bytes::len).max().unwrap_or(0);
    let mut limits = Limits::default();
    limits.held = (case.log.bytes().len() / 4).max(largest);
    let run = case.replay().config(case.config.clone().limits(limits)).run();
    let most = limits.held + largest;
    if run.held_max > most {
        return Breach::new(format!("at most {most} bytes held"), run.held_max.to_string());
    }
    let kept = kept_back(&run);
    if kept > most + SLACK {
        return Breach::new(
            format!("at most {most} bytes kept back, as the limit says"),
            format!("{kept} bytes that the policy kept to itself"),
        );
    }
    let (steps, shown) = (steps(case, &run), shown(&run));
    if shown > steps {
        return Breach::new(format!("at most {steps} steps shown"), shown.to_string());
    }
    Ok(Standing::Held)
}

/// The most that left later than what came later accounts for. A policy that makes the stream longer does so all along:
/// its output is taken in the measure of the input.
fn kept_back(run: &Replayed) -> usize {
    let sizes = run.steps.iter().map(|(_, step)| match step {
        Step::In(frame) => (frame.len(), 0),
        Step::Written(bytes) => (0, bytes.len()),
        _ => (0, 0),
    });
    let sizes: Vec<(usize, usize)> = sizes.collect();
    let total = sizes.iter().fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
    let scale = |out: usize| if total.1 > total.0 { out * total.0 / total.1 } else { out };
    let mut after = total;
    let mut most = 0;
    for (came, left) in sizes {
        after = (after.0 - came, after.1 - left);
        most = most.max(scale(after.1).saturating_sub(after.0));
    }
    most
}

/// How many steps the stream has: one for each part of an event, one for each block that something else completes.
fn steps(case: &Case<'_>, run: &Replayed) -> usize {
    let Some(format) = wire::named(run.format.name()) else { return usize::MAX };
    let parts: usize = frames(case.log.bytes())
        .map(|frame| {
            let mut decoded = Decoded::new();
            let read = frame.data_bytes().is_some() && format.decode(&frame, &mut decoded).is_ok();
            if read { decoded.deltas.len().max(1) } else { 1 }
        })
        .sum();
    parts + Story::of_run(run, case.config).blocks.len()
}

fn shown(run: &Replayed) -> usize {
    run.steps.iter().filter(|(_, step)| matches!(step, Step::Shown(shown) if shown.stage == 0)).count()
}

/// An ending, and what edits at the end may add.
const SLACK: usize = 1024;
