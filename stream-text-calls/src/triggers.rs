//! Which bytes something may begin with, so that prose is passed over quickly.

use crate::options::ScanOptions;
use crate::plan::Mark;
use crate::set::Plans;

/// What may begin with which byte.
#[derive(Debug)]
pub(crate) struct Triggers {
    /// For every byte: something may begin with it outside reasoning, and the same behind a marker that opened a region.
    text: [[bool; 256]; 2],
    /// The same inside the reasoning tag of this number.
    reasoning: Vec<[[bool; 256]; 2]>,
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
        let mut calls = [[false; 256]; 2];
        for (byte, plan, opener) in &openers {
            let is_own = plans.dialects[*plan].openers[*opener].mark == Mark::Own;
            calls[0][usize::from(*byte)] |= is_own;
            calls[1][usize::from(*byte)] = true;
        }
        for byte in plans.dialects.iter().flat_map(|plan| plan.leave.first_bytes()) {
            calls[1][usize::from(byte)] = true;
        }
        let mark = |tables: &mut [[bool; 256]; 2], bytes: Vec<u8>| {
            tables
                .iter_mut()
                .for_each(|table| bytes.iter().for_each(|byte| table[usize::from(*byte)] = true));
        };
        let mut text = calls;
        mark(&mut text, vec![b'`']);
        let mut reasoning = Vec::new();
        for (open, close) in &plans.reasoning {
            mark(&mut text, open.first_bytes());
            let mut inside = if options.in_reasoning { calls } else { [[false; 256]; 2] };
            mark(&mut inside, close.first_bytes());
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
        in_region: bool,
    ) -> Option<usize> {
        if in_code {
            // The end of its line ends inline code, too.
            return if inline { memchr::memchr2(b'`', b'\n', text) } else { memchr::memchr(b'`', text) };
        }
        let table = reasoning.and_then(|tag| self.reasoning.get(tag)).unwrap_or(&self.text);
        let table = &table[usize::from(in_region)];
        text.iter().position(|byte| table[usize::from(*byte)])
    }

    /// The ways into dialects that begin with a byte.
    pub(crate) fn openers(&self, byte: u8) -> impl Iterator<Item = (usize, usize)> {
        let from = self.openers.partition_point(|(first, ..)| *first < byte);
        let rest = &self.openers[from..];
        rest.iter().take_while(move |(first, ..)| *first == byte).map(|(_, plan, opener)| (*plan, *opener))
    }
}
