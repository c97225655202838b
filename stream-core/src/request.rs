//! What the host knows of the request: model, offered tools, and whatever else it wants policies to know.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;

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
#[derive(Default)]
#[must_use]
pub struct Request {
    model: Option<String>,
    tools: Vec<Tool>,
    extensions: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
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

    /// A value of the host's own type; one of each type.
    pub fn extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(TypeId::of::<T>(), Box::new(value));
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

    /// The host's value of this type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("model", &self.model)
            .field("tools", &self.tools)
            .field("extensions", &self.extensions.len())
            .finish()
    }
}

/// A tool that the client offered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Tool {
    name: String,
    schema: Option<String>,
}

impl Tool {
    /// A tool by name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), schema: None }
    }

    /// The JSON Schema of its parameters, as raw JSON.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The JSON Schema of its parameters, as raw JSON.
    #[must_use]
    pub fn parameters(&self) -> Option<&str> {
        self.schema.as_deref()
    }
}
