//! Facts of the request: model, offered tools, and values of the host's own.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub use stream_text_calls::Tool;

/// The facts of a request that policies may read, with [`Context::request`](crate::context::Context::request).
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
/// Clones share their extensions. An extension that is added to a clone is not added to the original.
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
    /// Creates a request without facts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the requested model.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds an offered tool.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets the number of requested choices (`n`, `candidateCount`). A client that asked for several tells choices apart by number; other
    /// clients may take them by position, so a later choice is written where both find it ([rule 28](crate::guide::rules#rule-28)).
    pub fn choices(mut self, choices: u32) -> Self {
        self.choices = Some(choices);
        self
    }

    /// Adds a value of the host's own type. A second value of the same type replaces the first.
    pub fn extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(TypeId::of::<T>(), Arc::new(value));
        self
    }

    /// Declares that the request has no [session](SessionKey).
    ///
    /// A policy that [counts by session](crate::policy::Needs::session) then counts nothing in this stream. For such a policy, a request that
    /// neither names a session nor declares this is refused, since the host may have forgotten to look.
    pub fn without_session(mut self) -> Self {
        self.extensions.remove(&TypeId::of::<SessionKey>());
        self.has_no_session = true;
        self
    }

    /// The requested model, if the host set one.
    #[must_use]
    pub fn model_name(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The offered tools.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The number of requested choices, if the host set it.
    #[must_use]
    pub fn asked_choices(&self) -> Option<u32> {
        self.choices
    }

    /// The value of this type, if the host added one.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// The session of the request, if the host named one.
    #[must_use]
    pub fn session(&self) -> Option<&SessionKey> {
        self.get()
    }

    /// Returns whether the host looked for a session, found or not.
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

/// The session of a request: the [extension](Request::extension) by which policies count over several requests.
///
/// The host chooses the name. A client that can choose its own session starts a new one at will, and defeats every count.
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
    /// Creates the session of this name.
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

/// The tags, as `open,close`, that a request asks for around calls written as text: the [extension](Request::extension) for a policy that
/// rewrites tags. A policy honours only tags that its settings allow.
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
    /// Creates the extension.
    #[must_use]
    pub fn new(tags: impl Into<String>) -> Self {
        Self(tags.into())
    }

    /// The requested tags.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
