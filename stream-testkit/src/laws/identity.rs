//! A run that recorded no edit leaves every byte as it came.

use super::case::{Breach, Case, went_wrong};
use super::events::{keep_alives, settled};
use super::standing::Standing;
use crate::log::frames;

/// Own keep-alives aside, and for streams whose every event can be read. Events of different choices may pass each
/// other.
pub(super) fn check(case: &Case<'_>) -> Result<Standing, Breach> {
    let run = case.replay().run();
    if run.is_edited() || went_wrong(&run) || has_broken_tail(case, run.format.name()) {
        return Ok(Standing::Vacuous);
    }
    let (input, output) = (case.log.bytes(), run.bytes());
    if run.whole {
        return if *input == output {
            Ok(Standing::Held)
        } else {
            Breach::differ("the body as it came", input, &output)
        };
    }
    let (expected, found) = (settled(input), settled(&output));
    if expected != found {
        return Breach::differ("the bytes as they came, since no edit was recorded", &expected, &found);
    }
    let (expected, found) = (keep_alives(input), keep_alives(&output));
    if found < expected {
        return Breach::new(format!("the upstream's {expected} pings"), found.to_string());
    }
    Ok(Standing::Held)
}

/// A last event without its border that cannot be read is dropped (rule 9).
fn has_broken_tail(case: &Case<'_>, format: &str) -> bool {
    let Some(format) = stream_core::wire::named(format) else { return false };
    let tail = frames(case.log.bytes()).last().filter(|frame| !frame.is_terminated());
    tail.is_some_and(|tail| {
        tail.data_bytes().is_some() && format.decode(&tail, &mut stream_core::wire::Decoded::new()).is_err()
    })
}
