//! Where requests tell the session they belong to.

use serde::Deserialize;
use stream_http::Session;
use stream_policies::PolicySet;
use toml::Spanned;

use super::Fault;

/// The key `session` of a file: a header, or places in the body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionFile {
    header: Option<Spanned<String>>,
    body: Option<Spanned<Pointers>>,
    #[serde(default)]
    required: bool,
}

/// One JSON pointer, or several of which the first that leads to something counts.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a JSON pointer or a list of them")]
enum Pointers {
    One(String),
    Several(Vec<String>),
}

impl SessionFile {
    pub(super) fn build(file: &Spanned<Self>, text: &str) -> Result<Session, Fault> {
        let SessionFile { header, body, required } = file.get_ref();
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
                return Err(Fault::at(text, &file.span(), "expected header or body, found neither"));
            }
            (Some(_), Some(_)) => {
                return Err(Fault::at(text, &file.span(), "expected header or body, found both"));
            }
        };
        Ok(if *required { session.required() } else { session })
    }
}

/// A fault where policies count by session, and the file does not say where requests tell theirs.
pub(super) fn check(policies: &PolicySet, session: Option<&Session>, file: &str) -> Result<(), Fault> {
    match (policies.needs_session(), session) {
        (Some(place), None) => Err(Fault::new(format!(
            "{file}policy[{place}]: expected session = {{ header = \"…\" }} or {{ body = \"/…\" }} in the gateway's file \
             beside a budget, found none: nothing would be counted"
        ))),
        _ => Ok(()),
    }
}
