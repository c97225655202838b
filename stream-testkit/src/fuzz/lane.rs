//! The lane.

use std::sync::{Arc, Mutex, PoisonError};

use stream_core::{
    Attention, Chain, Chunk, ChunkKind, Config, Context, End, Ending, Needs, Passthrough, PolicyError,
    Replacement, Request, Scrub, StreamState, SyncPolicy, Verdict, each_call, wire,
};

use super::drive::{Driven, drive};
use super::plan::split;
use crate::WireKind;

/// Whatever comes, and whatever a policy does: bytes, records and steps are the same with the lane and without.
///
/// # Panics
///
/// When they are not.
pub fn lane(data: &[u8]) {
    let (mut plan, body) = split(data);
    let config = match WireKind::ALL.get(plan.below(5)) {
        Some(kind) => Config::default().format(wire::named(kind.name()).expect("a format of that name")),
        None => Config::default(),
    };
    let (which, act, every) = (plan.below(6), plan.below(8), 1 + plan.below(8));
    let run = |allowed: bool, is_cut: bool| -> (Driven, Vec<String>) {
        let seen = Seen::default();
        let look = Look { act, every, texts: 0, scrubs: which > 3, seen: Arc::clone(&seen) };
        let chain = match which {
            0 => Chain::new().then(Passthrough),
            1 => Chain::new().then(each_call(|_, _| Verdict::Release)),
            2 | 4 => Chain::new().then(look),
            _ => Chain::new().then(each_call(|_, _| Verdict::drop("planned"))).then(look),
        };
        let config = config.clone().lane(allowed);
        let driven = if is_cut { drive(config, chain, plan.cut(body)) } else { drive(config, chain, [body]) };
        let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
        (driven, seen)
    };
    for is_cut in [false, true] {
        assert_eq!(run(true, is_cut), run(false, is_cut), "with the lane and without");
    }
}

type Seen = Arc<Mutex<Vec<String>>>;

/// Notes every step, and does something at every so many texts.
struct Look {
    act: usize,
    every: usize,
    texts: usize,
    /// Whether every string of a frame is searched, too.
    scrubs: bool,
    seen: Seen,
}

/// Finds two letters, and numbers that start with a digit.
#[derive(Debug)]
struct Letters;

impl Scrub for Letters {
    fn scrub(&self, text: &str) -> Option<Replacement> {
        let found = text.contains("or") || text.starts_with('4');
        found.then(|| Replacement::text(text.replace("or", "[..]").replace('4', "[.]")))
    }
}

impl SyncPolicy for Look {
    fn name(&self) -> &str {
        "look"
    }

    fn needs(&self, _: &Request) -> Needs {
        let needs = Needs::nothing().content(Attention::Chunks).reasoning(Attention::Chunks);
        if self.scrubs { needs.scrub(Letters).joined(Letters) } else { needs }
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let step = format!("{chunk:?} {:?} {:?}", state.current_block(), state.just_completed());
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(step);
        self.texts += usize::from(matches!(chunk.kind(), ChunkKind::Text(_)));
        match if self.texts.is_multiple_of(self.every) { self.act } else { 0 } {
            1 => ctx.send(chunk.with_text("x")),
            2 => {}
            3 => ctx.buffer(chunk),
            4 => {
                ctx.send(chunk);
                ctx.flush();
            }
            5 => {
                // There may be no place for it.
                let _ = ctx.insert("[note]");
                ctx.send(chunk);
            }
            6 => ctx.terminate(Ending::refuse("no")),
            7 => return Err(PolicyError::new("no more")),
            _ => ctx.send(chunk),
        }
        Ok(())
    }

    fn on_end(&mut self, _: End, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        ctx.flush();
        Ok(())
    }
}
