//! A stream that is ended early ends as the format ends, and never looks like success (rule 20).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use stream_core::processor::Builder;
use stream_core::{
    Chunk, ChunkKind, Context, End, Ending, EndingKind, Observer, Policy, StreamState, async_trait,
};
use stream_testkit::conformance::Ended;
use stream_testkit::{Script, WireKind};

use crate::kit::{Mode, assert_ended, body, builder, everywhere, run};
use crate::left::{Left, Step};
use crate::policies::Did;
use crate::scripts::{AFTER, Shape, has_text_after_calls, with_calls};

/// Which chunks are sent; the others are held.
type Sends = fn(&Chunk) -> bool;

/// Sends what it is told to, holds the rest, and ends the stream at a step.
struct EndAt {
    at: usize,
    ending: Ending,
    sends: Sends,
    frame: Arc<AtomicUsize>,
    steps: Arc<Mutex<Vec<Step>>>,
}

impl EndAt {
    fn step(&self, step: Step, ctx: &mut Context<'_>) -> bool {
        let mut steps = self.steps.lock().unwrap();
        let ends = steps.len() == self.at;
        if ends {
            ctx.terminate(self.ending.clone());
        }
        steps.push(step);
        ends
    }
}

#[async_trait]
impl Policy for EndAt {
    async fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        let sends = (self.sends)(&chunk);
        let step = Step::new(&chunk, state, self.frame.load(Ordering::SeqCst), sends);
        if self.step(step, ctx) {
            return Ok(());
        }
        if sends {
            ctx.send(chunk);
        } else {
            ctx.buffer(chunk);
        }
        Ok(())
    }

    async fn on_end(&mut self, _: End, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        self.step(Step::end(), ctx);
        Ok(())
    }
}

/// Counts the frames that came in.
struct Frames(Arc<AtomicUsize>);

impl Observer for Frames {
    fn input(&mut self, _: &[u8]) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A builder whose policy ends the stream at a step, and the steps that it will have seen.
fn ending_at(kind: WireKind, at: usize, ending: &Ending, sends: Sends) -> (Builder, Arc<Mutex<Vec<Step>>>) {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let frame = Arc::new(AtomicUsize::new(0));
    let observer = Frames(Arc::clone(&frame));
    let policy = EndAt { at, ending: ending.clone(), sends, frame, steps: Arc::clone(&steps) };
    (builder(kind).observer(observer).policy(policy), steps)
}

fn inputs(kind: WireKind, shape: Shape) -> Vec<Script> {
    if shape == Shape::Chars {
        // Many steps: one small stream has them all.
        return vec![with_calls(shape.script().reasoning("Hm").text("Hi."), &[0, 2])];
    }
    let mut inputs = vec![shape.turn(&[0, 1]), shape.script().text("Hi."), with_calls(shape.script(), &[0])];
    if has_text_after_calls(kind) {
        inputs.push(shape.turn(&[0, 1]).text(AFTER));
    }
    if matches!(kind, WireKind::OpenAiChat | WireKind::Gemini) {
        let choices = with_calls(shape.script().text("one"), &[0]);
        inputs.push(with_calls(choices.choice(1).text("two"), &[1]).choice(2).text("three"));
    }
    inputs
}

/// How a stream has to end that a policy ends at the last of these steps.
fn expected(kind: WireKind, mode: Mode, ending: &Ending, steps: &[Step], next: Option<&Step>) -> Ended {
    let left = Left::before_end(kind, steps, next);
    match mode {
        // It is too late.
        Mode::Streamed if left.terminal => Ended::Clean,
        Mode::Streamed if left.finish || left.half_call => Ended::Error,
        _ if ending.kind() == EndingKind::Refuse => Ended::Refused,
        _ => Ended::Error,
    }
}

#[tokio::test]
async fn at_every_step_the_stream_can_be_ended() {
    let sending: [(&str, Sends); 3] = [
        ("all sent", |_| true),
        ("calls held", |chunk| !chunk.is_tool_call()),
        ("text held", |chunk| !matches!(chunk.kind(), ChunkKind::Text(_))),
    ];
    for shape in Shape::ALL {
        for (kind, mode) in everywhere() {
            for (number, input) in inputs(kind, shape).iter().enumerate() {
                let bytes = body(kind, mode, input);
                for (sent, sends) in sending {
                    let (all, steps) = ending_at(kind, usize::MAX, &Ending::error(""), sends);
                    run(all, mode, bytes.clone()).await;
                    let all = steps.lock().unwrap().clone();
                    for ending in [Ending::refuse("not this"), Ending::error("not this")] {
                        for at in 0..all.len() {
                            let (builder, steps) = ending_at(kind, at, &ending, sends);
                            let out = run(builder, mode, bytes.clone()).await;
                            let steps = steps.lock().unwrap();
                            let what =
                                format!("{shape:?}, input {number}, {ending:?}, {sent}, step {at} {steps:?}");
                            assert_eq!(steps.len(), at + 1, "no hook after a terminate: {what}");
                            assert_eq!(out.error(), None, "{what}");
                            let ended = expected(kind, mode, &ending, &steps, all.get(at + 1));
                            assert_ended(&what, kind, mode, &bytes, &out.bytes, ended);
                        }
                    }
                }
            }
        }
    }
}
