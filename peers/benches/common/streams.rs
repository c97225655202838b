//! Streams of one text, and of one call.

use bytes::Bytes;
use stream_testkit::{Cut, Fragments, Script, WireKind};

/// What a stream is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A text.
    Text,
    /// The argument of a call.
    Call,
    /// The argument of a call that the model writes as text.
    TextCall,
}

impl Content {
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Call | Self::TextCall => "call",
        }
    }

    /// So many bytes, in fragments of so many.
    pub fn script(self, bytes: usize, fragment: usize) -> Script {
        let words = "words ".repeat(bytes.div_ceil(6));
        let fragments = Fragments::Bytes(fragment);
        let script = Script::new().text_fragments(fragments).argument_fragments(fragments);
        match self {
            Self::Text => script.text(words),
            Self::Call => script.call("call_1", "write", format!("{{\"path\":\"{words}\"}}")),
            Self::TextCall => script.text(format!(
                "<tool_call>{{\"name\":\"write\",\"arguments\":{{\"path\":\"{words}\"}}}}</tool_call>"
            )),
        }
    }
}

/// How many bytes a delta of the format takes beside its content.
pub fn envelope(kind: WireKind, content: Content) -> usize {
    let reads = reads(&content.script(60, 6), kind);
    let mut sizes: Vec<usize> = reads.iter().map(Bytes::len).collect();
    sizes.sort_unstable();
    sizes[sizes.len() / 2] - 6
}

/// A stream, one event for each read.
pub fn reads(script: &Script, kind: WireKind) -> Vec<Bytes> {
    Cut::Event.apply(&script.to_log(kind)).into_iter().map(|(_, read)| read).collect()
}
