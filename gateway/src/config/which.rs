//! Which requests something is for.

use std::fmt;

use stream_http::{Api, Facts};
use toml::Spanned;

use super::doors::known;
use super::{Fault, glob};
use crate::doors::{ClientName, Clients};

/// Requests of some APIs, models, paths and clients. All that is said must hold; where nothing is said, everything does.
#[derive(Debug, Clone, Default)]
pub(super) struct Which {
    apis: Vec<Api>,
    models: Vec<String>,
    paths: Vec<String>,
    clients: Vec<String>,
}

impl Which {
    pub(super) fn build(
        apis: &[Spanned<String>],
        models: &[String],
        paths: &[String],
        clients: &[Spanned<String>],
        all: &Clients,
        text: &str,
    ) -> Result<Self, Fault> {
        let apis = apis.iter().map(|name| api(name, text)).collect::<Result<_, _>>()?;
        let clients = known(clients, all, text)?;
        Ok(Self { apis, models: models.to_vec(), paths: paths.to_vec(), clients })
    }

    /// Whether nothing is said: every request is meant.
    pub(super) fn is_everything(&self) -> bool {
        self.apis.is_empty() && self.models.is_empty() && self.paths.is_empty() && self.clients.is_empty()
    }

    /// Whether a request is meant. A model that is not known is none.
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

    /// Whether the request with these facts is meant.
    pub(super) fn is_for_facts(&self, facts: &Facts) -> bool {
        let client = facts.extensions().get::<ClientName>().map(|name| &*name.0);
        self.is_for(facts.api(), facts.model(), facts.uri().path(), client)
    }
}

impl fmt::Display for Which {
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
