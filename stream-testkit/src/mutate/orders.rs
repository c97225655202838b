//! Events in another order, twice, or not at all.

use super::Change;

/// Two events change places, one comes twice, one is lost, or the first one comes again.
pub(super) fn change(change: &mut Change) -> Option<String> {
    let events = change.events.where_data(|_| true);
    let (one, other) = (change.pick(&events)?, change.pick(&events)?);
    match change.below(4) {
        0 if one != other => {
            change.events.0.swap(one, other);
            Some(format!("events {one} and {other} change places"))
        }
        1 => {
            let copy = change.events.0[one].clone();
            change.events.0.insert(one, copy);
            Some(format!("event {one} comes twice"))
        }
        2 => {
            change.events.0.remove(one);
            Some(format!("event {one} is lost"))
        }
        _ => {
            let copy = change.events.0[one].clone();
            change.events.0.insert(other, copy);
            Some(format!("event {one} comes again before event {other}"))
        }
    }
}
