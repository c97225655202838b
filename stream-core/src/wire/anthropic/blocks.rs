//! Which blocks are open, which of them are on the wire, and under which number.

use std::collections::BTreeSet;

use crate::block::BlockKey;
use crate::delta::{Channel, DeltaKind, Runs};
use crate::few::Few;
use crate::wire::numbering::WireNumbering;

/// The blocks of a message as the client has them. However many are open, a look at one is cheap: a server may never stop any.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Events go by number, too, where positions count.
    dense: bool,
    /// Blocks that have not been stopped, dropped ones included: what comes for those must not leave. They are kept by the order
    /// in which they started.
    open: Few<OpenBlock>,
    started: u32,
    /// The places of those with a key, and of those without.
    keyed: Few<u32>,
    keyless: BTreeSet<u32>,
    /// The place of the latest one with each of the upstream's numbers.
    latest: Few<u32>,
    /// The places of the texts that are open on the wire; the last of them still is.
    texts: Vec<u32>,
    /// How many are open on the wire.
    on_wire: usize,
    numbering: WireNumbering,
    call_left: bool,
}

impl Blocks {
    pub(super) fn new(dense: bool) -> Self {
        Self { dense, numbering: WireNumbering::new(dense), ..Self::default() }
    }

    /// A block starts upstream. Gives its number on the wire, if it leaves.
    pub(super) fn start(
        &mut self,
        key: Option<BlockKey>,
        upstream: u32,
        kind: BlockKind,
        leaves: bool,
    ) -> Option<u64> {
        let number = self.numbering.open(upstream.into(), leaves);
        let place = self.started;
        self.started = self.started.wrapping_add(1);
        match key {
            Some(key) => drop(self.keyed.insert(key.0, place)),
            None => drop(self.keyless.insert(place)),
        }
        let before = self.latest.get(upstream).copied();
        self.latest.insert(upstream, place);
        if number.is_some() {
            self.on_wire += 1;
            if kind == BlockKind::Text {
                self.texts.push(place);
            }
        }
        self.open.insert(place, OpenBlock { key, upstream, number, kind, before });
        self.call_left |= leaves && kind == BlockKind::Call;
        number
    }

    /// The block of a later event; for one that never started here, as if it had left.
    pub(super) fn find(&self, key: Option<BlockKey>, upstream: u32) -> Option<u64> {
        match self.place(key, upstream).and_then(|place| self.open.get(place)) {
            Some(block) => block.number,
            None if self.dense => None,
            None => Some(self.numbering.shifted(upstream.into())),
        }
    }

    /// Whether a block is open, dropped ones included.
    pub(super) fn knows(&self, key: Option<BlockKey>, upstream: u32) -> bool {
        self.place(key, upstream).is_some()
    }

    /// Whether a block is open that may have arguments.
    pub(super) fn takes_input(&self, key: Option<BlockKey>, upstream: u32) -> bool {
        let kind = self.place(key, upstream).and_then(|place| self.open.get(place)).map(|block| block.kind);
        matches!(kind, Some(BlockKind::Call | BlockKind::Opaque(_)))
    }

    /// Ends the block that is open under a number which the upstream gives to another one; answers with its number on the
    /// wire, where positions count.
    pub(super) fn displace(&mut self, upstream: u32) -> Option<u64> {
        let place = self.latest.get(upstream).copied().filter(|_| self.dense)?;
        self.close(place)
    }

    /// A block stops. Gives its number on the wire, if it left.
    pub(super) fn stop(&mut self, key: Option<BlockKey>, upstream: u32) -> Option<u64> {
        let place = self.place(key, upstream)?;
        self.close(place)
    }

    /// Takes the next number for a block of our own, which starts and stops at once.
    pub(super) fn insert(&mut self, kind: BlockKind) -> u64 {
        self.call_left |= kind == BlockKind::Call;
        self.numbering.insert()
    }

    /// The text block that is open on the wire.
    pub(super) fn open_text(&self) -> Option<u64> {
        self.texts.last().and_then(|place| self.open.get(*place)?.number)
    }

    /// Forgets the blocks that are open on the wire and gives their numbers: whoever asks stops them.
    pub(super) fn close_all(&mut self) -> Vec<u64> {
        (self.keyed, self.latest) = Default::default();
        self.keyless.clear();
        self.texts.clear();
        self.on_wire = 0;
        std::mem::take(&mut self.open).values().filter_map(|block| block.number).collect()
    }

    /// Whether any block is open on the wire.
    pub(super) fn any_open(&self) -> bool {
        self.on_wire > 0
    }

    /// Whether a call has left; no text may follow it (rule 21).
    pub(super) fn call_left(&self) -> bool {
        self.call_left
    }

    /// The latest open block with that key; events that have no key go by number, and so does what one adapter writes
    /// into a block of another kind.
    fn place(&self, key: Option<BlockKey>, upstream: u32) -> Option<u32> {
        let by_number = || self.latest.get(upstream).copied();
        let Some(key) = key else { return by_number() };
        let of_number = |place: &&u32| self.open.get(**place).is_some_and(|block| block.upstream == upstream);
        let keyless = self.keyless.iter().rev().find(of_number).copied();
        let by_key = self.keyed.get(key.0).copied().max(keyless);
        by_key.or_else(|| by_number().filter(|_| self.dense))
    }

    fn close(&mut self, place: u32) -> Option<u64> {
        let block = self.open.remove(place)?;
        match block.key {
            Some(key) if self.keyed.get(key.0) == Some(&place) => drop(self.keyed.remove(key.0)),
            Some(_) => {}
            None => drop(self.keyless.remove(&place)),
        }
        self.unlink(place, &block);
        self.on_wire -= usize::from(block.number.is_some());
        while self.texts.last().is_some_and(|last| self.open.get(*last).is_none()) {
            self.texts.pop();
        }
        block.number
    }

    /// Takes a block out of the row of those that have its number.
    fn unlink(&mut self, place: u32, block: &OpenBlock) {
        let Some(latest) = self.latest.get(block.upstream).copied() else { return };
        if latest == place {
            match block.before {
                Some(before) => drop(self.latest.insert(block.upstream, before)),
                None => drop(self.latest.remove(block.upstream)),
            }
            return;
        }
        let mut at = Some(latest);
        while let Some(later) = at.and_then(|at| self.open.get_mut(at)) {
            if later.before == Some(place) {
                later.before = block.before;
                return;
            }
            at = later.before;
        }
    }
}

/// What a block is to the one who writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    Call,
    Opaque(Runs),
}

impl BlockKind {
    /// Whether a client may run it: stopping it before its end would make it look whole.
    pub(super) fn may_run(self) -> bool {
        matches!(self, Self::Call | Self::Opaque(Runs::Unknown))
    }

    /// The kind of the block that a delta opens.
    pub(super) fn opened_by(kind: &DeltaKind) -> Option<Self> {
        match kind {
            DeltaKind::Start { channel: Channel::Reasoning } => Some(Self::Thinking),
            DeltaKind::Start { .. } => Some(Self::Text),
            DeltaKind::Call(call) if call.starts => Some(Self::Call),
            DeltaKind::Opaque { runs, .. } => Some(Self::Opaque(*runs)),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct OpenBlock {
    key: Option<BlockKey>,
    upstream: u32,
    /// Its number on the wire; `None` if it was dropped.
    number: Option<u64>,
    kind: BlockKind,
    /// The place of the one before it that is open under the same number of the upstream's.
    before: Option<u32>,
}
