//! `gateway serve`: the policies between clients and their upstream.

pub(crate) mod admin;
mod body;
pub(crate) mod eyes;
mod looped;
pub(crate) mod meter;
mod metrics;
pub(crate) mod record;
pub(crate) mod request;
mod request_log;
pub(crate) mod shutdown;
mod switch;
mod welcome;

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use futures::FutureExt as _;
use stream_http::tool_loop::{ToolLoop, ToolLoopService, Tools};
use stream_http::{Facts, Plan, PolicyLayer, PolicyService};
use stream_policies::observe::{Observers, Traced};
use tokio::net::TcpListener;
use tower_layer::Layer as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use self::eyes::Eyes;
use self::looped::{Servers, Unwrapped};
use self::record::Recorder;
use self::record::Taped;
use self::request::Around;
pub(crate) use self::request_log::Answered;
use self::request_log::RequestLog;
use self::switch::Switch;
use crate::cli::{self, LogFormat};
use crate::config::{Config, Record, Targets};
use crate::doors::Doors;
use crate::exchange::Exchange;
use crate::listen::{self, Tls};
use crate::live::{Asked, Live};
use crate::reload::{Current, Source};
use crate::upstream::Upstream;

/// Serves until it is told to stop.
pub(crate) fn run(arguments: &cli::Serve) -> Result<ExitCode, String> {
    let (config, source) = match &arguments.config {
        Some(file) => {
            let arguments = arguments.clone();
            let (config, source) = Source::load(file, move || configure(&arguments))?;
            (config, Some(source))
        }
        None => (configure(arguments)?, None),
    };
    log(&arguments.logs);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(serve(config, source))
}

/// What the file says, and what the command line says instead.
fn configure(arguments: &cli::Serve) -> Result<Config, String> {
    let mut config = match &arguments.config {
        Some(file) => Config::load(file)?,
        None => Config::demo()?,
    };
    if let Some(url) = &arguments.upstream {
        config.targets = Targets::all_at(url).map_err(|message| format!("--upstream: {message}"))?;
        if arguments.config.is_none() {
            // A real model is not offered the demonstration's tool.
            config.tool_loop = None;
        }
    }
    if let Some(pace) = arguments.pace {
        if !config.targets.is_empty() {
            return Err("--pace: expected no upstreams, because only the program's own answers have a pace, found some".to_owned());
        }
        config.pace = pace;
    }
    if let Some(listen) = arguments.listen {
        config.listen = listen;
    }
    if let Some(admin) = arguments.admin {
        config.admin = Some(admin);
    }
    if let Some(directory) = &arguments.record {
        config.record = Some(Record { directory: directory.clone(), clients: None });
    }
    if let Some(record) = &config.record {
        let directory = &record.directory;
        std::fs::create_dir_all(directory)
            .map_err(|error| format!("{}: cannot record there: {error}", directory.display()))?;
    }
    config.check_doors()?;
    Ok(config)
}

async fn serve(config: Config, source: Option<Source>) -> Result<ExitCode, String> {
    let (listener, address) = listen_on(config.listen).await?;
    let admin = match config.admin {
        Some(admin) => Some(listen_on(admin).await?),
        None => None,
    };
    let tls = config.tls.clone().map(Tls::load).transpose()?;
    let eyes = Eyes::new(&config, config.admin.map(|_| Live::new(config.live_content)))?;
    let servers = Servers::default();
    let (policed, tools) = looping_app(&config, &eyes, &servers).await?;
    let policed = Current::new(policed);
    let app =
        Router::new().route("/healthz", get(async || "ok\n")).fallback_service(Switch::new(policed.clone()));
    let stop = shutdown::asked().shared();
    // Whoever started it may have gone; that is no reason not to serve.
    let admin_address = admin.as_ref().map(|(_, address)| *address);
    let _ = write!(std::io::stdout(), "{}", welcome::text(&config, &tools, address, admin_address));
    let _ = std::io::stdout().flush();
    // A server ends with the last configuration that has it, and not with the program.
    drop(tools);
    if let Some((listener, _)) = admin {
        let routes = eyes.live.as_ref().map(Live::routes).unwrap_or_default();
        let app = admin::app(eyes.meter.clone(), stop.clone()).merge(routes);
        // The admin side answers until the program ends, so that the end can be watched.
        tokio::spawn(listen::serve(listener, app, None, config.connections, std::future::pending()));
    }
    let connections = config.connections;
    if let Some(source) = source {
        let (meter, eyes) = (eyes.meter.clone(), eyes.clone());
        tokio::spawn(source.follow(config, policed, meter, move |config| {
            let (eyes, servers) = (eyes.clone(), servers.clone());
            Box::pin(async move {
                let (app, tools) = looping_app(config, &eyes, &servers).await?;
                if !tools.is_empty() {
                    tracing::info!(?tools, "the gateway runs these tools itself");
                }
                Ok(app)
            })
        }));
    }
    listen::serve(listener, app, tls, connections, stop).await;
    tracing::info!("every stream is over");
    eyes.close().await;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn listen_on(address: SocketAddr) -> Result<(TcpListener, SocketAddr), String> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let address = listener.local_addr().map_err(|error| format!("cannot listen: {error}"))?;
    Ok((listener, address))
}

