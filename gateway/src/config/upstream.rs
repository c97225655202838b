//! Where requests go.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::Uri;
use http::header::HeaderValue;
use serde::Deserialize;
use stream_http::Api;
use toml::Spanned;

use super::Fault;
use crate::listen::{Roots, roots};

/// The upstreams of a file, by their API.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Upstreams {
    #[serde(rename = "openai-chat")]
    openai_chat: Option<UpstreamFile>,
    #[serde(rename = "openai-responses")]
    openai_responses: Option<UpstreamFile>,
    #[serde(rename = "anthropic-messages")]
    anthropic_messages: Option<UpstreamFile>,
    gemini: Option<UpstreamFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UpstreamFile {
    url: Spanned<String>,
    key_env: Option<Spanned<String>>,
    ca: Option<Spanned<PathBuf>>,
}

/// Where the requests of each API go. With none, the program answers by itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Targets(BTreeMap<Api, Target>);

/// An upstream: its address, and its key if the clients do not bring their own.
#[derive(Clone)]
pub(crate) struct Target {
    base: Uri,
    key: Option<HeaderValue>,
    /// The authorities that its certificate may be of, if they are not the usual ones.
    roots: Option<Arc<Roots>>,
    /// The environment variable that the key stands in.
    #[cfg_attr(not(feature = "envoy"), allow(dead_code))]
    key_env: Option<String>,
}

/// Whether keys are read from the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// They are, and have to be there.
    Read,
    /// They are not: another program sends them.
    #[cfg_attr(not(feature = "envoy"), allow(dead_code))]
    Leave,
}

impl Targets {
    pub(super) fn build(
        upstreams: Upstreams,
        text: &str,
        directory: &Path,
        keys: Keys,
    ) -> Result<Self, Fault> {
        let Upstreams { openai_chat, openai_responses, anthropic_messages, gemini } = upstreams;
        let all = [
            (Api::OpenAiChat, openai_chat),
            (Api::OpenAiResponses, openai_responses),
            (Api::AnthropicMessages, anthropic_messages),
            (Api::Gemini, gemini),
        ];
        let mut targets = BTreeMap::new();
        for (api, file) in all {
            if let Some(file) = file {
                targets.insert(api, Target::build(&file, api, text, directory, keys)?);
            }
        }
        Ok(Self(targets))
    }

    /// One upstream for all, with the clients' own keys.
    pub(crate) fn all_at(url: &str) -> Result<Self, String> {
        let target = Target { base: base(url)?, key: None, roots: None, key_env: None };
        Ok(Self(Api::ALL.into_iter().map(|api| (api, target.clone())).collect()))
    }

    /// Whether some of them have keys of the gateway's.
    pub(crate) fn have_keys(&self) -> bool {
        self.0.values().any(|target| target.key.is_some())
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Api, &Target)> {
        self.0.iter().map(|(api, target)| (*api, target))
    }

    /// Whether the program answers by itself.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn of(&self, api: Api) -> Option<&Target> {
        self.0.get(&api)
    }
}

impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (api, target) in &self.0 {
            let key = if target.key.is_some() { "the gateway's key" } else { "the client's key" };
            writeln!(f, "{api} goes to {} with {key}", target.base)?;
        }
        Ok(())
    }
}

impl Target {
    fn build(file: &UpstreamFile, api: Api, text: &str, directory: &Path, keys: Keys) -> Result<Self, Fault> {
        let base = base(file.url.get_ref()).map_err(|message| Fault::at(text, &file.url.span(), message))?;
        let key =
            file.key_env.as_ref().filter(|_| keys == Keys::Read).map(|name| {
                key(name.get_ref(), api).map_err(|message| Fault::at(text, &name.span(), message))
            });
        let roots = match &file.ca {
            Some(ca) if base.scheme_str() != Some("https") => {
                let message = format!("expected an https address beside ca, found {:?}", file.url.get_ref());
                return Err(Fault::at(text, &ca.span(), message));
            }
            Some(ca) => {
                let read = roots(&directory.join(ca.get_ref()));
                Some(Arc::new(read.map_err(|message| Fault::at(text, &ca.span(), message))?))
            }
            None => None,
        };
        let key_env = file.key_env.as_ref().map(|name| name.get_ref().clone());
        Ok(Self { base, key: key.transpose()?, roots, key_env })
    }

