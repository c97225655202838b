//! A stream on the live page.

use serde::Serialize;
use stream_core::{BlockKey, Decision};

use super::Asked;

/// A stream as the page shows it. Times are milliseconds since the program started.
#[derive(Debug, Clone, Serialize)]
pub(super) struct LiveStream {
    #[serde(skip)]
    pub(super) version: u64,
    number: u64,
    client: Option<String>,
    api: &'static str,
    model: Option<String>,
    path: String,
    start: u64,
    end: Option<u64>,
    /// Bytes that came from the upstream, and that left for the client.
    pub(super) came: usize,
    pub(super) left: usize,
    /// Bytes that are held now, and since when some are.
    held: usize,
    held_since: Option<u64>,
    pub(super) error: Option<String>,
    lanes: Vec<Lane>,
    /// Decisions, the first [`DECISIONS`] of them, and how many there were.
    decisions: Vec<Decided>,
    decided: usize,
}

/// A block in front of a policy.
#[derive(Debug, Clone, Serialize)]
struct Lane {
    #[serde(skip)]
    key: BlockKey,
    policy: String,
    kind: String,
    name: Option<String>,
    start: u64,
    end: u64,
    /// Since when the block waits for a verdict.
    waits: Option<u64>,
    /// What was decided last.
    verdict: Option<&'static str>,
    text: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Decided {
    at: u64,
    policy: String,
    verdict: &'static str,
    reason: Option<String>,
    tool: Option<String>,
    bytes: usize,
    held_ms: u64,
    enforced: bool,
}

/// A block that a policy was shown.
pub(super) struct Seen<'a> {
    pub(super) key: BlockKey,
    pub(super) policy: &'a str,
    pub(super) kind: &'a str,
    pub(super) name: Option<&'a str>,
    /// Its text, if the page may show it.
    pub(super) text: Option<&'a str>,
}

impl LiveStream {
    pub(super) fn new(number: u64, asked: Asked, now: u64, version: u64) -> Self {
        let Asked { client, api, model, path } = asked;
        Self {
            version,
            number,
            client,
            api,
            model: model.map(|model| short(&model, NAME)),
            path: short(&path, NAME),
            start: now,
            end: None,
            came: 0,
            left: 0,
            held: 0,
            held_since: None,
            error: None,
            lanes: Vec::new(),
            decisions: Vec::new(),
            decided: 0,
        }
    }

    /// A policy was shown a block.
    pub(super) fn seen(&mut self, seen: &Seen<'_>, now: u64) {
        let text = seen.text.map(tail);
        if let Some(lane) = self.lane(seen.key, seen.policy) {
            lane.end = now;
            lane.text = text.or(lane.text.take());
        } else if self.lanes.len() < LANES {
            self.lanes.push(Lane {
                key: seen.key,
                policy: seen.policy.to_owned(),
                kind: seen.kind.to_owned(),
                name: seen.name.map(|name| short(name, NAME)),
                start: now,
                end: now,
                waits: None,
                verdict: None,
                text,
            });
        }
    }

    /// A block waits for a verdict.
    pub(super) fn waits(&mut self, key: BlockKey, policy: &str, now: u64) {
        if let Some(lane) = self.lane(key, policy) {
            lane.waits.get_or_insert(now);
        }
    }

    pub(super) fn decided(&mut self, decision: &Decision, now: u64) {
        let held_ms = u64::try_from(decision.held.as_millis()).unwrap_or(u64::MAX);
        let mut tool = None;
        if let Some(lane) = decision.block.and_then(|key| self.lane(key, &decision.policy)) {
            lane.start = lane.start.min(now.saturating_sub(held_ms));
            lane.end = now;
            lane.waits = None;
            lane.verdict = Some(decision.action.word());
            tool = lane.name.clone();
        }
        self.decided += 1;
        if self.decisions.len() < DECISIONS {
            self.decisions.push(Decided {
                at: now,
                policy: decision.policy.clone(),
                verdict: decision.action.word(),
                reason: decision.reason.as_deref().map(|reason| short(reason, REASON)),
                tool,
                bytes: decision.bytes,
                held_ms,
                enforced: decision.enforced,
            });
        }
    }

    pub(super) fn holds(&mut self, held: usize, now: u64) {
        self.held = held;
        self.held_since = (held > 0).then(|| self.held_since.unwrap_or(now));
    }

    pub(super) fn end(&mut self, now: u64, version: u64) {
        self.version = version;
        self.end = Some(now);
        self.holds(0, now);
        for lane in &mut self.lanes {
            lane.waits = None;
        }
    }

    fn lane(&mut self, key: BlockKey, policy: &str) -> Option<&mut Lane> {
        self.lanes.iter_mut().rev().find(|lane| lane.key == key && lane.policy == policy)
    }
}

/// The start of a text.
fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The end of a text.
fn tail(text: &str) -> String {
    let start = text.char_indices().rev().nth(TEXT - 1).map_or(0, |(start, _)| start);
    text[start..].to_owned()
}

/// How many lanes and decisions of a stream are shown, and how many characters of a name, a reason and a text.
const LANES: usize = 32;
const DECISIONS: usize = 32;
const NAME: usize = 80;
const REASON: usize = 200;
const TEXT: usize = 200;
