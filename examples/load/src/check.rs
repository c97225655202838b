//! Holds what arrives against what should, byte by byte, but for the times in it.

use std::sync::Arc;

/// The bytes of a right answer.
#[derive(Debug)]
pub(crate) struct Expected {
    bytes: Vec<u8>,
    /// Where a time of `width` digits stands.
    stamps: Vec<usize>,
    width: usize,
}

impl Expected {
    /// An answer in which a time stands behind each `name`.
    pub(crate) fn new(bytes: Vec<u8>, name: &[u8], width: usize) -> Self {
        let starts = bytes.windows(name.len()).enumerate().filter(|(_, window)| *window == name);
        let stamps = starts.map(|(at, _)| at + name.len()).collect();
        Self { bytes, stamps, width }
    }

    /// An answer without times.
    pub(crate) fn plain(bytes: Vec<u8>) -> Self {
        Self { bytes, stamps: Vec::new(), width: 0 }
    }

    /// The bytes, with no times.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// One answer that is arriving.
#[derive(Debug)]
pub(crate) struct Check {
    expected: Arc<Expected>,
    at: usize,
    /// How many times were read.
    stamps: usize,
    /// The digits of the one that is being read.
    time: u64,
}

impl Check {
    pub(crate) fn new(expected: Arc<Expected>) -> Self {
        Self { expected, at: 0, stamps: 0, time: 0 }
    }

    /// Takes what has arrived at this time; false if it is wrong. Pushes how long ago it was sent, for each stamp.
    #[must_use]
    pub(crate) fn take(&mut self, mut bytes: &[u8], now: u64, delays: &mut Vec<u32>) -> bool {
        while !bytes.is_empty() {
            let Expected { bytes: right, stamps, width } = &*self.expected;
            let stamp = stamps.get(self.stamps).copied().unwrap_or(right.len());
            let end = if self.at < stamp { stamp } else { (stamp + width).min(right.len()) };
            let (part, rest) = bytes.split_at(bytes.len().min(end - self.at));
            if part.is_empty() || (self.at < stamp && part != &right[self.at..self.at + part.len()]) {
                return false;
            }
            if self.at >= stamp {
                let digits = part.iter().map(|digit| u64::from(digit.wrapping_sub(b'0')));
                self.time = digits.fold(self.time, |time, digit| time.wrapping_mul(10).wrapping_add(digit));
                if self.at + part.len() == end {
                    if self.time > 0 {
                        delays.push(u32::try_from(now.saturating_sub(self.time)).unwrap_or(u32::MAX));
                    }
                    self.time = 0;
                    self.stamps += 1;
                }
            }
            self.at += part.len();
            bytes = rest;
        }
        true
    }

    /// Whether all has arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.at == self.expected.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check() -> Check {
        Check::new(Arc::new(Expected::new(b"a t=00 b t=00 c".to_vec(), b"t=", 2)))
    }

    #[test]
    fn a_right_answer_is_right_however_it_is_cut() {
        for size in 1..16 {
            let (mut check, mut delays) = (check(), Vec::new());
            for part in b"a t=10 b t=15 c".chunks(size) {
                assert!(check.take(part, 20, &mut delays));
            }
            assert!(check.is_complete());
            assert_eq!(delays, [10, 5]);
        }
    }

    #[test]
    fn an_answer_without_times_has_no_delays() {
        let mut delays = Vec::new();
        assert!(check().take(b"a t=00 b t=00 c", 20, &mut delays));
        assert_eq!(delays, Vec::<u32>::new());
    }

    #[test]
    fn wrong_missing_and_superfluous_bytes_are_found() {
        assert!(!check().take(b"a t=10 X", 20, &mut Vec::new()));
        assert!(!check().take(b"a t=10 b t=15 c, and more", 20, &mut Vec::new()));
        let mut short = check();
        assert!(short.take(b"a t=10 b", 20, &mut Vec::new()));
        assert!(!short.is_complete());
    }
}
