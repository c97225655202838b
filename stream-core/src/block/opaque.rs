//! Opaque blocks.

use std::sync::Arc;

use super::{BlockKey, Head};
use crate::delta::{Runs, Text};
use crate::text_calls::{Problem, UnparsedCall};

/// A block that is neither text nor a call the client is known to execute.
#[derive(Debug, Clone, PartialEq)]
pub struct OpaqueBlock {
    pub(crate) head: Head,
    pub(crate) kind: Text,
    pub(crate) runs: Runs,
    pub(crate) unparsed: Option<Arc<UnparsedCall>>,
    pub(crate) name: Option<Text>,
    pub(crate) arguments: String,
}

impl OpaqueBlock {
    pub(crate) fn new(head: Head, kind: Text, runs: Runs) -> Self {
        let name = SERVER_CALLS.contains(&&*kind).then(|| kind.clone());
        Self { head, kind, runs, unparsed: None, name, arguments: String::new() }
    }

    /// The key of the block, for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head.key
    }

    /// The provider's word for the block.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The name of the call, where the block is one, whoever runs it: the tool that `server_tool_use`, `mcp_tool_use` or `mcp_call` names, or the
    /// type of a call without a name (`web_search_call`, `executableCode`). Results and other blocks that are no calls have none.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The arguments of the call, as far as they are known: the raw JSON text.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// The party that runs the call; gates treat [`Runs::Unknown`] as a call of the client.
    #[must_use]
    pub fn runs(&self) -> Runs {
        self.runs
    }

    /// The text of a block that begins like a call [written as text](crate::text_calls) and is none.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.unparsed.as_ref().map(|unparsed| unparsed.text())
    }

    /// The reason why a text that begins like a call is none: the tool and parameter, the position in the text, and what was expected there.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        self.unparsed.as_ref().map(|unparsed| unparsed.problem())
    }
}

/// The types of calls that the provider runs and that have no other name.
const SERVER_CALLS: &[&str] = &[
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "tool_search_call",
    "executableCode",
];
