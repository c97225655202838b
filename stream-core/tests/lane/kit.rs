//! Policies that note what they see, and a host that notes what leaves.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use stream_core::engine::{Input, Output};
use stream_core::{
    Attention, Chain, Chunk, ChunkKind, Config, Context, Decide, End, Ending, Engine, Limits, Needs,
    Passthrough, Policy, PolicyError, Release, Replacement, Request, Scrub, Stage, StreamState, SyncPolicy,
    Verdict, async_trait, each_call,
};

/// What hooks saw, in order.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

/// What is done with a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Send,
    Shout,
    Empty,
    Drop,
    Hold,
    /// Holds the text until the next one.
    HoldOne,
    SendAndFlush,
    SayBefore,
    SayBehind,
    Release,
    Decide,
    After,
    Terminate,
    Fail,
    Panic,
}

/// Notes every step, and acts on every `every`th text, or piece of a call.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    pub(crate) name: &'static str,
    pub(crate) needs: Needs,
    pub(crate) act: Act,
    pub(crate) every: usize,
    pub(crate) of_calls: bool,
    pub(crate) texts: usize,
    pub(crate) log: Log,
}

impl Look {
    fn note(&self, what: &str) {
        self.log.lock().unwrap().push(format!("{}: {what}", self.name));
    }

    fn step(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let current = state.current_block();
        self.note(&format!(
            "{chunk:?} current={current:?} completed={:?} choices={:?} usage={:?} id={:?} model={:?} at={:?}",
            state.just_completed().map(stream_core::StreamBlock::key),
            state.choices().map(|choice| (choice, state.finish_reason_of(choice))).collect::<Vec<_>>(),
            state.usage(),
            state.id(),
            state.model(),
            ctx.elapsed(),
        ));
        let is_text = match chunk.kind() {
            ChunkKind::Text(_) => true,
            kind => self.of_calls && kind == ChunkKind::ToolCall,
        };
        self.texts += usize::from(is_text);
        let act = match (is_text, self.texts % self.every, self.act) {
            (true, 0, act) => act,
            (true, 1, Act::HoldOne) => Act::SendAndFlush,
            _ => Act::Send,
        };
        let block = chunk.block();
        match act {
            Act::Send => ctx.send(chunk),
            Act::Shout => {
                let loud = chunk.text().unwrap_or_default().to_uppercase();
                ctx.send(chunk.with_text(loud));
            }
            Act::Empty => ctx.send(chunk.with_text("")),
            Act::Drop => {}
            Act::Hold | Act::HoldOne => ctx.buffer(chunk),
            Act::SendAndFlush => {
                ctx.send(chunk);
                ctx.flush();
            }
            Act::SayBefore => {
                let _ = ctx.insert("[before]");
                ctx.send(chunk);
            }
            Act::SayBehind => {
                ctx.send(chunk);
                let _ = ctx.insert("[behind]");
            }
            Act::Release => {
                ctx.buffer(chunk);
                ctx.release(block.unwrap(), Release::first([None]));
            }
            Act::Decide => {
                let _ = ctx.decide(block.unwrap(), async { Ok(Verdict::Release) });
            }
            Act::After => {
                ctx.buffer(chunk);
                ctx.decide(block.unwrap(), Decide::after(Duration::from_millis(2), Verdict::Release))?;
            }
            Act::Terminate => ctx.terminate(Ending::refuse("enough")),
            Act::Fail => return Err(PolicyError::new("no more")),
            Act::Panic => std::panic::panic_any("no more"),
        }
        Ok(())
    }
}

impl SyncPolicy for Look {
    fn name(&self) -> &str {
        self.name
    }

    fn needs(&self, _: &Request) -> Needs {
        self.needs.clone()
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        self.step(chunk, state, ctx)
    }

    fn on_end(&mut self, end: End, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        self.note(&format!("{end:?} {:?} usage={:?}", state.blocks(), state.usage()));
        ctx.flush();
        Ok(())
    }

    fn on_abort(&mut self) {
        self.note("aborted");
    }
}

/// The same with hooks that could wait.
pub(crate) struct Waits(pub(crate) Look);

#[async_trait]
impl Policy for Waits {
    fn name(&self) -> &str {
        self.0.name
    }

