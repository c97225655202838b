//! Globs: `*` is any text, `?` is one character.

use crate::settings_error::SettingsError;

/// A pattern of text, `*` and `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob(Vec<char>);

impl Glob {
    /// Reads a glob. What other globs know and this one does not is an error: taken as text, it would match nothing.
    pub(crate) fn new(pattern: &str, at: &str) -> Result<Self, SettingsError> {
        if let Some(special) = pattern.chars().find(|c| matches!(c, '[' | ']' | '{' | '}' | '\\')) {
            let found = format!("{special:?} in it (a regex can say more)");
            return Err(SettingsError::new(at, "a glob of text, * and ?", found));
        }
        if pattern.is_empty() {
            return Err(SettingsError::new(at, "a glob of text, * and ?", "nothing"));
        }
        Ok(Self(pattern.chars().collect()))
    }

    /// Whether it matches all of a text. At worst the work grows with the product of both lengths.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let pattern = &self.0;
        let mut at = 0;
        let mut rest = text.chars();
        // Where to go on when the text after the last star does not fit: the star takes one character more.
        let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            let before = rest.clone();
            match (pattern.get(at), rest.next()) {
                (Some('*'), _) => {
                    at += 1;
                    retry = Some((at, before.clone()));
                    rest = before;
                    continue;
                }
                (Some('?'), Some(_)) => {
                    at += 1;
                    continue;
                }
                (Some(own), Some(other)) if *own == other => {
                    at += 1;
                    continue;
                }
                (None, None) => return true,
                _ => {}
            }
            let Some((star, mut from)) = retry.take() else { return false };
            if from.next().is_none() {
                return false;
            }
            at = star;
            rest = from.clone();
            retry = Some((star, from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern, "").unwrap().matches(text)
    }

    #[test]
    fn a_star_is_any_text_and_a_question_mark_is_one_character() {
        for (pattern, text) in [
            ("*", ""),
            ("*", "anything/at all"),
            ("read_*", "read_"),
            ("read_*", "read_file"),
            ("*_file", "read_file"),
            ("a*b*c", "aXbbYbc"),
            ("?", "ö"),
            ("l?st", "list"),
            ("**", "x"),
            ("exact", "exact"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("read_*", "xread_file"),
            ("*_file", "read_files"),
            ("a*b*c", "aXbYcd"),
            ("?", ""),
            ("?", "ab"),
            ("exact", "Exact"),
            ("exact", "exact "),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn work_does_not_explode() {
        let text = "a".repeat(5_000);
        assert!(!matches(&format!("{}b", "*a".repeat(20)), &text));
    }

    #[test]
    fn what_it_does_not_know_is_an_error() {
        assert_eq!(
            Glob::new("{rm,mv}", "tools[0]").unwrap_err().to_string(),
            "tools[0]: expected a glob of text, * and ?, found '{' in it (a regex can say more)"
        );
        assert_eq!(
            Glob::new("", "glob").unwrap_err().to_string(),
            "glob: expected a glob of text, * and ?, found nothing"
        );
    }
}
