//! Which blocks are open, which of them are on the wire, and under which number.

use crate::block::BlockKey;
use crate::delta::{Channel, DeltaKind, Runs};
use crate::few::Few;
use crate::wire::numbering::WireNumbering;

/// The blocks of a message as the client has them. However many are open, a look at one is cheap: a server may never stop any.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Events go by number, too, where positions count.
    dense: bool,
    /// Blocks that have not been stopped, dropped ones included: what comes for those must not leave.
    open: Few<OpenBlock, Place>,
    /// How many blocks have started.
    started: u32,
    /// How many of the open ones are on the wire, and how many of these are texts.
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

    /// A block starts upstream. Gives its number on the wire, if it leaves.
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

    /// The block of a later event; for one that never started here, as if it had left.
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

    /// Whether a block is open that may have arguments.
    pub(super) fn takes_input(&self, key: Option<BlockKey>, upstream: u32) -> bool {
        let kind = self.look(key, upstream).map(|(_, block)| block.kind);
        matches!(kind, Some(BlockKind::Call | BlockKind::Opaque(_)))
    }

    /// Ends the block that is open under a number which the upstream gives to another one; answers with its number on the
    /// wire, where positions count.
    pub(super) fn displace(&mut self, upstream: u32) -> Option<u64> {
        let (place, _) = self.latest(upstream, u32::MAX).filter(|_| self.dense)?;
        self.close(place)
    }

    /// A block stops. Gives its number on the wire, if it left.
    pub(super) fn stop(&mut self, key: Option<BlockKey>, upstream: u32) -> Option<u64> {
        let (place, _) = self.look(key, upstream)?;
        self.close(place)
    }

    /// Takes the next number for a block of our own, which starts and stops at once.
    pub(super) fn insert(&mut self, kind: BlockKind) -> u64 {
        self.call_left |= kind == BlockKind::Call;
        self.numbering.insert()
    }

    /// The text block that is open on the wire, the one that started last.
    pub(super) fn open_text(&self) -> Option<u64> {
        let texts = self.open.iter().filter(|(_, block)| self.texts > 0 && block.is_text());
        texts.max_by_key(|((_, started), _)| *started).and_then(|(_, block)| block.number)
    }

    /// Forgets the blocks that are open on the wire and gives their numbers, in the order of their starts: whoever asks stops them.
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

    /// Whether a call has left; no text may follow it (rule 21).
    pub(super) fn call_left(&self) -> bool {
        self.call_left
    }

    /// The latest open block with that key; events that have no key go by number, and so does what one adapter writes
    /// into a block of another kind.
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
    /// Its number on the wire; `None` if it was dropped.
    number: Option<u64>,
    kind: BlockKind,
}

impl OpenBlock {
    /// Whether the block is a text on the wire.
    fn is_text(&self) -> bool {
        self.kind == BlockKind::Text && self.number.is_some()
    }
}
