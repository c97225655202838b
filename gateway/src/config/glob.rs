//! Names with `*`, which stands for anything.

/// Whether a text matches, as a whole.
pub(super) fn matches(glob: &str, text: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (glob, text) in
            [("a", "a"), ("*", ""), ("small-*", "small-1"), ("*-1", "small-1"), ("a*c*e", "abcde")]
        {
            assert!(matches(glob, text), "{glob} {text}");
        }
        for (glob, text) in [("a", "ab"), ("a*a", "a"), ("small-*", "Small-1"), ("a*c*e", "abce!"), ("", "a")]
        {
            assert!(!matches(glob, text), "{glob} {text}");
        }
    }
}
