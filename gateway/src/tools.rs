//! Tools that the gateway itself has: the demonstration's.

use serde::Deserialize;
use stream_http::tool_loop::{Call, ToolResult, ToolSpec, Tools, ToolsError, function};

/// Adds the built-in tool of this name.
pub(crate) fn builtin(tools: Tools, name: &str) -> Result<Tools, String> {
    let added: Result<Tools, ToolsError> = match name {
        COUNT => {
            let spec = ToolSpec::new(COUNT, "Counts how often a letter stands in a word.").parameters(SCHEMA);
            tools.offer(spec, function(|call, _| async move { count(&call) }))
        }
        _ => return Err(format!("expected one of {COUNT}, found {name:?}")),
    };
    added.map_err(|error| error.to_string())
}

#[derive(Debug, Deserialize)]
struct Asked {
    word: String,
    letter: String,
}

fn count(call: &Call) -> ToolResult {
    match call.parse::<Asked>() {
        Ok(Asked { letter, .. }) if letter.is_empty() => ToolResult::error("expected a letter, found none"),
        Ok(Asked { word, letter }) => ToolResult::text(word.matches(&letter).count().to_string()),
        Err(_) => ToolResult::error("expected a word and a letter, found something else"),
    }
}

/// The tool of the demonstration.
pub(crate) const COUNT: &str = "count_letters";
const SCHEMA: &str = r#"{"type":"object","properties":{"word":{"type":"string"},"letter":{"type":"string"}},"required":["word","letter"]}"#;
