//! The APIs whose answers are policed, and how each says no.

use std::fmt;
use std::sync::Arc;

use http::StatusCode;
use stream_core::Ending;
use stream_core::wire::{self, SharedFormat};

/// An API, by the shape of its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Api {
    /// OpenAI's Chat Completions, and the many that copy it.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    AnthropicMessages,
    /// Google's `generateContent` and `streamGenerateContent`.
    Gemini,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::AnthropicMessages, Self::Gemini];

    /// The name of its wire format in stream-core: `openai-chat`, `openai-responses`, `anthropic-messages`, `gemini`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
            Self::Gemini => "gemini",
        }
    }

    /// Its wire format.
    #[must_use]
    pub fn format(self) -> SharedFormat {
        match self {
            Self::OpenAiChat => Arc::new(wire::openai_chat::OpenAiChat),
            Self::OpenAiResponses => Arc::new(wire::openai_responses::OpenAiResponses),
            Self::AnthropicMessages => Arc::new(wire::anthropic::Anthropic),
            Self::Gemini => Arc::new(wire::gemini::Gemini),
        }
    }

    /// The API whose whole answer this body can only be.
    #[must_use]
    pub fn of_whole(body: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.format().sniff_whole(body))
    }

    /// The body with which the API's own servers report an error, so that its SDKs show the message.
    ///
    /// ```
    /// use http::StatusCode;
    /// use stream_http::Api;
    ///
    /// assert_eq!(
    ///     Api::AnthropicMessages.error_body(StatusCode::FORBIDDEN, "no"),
    ///     r#"{"type":"error","error":{"type":"permission_error","message":"no"}}"#
    /// );
    /// ```
    #[must_use]
    pub fn error_body(self, status: StatusCode, message: &str) -> String {
        let message = serde_json::Value::from(message);
        let word = self.error_word(status);
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => {
                format!(r#"{{"error":{{"message":{message},"type":"{word}","param":null,"code":null}}}}"#)
            }
            Self::AnthropicMessages => {
                format!(r#"{{"type":"error","error":{{"type":"{word}","message":{message}}}}}"#)
            }
            Self::Gemini => {
                let code = status.as_u16();
                format!(r#"{{"error":{{"code":{code},"message":{message},"status":"{word}"}}}}"#)
            }
        }
    }

    /// The error that this API tells of an answer that a policy blocked, with the code and the type of its
    /// [ending](stream_core::Ending).
    ///
    /// ```
    /// use http::StatusCode;
    /// use stream_core::Ending;
    /// use stream_http::Api;
    ///
    /// assert_eq!(
    ///     Api::OpenAiChat.blocked_body(StatusCode::FORBIDDEN, &Ending::refuse("no")),
    ///     r#"{"error":{"message":"no","type":"policy_error","param":null,"code":"blocked_by_policy"}}"#
    /// );
    /// ```
    #[must_use]
    pub fn blocked_body(self, status: StatusCode, ending: &Ending) -> String {
        let (Some(code), Some(error_type)) = (ending.code(), ending.error_type()) else {
            return self.error_body(status, ending.message());
        };
        let [message, code, error_type] = [ending.message(), code, error_type].map(serde_json::Value::from);
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => format!(
                r#"{{"error":{{"message":{message},"type":{error_type},"param":null,"code":{code}}}}}"#
            ),
            Self::AnthropicMessages => {
                format!(r#"{{"type":"error","error":{{"type":{code},"message":{message}}}}}"#)
            }
            Self::Gemini => {
                let (number, word) = (status.as_u16(), self.error_word(status));
                format!(
                    r#"{{"error":{{"code":{number},"message":{message},"status":"{word}","details":[{{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":{code},"domain":{error_type}}}]}}}}"#
                )
            }
        }
    }

    fn error_word(self, status: StatusCode) -> &'static str {
        let (openai, anthropic, google) = match status {
            StatusCode::UNAUTHORIZED => ("authentication_error", "authentication_error", "UNAUTHENTICATED"),
            StatusCode::TOO_MANY_REQUESTS => ("rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED"),
            StatusCode::FORBIDDEN => ("permission_error", "permission_error", "PERMISSION_DENIED"),
            StatusCode::PAYLOAD_TOO_LARGE => {
                ("invalid_request_error", "request_too_large", "INVALID_ARGUMENT")
            }
            status if status.is_client_error() => {
                ("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT")
            }
            _ => ("server_error", "api_error", "INTERNAL"),
        };
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => openai,
            Self::AnthropicMessages => anthropic,
            Self::Gemini => google,
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_api_names_its_own_format() {
        for api in Api::ALL {
            assert_eq!(api.format().name(), api.name());
        }
    }

    #[test]
    fn errors_have_the_shape_of_their_api() {
        let body = |api: Api, status| api.error_body(status, "a \"b\"");
        assert_eq!(
            body(Api::OpenAiChat, StatusCode::BAD_GATEWAY),
            r#"{"error":{"message":"a \"b\"","type":"server_error","param":null,"code":null}}"#
        );
        assert_eq!(
            body(Api::OpenAiResponses, StatusCode::BAD_REQUEST),
            r#"{"error":{"message":"a \"b\"","type":"invalid_request_error","param":null,"code":null}}"#
        );
        assert_eq!(
            body(Api::AnthropicMessages, StatusCode::PAYLOAD_TOO_LARGE),
            r#"{"type":"error","error":{"type":"request_too_large","message":"a \"b\""}}"#
        );
        assert_eq!(
            body(Api::Gemini, StatusCode::FORBIDDEN),
            r#"{"error":{"code":403,"message":"a \"b\"","status":"PERMISSION_DENIED"}}"#
        );
    }
}
