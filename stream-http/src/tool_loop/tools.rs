//! Which tools the proxy runs.

use std::fmt;
use std::sync::Arc;

use stream_core::Tool;

use super::executor::Executor;

/// A tool as it is offered to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ToolSpec {
    name: String,
    description: String,
    parameters: String,
}

impl ToolSpec {
    /// A tool with a name and a description, without parameters.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let parameters = r#"{"type":"object","properties":{}}"#.to_owned();
        Self { name: name.into(), description: description.into(), parameters }
    }

    /// Sets the JSON Schema of the arguments. Every API asks for an object.
    pub fn parameters(mut self, schema: impl Into<String>) -> Self {
        self.parameters = schema.into();
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of the arguments.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.parameters
    }
}

/// The tools that the proxy runs, each with its executor.
///
/// A tool is *offered* to the model in every looped request, or *taken over*: calls whose name matches a glob are run by
/// the proxy, and the client offers the tools.
///
/// ```
/// use stream_http::tool_loop::{ToolResult, ToolSpec, Tools, function};
///
/// let clock = function(|_, _| async { ToolResult::text("12:00") });
/// let tools = Tools::new().offer(ToolSpec::new("clock", "Tells the time."), clock)?;
/// assert_eq!(tools.describe(), "runs     clock, offered to the model\n");
/// # Ok::<(), stream_http::tool_loop::ToolsError>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Tools(Arc<Vec<Entry>>);

#[derive(Clone)]
pub(super) struct Entry {
    /// The name of an offered tool, or a glob.
    pub(super) label: String,
    pub(super) spec: Option<ToolSpec>,
    pub(super) executor: Arc<dyn Executor>,
}

impl Tools {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool that is offered to the model.
    ///
    /// # Errors
    ///
    /// When another tool of this name is there, a glob takes the name over, one of the APIs does not allow the name, or
    /// the schema is no JSON object.
    pub fn offer(mut self, spec: ToolSpec, executor: impl Executor + 'static) -> Result<Self, ToolsError> {
        if !is_name(&spec.name) {
            return Err(ToolsError(format!(
                "expected a tool name of at most 64 letters, digits, _ and -, that starts with a letter or _, found {:?}",
                spec.name
            )));
        }
        if let Some(other) = self.0.iter().find(|entry| matches(&entry.label, &spec.name)) {
            return Err(ToolsError(format!(
                "expected one executor for the tool {}, found another as {:?}",
                spec.name, other.label
            )));
        }
        if super::json::Object::parse(&spec.parameters).is_err() {
            return Err(ToolsError(format!(
                "expected a JSON object as the schema of the tool {}, found something else",
                spec.name
            )));
        }
        let entries = Arc::make_mut(&mut self.0);
        entries.push(Entry { label: spec.name.clone(), spec: Some(spec), executor: Arc::new(executor) });
        Ok(self)
    }

    /// Takes over calls of tools that the client offers: those whose name matches a glob, in which `*` stands for
    /// anything.
    ///
    /// # Errors
    ///
    /// When the glob matches an offered tool, or is there already.
    pub fn take_over(mut self, glob: &str, executor: impl Executor + 'static) -> Result<Self, ToolsError> {
        if let Some(other) = self.0.iter().find(|entry| entry.label == glob || matches(glob, &entry.label)) {
            return Err(ToolsError(format!(
                "expected one executor for the tool {}, found another as {glob:?}",
                other.label
            )));
        }
        let entries = Arc::make_mut(&mut self.0);
        entries.push(Entry { label: glob.to_owned(), spec: None, executor: Arc::new(executor) });
        Ok(self)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names of offered tools, and the globs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| entry.label.as_str())
    }

    /// Which tools are run, a line for each: to be printed when a program starts.
    #[must_use]
    pub fn describe(&self) -> String {
        let line = |entry: &Entry| match entry.spec {
            Some(_) => format!("runs     {}, offered to the model\n", entry.label),
            None => format!("runs     {}, where the client offers it\n", entry.label),
        };
        self.0.iter().map(line).collect()
    }

    /// The tools of one request, whose client offers these itself.
    pub(super) fn of_request(&self, client: &[Tool]) -> Chosen {
        Chosen { tools: self.clone(), client: client.iter().map(|tool| tool.name().to_owned()).collect() }
    }
}

/// The tools that the proxy runs for one request.
#[derive(Clone)]
pub(super) struct Chosen {
    tools: Tools,
    client: std::collections::HashSet<String>,
}

