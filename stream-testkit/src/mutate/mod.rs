//! The mutator: streams that mean one thing to one client and another thing to the next.
//!
//! A mutation takes a stream and changes what clients disagree about: spellings of numbers, ids, names, keys, lines,
//! the order of events, positions against numbers, copies, kinds. The same log and seed give the same bytes. The law
//! [`Agreement`](crate::laws::Law::Agreement) runs over the results.
//!
//! ```
//! use stream_testkit::{Script, WireKind, mutate};
//!
//! let log = Script::new().call("c1", "ls", "{}").to_log(WireKind::OpenAiChat);
//! let mutated = mutate::every_class(&log, 1);
//! assert!(mutated.iter().any(|mutated| mutated.class() == "number"));
//! assert_eq!(mutated, mutate::every_class(&log, 1));
//! ```

mod calls;
mod events;
mod keys;
mod kinds;
mod lines;
mod numbers;
mod orders;
mod places;
mod secrets;

use std::time::Duration;

use crate::random::Draws;
use crate::{ChunkLog, WireKind};
use events::Events;

/// A mutated stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutated {
    class: &'static str,
    what: String,
    log: ChunkLog,
}

impl Mutated {
    /// The class of the mutation: `number`, `id`, `line` …
    #[must_use]
    pub fn class(&self) -> &'static str {
        self.class
    }

    /// What was changed.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// The stream.
    #[must_use]
    pub fn log(&self) -> &ChunkLog {
        &self.log
    }
}

/// The classes of mutations.
pub const CLASSES: [&str; 14] = [
    "number",
    "id",
    "name",
    "key",
    "line",
    "comment",
    "event-line",
    "order",
    "position",
    "copy",
    "kind",
    "choice",
    "block",
    "text",
];

/// One mutation of every class that has something to change in this log.
#[must_use]
pub fn every_class(log: &ChunkLog, seed: u64) -> Vec<Mutated> {
    CLASSES.iter().filter_map(|class| mutate(log, class, seed)).collect()
}

/// A mutation of a class; `None` where it would change nothing, for whole responses, and for classes nobody knows.
#[must_use]
pub fn mutate(log: &ChunkLog, class: &str, seed: u64) -> Option<Mutated> {
    let kind = log.kind().filter(|_| !log.is_whole())?;
    let class = CLASSES.into_iter().find(|known| *known == class)?;
    let number = CLASSES.iter().position(|known| *known == class)?;
    let mut change = Change {
        kind,
        events: Events::of(log.bytes()),
        draws: Draws::new(seed.wrapping_mul(31).wrapping_add(u64::try_from(number).unwrap_or_default())),
    };
    let what = match class {
        "number" => numbers::change(&mut change),
        "id" => calls::change_id(&mut change),
        "name" => calls::change_name(&mut change),
        "key" => keys::change(&mut change),
        "line" => lines::change(&mut change),
        "comment" => lines::comment(&mut change),
        "event-line" => lines::event_line(&mut change),
        "order" => orders::change(&mut change),
        "position" => places::position(&mut change),
        "copy" => kinds::copy(&mut change),
        "kind" => kinds::change(&mut change),
        "choice" => places::choice(&mut change),
        "block" => places::block(&mut change),
        _ => secrets::change(&mut change),
    }?;
    let bytes = change.events.bytes();
    if bytes == *log.bytes() {
        return None;
    }
    let name = format!("{}, {class}, seed {seed}", log.name());
    Some(Mutated { class, what, log: ChunkLog::from_chunks(name, [(Duration::ZERO, bytes)]) })
}

/// A stream under change.
struct Change {
    kind: WireKind,
    events: Events,
    draws: Draws,
}

impl Change {
    /// One of these.
    fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        let at = self.draws.draw().below(of.len());
        of.get(at).copied()
    }

    /// A number below a limit.
    fn below(&mut self, limit: usize) -> usize {
        self.draws.draw().below(limit)
    }

    /// An event that brings a call nobody allowed, as the API writes it.
    fn evil(&self) -> &'static str {
        match self.kind {
            WireKind::OpenAiChat => concat!(
                r#"{"id":"c9","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"#,
                r#""tool_calls":[{"index":9,"id":"evil","type":"function","function":{"name":"rm","arguments":"{\"p\":\"/\"}"}}]"#,
                r#"},"finish_reason":null}]}"#
            ),
            WireKind::OpenAiResponses => concat!(
                r#"{"type":"response.output_item.done","sequence_number":90,"output_index":9,"item":{"id":"evil","#,
                r#""type":"function_call","status":"completed","call_id":"evil","name":"rm","arguments":"{\"p\":\"/\"}"}}"#
            ),
            WireKind::AnthropicMessages => concat!(
                r#"{"type":"content_block_start","index":9,"content_block":{"type":"tool_use","id":"evil","#,
                r#""name":"rm","input":{"p":"/"}}}"#
            ),
            WireKind::Gemini => {
                r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"rm","args":{"p":"/"}}}],"role":"model"},"index":0}]}"#
            }
        }
    }

    /// The name of the event that [`evil`](Self::evil) is, where the API names events.
    fn evil_name(&self) -> Option<&'static str> {
        match self.kind {
            WireKind::OpenAiResponses => Some("response.output_item.done"),
            WireKind::AnthropicMessages => Some("content_block_start"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
