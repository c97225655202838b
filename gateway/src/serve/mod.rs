//! `gateway serve`: the policies between clients and their upstream.

mod body;
mod meter;
mod metrics;
mod record;
mod request;
mod shutdown;
mod welcome;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use stream_http::{Facts, Plan, PolicyLayer};
use stream_policies::observe::{Observers, Traced};
use tokio::net::TcpListener;
use tower_layer::Layer as _;

use self::meter::Meter;
use self::record::Recorder;
use crate::cli::{self, LogFormat};
use crate::config::{Config, Targets};
use crate::upstream::Upstream;

/// Serves until it is told to stop.
pub(crate) fn run(arguments: &cli::Serve) -> Result<ExitCode, String> {
    let config = configure(arguments)?;
    log(arguments);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(serve(config))
}

/// What the file says, and what the command line says instead.
fn configure(arguments: &cli::Serve) -> Result<Config, String> {
    let mut config = match &arguments.config {
        Some(file) => Config::load(file)?,
        None => Config::demo()?,
    };
    if let Some(url) = &arguments.upstream {
        config.targets = Targets::all_at(url).map_err(|message| format!("--upstream: {message}"))?;
    }
    if let Some(listen) = arguments.listen {
        config.listen = listen;
    }
    if let Some(directory) = &arguments.record {
        config.record = Some(directory.clone());
    }
    if let Some(directory) = &config.record {
        std::fs::create_dir_all(directory)
            .map_err(|error| format!("{}: cannot record there: {error}", directory.display()))?;
    }
    Ok(config)
}

async fn serve(config: Config) -> Result<ExitCode, String> {
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", config.listen))?;
    let address = listener.local_addr().map_err(|error| format!("cannot listen: {error}"))?;
    let app = app(&config)?;
    // Whoever started it may have gone; that is no reason not to serve.
    let _ = write!(std::io::stdout(), "{}", welcome::text(&config, address));
    let _ = std::io::stdout().flush();
    let served = axum::serve(listener, app).with_graceful_shutdown(shutdown::asked()).await;
    served.map_err(|error| format!("cannot serve: {error}"))?;
    tracing::info!("every stream is over");
    Ok(ExitCode::SUCCESS)
}

fn app(config: &Config) -> Result<Router, String> {
    let meter = Meter::default();
    let upstream = Upstream::new(config.targets.clone(), config.settings.clone())?;
    let recorder = config.record.as_deref().map(Path::to_owned).map(Recorder::new);
    let settings = config.settings.clone();
    let shared = Arc::new(config.clone());
    let observed = meter.clone();
    let layer = PolicyLayer::with_settings(settings, move |facts: &Facts| {
        let set = shared.policies(facts).clone();
        let plan = set.chain().into_iter().fold(Plan::new(), Plan::policy);
        let model = facts.model().map(str::to_owned);
        let plan = plan.configure(move |config| set.configure(config, model.as_deref()));
        observed.started(facts.api());
        plan.observer(Observers::new().and(observed.observer()).and(Traced))
    });
    let policed = layer.layer(record::Taped::new(upstream, recorder.clone()));
    let around = request::Around::new(policed, meter.clone(), recorder);
    Ok(Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/metrics", get(async move || metrics::response(&meter)))
        .fallback_service(around))
}

/// Structured logs on standard error.
fn log(arguments: &cli::Serve) {
    let logs = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(arguments.log);
    // A second subscriber in one process is not wanted, and there is none.
    let _ = match arguments.log_format {
        LogFormat::Text => logs.with_ansi(false).try_init(),
        LogFormat::Json => logs.json().flatten_event(true).try_init(),
    };
}
