//! The numbering: numbers shifted by what was dropped or inserted before them (rule 17).

/// The numbers of things that stand in one row: items, blocks, calls, parts.
///
/// A number is shifted and not made dense: a gap that the upstream left stays one. Where frames are normalised the number of a
/// thing is its position: to some clients the one counts, to others the other (rule 28). Things to which the upstream gives one
/// number are one to the numbering, and dropped only if all of them are.
#[derive(Debug, Default)]
pub(super) struct WireNumbering {
    dense: bool,
    /// The numbers that came, sorted: things come in order, so that a look is cheap however many there are.
    came: Vec<u64>,
    /// The first number that nothing on the wire has.
    next: u64,
    /// What was dropped and inserted, where anything was.
    shift: Option<Box<Shift>>,
}

/// Why a number on the wire is another than the upstream's.
#[derive(Debug, Default)]
struct Shift {
    /// The numbers of what was dropped, sorted.
    dropped: Vec<u64>,
    /// For each thing made here, rising: how many of the upstream's stand before it.
    inserted: Vec<u64>,
}

impl WireNumbering {
    /// A numbering by position, if it is dense.
    pub(super) fn new(dense: bool) -> Self {
        Self { dense, ..Self::default() }
    }

    /// Books a thing that comes with this number, and answers with the one it has on the wire.
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

    /// A thing without a number of its own leaves behind the last one.
    pub(super) fn open_unnumbered(&mut self) {
        self.next = self.next.saturating_add(1);
    }

    /// Whether the thing with this number left; `None` if it has not come.
    pub(super) fn left(&self, number: u64) -> Option<bool> {
        self.came.binary_search(&number).ok()?;
        Some(self.shift.as_ref().is_none_or(|shift| shift.dropped.binary_search(&number).is_err()))
    }

    /// What was dropped leaves after all; false if it had not been dropped.
    pub(super) fn revive(&mut self, number: u64) -> bool {
        let Some(shift) = &mut self.shift else { return false };
        let found = shift.dropped.binary_search(&number);
        found.is_ok_and(|at| shift.dropped.remove(at) == number)
    }

    /// Takes the next free number for a thing made here.
    pub(super) fn insert(&mut self) -> u64 {
        let wire = self.next;
        let inserted = &mut self.shift.get_or_insert_default().inserted;
        inserted.push(wire.saturating_sub(inserted.len() as u64));
        self.next = wire.saturating_add(1);
        wire
    }

    /// A number after the dropped things before it have gone and the inserted ones have come.
    pub(super) fn shifted(&self, number: u64) -> u64 {
        let Some(shift) = &self.shift else { return number };
        let kept = number.saturating_sub(shift.dropped.partition_point(|dropped| *dropped < number) as u64);
        kept.saturating_add(shift.inserted.partition_point(|before| *before <= kept) as u64)
    }

    /// The first number that nothing on the wire has.
    pub(super) fn next(&self) -> u64 {
        self.next
    }
}

/// The numbers of events. They come once each and are not looked back at, so that all there is to keep is how far they are
/// shifted: by the events that did not leave, and by those made here.
#[derive(Debug, Default)]
pub(super) struct EventNumbering {
    /// Numbers that left only grow, whatever the upstream's do.
    grows: bool,
    /// What is added to the upstream's numbers.
    shift: i64,
    /// The number of the next event.
    next: u64,
    /// Whether the upstream numbers its events, once one has come.
    numbered: Option<bool>,
}

impl EventNumbering {
    pub(super) fn new(grows: bool) -> Self {
        Self { grows, ..Self::default() }
    }

    /// An event left as it came, with this number.
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

    /// An event with this number is about to be written, in none or more. Each of them takes a number.
    pub(super) fn enter(&mut self, number: Option<u64>) {
        let Some(number) = number else { return self.pass(None) };
        self.numbered = Some(true);
        let shifted = number.saturating_add_signed(self.shift);
        // Numbers that do not grow go on from those that have left.
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

/// Puts a number where it belongs; false if it is there.
fn insert(sorted: &mut Vec<u64>, number: u64) -> bool {
    if sorted.is_empty() {
        sorted.reserve_exact(1);
    }
    let found = sorted.binary_search(&number);
    found.map_err(|at| sorted.insert(at, number)).is_err()
}
