//! One machine on its way through a text.

use super::machine::{Found, Machine, Position, Step};
use super::stream::Hit;

/// Looks for the next match of one machine.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    state: State,
    /// No match starts before.
    clear: usize,
    /// A match that was found, and the byte that told.
    found: Option<(Found, usize)>,
    trace: Trace,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Seeking(Position),
    Decided(Hit),
    /// There is none.
    Spent,
}

/// How reading goes on.
enum Read {
    On,
    /// What there is has been read before.
    Rejoined,
    /// No other match can come.
    Over,
}

/// Where the machine stood behind each byte since the text was clear.
///
/// When a match of another machine is taken, this one starts again behind it. Mostly it soon stands where it stood
/// before, and what follows need not be read again: else many short matches inside of a long text that one pattern cannot
/// decide over would cost its length each.
#[derive(Debug, Clone, Default)]
struct Trace {
    start: usize,
    positions: Vec<Position>,
}

impl Trace {
    fn get(&self, at: usize) -> Option<Position> {
        self.positions.get(at.checked_sub(self.start)?).copied()
    }
}

/// The text that is kept, and where it starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    pub(super) text: &'a [u8],
    pub(super) base: usize,
}

impl Window<'_> {
    fn end(&self) -> usize {
        self.base + self.text.len()
    }

    fn byte(&self, at: usize) -> u8 {
        self.text[at - self.base]
    }

    fn behind(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).map(|before| self.byte(before))
    }
}

impl Cursor {
    /// At the start of the text.
    pub(super) fn new(machine: &Machine) -> Self {
        let mut cursor = Self { state: State::Spent, clear: 0, found: None, trace: Trace::default() };
        cursor.begin(machine, 0, None);
        cursor
    }

    /// Looks for matches from `from` on, and reads what is there. Says how many bytes it read.
    pub(super) fn restart(&mut self, machine: &Machine, window: Window<'_>, from: usize) -> u64 {
        let before = std::mem::replace(self, Self::new(machine));
        self.begin(machine, from, window.behind(from));
        self.read(machine, window, from, Some(&before))
    }

    /// Reads from `at` to the end of what is there, or to where the next match is decided. Says how many bytes it read.
    pub(super) fn advance(&mut self, machine: &Machine, window: Window<'_>, at: usize) -> u64 {
        self.read(machine, window, at, None)
    }

    /// The text is over: decides.
    pub(super) fn finish(&mut self, machine: &Machine, window: Window<'_>) -> u64 {
        let mut steps = 0;
        while let State::Seeking(position) = self.state {
            if let Some(found) = machine.end(position, window.end()) {
                self.found = Some((found, window.end()));
            }
            if let Some(from) = self.conclude(machine, window) {
                steps += self.restart(machine, window, from);
            }
        }
        steps
    }

    /// Reads on through text that is withheld as a whole, where only one thing is of interest: whether a match may be
    /// under way behind this byte.
    pub(super) fn pass(&mut self, machine: &Machine, byte: u8, behind: Option<u8>, at: usize) -> bool {
        self.trace.positions.clear();
        // What was decided before does not count; what may start with this byte does.
        if matches!(self.state, State::Decided(_)) {
            self.begin(machine, at, behind);
        }
        for _ in 0..2 {
            let State::Seeking(position) = &mut self.state else { return false };
            match machine.step(position, byte, at) {
                Step::On => return true,
                Step::Found(found) => {
                    self.found = Some((found, at));
                    return true;
                }
                Step::Clear => {
                    self.begin(machine, at + 1, Some(byte));
                    return false;
                }
                Step::Last(_) | Step::Dead => self.begin(machine, at, behind),
            }
        }
        self.state = State::Spent;
        false
    }

    /// What it has found, once that is certain.
    pub(super) fn decided(&self) -> Option<Hit> {
        match self.state {
            State::Decided(hit) => Some(hit),
            _ => None,
        }
    }

