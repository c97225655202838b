//! Whether there is a next request, and what it is.

use std::fmt;

use serde_json::Value;

use super::json;
use crate::WireKind;
use crate::conformance::{self, Ended};

/// The next request of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondTurn {
    choice: u64,
    request: Value,
    turn: Value,
}

impl SecondTurn {
    pub(super) fn new(choice: u64, request: Value, turn: Value) -> Self {
        Self { choice, request, turn }
    }

    /// The choice that the conversation goes on with.
    #[must_use]
    pub fn choice(&self) -> u64 {
        self.choice
    }

    /// The body of the request.
    #[must_use]
    pub fn request(&self) -> &Value {
        &self.request
    }

    /// The assistant's turn in it: a message (chat), the output items (Responses), the content blocks (Anthropic), a
    /// content (Gemini).
    #[must_use]
    pub fn turn(&self) -> &Value {
        &self.turn
    }
}

/// The reason why there is no next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoTurn {
    /// The answer is an error, or ended with one: clients throw it away.
    Error,
    /// The answer is a refusal: the caller has to ask something else.
    Refused,
    /// The answer has no ending.
    Open,
    /// The answer was cut by a limit of tokens while it called: nobody runs such a call.
    Truncated,
}

impl fmt::Display for NoTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = match self {
            Self::Error => "an error",
            Self::Refused => "a refusal",
            Self::Open => "one without an ending",
            Self::Truncated => "one that was cut in a call",
        };
        write!(f, "expected an answer that a client can go on with, found {found}")
    }
}

impl std::error::Error for NoTurn {}

/// Whether a client would go on with what it received.
pub(super) fn judge(format: WireKind, received: &[u8]) -> Result<(), NoTurn> {
    let report = match json::object(received) {
        Some(_) => conformance::check_whole(format, received),
        None => conformance::check(format, received),
    };
    let view = report.view();
    match view.ended {
        Ended::Error => return Err(NoTurn::Error),
        Ended::Refused => return Err(NoTurn::Refused),
        Ended::Open => return Err(NoTurn::Open),
        Ended::Clean => {}
    }
    let cut = ["length", "max_tokens", "model_context_window_exceeded", "incomplete", "MAX_TOKENS"];
    let is_cut = |finish: &Option<String>| finish.as_deref().is_some_and(|finish| cut.contains(&finish));
    if view.choices.iter().any(|choice| is_cut(&choice.finish) && !choice.calls.is_empty()) {
        return Err(NoTurn::Truncated);
    }
    Ok(())
}
