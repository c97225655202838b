//! The order of blocks: whether every client assigns an event to the block that this reader assigns it to (rule 28).
//!
//! The official SDKs append a block at its start and take `index` as a position; others go by `index`; others assign
//! input to the call that started last. All of them read the same where blocks start once, in the order of their numbers,
//! and where only the last call gets input. Clients concatenate the text of blocks that take turns in several orders, and
//! policies match the text in each of them.

use std::collections::VecDeque;

use crate::delta::{Channel, Delta, DeltaKind, Slot};
use crate::few::Few;
use crate::json::Nesting;
use crate::wire::{DecodeError, Due, Odd};

/// The blocks of an upstream message.
#[derive(Debug, Default)]
pub(crate) struct MessageOrder {
    /// Whether events have an `event` line. Some proxies write none.
    pub(super) named: Option<bool>,
    started: bool,
    ended: bool,
    /// The number of blocks that have started, which is the number of the next one.
    count: u32,
    /// The latest block of each number.
    blocks: Few<Block>,
    /// The call that started last: some clients assign all input to this call.
    last: Option<u32>,
    /// The block that is passed on while others wait for its end.
    front: Option<u32>,
    /// The lanes that wait, and the number of the first of them.
    waiting: VecDeque<WaitingBlock>,
    first: u64,
    /// The last block started with its input, and waits for the next event: more input would be a second input to some
    /// clients.
    unsure: bool,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    kind: OrderKind,
    /// The block is no call that the client runs: the fold accepts more deltas after its end.
    opaque: bool,
    open: bool,
    /// The lane that the block waits in.
    lane: Option<u64>,
    /// The input was there when the block started.
    filled: bool,
    input: Nesting,
}