/// Everything between clients and upstreams, and the tools that are run there.
async fn looping_app(config: &Config, eyes: &Eyes, servers: &Servers) -> Result<(Router, Tools), String> {
    let (tools, connections) = servers.reach(config).await?;
    let upstream = Upstream::new(config.targets.clone(), config.pace, config.settings.clone())?;
    let layers = Layers::new(config, eyes)?;
    let app = match looped::layer(config, tools.clone(), &eyes.meter) {
        Some(tool_loop) => Router::new().fallback_service(layers.looping_over(upstream, &tool_loop)),
        None => Router::new().fallback_service(layers.over(upstream)),
    };
    servers.keep(connections);
    Ok((app, tools))
}

/// What a configuration puts between clients and whoever answers.
#[derive(Debug, Clone)]
pub(crate) struct Layers {
    policies: PolicyLayer,
    recorder: Option<Recorder>,
    log: Option<RequestLog>,
    config: Arc<Config>,
    eyes: Eyes,
}

/// An upstream behind the policies, and behind the tool loop around them.
type Policed<S> = PolicyService<Taped<S>>;
type Looping<S> = ToolLoopService<Unwrapped<Policed<S>>>;

impl Layers {
    pub(crate) fn new(config: &Config, eyes: &Eyes) -> Result<Self, String> {
        Ok(Self {
            policies: policies(config, eyes),
            recorder: config.record.clone().map(|record| Recorder::new(record, eyes.recordings.clone())),
            log: config.request_log.as_deref().map(RequestLog::open).transpose()?,
            config: Arc::new(config.clone()),
            eyes: eyes.clone(),
        })
    }

    /// The layers over whoever answers.
    pub(crate) fn over<S>(&self, inner: S) -> Around<Doors<Policed<S>>> {
        self.around(self.policed(inner))
    }

    /// The layers over whoever answers, and can be asked again: the tool loop stands around the policies, and within the
    /// doors.
    fn looping_over<S>(&self, inner: S, tool_loop: &ToolLoop) -> Around<Doors<Looping<S>>> {
        self.around(tool_loop.layer(Unwrapped(self.policed(inner))))
    }

    fn policed<S>(&self, inner: S) -> Policed<S> {
        self.policies.layer(Taped::new(inner, self.recorder.clone()))
    }

    fn around<S>(&self, inner: S) -> Around<Doors<S>> {
        let Config { clients, settings, connections, .. } = &*self.config;
        let doors = Doors::new(inner, clients.clone(), settings.clone(), connections.body);
        Around::new(doors, self.eyes.clone(), self.recorder.clone(), self.log.clone())
    }
}

/// The policies of a configuration, as a layer whose decisions are counted and logged.
fn policies(config: &Config, eyes: &Eyes) -> PolicyLayer {
    let shared = Arc::new(config.clone());
    let (meter, live) = (eyes.meter.clone(), eyes.live.clone());
    PolicyLayer::with_settings(config.settings.clone(), move |facts: &Facts| {
        let set = shared.policies(facts).clone();
        let plan = Plan::from(set.chain());
        let model = facts.model().map(str::to_owned);
        let plan = plan.configure(move |config| set.configure(config, model.as_deref()));
        let plan = match shared.session(facts) {
            Some(session) => plan.extension(session),
            None => plan,
        };
        let exchange = facts.extensions().get::<Exchange>().cloned().unwrap_or_default();
        exchange.policed(facts);
        meter.started(facts.api());
        let metrics = meter.observer(exchange.client().as_ref());
        let mut observers = Observers::new().and(metrics).and(exchange.observer()).and(Traced);
        if let Some(live) = &live {
            observers = observers.and(live.observer(Asked::of(facts, &exchange)));
        }
        match &exchange.answer {
            Some(answer) => plan.policy(answer.policy()).observer(observers.and(answer.observer())),
            None => plan.observer(observers),
        }
    })
}

/// Structured logs on standard error.
pub(crate) fn log(arguments: &cli::Logs) {
    let logs = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(arguments.log);
    // The SDK of MCP servers tells of arguments and results, which are never logged.
    let without_mcp = filter_fn(|event| !event.target().starts_with("rmcp"));
    // A second subscriber in one process is not wanted, and there is none.
    let _ = match arguments.log_format {
        LogFormat::Text => logs.with_ansi(false).finish().with(without_mcp).try_init(),
        LogFormat::Json => logs.json().flatten_event(true).finish().with(without_mcp).try_init(),
    };
}
