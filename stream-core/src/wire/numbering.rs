//! The numbering: numbers shifted by the things that were dropped or inserted before them (rule 17).

/// The numbers of things in one list: items, blocks, calls, parts.
///
/// A number is shifted and not made dense: a gap in the upstream's numbers stays a gap. Where frames are normalised the number of a
/// thing is its position: some clients go by the number, others by the position (rule 28). Things with the same number count as one
/// thing, which is dropped only if all of them are.
#[derive(Debug, Default)]
pub(super) struct WireNumbering {
    dense: bool,
    /// The numbers of the upstream, sorted: things open in order, so that a search is cheap however many there are.
    came: Vec<u64>,
    /// The first free number on the wire.
    next: u64,
    /// The dropped and inserted things, where there are any.
    shift: Option<Box<Shift>>,
}

/// The difference between the numbers on the wire and those of the upstream.
#[derive(Debug, Default)]
struct Shift {
    /// The numbers of the dropped things, sorted.
    dropped: Vec<u64>,
    /// For each inserted thing, in rising order: the number of the upstream's things before it.
    inserted: Vec<u64>,
}

impl WireNumbering {
    /// A numbering, by position if `dense`.
    pub(super) fn new(dense: bool) -> Self {
        Self { dense, ..Self::default() }
    }

    /// Ends the numbering by position: a number is shifted from here on.
    pub(super) fn loosen(&mut self) {
        self.dense = false;
    }

    /// Records a thing with this number, and returns its number on the wire.
    pub(super) fn open(&mut self, number: u64, leaves: bool) -> Option<u64> {
        let is_new = insert(&mut self.came, number);
        if leaves {
            self.revive(number);
        } else if is_new {
            insert(&mut self.shift.get_or_insert_default().dropped, number);
        }
        leaves.then(|| {
            let wire = if self.dense { self.next } else { self.shifted(number) };
            self.next = self.next.max(wire.saturating_add(1));
            wire
        })
    }

    /// Records a thing without a number of its own that is written behind the last one.
    pub(super) fn open_unnumbered(&mut self) {
        self.next = self.next.saturating_add(1);
    }

    /// Whether the thing with this number was written; `None` if there was none.
    pub(super) fn left(&self, number: u64) -> Option<bool> {
        self.came.binary_search(&number).ok()?;
        Some(self.shift.as_ref().is_none_or(|shift| shift.dropped.binary_search(&number).is_err()))
    }

    /// Records that a dropped thing is written after all; false if the thing had not been dropped.
    pub(super) fn revive(&mut self, number: u64) -> bool {
        let Some(shift) = &mut self.shift else { return false };
        let found = shift.dropped.binary_search(&number);
        found.is_ok_and(|at| shift.dropped.remove(at) == number)
    }

    /// Takes the next free number for an inserted thing.
    pub(super) fn insert(&mut self) -> u64 {
        let wire = self.next;
        let inserted = &mut self.shift.get_or_insert_default().inserted;
        inserted.push(wire.saturating_sub(inserted.len() as u64));
        self.next = wire.saturating_add(1);
        wire
    }

    /// A number of the upstream, less the dropped things before it, plus the inserted ones.
    pub(super) fn shifted(&self, number: u64) -> u64 {
        let Some(shift) = &self.shift else { return number };
        let kept = number.saturating_sub(shift.dropped.partition_point(|dropped| *dropped < number) as u64);
        kept.saturating_add(shift.inserted.partition_point(|before| *before <= kept) as u64)
    }

    /// The first free number on the wire.
    pub(super) fn next(&self) -> u64 {
        self.next
    }
}

/// The numbers of events. A number stands in one event alone, so that the numbering keeps no more than the shift: the inserted
/// events, less the dropped ones.
#[derive(Debug, Default)]
pub(super) struct EventNumbering {
    /// Numbers on the wire only grow, even if those of the upstream do not.
    grows: bool,
    /// The difference to the upstream's numbers.
    shift: i64,
    /// The number of the next event.
    next: u64,
    /// Whether the upstream numbers its events; known after the first event.
    numbered: Option<bool>,
}

impl EventNumbering {
    pub(super) fn new(grows: bool) -> Self {
        Self { grows, ..Self::default() }
    }

    /// Records an event that is written as its bytes, with this number.
    pub(super) fn pass(&mut self, number: Option<u64>) {
        match number {
            Some(number) => {
                self.numbered = Some(true);
                self.next = number.saturating_add(1);
            }
            None => {
                self.numbered.get_or_insert(false);
            }
        }
    }

    /// Begins an event with this number, of which any number of events are written; each of these [takes](Self::take) a number.
    pub(super) fn enter(&mut self, number: Option<u64>) {
        let Some(number) = number else { return self.pass(None) };
        self.numbered = Some(true);
        let shifted = number.saturating_add_signed(self.shift);
        // Numbers that do not grow continue those on the wire.
        let more = if self.grows { self.next.saturating_sub(shifted) } else { 0 };
        self.shift = self.shift.saturating_add(i64::try_from(more).unwrap_or(i64::MAX));
        self.next = number.saturating_add_signed(self.shift);
        self.shift = self.shift.saturating_sub(1);
    }

    /// The number of the next event; `None` where the upstream has no numbers.
    pub(super) fn take(&mut self) -> Option<u64> {
        let number = self.next;
        self.next = number.saturating_add(1);
        self.shift = self.shift.saturating_add(1);
        self.numbered.unwrap_or(true).then_some(number)
    }
}

/// Inserts a number into a sorted list; false if the list has the number.
fn insert(sorted: &mut Vec<u64>, number: u64) -> bool {
    if sorted.is_empty() {
        sorted.reserve_exact(1);
    }
    let found = sorted.binary_search(&number);
    found.map_err(|at| sorted.insert(at, number)).is_err()
}
