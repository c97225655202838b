//! `sequence_number`: shifted by the events that did not leave and those made here, never restarting.

use bytes::Bytes;
use memchr::memmem;

use crate::wire::document::{Of, Spans, Table};

/// The numbers of one stream.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    /// The last numbered event that left as it came: its number is read when it is asked for.
    unread: Option<Bytes>,
    /// The number of the next event.
    next: u64,
    /// What is added to the upstream's numbers.
    shift: i64,
    seen: Seen,
    /// Whether numbers that left only grow, whatever the upstream's do.
    grows: bool,
    /// The upstream's number of the frame under way, and `next` when it came.
    frame: (Option<u64>, u64),
}

/// Whether the upstream numbers its events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Seen {
    #[default]
    Nothing,
    Plain,
    Numbered,
}

impl Sequence {
    pub(super) fn new(grows: bool) -> Self {
        Self { grows, ..Self::default() }
    }

    /// An event left as it came.
    pub(super) fn pass(&mut self, data: Bytes) {
        if memmem::find(&data, b"\"sequence_number\"").is_some() {
            self.seen = Seen::Numbered;
            self.unread = Some(data);
        } else {
            self.see_plain();
        }
    }

    /// An event of the upstream's is about to be written.
    pub(super) fn enter(&mut self, number: Option<u64>) {
        self.enter_made();
        match number {
            Some(number) => {
                self.seen = Seen::Numbered;
                // Numbers that do not grow go on from those that have left.
                let wanted = number.saturating_add_signed(self.shift);
                if self.grows && wanted < self.next {
                    let more = i64::try_from(self.next - wanted).unwrap_or(i64::MAX);
                    self.shift = self.shift.saturating_add(more);
                }
                self.next = number.saturating_add_signed(self.shift);
            }
            None => self.see_plain(),
        }
        self.frame = (number, self.next);
    }

    /// Events made here are about to be written.
    pub(super) fn enter_made(&mut self) {
        if let Some(data) = self.unread.take() {
            match EventNumbers::read(&data).sequence_number {
                Some(number) => self.next = number.saturating_add(1),
                // The word stands somewhere deeper.
                None if self.next == 0 => self.seen = Seen::Plain,
                None => {}
            }
        }
        self.frame = (None, self.next);
    }

    /// The number of the next event; `None` where the upstream has no numbers.
    pub(super) fn take(&mut self) -> Option<u64> {
        let number = self.next;
        self.next = number.saturating_add(1);
        (self.seen != Seen::Plain).then_some(number)
    }

    /// What was entered is written, in as many events as numbers were taken.
    pub(super) fn leave(&mut self) {
        let (number, start) = self.frame;
        let written = i64::try_from(self.next.saturating_sub(start)).unwrap_or(i64::MAX);
        self.shift = self.shift.saturating_add(written - i64::from(number.is_some()));
    }

    fn see_plain(&mut self) {
        if self.seen == Seen::Nothing {
            self.seen = Seen::Plain;
        }
    }
}

/// The numbers of an event.
#[derive(Debug, Default)]
pub(super) struct EventNumbers {
    pub(super) sequence_number: Option<u64>,
    pub(super) output_index: Option<u32>,
    pub(super) content_index: Option<u32>,
    pub(super) summary_index: Option<u32>,
}

impl EventNumbers {
    /// Reads what is a number. Data that is no event has none.
    pub(super) fn read(data: &[u8]) -> Self {
        let mut spans = Spans::default();
        let text = std::str::from_utf8(data).unwrap_or_default();
        let Ok(event) = spans.read(text, Of::Object(&NUMBERS)) else { return Self::default() };
        let number = |name: &str| event.get(name).and_then(|raw| raw.raw().parse::<u64>().ok());
        let index = |name: &str| number(name).and_then(|number| u32::try_from(number).ok());
        Self {
            sequence_number: number("sequence_number"),
            output_index: index("output_index"),
            content_index: index("content_index"),
            summary_index: index("summary_index"),
        }
    }
}

static NUMBERS: Table = Table::loose(&[
    ("sequence_number", Of::Leaf),
    ("output_index", Of::Leaf),
    ("content_index", Of::Leaf),
    ("summary_index", Of::Leaf),
]);
