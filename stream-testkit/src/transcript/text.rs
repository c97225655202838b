//! Text on one line of limited width.

/// A text on one line, with its control characters visible, elided in the middle to about `width` characters.
pub(super) fn line(text: &str, width: usize) -> String {
    let shown: Vec<char> = text.chars().map(visible).collect();
    if shown.len() <= width {
        return shown.into_iter().collect();
    }
    let kept = width.saturating_sub(ELISION).max(2);
    let (head, tail) = (kept - kept / 3, kept / 3);
    let left_out: usize = text.chars().skip(head).take(shown.len() - head - tail).map(char::len_utf8).sum();
    let head: String = shown[..head].iter().collect();
    let tail: String = shown[shown.len() - tail..].iter().collect();
    format!("{head} …{left_out} B… {tail}")
}

/// How many bytes, in words.
pub(super) fn bytes(count: usize) -> String {
    format!("{count} B")
}

/// Stands in for a character that would break the line or not be seen.
fn visible(char: char) -> char {
    match char {
        '\n' => '␊',
        '\r' => '␍',
        '\t' => '␉',
        '\u{feff}' => '\u{fffd}',
        char if char.is_control() => u32::from(char)
            .checked_add(0x2400)
            .filter(|picture| *picture <= 0x2420)
            .and_then(char::from_u32)
            .unwrap_or('\u{fffd}'),
        char => char,
    }
}

/// About how many characters the note on what was left out takes.
const ELISION: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_visible() {
        assert_eq!(line("data: {}\r\n\r\n", 40), "data: {}␍␊␍␊");
        assert_eq!(line("\t\u{1}\u{7f}\u{feff}", 40), "␉␁\u{fffd}\u{fffd}");
    }

    #[test]
    fn long_text_is_elided_in_the_middle_with_the_bytes_left_out() {
        assert_eq!(line("0123456789", 10), "0123456789");
        let text = format!("start{}end", "ö".repeat(100));
        assert_eq!(line(&text, 22), "startööö …192 B… öend");
    }
}
