//! Where in Markdown the text is: in a fence, in inline code, at the begin of a line.

/// Follows the text, each byte once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Code {
    state: Span,
    /// Only white space since the line began.
    line_has_text: bool,
    /// The length of the run of backticks that the text ends in, and whether it began its line.
    run: usize,
    run_begins_line: bool,
    /// The text ends in a letter, a digit, `_` or `-`.
    ends_in_word: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Span {
    #[default]
    Text,
    /// Until a line begins with as many backticks.
    Fence(usize),
    /// Until as many backticks, or the end of the line: a backtick that is never closed must not hide the rest.
    Inline(usize),
}

impl Code {
    /// The state inside of a line.
    pub(crate) fn within_line() -> Self {
        Self { line_has_text: true, ..Self::default() }
    }

    /// What comes next counts as the begin of a line, too.
    pub(crate) fn begin_line(&mut self) {
        self.line_has_text = false;
    }

    /// Takes text that holds no backtick.
    pub(crate) fn pass(&mut self, text: &[u8]) {
        let Some(last) = text.last() else { return };
        self.ends_in_word = last.is_ascii_alphanumeric() || matches!(last, b'_' | b'-');
        self.settle();
        let line = match memchr::memrchr(b'\n', text) {
            Some(at) => {
                self.line_has_text = false;
                if let Span::Inline(_) = self.state {
                    self.state = Span::Text;
                }
                &text[at + 1..]
            }
            None => text,
        };
        self.line_has_text = self.line_has_text || !line.iter().all(u8::is_ascii_whitespace);
    }

    /// Takes one byte.
    pub(crate) fn byte(&mut self, byte: u8) {
        if byte != b'`' {
            return self.pass(&[byte]);
        }
        self.ends_in_word = false;
        if self.run == 0 {
            self.run_begins_line = !self.line_has_text;
        }
        self.run += 1;
        self.line_has_text = true;
    }

    /// The byte that comes next is no backtick: whatever the run before it does, it does now.
    pub(crate) fn settle(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run == 0 {
            return;
        }
        self.state = match self.state {
            Span::Text if run >= 3 && self.run_begins_line => Span::Fence(run),
            Span::Text => Span::Inline(run),
            Span::Fence(open) if run >= open && self.run_begins_line => Span::Text,
            Span::Inline(open) if run == open => Span::Text,
            other => other,
        };
    }

    pub(crate) fn is_code(&self) -> bool {
        self.state != Span::Text
    }

    pub(crate) fn is_inline(&self) -> bool {
        matches!(self.state, Span::Inline(_))
    }

    /// Whether the text ends in backticks.
    pub(crate) fn in_run(&self) -> bool {
        self.run > 0
    }

    pub(crate) fn ends_in_word(&self) -> bool {
        self.ends_in_word
    }

    pub(crate) fn begins_line(&self) -> bool {
        !self.line_has_text
    }
}
