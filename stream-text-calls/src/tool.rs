//! The tools that a request offers.

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