impl Chosen {
    /// The tools to be offered: those that the client has none of its own for.
    pub(super) fn offered(&self) -> impl Iterator<Item = &ToolSpec> {
        let specs = self.tools.0.iter().filter_map(|entry| entry.spec.as_ref());
        specs.filter(|spec| !self.client.contains(&spec.name))
    }

    /// A tool of the proxy's that the client offers too.
    pub(super) fn clash(&self) -> Option<&str> {
        let specs = self.tools.0.iter().filter_map(|entry| entry.spec.as_ref());
        specs.map(ToolSpec::name).find(|name| self.client.contains(*name))
    }

    /// Whether any call of the answer could be the proxy's.
    pub(super) fn is_concerned(&self) -> bool {
        self.offered().next().is_some() || self.client.iter().any(|name| self.entry(name).is_some())
    }

    /// Who runs calls of this name; `None` if they are the client's.
    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        let is_clients = self.client.contains(name);
        self.tools.0.iter().find(|entry| match entry.spec {
            Some(_) => !is_clients && entry.label == name,
            None => matches(&entry.label, name),
        })
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// What is wrong with a set of tools: what was expected, and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsError(pub(super) String);

impl fmt::Display for ToolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ToolsError {}

/// Whether every API allows a tool of this name.
fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let allowed = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    starts && name.len() <= 64 && name.chars().all(allowed)
}

/// Whether a name matches a glob, as a whole.
pub(super) fn matches(glob: &str, name: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::super::executor::{ToolResult, function};
    use super::*;

    fn nothing() -> impl Executor + 'static {
        function(|_, _| async { ToolResult::text("") })
    }

    fn spec(name: &str) -> ToolSpec {
        ToolSpec::new(name, "")
    }

    #[test]
    fn a_name_has_one_executor() {
        let tools = Tools::new().offer(spec("a"), nothing()).unwrap().take_over("b_*", nothing()).unwrap();
        let said = |result: Result<Tools, ToolsError>| result.unwrap_err().to_string();
        assert_eq!(
            said(tools.clone().offer(spec("a"), nothing())),
            r#"expected one executor for the tool a, found another as "a""#
        );
        assert_eq!(
            said(tools.clone().offer(spec("b_1"), nothing())),
            r#"expected one executor for the tool b_1, found another as "b_*""#
        );
        assert_eq!(
            said(tools.clone().take_over("*", nothing())),
            r#"expected one executor for the tool a, found another as "*""#
        );
        assert_eq!(
            said(tools.offer(spec("c").parameters("[]"), nothing())),
            "expected a JSON object as the schema of the tool c, found something else"
        );
    }

    #[test]
    fn a_name_has_to_suit_every_api() {
        for name in ["", "1a", "a.b", "a b", "ä", &"a".repeat(65)] {
            assert!(Tools::new().offer(spec(name), nothing()).is_err(), "{name}");
        }
        for name in ["a", "_", "Read-File_2", &"a".repeat(64)] {
            assert!(Tools::new().offer(spec(name), nothing()).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_tool_that_the_client_offers_is_the_clients_unless_it_is_taken_over() {
        let tools = Tools::new().offer(spec("a"), nothing()).unwrap().take_over("b_*", nothing()).unwrap();
        let chosen = tools.of_request(&[Tool::new("a"), Tool::new("b_1")]);
        assert_eq!(chosen.clash(), Some("a"));
        assert_eq!(chosen.offered().count(), 0);
        assert!(chosen.entry("a").is_none());
        assert_eq!(chosen.entry("b_1").map(|entry| entry.label.as_str()), Some("b_*"));
        assert!(chosen.is_concerned());
        let chosen = tools.of_request(&[]);
        assert_eq!(chosen.entry("a").map(|entry| entry.label.as_str()), Some("a"));
        assert!(
            !Tools::new().take_over("b_*", nothing()).unwrap().of_request(&[Tool::new("c")]).is_concerned()
        );
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (glob, name) in [("a", "a"), ("*", ""), ("a_*", "a_1"), ("a*c*e", "abcde")] {
            assert!(matches(glob, name), "{glob} {name}");
        }
        for (glob, name) in [("a", "ab"), ("a*a", "a"), ("A*", "a"), ("a*c*e", "abce!")] {
            assert!(!matches(glob, name), "{glob} {name}");
        }
    }
}
