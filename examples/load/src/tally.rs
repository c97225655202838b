//! What came of a number of streams.

use std::collections::BTreeMap;
use std::time::Duration;

/// What came of a number of streams.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// How many ended as they should.
    pub(crate) streams: usize,
    pub(crate) bytes: usize,
    /// From the request to the first byte of the answer's body, in microseconds.
    pub(crate) first_bytes: Vec<u32>,
    /// From the upstream to the client, for each chunk with a time in it, in microseconds.
    pub(crate) delays: Vec<u32>,
    /// What went wrong, and how often.
    pub(crate) errors: BTreeMap<String, usize>,
    /// The most that were open at once.
    pub(crate) open: usize,
    pub(crate) elapsed: Duration,
}

impl Tally {
    pub(crate) fn merge(&mut self, other: Self) {
        self.streams += other.streams;
        self.bytes += other.bytes;
        self.first_bytes.extend(other.first_bytes);
        self.delays.extend(other.delays);
        for (error, count) in other.errors {
            self.fail(error, count);
        }
    }

    pub(crate) fn fail(&mut self, error: String, count: usize) {
        *self.errors.entry(error).or_default() += count;
    }

    pub(crate) fn failed(&self) -> usize {
        self.errors.values().sum()
    }

    pub(crate) fn megabytes_per_second(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.elapsed.as_secs_f64()
    }
}

/// The value below which this share of all values is, in milliseconds; of microseconds.
pub(crate) fn milliseconds(values: &[u32], share: f64) -> f64 {
    let mut values: Vec<f64> = values.iter().map(|value| f64::from(*value) / 1000.0).collect();
    quantile(&mut values, share)
}

/// The middle one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    quantile(&mut values, 0.5)
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_came() {
        let values: Vec<u32> = (1..=200).rev().map(|n| n * 1000).collect();
        assert_eq!(milliseconds(&values, 0.5), 100.0);
        assert_eq!(milliseconds(&values, 0.99), 198.0);
        assert_eq!(milliseconds(&values[..1], 0.99), 200.0);
        assert!(milliseconds(&[], 0.5).is_nan());
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }
}
