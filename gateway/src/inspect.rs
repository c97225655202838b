//! `gateway inspect`: what a client ends up with.

use std::io::Write as _;
use std::process::ExitCode;

use serde::Serialize;
use stream_core::{Assembler, CallFlavor, Config, Error, StreamBlock, StreamState};
use stream_testkit::ChunkLog;

use crate::progress::Progress;
use crate::{cli, logs};

/// Folds a log and prints its blocks.
pub(crate) fn run(arguments: &cli::Inspect) -> Result<ExitCode, String> {
    let log = logs::load(&arguments.file)?;
    let config = arguments.format.named().into_iter().fold(Config::default(), Config::format);
    let mut assembler = Assembler::with(config);
    let folded = fold(&mut assembler, &log);
    let format = assembler.format().map_or("unknown", |format| format.name());
    let mut out = std::io::stdout().lock();
    let written = if arguments.json {
        let view = View::of(format, assembler.state());
        serde_json::to_string(&view).map_err(std::io::Error::from).and_then(|line| writeln!(out, "{line}"))
    } else {
        table(&mut out, format, assembler.state())
    };
    written.map_err(|error| format!("standard output: {error}"))?;
    match folded {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(format!("{}: {error}", log.name())),
    }
}

fn fold(assembler: &mut Assembler, log: &ChunkLog) -> Result<(), Error> {
    if log.is_whole() {
        return assembler.push_whole(log.bytes().clone());
    }
    let mut progress = Progress::of(log.bytes().len(), "folded");
    for piece in log.bytes().chunks(PIECE) {
        assembler.push(piece)?;
        progress.step(piece.len());
    }
    assembler.finish()
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct View<'a> {
    format: &'a str,
    error: bool,
    partial_args: bool,
    choices: Vec<ChoiceView<'a>>,
}

#[derive(Debug, Serialize)]
struct ChoiceView<'a> {
    index: u32,
    content: String,
    reasoning: String,
    refusal: String,
    tool_calls: Vec<CallView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    builtin_calls: Vec<CallView<'a>>,
    finish_reason: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct CallView<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

impl<'a> View<'a> {
    fn of(format: &'a str, state: &'a StreamState) -> Self {
        let mut choices: Vec<ChoiceView<'a>> =
            state.choices().map(|choice| ChoiceView::of(choice, state)).collect();
        choices.sort_by_key(|choice| choice.index);
        let partial_args = state.tool_calls().any(stream_core::ToolCall::is_joined);
        Self { format, error: state.error().is_some(), partial_args, choices }
    }
}

impl<'a> ChoiceView<'a> {
    fn of(index: u32, state: &'a StreamState) -> Self {
        let mut view = Self {
            index,
            content: String::new(),
            reasoning: String::new(),
            refusal: String::new(),
            tool_calls: Vec::new(),
            builtin_calls: Vec::new(),
            finish_reason: state.finish_reason_of(index).map(stream_core::FinishReason::raw),
        };
        for block in state.blocks().iter().filter(|block| block.choice() == index) {
            match block {
                // The transcript of spoken audio is policed as content, but SDKs do not read it as content.
                StreamBlock::Content(text) if text.is_spoken() => {}
                StreamBlock::Content(text) => view.content.push_str(text.text()),
                StreamBlock::Reasoning(text) => view.reasoning.push_str(text.text()),
                StreamBlock::Refusal(text) => view.refusal.push_str(text.text()),
                StreamBlock::ToolCall(call) => {
                    let calls = match call.flavor() {
                        CallFlavor::Builtin => &mut view.builtin_calls,
                        _ => &mut view.tool_calls,
                    };
                    calls.push(CallView {
                        id: call.id().unwrap_or_default(),
                        name: call.name(),
                        arguments: call.arguments(),
                    });
                }
                _ => {}
            }
        }
        view
    }
}

fn table(out: &mut impl std::io::Write, format: &str, state: &StreamState) -> std::io::Result<()> {
    writeln!(out, "format   {format}")?;
    if let Some(model) = state.model() {
        writeln!(out, "model    {model}")?;
    }
    for block in state.blocks() {
        let status = format!("{:?}", block.status()).to_lowercase();
        write!(
            out,
            "{:<8} {:<9} choice {}  {status:<8} {:>7} bytes  ",
            block.key().to_string(),
            block.kind_name(),
            block.choice(),
            block.bytes()
        )?;
        match block {
            StreamBlock::ToolCall(call) => writeln!(out, "{}({})", call.name(), excerpt(call.arguments()))?,
            StreamBlock::Opaque(opaque) => writeln!(out, "{} ({:?})", opaque.kind(), opaque.runs())?,
            other => writeln!(out, "{:?}", excerpt(other.as_text().map_or("", |text| text.text())))?,
        }
    }
    for choice in state.choices() {
        let reason = state.finish_reason_of(choice).map_or("none", |reason| reason.raw());
        writeln!(out, "finish   choice {choice}: {reason}")?;
    }
    if let Some(error) = state.error() {
        writeln!(out, "error    {}", error.message.as_deref().unwrap_or("(no message)"))?;
    }
    let unfinished = state.unfinished_calls().count();
    if unfinished > 0 {
        writeln!(out, "calls    {unfinished} not finished")?;
    }
    Ok(())
}

fn excerpt(text: &str) -> String {
    const LENGTH: usize = 60;
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// How many bytes are folded between two looks at the clock.
const PIECE: usize = 64 << 10;
