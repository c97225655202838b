//! The queue of a stage: frames in order; "held" is a mark on a part (rules 11 and 12).

use std::collections::{BTreeMap, VecDeque};

use crate::block::BlockKey;
use crate::delta::{CallDelta, Channel, Delta, DeltaKind, FinishKind, FinishReason, Slot, Text};
use crate::engine::accounts::{Accounts, Settled};
use crate::few::Few;
use crate::policy::{Replacement, With};
use crate::sse::Frame;
use crate::wire::{Fate, Outgoing, Part, SharedFormat};

/// A part waiting to leave.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) part: Part,
    pub(crate) mark: Mark,
    /// The first payload of its block.
    pub(crate) opener: bool,
}

/// What a part waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing: its fate is known.
    Decided,
    /// The outcome of what was held of its block at `seq`.
    Held { seq: u64 },
    /// Leaves with the first payload of its block that does.
    Opens,
    /// Leaves unless its block was dropped.
    Closes,
    /// Says again what its block holds.
    Copies,
    /// Leaves if its block leaves untouched.
    Rides,
    /// As `Rides`, for the next payload of its choice after `seq`.
    RidesAhead { seq: u64 },
    /// Opens or closes an item: leaves with its blocks.
    Wraps { item: u32 },
}

/// A frame waiting to leave.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) frame: Option<Frame>,
    pub(crate) parts: Vec<Waiting>,
    /// How many parts are decided for good.
    decided: usize,
    arrival: u64,
}

impl Queued {
    pub(crate) fn new(frame: Option<Frame>, parts: Vec<Waiting>) -> Self {
        Self { frame, parts, decided: 0, arrival: 0 }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.frame.as_ref().map_or(0, |frame| frame.raw().len())
    }

    /// The one choice all its parts belong to.
    fn choice(&self) -> Option<u32> {
        let mut choices = self.parts.iter().map(|waiting| waiting.part.delta.choice);
        let first = choices.next()??;
        choices.all(|choice| choice == Some(first)).then_some(first)
    }
}

/// Frames on their way out, in order within each choice; frames of several choices or none wait for all before them,
/// and all behind them wait for them.
#[derive(Debug)]
pub(crate) struct Queue {
    format: SharedFormat,
    lanes: BTreeMap<u32, VecDeque<Queued>>,
    /// From the first frame that is not of one choice on.
    behind: VecDeque<Queued>,
    bytes: usize,
    arrivals: u64,
    /// The first payload of a choice after each annotation that waits for one.
    ahead: Few<Vec<(u64, Option<BlockKey>)>>,
}

impl Queue {
    pub(crate) fn new(format: SharedFormat) -> Self {
        Self {
            format,
            lanes: BTreeMap::new(),
            behind: VecDeque::new(),
            bytes: 0,
            arrivals: 0,
            ahead: Few::default(),
        }
    }

    /// Whether nothing waits to leave, nor for the next payload of a choice.
    pub(crate) fn is_idle(&self, choice: u32) -> bool {
        self.lanes.is_empty() && self.behind.is_empty() && self.ahead.get(choice).is_none()
    }

