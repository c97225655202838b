//! What a judge is shown.

use std::fmt;
use std::sync::Arc;

use stream_core::{CallFlavor, OpaqueBlock, Runs, StreamBlock, StreamState};

/// A completed call, on its own: it outlives the step in which it completed. Cloning is cheap.
///
/// ```
/// use stream_policies::CompletedCall;
///
/// let call = CompletedCall::new("read_file", r#"{"path":"a.txt"}"#).with_model("some-model");
/// assert_eq!(call.name(), "read_file");
/// // What it says does not end up in a log by accident.
/// assert_eq!(
///     format!("{call:?}"),
///     "CompletedCall { id: None, index: None, choice: 0, flavor: Function, bytes: 16, .. }"
/// );
/// ```
#[derive(Clone, PartialEq)]
pub struct CompletedCall(Arc<Parts>);

#[derive(Debug, Clone, PartialEq)]
struct Parts {
    name: String,
    id: Option<String>,
    index: Option<u64>,
    choice: u32,
    arguments: String,
    flavor: CallFlavor,
    unopened: bool,
    opaque: bool,
    problem: Option<String>,
    server: bool,
    /// Another name that a client may know it by.
    alias: Option<String>,
    model: Option<String>,
}

impl CompletedCall {
    /// A function call with raw JSON arguments, to try a judge with.
    #[must_use]
    pub fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self(Arc::new(Parts {
            name: name.into(),
            id: None,
            index: None,
            choice: 0,
            arguments: arguments.into(),
            flavor: CallFlavor::Function,
            unopened: false,
            opaque: false,
            problem: None,
            server: false,
            alias: None,
            model: None,
        }))
    }

    /// The call that a block is: a tool call, or something opaque of which nobody knows who runs it. `None` for all
    /// else.
    #[must_use]
    pub fn of(block: &StreamBlock, state: &StreamState) -> Option<Self> {
        let model = state.model().map(str::to_owned);
        let choice = block.choice();
        let parts = match block {
            StreamBlock::ToolCall(call) => Parts {
                name: call.name().to_owned(),
                id: call.id().map(str::to_owned),
                index: call.index(),
                choice,
                arguments: call.arguments().to_owned(),
                flavor: call.flavor(),
                unopened: call.is_unopened(),
                opaque: false,
                problem: None,
                server: false,
                alias: None,
                model,
            },
            // A server's tool that is none of the API's: some clients hand it out as a call of their own.
            StreamBlock::Opaque(block)
                if block.runs() != Runs::Server && block.kind() == "server_tool_use" =>
            {
                Parts { alias: Some(block.kind().to_owned()), ..named(block, choice, model)? }
            }
            StreamBlock::Opaque(block) if block.runs() != Runs::Server => Parts {
                name: block.kind().to_owned(),
                id: None,
                index: None,
                choice,
                arguments: String::new(),
                flavor: CallFlavor::Builtin,
                unopened: false,
                opaque: true,
                problem: block.problem().map(ToString::to_string),
                server: false,
                alias: block.name().map(str::to_owned),
                model,
            },
            _ => return None,
        };
        Some(Self(Arc::new(parts)))
    }

    /// The call that a block is if the provider runs it: `server_tool_use`, `mcp_call`, `web_search_call` and the like.
    /// `None` for all else, results included.
    #[must_use]
    pub fn of_server(block: &StreamBlock, state: &StreamState) -> Option<Self> {
        let StreamBlock::Opaque(opaque) = block else { return None };
        if opaque.runs() != Runs::Server {
            return None;
        }
        let parts = named(opaque, block.choice(), state.model().map(str::to_owned))?;
        Some(Self(Arc::new(Parts { server: true, ..parts })))
    }

    /// Marks the call as one that the provider runs.
    #[must_use]
    pub fn run_by_server(mut self) -> Self {
        Arc::make_mut(&mut self.0).server = true;
        self
    }

    /// Sets the model that made the call.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.0).model = Some(model.into());
        self
    }

    /// The same call, of another kind.
    #[must_use]
    pub fn with_flavor(mut self, flavor: CallFlavor) -> Self {
        Arc::make_mut(&mut self.0).flavor = flavor;
        self
    }

    /// The same call with other arguments, and another name if there is one.
    #[must_use]
    pub(crate) fn replaced(mut self, name: Option<&str>, arguments: &str) -> Self {
        let parts = Arc::make_mut(&mut self.0);
        parts.arguments = arguments.to_owned();
        if let Some(name) = name {
            parts.name = name.to_owned();
        }
        self
    }

    /// The tool's name; of something opaque, the provider's word for it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The provider's id, if it sent one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.0.id.as_deref()
    }

    /// The index the provider sent, if it sent one.
    #[must_use]
    pub fn index(&self) -> Option<u64> {
        self.0.index
    }

    /// The choice it belongs to.
    #[must_use]
    pub fn choice(&self) -> u32 {
        self.0.choice
    }

    /// The arguments: the raw JSON text, never parsed or repaired; free text for [`CallFlavor::Custom`]. Those of
    /// something [opaque](Self::is_opaque) are not known.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.0.arguments
    }

    /// The kind of the call.
    #[must_use]
    pub fn flavor(&self) -> CallFlavor {
        self.0.flavor
    }

    /// Returns whether the stream was resumed after the opening of the call. Gates deny such a call without asking.
    #[must_use]
    pub fn is_unopened(&self) -> bool {
        self.0.unopened
    }

    /// The reason why a text that begins like a call is none: tool, parameter, position, and what was expected there.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.0.problem.as_deref()
    }

    /// Whether it is something opaque that the client may run for all anyone knows: it has a name and no arguments that
    /// can be read.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.0.opaque
    }

    /// Whether the provider runs it, or has run it. A gate asks about such a call only where its judge
    /// [wants it](super::Judge::judges_server_calls).
    #[must_use]
    pub fn is_server_run(&self) -> bool {
        self.0.server
    }

    /// Another name that a client may know it by: the name beside a kind that nobody knows.
    pub(crate) fn alias(&self) -> Option<&str> {
        self.0.alias.as_deref()
    }

    /// The model that made the call, as the upstream names it.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.0.model.as_deref()
    }
}

