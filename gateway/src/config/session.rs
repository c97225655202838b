//! Where requests tell the session they belong to.

use serde::Deserialize;
use stream_http::Session;
use stream_policies::PolicySet;
use toml::Spanned;

use super::Fault;
use crate::doors::Clients;

/// The key `session` of a file: a header, or places in the body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionFile {
    header: Option<Spanned<String>>,
    body: Option<Spanned<Pointers>>,
    #[serde(default)]
    client: bool,
    #[serde(default)]
    required: bool,
}

/// What the session of a request is.
#[derive(Debug)]
pub(super) enum Source {
    /// What the request tells, within its client's own sessions.
    Told(Session),
    /// Its client: all requests of a client are one session.
    Client,
}

/// One JSON pointer, or several of which the first that leads to something counts.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a JSON pointer or a list of them")]
enum Pointers {
    One(String),
    Several(Vec<String>),
}

impl SessionFile {
    pub(super) fn build(file: &Spanned<Self>, text: &str, clients: &Clients) -> Result<Source, Fault> {
        let SessionFile { header, body, client, required } = file.get_ref();
        if *client {
            let message = match (header.is_some() || body.is_some() || *required, clients.is_empty()) {
                (true, _) => "expected nothing beside client = true, found more",
                (_, true) => "expected [[client]] entries beside client = true, found none",
                _ => return Ok(Source::Client),
            };
            return Err(Fault::at(text, &file.span(), message));
        }
        let session = match (header, body) {
            (Some(header), None) => {
                Session::header(header.get_ref()).map_err(|error| Fault::at(text, &header.span(), error))?
            }
            (None, Some(body)) => match body.get_ref() {
                Pointers::One(pointer) => Session::body([pointer]),
                Pointers::Several(pointers) => Session::body(pointers),
            }
            .map_err(|error| Fault::at(text, &body.span(), error))?,
            (None, None) => {
                return Err(Fault::at(
                    text,
                    &file.span(),
                    "expected header, body or client, found none of them",
                ));
            }
            (Some(_), Some(_)) => {
                return Err(Fault::at(text, &file.span(), "expected header or body, found both"));
            }
        };
        Ok(Source::Told(if *required { session.required() } else { session }))
    }
}

/// A fault where policies count by session, and the file does not say where requests tell theirs.
pub(super) fn check(policies: &PolicySet, session: Option<&Source>, file: &str) -> Result<(), Fault> {
    match (policies.needs_session(), session) {
        (Some(place), None) => Err(Fault::new(format!(
            "{file}policy[{place}]: expected session = {{ header = \"…\" }} or {{ body = \"/…\" }} in the gateway's file \
             beside a budget, found none: nothing would be counted"
        ))),
        _ => Ok(()),
    }
}
