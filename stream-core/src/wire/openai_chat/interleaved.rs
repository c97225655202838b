//! Calls that take turns, written one behind the other (rule 28).
//!
//! Some clients assign every part without an id to the call that opened last. Frames therefore wait from the opening of a call
//! until all calls before it are whole. The frames are written as their bytes where they hold no more of those calls.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::block::BlockKey;
use crate::delta::{CallFlavor, DeltaKind};
use crate::json::Nesting;
use crate::wire::{Fate, Odd, Outgoing, Part};

/// The calls that are not whole, and the frames that wait for their ends.
#[derive(Debug, Default)]
pub(super) struct Interleaved {
    choices: BTreeMap<u32, HalfCalls>,
    /// The number of calls, over all choices, that are not whole and have another call behind them.
    halves: usize,
    waiting: Vec<Outgoing>,
    bytes: usize,
    /// A waiting frame has more of a call before the last one.
    disordered: bool,
}

#[derive(Debug, Default)]
struct HalfCalls {
    last: Option<BlockKey>,
    /// The calls, each with its place in the order of openings.
    known: HashMap<BlockKey, (usize, Nesting)>,
    halves: HashSet<BlockKey>,
}

impl Interleaved {
    /// Records a frame, and returns whether it is written at once, as nearly all are; any other frame has to be
    /// [taken](Self::take).
    pub(super) fn passes(&mut self, outgoing: &Outgoing) -> bool {
        for part in &outgoing.parts {
            self.note(part);
        }
        self.is_idle()
    }

    /// Queues a frame, and returns the frames to write now, in their order.
    pub(super) fn take(&mut self, outgoing: Outgoing) -> Vec<Outgoing> {
        self.bytes += outgoing.frame.as_ref().map_or(0, |frame| frame.raw().len());
        self.waiting.push(outgoing);
        if self.halves > 0 { Vec::new() } else { self.release() }
    }

    /// The waiting frames, to be written now.
    pub(super) fn release(&mut self) -> Vec<Outgoing> {
        self.bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        if std::mem::take(&mut self.disordered) { self.ordered(waiting) } else { waiting }
    }

    /// Whether a text frame would be written at once.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.halves == 0 && !self.disordered
    }

    /// The number of bytes in waiting frames.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The frames in the order in which they are written: text and the like, then call by call, then the end of the answer.
    fn ordered(&self, frames: Vec<Outgoing>) -> Vec<Outgoing> {
        let mut parts: Vec<(usize, usize, Part)> = Vec::new();
        let mut sources = Vec::with_capacity(frames.len());
        for (source, Outgoing { mut frame, parts: of_frame }) in frames.into_iter().enumerate() {
            if let Some(frame) = &mut frame {
                frame.mark(Some(Odd::Order));
            }
            // A frame with many calls would be read once for each of them: those calls are written without their frame.
            sources.push((frame, of_frame.len() <= FEW));
            parts.extend(of_frame.into_iter().map(|part| (self.rank(&part), source, part)));
        }
        parts.sort_by_key(|(rank, ..)| *rank);
        let mut ordered: Vec<Outgoing> = Vec::new();
        let mut last = None;
        for (rank, source, part) in parts {
            if last == Some((rank, source))
                && let Some(outgoing) = ordered.last_mut()
            {
                outgoing.parts.push(part);
                continue;
            }
            last = Some((rank, source));
            let (frame, few) = &sources[source];
            let is_call = rank > 0 && rank < usize::MAX;
            let frame = frame.clone().filter(|_| *few || !is_call);
            ordered.push(Outgoing { frame, parts: vec![part] });
        }
        ordered
    }

    fn rank(&self, part: &Part) -> usize {
        let calls = part.delta.choice.and_then(|number| self.choices.get(&number));
        let known = part.key.and_then(|key| calls?.known.get(&key));
        match (&part.delta.kind, known) {
            (DeltaKind::Call(_), Some((place, _))) => place + 1,
            (DeltaKind::Finish(_) | DeltaKind::Usage(_) | DeltaKind::Terminal | DeltaKind::Error(_), _) => {
                usize::MAX
            }
            _ => 0,
        }
    }

    fn note(&mut self, part: &Part) {
        match &part.delta.kind {
            _ if part.fate == Fate::Dropped => {}
            DeltaKind::Call(call) if call.flavor == CallFlavor::Function => {
                let (Some(key), Some(number)) = (part.key, part.delta.choice) else { return };
                let calls = self.choices.entry(number).or_default();
                let before = calls.halves.len();
                let goes_on = calls.add(key, call.arguments.as_deref().unwrap_or_default());
                self.halves = self.halves + calls.halves.len() - before;
                self.disordered |= goes_on;
            }
            DeltaKind::Finish(_) => {
                let calls = part.delta.choice.and_then(|number| self.choices.get_mut(&number));
                self.halves -= calls.map_or(0, HalfCalls::end);
            }
            DeltaKind::Terminal | DeltaKind::Error(_) => {
                self.halves -= self.choices.values_mut().map(HalfCalls::end).sum::<usize>();
            }
            _ => {}
        }
    }
}

impl HalfCalls {
    /// Records more of a call. Returns whether the call was not whole when another one opened behind it.
    fn add(&mut self, key: BlockKey, arguments: &str) -> bool {
        let opens = !self.known.contains_key(&key);
        if opens && let Some(last) = self.last.replace(key) {
            let is_half = self.known.get(&last).is_some_and(|(_, nesting)| !nesting.is_whole());
            self.halves.extend(Some(last).filter(|_| is_half));
        }
        let next = self.known.len();
        let (_, nesting) = self.known.entry(key).or_insert((next, Nesting::default()));
        nesting.read(arguments);
        let is_whole = nesting.is_whole();
        let goes_on = !arguments.is_empty() && self.halves.contains(&key);
        if is_whole {
            self.halves.remove(&key);
        }
        goes_on
    }

    fn end(&mut self) -> usize {
        std::mem::take(&mut self.halves).len()
    }
}

/// A frame with more parts than these is not read again for each of them.
const FEW: usize = 16;
