//! Deltas of tool calls.

use std::sync::Arc;

use super::Text;
use crate::text_calls::TextCall;

/// The opening of a tool call, or a further piece of it. Every field is optional, since providers omit, repeat and empty each of them.
///
/// ```
/// use stream_core::delta::CallDelta;
///
/// let whole = CallDelta::whole("call_1", "ls", r#"{"path":"/"}"#);
/// assert!(whole.starts);
///
/// let mut more = CallDelta::default();
/// more.arguments = Some(r#""/"}"#.into());
/// assert_eq!(more.name, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CallDelta {
    /// The provider's id. Decoders report an absent, `null` or empty id, and the string `"null"`, as `None`.
    pub id: Option<Text>,
    /// The tool's name; `None` when absent, null or empty.
    pub name: Option<Text>,
    /// A fragment of the arguments as raw JSON text; `None` when absent or null.
    pub arguments: Option<Text>,
    /// The kind of the call.
    pub flavor: CallFlavor,
    /// `true` if the wire opens a call here, whatever the ids are.
    pub starts: bool,
    /// `true` if the stream was resumed behind the opening of the call.
    pub unopened: bool,
    /// The text of the call, if the model wrote the call as text.
    pub written: Option<Arc<TextCall>>,
    /// The text of a policy, in place of the text of the call.
    pub(crate) instead: Option<Text>,
}

impl CallDelta {
    /// Creates a function call in one piece.
    #[must_use]
    pub fn whole(id: impl Into<Text>, name: impl Into<Text>, arguments: impl Into<Text>) -> Self {
        Self {
            id: Some(id.into()),
            name: Some(name.into()),
            arguments: Some(arguments.into()),
            starts: true,
            ..Self::default()
        }
    }
}

/// The kinds of calls that a client executes ([rule 7](crate::guide::rules#rule-7)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallFlavor {
    /// A function the client offered: arguments are JSON.
    #[default]
    Function,
    /// Chat's legacy `function_call`, which has no id.
    LegacyFunction,
    /// Responses `custom_tool_call`: the input is free text.
    Custom,
    /// A tool of the API's own that the client runs (`shell_call`, `apply_patch_call`, `computer_call`,
    /// `mcp_approval_request` …): the name is the item's type, the arguments are the raw JSON of its action.
    Builtin,
}
