//! Patterns in text that comes in pieces.

use std::sync::LazyLock;

use crate::matcher::oracle::{Oracle, spans, streamed};
use crate::matcher::{Pattern, Patterns};
use crate::redact::all_presets;

/// What is found in a text, whole or in any pieces, is what another regex engine finds in the whole; and what is withheld
/// over a limit does not depend on the pieces.
///
/// The first line says which patterns are looked for and where the rest, the text, is cut.
///
/// # Panics
///
/// When one of these is not so.
pub fn matcher(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (plan, text) = text.split_once('\n').unwrap_or(("", &text));
    let numbers: Vec<usize> = plan.bytes().map(usize::from).collect();
    let (patterns, oracle) = &SETS[numbers.first().map_or(0, |number| number % SETS.len())];
    let mut at = 0;
    let mut place = |number: &usize| {
        at += number % 32;
        at
    };
    let planned: Vec<usize> = numbers.iter().map(&mut place).collect();
    let every: Vec<usize> = (0..=text.len()).collect();
    let expected = oracle.find(text);
    assert_eq!(spans(&patterns.find_all(text)), expected, "the whole");
    for cuts in [&planned, &every] {
        assert_eq!(spans(&streamed(patterns, text, cuts, usize::MAX).0), expected, "cut at {cuts:?}");
    }
    let limit = numbers.last().map_or(0, |number| number % 32);
    let withheld = |cuts: &[usize]| {
        let mut joined: Vec<(usize, usize, usize)> = Vec::new();
        for hit in streamed(patterns, text, cuts, limit).0 {
            match joined.last_mut() {
                Some((_, _, end)) if hit.continues && *end == hit.start => *end = hit.end,
                _ => joined.push((hit.rule, hit.start, hit.end)),
            }
        }
        joined
    };
    assert_eq!(withheld(&planned), withheld(&every), "over a limit of {limit}");
}

/// All presets, and a few patterns of every kind.
static SETS: LazyLock<[(Patterns, Oracle); 2]> = LazyLock::new(|| {
    let own = [
        Pattern::literal("first", "abcd"),
        Pattern::literal("second", "cdef"),
        Pattern::literal("any case", "blue bird").ignore_case(),
        Pattern::regex("greedy", "f[0-9]+"),
        Pattern::regex("lazy", "(?s)<x>.*?</x>"),
        Pattern::regex("bounded", "a{3}b|aaaac"),
        Pattern::regex("word", r"(?-u:\b)sk-[a-z]{3,}(?-u:\b)"),
        Pattern::regex("lines", "(?m:^)# .+(?m:$)"),
        Pattern::regex("ends", r"\Abegin[^.]*|é+\z"),
    ];
    [all_presets(), own.into()].map(|patterns| {
        let compiled = Patterns::new(&patterns).expect("patterns that can be used");
        (compiled, Oracle::new(&patterns))
    })
});
