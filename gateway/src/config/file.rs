//! A configuration file in TOML.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use stream_core::Limits;
use stream_http::{Settings, UnknownRoute, Unreadable};
use stream_policies::PolicySet;
use toml::Spanned;

use super::call_tags::{self, CallTagsFile};
use super::doors::{ClientFile, ConnectionsFile, TlsFile, known};
use super::duration::time;
use super::envoy::{Envoy, EnvoyFile};
use super::route::{Route, RouteFile};
use super::session::{self, SessionFile, Source};
use super::telemetry::{self, TelemetryFile};
use super::tool_loop::{LoopConfig, ToolLoopFile};
use super::upstream::{Keys, Upstreams};
use super::{Config, Fault, Record, Targets, names_network};

/// What a file may say.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    listen: Option<Spanned<String>>,
    admin: Option<Spanned<String>>,
    #[serde(default)]
    live_content: bool,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    client: Vec<Spanned<ClientFile>>,
    tls: Option<TlsFile>,
    #[serde(default)]
    connections: ConnectionsFile,
    record: Option<PathBuf>,
    record_clients: Option<Spanned<Vec<Spanned<String>>>>,
    request_log: Option<PathBuf>,
    telemetry: Option<Spanned<TelemetryFile>>,
    unknown_route: Option<Choice>,
    unreadable: Option<Choice>,
    block_status: Option<Spanned<u16>>,
    session: Option<Spanned<SessionFile>>,
    call_tags: Option<Spanned<CallTagsFile>>,
    interleaved_calls: Option<bool>,
    tool_loop: Option<Spanned<ToolLoopFile>>,
    #[serde(default)]
    upstream: Upstreams,
    #[serde(default)]
    limits: LimitsFile,
    #[serde(default)]
    envoy: EnvoyFile,
    #[serde(default)]
    route: Vec<Spanned<RouteFile>>,
    /// Read by the policies' own configuration.
    #[serde(rename = "policy")]
    _policy: Option<IgnoredAny>,
    #[serde(rename = "text_calls")]
    _text_calls: Option<IgnoredAny>,
    #[serde(rename = "blocked")]
    _blocked: Option<IgnoredAny>,
}

/// All keys but those of the policies.
pub(super) const KEYS: &[&str] = &[
    "listen",
    "admin",
    "live_content",
    "open",
    "client",
    "tls",
    "connections",
    "record",
    "record_clients",
    "request_log",
    "telemetry",
    "unknown_route",
    "unreadable",
    "block_status",
    "session",
    "call_tags",
    "interleaved_calls",
    "tool_loop",
    "upstream",
    "limits",
    "envoy",
    "route",
];

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Choice {
    Refuse,
    Pass,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsFile {
    frame: Option<Spanned<usize>>,
    block: Option<Spanned<usize>>,
    held: Option<Spanned<usize>>,
    blocks: Option<Spanned<usize>>,
    choices: Option<Spanned<usize>>,
    request: Option<Spanned<usize>>,
    response: Option<Spanned<usize>>,
    idle: Option<Spanned<String>>,
    policy: Option<Spanned<String>>,
    keep_alive: Option<Spanned<String>>,
}

impl File {
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        toml::from_str(text).map_err(|error| Fault::of_toml(text, &error))
    }

    pub(super) fn build(
        self,
        text: &str,
        directory: &Path,
        policies: PolicySet,
        keys: Keys,
    ) -> Result<Config, Fault> {
        let listen = self.listen.as_ref().map(|listen| address(listen, text)).transpose()?;
        let admin = self.admin.as_ref().map(|admin| address(admin, text)).transpose()?;
        let clients = ClientFile::build(&self.client, text)?;
        let record_clients = match (&self.record, &self.record_clients) {
            (None, Some(names)) => {
                let message = "expected record beside record_clients, found none";
                return Err(Fault::at(text, &names.span(), message));
            }
            (_, names) => names.as_ref().map(|names| known(names.get_ref(), &clients, text)).transpose()?,
        };
        let record =
            self.record.map(|record| Record { directory: directory.join(record), clients: record_clients });
        let (mut settings, limits, whole_limit) = self.limits.build(Settings::new(), text)?;
        if let Some(Choice::Pass) = self.unknown_route {
            settings = settings.unknown_route(UnknownRoute::Pass);
        }
        if let Some(Choice::Pass) = self.unreadable {
            settings = settings.unreadable(Unreadable::Pass);
        }
        if let Some(status) = &self.block_status {
            settings = settings.block_status(block_status(status, text)?);
        }
        let named =
            self.session.as_ref().map(|session| SessionFile::build(session, text, &clients)).transpose()?;
        session::check(&policies, named.as_ref(), "")?;
        let routes = self.route.iter().map(|route| Route::build(route, text, directory, &clients));
        let routes: Vec<Route> = routes.collect::<Result<_, _>>()?;
        for route in &routes {
            session::check(route.policies(), named.as_ref(), &format!("{}: ", route.file.display()))?;
        }
        let all = std::iter::once(&policies).chain(routes.iter().map(Route::policies));
        call_tags::check(self.call_tags.as_ref(), all, text)?;
        if let Some(file) = &self.call_tags {
            settings = settings.call_tags(CallTagsFile::build(file, text)?);
        }
        if let Some(allowed) = self.interleaved_calls {
            settings = settings.interleaved_calls(allowed);
        }
        let session_is_client = matches!(named, Some(Source::Client));
        if let Some(Source::Told(session)) = named {
            settings = settings.session(session);
        }
        let tool_loop = self.tool_loop.as_ref();
        let tool_loop = tool_loop.map(|tools| LoopConfig::build(tools, text, &clients, keys)).transpose()?;
        let telemetry = self.telemetry.as_ref().map(|file| telemetry::build(file, text, directory));
        Ok(Config {
            listen: listen.unwrap_or(LISTEN),
            admin,
            live_content: self.live_content,
            open: self.open,
            tls: self.tls.map(|tls| tls.build(directory)),
            connections: self.connections.build(text)?,
            targets: Targets::build(self.upstream, text, directory, keys)?,
            pace: PACE,
            envoy: Envoy::build(&self.envoy, text)?,
            files: routes.iter().map(|route| directory.join(&route.file)).collect(),
            settings,
            limits,
            whole_limit,
            interleaved_calls: self.interleaved_calls.unwrap_or_default(),
            record,
            tool_loop,
            request_log: self.request_log.map(|file| directory.join(file)),
            telemetry: telemetry.transpose()?,
            asks_over_network: names_network(text) || routes.iter().any(|route| route.asks_over_network),
            routes,
            clients,
            session_is_client,
            policies,
        })
    }
}

