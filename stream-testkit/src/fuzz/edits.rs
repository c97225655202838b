//! Edits.

use stream_core::{
    Assembler, Chunk, Config, Context, Ending, PolicyError, Replacement, StreamState, Verdict, policy_fn,
    wire,
};

use super::drive::{Driven, drive};
use super::plan::{Plan, split};
use crate::WireKind;
use crate::log::frames;

/// Whatever a policy does to whatever comes: the engine ends, its bytes decode again, and they do not depend on the cut.
/// Where no edit was recorded, the frames are those that came.
///
/// # Panics
///
/// When one of these is not so.
pub fn edits(data: &[u8]) {
    let (mut plan, body) = split(data);
    let config = match WireKind::ALL.get(plan.below(5)) {
        Some(kind) => Config::default().format(wire::named(kind.name()).expect("a format of that name")),
        None => Config::default(),
    };
    let rate = plan.below(4);
    let run = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut plan: Plan<'_> = plan.clone();
        let line: Vec<usize> = (0..64).map(|_| plan.number()).collect();
        let mut at = 0;
        let mut next = move || {
            at = (at + 1) % line.len();
            line[at]
        };
        let policy = policy_fn(move |chunk, state, ctx| edit(&mut next, rate, chunk, state, ctx));
        drive(config.clone(), policy, pieces)
    };
    let whole = run(&mut std::iter::once(body));
    assert_eq!(run(&mut plan.cut(body)), whole, "cut as planned");
    decodes(&whole);
    if !whole.is_edited() {
        is_kept(body, &whole);
    }
}

/// One step of a policy that does anything; the higher the rate, the more often nothing.
fn edit(
    next: &mut impl FnMut() -> usize,
    rate: usize,
    chunk: Chunk,
    state: &StreamState,
    ctx: &mut Context<'_>,
) -> Result<(), PolicyError> {
    if let Some(block) = state.just_completed() {
        let verdict = match next() % (5 + rate) {
            0 => Verdict::drop("planned"),
            1 => Verdict::Drop { reason: "planned".into(), notice: Some("[gone]".into()) },
            2 if block.as_tool_call().is_some() => {
                Verdict::Replace(Replacement::arguments(r#"{"a":1}"#).named("b"))
            }
            2 => Verdict::Replace(Replacement::text("other")),
            _ => Verdict::Release,
        };
        // A block that has left, or of which nothing is held, has no verdict.
        let _ = ctx.settle(block.key(), verdict);
    }
    // Arguments without one of their pieces can be two values, which is the policy's doing.
    let call = state.current_block().and_then(|block| block.as_tool_call());
    let goes_on = chunk.arguments().is_some_and(|piece| call.is_some_and(|call| call.arguments() != piece));
    match next() % (8 + 4 * rate) {
        0 | 4 if goes_on => ctx.send(chunk),
        0 => {}
        1 => ctx.send(edited(chunk, state)),
        2 => ctx.buffer(chunk),
        3 => {
            ctx.buffer(chunk);
            ctx.flush();
        }
        // There may be no place for it.
        4 => drop(ctx.insert("[note]")),
        5 if next().is_multiple_of(8) => ctx.terminate(Ending::refuse("no")),
        6 if next().is_multiple_of(8) => ctx.terminate(Ending::error("no")),
        _ => ctx.send(chunk),
    }
    Ok(())
}

/// Another text, or a blank before the arguments. Any other edit of some pieces can make two values of the arguments, and that is the
/// policy's doing.
fn edited(chunk: Chunk, state: &StreamState) -> Chunk {
    let call = state.current_block().and_then(|block| block.as_tool_call());
    match chunk.arguments() {
        Some(piece) if call.is_some_and(|call| call.arguments() == piece) => {
            let piece = format!(" {piece}");
            chunk.with_arguments(piece)
        }
        Some(_) => chunk,
        None => chunk.with_text("x"),
    }
}

/// The bytes are a stream to whoever reads them in the format that came, in which there are no frames of another.
fn decodes(driven: &Driven) {
    let format = wire::named(driven.format).expect("a format of that name");
    let mut assembler = Assembler::with(Config::default().format(format));
    let read = assembler.push(&driven.bytes).and_then(|()| assembler.finish());
    if let Err(error) = read {
        panic!("{error}, in {:?}", String::from_utf8_lossy(&driven.bytes));
    }
}

/// Every frame has left as it came. Those of different choices may pass each other; an end that cannot be read is lost,
/// and an ending stands in its place (rules 9 and 11).
fn is_kept(body: &[u8], driven: &Driven) {
    let sorted = |body: &[u8]| {
        let mut frames: Vec<String> =
            frames(body).map(|frame| frame.raw().escape_ascii().to_string()).collect();
        frames.sort();
        frames
    };
    let (came, mut left) = (sorted(body), sorted(&driven.bytes));
    let tail = frames(body).last().filter(|frame| !frame.is_terminated());
    if came == left || tail.is_none() {
        assert_eq!(came, left, "frames as they came");
        return;
    }
    let tail = tail.map_or(0, |frame| frame.raw().len());
    for frame in sorted(&body[..body.len() - tail]) {
        let at = left.iter().position(|other| *other == frame);
        assert!(at.map(|at| left.remove(at)).is_some(), "{frame} has not left");
    }
}
