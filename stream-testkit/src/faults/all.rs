//! The faults worth trying on any log.

use stream_core::Limits;

use super::fault::Fault;
use super::garbage::Garbage;
use super::plan::spans;
use crate::ChunkLog;

impl Fault {
    /// A few of each kind, where they hurt: at the start, inside of events, between them, at the end. Stalls are
    /// shorter than the default limit of silence, oversized events longer than the default limit of a frame.
    ///
    /// ```
    /// use stream_testkit::faults::Fault;
    /// use stream_testkit::{Script, WireKind};
    ///
    /// let log = Script::new().text("Hi").to_log(WireKind::Gemini);
    /// let breaks = Fault::all(&log).iter().filter(|fault| matches!(fault, Fault::Break { .. })).count();
    /// assert_eq!(breaks, 5);
    /// ```
    #[must_use]
    pub fn all(log: &ChunkLog) -> Vec<Self> {
        let events = spans(log);
        let Some(last) = events.len().checked_sub(1) else { return Vec::new() };
        let middle = events.len() / 2;
        let inside = |event: usize| events[event].start + events[event].len() / 2;
        let between = events[middle].start;
        let len = log.bytes().len();

        let mut faults = Vec::new();
        for at in distinct([0, inside(0), between, inside(last), len]) {
            faults.push(Self::End { at });
            faults.push(Self::Break { at });
        }
        for at in distinct([0, inside(middle), len]) {
            faults.push(Self::Hang { at });
        }
        faults.push(Self::Stall { at: inside(middle), lasts: Limits::default().idle / 2 });
        faults.extend(distinct([0, middle, last]).map(|event| Self::Repeat { event }));
        let pairs = distinct([1, middle, last]).filter(|event| (1..=last).contains(event));
        faults.extend(pairs.map(|event| Self::Swap { one: event - 1, other: event }));
        for garbage in [Garbage::Line, Garbage::NotUtf8, Garbage::MalformedJson] {
            for event in distinct([0, middle, last + 1]) {
                faults.push(Self::Garbage { event, garbage: garbage.clone() });
            }
        }
        faults.push(Self::Oversized { event: middle, bytes: Limits::default().frame + 1 });
        faults
    }
}

/// Each once, in order.
fn distinct<const N: usize>(numbers: [usize; N]) -> impl Iterator<Item = usize> {
    let rising = std::collections::BTreeSet::from(numbers);
    rising.into_iter()
}
