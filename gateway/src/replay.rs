//! `gateway replay`: a log through policies, the resulting bytes on standard output.

use std::io::Write as _;
use std::process::ExitCode;

use stream_core::{Config, Decision};
use stream_testkit::{ChunkLog, Cut, Replay, Replayed, WireKind};

use crate::policies::Policies;
use crate::progress::Progress;
use crate::{cli, html, logs};

/// Runs a log through the policies, and prints what comes of it.
pub(crate) fn run(arguments: &cli::Replay) -> Result<ExitCode, String> {
    let log = logs::load(&arguments.file)?;
    let named = arguments.format.named();
    let api = named.as_ref().map(|format| format.name()).or(log.kind().map(WireKind::name));
    if let (Some(named), Some(kind)) = (&named, log.kind())
        && named.name() != kind.name()
    {
        let (named, found) = (named.name(), kind.name());
        return Err(format!("{}: expected frames of {named}, found one of {found}", log.name()));
    }
    let policies = Policies::load(arguments.config.as_deref(), api, &arguments.asked)?;
    policies.check_whole(&log)?;
    let config = named.into_iter().fold(Config::default(), Config::format);
    let replayed = through(&log, config, arguments.cut, &policies)?;
    if let Some(file) = &arguments.html {
        std::fs::write(file, html::page(&replayed))
            .map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let mut out = std::io::stdout().lock();
    let written = if arguments.transcript {
        write!(out, "{}", replayed.transcript())
    } else {
        tell(&replayed.decisions).and_then(|()| out.write_all(&replayed.bytes()))
    };
    written.and_then(|()| out.flush()).map_err(|error| format!("standard output: {error}"))?;
    match replayed.outcome.and_then(|outcome| outcome.error) {
        None => Ok(ExitCode::SUCCESS),
        Some(error) => Err(format!("{}: {error}", log.name())),
    }
}

/// Runs a log through policies: in virtual time, unless one of them asks over a network.
pub(crate) fn through(
    log: &ChunkLog,
    config: Config,
    cut: Cut,
    policies: &Policies,
) -> Result<Replayed, String> {
    let chain = policies.clone();
    let replay = Replay::new(log).cut(cut).config(policies.configure(config)).policy(move || chain.chain());
    // A clock that jumps would leave no time to whoever is asked over a network.
    if !policies.ask_over_network() {
        return Ok(Progress::while_doing("replaying", || replay.run()));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    Ok(runtime.block_on(replay.run_async()))
}

/// The decisions, a line for each.
fn tell(decisions: &[Decision]) -> std::io::Result<()> {
    let mut err = std::io::stderr().lock();
    for decision in decisions {
        let would = if decision.enforced { "" } else { "would have " };
        write!(err, "{}: {would}{}", decision.policy, decision.action.word())?;
        if let Some(block) = decision.block {
            write!(err, " {block}")?;
        }
        write!(err, ", {} bytes", decision.bytes)?;
        if !decision.held.is_zero() {
            write!(err, ", held {} ms", decision.held.as_millis())?;
        }
        match &decision.reason {
            Some(reason) => writeln!(err, ": {reason}")?,
            None => writeln!(err)?,
        }
    }
    Ok(())
}
