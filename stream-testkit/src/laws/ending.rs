//! A stream ends once, and validly.

use std::collections::BTreeSet;

use stream_core::{Action, Cause, Decision};

use super::case::{Breach, Case, did, went_wrong};
use super::standing::Standing;
use crate::conformance::{Allow, Ended, Rule, check as read};
use crate::replay::Replayed;

/// The output breaks no rule of its format that the input did not break, wherever the input stops; and what was
/// terminated, closed for an error, or lost something at its end, has an ending.
pub(super) fn check(case: &Case<'_>) -> Result<Standing, Breach> {
    let run = case.replay().run();
    is_valid(case, &run, case.log.bytes().len())?;
    if run.whole {
        return Ok(Standing::Held);
    }
    for bytes in case.points(case.log.bytes().len(), POINTS) {
        is_valid(case, &case.replay().end_after(bytes).run(), bytes)?;
        is_valid(case, &case.replay().transport_error_after(bytes).run(), bytes)?;
    }
    Ok(Standing::Held)
}

fn is_valid(case: &Case<'_>, run: &Replayed, stop: usize) -> Result<(), Breach> {
    let mut input = case.input(run);
    if stop < case.log.bytes().len() {
        input = read(run.format, &case.log.bytes()[..stop]);
    }
    let output = run.check(&Allow::as_in(&input));
    let known: BTreeSet<Rule> = input.violations().iter().map(|violation| violation.rule).collect();
    if let Some(violation) = output.violations().iter().find(|violation| !known.contains(&violation.rule)) {
        return Breach::new(
            format!("a valid stream of {} from the first {stop} bytes", run.format),
            format!("{violation}, in …{}", tail(run)),
        );
    }
    let lost = |decision: &Decision| {
        decision.enforced
            && decision.block.is_some()
            && decision.action == Action::Dropped
            && decision.cause == Cause::StreamEnded
    };
    let ends = went_wrong(run)
        || did(run, Action::Terminated)
        || input.view().ended != Ended::Open
        || run.decisions.iter().any(lost);
    if ends && output.view().ended == Ended::Open && !run.whole {
        return Breach::new(
            format!("an ending, from the first {stop} bytes"),
            format!("a stream that just stops: …{}", tail(run)),
        );
    }
    Ok(())
}

/// The last bytes, for a message.
fn tail(run: &Replayed) -> String {
    let bytes = run.bytes();
    let from = bytes.len().saturating_sub(240);
    format!("{:?}", String::from_utf8_lossy(&bytes[from..]))
}

/// At how many points the input is stopped.
const POINTS: usize = 6;
