//! A stream of the soak: an API and a fate, as the upstream sends it and as the client asks for it.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use stream_testkit::faults::{Fault, Upstream};
use stream_testkit::{ChunkLog, Fragments, Script, WireKind};

use super::fate::Fate;
use super::policies::{ALLOWED, DENIED, FRAME, HANGS};

/// An API and a fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) kind: WireKind,
    pub(super) fate: Fate,
}

impl Case {
    /// Every fate on every API.
    pub(super) fn all() -> Vec<Self> {
        let fates = Fate::ALL.into_iter();
        fates.flat_map(|fate| WireKind::ALL.map(|kind| Self { kind, fate })).collect()
    }

    /// The request of the client, which names the case by its number.
    pub(super) fn request(self, number: usize, authority: &str) -> Result<Request<Body>, axum::http::Error> {
        let stream = self.fate != Fate::Whole;
        let (path, body) = match (self.kind, stream) {
            (WireKind::OpenAiChat, _) => {
                ("v1/chat/completions", r#""messages":[{"role":"user","content":"Go on."}]"#)
            }
            (WireKind::OpenAiResponses, _) => ("v1/responses", r#""input":"Go on.""#),
            (WireKind::AnthropicMessages, _) => {
                ("v1/messages", r#""max_tokens":999,"messages":[{"role":"user","content":"Go on."}]"#)
            }
            (WireKind::Gemini, true) => (
                "v1beta/models/some-model:streamGenerateContent?alt=sse",
                r#""contents":[{"parts":[{"text":"Go on."}]}]"#,
            ),
            (WireKind::Gemini, false) => {
                ("v1beta/models/some-model:generateContent", r#""contents":[{"parts":[{"text":"Go on."}]}]"#)
            }
        };
        let asked = match self.kind {
            WireKind::Gemini => String::new(),
            _ => format!(r#""model":"some-model","stream":{stream},"#),
        };
        Request::post(format!("http://{authority}/{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header(CASE, number)
            .body(Body::from(format!("{{{asked}{body}}}")))
    }

    /// The answer of the upstream without its fault, with this time between two chunks.
    pub(super) fn log(self, pace: Duration) -> ChunkLog {
        let script = |text: String| {
            let call = match self.fate {
                Fate::Denied => DENIED,
                Fate::JudgeHangs => HANGS,
                _ => ALLOWED,
            };
            let script = Script::new().text(text).call("call_1", call, r#"{"path":"notes.txt"}"#);
            script.usage(12, 340).pace(pace)
        };
        match self.fate {
            Fate::Whole => ChunkLog::from_whole("whole", script(text(PLAIN)).whole(self.kind)),
            Fate::AtTheLimit => padded(self.kind, FRAME, script),
            Fate::OverTheLimit => padded(self.kind, FRAME + 1, script),
            _ => {
                let script = script(text(PLAIN)).text_fragments(Fragments::Chars(PIECE));
                script.argument_fragments(Fragments::Chars(PIECE)).to_log(self.kind)
            }
        }
    }

    /// The answer of the upstream.
    pub(super) fn upstream(self, log: &ChunkLog, pace: Duration) -> Upstream {
        let upstream = Upstream::new(log);
        let at = log.bytes().len() / 2;
        match self.fate {
            // A server whose response fails at once may not have sent what it wrote before.
            Fate::UpstreamBreaks => {
                upstream.fault(&Fault::Break { at }).fault(&Fault::Stall { at, lasts: pace })
            }
            Fate::UpstreamEnds => upstream.fault(&Fault::End { at }),
            Fate::UpstreamHangs => upstream.fault(&Fault::Hang { at }),
            _ => upstream,
        }
    }
}

/// The header that names the case.
pub(super) const CASE: &str = "x-soak";

/// A text of about so many bytes, with a key in the middle.
fn text(bytes: usize) -> String {
    let words: String = WORDS.chars().cycle().take(bytes / 2).collect();
    format!("{words} sk-{}a1 {words}", "k3y9".repeat(7))
}

/// A script whose longest event has exactly so many bytes.
fn padded(kind: WireKind, bytes: usize, script: impl Fn(String) -> Script) -> ChunkLog {
    let longest = |log: &ChunkLog| log.chunks().map(|(_, chunk)| chunk.len()).max().unwrap_or(0);
    let padded = |padding: usize| {
        script(text(PLAIN) + &"x ".repeat(padding / 2) + &"x".repeat(padding % 2)).to_log(kind)
    };
    // The event with the text is the longest one from here on.
    let some = 1024;
    padded(some + bytes - longest(&padded(some)))
}

const WORDS: &str = "from here on, but it is well, ";
/// How many bytes of text a stream has.
const PLAIN: usize = 60;
/// How many characters of text a chunk has.
const PIECE: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_at_the_limit_and_over_it_are_so_to_the_byte() {
        for kind in WireKind::ALL {
            for (fate, bytes) in [(Fate::AtTheLimit, FRAME), (Fate::OverTheLimit, FRAME + 1)] {
                let log = Case { kind, fate }.log(Duration::ZERO);
                assert_eq!(log.chunks().map(|(_, chunk)| chunk.len()).max(), Some(bytes), "{kind} {fate:?}");
            }
        }
    }
}
