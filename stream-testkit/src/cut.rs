//! Cutting a log anew: what the client sees must not depend on it.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;

use crate::log::{ChunkLog, frames};
use crate::random::Draws;

/// Where a body is cut into network chunks. Apart from [`Event`](Self::Event) a cut cares for nothing: it falls
/// inside of events, lines and UTF-8 characters.
///
/// ```
/// use stream_testkit::{ChunkLog, Cut};
///
/// let log = ChunkLog::parse("log.sse", b"data: {}\n\ndata: [DONE]\n\n")?;
/// assert_eq!("event".parse::<Cut>()?.apply(&log).len(), 2);
/// assert_eq!("10".parse::<Cut>()?.apply(&log)[1].1, "data: [DON");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cut {
    /// At the recorded cuts of the network, or, where these are not known, after each event.
    Original,
    /// Nowhere.
    Whole,
    /// After each event.
    Event,
    /// After each byte.
    Byte,
    /// After this many bytes.
    Size(NonZeroUsize),
    /// After 1 to 64 bytes, the same ones for the same seed.
    Random {
        /// What the sizes are drawn from.
        seed: u64,
    },
}

impl Cut {
    /// The pieces of a log, each with the time of its last byte.
    #[must_use]
    pub fn apply(self, log: &ChunkLog) -> Vec<(Duration, Bytes)> {
        let len = log.bytes().len();
        match self {
            Self::Original => log.chunks().collect(),
            Self::Whole => pieces(log, std::iter::once(len)),
            Self::Event if log.is_whole() => pieces(log, std::iter::once(len)),
            Self::Event => pieces(log, frames(log.bytes()).map(|frame| frame.raw().len())),
            Self::Byte => pieces(log, std::iter::repeat(1)),
            Self::Size(size) => pieces(log, std::iter::repeat(size.get())),
            Self::Random { seed } => pieces(log, Draws::new(seed).map(|draw| draw.below(64) + 1)),
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Original => f.write_str("original"),
            Self::Whole => f.write_str("whole"),
            Self::Event => f.write_str("event"),
            Self::Byte => f.write_str("byte"),
            Self::Size(size) => write!(f, "{size}"),
            Self::Random { seed } => write!(f, "random:{seed}"),
        }
    }
}

impl FromStr for Cut {
    type Err = UnknownCut;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownCut { found: text.to_owned() };
        match text {
            "original" => Ok(Self::Original),
            "whole" => Ok(Self::Whole),
            "event" => Ok(Self::Event),
            "byte" => Ok(Self::Byte),
            _ => match text.strip_prefix("random:") {
                Some(seed) => seed.parse().map(|seed| Self::Random { seed }).map_err(|_| unknown()),
                None => text.parse().map(Self::Size).map_err(|_| unknown()),
            },
        }
    }
}

/// A text that is no [`Cut`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCut {
    found: String,
}

impl fmt::Display for UnknownCut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.found;
        write!(f, "expected original, whole, event, byte, a number of bytes or random:SEED, found {found:?}")
    }
}

impl std::error::Error for UnknownCut {}

fn pieces(log: &ChunkLog, sizes: impl IntoIterator<Item = usize>) -> Vec<(Duration, Bytes)> {
    let body = log.bytes();
    let mut arrivals = log.arrivals();
    let mut pieces = Vec::new();
    let mut start = 0;
    for size in sizes {
        if start == body.len() {
            break;
        }
        let end = start.saturating_add(size).min(body.len());
        pieces.push((arrivals.at(end), body.slice(start..end)));
        start = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUTS: [&str; 7] = ["original", "whole", "event", "byte", "7", "random:1", "random:2"];

    fn log() -> ChunkLog {
        let chunks = [(3, "data: gr"), (5, "öße\n\nda"), (9, "ta: [DONE]\n\n")];
        ChunkLog::from_chunks("log", chunks.map(|(at, text)| (Duration::from_millis(at), Bytes::from(text))))
    }

    fn sizes(cut: &str) -> Vec<(u128, usize)> {
        let pieces = cut.parse::<Cut>().unwrap().apply(&log());
        pieces.iter().map(|(at, bytes)| (at.as_millis(), bytes.len())).collect()
    }

    #[test]
    fn every_cut_keeps_every_byte_and_its_order() {
        for cut in CUTS {
            let pieces = cut.parse::<Cut>().unwrap().apply(&log());
            assert_eq!(
                pieces.iter().map(|(_, bytes)| &bytes[..]).collect::<Vec<_>>().concat(),
                log().bytes()[..]
            );
            assert!(pieces.is_sorted_by_key(|(at, _)| *at), "{cut}");
            assert!(pieces.iter().all(|(_, bytes)| !bytes.is_empty()), "{cut}");
        }
    }

    #[test]
    fn a_piece_comes_when_its_last_byte_came() {
        assert_eq!(sizes("original"), [(3, 8), (5, 9), (9, 12)]);
        assert_eq!(sizes("whole"), [(9, 29)]);
        assert_eq!(sizes("event"), [(5, 15), (9, 14)]);
        assert_eq!(sizes("9"), [(5, 9), (9, 9), (9, 9), (9, 2)]);
        assert_eq!(sizes("byte").len(), 29);
    }

    #[test]
    fn a_cut_falls_inside_of_a_character() {
        let pieces = "9".parse::<Cut>().unwrap().apply(&log());
        assert_eq!(pieces[0].1, &b"data: gr\xc3"[..]);
    }

    #[test]
    fn a_seed_gives_the_same_cut_each_time_and_another_seed_another() {
        let long = ChunkLog::parse("long.sse", format!("data: {}\n\n", "x".repeat(2000)).as_bytes()).unwrap();
        let cut = |seed| Cut::Random { seed }.apply(&long);
        assert_eq!(cut(1), cut(1));
        assert_ne!(cut(1), cut(2));
    }

    #[test]
    fn a_whole_response_has_one_event() {
        let log = ChunkLog::from_whole("whole", "{\"a\":\n\n1}");
        assert_eq!(Cut::Event.apply(&log).len(), 1);
    }

    #[test]
    fn texts_are_read_back() {
        for cut in CUTS {
            assert_eq!(cut.parse::<Cut>().unwrap().to_string(), cut);
        }
        for wrong in ["", "0", "-1", "random", "random:x", "bytes"] {
            assert_eq!(
                wrong.parse::<Cut>().unwrap_err().to_string(),
                format!(
                    "expected original, whole, event, byte, a number of bytes or random:SEED, found {wrong:?}"
                )
            );
        }
    }
}
