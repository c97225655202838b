//! Checksums: what looks like a number of some kind, and is one.

use std::ops::Range;

/// A card number: 13 to 19 digits with a first digit that issuers have, for which Luhn's sum holds. A number may
/// stand beside other groups of digits: the first and longest run of whole groups that is one counts.
pub(super) fn card(text: &str) -> Option<Range<usize>> {
    runs_of_groups(text).find(|range| {
        let digits: Vec<u32> = text[range.clone()].chars().filter_map(|c| c.to_digit(10)).collect();
        matches!(digits.len(), 13..=19) && matches!(digits[0], 2..=6) && luhn(&digits)
    })
}

/// An IBAN: 15 to 34 letters and digits whose remainder by 97 is 1. Words behind it may look as if they belonged to it:
/// the longest run of whole groups that is one counts.
pub(super) fn iban(text: &str) -> Option<Range<usize>> {
    let mut runs = runs_of_groups(text).peekable();
    let first = runs.peek()?.start;
    runs.take_while(|range| range.start == first).find(|range| {
        let compact: Vec<u8> = text[range.clone()].bytes().filter(u8::is_ascii_alphanumeric).collect();
        matches!(compact.len(), 15..=34) && remainder_97(&compact) == 1
    })
}

/// The runs of groups of letters and digits: by their start, the longest first. The letter of an escape before the first
/// is not part of it.
fn runs_of_groups(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let escape = if text.starts_with('\\') { 2 } else { 0 };
    let bytes = text.bytes().enumerate().skip(escape);
    for (at, _) in bytes.filter(|(_, byte)| byte.is_ascii_alphanumeric()) {
        match groups.last_mut() {
            Some(group) if group.end == at => group.end += 1,
            _ => groups.push(at..at + 1),
        }
    }
    let count = groups.len();
    let runs = (0..count).flat_map(move |first| (first..count).rev().map(move |last| (first, last)));
    runs.map(move |(first, last)| groups[first].start..groups[last].end)
}

fn luhn(digits: &[u32]) -> bool {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| if place % 2 == 1 { doubled(*digit) } else { *digit })
        .sum();
    sum.is_multiple_of(10)
}

/// ISO 7064: the country and check digits go to the end, letters count from 10.
fn remainder_97(compact: &[u8]) -> u32 {
    let (head, rest) = compact.split_at(4);
    rest.iter().chain(head).fold(0, |remainder, byte| match byte {
        b'0'..=b'9' => (remainder * 10 + u32::from(byte - b'0')) % 97,
        _ => (remainder * 100 + u32::from(byte.to_ascii_uppercase() - b'A') + 10) % 97,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_numbers_are_known_by_luhns_sum() {
        for (text, found) in [
            ("4111111111111111", Some(0..16)),
            ("4111 1111 1111 1111", Some(0..19)),
            ("3782-822463-10005", Some(0..17)),
            ("4111111111111112", None),
            ("0000000000000000", None),
            ("1 4111 1111 1111 1111", Some(2..21)),
            ("4111 1111 1111 1111 12", Some(0..19)),
            ("411111111111", None),
        ] {
            assert_eq!(card(text), found, "{text}");
        }
    }

    #[test]
    fn ibans_are_known_by_their_remainder() {
        for (text, found) in [
            ("DE89370400440532013000", Some(0..22)),
            ("DE89 3704 0044 0532 0130 00", Some(0..27)),
            ("DE89 3704 0044 0532 0130 00 IS", Some(0..27)),
            ("GB82WEST12345698765432", Some(0..22)),
            ("DE88370400440532013000", None),
            ("AB12 CDEF 3456 7890", None),
        ] {
            assert_eq!(iban(text), found, "{text}");
        }
    }
}
