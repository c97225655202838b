//! Which blocks are open, which of them are on the wire, and under which number.

use crate::block::BlockKey;
use crate::delta::{Channel, DeltaKind, Runs};
use crate::wire::numbering::WireNumbering;

/// The blocks of a message as the client has them.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Events go by number, too, where positions count.
    dense: bool,
    /// Blocks that have not been stopped, dropped ones included: what comes for those must not leave.
    open: Vec<OpenBlock>,
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
        self.open.reserve_exact(usize::from(self.open.is_empty()));
        self.open.push(OpenBlock { key, upstream, number, kind });
        self.call_left |= leaves && kind == BlockKind::Call;
        number
    }

    /// The block of a later event; for one that never started here, as if it had left.
    pub(super) fn find(&self, key: Option<BlockKey>, upstream: u32) -> Option<u64> {
        match self.position(key, upstream) {
            Some(at) => self.open[at].number,
            None if self.dense => None,
            None => Some(self.numbering.shifted(upstream.into())),
        }
    }

    /// Whether a block is open, dropped ones included.
    pub(super) fn knows(&self, key: Option<BlockKey>, upstream: u32) -> bool {
        self.position(key, upstream).is_some()
    }

    /// Whether a block is open that may have arguments.
    pub(super) fn takes_input(&self, key: Option<BlockKey>, upstream: u32) -> bool {
        let kind = self.position(key, upstream).map(|at| self.open[at].kind);
        matches!(kind, Some(BlockKind::Call | BlockKind::Opaque(_)))
    }

    /// Ends the block that is open under a number which the upstream gives to another one; answers with its number on the
    /// wire, where positions count.
    pub(super) fn displace(&mut self, upstream: u32) -> Option<u64> {
        let at = self.open.iter().rposition(|block| self.dense && block.upstream == upstream)?;
        self.open.remove(at).number
    }

    /// A block stops. Gives its number on the wire, if it left.
    pub(super) fn stop(&mut self, key: Option<BlockKey>, upstream: u32) -> Option<u64> {
        let at = self.position(key, upstream)?;
        self.open.remove(at).number
    }

    /// Takes the next number for a block of our own, which starts and stops at once.
    pub(super) fn insert(&mut self, kind: BlockKind) -> u64 {
        self.call_left |= kind == BlockKind::Call;
        self.numbering.insert()
    }

    /// The text block that is open on the wire.
    pub(super) fn open_text(&self) -> Option<u64> {
        let text =
            self.open.iter().rev().find(|block| block.kind == BlockKind::Text && block.number.is_some());
        text.and_then(|block| block.number)
    }

    /// Forgets the blocks that are open on the wire and gives their numbers: whoever asks stops them.
    pub(super) fn close_all(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.open).into_iter().filter_map(|block| block.number).collect()
    }

    /// Whether any block is open on the wire.
    pub(super) fn any_open(&self) -> bool {
        self.open.iter().any(|block| block.number.is_some())
    }

    /// Whether a call has left; no text may follow it (rule 21).
    pub(super) fn call_left(&self) -> bool {
        self.call_left
    }

    /// The latest open block with that key; events that have no key go by number, and so does what one adapter writes
    /// into a block of another kind.
    fn position(&self, key: Option<BlockKey>, upstream: u32) -> Option<usize> {
        let by_key = self.open.iter().rposition(|block| match (key, block.key) {
            (Some(key), Some(of_block)) => key == of_block,
            _ => block.upstream == upstream,
        });
        by_key.or_else(|| self.open.iter().rposition(|block| self.dense && block.upstream == upstream))
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
}
