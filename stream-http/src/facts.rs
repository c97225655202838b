//! What is known of a request.

use std::fmt;
use std::sync::Arc;

use http::request::Parts;
use http::{Extensions, HeaderMap, Method, Uri};
use stream_core::{CallTags, Request, SessionKey, Tool};

use crate::offered::Offer;
use crate::path::{Readings, query_value};
use crate::{Api, Session, SessionError};

/// What is known of a request, for whoever chooses its policies.
#[derive(Clone)]
pub struct Facts {
    api: Api,
    asks_for_stream: bool,
    is_resumed: bool,
    request: Arc<Request>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    extensions: Extensions,
}

impl Facts {
    /// Reads the facts. The body is the request's, decoded; empty if it has none.
    ///
    /// # Errors
    ///
    /// When there is a body that is no JSON object, or says one thing twice.
    pub(crate) fn read(api: Api, parts: &Parts, body: &[u8]) -> Result<Self, serde_json::Error> {
        let offer = match body.trim_ascii() {
            [] => Offer::default(),
            body => Offer::read(body)?,
        };
        let query = parts.uri.query().unwrap_or_default();
        let path = Readings::usual(parts.uri.path());
        let asks_for_stream = offer.stream
            || query_value(query, "stream").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || path.last().is_some_and(|last| last.to_lowercase().ends_with(":streamgeneratecontent"));
        let mut request = Request::new();
        if let Some(model) = model_of(&path).or(offer.model) {
            request = request.model(model);
        }
        if let Some(choices) = offer.choices {
            request = request.choices(choices);
        }
        for tool in offer.tools {
            request = request.tool(tool);
        }
        Ok(Self {
            api,
            asks_for_stream,
            is_resumed: query_value(query, "starting_after").is_some(),
            request: Arc::new(request),
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            headers: parts.headers.clone(),
            extensions: parts.extensions.clone(),
        })
    }

    /// As these, with the session that the request names. The body is the request's, decoded.
    pub(crate) fn in_session(mut self, session: &Session, body: &[u8]) -> Result<Self, SessionError> {
        let request = Request::clone(&self.request);
        self.request = Arc::new(match session.read(&self.headers, body)? {
            Some(key) => request.extension(key),
            None => request.without_session(),
        });
        Ok(self)
    }

    /// As these, with the tags around calls for which the request asks. The body is the request's, decoded.
    pub(crate) fn with_call_tags(mut self, place: &Session, body: &[u8]) -> Result<Self, SessionError> {
        if let Some(tags) = place.read(&self.headers, body)? {
            let request = Request::clone(&self.request);
            self.request = Arc::new(request.extension(CallTags::new(tags.as_str())));
        }
        Ok(self)
    }

    /// As these, with the API that the answer turned out to be of.
    pub(crate) fn with_api(mut self, api: Api) -> Self {
        self.api = api;
        self
    }

    /// The API by which the answer is read.
    #[must_use]
    pub fn api(&self) -> Api {
        self.api
    }

    /// The model that was asked for, from the body or from the path (Gemini, Azure's deployments).
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.request.model_name()
    }

    /// The tools that were offered, with their schemas.
    pub fn tools(&self) -> &[Tool] {
        self.request.tools()
    }

    /// The session that the request belongs to, where [`Settings::session`](crate::Settings::session) says where to look
    /// and the request names one.
    #[must_use]
    pub fn session(&self) -> Option<&SessionKey> {
        self.request.session()
    }

    /// Whether a stream was asked for. What the upstream answers with is another matter: it is told by the answer.
    #[must_use]
    pub fn asks_for_stream(&self) -> bool {
        self.asks_for_stream
    }

    /// Whether the rest of a stream was asked for (`starting_after`). A call that was opened before is then
    /// [unopened](stream_core::ToolCall::is_unopened): its name was not seen.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// The facts as policies see them.
    #[must_use]
    pub fn request(&self) -> &Arc<Request> {
        &self.request
    }

    /// The request's method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The request's URI, as it came.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The request's headers, as they came.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The request's extensions: whatever the host's earlier layers put there.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}

impl fmt::Debug for Facts {
    /// Headers hold keys: they are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Facts")
            .field("api", &self.api)
            .field("asks_for_stream", &self.asks_for_stream)
            .field("is_resumed", &self.is_resumed)
            .field("request", &self.request)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// The model that a path names: `models/X:generateContent`, `deployments/X/…`. It wins over the body's, as it does at
/// the upstream.
fn model_of(path: &[String]) -> Option<String> {
    if let Some((model, verb)) = path.last()?.rsplit_once(':')
        && verb.to_lowercase().ends_with("generatecontent")
    {
        return Some(model.to_owned());
    }
    let deployments = path.iter().rposition(|segment| segment.eq_ignore_ascii_case("deployments"))?;
    path.get(deployments + 1).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(uri: &str, body: &str) -> Facts {
        let (parts, ()) = http::Request::builder().uri(uri).body(()).unwrap().into_parts();
        Facts::read(Api::OpenAiChat, &parts, body.as_bytes()).unwrap()
    }

    #[test]
    fn the_model_stands_in_the_body_or_in_the_path() {
        assert_eq!(facts("/v1/chat/completions", r#"{"model":"m"}"#).model(), Some("m"));
        let azure = facts("/openai/deployments/d/chat/completions", r#"{"model":"m"}"#);
        assert_eq!(azure.model(), Some("d"));
        assert_eq!(facts("/v1beta/models/G-1:streamGenerateContent", "{}").model(), Some("G-1"));
        assert_eq!(facts("/v1/responses/resp_1", "").model(), None);
    }

    #[test]
    fn a_stream_is_asked_for_in_body_query_or_path() {
        assert!(facts("/v1/responses", r#"{"stream":true}"#).asks_for_stream());
        assert!(facts("/v1/responses/r?stream=true", "").asks_for_stream());
        assert!(facts("/v1beta/models/g:streamGenerateContent", "{}").asks_for_stream());
        assert!(!facts("/v1/responses", r#"{"stream":null}"#).asks_for_stream());
    }

    #[test]
    fn a_resumed_stream_is_marked() {
        assert!(facts("/v1/responses/r?stream=true&starting_after=4", "").is_resumed());
        assert!(!facts("/v1/responses/r?stream=true", "").is_resumed());
    }

    #[test]
    fn a_header_never_shows_in_logs() {
        let request = http::Request::builder().header("authorization", "secret");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let facts = Facts::read(Api::Gemini, &parts, b"").unwrap();
        assert_eq!(
            format!("{facts:?}"),
            "Facts { api: Gemini, asks_for_stream: false, is_resumed: false, request: Request { model: None, \
             tools: [], choices: None, extensions: 0 }, method: GET, .. }"
        );
    }
}