    /// Where its next match starts at the earliest, with the text read up to `end`.
    pub(super) fn earliest(&self, machine: &Machine, end: usize) -> usize {
        match self.state {
            State::Seeking(_) => {
                let end = self.found.map_or(end, |(found, _)| found.end);
                self.clear.max(end.saturating_sub(machine.longest()))
            }
            State::Decided(hit) => hit.start,
            State::Spent => usize::MAX,
        }
    }

    /// Forgets where it stood before `base`.
    pub(super) fn forget(&mut self, base: usize) {
        let gone = base.saturating_sub(self.trace.start).min(self.trace.positions.len());
        self.trace.positions.drain(..gone);
        self.trace.start += gone;
    }

    fn begin(&mut self, machine: &Machine, from: usize, behind: Option<u8>) {
        self.clear = from;
        self.found = None;
        self.trace.start = from;
        self.trace.positions.clear();
        self.state = machine.start(behind).map_or(State::Spent, State::Seeking);
    }

    fn read(&mut self, machine: &Machine, window: Window<'_>, mut at: usize, before: Option<&Self>) -> u64 {
        let mut steps = 0;
        while at < window.end() && matches!(self.state, State::Seeking(_)) {
            steps += 1;
            let read = match self.step(machine, window.byte(at), at) {
                Read::On => before.map_or(Read::On, |before| self.rejoin(before, at)),
                over => over,
            };
            match read {
                Read::On => at += 1,
                Read::Rejoined => break,
                Read::Over => match self.conclude(machine, window) {
                    Some(from) => {
                        self.begin(machine, from, window.behind(from));
                        at = from;
                    }
                    None => break,
                },
            }
        }
        steps
    }

    /// Reads one byte.
    fn step(&mut self, machine: &Machine, byte: u8, at: usize) -> Read {
        let State::Seeking(position) = &mut self.state else { return Read::Over };
        let step = machine.step(position, byte, at);
        self.trace.positions.push(*position);
        match step {
            Step::On => Read::On,
            Step::Clear => {
                self.clear = at + 1;
                self.trace.start = at + 1;
                self.trace.positions.clear();
                Read::On
            }
            Step::Found(found) => {
                self.found = Some((found, at));
                Read::On
            }
            Step::Last(found) => {
                self.found = Some((found, at));
                Read::Over
            }
            Step::Dead => Read::Over,
        }
    }

    /// Takes over where another cursor of the same machine went from here, if that one stood here too.
    fn rejoin(&mut self, before: &Self, at: usize) -> Read {
        let State::Seeking(position) = self.state else { return Read::Over };
        if before.trace.get(at) != Some(position) {
            return Read::On;
        }
        if before.found.is_some_and(|(_, told)| told > at) {
            self.found = before.found;
        }
        let rest = before.trace.positions.get(at + 1 - before.trace.start..).unwrap_or_default();
        self.trace.positions.extend_from_slice(rest);
        match before.state {
            State::Seeking(position) => {
                self.state = State::Seeking(position);
                Read::Rejoined
            }
            State::Decided(_) | State::Spent => Read::Over,
        }
    }

    /// Decides over the match that was found. Where to look again, if its checksum does not hold.
    fn conclude(&mut self, machine: &Machine, window: Window<'_>) -> Option<usize> {
        let Some((found, _)) = self.found else {
            self.state = State::Spent;
            return None;
        };
        let from = self.clear.saturating_sub(window.base);
        let start = machine.start_of(found.back(window.base), window.text, from) + window.base;
        let mut hit = Hit::new(machine.rule(), start, found.end);
        if let Some(check) = machine.check
            && let Ok(text) = std::str::from_utf8(&window.text[start - window.base..found.end - window.base])
        {
            let Some(counts) = check(text) else { return Some(start + 1) };
            (hit.start, hit.end) = (start + counts.start, start + counts.end);
        }
        self.state = State::Decided(hit);
        None
    }
}
