//! The streams the matrix is run over.

use stream_testkit::{Fragments, Script, WireKind};

pub(crate) const THOUGHT: &str = "The user wants two files.";
pub(crate) const TEXT: &str = "Let me look at größe.";
pub(crate) const AFTER: &str = "That is all.";

/// The calls every script makes, by number.
pub(crate) const CALLS: [(&str, &str, &str); 3] = [
    ("call_1", "read_file", r#"{"path":"a.txt"}"#),
    ("call_2", "delete_file", r#"{"force":true,"path":"b.txt"}"#),
    ("call_3", "list", "{}"),
];

/// How the same things are put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each item in one delta.
    Plain,
    /// Every delta one character.
    Chars,
    /// All calls in one chunk.
    CallsTogether,
    /// Text, calls and finish in one chunk.
    OneChunk,
    /// With pings in between.
    Pings,
}

impl Shape {
    pub(crate) const ALL: [Self; 5] =
        [Self::Plain, Self::Chars, Self::CallsTogether, Self::OneChunk, Self::Pings];

    /// An empty script of this shape.
    pub(crate) fn script(self) -> Script {
        let script = Script::new().usage(12, 7);
        match self {
            Self::Plain => script,
            Self::Chars => script.text_fragments(Fragments::Chars(1)).argument_fragments(Fragments::Chars(1)),
            Self::CallsTogether => script.calls_in_one_chunk(),
            Self::OneChunk => script.in_one_chunk(),
            Self::Pings => script.pings(),
        }
    }

    /// Thought, text, and these of the [`CALLS`].
    pub(crate) fn turn(self, calls: &[usize]) -> Script {
        with_calls(self.script().reasoning(THOUGHT).text(TEXT), calls)
    }
}

/// The script, with these of the [`CALLS`] behind.
pub(crate) fn with_calls(script: Script, calls: &[usize]) -> Script {
    calls.iter().fold(script, |script, call| {
        let (id, name, arguments) = CALLS[*call];
        script.call(id, name, arguments)
    })
}

/// Whether text may follow a call in this format.
pub(crate) fn has_text_after_calls(kind: WireKind) -> bool {
    kind != WireKind::AnthropicMessages
}
