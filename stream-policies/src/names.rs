//! Names as leniently as a client might read them.

use unicode_normalization::UnicodeNormalization as _;

/// A name in Unicode's compatibility form, without invisible characters, trimmed, in lower case: full-width letters, a
/// capital, a zero-width space or a line break make no other name of it.
pub(crate) fn fold(name: &str) -> String {
    let visible: String = name.nfkc().filter(|c| !is_invisible(*c)).collect();
    // Lower case may need another round: some capitals only fall apart then.
    visible.trim().to_lowercase().nfkc().collect()
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
    }
}