    fn needs(&self, _: &Request) -> Needs {
        self.0.needs.clone()
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        self.0.step(chunk, state, ctx)
    }
}

fn look(name: &'static str, log: &Log, act: Act, every: usize) -> Look {
    let needs = Needs::nothing().content(Attention::Chunks).reasoning(Attention::Chunks);
    Look { name, needs, act, every, of_calls: false, texts: 0, log: Arc::clone(log) }
}

fn all(name: &'static str, log: &Log, act: Act, every: usize) -> Look {
    Look { needs: Needs::everything(), ..look(name, log, act, every) }
}

fn calls(name: &'static str, log: &Log, act: Act, every: usize) -> Look {
    let needs = Needs::nothing().calls(Attention::Chunks);
    Look { needs, of_calls: true, ..look(name, log, act, every) }
}

/// Finds a word, however it is written, and numbers that start with these digits.
#[derive(Debug)]
pub(crate) struct Secrets(pub(crate) &'static str, pub(crate) &'static str);

impl Scrub for Secrets {
    fn scrub(&self, text: &str) -> Option<Replacement> {
        let Self(word, digits) = self;
        let found = text.to_lowercase().contains(word) || text.starts_with(digits);
        found.then(|| Replacement::text(text.to_lowercase().replace(word, "[w]").replace(digits, "[n]")))
    }
}

const SECRETS: Secrets = Secrets("secret", "4111");

/// Looks at text and at every other string.
fn scrub(name: &'static str, log: &Log, act: Act, every: usize) -> Look {
    let look = look(name, log, act, every);
    Look { needs: look.needs.clone().structure(true).scrub(SECRETS).joined(SECRETS), ..look }
}

/// A chain by its name.
pub(crate) type Made = (String, Make, Act);

type Make = fn(&Log, Act) -> Chain;

