//! Other words in place of what must not leave.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use stream_core::Config;

use super::events;
use super::story::{Story, Told};
use crate::ChunkLog;
use crate::kind::sse_event;
use crate::log::frames;

/// The same stream with the letters of these blocks changed, copies included, so that nothing else in it looks like
/// them. `None` where that would change more than their values.
pub(super) fn sing(log: &ChunkLog, format: &str, config: &Config, blocks: &[&Told]) -> Option<ChunkLog> {
    let mut chunks = Vec::new();
    for (number, frame) in frames(log.bytes()).enumerate() {
        let Some(mut value) = events::value(&frame) else {
            chunks.push((Duration::ZERO, frame.raw().clone()));
            continue;
        };
        let words = Words::of(blocks, Some(number));
        let mut changed = false;
        each_leaf(&mut value, &words, false, &mut |leaf, is_secret| {
            if is_secret {
                *leaf = disguise(leaf);
                changed = true;
            }
        });
        let event = if changed {
            sse_event(log.kind(), frame.event().unwrap_or_default(), &value.to_string()).into()
        } else {
            frame.raw().clone()
        };
        chunks.push((Duration::ZERO, event));
    }
    let sung = ChunkLog::from_chunks(log.name(), chunks);
    let heard = Story::of(format, config, &events::of(sung.bytes()));
    let before = Story::of(format, config, &events::of(log.bytes()));
    let is_same = |(now, then): (&Told, &Told)| {
        let secret = blocks.iter().any(|block| block.key == then.key);
        let expected = if secret { disguise(&then.body) } else { then.body.clone() };
        now.key == then.key && now.name == then.name && same_json(&now.body, &expected)
    };
    let same =
        heard.blocks.len() == before.blocks.len() && heard.blocks.iter().zip(&before.blocks).all(is_same);
    same.then_some(sung)
}

/// What else a stream says: every string in it that is no value of these blocks.
pub(super) fn everything_else(log: &ChunkLog, blocks: &[&Told]) -> Vec<String> {
    let words = Words::of(blocks, None);
    let mut others = Vec::new();
    for mut value in events::json(log.bytes()) {
        each_leaf(&mut value, &words, false, &mut |leaf, is_secret| {
            if !is_secret {
                others.push(leaf.clone());
            }
        });
    }
    others
}

/// The strings that are values of some blocks.
struct Words {
    strings: BTreeSet<String>,
    values: Vec<Value>,
}

impl Words {
    /// Whole values and ids, and the fragments in one event or in any.
    fn of(blocks: &[&Told], event: Option<usize>) -> Self {
        let mut strings = BTreeSet::new();
        for block in blocks {
            strings.extend([block.body.clone(), block.id.clone()]);
            let here =
                block.fragments.iter().filter(|(number, _)| event.is_none_or(|event| event == *number));
            strings.extend(here.map(|(_, fragment)| fragment.clone()));
        }
        strings.remove("");
        let values = blocks.iter().filter_map(|block| serde_json::from_str(&block.body).ok());
        let values =
            values.filter(|value: &Value| value.is_object() && value != &Value::Object(Default::default()));
        Self { strings, values: values.collect() }
    }
}

/// Every string in a value, keys included, and whether it is, or is inside of, one of these.
fn each_leaf(value: &mut Value, words: &Words, inside: bool, each: &mut impl FnMut(&mut String, bool)) {
    let inside = inside || words.values.contains(value);
    match value {
        Value::String(leaf) => {
            let is_secret = inside || words.strings.contains(leaf);
            each(leaf, is_secret);
        }
        Value::Array(list) => list.iter_mut().for_each(|value| each_leaf(value, words, inside, each)),
        Value::Object(members) => {
            for (key, value) in members {
                // A key is heard, and stays as it is.
                each(&mut key.clone(), inside);
                each_leaf(value, words, inside, each);
            }
        }
        _ => {}
    }
}

/// Changes letters one by one, so that fragments and whole values change alike. Letters that occur in JSON's escapes,
/// numbers and literals stay.
fn disguise(text: &str) -> String {
    let next = |letter: char, alphabet: &str| {
        let at = alphabet.find(letter)?;
        alphabet.chars().nth((at + 5) % alphabet.len())
    };
    text.chars()
        .map(|letter| {
            next(letter, "ghijkmopqvwxyz").or_else(|| next(letter, "GHIJKLMNOPQRSTUVWXYZ")).unwrap_or(letter)
        })
        .collect()
}

/// Equal, or the same JSON: a value written anew has its keys in another order.
fn same_json(one: &str, other: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || value(one).is_some_and(|one| Some(one) == value(other))
}
