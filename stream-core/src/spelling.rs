//! Keys that only a lax parser takes for known ones.
//!
//! Some JSON parsers take `Tool_Calls` or `toolCalls` for `tool_calls`: Go's is blind to case, pydantic's aliases to
//! underscores. What stands under such a key would be read by a client and seen by no policy, so that an object
//! with one is malformed, as one with a known key twice is (rule 9).

/// Whether a lax parser takes a key, which is UTF-8, for this name, which is ASCII.
pub(crate) fn is_near(key: &[u8], name: &[u8]) -> bool {
    if key.is_ascii() {
        return letters(key).eq(letters(name));
    }
    let key = String::from_utf8_lossy(key);
    folded(&key).eq(letters(name).map(char::from))
}

/// The letters of a word as parsers compare them that are blind to case beyond ASCII: to Go's, a long s (`ſ`) is an `s` and the
/// sign of Kelvin (`K`) a `k`.
fn folded(word: &str) -> impl Iterator<Item = char> + '_ {
    let letters = word.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    letters.filter(|letter| !matches!(letter, '_' | '-' | '\u{307}'))
}

/// The bytes of a word as a lax parser compares them.
fn letters(word: &[u8]) -> impl Iterator<Item = u8> + '_ {
    word.iter().filter(|byte| !is_separator(**byte)).map(u8::to_ascii_lowercase)
}

/// A bit for the first letter of each name, as a lax parser compares it.
pub(crate) const fn firsts<T>(names: &[(&str, T)]) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < names.len() {
        bits |= first(names[at].0.as_bytes());
        at += 1;
    }
    bits
}

/// Whether a key starts with one of these [first letters](firsts): no other is near to one of their names.
pub(crate) const fn may_be_near(key: &[u8], firsts: u32) -> bool {
    first(key) & firsts != 0
}

/// A bit for the [outline] of each name.
pub(crate) const fn outlines<T>(names: &[(&str, T)]) -> u64 {
    let (mut bits, mut at) = (0, 0);
    while at < names.len() {
        bits |= outline(names[at].0.as_bytes());
        at += 1;
    }
    bits
}

/// Whether a key has one of these [outlines]: no other is near to one of their names.
pub(crate) const fn is_outlined(key: &[u8], outlines: u64) -> bool {
    outline(key) & outlines != 0
}

/// A bit that two words have in common if they have as many letters, and the same ones first and last, as a lax parser compares
/// them; all bits for a word without letters, and for one beyond ASCII.
const fn outline(word: &[u8]) -> u64 {
    let (mut first, mut last, mut count, mut at) = (0_u8, 0_u8, 0_u8, 0);
    while at < word.len() {
        let byte = word[at];
        if !byte.is_ascii() {
            return u64::MAX;
        }
        if !is_separator(byte) {
            last = byte.to_ascii_lowercase();
            first = if count == 0 { last } else { first };
            count = if count < u8::MAX { count + 1 } else { count };
        }
        at += 1;
    }
    let mixed = first.wrapping_mul(7).wrapping_add(last.wrapping_mul(3)).wrapping_add(count.wrapping_mul(5));
    if count == 0 { u64::MAX } else { 1 << (mixed & 63) }
}

/// The bit of a word's first letter; all bits for a word without one, and where the letter is beyond ASCII.
const fn first(word: &[u8]) -> u32 {
    let mut at = 0;
    while at < word.len() && is_separator(word[at]) {
        at += 1;
    }
    if at == word.len() || !word[at].is_ascii() {
        u32::MAX
    } else {
        1 << (word[at].to_ascii_lowercase() & 31)
    }
}

const fn is_separator(byte: u8) -> bool {
    matches!(byte, b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_separators_do_not_count() {
        for key in ["tool_calls", "Tool_Calls", "toolCalls", "tool-calls", "_toolcalls_"] {
            assert!(is_near(key.as_bytes(), b"tool_calls"), "{key}");
        }
        for key in ["tool_call", "tools_calls", "tool calls", "tool.calls", "töol_calls", "toolcallß", ""] {
            assert!(!is_near(key.as_bytes(), b"tool_calls"), "{key}");
        }
        for (key, name) in [
            ("tool_callſ", "tool_calls"),
            ("to\u{212a}en", "token"),
            ("choıces", "choices"),
            ("CHOİCES", "choices"),
        ] {
            assert!(is_near(key.as_bytes(), name.as_bytes()), "{key}");
            assert!(may_be_near(key.as_bytes(), firsts(&[(name, ())])), "{key}");
        }
        let names = [("system", ())];
        assert!(is_near("ſystem".as_bytes(), b"system") && may_be_near("ſystem".as_bytes(), firsts(&names)));
    }

    #[test]
    fn a_key_that_is_near_has_the_outline_of_its_name() {
        let names = outlines(&[("tool_calls", ()), ("_x", ())]);
        for key in ["tool_calls", "Tool_Calls", "-toolCalls_", "x", "_X_", "__", "", "tool_callſ"] {
            assert!(is_outlined(key.as_bytes(), names), "{key}");
        }
        for key in ["created", "tool_call", "tool_choices", "xx"] {
            assert!(!is_outlined(key.as_bytes(), names), "{key}");
        }
        let long = "a".repeat(300);
        assert!(is_outlined(long.as_bytes(), outlines(&[(&*long, ())])));
    }

    #[test]
    fn a_key_that_is_near_has_the_first_letter_of_its_name() {
        let names = [("tool_calls", ()), ("_x", ())];
        for key in ["tool_calls", "Tool_Calls", "-toolCalls", "x", "_X_", "__", ""] {
            assert!(may_be_near(key.as_bytes(), firsts(&names)), "{key}");
        }
        for key in ["created", "_created", "Model"] {
            assert!(!may_be_near(key.as_bytes(), firsts(&names)), "{key}");
        }
        assert!(!may_be_near(b"", 0));
    }
}
