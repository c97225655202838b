//! Endings: how an answer ends early.

use crate::delta::Text;

/// The early end of an answer: the API's own refusal, or its error, with a sentence and a code for the client.
///
/// The code is for programs. An ending of a policy has the same code on every API, [`BLOCKED_BY_POLICY`](Self::BLOCKED_BY_POLICY), unless the
/// policy ([`with_code`](Self::with_code)) or the host ([`Config::error_code`](crate::Config::error_code)) sets another. The official SDKs raise
/// on an error ending as on every error of their API:
///
/// | API | code | type |
/// |---|---|---|
/// | Chat Completions | `error.code` | `error.type` |
/// | Responses | `code` of the event `error`; `error.code` of a whole body | `error.type` of a whole body |
/// | Anthropic Messages | `error.type` | |
/// | Gemini | `reason` of an `ErrorInfo` in `error.details` | `domain` of it |
///
/// A refusal has the API's own word for a filtered answer (`content_filter`, `refusal`, `PROHIBITED_CONTENT`), and no code. Where a refusal
/// would complete a call that is half written, the ending is an error instead.
///
/// ```
/// use stream_core::Ending;
///
/// let ending = Ending::error("the answer was stopped");
/// assert_eq!((ending.code(), ending.error_type()), (Some("blocked_by_policy"), Some("policy_error")));
///
/// let ending = Ending::error("over budget").with_code("quota_exceeded").with_type("billing_error");
/// assert_eq!((ending.code(), ending.error_type()), (Some("quota_exceeded"), Some("billing_error")));
///
/// // No policy ended this answer: the writer uses the API's own words for a failed server.
/// assert_eq!(Ending::failure("the upstream broke off").code(), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Ending {
    pub(crate) kind: EndingKind,
    pub(crate) message: String,
    code: Option<Text>,
    error_type: Option<Text>,
    is_failure: bool,
}

/// The two endings that every API has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndingKind {
    /// The API's own word for a filtered answer. SDKs do not raise on raw iteration. Written as an error where a refusal would complete a
    /// half-written call, or after a finish.
    Refuse,
    /// The API's error event. SDKs raise.
    Error,
}

impl Ending {
    /// The default code of an answer that a policy ended.
    pub const BLOCKED_BY_POLICY: &str = "blocked_by_policy";

    /// The default error type of an answer that a policy ended.
    pub const POLICY_ERROR: &str = "policy_error";

    /// Creates an ending of this kind, with a sentence for the client. The client reads the sentence: it should not quote what matched.
    pub fn new(kind: EndingKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), code: None, error_type: None, is_failure: false }
    }

    /// Creates a refusal, with a sentence for the client.
    pub fn refuse(message: impl Into<String>) -> Self {
        Self::new(EndingKind::Refuse, message)
    }

    /// Creates an error, with a sentence for the client.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(EndingKind::Error, message)
    }

    /// Creates an error for an answer that no policy ended: the upstream broke off, a limit was reached, a policy failed. The error
    /// has the API's own word for a failed server (`server_error`, `api_error`, `INTERNAL`), and no code unless one is set.
    pub fn failure(message: impl Into<String>) -> Self {
        Self { is_failure: true, ..Self::error(message) }
    }

    /// Sets the code. A refusal that has to be written as an error has this code, too.
    pub fn with_code(mut self, code: impl Into<Text>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Sets the error type.
    pub fn with_type(mut self, error_type: impl Into<Text>) -> Self {
        self.error_type = Some(error_type.into());
        self
    }

    /// The kind: refusal or error.
    #[must_use]
    pub fn kind(&self) -> EndingKind {
        self.kind
    }

    /// The sentence for the client.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The code for the client; `None` for a failure without a code of its own.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        let default = (!self.is_failure).then_some(Self::BLOCKED_BY_POLICY);
        self.code.as_deref().or(default)
    }

    /// The error type; `None` for a failure without a type of its own.
    #[must_use]
    pub fn error_type(&self) -> Option<&str> {
        let default = (!self.is_failure).then_some(Self::POLICY_ERROR);
        self.error_type.as_deref().or(default)
    }

    /// Sets code and type to the host's words, where a policy ended the answer and named none.
    pub(crate) fn or(mut self, words: &EndingWords) -> Self {
        if !self.is_failure {
            self.code = self.code.or_else(|| words.code.clone());
            self.error_type = self.error_type.or_else(|| words.error_type.clone());
        }
        self
    }
}

/// The host's words for endings of policies that name none.
#[derive(Debug, Clone, Default)]
pub(crate) struct EndingWords {
    pub(crate) code: Option<Text>,
    pub(crate) error_type: Option<Text>,
}