impl Block {
    /// A block that has just started.
    fn new(kind: OrderKind, opaque: bool) -> Self {
        Self { kind, opaque, open: true, lane: None, filled: false, input: Nesting::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderKind {
    Text,
    /// A call, run by the client or the server: some clients treat server tools as calls of their own.
    Call,
    Other,
}

#[derive(Debug)]
struct WaitingBlock {
    item: u32,
    open: bool,
}

impl MessageOrder {
    /// Records the deltas of an event. Returns the reason why the event is not plain, and when the event is passed on.
    pub(in crate::wire) fn see(&mut self, deltas: &[Delta]) -> Result<(Option<Odd>, Due), DecodeError> {
        // The fold closes the stream on a delta after the end.
        if self.ended {
            return Ok((None, Due::Now));
        }
        if deltas.first().is_some_and(|delta| delta.kind == DeltaKind::Opening) {
            return self.message(deltas);
        }
        self.ended = deltas.iter().any(|delta| delta.kind == DeltaKind::Terminal);
        if std::mem::take(&mut self.unsure) {
            return self.after_filled(deltas);
        }
        let (mut odd, mut lane) = (None, Due::Now);
        for delta in deltas {
            let Slot::At { item, .. } = delta.slot else {
                if matches!(delta.kind, DeltaKind::Finish(_) | DeltaKind::Terminal | DeltaKind::Error(_)) {
                    self.release_all();
                    lane = Due::Last;
                }
                continue;
            };
            match started(delta) {
                Some((kind, filled)) => {
                    if is_opaque(delta) && self.blocks.get(item).is_some() {
                        // The fold would take both for one block, and clients for two.
                        return Err(two_blocks());
                    }
                    let filled = filled || deltas.iter().any(|delta| is_filled(&delta.kind));
                    (odd, lane) = self.start(item, Block { filled, ..Block::new(kind, is_opaque(delta)) })?;
                }
                // A delta of the block's start.
                None if deltas.iter().any(|delta| started(delta).is_some()) => {}
                None => {
                    let (more, now) = self.go_on(item, &delta.kind)?;
                    odd = odd.or(more);
                    lane = now;
                }
            }
        }
        Ok((odd, lane))
    }

    /// Records the event after a call that started with its input.
    fn after_filled(&mut self, deltas: &[Delta]) -> Result<(Option<Odd>, Due), DecodeError> {
        let last = self.last;
        last.into_iter().for_each(|item| self.go(item));
        let more = deltas.iter().find_map(|delta| match &delta.kind {
            DeltaKind::Call(call) if !call.starts && Some(delta.slot) == last.map(Slot::item) => {
                call.arguments.as_deref().filter(|arguments| !arguments.is_empty())
            }
            _ => None,
        });
        if let (Some(block), true) = (last.and_then(|item| self.blocks.get_mut(item)), more.is_some()) {
            // From here on the input of the call comes in pieces.
            block.filled = false;
        }
        let first = more.map(|_| Odd::Type);
        let (odd, lane) = self.see(deltas)?;
        self.unsure = false;
        Ok((odd, if lane == Due::Last { lane } else { Due::After(first) }))
    }

    /// Records a `message_start`. The blocks in the message stand before all others.
    fn message(&mut self, deltas: &[Delta]) -> Result<(Option<Odd>, Due), DecodeError> {
        let blocks = deltas.iter().filter_map(started).count();
        if std::mem::replace(&mut self.started, true) || self.count > 0 {
            return match blocks {
                // One adapter sends two.
                0 => Ok((Some(Odd::Order), Due::Now)),
                _ => Err(DecodeError::ambiguous("one message", "a second one with content")),
            };
        }
        self.count = u32::try_from(blocks).unwrap_or(u32::MAX);
        for delta in deltas {
            if let (Slot::At { item, .. }, Some((kind, filled))) = (delta.slot, started(delta)) {
                let block = Block { filled, open: false, ..Block::new(kind, is_opaque(delta)) };
                self.blocks.insert(item, block);
            }
        }
        Ok((None, Due::Now))
    }

    fn start(&mut self, item: u32, block: Block) -> Result<(Option<Odd>, Due), DecodeError> {
        let odd = (item != self.count).then_some(Odd::Order);
        self.count = self.count.saturating_add(1);
        let waits = self.blocks.get(item).is_some_and(|block| block.open && block.lane.is_some());
        if waits {
            return Err(two_blocks());
        }
        let (is_call, filled) = (block.kind == OrderKind::Call, block.filled);
        // LangChain assigns input to the block that started last, be it a call or not, and reads what it has of the call.
        let half = self.last.filter(|last| *last != item && self.is_half(*last));
        let behind = !self.waiting.is_empty() || half.is_some();
        let lane = behind.then(|| self.first + self.waiting.len() as u64);
        self.blocks.insert(item, Block { lane, ..block });
        if behind {
            self.front = if self.waiting.is_empty() { half } else { self.front };
            self.waiting.push_back(WaitingBlock { item, open: true });
            return Ok((Some(Odd::Order), Due::Opens));
        }
        if is_call {
            self.last = Some(item);
        }
        if filled {
            self.unsure = true;
            return Ok((odd, Due::Opens));
        }
        Ok((odd, Due::Now))
    }

    /// Records a later delta of a block, or its end.
    fn go_on(&mut self, item: u32, said: &DeltaKind) -> Result<(Option<Odd>, Due), DecodeError> {
        let says = matches!(said, DeltaKind::Text { .. } | DeltaKind::Call(_) | DeltaKind::Opaque { .. });
        let Some(block) = self.blocks.get_mut(item) else {
            if says && self.waiting.is_empty() {
                // A block whose start is missing.
                self.blocks.insert(item, Block::new(OrderKind::Other, true));
                self.count = self.count.saturating_add(1);
                if matches!(said, DeltaKind::Call(_)) {
                    self.last = Some(item);
                }
            }
            let speaks = says || *said == DeltaKind::Stop;
            return Ok((speaks.then_some(Odd::Order), Due::Now));
        };
        if *said == DeltaKind::Stop {
            let odd = (!std::mem::replace(&mut block.open, false)).then_some(Odd::Order);
            return Ok((odd, self.stop(item)));
        }
        if let DeltaKind::Call(call) = said {
            let arguments = call.arguments.as_deref().unwrap_or_default();
            if block.filled && !arguments.is_empty() {
                return Err(DecodeError::ambiguous("the input of a call once", "more of it"));
            }
            block.input.read(arguments);
        }
        let is_call = block.kind == OrderKind::Call;
        if let Some(lane) = block.lane {
            // The block waits for the end of a call, to which some clients would assign its input.
            return match said {
                DeltaKind::Call(_) if !is_call => Err(more_of_another()),
                _ => Ok((None, Due::In(lane))),
            };
        }
        let is_late = says && !block.open && block.opaque;
        // Some clients assign input of a block that is no call to the call that started last.
        let is_input = matches!(said, DeltaKind::Call(_)) && (is_call || self.last.is_some());
        // A text block may have taken the number of the call.
        let is_others = self.last != Some(item) || block.kind == OrderKind::Text;
        if is_late || (is_input && is_others) {
            return Err(more_of_another());
        }
        Ok((None, Due::Now))
    }

    fn stop(&mut self, item: u32) -> Due {
        let lane = self.blocks.get(item).and_then(|block| block.lane);
        if let Some(lane) = lane {
            let at = usize::try_from(lane - self.first).unwrap_or(usize::MAX);
            if let Some(waiting) = self.waiting.get_mut(at) {
                waiting.open = false;
            }
            return Due::In(lane);
        }
        if self.front != Some(item) || self.waiting.is_empty() {
            return Due::Now;
        }
        let mut released = 0;
        while let Some(next) = self.waiting.pop_front() {
            released += 1;
            self.go(next.item);
            self.front = Some(next.item).filter(|_| next.open);
            if next.open {
                break;
            }
        }
        Due::Then(released)
    }

    fn release_all(&mut self) {
        while let Some(next) = self.waiting.pop_front() {
            self.go(next.item);
        }
    }

    /// Ends the wait of a block, which becomes the block that started last.
    fn go(&mut self, item: u32) {
        self.first += 1;
        if let Some(block) = self.blocks.get_mut(item) {
            block.lane = None;
            if block.kind == OrderKind::Call {
                self.last = Some(item);
            }
        }
    }

    /// Whether a block is an open call whose input is not whole.
    fn is_half(&self, item: u32) -> bool {
        self.blocks.get(item).is_some_and(|block| {
            block.kind == OrderKind::Call && block.open && !block.filled && !block.input.is_whole()
        })
    }
}

fn is_opaque(delta: &Delta) -> bool {
    matches!(delta.kind, DeltaKind::Opaque { .. })
}

/// Whether a delta has input. The input of a server tool is a delta beside its start.
fn is_filled(kind: &DeltaKind) -> bool {
    matches!(kind, DeltaKind::Call(call) if call.arguments.is_some())
}

/// The kind of the block that a delta starts, and whether the delta has the input.
fn started(delta: &Delta) -> Option<(OrderKind, bool)> {
    match &delta.kind {
        DeltaKind::Start { channel: Channel::Content | Channel::Reasoning | Channel::Refusal } => {
            Some((OrderKind::Text, false))
        }
        DeltaKind::Call(call) if call.starts => Some((OrderKind::Call, call.arguments.is_some())),
        DeltaKind::Opaque { kind, .. } if delta.site.opens => {
            let is_call = matches!(&**kind, "server_tool_use" | "mcp_tool_use");
            Some((if is_call { OrderKind::Call } else { OrderKind::Other }, false))
        }
        _ => None,
    }
}

fn more_of_another() -> DecodeError {
    DecodeError::ambiguous("input of the call that started last", "more of another block")
}

fn two_blocks() -> DecodeError {
    DecodeError::ambiguous("blocks with numbers of their own", "one number for two blocks")
}
