//! The values that are allowed in a hole: none that a strict parser would refuse.

use crate::sse::has_separator;
use crate::wire::document::special;

/// The inside of a JSON string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StringSpan {
    /// The number of bytes on the wire, without the quotes.
    pub(super) len: usize,
    /// The number of bytes of the decoded text.
    pub(super) decoded: usize,
}

impl StringSpan {
    pub(super) fn is_escaped(self) -> bool {
        self.len != self.decoded
    }
}

/// The string whose inside is at the start of `input`, up to its closing quote. The result is `None` if there is no such quote, if a
/// parser would refuse the string, or if the string has a character that some clients take for a line end.
pub(super) fn string(input: &[u8]) -> Option<StringSpan> {
    let (mut at, mut shorter, mut high) = (0, 0, 0);
    loop {
        while let Some(word) = input.get(at..).and_then(<[u8]>::first_chunk) {
            let word = u64::from_le_bytes(*word);
            high |= word & HIGH;
            match special(word) {
                0 => at += 8,
                found => {
                    at += found.trailing_zeros() as usize / 8;
                    break;
                }
            }
        }
        match *input.get(at)? {
            b'"' => break,
            b'\\' => {
                let escape = escape(&input[at..])?;
                at += escape.len;
                shorter += escape.len - escape.decoded;
            }
            0..0x20 => return None,
            byte => {
                high |= u64::from(byte & 0x80);
                at += 1;
            }
        }
    }
    let inside = &input[..at];
    if high != 0 && (std::str::from_utf8(inside).is_err() || has_separator(inside)) {
        return None;
    }
    Some(StringSpan { len: at, decoded: at - shorter })
}

/// The number of digits at the start of `input`, if they are a plain number of at most fifteen digits.
pub(super) fn digits(input: &[u8]) -> Option<usize> {
    let mut len = 0;
    while let Some(word) = input.get(len..).and_then(<[u8]>::first_chunk) {
        match others(u64::from_le_bytes(*word)) {
            0 if len <= 15 => len += 8,
            0 => return None,
            found => return plain_number(input, len + found.trailing_zeros() as usize / 8),
        }
    }
    len += input[len..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    plain_number(input, len)
}

/// The number of digits, if there are one to fifteen of them without a leading zero.
fn plain_number(input: &[u8], len: usize) -> Option<usize> {
    let leads_with_zero = len > 1 && input.first() == Some(&b'0');
    (1..=15).contains(&len).then_some(len).filter(|_| !leads_with_zero)
}

/// The number of blanks at the start of `input`.
pub(super) fn blanks(input: &[u8]) -> usize {
    input.iter().take_while(|byte| **byte == b' ').count()
}

/// The high bit of every byte of a word that is not a digit.
fn others(word: u64) -> u64 {
    let value = word ^ (ONES * u64::from(b'0'));
    (((value & !HIGH) + ONES * (0x80 - 10)) | value) & HIGH
}

/// The escape at the start of `input`.
fn escape(input: &[u8]) -> Option<StringSpan> {
    match input.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(StringSpan { len: 2, decoded: 1 }),
        b'u' => match unit(input.get(2..6)?)? {
            0xd800..0xdc00 => {
                let low =
                    input.get(6..8).filter(|next| *next == b"\\u").and_then(|_| unit(input.get(8..12)?))?;
                (0xdc00..0xe000).contains(&low).then_some(StringSpan { len: 12, decoded: 4 })
            }
            0xdc00..0xe000 => None,
            unit => Some(StringSpan { len: 6, decoded: char::from_u32(unit)?.len_utf8() }),
        },
        _ => None,
    }
}

fn unit(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

#[cfg(test)]
mod tests {
    use super::*;

    /// The string as a parser decodes it.
    fn parsed(inside: &[u8]) -> Option<String> {
        serde_json::from_slice(&[b"\"", inside, b"\""].concat()).ok()
    }

    #[test]
    fn a_string_is_taken_as_a_parser_takes_it() {
        let insides: &[&[u8]] = &[
            b"",
            b"a",
            b"Hello, world",
            br#"a\"b\\c\/\b\f\n\r\t"#,
            br"\u00e9\u0000\uFFFF",
            br"\ud83d\ude00 smile",
            br"\ud83d",
            br"\ude00",
            br"\ud83dx",
            br"\ud83d\u0041",
            br"\x",
            br"\u12",
            br"\u12g4",
            b"tab\there",
            b"nul\0",
            "caf\u{e9} \u{1f600} long enough for two words".as_bytes(),
            b"bad \xff utf",
            b"cut \xe2\x82",
            b"\x7f del",
            b"12345678\x1f",
            b"1234567\x1f",
            b"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3",
            b"\x01",
        ];
        for inside in insides {
            let input = [inside, &b"\",\"next\":\"\xff\x00"[..]].concat();
            let told = string(&input).map(|found| (found.len, found.decoded));
            let whole = parsed(inside).map(|text| (inside.len(), text.len()));
            assert_eq!(told, whole, "{:?}", String::from_utf8_lossy(inside));
            assert_eq!(string(inside), None, "a string has an end");
        }
    }

    #[test]
    fn characters_that_some_clients_take_for_line_ends_are_not_taken() {
        for separator in ["\u{85}", "\u{2028}", "\u{2029}"] {
            assert_eq!(string(format!("one{separator}two\"").as_bytes()), None);
        }
        assert_eq!(string("one\\u2028two\"".as_bytes()), Some(StringSpan { len: 12, decoded: 9 }));
    }

    #[test]
    fn numbers_are_plain_ones() {
        let lens = ["0", "7,", "1234567890", "01", "", "-1", "123456789012345", "1234567890123456"];
        let found = lens.map(|input| digits(input.as_bytes()));
        assert_eq!(found, [Some(1), Some(1), Some(10), None, None, None, Some(15), None]);
        let behind = lens.map(|input| digits(format!("{input},\"next\":\"more than a word\"").as_bytes()));
        assert_eq!(behind, found);
    }

    #[test]
    fn only_digits_are_digits() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut input = *b"12345678 and more";
                input[at] = byte;
                let len = input.iter().take_while(|byte| byte.is_ascii_digit()).count();
                assert_eq!(digits(&input), (len > 0 && (len == 1 || input[0] != b'0')).then_some(len));
            }
        }
    }
}
