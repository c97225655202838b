//! What the host knows of the request: model, offered tools, and whatever else it wants policies to know.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub use stream_text_calls::Tool;

/// Facts of the request, readable from every hook through [`Context::request`](crate::context::Context::request).
///
/// ```
/// use stream_core::{Request, Tool};
///
/// #[derive(Debug, PartialEq)]
/// struct Tenant(u32);
///
/// let request = Request::new().model("some-model").tool(Tool::new("search")).extension(Tenant(7));
/// assert_eq!(request.get::<Tenant>(), Some(&Tenant(7)));
/// assert_eq!(request.tools()[0].name(), "search");
/// ```
///
/// Clones share the extensions; an extension that is added to a clone is the clone's own.
#[derive(Clone, Default)]
#[must_use]
pub struct Request {
    model: Option<String>,
    tools: Vec<Tool>,
    choices: Option<u32>,
    extensions: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    has_no_session: bool,
}

impl Request {
    /// No facts.
    pub fn new() -> Self {
        Self::default()
    }

    /// The model that was asked for.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// A tool that was offered.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// How many choices (`n`, `candidateCount`) were asked for. A client that asked for several goes by their numbers; the
    /// others may go by their positions, so that a choice above the first is put where both find it (rule 28).
    pub fn choices(mut self, choices: u32) -> Self {
        self.choices = Some(choices);
        self
    }

    /// A value of the host's own type; one of each type.
    pub fn extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(TypeId::of::<T>(), Arc::new(value));
        self
    }

    /// Says that the host looked for the [session](SessionKey) of this request and found none.
    ///
    /// A policy that [counts by session](crate::policy::Needs::session) then counts nothing in this stream. A request that
    /// neither names its session nor says this is refused for such a policy: the host has forgotten to look.
    pub fn without_session(mut self) -> Self {
        self.extensions.remove(&TypeId::of::<SessionKey>());
        self.has_no_session = true;
        self
    }

    /// The model that was asked for, if the host said so.
    #[must_use]
    pub fn model_name(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The tools that were offered.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// How many choices were asked for, if the host said so.
    #[must_use]
    pub fn asked_choices(&self) -> Option<u32> {
        self.choices
    }

    /// The host's value of this type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// The session that the request belongs to, if the host named one.
    #[must_use]
    pub fn session(&self) -> Option<&SessionKey> {
        self.get()
    }

    /// Whether the host looked for a session, whether or not the request has one.
    pub(crate) fn tells_session(&self) -> bool {
        self.has_no_session || self.session().is_some()
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("model", &self.model)
            .field("tools", &self.tools)
            .field("choices", &self.choices)
            .field("extensions", &self.extensions.len())
            .finish()
    }
}

/// The session that a request belongs to: the [extension](Request::extension) by which policies count over several
/// requests.
///
/// The host chooses the name. A name that a client can choose at will gives that client a new session whenever it likes.
///
/// ```
/// use stream_core::{Request, SessionKey};
///
/// let request = Request::new().extension(SessionKey::new("tenant-7/conversation-12"));
/// assert_eq!(request.session().map(SessionKey::as_str), Some("tenant-7/conversation-12"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey(String);

impl SessionKey {
    /// The session with this name.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The tags around calls that are written as text for which a request asks, as `open,close`: the
/// [extension](Request::extension) by which a policy that rewrites tags is told. A policy takes only tags that its
/// settings allow.
///
/// ```
/// use stream_core::{CallTags, Request};
///
/// let request = Request::new().extension(CallTags::new("<call>,</call>"));
/// assert_eq!(request.get::<CallTags>().map(CallTags::as_str), Some("<call>,</call>"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallTags(String);

impl CallTags {
    /// These tags.
    #[must_use]
    pub fn new(tags: impl Into<String>) -> Self {
        Self(tags.into())
    }

    /// The tags, as they were asked for.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
