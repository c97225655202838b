//! `--print-config`: a configuration of Envoy for the upstreams of a file.

use stream_envoy::bootstrap::{Bootstrap, Cluster, Endpoint, Match, Route};
use stream_http::Api;

use crate::config::{Config, Target};

/// The configuration.
pub(super) fn bootstrap(config: &Config) -> Result<Bootstrap, String> {
    let targets: Vec<(Api, &Target)> =
        Api::ALL.into_iter().filter_map(|api| Some((api, config.targets.of(api)?))).collect();
    if targets.is_empty() {
        return Err("expected upstreams in the file, to which Envoy sends requests; found none".to_owned());
    }
    let envoy = &config.envoy;
    if envoy.processors.is_empty() && envoy.listen.port() == 0 {
        return Err("expected processors, or listen with a port, under [envoy]; found port 0".to_owned());
    }
    // The limits of the policies end a stream in its own format: Envoy waits longer.
    let idle = config.limits.idle + config.limits.policy + SLACK;
    let mut all = Bootstrap::new(envoy.clients)
        .admin(envoy.envoy_admin)
        .idle(idle)
        .windows(envoy.stream_window, envoy.connection_window);
    let listen = vec![(envoy.listen.ip().to_string(), envoy.listen.port())];
    let processors = if envoy.processors.is_empty() { &listen } else { &envoy.processors };
    for (host, port) in processors {
        all = all.processor(Endpoint::new(host, *port));
    }
    for (api, target) in &targets {
        all = all.cluster(cluster(*api, target)?);
    }
    for (api, target) in &targets {
        for matches in matches(*api) {
            all = all.route(route(matches, *api, target));
        }
    }
    // Routes that carry no model output go where the program itself would send them.
    let of = |wanted: Api| targets.iter().find(|(api, _)| *api == wanted);
    for (api, header) in [(Api::AnthropicMessages, "anthropic-version"), (Api::Gemini, "x-goog-api-key")] {
        if let Some((_, target)) = of(api) {
            all = all.route(route(Match::Header(header.to_owned()), api, target));
        }
    }
    if let Some((_, target)) = of(Api::Gemini) {
        all = all.route(route(Match::Path("/v1beta.*".to_owned()), Api::Gemini, target));
    }
    if let Some((api, target)) = of(Api::OpenAiChat).or(targets.first()) {
        all = all.route(route(Match::Any, *api, target));
    }
    Ok(all)
}

fn cluster(api: Api, target: &Target) -> Result<Cluster, String> {
    let base = target.base();
    let has_tls = base.scheme_str() == Some("https");
    let host = base.host().ok_or("expected a host, found none")?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = base.port_u16().unwrap_or(if has_tls { 443 } else { 80 });
    let cluster = Cluster::new(api.name(), Endpoint::new(host, port));
    Ok(if has_tls { cluster.tls() } else { cluster })
}

fn route(matches: Match, api: Api, target: &Target) -> Route {
    let route = Route::new(matches, api.name()).prefix(target.base().path().trim_end_matches('/'));
    let Some(key) = target.key_env() else { return route };
    // Whatever key the client sent is not the upstream's.
    let route = KEYS.iter().fold(route, |route, name| route.without(*name));
    match api {
        Api::AnthropicMessages => route.header("x-api-key", format!("%ENVIRONMENT({key})%")),
        Api::Gemini => route.header("x-goog-api-key", format!("%ENVIRONMENT({key})%")),
        _ => route.header("authorization", format!("Bearer %ENVIRONMENT({key})%")),
    }
}

/// The paths of an API, as the layer knows them: behind any prefix, in any letters.
fn matches(api: Api) -> Vec<Match> {
    let paths: &[&str] = match api {
        Api::OpenAiChat => &["(?i).*/chat/completions(/[^/]+)?/?"],
        Api::OpenAiResponses => &["(?i).*/responses(/[^/]+(/cancel)?)?/?"],
        Api::AnthropicMessages => &["(?i).*/messages(/count_tokens)?/?"],
        Api::Gemini => &["(?i).*:[a-z]*(generatecontent|counttokens|embedcontents?)/?"],
        _ => &[],
    };
    paths.iter().map(|path| Match::Path((*path).to_owned())).collect()
}

/// Between the end of the layer's patience and that of Envoy's.
const SLACK: std::time::Duration = std::time::Duration::from_secs(30);
const KEYS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];
