//! White space, as widely as any client's parser takes it.

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// White space of so many bytes.
    Some(usize),
    None,
    /// The begin of a character whose rest has not come.
    More,
}

/// Looks for white space at `at`: ASCII's, the separators that Python strips, Unicode's, and the byte order mark.
pub(crate) fn space_at(text: &[u8], at: usize) -> Space {
    let Some(&first) = text.get(at) else { return Space::More };
    let len = match first {
        b'\t'..=b'\r' | 0x1c..=0x1f | b' ' => return Space::Some(1),
        0xc2 => 2,
        0xe1 | 0xe2 | 0xe3 | 0xef => 3,
        _ => return Space::None,
    };
    let Some(bytes) = text.get(at..at + len) else { return Space::More };
    let is_space = std::str::from_utf8(bytes)
        .is_ok_and(|char| char.chars().all(|c| c.is_whitespace() || c == '\u{feff}'));
    if is_space { Space::Some(len) } else { Space::None }
}
