//! What should not be in a stream.

use std::fmt;

use bytes::Bytes;

use crate::WireKind;
use crate::kind::sse_event;

/// Bytes that are no valid event of the stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Garbage {
    /// A line that is no field of an event, as a proxy that fails writes it.
    Line,
    /// A text delta with bytes that are not UTF-8.
    NotUtf8,
    /// A text delta whose JSON lacks its end.
    MalformedJson,
    /// These bytes.
    Bytes(Bytes),
}

impl Garbage {
    /// The bytes, as an upstream of this API would send them.
    pub(super) fn bytes(&self, kind: Option<WireKind>) -> Bytes {
        match self {
            Self::Line => {
                Bytes::from_static(b"upstream connect error or disconnect/reset before headers\n\n")
            }
            Self::NotUtf8 => {
                let (head, tail) = text_event(kind, |data| data);
                [&head, &b"caf\xe9"[..], &tail].concat().into()
            }
            Self::MalformedJson => {
                let (head, tail) = text_event(kind, |mut data| {
                    data.pop();
                    data
                });
                [head, tail].concat().into()
            }
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}

impl fmt::Display for Garbage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Line => "a line that is no field",
            Self::NotUtf8 => "bytes that are not UTF-8",
            Self::MalformedJson => "malformed JSON",
            Self::Bytes(_) => "bytes",
        })
    }
}

/// A text delta that makes an event of so many bytes, in pieces as a network would deliver them.
pub(super) fn oversized(kind: Option<WireKind>, bytes: usize) -> Vec<Bytes> {
    let (head, tail) = text_event(kind, |data| data);
    let mut filling = Bytes::from(vec![b'x'; bytes.saturating_sub(head.len() + tail.len())]);
    let mut pieces = vec![Bytes::from(head)];
    while !filling.is_empty() {
        pieces.push(filling.split_to(filling.len().min(NETWORK_CHUNK)));
    }
    pieces.push(tail.into());
    pieces
}

/// An event with an empty text delta of this API, cut where the text would be.
fn text_event(kind: Option<WireKind>, edit: impl Fn(String) -> String) -> (Vec<u8>, Vec<u8>) {
    let (name, data) = match kind {
        Some(WireKind::OpenAiChat) => ("", CHAT),
        Some(WireKind::OpenAiResponses) => ("response.output_text.delta", RESPONSES),
        Some(WireKind::AnthropicMessages) => ("content_block_delta", ANTHROPIC),
        Some(WireKind::Gemini) => ("", GEMINI),
        None => ("", r#"{"text":"@"}"#),
    };
    let event = sse_event(kind, name, &edit(data.to_owned()));
    let (head, tail) = event.split_once(TEXT).unwrap_or((&event, ""));
    (head.as_bytes().to_vec(), tail.as_bytes().to_vec())
}

/// Stands where the text would be.
const TEXT: char = '@';
const CHAT: &str =
    r#"{"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"@"}}]}"#;
const RESPONSES: &str = r#"{"type":"response.output_text.delta","sequence_number":1,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"@"}"#;
const ANTHROPIC: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"@"}}"#;
const GEMINI: &str = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"@"}]},"index":0}]}"#;
const NETWORK_CHUNK: usize = 64 << 10;