    /// The authorities that its certificate may be of, if they are not the usual ones.
    pub(crate) fn roots(&self) -> Option<&Arc<Roots>> {
        self.roots.as_ref()
    }

    /// Whether the upstream is reached over TLS.
    #[cfg(not(feature = "tls"))]
    pub(crate) fn needs_tls(&self) -> bool {
        self.base.scheme_str() == Some("https")
    }

    /// The address of a request's path.
    pub(crate) fn uri(&self, asked: &Uri) -> Result<Uri, http::Error> {
        let path = asked.path_and_query().map_or("/", |path| path.as_str());
        let mut parts = self.base.clone().into_parts();
        let before = self.base.path().trim_end_matches('/');
        parts.path_and_query = Some(format!("{before}{path}").parse()?);
        Ok(Uri::from_parts(parts)?)
    }

    /// The address.
    #[cfg(feature = "envoy")]
    pub(crate) fn base(&self) -> &Uri {
        &self.base
    }

    /// The environment variable that the key stands in.
    #[cfg(feature = "envoy")]
    pub(crate) fn key_env(&self) -> Option<&str> {
        self.key_env.as_deref()
    }

    pub(crate) fn key(&self) -> Option<&HeaderValue> {
        self.key.as_ref()
    }
}

impl fmt::Debug for Target {
    /// The key is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("base", &self.base).finish_non_exhaustive()
    }
}

/// Reads the address of an upstream: scheme, host, and a path before the API's own.
pub(super) fn base(url: &str) -> Result<Uri, String> {
    let wrong = || format!("expected an address such as https://api.example.com, found {url:?}");
    let uri: Uri = url.parse().map_err(|_| wrong())?;
    let known = matches!(uri.scheme_str(), Some("http" | "https"));
    if !known || uri.host().is_none_or(str::is_empty) || uri.query().is_some() || url.contains(['#', '@']) {
        return Err(wrong());
    }
    Ok(uri)
}

/// Reads a key from the environment, as the header that the API wants. It is never told.
fn key(name: &str, api: Api) -> Result<HeaderValue, String> {
    let missing = || format!("expected a key in the environment variable {name:?}, found none");
    let key = std::env::var(name).ok().filter(|key| !key.trim().is_empty()).ok_or_else(missing)?;
    let value = match api {
        Api::AnthropicMessages | Api::Gemini => key,
        _ => format!("Bearer {key}"),
    };
    let mut value = HeaderValue::from_str(&value)
        .map_err(|_| format!("expected a key that a header can hold in the environment variable {name:?}"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_request_comes_behind_that_of_the_upstream() {
        let target = Target {
            base: base("https://example.com/openai/").unwrap(),
            key: None,
            roots: None,
            key_env: None,
        };
        let uri = target.uri(&"/v1/responses?stream=true".parse().unwrap()).unwrap();
        assert_eq!(uri, "https://example.com/openai/v1/responses?stream=true");
        let target =
            Target { base: base("http://127.0.0.1:9").unwrap(), key: None, roots: None, key_env: None };
        assert_eq!(target.uri(&"/v1/messages".parse().unwrap()).unwrap(), "http://127.0.0.1:9/v1/messages");
    }

    #[test]
    fn an_address_has_a_scheme_and_a_host_and_no_more_than_a_path() {
        for wrong in
            ["", "example.com", "ftp://example.com", "/v1", "https://a/?b=c", "https://me@a/", "http://"]
        {
            assert_eq!(
                base(wrong).unwrap_err(),
                format!("expected an address such as https://api.example.com, found {wrong:?}")
            );
        }
    }
}
