//! A map for what there nearly always is one of.

/// Values by number, in the order of their numbers. The first one needs no more room than its own, and is found at once.
#[derive(Debug)]
pub(crate) struct Few<V>(Vec<(u32, V)>);

impl<V> Few<V> {
    pub(crate) fn get(&self, number: u32) -> Option<&V> {
        self.place(number).ok().map(|at| &self.0[at].1)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut V> {
        self.place(number).ok().map(|at| &mut self.0[at].1)
    }

    /// The value of a number; a new one if there is none.
    pub(crate) fn or_default(&mut self, number: u32) -> &mut V
    where
        V: Default,
    {
        let at = self.place(number).unwrap_or_else(|at| {
            if self.0.is_empty() {
                self.0.reserve_exact(1);
            }
            self.0.insert(at, (number, V::default()));
            at
        });
        &mut self.0[at].1
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut V)> {
        self.0.iter_mut().map(|(number, value)| (*number, value))
    }

    fn place(&self, number: u32) -> Result<usize, usize> {
        match self.0.first() {
            Some((first, _)) if *first == number => Ok(0),
            _ => self.0.binary_search_by_key(&number, |(known, _)| *known),
        }
    }
}

impl<V> Default for Few<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

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
}
