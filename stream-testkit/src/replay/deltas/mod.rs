//! Scripting the deltas of a log anew: the same answer, said in smaller or larger pieces.

mod anthropic;
mod chat;
mod event;
mod gemini;
mod plain;
mod responses;

use std::time::Duration;

use bytes::Bytes;

use self::event::Event;
use self::plain::Plain;
use crate::log::frames;
use crate::random::Draws;
use crate::{ChunkLog, WireKind};

/// Splits every plain delta into pieces.
pub(super) fn split(log: &ChunkLog, seed: u64) -> ChunkLog {
    let mut draws = Draws::new(seed);
    rescript(log, |kind, events| {
        let mut script = Script::new(kind);
        for event in events {
            match event.plain(kind) {
                Some(plain) => script.say_in(&event, &plain, &pieces(&plain.text, &mut draws)),
                None => script.keep(&event),
            }
        }
        script
    })
}

/// Merges every run of plain deltas that say one thing.
pub(super) fn merge(log: &ChunkLog) -> ChunkLog {
    rescript(log, |kind, events| {
        let mut script = Script::new(kind);
        let mut events = events.into_iter().peekable();
        while let Some(mut event) = events.next() {
            let Some(mut plain) = event.plain(kind) else {
                script.keep(&event);
                continue;
            };
            let mut merged = 0;
            while let Some(next) = events.peek().and_then(|next| next.plain(kind)) {
                if next.lane != plain.lane || next.opens {
                    break;
                }
                plain.text.push_str(&next.text);
                merged += 1;
                event.at = events.next().map_or(event.at, |next| next.at);
            }
            if merged == 0 {
                script.keep(&event);
            } else {
                script.say(&event, &plain.first(event.data(), &plain.text));
                script.shift -= merged;
            }
        }
        script
    })
}

/// Reads the events of a stream, and makes a log of what becomes of them. What is no stream, or tells no API, or could
/// not be numbered anew, stays as it is.
fn rescript(log: &ChunkLog, with: impl FnOnce(WireKind, Vec<Event>) -> Script) -> ChunkLog {
    let (Some(kind), false) = (log.kind(), log.is_whole()) else { return log.clone() };
    let mut end = 0;
    let mut arrivals = log.arrivals();
    let events = frames(log.bytes()).map(|frame| {
        end += frame.raw().len();
        Event::of(&frame, arrivals.at(end))
    });
    let events: Vec<Event> = events.collect();
    let numbered = kind == WireKind::OpenAiResponses;
    if numbered && events.iter().any(Event::is_numbered_out_of_reach) {
        return log.clone();
    }
    ChunkLog::from_chunks(log.name(), with(kind, events).chunks)
}

/// The new events.
struct Script {
    numbered: bool,
    chunks: Vec<(Duration, Bytes)>,
    /// How many events there are more than before.
    shift: i64,
}

impl Script {
    fn new(kind: WireKind) -> Self {
        Self { numbered: kind == WireKind::OpenAiResponses, chunks: Vec::new(), shift: 0 }
    }

    fn keep(&mut self, event: &Event) {
        if self.shift == 0 || !self.numbered {
            self.chunks.push((event.at, event.raw.clone()));
        } else {
            self.say(event, event.data());
        }
    }

    /// Writes an event with other data.
    fn say(&mut self, event: &Event, data: &str) {
        let numbered = if self.numbered { responses::renumber(data, self.shift) } else { None };
        self.chunks.push((event.at, event.with(numbered.as_deref().unwrap_or(data))));
    }

    /// Writes an event once for each piece of its text.
    fn say_in(&mut self, event: &Event, plain: &Plain, pieces: &[&str]) {
        for (number, piece) in pieces.iter().enumerate() {
            if number == 0 {
                self.say(event, &plain.first(event.data(), piece));
            } else {
                self.shift += 1;
                self.say(event, &plain.later(event.data(), piece));
            }
        }
    }
}

/// Cuts a text into at most [`MOST_PIECES`] or so, between characters.
fn pieces<'a>(text: &'a str, draws: &mut Draws) -> Vec<&'a str> {
    let longest = (2 * text.len() / MOST_PIECES).max(4);
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = (draws.draw().below(longest) + 1).min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// How many pieces a long text falls into, on average: enough to cut every word, few enough to replay a long log.
const MOST_PIECES: usize = 16;

#[cfg(test)]
mod tests;
