//! When a notice is due, and when a refusal is allowed.

use crate::delta::{Channel, Delta, DeltaKind, FinishKind, FinishReason, Slot};
use crate::wire::turn::{RefusalRule, TurnLedger, Weight};
use crate::wire::{Fate, Part, WriterOptions};

fn part(choice: u32, kind: DeltaKind) -> Part {
    Part { delta: Delta::new(choice, Slot::Run, kind), key: None, fate: Fate::Kept }
}

fn text(channel: Channel, text: &str) -> Part {
    part(0, DeltaKind::Text { channel, text: text.into() })
}

fn finish(choice: u32) -> Part {
    part(choice, DeltaKind::Finish(FinishReason::new(FinishKind::Stop, "stop")))
}

/// Whether choice 0 gets a notice at its finish, after these parts with their fates.
fn is_due(parts: &[(Part, Fate)]) -> bool {
    let mut ledger = TurnLedger::<()>::new(&WriterOptions::default());
    for (part, fate) in parts {
        ledger.note(part, *fate, Weight::of(&part.delta.kind));
    }
    let due = ledger.notices(&finish(0), Fate::Kept);
    assert!(ledger.notices(&finish(0), Fate::Kept).is_empty(), "said once");
    assert!(due.iter().all(|due| *due == (0, "[withheld by policy]".into())));
    !due.is_empty()
}

#[test]
fn a_notice_is_due_where_the_whole_answer_was_dropped() {
    let content = || text(Channel::Content, "a");
    assert!(!is_due(&[]));
    assert!(!is_due(&[(content(), Fate::Kept)]));
    assert!(is_due(&[(content(), Fate::Dropped)]));
    assert!(is_due(&[(text(Channel::Content, ""), Fate::Edited)]));
    assert!(!is_due(&[(content(), Fate::Dropped), (content(), Fate::Inserted)]));
}

#[test]
fn reasoning_is_a_loss_only_if_none_of_it_left_and_no_answer() {
    let thought = || text(Channel::Reasoning, "a");
    assert!(is_due(&[(thought(), Fate::Dropped)]));
    assert!(!is_due(&[(thought(), Fate::Dropped), (thought(), Fate::Kept)]));
    assert!(is_due(&[(thought(), Fate::Kept), (text(Channel::Content, "b"), Fate::Dropped)]));
}

#[test]
fn a_refusal_completes_no_call_and_follows_no_finish() {
    let mut ledger = TurnLedger::<()>::new(&WriterOptions::default());
    let refusable =
        |ledger: &TurnLedger| [RefusalRule::Each, RefusalRule::Together].map(|rule| ledger.refusable(rule));
    assert_eq!(refusable(&ledger), [Some(vec![0]), Some(vec![0])]);
    ledger.turn(0).half_call(7);
    assert_eq!(refusable(&ledger), [None, None]);
    ledger.turn(0).whole_call(7);
    ledger.turn(1).half_call(8);
    ledger.note(&finish(1), Fate::Kept, Weight::Nothing);
    assert!(!ledger.turn(1).is_half(8), "a finish completes it");
    assert_eq!(refusable(&ledger), [Some(vec![0]), None]);
    ledger.note(&finish(0), Fate::Kept, Weight::Nothing);
    assert_eq!((refusable(&ledger), ledger.choices()), ([None, None], vec![0, 1]));
}
