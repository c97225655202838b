//! The events of a body, as clients cut them.

use std::borrow::Cow;

/// An event as a client reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sse {
    pub(super) name: Option<String>,
    pub(super) data: String,
}

/// The way in which a client reads lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    /// A line ends at every character at which Python's `str.splitlines` ends one, not at CR and LF alone.
    unicode: bool,
    /// A line ends at LF alone: a CR is part of the line.
    only_lf: bool,
    /// Unicode white space around a line is removed.
    trims: bool,
    /// A byte order mark at the start is removed.
    strips_bom: bool,
    /// A line has data only if a blank follows the colon.
    needs_blank: bool,
    /// `data:` may stand anywhere in a line.
    anywhere: bool,
    /// Each line of data is an event of its own.
    one_by_one: bool,
    /// A last event without a blank line is read.
    reads_tail: bool,
    /// Lines that are no field are concatenated until their braces are balanced.
    bare_json: bool,
}

impl Lines {
    /// The HTML standard's rules for event streams.
    pub(super) const STANDARD: Self = Self {
        unicode: false,
        only_lf: false,
        trims: false,
        strips_bom: true,
        needs_blank: false,
        anywhere: false,
        one_by_one: false,
        reads_tail: false,
        bare_json: false,
    };
    /// The official Python SDKs of OpenAI and Anthropic: a byte order mark makes the first line an unknown field.
    pub(super) const OPENAI: Self = Self { strips_bom: false, ..Self::STANDARD };
    /// Programs over `httpx`'s `iter_lines` that look for `data:` in each line.
    pub(super) const LITELLM: Self = Self {
        unicode: true,
        trims: true,
        strips_bom: false,
        anywhere: true,
        one_by_one: true,
        reads_tail: true,
        ..Self::STANDARD
    };
    /// Scripts over `iter_lines`: `if line.startswith("data:")`.
    pub(super) const SCRIPT: Self =
        Self { unicode: true, trims: true, one_by_one: true, reads_tail: true, ..Self::STANDARD };
    /// Scripts over `text.split("\n")`: `if (line.startsWith("data: "))`.
    pub(super) const SPLIT: Self =
        Self { only_lf: true, needs_blank: true, one_by_one: true, reads_tail: true, ..Self::STANDARD };
    /// google-genai for Python: a blank has to follow `data:`, and any other line is a piece of JSON.
    pub(super) const GENAI_PYTHON: Self = Self {
        unicode: true,
        strips_bom: false,
        needs_blank: true,
        reads_tail: true,
        bare_json: true,
        ..Self::STANDARD
    };
    /// google-genai for JavaScript: an event ends at a blank line, and is trimmed before `data:` is looked for.
    pub(super) const GENAI_JS: Self = Self { trims: true, reads_tail: true, ..Self::STANDARD };

    /// The events of a body.
    pub(super) fn events(self, body: &[u8]) -> Vec<Sse> {
        let body = if self.strips_bom { body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body) } else { body };
        let text = String::from_utf8_lossy(body);
        let mut reader = Reader { lines: self, ..Reader::default() };
        for line in self.split(&text) {
            reader.line(line);
        }
        if self.reads_tail {
            reader.dispatch();
            if !reader.bare.is_empty() {
                let data = std::mem::take(&mut reader.bare);
                reader.events.push(Sse { name: None, data });
            }
        }
        reader.events
    }

    fn split(self, text: &str) -> Vec<&str> {
        let mut lines = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(|letter| self.ends_line(letter)) {
            lines.push(&rest[..at]);
            let behind = &rest[at..];
            let len = if !self.only_lf && behind.starts_with("\r\n") {
                2
            } else {
                behind.chars().next().map_or(1, char::len_utf8)
            };
            rest = &behind[len..];
        }
        if !rest.is_empty() {
            lines.push(rest);
        }
        lines
    }

    fn ends_line(self, letter: char) -> bool {
        match letter {
            '\n' => true,
            '\r' => !self.only_lf,
            '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}' => self.unicode,
            _ => false,
        }
    }

    /// The data of a line; `None` for a line without data.
    fn data(self, line: &str) -> Option<&str> {
        let line = match line.find("data:") {
            Some(at) if self.anywhere => &line[at..],
            _ => line,
        };
        if self.needs_blank {
            return line.strip_prefix("data: ");
        }
        if line == "data" {
            return Some("");
        }
        let data = line.strip_prefix("data:")?;
        Some(data.strip_prefix(' ').unwrap_or(data))
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::STANDARD
    }
}

#[derive(Default)]
struct Reader {
    lines: Lines,
    name: Option<String>,
    data: Vec<String>,
    bare: String,
    balance: i64,
    events: Vec<Sse>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let line = if self.lines.trims { Cow::Borrowed(line.trim()) } else { Cow::Borrowed(line) };
        let line = if self.lines.only_lf { line.trim_end_matches('\r') } else { &line };
        if line.is_empty() {
            return self.dispatch();
        }
        if let Some(data) = self.lines.data(line) {
            if self.lines.one_by_one {
                let name = self.name.clone();
                self.events.push(Sse { name, data: data.trim().to_owned() });
            } else {
                self.data.push(data.to_owned());
            }
            return;
        }
        if self.lines.bare_json {
            return self.piece(line);
        }
        if let Some(name) = line.strip_prefix("event:") {
            self.name = Some(name.strip_prefix(' ').unwrap_or(name).to_owned());
        }
    }

    fn piece(&mut self, line: &str) {
        for letter in line.chars() {
            self.balance += i64::from(letter == '{') - i64::from(letter == '}');
        }
        self.bare.push_str(line);
        if self.balance == 0 {
            let data = std::mem::take(&mut self.bare);
            self.events.push(Sse { name: None, data });
        }
    }

    fn dispatch(&mut self) {
        let name = self.name.take();
        if !self.data.is_empty() {
            let data = std::mem::take(&mut self.data).join("\n");
            self.events.push(Sse { name, data });
        }
    }
}
