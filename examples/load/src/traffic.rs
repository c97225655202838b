//! What the upstream says, and what of it arrives.
//!
//! A chat stream of short words with a secret among them, and a tool call at its end. Each chunk of plain text, which no
//! policy has a reason to hold, has room for the time at which it was sent, in the field where OpenAI's servers put
//! padding that differs from chunk to chunk.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use stream_core::BuildError;
use stream_core::{Config, StreamProcessor};
use stream_testkit::{Fragments, Script, WireKind};

use crate::check::Expected;
use crate::policies::Policies;

/// The scripted answer.
#[derive(Debug)]
pub(crate) struct Traffic(Vec<Frame>);

impl Traffic {
    /// An answer with so many chunks of text.
    pub(crate) fn new(chunks: usize) -> Self {
        let pieces = pieces(chunks);
        let script = Script::new()
            .text_fragments(Fragments::Chars(PIECE))
            .text(pieces.concat())
            .argument_fragments(Fragments::Chars(PIECE))
            .call("call_1", "read_file", r#"{"path":"notes.txt"}"#)
            .usage(12, 340);
        let mut pieces = pieces.iter().peekable();
        let frame = |bytes: Bytes| {
            let content = |piece: &&String| holds(&bytes, format!("\"content\":\"{piece}\"").as_bytes());
            match pieces.next_if(content) {
                Some(piece) if WORDS.contains(&piece.as_str()) => Frame::with_stamp(&bytes),
                _ => Frame { bytes, has_stamp: false },
            }
        };
        Self(script.to_log(WireKind::OpenAiChat).chunks().map(|(_, bytes)| bytes).map(frame).collect())
    }

    /// One by one.
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.0
    }

    /// What arrives behind these policies.
    pub(crate) async fn behind(&self, policies: &Policies) -> Result<Expected, BuildError> {
        let frames: Vec<_> =
            self.0.iter().map(|frame| Ok::<_, std::convert::Infallible>(frame.bytes())).collect();
        let config = Config::default().format(stream_http::Api::OpenAiChat.format());
        let builder = StreamProcessor::builder().config(config).chain(policies.chain());
        let arrived: Vec<Bytes> = builder.build(stream::iter(frames))?.collect().await;
        Ok(Expected::new(arrived.concat(), STAMP_NAME, STAMP))
    }
}

/// An event of the answer.
#[derive(Debug)]
pub(crate) struct Frame {
    bytes: Bytes,
    has_stamp: bool,
}

impl Frame {
    fn with_stamp(bytes: &[u8]) -> Self {
        let rest = &bytes[START.len()..];
        let stamp = "0".repeat(STAMP);
        let bytes = [START, STAMP_NAME, stamp.as_bytes(), b"\",", rest].concat().into();
        Self { bytes, has_stamp: true }
    }

    /// As it is written, with no time in it.
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// With this time in it, if it has room for one.
    pub(crate) fn stamped(&self, time: u64) -> Bytes {
        if !self.has_stamp {
            return self.bytes();
        }
        let at = START.len() + STAMP_NAME.len();
        let mut bytes = self.bytes.to_vec();
        bytes[at..at + STAMP].copy_from_slice(format!("{time:0STAMP$}").as_bytes());
        bytes.into()
    }
}

/// The time in microseconds, the same for all processes.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// The text of each chunk: words, and a key in the middle.
fn pieces(chunks: usize) -> Vec<String> {
    let secret = format!(" sk-{}a1 ", "k3y9".repeat(7));
    let secret: Vec<String> =
        secret.as_bytes().chunks(PIECE).map(|piece| String::from_utf8_lossy(piece).into_owned()).collect();
    let words = WORDS.iter().map(|word| (*word).to_owned());
    let around = chunks.saturating_sub(secret.len());
    let mut pieces: Vec<String> = words.cycle().take(around).collect();
    pieces.splice(around / 2..around / 2, secret);
    pieces
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

/// How many characters of text a chunk has.
const PIECE: usize = 5;
/// None ends in what may be the start of a key: a chunk in which a match may be under way is held.
const WORDS: [&str; 6] = ["from ", "here ", "on, b", "ut it", " is w", "ell, "];
const START: &[u8] = b"data: {";
const STAMP_NAME: &[u8] = b"\"obfuscation\":\"";
/// How many digits a time has.
const STAMP: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::way::Way;

    #[test]
    fn plain_text_has_a_stamp_and_nothing_else_has() {
        let traffic = Traffic::new(20);
        let stamped = traffic.frames().iter().filter(|frame| frame.has_stamp).count();
        assert_eq!((traffic.frames().len(), stamped), (29, 13));
        let frame = traffic.frames().iter().find(|frame| frame.has_stamp).unwrap();
        let text = String::from_utf8(frame.stamped(1_700_000_000_123_456).to_vec()).unwrap();
        assert!(text.starts_with(r#"data: {"obfuscation":"1700000000123456","#), "{text}");
    }

    #[tokio::test]
    async fn the_chain_takes_the_key_out_and_lets_the_call_through() {
        let traffic = Traffic::new(20);
        let sent: Vec<Bytes> = traffic.frames().iter().map(Frame::bytes).collect();
        let layer = traffic.behind(&Policies::of(Way::Layer).unwrap()).await.unwrap();
        assert_eq!(layer.bytes(), sent.concat());
        let chain = traffic.behind(&Policies::of(Way::Chain).unwrap()).await.unwrap();
        assert!(!holds(chain.bytes(), b"k3y9") && holds(chain.bytes(), b"[redacted]"));
        assert!(holds(chain.bytes(), b"read_file") && chain.bytes().ends_with(b"data: [DONE]\n\n"));
    }
}
