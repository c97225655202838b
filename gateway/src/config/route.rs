//! Policies for some requests only.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use stream_http::Api;
use stream_policies::PolicySet;
use toml::Spanned;

use super::doors::known;
use super::{Fault, glob, names_network, read};
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
    apis: Vec<Api>,
    models: Vec<String>,
    paths: Vec<String>,
    clients: Vec<String>,
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
        if apis.is_empty() && models.is_empty() && paths.is_empty() && clients.is_empty() {
            let message = "expected apis, models, paths or clients that the route is for, found none";
            return Err(Fault::at(text, &route.span(), message));
        }
        let apis = apis.iter().map(|name| api(name, text)).collect::<Result<_, _>>()?;
        let clients = known(clients, all, text)?;
        let file = policies.get_ref().clone();
        let path = directory.join(&file);
        let set = read(&path).and_then(|text| {
            let set = PolicySet::from_toml(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok((set, names_network(&text)))
        });
        let (policies, asks_over_network) =
            set.map_err(|message| Fault::at(text, &policies.span(), message))?;
        let (models, paths) = (models.clone(), paths.clone());
        Ok(Self { apis, models, paths, clients, policies, file, asks_over_network })
    }

    /// Whether a request is the route's. A model that is not known is none.
    pub(super) fn is_for(&self, api: Api, model: Option<&str>, path: &str, client: Option<&str>) -> bool {
        let any = |globs: &[String], text: Option<&str>| {
            globs.is_empty() || text.is_some_and(|text| globs.iter().any(|glob| glob::matches(glob, text)))
        };
        (self.apis.is_empty() || self.apis.contains(&api))
            && any(&self.models, model)
            && any(&self.paths, Some(path))
            && (self.clients.is_empty()
                || client.is_some_and(|name| self.clients.iter().any(|of| of == name)))
    }

    pub(super) fn policies(&self) -> &PolicySet {
        &self.policies
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let apis: Vec<String> = self.apis.iter().map(ToString::to_string).collect();
        let said =
            [("", &apis), ("models ", &self.models), ("paths ", &self.paths), ("clients ", &self.clients)];
        let said = said.into_iter().filter(|(_, list)| !list.is_empty());
        let said: Vec<String> = said.map(|(what, list)| format!("{what}{}", list.join(", "))).collect();
        write!(f, "for {}", said.join(", "))
    }
}

fn api(name: &Spanned<String>, text: &str) -> Result<Api, Fault> {
    Api::ALL.into_iter().find(|api| api.name() == name.get_ref()).ok_or_else(|| {
        let known = Api::ALL.map(Api::name).join(", ");
        Fault::at(text, &name.span(), format!("expected one of {known}, found {:?}", name.get_ref()))
    })
}
