//! Text of others, made harmless.

use std::fmt::{self, Write as _};

/// A text for HTML, as content or in a quoted attribute. Characters that are not seen, or that change the order in
/// which others are seen, are spelled out.
pub(crate) fn escape(text: &str) -> Escaped<'_> {
    Escaped(text)
}

/// Displays a text, escaped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            match char {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' => f.write_str("␊")?,
                '\r' => f.write_str("␍")?,
                '\t' => f.write_str("␉")?,
                char if is_unseen(char) => write!(f, "⟨U+{:04X}⟩", u32::from(char))?,
                char => f.write_char(char)?,
            }
        }
        Ok(())
    }
}

fn is_unseen(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_html_would_read_is_escaped() {
        assert_eq!(
            escape("</script><img onerror=\"x('&')\">").to_string(),
            "&lt;/script&gt;&lt;img onerror=&quot;x(&#39;&amp;&#39;)&quot;&gt;"
        );
    }

    #[test]
    fn what_is_not_seen_is_spelled_out() {
        assert_eq!(escape("a\r\n\tb").to_string(), "a␍␊␉b");
        assert_eq!(escape("\u{202e}a\u{0}\u{feff}").to_string(), "⟨U+202E⟩a⟨U+0000⟩⟨U+FEFF⟩");
    }
}