fn named(block: &OpaqueBlock, choice: u32, model: Option<String>) -> Option<Parts> {
    Some(Parts {
        name: call_name(block)?.to_owned(),
        id: None,
        index: None,
        choice,
        arguments: block.arguments().to_owned(),
        flavor: CallFlavor::Builtin,
        unopened: false,
        opaque: false,
        problem: None,
        server: false,
        alias: None,
        model,
    })
}

/// The name of the call that a block is. The name of some comes behind their opening, so that these go by their kind until
/// then.
fn call_name(block: &OpaqueBlock) -> Option<&str> {
    let kind = block.kind();
    block.name().or_else(|| matches!(kind, "server_tool_use" | "mcp_tool_use" | "mcp_call").then_some(kind))
}

/// Whether a block is a call that the provider runs.
pub(crate) fn is_server_call(block: &StreamBlock) -> bool {
    matches!(block, StreamBlock::Opaque(block) if block.runs() == Runs::Server && call_name(block).is_some())
}

/// Whether the client runs a block, for all anyone knows.
pub(crate) fn is_call(block: &StreamBlock) -> bool {
    match block {
        StreamBlock::ToolCall(_) => true,
        StreamBlock::Opaque(block) => block.runs() != Runs::Server,
        _ => false,
    }
}

impl fmt::Debug for CompletedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletedCall")
            .field("id", &self.0.id)
            .field("index", &self.0.index)
            .field("choice", &self.0.choice)
            .field("flavor", &self.0.flavor)
            .field("bytes", &self.0.arguments.len())
            .finish_non_exhaustive()
    }
}