    /// How many bytes of frames wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn push(&mut self, mut frame: Queued) {
        frame.arrival = self.arrivals;
        self.arrivals += 1;
        self.bytes += frame.bytes();
        match frame.choice() {
            Some(choice) if self.behind.is_empty() => self.lanes.entry(choice).or_default().push_back(frame),
            _ => self.behind.push_back(frame),
        }
    }

    /// Takes a frame, and gives every frame whose turn has come. Where nothing waits, one that waits for nothing is never queued.
    /// `room` is an empty list for its parts.
    pub(crate) fn pass(
        &mut self,
        mut frame: Queued,
        mut room: Vec<Part>,
        accounts: &mut Accounts,
        out: &mut Vec<Outgoing>,
    ) {
        let is_first = self.lanes.is_empty() && self.behind.is_empty();
        if is_first && settle(&mut frame, accounts, &self.format, &self.ahead) {
            self.arrivals += 1;
            room.extend(frame.parts.into_iter().map(|waiting| waiting.part));
            out.push(Outgoing { frame: frame.frame, parts: room });
        } else {
            self.push(frame);
            self.release(accounts, out);
        }
    }

    /// The next payload of a choice came: annotations that waited for it now ride on it. `None`: no more comes.
    pub(crate) fn payload_came(&mut self, choice: u32, seq: u64, key: Option<BlockKey>) {
        if let Some(waiting) = self.ahead.get_mut(choice) {
            waiting.push((seq, key));
        }
    }

    /// An annotation waits for the next payload of its choice.
    pub(crate) fn waits_ahead(&mut self, choice: u32) {
        self.ahead.or_default(choice);
    }

    /// No more payload comes in any choice.
    pub(crate) fn no_more(&mut self, seq: u64) {
        for waiting in self.ahead.values_mut() {
            waiting.push((seq, None));
        }
    }

    /// As many frames passed the queue by.
    pub(crate) fn passed(&mut self, frames: usize) {
        self.arrivals += frames as u64;
    }

    /// Takes every frame whose turn has come.
    pub(crate) fn release(&mut self, accounts: &mut Accounts, out: &mut Vec<Outgoing>) {
        let released = out.len();
        loop {
            let mut waits;
            loop {
                // Of the lanes that may move, the frame that came first goes first: what was held together and is
                // released together keeps its order over the choices too.
                let mut next: Option<(u64, u32)> = None;
                waits = false;
                for (choice, lane) in &mut self.lanes {
                    let Some(frame) = lane.front_mut() else { continue };
                    if !settle(frame, accounts, &self.format, &self.ahead) {
                        waits = true;
                    } else if next.is_none_or(|(first, _)| frame.arrival < first) {
                        next = Some((frame.arrival, *choice));
                    }
                }
                let Some((_, choice)) = next else { break };
                out.extend(self.lanes.get_mut(&choice).and_then(VecDeque::pop_front).map(leave));
            }
            if waits {
                break;
            }
            self.lanes.clear();
            let Some(frame) = self.behind.front_mut() else { break };
            if !settle(frame, accounts, &self.format, &self.ahead) {
                break;
            }
            out.extend(self.behind.pop_front().map(leave));
            while let Some(choice) = self.behind.front().and_then(Queued::choice) {
                let lane = self.lanes.entry(choice).or_default();
                lane.extend(self.behind.pop_front());
            }
        }
        self.bytes -= out[released..]
            .iter()
            .map(|gone| gone.frame.as_ref().map_or(0, |frame| frame.raw().len()))
            .sum::<usize>();
    }

    /// Drops payload that was let go and waits behind something held: once that is cut off, nothing follows it.
    pub(crate) fn abandon(&mut self, accounts: &mut Accounts) {
        let frames = self.lanes.values_mut().flatten().chain(self.behind.iter_mut());
        for waiting in frames.flat_map(|frame| frame.parts.iter_mut().skip(frame.decided)) {
            take_back(waiting, accounts);
        }
    }

    /// Drops payload of a choice that was let go and waits behind a block, `last` being the frame under way.
    pub(crate) fn cut_behind(
        &mut self,
        key: BlockKey,
        choice: u32,
        last: Option<&mut Queued>,
        accounts: &mut Accounts,
    ) {
        let lane = self.lanes.get_mut(&choice).into_iter().flatten();
        let frames = lane.chain(self.behind.iter_mut()).chain(last);
        let parts = frames.flat_map(|frame| frame.parts.iter_mut().skip(frame.decided));
        // Copies of the block may come much later.
        let is_payload = |part: &Part| part.delta.choice == Some(choice) && part.delta.kind.is_payload();
        let waiting: Vec<&mut Waiting> = parts.filter(|waiting| is_payload(&waiting.part)).collect();
        let block = waiting.iter().rposition(|waiting| waiting.part.key == Some(key));
        for waiting in waiting.into_iter().skip(block.map_or(0, |block| block + 1)) {
            take_back(waiting, accounts);
        }
    }

    /// Drops the annotations that still wait for the payload they speak of. True if there were any.
    pub(crate) fn drop_ahead(&mut self, accounts: &Accounts) -> bool {
        let mut any = false;
        let ahead = &self.ahead;
        let frames = self.lanes.values_mut().flatten().chain(self.behind.iter_mut());
        for waiting in frames.flat_map(|frame| frame.parts.iter_mut()) {
            let choice = waiting.part.delta.choice.unwrap_or(0);
            let came = match (waiting.mark, waiting.part.key) {
                (Mark::RidesAhead { seq }, _) => {
                    ahead.get(choice).is_some_and(|came| came.last().is_some_and(|(at, _)| *at > seq))
                }
                (Mark::Rides, Some(key)) => accounts.get(key).is_some_and(|account| account.payload > 0),
                _ => true,
            };
            if !came {
                waiting.part.fate = Fate::Dropped;
                waiting.mark = Mark::Decided;
                any = true;
            }
        }
        any
    }

    /// The number that the next frame gets.
    pub(crate) fn next_arrival(&self) -> u64 {
        self.arrivals
    }

    /// Forgets the frames that came after one, as if they had not been read.
    pub(crate) fn forget_after(&mut self, arrival: u64) {
        let queues = self.lanes.values_mut().chain([&mut self.behind]);
        queues.for_each(|queue| queue.retain(|frame| frame.arrival <= arrival));
        let left = self.lanes.values().chain([&self.behind]).flatten();
        self.bytes = left.map(Queued::bytes).sum();
    }

    /// Drops finishes, terminal markers and errors, so that an ending can take their place.
    pub(crate) fn drop_endings(&mut self) {
        let frames = self.lanes.values_mut().flatten().chain(self.behind.iter_mut());
        for waiting in frames.flat_map(|frame| frame.parts.iter_mut()) {
            let kind = &waiting.part.delta.kind;
            if matches!(kind, DeltaKind::Finish(_) | DeltaKind::Terminal | DeltaKind::Error(_)) {
                waiting.part.fate = Fate::Dropped;
                waiting.mark = Mark::Decided;
            }
        }
    }
}