impl LimitsFile {
    /// The layer's settings, and of them again what a replay holds to: the limits of a stream, and that of a whole
    /// answer.
    fn build(self, settings: Settings, text: &str) -> Result<(Settings, Limits, usize), Fault> {
        let mut limits = Limits::default();
        let mut settings = settings;
        let set = |limit: &Option<Spanned<usize>>, set: &mut dyn FnMut(usize)| {
            let Some(limit) = limit else { return Ok(()) };
            if *limit.get_ref() == 0 {
                return Err(Fault::at(text, &limit.span(), "expected at least 1, found 0"));
            }
            set(*limit.get_ref());
            Ok(())
        };
        set(&self.frame, &mut |bytes| limits = limits.frame(bytes))?;
        set(&self.block, &mut |bytes| limits = limits.block(bytes))?;
        set(&self.held, &mut |bytes| limits = limits.held(bytes))?;
        set(&self.blocks, &mut |blocks| limits = limits.blocks(blocks))?;
        set(&self.choices, &mut |choices| limits = limits.choices(choices))?;
        set(&self.request, &mut |bytes| settings = settings.clone().request_limit(bytes))?;
        set(&self.response, &mut |bytes| settings = settings.clone().response_limit(bytes))?;
        if let Some(idle) = &self.idle {
            limits = limits.idle(time(idle, text)?);
        }
        if let Some(policy) = &self.policy {
            limits = limits.policy(time(policy, text)?);
        }
        if let Some(every) = &self.keep_alive {
            let every = if every.get_ref() == "never" { None } else { Some(time(every, text)?) };
            limits = limits.keep_alive(every);
        }
        let whole = self.response.map_or(Settings::RESPONSE_LIMIT, |limit| *limit.get_ref());
        Ok((settings.limits(limits), limits, whole))
    }
}

pub(super) fn address(listen: &Spanned<String>, text: &str) -> Result<SocketAddr, Fault> {
    listen.get_ref().parse().map_err(|_| {
        let found = listen.get_ref();
        let message = format!("expected an address and a port such as 127.0.0.1:8080, found {found:?}");
        Fault::at(text, &listen.span(), message)
    })
}

fn block_status(status: &Spanned<u16>, text: &str) -> Result<StatusCode, Fault> {
    let code = StatusCode::from_u16(*status.get_ref()).ok();
    code.filter(|code| code.is_client_error() || code.is_server_error()).ok_or_else(|| {
        let message = format!("expected a status from 400 to 599, found {}", status.get_ref());
        Fault::at(text, &status.span(), message)
    })
}

/// Nobody but this machine.
pub(crate) const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// How fast a model speaks.
const PACE: Duration = Duration::from_millis(30);
