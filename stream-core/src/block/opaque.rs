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

    /// The block's name for effects.
    #[must_use]
    pub fn key(&self) -> BlockKey {
        self.head.key
    }

    /// The provider's word for it.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The name of the call that it is, whoever runs it: the tool that `server_tool_use`, `mcp_tool_use` or `mcp_call`
    /// names, the type of a call without a name (`web_search_call`, `executableCode`). `None` for what is no call, such
    /// as results.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The arguments of the call that it is, as far as they are known: the raw JSON text.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Who runs it; gates treat [`Runs::Unknown`] as a call.
    #[must_use]
    pub fn runs(&self) -> Runs {
        self.runs
    }

    /// Its text, if it began like a call that is [written as text](crate::text_calls) and is none.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.unparsed.as_ref().map(|unparsed| unparsed.text())
    }

    /// What is wrong with a call that is written as text, and is none: of which tool and parameter, where in the text,
    /// and what was expected.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        self.unparsed.as_ref().map(|unparsed| unparsed.problem())
    }
}

/// What the provider runs and has no name but its type.
const SERVER_CALLS: &[&str] = &[
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "tool_search_call",
    "executableCode",
];
