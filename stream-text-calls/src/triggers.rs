//! Which bytes something may begin with, so that prose is passed over quickly.

use crate::options::ScanOptions;
use crate::set::Plans;

/// What may begin with which byte.
#[derive(Debug)]
pub(crate) struct Triggers {
    /// For every byte: something may begin with it outside reasoning.
    text: [bool; 256],
    /// The same inside the reasoning tag of this number.
    reasoning: Vec<[bool; 256]>,
    /// Ways into dialects, sorted by their first byte.
    openers: Vec<(u8, usize, usize)>,
}

impl Triggers {
    pub(crate) fn new(plans: &Plans, options: &ScanOptions) -> Self {
        let mut openers = Vec::new();
        for (number, plan) in plans.dialects.iter().enumerate() {
            for (at, opener) in plan.openers.iter().enumerate() {
                openers.extend(opener.first_bytes().into_iter().map(|byte| (byte, number, at)));
            }
        }
        openers.sort_unstable();
        openers.dedup();
        let mut calls = [false; 256];
        openers.iter().for_each(|(byte, ..)| calls[usize::from(*byte)] = true);
        let mut text = calls;
        text[usize::from(b'`')] = true;
        let mut reasoning = Vec::new();
        for (open, close) in &plans.reasoning {
            open.first_bytes().into_iter().for_each(|byte| text[usize::from(byte)] = true);
            let mut inside = if options.in_reasoning { calls } else { [false; 256] };
            close.first_bytes().into_iter().for_each(|byte| inside[usize::from(byte)] = true);
            reasoning.push(inside);
        }
        Self { text, reasoning, openers }
    }

    /// The next byte with which something may begin or end.
    pub(crate) fn find(
        &self,
        text: &[u8],
        reasoning: Option<usize>,
        in_code: bool,
        inline: bool,
    ) -> Option<usize> {
        if in_code {
            // The end of its line ends inline code, too.
            return if inline { memchr::memchr2(b'`', b'\n', text) } else { memchr::memchr(b'`', text) };
        }
        let table = reasoning.and_then(|tag| self.reasoning.get(tag)).unwrap_or(&self.text);
        text.iter().position(|byte| table[usize::from(*byte)])
    }

    /// The ways into dialects that begin with a byte.
    pub(crate) fn openers(&self, byte: u8) -> impl Iterator<Item = (usize, usize)> {
        let from = self.openers.partition_point(|(first, ..)| *first < byte);
        let rest = &self.openers[from..];
        rest.iter().take_while(move |(first, ..)| *first == byte).map(|(_, plan, opener)| (*plan, *opener))
    }
}