fn leave(frame: Queued) -> Outgoing {
    Outgoing { frame: frame.frame, parts: frame.parts.into_iter().map(|waiting| waiting.part).collect() }
}

/// Decides the parts of a frame at the head of its queue as far as possible; true if all are.
fn settle(
    frame: &mut Queued,
    accounts: &mut Accounts,
    format: &SharedFormat,
    ahead: &Few<Vec<(u64, Option<BlockKey>)>>,
) -> bool {
    while frame.decided < frame.parts.len() {
        let waiting = &mut frame.parts[frame.decided];
        let Some(resolved) = resolve(waiting, accounts, ahead) else { return false };
        let notice = match resolved {
            Resolved::Fate(fate) => {
                waiting.part.fate = fate;
                None
            }
            Resolved::DropFor(notice) => {
                waiting.part.fate = Fate::Dropped;
                Some(notice)
            }
            Resolved::Promote(id) => {
                waiting.part.fate = Fate::Dropped;
                accounts.promote(&waiting.part.delta, id);
                None
            }
        };
        waiting.mark = Mark::Decided;
        if let (Some(key), true) = (waiting.part.key, waiting.opener) {
            accounts.opens(key);
        }
        account(&mut waiting.part, accounts, format);
        let promoted = accounts.take_promoted(&waiting.part.delta);
        let before: Vec<Waiting> = promoted.into_iter().map(inserted_call).collect();
        let count = before.len();
        if let Some(text) = notice {
            let choice = waiting.part.delta.choice.unwrap_or(0);
            frame.parts.insert(frame.decided, inserted_text(choice, text));
            frame.decided += 1;
        }
        frame.parts.splice(frame.decided..frame.decided, before);
        frame.decided += count + 1;
    }
    true
}

