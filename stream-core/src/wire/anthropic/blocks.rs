//! The open blocks, and their numbers on the wire.

use crate::block::BlockKey;
use crate::delta::{Channel, DeltaKind, Runs};
use crate::few::Few;
use crate::wire::numbering::WireNumbering;

/// The blocks of a message as the client has them. Finding one is cheap however many are open: a server may never stop any.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Numbers on the wire are positions, and an event without a known key goes by its number.
    dense: bool,
    /// Blocks that have not stopped, dropped ones included: later events of a dropped block are dropped.
    open: Few<OpenBlock, Place>,
    /// The number of blocks that have started.
    started: u32,
    /// The number of open blocks on the wire, and the number of texts among them.
    on_wire: u32,
    texts: u32,
    numbering: WireNumbering,
    call_left: bool,
}

/// The upstream's number of a block, and its position among all blocks in the order of their starts: several blocks may have one number.
type Place = (u32, u32);

impl Blocks {
    pub(super) fn new(dense: bool) -> Self {
        Self { dense, numbering: WireNumbering::new(dense), ..Self::default() }
    }

    /// Records the start of an upstream block, and returns its number on the wire; `None` if the block is dropped.
    pub(super) fn start(
        &mut self,
        key: Option<BlockKey>,
        upstream: u32,
        kind: BlockKind,
        leaves: bool,
    ) -> Option<u64> {
        let number = self.numbering.open(upstream.into(), leaves);
        let block = OpenBlock { key, number, kind };
        self.on_wire += u32::from(number.is_some());
        self.texts += u32::from(block.is_text());
        self.open.insert((upstream, self.started), block);
        self.started = self.started.wrapping_add(1);
        self.call_left |= leaves && kind == BlockKind::Call;
        number
    }

    /// The number on the wire for a later event; for a block without a start, as if the start had been written.
    pub(super) fn find(&self, key: Option<BlockKey>, upstream: u32) -> Option<u64> {
        match self.look(key, upstream) {
            Some((_, block)) => block.number,
            None if self.dense => None,
            None => Some(self.numbering.shifted(upstream.into())),
        }
    }

    /// Whether a block is open, dropped ones included.
    pub(super) fn knows(&self, key: Option<BlockKey>, upstream: u32) -> bool {
        self.look(key, upstream).is_some()
    }

    /// Whether the open block may have arguments.
    pub(super) fn takes_input(&self, key: Option<BlockKey>, upstream: u32) -> bool {
        let kind = self.look(key, upstream).map(|(_, block)| block.kind);
        matches!(kind, Some(BlockKind::Call | BlockKind::Opaque(_)))
    }

    /// Ends the open block whose number the upstream gives to a new block, where numbers are positions. Returns the number
    /// of the ended block on the wire.
    pub(super) fn displace(&mut self, upstream: u32) -> Option<u64> {
        let (place, _) = self.latest(upstream, u32::MAX).filter(|_| self.dense)?;
        self.close(place)
    }

    /// Records the stop of a block, and returns its number on the wire; `None` if the block was dropped.
    pub(super) fn stop(&mut self, key: Option<BlockKey>, upstream: u32) -> Option<u64> {
        let (place, _) = self.look(key, upstream)?;
        self.close(place)
    }

    /// Takes the next number for an inserted block, which starts and stops at once.
    pub(super) fn insert(&mut self, kind: BlockKind) -> u64 {
        self.call_left |= kind == BlockKind::Call;
        self.numbering.insert()
    }

    /// The number of the last text block that is open on the wire.
    pub(super) fn open_text(&self) -> Option<u64> {
        let texts = self.open.iter().filter(|(_, block)| self.texts > 0 && block.is_text());
        texts.max_by_key(|((_, started), _)| *started).and_then(|(_, block)| block.number)
    }

    /// Removes the blocks that are open on the wire and returns their numbers, in the order of their starts. The caller stops
    /// them.
    pub(super) fn close_all(&mut self) -> Vec<u64> {
        (self.on_wire, self.texts) = (0, 0);
        let open = std::mem::take(&mut self.open);
        let mut left: Vec<(u32, u64)> =
            open.iter().filter_map(|((_, started), block)| Some((started, block.number?))).collect();
        left.sort_unstable();
        left.into_iter().map(|(_, number)| number).collect()
    }

    /// Whether any block is open on the wire.
    pub(super) fn any_open(&self) -> bool {
        self.on_wire > 0
    }

    /// Whether a call was written; no text may follow it (rule 21).
    pub(super) fn call_left(&self) -> bool {
        self.call_left
    }

    /// The latest open block with that key. Events without a key go by number, as do the deltas that one adapter writes into
    /// a block of another kind.
    fn look(&self, key: Option<BlockKey>, upstream: u32) -> Option<(Place, &OpenBlock)> {
        let latest = self.latest(upstream, u32::MAX);
        let mut at = latest;
        while let Some(((_, started), block)) = at {
            if key.is_none() || block.key.is_none() || block.key == key {
                return at;
            }
            at = started.checked_sub(1).and_then(|before| self.latest(upstream, before));
        }
        latest.filter(|_| self.dense)
    }

    /// The open block with this number of the upstream's that started last, up to a position among all starts.
    fn latest(&self, upstream: u32, started: u32) -> Option<(Place, &OpenBlock)> {
        self.open.up_to((upstream, started)).filter(|((number, _), _)| *number == upstream)
    }

    fn close(&mut self, place: Place) -> Option<u64> {
        let block = self.open.remove(place)?;
        self.on_wire -= u32::from(block.number.is_some());
        self.texts -= u32::from(block.is_text());
        block.number
    }
}

/// The kind of a block, for the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    Call,
    Opaque(Runs),
}

impl BlockKind {
    /// Whether a client may run the block: a stop before its end would make the block look whole.
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
    /// The number on the wire; `None` if the block was dropped.
    number: Option<u64>,
    kind: BlockKind,
}

impl OpenBlock {
    /// Whether the block is a text on the wire.
    fn is_text(&self) -> bool {
        self.kind == BlockKind::Text && self.number.is_some()
    }
}
