//! One line: what it says, and how it is written.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use stream_core::delta::{CallDelta, Delta, DeltaKind, Slot, Span};
use stream_core::wire::DecodeError;
use stream_core::{Channel, FinishKind, FinishReason, UpstreamError, Usage};

/// A line. Unknown keys, and keys that stand twice, are errors: a client might read something there that no policy has seen.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Text(String),
    Think(String),
    Call(Call),
    Done(Done),
    Error(Failure),
}

/// A tool call, always whole.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) args: Box<RawValue>,
}

/// The end of an answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Done {
    pub(crate) reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
}

/// An error, in place of the end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Line {
    pub(crate) fn read(line: &[u8]) -> Result<Self, DecodeError> {
        serde_json::from_slice(line).map_err(|error| DecodeError::json("a line of an answer", &error))
    }

    /// What the line says, as deltas of the element that it is in the data of its frame, or in a whole response.
    pub(crate) fn deltas(self, element: Span, into: &mut Vec<Delta>) {
        let mut push = |slot, kind| into.push(Delta::new(0, slot, kind).at(element));
        match self {
            // An empty text is no payload.
            Self::Text(text) | Self::Think(text) if text.is_empty() => push(Slot::None, DeltaKind::Meta),
            Self::Text(text) => {
                push(Slot::Run, DeltaKind::Text { channel: Channel::Content, text: text.into() });
            }
            Self::Think(text) => {
                push(Slot::Run, DeltaKind::Text { channel: Channel::Reasoning, text: text.into() });
            }
            Self::Call(call) => {
                let slot = Slot::Call { index: None };
                push(slot, DeltaKind::Call(CallDelta::whole(call.id, call.name, call.args.get())));
                push(slot, DeltaKind::Stop);
            }
            Self::Done(done) => {
                let kind = match done.reason.as_str() {
                    "stop" => FinishKind::Stop,
                    "calls" => FinishKind::ToolCalls,
                    "length" => FinishKind::Length,
                    "refused" => FinishKind::Refusal,
                    _ => FinishKind::Other,
                };
                push(Slot::None, DeltaKind::Finish(FinishReason::new(kind, done.reason)));
                if let Some(tokens) = done.tokens {
                    push(Slot::None, DeltaKind::Usage(Usage::new(None, Some(tokens))));
                }
                into.push(Delta::stream(DeltaKind::Terminal).at(element));
            }
            Self::Error(error) => {
                let error = UpstreamError::new(error.code, error.message);
                into.push(Delta::stream(DeltaKind::Error(error)).at(element));
            }
        }
    }

    /// The line that says this; `None` if no line does.
    pub(crate) fn of(kind: &DeltaKind) -> Option<Self> {
        match kind {
            DeltaKind::Text { channel: Channel::Reasoning, text } => Some(Self::Think(text.to_string())),
            DeltaKind::Text { text, .. } => Some(Self::Text(text.to_string())),
            DeltaKind::Call(call) => Some(Self::Call(Call {
                id: call.id.as_deref().unwrap_or_default().to_owned(),
                name: call.name.as_deref()?.to_owned(),
                args: RawValue::from_string(call.arguments.as_deref().unwrap_or("{}").to_owned()).ok()?,
            })),
            DeltaKind::Finish(reason) => {
                Some(Self::Done(Done { reason: reason.raw().to_owned(), message: None, tokens: None }))
            }
            _ => None,
        }
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
