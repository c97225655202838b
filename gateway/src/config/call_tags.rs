//! Where requests say which tags they want around calls that are written as text.

use serde::Deserialize;
use stream_http::Session;
use stream_policies::PolicySet;
use toml::Spanned;

use super::Fault;

/// The key `call_tags` of a file: a header, or a place in the body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallTagsFile {
    header: Option<Spanned<String>>,
    body: Option<Spanned<String>>,
}

impl CallTagsFile {
    pub(super) fn build(file: &Spanned<Self>, text: &str) -> Result<Session, Fault> {
        let CallTagsFile { header, body } = file.get_ref();
        let (place, span) = match (header, body) {
            (Some(header), None) => (Session::header(header.get_ref()), header.span()),
            (None, Some(body)) => (Session::body([body.get_ref()]), body.span()),
            (None, None) => {
                return Err(Fault::at(text, &file.span(), "expected header or body, found neither"));
            }
            (Some(_), Some(_)) => {
                return Err(Fault::at(text, &file.span(), "expected header or body, found both"));
            }
        };
        place.map_err(|error| Fault::at(text, &span, error))
    }
}

/// A fault where policies take tags that a request asks for, and the file does not say where; and the other way round.
pub(super) fn check<'a>(
    file: Option<&Spanned<CallTagsFile>>,
    mut policies: impl Iterator<Item = &'a PolicySet>,
    text: &str,
) -> Result<(), Fault> {
    let place = policies.find_map(PolicySet::takes_call_tags);
    match (file, place) {
        (None, Some(place)) => Err(Fault::new(format!(
            "policy[{place}]: expected call_tags = {{ header = \"…\" }} or {{ body = \"/…\" }} in the gateway's file beside \
             allow, found none: no request could ask for tags"
        ))),
        (Some(file), None) => Err(Fault::at(
            text,
            &file.span(),
            "expected a policy rewrite-tags with allow beside call_tags, found none: it would have no effect",
        )),
        _ => Ok(()),
    }
}
