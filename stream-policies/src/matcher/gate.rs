//! The gate: the first bytes of all patterns at once.
//!
//! One small table says, byte by byte, which patterns have begun, and how long ago. A pattern is woken when as many bytes
//! of it have come as the gate reads, in the state in which it is then: nothing is read twice. On prose hardly any is.

use std::collections::HashMap;

use regex_automata::util::primitives::StateID;

use super::anchored::Anchored;
use super::context::Context;

/// The first bytes of patterns.
#[derive(Debug)]
pub(super) struct Gate {
    classes: [u8; 256],
    /// A state is where its row starts in `next`; rows are this power of two long.
    shift: u32,
    next: Vec<u32>,
    /// From this state on, patterns are woken.
    waking: u32,
    states: Vec<GateState>,
    woken: Vec<Woken>,
}

#[derive(Debug, Clone, Copy)]
struct GateState {
    /// How many bytes ago the first pattern that is under way began.
    depth: u8,
    /// The patterns that are woken, as a range of `woken`.
    from: u32,
    count: u16,
}

/// A pattern that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Woken {
    /// Which of the patterns.
    pub(super) pattern: u16,
    /// How many bytes of it have come.
    pub(super) depth: u8,
    pub(super) state: StateID,
}

/// A state of the gate: what is before, what is under way, what is woken here.
type Key = (Context, Vec<Woken>, Vec<Woken>);

impl Gate {
    /// How many bytes of a pattern the gate reads at most.
    pub(super) const DEPTH: usize = 4;

    /// The gate of patterns, of as many bytes as fit.
    pub(super) fn new(patterns: &[Anchored]) -> Self {
        let gates =
            (1..=Self::DEPTH).rev().filter_map(|depth| Builder::new(patterns, depth).build(MOST_STATES));
        gates.into_iter().next().unwrap_or_else(|| Builder::new(&[], 1).build(usize::MAX).unwrap_or_default())
    }

    /// Takes a byte.
    #[inline]
    pub(super) fn step(&self, state: u32, byte: u8) -> u32 {
        self.next[state as usize + usize::from(self.classes[usize::from(byte)])]
    }

    /// How many bytes ago the first pattern that is under way began.
    #[inline]
    pub(super) fn depth(&self, state: u32) -> usize {
        usize::from(self.states[(state >> self.shift) as usize].depth)
    }

    /// Whether patterns are woken.
    #[inline]
    pub(super) fn wakes(&self, state: u32) -> bool {
        state >= self.waking
    }

    /// The patterns that are woken.
    pub(super) fn woken(&self, state: u32) -> &[Woken] {
        let GateState { from, count, .. } = self.states[(state >> self.shift) as usize];
        &self.woken[from as usize..from as usize + usize::from(count)]
    }

    pub(super) fn memory(&self) -> usize {
        self.next.len() * size_of::<u32>()
            + self.states.len() * size_of::<GateState>()
            + self.woken.len() * size_of::<Woken>()
    }
}

impl Default for Gate {
    fn default() -> Self {
        let state = GateState { depth: 0, from: 0, count: 0 };
        Self {
            classes: [0; 256],
            shift: 0,
            next: vec![0],
            waking: u32::MAX,
            states: vec![state],
            woken: Vec::new(),
        }
    }
}

struct Builder<'a> {
    patterns: &'a [Anchored],
    depth: usize,
    numbers: HashMap<Key, u16>,
    keys: Vec<Key>,
}

impl<'a> Builder<'a> {
    fn new(patterns: &'a [Anchored], depth: usize) -> Self {
        Self { patterns, depth, numbers: HashMap::new(), keys: Vec::new() }
    }

    /// `None` if there are more states than that.
    fn build(mut self, most: usize) -> Option<Gate> {
        let (classes, bytes) = self.classes();
        self.number((Context::Start, Vec::new(), Vec::new()));
        let mut rows: Vec<Vec<u16>> = Vec::new();
        while let Some((context, under_way, _)) = self.keys.get(rows.len()).cloned() {
            let mut row = Vec::with_capacity(bytes.len());
            for byte in &bytes {
                let key = self.step(context, &under_way, *byte);
                row.push(self.number(key));
            }
            rows.push(row);
            if self.keys.len() > most {
                return None;
            }
        }
        // Those that wake come last: one comparison tells them.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|state| !self.keys[*state].2.is_empty());
        let mut place = vec![0_u32; rows.len()];
        let shift = bytes.len().next_power_of_two().trailing_zeros();
        for (at, state) in order.iter().enumerate() {
            place[*state] = u32::try_from(at << shift).ok()?;
        }
        let waking = order.iter().position(|state| !self.keys[*state].2.is_empty());
        let waking = waking.map_or(Some(u32::MAX), |at| u32::try_from(at << shift).ok())?;
        let mut gate = Gate { classes, shift, waking, ..Gate::default() };
        gate.next.clear();
        gate.states.clear();
        for state in order {
            let (_, under_way, woken) = &self.keys[state];
            gate.next.extend(rows[state].iter().map(|next| place[usize::from(*next)]));
            gate.next.resize(gate.next.len().next_multiple_of(1 << shift), 0);
            gate.states.push(GateState {
                depth: under_way.iter().map(|woken| woken.depth).max().unwrap_or_default(),
                from: u32::try_from(gate.woken.len()).ok()?,
                count: u16::try_from(woken.len()).ok()?,
            });
            gate.woken.extend(woken);
        }
        Some(gate)
    }

    fn number(&mut self, key: Key) -> u16 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = u16::try_from(self.keys.len()).unwrap_or(u16::MAX);
        self.keys.push(key.clone());
        self.numbers.insert(key, number);
        number
    }

    fn step(&self, context: Context, under_way: &[Woken], byte: u8) -> Key {
        let starts = self.patterns.iter().enumerate().filter_map(|(pattern, anchored)| {
            let pattern = u16::try_from(pattern).ok()?;
            Some(Woken { pattern, depth: 0, state: anchored.start(context)? })
        });
        let mut still = Vec::new();
        let mut woken = Vec::new();
        for before in under_way.iter().copied().chain(starts) {
            let anchored = &self.patterns[usize::from(before.pattern)];
            let Some(state) = anchored.next(before.state, byte) else { continue };
            let now = Woken { depth: before.depth + 1, state, ..before };
            let whole = usize::from(now.depth) >= self.depth.min(anchored.shortest);
            if whole { woken.push(now) } else { still.push(now) }
        }
        still.sort_unstable();
        woken.sort_unstable();
        (context.then(byte), still, woken)
    }

    /// Bytes that no pattern tells apart, by their class, and one byte of each.
    fn classes(&self) -> ([u8; 256], Vec<u8>) {
        let mut known: HashMap<Vec<u8>, u8> = HashMap::new();
        let mut classes = [0; 256];
        let mut bytes = Vec::new();
        for byte in 0..=u8::MAX {
            let contexts = Context::ALL.into_iter().map(|context| context.then(byte) as u8);
            let of_patterns = self.patterns.iter().map(|anchored| anchored.class(byte));
            let next = u8::try_from(known.len()).unwrap_or(u8::MAX);
            let class = *known.entry(contexts.chain(of_patterns).collect()).or_insert_with(|| {
                bytes.push(byte);
                next
            });
            classes[usize::from(byte)] = class;
        }
        (classes, bytes)
    }
}

/// The most states that a gate may have.
const MOST_STATES: usize = 8_000;
