//! Runs a script through policies, and holds what came out against a script that says what it should be.

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use stream_core::processor::Builder;
use stream_core::{Assembler, Config, Limits, Outcome, StreamBlock, StreamProcessor, Usage};
use stream_testkit::conformance::{
    Allow, Deviation, Ended, Report, View, check, check_whole, check_whole_with, check_with,
};
use stream_testkit::{ChunkLog, Cut, Script, WireKind};

/// Streamed or not: the same policies, the same result (rule 24).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Streamed,
    Whole,
}

/// Every format, streamed and whole.
pub(crate) fn everywhere() -> impl Iterator<Item = (WireKind, Mode)> {
    WireKind::ALL.into_iter().flat_map(|kind| [(kind, Mode::Streamed), (kind, Mode::Whole)])
}

/// What a script says in this format and mode.
pub(crate) fn body(kind: WireKind, mode: Mode, script: &Script) -> Bytes {
    match mode {
        Mode::Streamed => script.bytes(kind),
        Mode::Whole => script.whole(kind),
    }
}

/// A run that came to its end.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) bytes: Vec<u8>,
    pub(crate) outcome: Option<Outcome>,
}

impl Run {
    /// Why the stream was closed, if it was closed for an error.
    pub(crate) fn error(&self) -> Option<stream_core::ErrorKind> {
        self.outcome.as_ref()?.error.as_ref().map(stream_core::Error::kind)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Runs a body through the policies of a builder.
pub(crate) async fn run(builder: Builder, mode: Mode, body: Bytes) -> Run {
    match mode {
        Mode::Streamed => run_log(builder, &ChunkLog::parse("in.sse", &body).unwrap()).await,
        Mode::Whole => {
            let whole = builder.whole(body).await.unwrap();
            Run { bytes: whole.body.to_vec(), outcome: whole.outcome }
        }
    }
}

/// Runs a log through the policies of a builder, event by event.
pub(crate) async fn run_log(builder: Builder, log: &ChunkLog) -> Run {
    run_chunks(builder, Cut::Event.apply(log).into_iter().map(|(_, bytes)| bytes)).await
}

/// Runs chunks of bytes through the policies of a builder.
pub(crate) async fn run_chunks(builder: Builder, chunks: impl IntoIterator<Item = Bytes>) -> Run {
    let chunks: Vec<Result<Bytes, std::convert::Infallible>> = chunks.into_iter().map(Ok).collect();
    let processor = builder.build(stream::iter(chunks)).unwrap();
    let handle = processor.handle();
    let parts: Vec<Bytes> = processor.collect().await;
    Run { bytes: parts.concat(), outcome: handle.outcome() }
}

/// A builder for a format.
pub(crate) fn builder(kind: WireKind) -> Builder {
    StreamProcessor::builder().config(config(kind))
}

pub(crate) fn config(kind: WireKind) -> Config {
    Config::default().format(stream_core::wire::named(kind.name()).unwrap())
}

/// A builder for a format, without keep-alives.
pub(crate) fn quiet(kind: WireKind) -> Builder {
    StreamProcessor::builder().config(config(kind).limits(limits(|limits| limits.keep_alive = None)))
}

/// The default limits, but for some.
pub(crate) fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// The report on what came out; it may deviate as what came in did, and no further.
pub(crate) fn report(kind: WireKind, mode: Mode, input: &[u8], out: &[u8]) -> Report {
    match mode {
        Mode::Streamed => {
            let allow = Allow::as_in(&check(kind, input));
            let report = check_with(kind, out, &allow);
            // A refused turn is not continued: thinking that it cut off needs no signature.
            match report.view().ended {
                Ended::Refused => check_with(kind, out, &allow.with(Deviation::UnsignedThinking)),
                _ => report,
            }
        }
        Mode::Whole => check_whole_with(kind, out, &Allow::as_in(&check_whole(kind, input))),
    }
}

/// What a strict client received; panics if any rule was broken.
#[track_caller]
pub(crate) fn view(what: &str, kind: WireKind, mode: Mode, input: &[u8], out: &[u8]) -> View {
    let report = report(kind, mode, input, out);
    let shown = String::from_utf8_lossy(out);
    assert!(report.is_clean(), "{what}, {kind}, {mode:?}:\n{report}\n{shown}");
    report.view().clone()
}

/// What came out says exactly what `expected` says, to a strict client and to the fold.
#[track_caller]
pub(crate) fn assert_says(
    what: &str,
    kind: WireKind,
    mode: Mode,
    input: &Script,
    out: &[u8],
    expected: &Script,
) {
    assert_says_in(&Config::default(), what, kind, mode, input, out, expected);
}

/// As [`assert_says`], folded with these settings.
#[track_caller]
pub(crate) fn assert_says_in(
    config: &Config,
    what: &str,
    kind: WireKind,
    mode: Mode,
    input: &Script,
    out: &[u8],
    expected: &Script,
) {
    let input = body(kind, mode, input);
    let seen = view(what, kind, mode, &input, out);
    let shown = String::from_utf8_lossy(out);
    let wanted_bytes = body(kind, mode, expected);
    let wanted = report(kind, mode, &wanted_bytes, &wanted_bytes);
    assert_eq!(&seen, wanted.view(), "{what}, {kind}, {mode:?}:\n{shown}");
    let folded = |bytes: &[u8]| fold_with(config.clone(), mode, bytes);
    assert_eq!(folded(out), folded(&wanted_bytes), "{what}, {kind}, {mode:?}:\n{shown}");
}

/// How a terminated stream ended: refused or failed, never like success (rule 20).
#[track_caller]
pub(crate) fn assert_ended(
    what: &str,
    kind: WireKind,
    mode: Mode,
    input: &[u8],
    out: &[u8],
    ended: Ended,
) -> View {
    let seen = view(what, kind, mode, input, out);
    assert_eq!(seen.ended, ended, "{what}, {kind}, {mode:?}:\n{}", String::from_utf8_lossy(out));
    seen
}

/// What the fold makes of a body: the pieces of each choice in order, its finish reason, the numbers.
#[derive(Debug, PartialEq)]
pub(crate) struct Folded {
    pub(crate) choices: Vec<(u32, Vec<Piece>, Option<String>)>,
    pub(crate) usage: Option<Usage>,
    pub(crate) error: bool,
}

/// A stretch of one kind. Texts of one channel that follow each other are one piece: where they are split is the
/// format's own affair.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    Text(stream_core::Channel, String),
    Call { id: Option<String>, name: String, arguments: String, finished: bool },
    Opaque(String),
}

pub(crate) fn fold(mode: Mode, bytes: &[u8]) -> Folded {
    fold_with(Config::default(), mode, bytes)
}

pub(crate) fn fold_with(config: Config, mode: Mode, bytes: &[u8]) -> Folded {
    let mut assembler = Assembler::with(config);
    match mode {
        Mode::Streamed => {
            assembler.push(bytes).unwrap();
            assembler.finish().unwrap();
        }
        Mode::Whole => {
            assembler.push_whole(Bytes::copy_from_slice(bytes)).unwrap();
            assembler.finish().unwrap();
        }
    }
    let state = assembler.state();
    let mut numbers: Vec<u32> = state.choices().collect();
    numbers.sort_unstable();
    let choices = numbers
        .into_iter()
        .map(|choice| {
            let blocks = state.blocks().iter().filter(|block| block.choice() == choice);
            let finish = state.finish_reason_of(choice).map(|reason| reason.raw().to_owned());
            (choice, pieces(blocks), finish)
        })
        .collect();
    Folded { choices, usage: state.usage(), error: state.error().is_some() }
}

fn pieces<'a>(blocks: impl Iterator<Item = &'a StreamBlock>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for block in blocks {
        match block {
            StreamBlock::ToolCall(call) => pieces.push(Piece::Call {
                id: call.id().map(str::to_owned),
                name: call.name().to_owned(),
                arguments: call.arguments().to_owned(),
                finished: call.is_finished(),
            }),
            StreamBlock::Opaque(opaque) => pieces.push(Piece::Opaque(opaque.kind().to_owned())),
            text => {
                let (Some(channel), Some(block)) = (text.channel(), text.as_text()) else { continue };
                match pieces.last_mut() {
                    _ if block.text().is_empty() => {}
                    Some(Piece::Text(last, said)) if *last == channel => said.push_str(block.text()),
                    _ => pieces.push(Piece::Text(channel, block.text().to_owned())),
                }
            }
        }
    }
    pieces
}
