//! A map for what there nearly always is one of.

use std::collections::BTreeMap;

/// Values by number, in the order of their numbers. The first one needs no more room than its own, and the first and the last are
/// found at once.
#[derive(Debug)]
pub(crate) enum Few<V, K = u32> {
    Few(Vec<(K, V)>),
    Many(Box<Many<V, K>>),
}

/// Values of which there are many.
#[derive(Debug)]
pub(crate) struct Many<V, K>(BTreeMap<K, V>);

impl<V, K: Copy + Ord> Few<V, K> {
    pub(crate) fn get(&self, number: K) -> Option<&V> {
        match self {
            Self::Few(few) => place(few, number).ok().map(|at| &few[at].1),
            Self::Many(many) => many.0.get(&number),
        }
    }

    pub(crate) fn get_mut(&mut self, number: K) -> Option<&mut V> {
        match self {
            Self::Few(few) => place(few, number).ok().map(|at| &mut few[at].1),
            Self::Many(many) => many.0.get_mut(&number),
        }
    }

    /// The value of a number; a new one if there is none.
    pub(crate) fn or_default(&mut self, number: K) -> &mut V
    where
        V: Default,
    {
        self.or_insert_with(number, V::default)
    }

    /// The value of a number; this one if there is none.
    pub(crate) fn or_insert_with(&mut self, number: K, value: impl FnOnce() -> V) -> &mut V {
        if let Self::Few(few) = self
            && few.len() == FEW
            && place(few, number).is_err()
        {
            // A new number is not put between many by moving all that are behind it.
            *self = Self::Many(Box::new(Many(std::mem::take(few).into_iter().collect())));
        }
        match self {
            Self::Few(few) => {
                let at = place(few, number).unwrap_or_else(|at| {
                    if few.is_empty() {
                        few.reserve_exact(1);
                    }
                    few.insert(at, (number, value()));
                    at
                });
                &mut few[at].1
            }
            Self::Many(many) => many.0.entry(number).or_insert_with(value),
        }
    }

    /// Sets the value of a number.
    pub(crate) fn insert(&mut self, number: K, value: V) -> &mut V {
        self.remove(number);
        self.or_insert_with(number, || value)
    }

    pub(crate) fn remove(&mut self, number: K) -> Option<V> {
        match self {
            Self::Few(few) => place(few, number).ok().map(|at| few.remove(at).1),
            Self::Many(many) => many.0.remove(&number),
        }
    }

    /// The last number up to this one, and its value.
    pub(crate) fn up_to(&self, number: K) -> Option<(K, &V)> {
        match self {
            Self::Few(few) => {
                let behind = few.partition_point(|(known, _)| *known <= number);
                few[..behind].last().map(|(known, value)| (*known, value))
            }
            Self::Many(many) => many.0.range(..=number).next_back().map(|(known, value)| (*known, value)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Few(few) => few.len(),
            Self::Many(many) => many.0.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> {
        let (few, many) = match self {
            Self::Few(few) => (Some(few), None),
            Self::Many(many) => (None, Some(many)),
        };
        let few = few.into_iter().flatten().map(|(number, value)| (*number, value));
        few.chain(many.into_iter().flat_map(|many| many.0.iter()).map(|(number, value)| (*number, value)))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (K, &mut V)> {
        let (few, many) = match self {
            Self::Few(few) => (Some(few), None),
            Self::Many(many) => (None, Some(many)),
        };
        let few = few.into_iter().flatten().map(|(number, value)| (*number, value));
        few.chain(many.into_iter().flat_map(|many| many.0.iter_mut()).map(|(number, value)| (*number, value)))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = K> {
        self.iter().map(|(number, _)| number)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.iter_mut().map(|(_, value)| value)
    }
}

fn place<V, K: Copy + Ord>(few: &[(K, V)], number: K) -> Result<usize, usize> {
    match few {
        [(first, _), ..] if *first == number => Ok(0),
        [.., (last, _)] if *last == number => Ok(few.len() - 1),
        _ => few.binary_search_by(|(known, _)| known.cmp(&number)),
    }
}

impl<V, K> Default for Few<V, K> {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

/// How many there are before they are many.
const FEW: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_numbers_in_whatever_order_these_came() {
        let mut few: Few<u32> = Few::default();
        for number in [3, 0, 7, 3, 1] {
            *few.or_default(number) += number + 1;
        }
        assert_eq!(few.values().copied().collect::<Vec<_>>(), [1, 2, 8, 8]);
        assert_eq!((few.get(0), few.get(2)), (Some(&1), None));
        assert_eq!(few.get_mut(7), Some(&mut 8));
        assert_eq!(few.iter_mut().map(|(number, _)| number).collect::<Vec<_>>(), [0, 1, 3, 7]);
    }

    #[test]
    fn many_are_as_few() {
        let mut few: Few<u32> = Few::default();
        let mut many = BTreeMap::new();
        for number in (0..40).map(|number| number * 7 % 40) {
            few.insert(number, number);
            many.insert(number, number);
            assert_eq!(few.len(), many.len());
            assert!(few.iter().eq(many.iter().map(|(number, value)| (*number, value))));
            assert_eq!(few.get(number), Some(&number));
            for bound in 0..40 {
                let known = many.range(..=bound).next_back().map(|(number, value)| (*number, value));
                assert_eq!(few.up_to(bound), known);
            }
        }
        few.insert(3, 9);
        few.values_mut().for_each(|value| *value += 1);
        assert_eq!((few.remove(3), few.remove(3), few.keys().count()), (Some(10), None, 39));
    }
}
