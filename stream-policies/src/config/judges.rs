//! Gates with judges: `rules`, `webhook` and `model` beside the settings of the gate.
//!
//! All judges that are named must allow; the cheapest is asked first. Verdicts of those over the network can be kept:
//! `cache` says how many.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use stream_core::Stage;

use super::error::ConfigError;
use super::node::{Node, Value, take};
use super::registry::{Registry, placed};
use super::{common, de};
use crate::judge::rules::RulesSettings;
use crate::judge::{CheapestFirst, Judge};

/// Adds a kind of gate that asks judges.
pub(super) fn register<S, P>(
    registry: &mut Registry,
    kind: &str,
    build: impl Fn(S, CheapestFirst) -> P + Send + Sync + 'static,
) -> Result<(), ConfigError>
where
    S: DeserializeOwned + Clone + Send + Sync + 'static,
    P: Into<Stage>,
{
    let build = Arc::new(build);
    registry.add(kind, move |node| {
        let Value::Table(mut table) = node.value.clone() else {
            return Err(ConfigError::new("expected a table"));
        };
        let (own, rest) = table.into_iter().partition(|(key, _)| KEYS.contains(&key.name.as_str()));
        table = own;
        // A key that is misspelt is told before a judge that is missing for it.
        let rest = Node::new(node.place, Value::Table(rest));
        let settings: S = de::read(&rest).map_err(|error| common::with_keys(error, &rest, KEYS))?;
        let judges = judges(&mut table, node)?;
        let build = Arc::clone(&build);
        Ok(Arc::new(move || build(settings.clone(), judges.clone()).into()))
    })?;
    Ok(())
}

/// Takes the judges out of a gate's table.
fn judges(table: &mut super::node::Table, gate: &Node) -> Result<CheapestFirst, ConfigError> {
    let mut judges = CheapestFirst::new();
    let mut any = false;
    let cache = take(table, "cache").map(|(key, node)| {
        let bound: Result<usize, _> = de::read(&node);
        bound.map(|bound| (key.place, bound)).map_err(|error| error.within("cache", node.place))
    });
    let cache = cache.transpose()?;
    if let Some((key, node)) = take(table, "rules") {
        let within = |error: ConfigError| error.within("rules", key.place);
        let settings: RulesSettings = de::read(&node).map_err(within)?;
        let rules = settings.build().map_err(|error| within(placed(&error, &node)))?;
        judges = judges.and(rules);
        any = true;
    }
    let mut remote = 0;
    for name in ["webhook", "model"] {
        let Some((key, node)) = take(table, name) else { continue };
        let judge = over_http(name, &node).map_err(|error| error.within(name, key.place))?;
        judges = match cache {
            Some((_, bound)) => judges.and(crate::judge::Cached::new(judge, bound)),
            None => judges.and(judge),
        };
        remote += 1;
    }
    match cache {
        Some((place, _)) if remote == 0 => {
            let message = "expected a webhook or a model whose verdicts are kept, found neither";
            Err(ConfigError::new(message).within("cache", place))
        }
        _ if !any && remote == 0 => {
            Err(ConfigError::new("expected a judge (rules, webhook or model), found none").at(gate.place))
        }
        _ => Ok(judges),
    }
}

#[cfg(feature = "http")]
fn over_http(name: &str, node: &Node) -> Result<Arc<dyn Judge>, ConfigError> {
    use crate::judge::http::{EndpointSettings, ModelSettings};
    use crate::judge::{ModelJudge, Webhook};
    match name {
        "webhook" => {
            let settings: EndpointSettings = de::read(node)?;
            Ok(Arc::new(Webhook::new(&settings).map_err(|error| placed(&error, node))?))
        }
        _ => {
            let settings: ModelSettings = de::read(node)?;
            Ok(Arc::new(ModelJudge::new(&settings).map_err(|error| placed(&error, node))?))
        }
    }
}

#[cfg(not(feature = "http"))]
fn over_http(_: &str, _: &Node) -> Result<Arc<dyn Judge>, ConfigError> {
    Err(ConfigError::new("expected the feature http, found a build without it"))
}

const KEYS: &[&str] = &["cache", "model", "rules", "webhook"];
