//! The streams that are taken.

use bytes::Bytes;
use stream_core::sse::Framer;
use stream_testkit::{Fragments, Script, WireKind, logs};

/// Streams, each as its events.
pub struct Streams(Vec<Vec<Bytes>>);

/// Their names. `recorded-*` are those of the corpus with at least thirty events, `text-*` a made text of 2,000 events, `long`
/// the longest recorded one.
pub const NAMES: [&str; 9] = [
    "recorded-openai-chat",
    "recorded-openai-responses",
    "recorded-anthropic-messages",
    "recorded-gemini",
    "long",
    "text-openai-chat",
    "text-openai-responses",
    "text-anthropic-messages",
    "text-gemini",
];

impl Streams {
    pub fn named(name: &str) -> Option<Self> {
        if name == "long" {
            let all = recorded("openai-chat")?;
            return all.into_iter().max_by_key(Vec::len).map(|stream| Self(vec![stream]));
        }
        let (what, format) = name.split_once('-')?;
        let kind: WireKind = format.parse().ok()?;
        match what {
            "recorded" => recorded(format).map(Self),
            "text" => {
                let text = "word ".repeat(2000);
                let script = Script::new().text(text.as_str()).text_fragments(Fragments::Bytes(5));
                Some(Self(vec![events(&script.bytes(kind))]))
            }
            _ => None,
        }
    }

    pub fn events(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// The streams as reads of that many events each.
    pub fn reads(&self, per_read: usize) -> Vec<Vec<Bytes>> {
        let join =
            |stream: &Vec<Bytes>| stream.chunks(per_read).map(|events| events.concat().into()).collect();
        self.0.iter().map(join).collect()
    }
}

fn recorded(format: &str) -> Option<Vec<Vec<Bytes>>> {
    let all = logs::corpus()?.into_iter().filter(|recorded| recorded.kind.name() == format);
    let logs = all.filter_map(|recorded| recorded.load().ok()).filter(|log| !log.is_whole());
    Some(logs.map(|log| events(log.bytes())).filter(|events| events.len() >= 30).collect())
}

fn events(body: &[u8]) -> Vec<Bytes> {
    let mut framer = Framer::new(usize::MAX);
    framer.push(body);
    let mut events = Vec::new();
    while let Some(frame) = framer.next_frame().ok().flatten().or_else(|| framer.finish()) {
        events.push(Bytes::copy_from_slice(frame.raw()));
    }
    events
}
