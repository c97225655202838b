//! The fate of a part, from its mark and the account of its block.

use super::Ahead;
use super::queued::{Mark, Queued, Waiting, inserted_call, inserted_text};
use crate::block::BlockKey;
use crate::delta::{Channel, DeltaKind, FinishKind, FinishReason, Slot, Text};
use crate::engine::accounts::{Accounts, Settled};
use crate::policy::{Replacement, With};
use crate::wire::{Fate, Part, SharedFormat};

/// Decides the parts of the first frame of a queue, as far as possible. Returns whether all are decided.
pub(super) fn settle(
    frame: &mut Queued,
    accounts: &mut Accounts,
    format: &SharedFormat,
    ahead: &Ahead,
) -> bool {
    while let Some((part, waiting)) = frame.undecided() {
        let mut before = Vec::new();
        if waiting.mark != Mark::Decided {
            match resolve(part, waiting, accounts, ahead) {
                None => return false,
                Some(Resolved::Fate(fate)) => part.fate = fate,
                Some(Resolved::DropFor(notice)) => {
                    part.fate = Fate::Dropped;
                    before.push(inserted_text(part.delta.choice.unwrap_or(0), notice));
                }
                Some(Resolved::Promote(id)) => {
                    part.fate = Fate::Dropped;
                    accounts.promote(&part.delta, id);
                }
            }
        }
        if let (Some(key), true) = (part.key, waiting.opener) {
            accounts.opens(key);
        }
        account(part, accounts, format);
        before.extend(accounts.take_promoted(&part.delta).into_iter().map(inserted_call));
        frame.decide(before);
    }
    true
}

/// Drops payload that was sent and is not written yet. Held payload stays held.
pub(super) fn take_back(part: &mut Part, waiting: Option<&mut Waiting>, accounts: &mut Accounts) {
    if !part.delta.kind.is_payload() || part.fate == Fate::Dropped {
        return;
    }
    let Waiting { mark, opener } = waiting.as_deref().copied().unwrap_or_default();
    let outcome = match mark {
        Mark::Held { seq } => {
            part.key.and_then(|key| accounts.get(key)).and_then(|account| account.outcome(seq))
        }
        _ => Some(&Settled::Release),
    };
    let was_kept = match outcome {
        None => return,
        Some(Settled::Release | Settled::Edit(_)) => true,
        Some(Settled::Replace(_)) => opener,
        Some(Settled::Drop { .. } | Settled::Say(_) | Settled::Promote { .. }) => false,
    };
    part.fate = Fate::Dropped;
    if let Some(waiting) = waiting {
        waiting.mark = Mark::Decided;
    }
    if let Some(key) = part.key.filter(|_| was_kept) {
        accounts.take_back(key, opener);
    }
}

enum Resolved {
    Fate(Fate),
    /// The part is dropped, and a text takes its place.
    DropFor(Text),
    /// The part is dropped, and a structured call with this id stands before the finish of its choice.
    Promote(Text),
}

fn resolve(part: &mut Part, waiting: Waiting, accounts: &Accounts, ahead: &Ahead) -> Option<Resolved> {
    // The mark of an earlier stage, edited or inserted, stays.
    let as_it_came = part.fate;
    let kept = Some(Resolved::Fate(as_it_came));
    let dropped = Some(Resolved::Fate(Fate::Dropped));
    let account = |key: Option<BlockKey>| key.and_then(|key| accounts.get(key));
    match waiting.mark {
        Mark::Decided => kept,
        Mark::Held { seq } => {
            let account = account(part.key)?;
            match account.outcome(seq)? {
                Settled::Release => kept,
                Settled::Edit(text) => {
                    replace_body(&mut part.delta.kind, text, None);
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
                    replace(&mut part.delta.kind, with, account.renamed.as_ref());
                    Some(Resolved::Fate(edited(as_it_came)))
                }
                Settled::Replace(_) => dropped,
            }
        }
        Mark::Opens | Mark::Closes => match account(part.key)? {
            account if account.leaves() => kept,
            account if account.waits() => None,
            account if account.gone => dropped,
            account if !account.closed => None,
            account if account.has_payload() => dropped,
            _ => kept,
        },
        Mark::Copies => match account(part.key) {
            Some(account) if !account.has_payload() || !account.is_touched() => kept,
            Some(account) if !account.leaves() && account.channel != Some(Channel::Reasoning) => dropped,
            // The adaptor for text calls writes the blocks within the text into the copy.
            Some(account) if !account.is_touched_itself() => kept,
            Some(account) => {
                if let DeltaKind::Copy(copy) = &mut part.delta.kind {
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
        Mark::Rides => match (part.delta.slot, account(part.key)) {
            (Slot::At { .. }, Some(account)) if account.is_touched() => dropped,
            (Slot::At { .. }, _) => kept,
            // An annotation of a choice may belong to any of its blocks.
            _ if accounts.is_touched(part.delta.choice.unwrap_or(0)) => dropped,
            _ => kept,
        },
        Mark::RidesAhead { seq } => {
            let choice = part.delta.choice.unwrap_or(0);
            let came = ahead.get(choice)?;
            let next = came.get(came.partition_point(|(at, _)| *at <= seq))?;
            match account(next.1) {
                _ if accounts.is_touched(choice) => dropped,
                // The block may have begun long before: the next payload counts.
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

/// Accounts for a part whose fate is known: the written body of its block, and a finish reason that fits the written calls.
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
    let (Some(key), true) = (part.key, part.fate != Fate::Dropped) else { return };
    let account = accounts.get_mut(key);
    if !account.watched || !format.traits().restates {
        return;
    }
    let text = match &part.delta.kind {
        DeltaKind::Text { text, .. } => Some(text),
        DeltaKind::Call(call) => call.arguments.as_ref(),
        DeltaKind::Copy(copy) if copy.is_first => copy.body.as_ref(),
        _ => None,
    };
    if let Some(text) = text {
        account.sent.push_str(text);
    }
}

/// Replaces the content of a delta by a replacement.
fn replace(kind: &mut DeltaKind, with: &Replacement, name: Option<&Text>) {
    match (kind, &with.with) {
        (DeltaKind::Call(call), With::Written(text)) => call.instead = Some(text.as_str().into()),
        (kind, _) => replace_body(kind, with.body(), name),
    }
}

/// Replaces the content of a delta by a text.
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

/// The fate of a part with other content.
pub(crate) fn edited(fate: Fate) -> Fate {
    if fate == Fate::Inserted { Fate::Inserted } else { Fate::Edited }
}