pub(crate) fn inserted_text(choice: u32, text: Text) -> Waiting {
    let delta = Delta::new(choice, Slot::Run, DeltaKind::Text { channel: Channel::Content, text });
    Waiting { part: Part { delta, key: None, fate: Fate::Inserted }, mark: Mark::Decided, opener: false }
}

pub(crate) fn inserted_call((choice, call): (u32, CallDelta)) -> Waiting {
    let delta = Delta::new(choice, Slot::Call { index: None }, DeltaKind::Call(call));
    Waiting { part: Part { delta, key: None, fate: Fate::Inserted }, mark: Mark::Decided, opener: false }
}

/// Drops payload that was let go and has not left. What is not decided over yet stays held.
fn take_back(waiting: &mut Waiting, accounts: &mut Accounts) {
    let part = &mut waiting.part;
    if !part.delta.kind.is_payload() || part.fate == Fate::Dropped {
        return;
    }
    let outcome = match waiting.mark {
        Mark::Held { seq } => {
            part.key.and_then(|key| accounts.get(key)).and_then(|account| account.outcome(seq))
        }
        _ => Some(&Settled::Release),
    };
    let was_kept = match outcome {
        None => return,
        Some(Settled::Release | Settled::Edit(_)) => true,
        Some(Settled::Replace(_)) => waiting.opener,
        Some(Settled::Drop { .. } | Settled::Say(_) | Settled::Promote { .. }) => false,
    };
    part.fate = Fate::Dropped;
    waiting.mark = Mark::Decided;
    if let Some(key) = part.key.filter(|_| was_kept) {
        accounts.take_back(key, waiting.opener);
    }
}

enum Resolved {
    Fate(Fate),
    /// Dropped, with a text in its place.
    DropFor(Text),
    /// Dropped, and a structured call with this id before its choice finishes.
    Promote(Text),
}

fn resolve(
    waiting: &mut Waiting,
    accounts: &Accounts,
    ahead: &Few<Vec<(u64, Option<BlockKey>)>>,
) -> Option<Resolved> {
    // What an earlier stage edited or inserted stays marked so.
    let as_it_came = waiting.part.fate;
    let kept = Some(Resolved::Fate(as_it_came));
    let dropped = Some(Resolved::Fate(Fate::Dropped));
    let account = |key: Option<BlockKey>| key.and_then(|key| accounts.get(key));
    match waiting.mark {
        Mark::Decided => kept,
        Mark::Held { seq } => {
            let account = account(waiting.part.key)?;
            match account.outcome(seq)? {
                Settled::Release => kept,
                Settled::Edit(text) => {
                    replace_body(&mut waiting.part.delta.kind, text, None);
                    Some(Resolved::Fate(edited(as_it_came)))
                }
                Settled::Drop { notice: Some(text) } if waiting.opener => {
                    Some(Resolved::DropFor(text.clone()))
                }
                Settled::Say(text) if waiting.opener => Some(Resolved::DropFor(text.clone())),
                Settled::Drop { .. } | Settled::Say(_) => dropped,
                Settled::Promote { id } if waiting.opener => Some(Resolved::Promote(id.clone())),
                Settled::Promote { .. } => dropped,
                Settled::Replace(with) if waiting.opener => {
                    replace(&mut waiting.part.delta.kind, with, account.renamed.as_ref());
                    Some(Resolved::Fate(edited(as_it_came)))
                }
                Settled::Replace(_) => dropped,
            }
        }
        Mark::Opens | Mark::Closes => match account(waiting.part.key)? {
            account if account.leaves() => kept,
            account if account.waits() => None,
            account if account.gone => dropped,
            account if !account.closed => None,
            account if account.has_payload() => dropped,
            _ => kept,
        },
        Mark::Copies => match account(waiting.part.key) {
            Some(account) if !account.has_payload() || !account.is_touched() => kept,
            Some(account) if !account.leaves() && account.channel != Some(Channel::Reasoning) => dropped,
            // What was written into it is said again where the text is put together.
            Some(account) if !account.is_touched_itself() => kept,
            Some(account) => {
                if let DeltaKind::Copy(copy) = &mut waiting.part.delta.kind {
                    if copy.body.is_some() {
                        copy.body = Some(account.sent.as_str().into());
                    }
                    if copy.name.is_some() && account.renamed.is_some() {
                        copy.name.clone_from(&account.renamed);
                    }
                    return Some(Resolved::Fate(edited(as_it_came)));
                }
                dropped
            }
            None => kept,
        },
        Mark::Rides => match (waiting.part.delta.slot, account(waiting.part.key)) {
            (Slot::At { .. }, Some(account)) if account.is_touched() => dropped,
            (Slot::At { .. }, _) => kept,
            // What is said of a choice may speak of all its blocks.
            _ if accounts.is_touched(waiting.part.delta.choice.unwrap_or(0)) => dropped,
            _ => kept,
        },
        Mark::RidesAhead { seq } => {
            let choice = waiting.part.delta.choice.unwrap_or(0);
            let came = ahead.get(choice)?;
            let next = came.get(came.partition_point(|(at, _)| *at <= seq))?;
            match account(next.1) {
                _ if accounts.is_touched(choice) => dropped,
                // The block may have begun long before: what counts is the payload that came next.
                Some(account) if !account.is_decided() => None,
                _ => kept,
            }
        }
        Mark::Wraps { item } => match accounts.item(item) {
            Some(item) if item.kept > 0 => kept,
            Some(item) if item.undecided > 0 || !item.closed => None,
            Some(item) if item.payload > 0 || item.gone => dropped,
            Some(_) => kept,
            None => None,
        },
    }
}

