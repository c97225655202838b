//! Names as leniently as a client might read them.

use unicode_normalization::UnicodeNormalization as _;

/// A name in Unicode's compatibility form, without invisible characters, trimmed, in lower case, with underscores between
/// its words: full-width letters, a capital, a zero-width space, a line break or a hyphen make no other name of it.
pub(crate) fn fold(name: &str) -> String {
    let visible: String = name.nfkc().filter(|c| !is_invisible(*c)).collect();
    let upper = visible.trim().replace('\u{130}', "i").to_uppercase();
    // Upper case first, since some small letters have no capital of their own (`ß`, `ſ`); and lower case may need another
    // round of normalising: some capitals only fall apart then.
    upper.to_lowercase().nfkc().map(|c| if is_between_words(c) { '_' } else { c }).collect()
}

/// What frameworks write for an underscore, which not every API takes in a name.
fn is_between_words(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}') || c.is_whitespace()
}

/// Controls, and characters that leave no mark.
fn is_invisible(c: char) -> bool {
    (c.is_control() && !c.is_whitespace())
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_width_space_and_invisible_characters_make_no_other_name() {
        for name in
            ["bash", "BASH", " bash\n", "ｂａｓｈ", "b\u{200b}ash", "\u{feff}Bash", "ba\u{ad}sh\0", "𝐛ash"]
        {
            assert_eq!(fold(name), "bash", "{name:?}");
        }
        assert_eq!(fold("bash2"), "bash2");
        for name in ["run_shell", "run-shell", "RUN SHELL", "run\u{2011}shell"] {
            assert_eq!(fold(name), "run_shell", "{name:?}");
        }
        for name in ["KISS", "\u{212a}\u{130}\u{17f}s", "kiß"] {
            assert_eq!(fold(name), "kiss", "{name:?}");
        }
    }
}
