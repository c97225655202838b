//! Values with deadlines, found by key and by deadline.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Values with deadlines. Only [`retain`](Self::retain) visits all of them.
#[derive(Debug)]
pub(super) struct Timed<K, V>(Option<Box<Things<K, V>>>);

#[derive(Debug)]
struct Things<K, V> {
    by_key: BTreeMap<K, (Duration, V)>,
    by_time: BTreeSet<(Duration, K)>,
}

impl<K: Copy + Ord, V> Timed<K, V> {
    pub(super) fn insert(&mut self, key: K, deadline: Duration, thing: V) {
        self.remove(key);
        let things = self.0.get_or_insert_default();
        things.by_key.insert(key, (deadline, thing));
        things.by_time.insert((deadline, key));
    }

    pub(super) fn remove(&mut self, key: K) -> Option<V> {
        let things = self.0.as_mut()?;
        let (deadline, thing) = things.by_key.remove(&key)?;
        things.by_time.remove(&(deadline, key));
        Some(thing)
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&V) -> bool) {
        let Some(things) = &mut self.0 else { return };
        let by_time = &mut things.by_time;
        things.by_key.retain(|key, (deadline, thing)| {
            let keeps = keep(thing);
            if !keeps {
                by_time.remove(&(*deadline, *key));
            }
            keeps
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|things| things.by_key.is_empty())
    }

    /// The values, in the order of their keys.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> + '_ {
        self.0.iter().flat_map(|things| things.by_key.values()).map(|(_, thing)| thing)
    }

    /// The first deadline.
    pub(super) fn first(&self) -> Option<Duration> {
        self.0.as_ref()?.by_time.first().map(|(deadline, _)| *deadline)
    }

    /// The keys whose deadlines have passed, in order.
    pub(super) fn late(&self, now: Duration) -> Vec<K> {
        let all = self.0.iter().flat_map(|things| &things.by_time);
        let mut late: Vec<K> =
            all.take_while(|(deadline, _)| *deadline <= now).map(|(_, key)| *key).collect();
        late.sort_unstable();
        late
    }
}

impl<K, V> Default for Timed<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K, V> Default for Things<K, V> {
    fn default() -> Self {
        Self { by_key: BTreeMap::new(), by_time: BTreeSet::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_deadline_is_known_whatever_was_taken_out() {
        let seconds = Duration::from_secs;
        let mut timed = Timed::default();
        for (key, time) in [(1, 5), (2, 3), (3, 4), (4, 3)] {
            timed.insert(key, seconds(time), key);
        }
        assert_eq!((timed.first(), timed.late(seconds(4))), (Some(seconds(3)), vec![2, 3, 4]));
        timed.insert(2, seconds(9), 2);
        assert_eq!((timed.remove(4), timed.remove(4)), (Some(4), None));
        assert_eq!((timed.first(), timed.late(seconds(2))), (Some(seconds(4)), vec![]));
        timed.retain(|value| *value != 3);
        assert_eq!(
            (timed.first(), timed.values().copied().collect::<Vec<_>>()),
            (Some(seconds(5)), vec![1, 2])
        );
    }
}
