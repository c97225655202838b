//! What a format reads.

use stream_core::{Assembler, Config, StreamBlock, StreamState, wire};

use super::plan::split;
use crate::WireKind;
use crate::conformance::check;
use crate::laws::difference;

/// Blocks, and how they come about, do not depend on the cut. A stream in which the independent checker finds no fault,
/// and that has one meaning (rule 28), is read as the checker reads it. A whole answer may be anything, and makes nothing panic.
///
/// # Panics
///
/// When one of these is not so.
pub fn decode(kind: WireKind, data: &[u8]) {
    let (plan, body) = split(data);
    let whole = Read::of(kind, [body]);
    assert_eq!(Read::of(kind, plan.cut(body)), whole, "cut as planned");
    assert_eq!(Read::of(kind, body.chunks(1)), whole, "cut after each byte");
    let report = check(kind.name().parse().expect("a format of that name"), body);
    let mut assembler = assembler(kind);
    let read = assembler.push(body).and_then(|()| assembler.finish());
    if report.is_clean() && read.is_ok() {
        assert_eq!(difference(assembler.state(), report.view()), None, "as the checker reads it");
    }
    // What comes of it is compared in `whole`.
    let _ = self::assembler(kind).push_whole(body.to_vec());
}

/// A step: the block that it touched with its length so far, and the block that it completed.
type Told = (Option<(String, usize)>, Option<String>);

/// What a stream was folded into.
#[derive(Debug, PartialEq)]
struct Read {
    error: Option<String>,
    blocks: Vec<StreamBlock>,
    finishes: Vec<(u32, Option<String>)>,
    steps: Vec<Told>,
    terminal: bool,
}

impl Read {
    fn of<'a>(kind: WireKind, pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut assembler = assembler(kind);
        let mut steps = Vec::new();
        let mut step = |completed: Option<&StreamBlock>, state: &StreamState| {
            let touched = state.current_block().map(|block| (block.key().to_string(), block.bytes()));
            steps.push((touched, completed.map(|block| block.key().to_string())));
        };
        let read = pieces.into_iter().try_for_each(|piece| assembler.push_with(piece, &mut step));
        let read = read.and_then(|()| assembler.finish());
        let state = assembler.state();
        let finish =
            |choice: u32| (choice, state.finish_reason_of(choice).map(|reason| reason.raw().to_owned()));
        Self {
            error: read.err().map(|error| error.to_string()),
            blocks: state.blocks().to_vec(),
            finishes: state.choices().map(finish).collect(),
            terminal: state.is_terminal(),
            steps,
        }
    }
}

fn assembler(kind: WireKind) -> Assembler {
    let format = wire::named(kind.name()).expect("a format of that name");
    Assembler::with(Config::default().format(format))
}
