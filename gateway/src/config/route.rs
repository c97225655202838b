//! Policies for some requests only.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use stream_http::Api;
use stream_policies::PolicySet;
use toml::Spanned;

use super::which::Which;
use super::{Fault, names_network, read};
use crate::doors::Clients;

/// A route as a file says it. All that is said must hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RouteFile {
    #[serde(default)]
    apis: Vec<Spanned<String>>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    clients: Vec<Spanned<String>>,
    policies: Spanned<PathBuf>,
}

/// Which requests have policies of their own.
#[derive(Debug, Clone)]
pub(super) struct Route {
    which: Which,
    policies: PolicySet,
    /// The file of the policies, as the gateway's file names it.
    pub(super) file: PathBuf,
    pub(super) asks_over_network: bool,
}

impl Route {
    pub(super) fn build(
        route: &Spanned<RouteFile>,
        text: &str,
        directory: &Path,
        all: &Clients,
    ) -> Result<Self, Fault> {
        let RouteFile { apis, models, paths, clients, policies } = route.get_ref();
        let which = Which::build(apis, models, paths, clients, all, text)?;
        if which.is_everything() {
            let message = "expected apis, models, paths or clients that the route is for, found none";
            return Err(Fault::at(text, &route.span(), message));
        }
        let file = policies.get_ref().clone();
        let path = directory.join(&file);
        let set = read(&path).and_then(|text| {
            let set = PolicySet::from_toml(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok((set, names_network(&text)))
        });
        let (policies, asks_over_network) =
            set.map_err(|message| Fault::at(text, &policies.span(), message))?;
        Ok(Self { which, policies, file, asks_over_network })
    }

    /// Whether a request is the route's.
    pub(super) fn is_for(&self, api: Api, model: Option<&str>, path: &str, client: Option<&str>) -> bool {
        self.which.is_for(api, model, path, client)
    }

    pub(super) fn policies(&self) -> &PolicySet {
        &self.policies
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.which.fmt(f)
    }
}