/// Books a part whose fate is now known: what left of its block, and the finish reason that fits the calls that left.
fn account(part: &mut Part, accounts: &mut Accounts, format: &SharedFormat) {
    if let DeltaKind::Finish(reason) = &part.delta.kind {
        let choice = accounts.choice_mut(part.delta.choice.unwrap_or(0));
        let fits = match reason.kind() {
            FinishKind::ToolCalls if choice.had_call && choice.calls_left == 0 => FinishKind::Stop,
            FinishKind::Stop if !choice.had_call && choice.calls_left > 0 => FinishKind::ToolCalls,
            kind => kind,
        };
        if fits != reason.kind()
            && part.fate != Fate::Dropped
            && let Some(word) = format.finish_word(fits)
        {
            part.delta.kind = DeltaKind::Finish(FinishReason::new(fits, word));
            part.fate = edited(part.fate);
        }
        return;
    }
    if part.fate == Fate::Dropped || !format.traits().restates {
        return;
    }
    let Some(key) = part.key else { return };
    let text = match &part.delta.kind {
        DeltaKind::Text { text, .. } => Some(text),
        DeltaKind::Call(call) => call.arguments.as_ref(),
        DeltaKind::Copy(copy) if copy.is_first => copy.body.as_ref(),
        _ => None,
    };
    let account = accounts.get_mut(key);
    if let (Some(text), true) = (text, account.watched) {
        account.sent.push_str(text);
    }
}

/// Puts a replacement in place of a delta's content.
fn replace(kind: &mut DeltaKind, with: &Replacement, name: Option<&Text>) {
    match (kind, &with.with) {
        (DeltaKind::Call(call), With::Written(text)) => call.instead = Some(text.as_str().into()),
        (kind, _) => replace_body(kind, with.body(), name),
    }
}

/// Puts new content in place of a delta's.
pub(crate) fn replace_body(kind: &mut DeltaKind, body: &str, name: Option<&Text>) {
    match kind {
        DeltaKind::Text { text, .. } => *text = body.into(),
        DeltaKind::Call(call) => {
            call.arguments = Some(body.into());
            if name.is_some() {
                call.name = name.cloned();
            }
        }
        DeltaKind::Copy(copy) => {
            copy.body = Some(body.into());
            if name.is_some() {
                copy.name = name.cloned();
            }
        }
        _ => {}
    }
}

/// The fate of a part that leaves with other content.
pub(crate) fn edited(fate: Fate) -> Fate {
    if fate == Fate::Inserted { Fate::Inserted } else { Fate::Edited }
}
