//! Nothing that comes in makes anything panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use bytes::Bytes;
use stream_core::ErrorKind;

use super::case::{Breach, Case};
use super::standing::Standing;
use crate::ChunkLog;

/// Runs the stream and faulty copies of it: events lost, doubled, swapped, bytes changed, an early end.
pub(super) fn check(case: &Case<'_>) -> Result<Standing, Breach> {
    survives(case, &case.log, "as it came")?;
    if case.log.is_whole() {
        return Ok(Standing::Held);
    }
    let mut dice = Dice(case.seed);
    for _ in 0..FAULTS {
        let (what, log) = fault(case, &mut dice);
        survives(case, &log, &what)?;
    }
    Ok(Standing::Held)
}

fn survives(case: &Case<'_>, log: &ChunkLog, what: &str) -> Result<(), Breach> {
    let replay = case.replay_of(log).cut(case.cut);
    let Ok(run) = catch_unwind(AssertUnwindSafe(|| replay.run())) else {
        return Breach::new(format!("no panic on the stream {what}"), "a panic of the core");
    };
    let error = run.outcome.and_then(|outcome| outcome.error);
    match error.filter(|error| error.kind() == ErrorKind::PolicyPanicked) {
        Some(error) => Breach::new(format!("no panic on the stream {what}"), error.to_string()),
        None => Ok(()),
    }
}

fn fault(case: &Case<'_>, dice: &mut Dice) -> (String, ChunkLog) {
    let mut events = case.events();
    let at = dice.below(events.len());
    let what = match dice.below(5) {
        0 if !events.is_empty() => {
            events.remove(at);
            format!("without event {at}")
        }
        1 if !events.is_empty() => {
            events.insert(at, events[at].clone());
            format!("with event {at} twice")
        }
        2 if !events.is_empty() => {
            let other = dice.below(events.len());
            events.swap(at, other);
            format!("with events {at} and {other} swapped")
        }
        3 if !events.is_empty() => {
            let mut bytes = events[at].to_vec();
            let byte = dice.below(bytes.len());
            let with = b"\"{}[],:\\x0\n\xff"[dice.below(12)];
            if let Some(changed) = bytes.get_mut(byte) {
                *changed = with;
            }
            events[at] = bytes.into();
            format!("with byte {byte} of event {at} changed to {:?}", char::from(with))
        }
        _ => {
            let end = dice.below(case.log.bytes().len() + 1);
            events = vec![case.log.bytes().slice(..end)];
            format!("cut after {end} bytes")
        }
    };
    let chunks = events.into_iter().map(|event: Bytes| (Duration::ZERO, event));
    (what, ChunkLog::from_chunks(case.log.name(), chunks))
}

/// Numbers from a seed (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        let mut x = self.0 ^ 0x9e37_79b9_7f4a_7c15;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0 = x;
        usize::try_from(x >> 33).unwrap_or(0) % end.max(1)
    }
}

/// How many faulty copies are run.
const FAULTS: usize = 8;
