//! `output_index`: shifted by dropped and inserted items, never made dense, unless frames are normalised: to some clients
//! the index of an item counts, to others its position (rule 28).

/// The indices of one response's items.
#[derive(Debug, Default)]
pub(super) struct Indices {
    /// Items have the index of their position, whatever index they came with.
    dense: bool,
    /// Those of dropped items, as they came, sorted.
    dropped: Vec<u32>,
    /// For each item made here, rising: how many items of the upstream's stand before it.
    inserted: Vec<u32>,
    /// The first index that no item on the wire has.
    next: u32,
}

impl Indices {
    pub(super) fn new(dense: bool) -> Self {
        Self { dense, ..Self::default() }
    }

    /// Books an item that opens with this index, and answers with the one it has on the wire.
    pub(super) fn open(&mut self, item: u32, leaves: bool) -> Option<u32> {
        if !leaves {
            let at = self.dropped.partition_point(|dropped| *dropped <= item);
            self.dropped.insert(at, item);
            return None;
        }
        let index = if self.dense { self.next } else { self.shifted(item) };
        self.next = self.next.max(index.saturating_add(1));
        Some(index)
    }

    /// Takes back that an item was dropped.
    pub(super) fn forget(&mut self, item: u32) {
        if let Ok(at) = self.dropped.binary_search(&item) {
            self.dropped.remove(at);
        }
    }

    /// Takes the next free index for an item made here.
    pub(super) fn insert(&mut self) -> u32 {
        let index = self.next;
        self.inserted.push(index.saturating_sub(clamp(self.inserted.len())));
        self.next = index.saturating_add(1);
        index
    }

    /// An index after the dropped items before it have gone and the inserted ones have come.
    pub(super) fn shifted(&self, item: u32) -> u32 {
        let dropped = self.dropped.partition_point(|dropped| *dropped < item);
        let kept = item.saturating_sub(clamp(dropped));
        let inserted = self.inserted.partition_point(|before| *before <= kept);
        kept.saturating_add(clamp(inserted))
    }
}

fn clamp(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_made_here_takes_the_next_free_index_and_shifts_later_ones() {
        let mut indices = Indices::default();
        assert_eq!(indices.open(0, true), Some(0));
        assert_eq!(indices.open(1, false), None);
        assert_eq!(indices.insert(), 1);
        assert_eq!(indices.open(2, true), Some(2));
        assert_eq!(indices.open(3, true), Some(3));
        assert_eq!(indices.insert(), 4);
        assert_eq!(indices.open(4, false), None);
        assert_eq!(indices.open(5, true), Some(5));
    }

    #[test]
    fn an_item_that_opens_late_keeps_its_place_before_an_inserted_one() {
        let mut indices = Indices::default();
        assert_eq!(indices.open(1, true), Some(1));
        assert_eq!(indices.insert(), 2);
        assert_eq!(indices.open(0, true), Some(0));
        assert_eq!(indices.open(2, true), Some(3));
    }

    #[test]
    fn gaps_of_the_upstream_stay() {
        let mut indices = Indices::default();
        assert_eq!(indices.open(3, true), Some(3));
        assert_eq!(indices.open(5, true), Some(5));
    }
}
