//! Who runs a tool.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use stream_core::async_trait;

use crate::Facts;

/// A call that the proxy runs: finished, and judged by every policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) iteration: u32,
}

impl Call {
    /// The provider's id, if the provider sent one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The tool's name, as the model wrote it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as raw JSON: empty, or one whole value in which no key stands twice. The input of a custom tool is
    /// its free text.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// The arguments, read; an empty text is an empty object.
    ///
    /// # Errors
    ///
    /// When the arguments are no JSON, as those of a custom tool need not be, or of another shape than `T`.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match self.arguments.trim() {
            "" => serde_json::from_str("{}"),
            text => serde_json::from_str(text),
        }
    }

    /// Which turn of the loop the call belongs to, from 1.
    #[must_use]
    pub fn iteration(&self) -> u32 {
        self.iteration
    }
}

/// What a tool answers: a text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ToolResult {
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl ToolResult {
    /// A result.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    /// A failure, told to the model in these words.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }

    /// The words for the model.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the tool failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}

/// Runs calls.
///
/// The future of a call is dropped when its deadline passes, or when the client goes away: whatever it does stops at its
/// next await, so an executor that has started something elsewhere stops it in a `Drop`. A panic is caught and told to the
/// model as a failure. Calls of one turn run side by side.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Runs a call, for the request whose facts these are.
    async fn run(&self, call: &Call, facts: &Facts) -> ToolResult;
}

/// An executor that is a function.
///
/// ```
/// use stream_http::tool_loop::{ToolResult, function};
///
/// let shout = function(|call, _facts| async move { ToolResult::text(call.arguments().to_uppercase()) });
/// ```
pub fn function<F, Fut>(run: F) -> impl Executor + 'static
where
    F: Fn(Call, Arc<Facts>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ToolResult> + Send + 'static,
{
    Function(run)
}

struct Function<F>(F);

#[async_trait]
impl<F, Fut> Executor for Function<F>
where
    F: Fn(Call, Arc<Facts>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ToolResult> + Send + 'static,
{
    async fn run(&self, call: &Call, facts: &Facts) -> ToolResult {
        (self.0)(call.clone(), Arc::new(facts.clone())).await
    }
}

#[async_trait]
impl<E: Executor + ?Sized> Executor for Arc<E> {
    async fn run(&self, call: &Call, facts: &Facts) -> ToolResult {
        (**self).run(call, facts).await
    }
}

impl fmt::Debug for dyn Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Executor")
    }
}
