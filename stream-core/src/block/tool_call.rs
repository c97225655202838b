//! Tool calls.

use std::sync::Arc;

use super::{BlockKey, BlockStatus, Head};
use crate::delta::{CallFlavor, Text};
use crate::text_calls::TextCall;

/// A tool call that the client executes ([rule 7](crate::guide::rules#rule-7)).
///
/// Arguments are the text that the model wrote: read them with a parser that refuses what it does not understand.
///
/// ```
/// use stream_core::{Verdict, each_call};
/// use stream_testkit::{Replay, Script, WireKind};
///
/// let inside = || each_call(|call, _request| {
///     let arguments: Result<serde_json::Value, _> = serde_json::from_str(call.arguments());
///     match arguments.ok().as_ref().and_then(|arguments| arguments["path"].as_str()) {
///         Some(path) if path.starts_with("/workspace/") => Verdict::Release,
///         _ => Verdict::drop(format!("{} reaches outside of the workspace", call.name())),
///     }
/// });
///
/// let script = Script::new().call("call_1", "cat", r#"{"path":"/etc/passwd"}"#).call("call_2", "cat", r#"{"path":"/workspace/a"}"#);
/// let replayed = Replay::new(&script.to_log(WireKind::OpenAiChat)).policy(inside).run();
/// let left: Vec<_> = replayed.view().choices[0].calls.iter().map(|call| call.id.clone()).collect();
/// assert_eq!(left, ["call_2"]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub(crate) head: Head,
    pub(crate) id: Option<Text>,
    pub(crate) name: Text,
    pub(crate) index: Option<u64>,
    pub(crate) arguments: String,
    pub(crate) flavor: CallFlavor,
    pub(crate) unopened: bool,
    pub(crate) joined: bool,
    pub(crate) written: Option<Arc<TextCall>>,
    /// A finish reason or terminal marker followed the last delta of the call.
    pub(crate) finish_seen: bool,
    /// The call was the last of its choice when the choice ended for length, a filter or an error.
    pub(crate) cut_short: bool,
}

impl ToolCall {
    /// The key of the block, for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head.key
    }

    /// The choice of the call.
    #[must_use]
    pub fn choice(&self) -> u32 {
        self.head.choice
    }

    /// The provider's id, if it sent one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The name of the tool; empty until the upstream has sent it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The index the provider sent, if it sent one. Not an identity: see [`key`](Self::key).
    #[must_use]
    pub fn index(&self) -> Option<u64> {
        self.index
    }

    /// The arguments so far: the raw JSON text, never parsed or repaired.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// The kind of the call.
    #[must_use]
    pub fn flavor(&self) -> CallFlavor {
        self.flavor
    }

    /// Returns whether the stream was resumed after the opening of this call, so that its name is not known.
    #[must_use]
    pub fn is_unopened(&self) -> bool {
        self.unopened
    }

    /// Returns whether the arguments were sent as partial arguments (Gemini), and joined when the call was complete.
    #[must_use]
    pub fn is_joined(&self) -> bool {
        self.joined
    }

    /// The text of the call, if the model wrote the call as text: its dialect, its exact text and tags. A native call has none.
    #[must_use]
    pub fn written(&self) -> Option<&TextCall> {
        self.written.as_deref()
    }

    /// Returns whether the end of the call was read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.head.status == BlockStatus::Complete
    }

    /// Returns whether the call is ready to run ([rule 3](crate::guide::rules#rule-3)): the call is complete, a finish reason or terminal marker
    /// followed its last delta, its arguments are empty or one whole JSON value, and the call is not the last of a choice that ended for
    /// length, a filter or an error. Every call of this method scans the arguments once.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.is_complete() && self.finish_seen && !self.cut_short && self.has_whole_arguments()
    }

    fn has_whole_arguments(&self) -> bool {
        self.flavor == CallFlavor::Custom
            || self.arguments.trim().is_empty()
            || serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}