/// Every chain that is tried.
pub(crate) fn chains() -> Vec<Made> {
    let plain: [(&str, Make); 19] = [
        ("nothing", |_, _| Chain::new().then(Passthrough)),
        ("gate", |_, _| Chain::new().then(each_call(|_, _| Verdict::Release))),
        ("gate that drops", |_, _| Chain::new().then(each_call(|_, _| Verdict::drop("no")))),
        ("gate that replaces", |_, _| {
            let other = || Verdict::Replace(Replacement::arguments(r#"{"path":"/tmp"}"#));
            Chain::new().then(each_call(move |_, _| other()))
        }),
        ("calls", |log, _| Chain::new().then(calls("a", log, Act::Send, 1))),
        ("calls, some of them held", |log, _| Chain::new().then(calls("a", log, Act::Hold, 3))),
        ("content", |log, _| Chain::new().then(look("a", log, Act::Send, 1))),
        ("all", |log, _| Chain::new().then(all("a", log, Act::Send, 1))),
        ("waits", |log, _| Chain::new().then(Waits(all("a", log, Act::Send, 1)))),
        ("two", |log, _| Chain::new().then(look("a", log, Act::Send, 1)).then(all("b", log, Act::Send, 1))),
        ("gate and look", |log, _| {
            Chain::new().then(each_call(|_, _| Verdict::Release)).then(look("b", log, Act::Send, 1))
        }),
        ("monitor", |log, _| Chain::new().then(Stage::new(look("a", log, Act::Shout, 2)).monitor())),
        ("strings", |log, _| Chain::new().then(scrub("a", log, Act::Send, 1))),
        ("strings alone", |log, _| {
            let needs = Needs::nothing().scrub(SECRETS);
            Chain::new().then(Look { needs, ..look("a", log, Act::Send, 1) })
        }),
        ("strings, some texts held", |log, _| Chain::new().then(scrub("a", log, Act::HoldOne, 4))),
        ("strings of two", |log, _| {
            let needs = Needs::nothing().content(Attention::Chunks).scrub(Secrets("hidden", "17"));
            let second = Look { needs, ..look("b", log, Act::Send, 1) };
            Chain::new().then(scrub("a", log, Act::Send, 1)).then(second)
        }),
        ("strings, failing open", |log, _| {
            let first = Stage::new(scrub("a", log, Act::Fail, 7)).fail_open();
            Chain::new().then(first).then(all("b", log, Act::Send, 1))
        }),
        ("strings in a dry run", |log, _| {
            Chain::new().then(Stage::new(scrub("a", log, Act::Send, 1)).monitor())
        }),
        ("completed", |log, _| {
            let needs = Needs::nothing().content(Attention::Completed);
            Chain::new().then(Look { needs, ..look("a", log, Act::Send, 1) })
        }),
    ];
    let mut chains: Vec<Made> =
        plain.iter().map(|(name, make)| ((*name).to_owned(), *make, Act::Send)).collect();
    for act in ACTS {
        chains.push((format!("{act:?}"), |log, act| Chain::new().then(look("a", log, act, 5)), act));
        chains.push((
            format!("second {act:?}"),
            |log, act| Chain::new().then(look("a", log, Act::Send, 1)).then(look("b", log, act, 7)),
            act,
        ));
        chains.push((
            format!("first {act:?}, failing open"),
            |log, act| {
                let first = Stage::new(look("a", log, act, 6)).fail_open();
                Chain::new().then(first).then(all("b", log, Act::Send, 1))
            },
            act,
        ));
    }
    chains
}

const ACTS: [Act; 14] = [
    Act::Shout,
    Act::Empty,
    Act::Drop,
    Act::Hold,
    Act::HoldOne,
    Act::SendAndFlush,
    Act::SayBefore,
    Act::SayBehind,
    Act::Release,
    Act::Decide,
    Act::After,
    Act::Terminate,
    Act::Fail,
    Act::Panic,
];

/// What came of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ran {
    pub(crate) out: Vec<u8>,
    pub(crate) log: Vec<String>,
    pub(crate) decisions: Vec<String>,
    pub(crate) error: Option<String>,
    pub(crate) state: String,
}

/// Takes a stream through a chain, read by read, a millisecond each. Answers also with the sizes of what left.
pub(crate) fn run(chain: &Made, reads: &[Bytes], config: Config) -> (Ran, Vec<usize>) {
    let log = Log::default();
    let (_, make, act) = chain;
    let mut engine = Engine::new(config, make(&log, *act)).unwrap();
    let (mut out, mut sizes, mut decisions) = (Vec::new(), Vec::new(), Vec::new());
    let mut reads = reads.iter();
    let mut now = Duration::ZERO;
    loop {
        let input = match engine.poll() {
            Output::Bytes(bytes) => {
                out.extend_from_slice(&bytes);
                sizes.push(bytes.len());
                None
            }
            Output::Hook(hook) => {
                hook.run(now);
                None
            }
            Output::Judge(judging) => {
                judging.now_or_never().flatten().map(|(ticket, verdict)| Input::Verdict(ticket, verdict))
            }
            Output::Wait { until, .. } => {
                now += Duration::from_millis(1);
                match until {
                    Some(until) if until <= now => Some(Input::Time),
                    _ => Some(reads.next().map_or(Input::End, |read| Input::Bytes(read.clone()))),
                }
            }
            Output::Done => break,
            other => unreachable!("{other:?}"),
        };
        if let Some(input) = input {
            engine.handle(input, now);
        }
        decisions.extend(engine.decisions().iter().map(|decision| format!("{decision:?}")));
    }
    let state = format!("{:?}", engine.state());
    let error = engine.error().map(ToString::to_string);
    drop(engine);
    let log = log.lock().unwrap().clone();
    (Ran { out, log, decisions, error, state }, sizes)
}

pub(crate) fn config() -> Config {
    Config::default().limits(Limits::default())
}

/// Asserts that a stream is the same with the lane and without.
#[track_caller]
pub(crate) fn assert_same(name: &str, chain: &Made, reads: &[Bytes], config: &Config) {
    let (with, _) = run(chain, reads, config.clone());
    let (without, _) = run(chain, reads, config.clone().lane(false));
    if with == without {
        return;
    }
    let first = with.log.iter().zip(&without.log).position(|(one, other)| one != other);
    let first = first.map(|at| (&with.log[at], &without.log[at]));
    let text = |ran: &Ran| String::from_utf8_lossy(&ran.out).into_owned();
    assert_eq!(text(&with), text(&without), "{name}, {}: bytes", chain.0);
    assert_eq!(first, None, "{name}, {}: what hooks saw", chain.0);
    assert_eq!(with, without, "{name}, {}", chain.0);
}
