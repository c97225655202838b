//! What is wrong with a log.

use std::{fmt, io};

/// A log could not be read or written: which file, where in it, what was expected and what was found.
#[derive(Debug)]
pub struct LogError {
    file: String,
    place: Option<Place>,
    kind: Kind,
}

/// A place in a text, both numbers counted from 1; the column counts bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Place {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The place of the byte at `offset`.
    pub(crate) fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Self { line, column: 1 + before.len() - line_start }
    }

    /// The place behind these bytes, which start here.
    pub(crate) fn behind(self, bytes: &[u8]) -> Self {
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            None => Self { line: self.line, column: self.column + bytes.len() },
            Some(newline) => {
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
                Self { line: self.line + lines, column: bytes.len() - newline }
            }
        }
    }
}

#[derive(Debug)]
enum Kind {
    Unexpected { expected: String, found: String },
    Io { doing: &'static str, source: io::Error },
}

impl LogError {
    pub(crate) fn at(
        file: &str,
        place: Place,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let kind = Kind::Unexpected { expected: expected.into(), found: found.into() };
        Self { file: file.to_owned(), place: Some(place), kind }
    }

    pub(crate) fn unplaced(file: &str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        let kind = Kind::Unexpected { expected: expected.into(), found: found.into() };
        Self { file: file.to_owned(), place: None, kind }
    }

    pub(crate) fn io(file: &str, doing: &'static str, source: io::Error) -> Self {
        Self { file: file.to_owned(), place: None, kind: Kind::Io { doing, source } }
    }

    /// From what serde_json says of a text that starts at line `first_line` of the file.
    pub(crate) fn json(file: &str, first_line: usize, expected: &str, error: &serde_json::Error) -> Self {
        let place = Place { line: first_line + error.line().max(1) - 1, column: error.column().max(1) };
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text);
        let found = match error.classify() {
            serde_json::error::Category::Eof => "an end inside of it".to_owned(),
            serde_json::error::Category::Syntax => format!("what is no JSON ({reason})"),
            serde_json::error::Category::Data | serde_json::error::Category::Io => reason.to_owned(),
        };
        Self::at(file, place, expected, found)
    }

    /// The file, as it was named to the kit.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, counted from 1, if the error is about the file's content.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.place.map(|place| place.line)
    }

    /// The column in bytes, counted from 1, if the error is about the file's content.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.place.map(|place| place.column)
    }

    /// Returns whether the file system is at fault, not the content.
    #[must_use]
    pub fn is_io(&self) -> bool {
        matches!(self.kind, Kind::Io { .. })
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(Place { line, column }) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        match &self.kind {
            Kind::Unexpected { expected, found } => write!(f, ": expected {expected}, found {found}"),
            Kind::Io { doing, source } => write!(f, ": cannot be {doing}: {source}"),
        }
    }
}

impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            Kind::Io { source, .. } => Some(source),
            Kind::Unexpected { .. } => None,
        }
    }
}
