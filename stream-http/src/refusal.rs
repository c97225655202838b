//! What the layer itself says to a client.

use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Response, StatusCode};

use stream_core::Ending;

use crate::Api;
use crate::body::ResponseBody;

/// An answer in place of the upstream's: a status, and an error in the API's shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) api: Api,
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// The ending of the policy that blocked the answer, where one did.
    ending: Option<Ending>,
}

impl Refusal {
    pub(crate) fn new(api: Api, status: StatusCode, message: impl Into<String>) -> Self {
        Self { api, status, message: message.into(), ending: None }
    }

    /// A policy ended the answer before anything was sent.
    pub(crate) fn blocked(api: Api, status: StatusCode, ending: &Ending) -> Self {
        Self { ending: Some(ending.clone()), ..Self::new(api, status, ending.message()) }
    }

    /// The upstream's answer cannot be read.
    pub(crate) fn unreadable(api: Api, found: &str) -> Self {
        let message = format!("the upstream's answer could not be read by the gateway's policies: {found}");
        Self::new(api, StatusCode::BAD_GATEWAY, message)
    }

    pub(crate) fn into_response<B>(self) -> Response<ResponseBody<B>> {
        let body = match &self.ending {
            Some(ending) => self.api.blocked_body(self.status, ending),
            None => self.api.error_body(self.status, &self.message),
        };
        let mut response = Response::new(ResponseBody::whole(body.into(), None));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // The SDKs of OpenAI and Anthropic try again at a 5xx unless they are told not to: the answer would be the same.
        headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        response
    }
}

const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
