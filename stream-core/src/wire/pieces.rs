//! Strings that are part of no block and that some clients concatenate over the frames of a stream.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::LazyLock;

use crate::json;

/// A string that is part of no block, or log probabilities: some clients concatenate a piece with the pieces of the same name in
/// earlier frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'d> {
    name: PieceName,
    raw: &'d str,
}

impl<'d> Piece<'d> {
    /// The piece of this name. `raw` is the string with its quotes, or the log probabilities as JSON: a slice of the document.
    #[must_use]
    pub const fn new(name: PieceName, raw: &'d str) -> Self {
        Self { name, raw }
    }

    pub(crate) fn name(&self) -> PieceName {
        self.name
    }

    pub(crate) fn raw(&self) -> &'d str {
        self.raw
    }
}

/// The name of a piece: a hash of the path of keys that leads to the piece. Pieces of the same name in several frames belong
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PieceName(u64);

impl PieceName {
    /// The name of the value below this one, under a key or at a position.
    #[must_use]
    pub fn below(self, step: impl Hash) -> Self {
        // The hash is seeded per process, so that an upstream cannot construct two pieces with one name.
        static NAMES: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        Self(NAMES.hash_one((self.0, step)))
    }
}

/// The place of a value in a document.
pub(super) struct PiecePlace<'p> {
    /// The names of the value: clients that merge lists go by the `index` of an item, and put a new item at its position.
    names: [PieceName; 2],
    /// The paths below this place that are part of a block.
    shown: Vec<&'p [&'p str]>,
    depth: u8,
}

impl<'p> PiecePlace<'p> {
    /// The place of this name; the values at the `shown` paths are part of a block.
    pub(super) fn new(name: PieceName, shown: Vec<&'p [&'p str]>) -> Self {
        Self { names: [name; 2], shown, depth: DEEPEST }
    }

    /// The strings of the value at this place.
    pub(super) fn strings<'d>(&self, raw: &'d str, into: &mut Vec<Piece<'d>>) {
        let [first, second] = self.names;
        match raw.as_bytes().first() {
            Some(b'"') if self.shown.iter().any(|path| path.is_empty()) => {}
            Some(b'"') => {
                into.push(Piece::new(first, raw));
                into.extend((second != first).then(|| Piece::new(second, raw)));
            }
            Some(b'{') if self.depth > 0 => {
                // Clients never concatenate types.
                let members = json::members(raw).unwrap_or_default().into_iter();
                for (key, value) in members.filter(|(key, _)| key != "type") {
                    let shown = self.shown.iter().filter(|path| path.first() == Some(&&*key));
                    let shown = shown.map(|path| &path[1..]).collect();
                    let names = self.names.map(|name| name.below(&*key));
                    PiecePlace { names, shown, depth: self.depth - 1 }.strings(value, into);
                }
            }
            Some(b'[') if self.depth > 0 => {
                for (at, item) in json::items(raw).unwrap_or_default().into_iter().enumerate() {
                    let at = at as u64;
                    let index = json::member(item, "index").and_then(json::count).unwrap_or(at);
                    let names = [first.below(at), second.below(index)];
                    let shown = self.shown.clone();
                    PiecePlace { names, shown, depth: self.depth - 1 }.strings(item, into);
                }
            }
            _ => {}
        }
    }
}

/// The greatest depth that is searched.
const DEEPEST: u8 = 64;
