//! Why a call was found invalid, for people and for programs.

use std::fmt;

use serde::{Deserialize, Serialize};
use stream_core::text_calls::Problem;

/// The reason why a call is invalid.
///
/// It names tool, call and parameter, and never says what the arguments hold. Serialised it is one flat object:
///
/// ```
/// use stream_policies::validate_parameters::{Check, ParameterFailure};
///
/// let json = r#"{"tool":"shell","call_id":"call_1","check":"required","parameter":"command","expected":"parameter command or one of cmd, bash","found":"none of them","attempt":2,"budget":3}"#;
/// let failure: ParameterFailure = serde_json::from_str(json)?;
/// assert_eq!(failure.check, Check::Required);
/// assert_eq!(failure.to_string(), "shell (call_1): expected parameter command or one of cmd, bash, found none of them (attempt 2 of 3)");
/// assert_eq!(failure.to_json(), json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ParameterFailure {
    /// The tool's name.
    pub tool: String,
    /// The provider's id of the call, if it sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The check that failed.
    pub check: Check,
    /// The parameter it is about, if it is about one that the settings or the schema name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The place in the schema that did not hold, as a JSON pointer: `/properties/command/type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
    /// The expectation.
    pub expected: String,
    /// The finding.
    pub found: String,
    /// The number of this failure in a row of failures of the session and tool, where failures are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The largest number of failures in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
}

impl ParameterFailure {
    /// A call in the text that is not whole.
    pub(super) fn unparsed(problem: Option<&Problem>) -> Self {
        let is_name = |name: &&String| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
            !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain)
        };
        let tool = problem.and_then(|problem| problem.tool.as_ref()).filter(is_name).cloned();
        let parameter = problem.and_then(|problem| problem.parameter.as_ref()).filter(is_name).cloned();
        let said = problem.map(|problem| (problem.kind.to_string(), problem.at));
        let (expected, found) = match said.as_ref().map(|(said, at)| (said.split_once(", found "), at)) {
            Some((Some((expected, found)), at)) => {
                let expected = expected.strip_prefix("expected ").unwrap_or(expected);
                (expected.to_owned(), format!("{found} at byte {at} of the text"))
            }
            _ => ("a whole call".to_owned(), "the begin of one".to_owned()),
        };
        Self {
            tool: tool.unwrap_or_else(|| "an unknown tool".to_owned()),
            call_id: None,
            check: Check::Parse,
            parameter,
            keyword: None,
            expected,
            found,
            attempt: None,
            budget: None,
        }
    }

    /// Returns whether no attempt is left.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        matches!((self.attempt, self.budget), (Some(attempt), Some(budget)) if attempt >= budget)
    }

    /// The failure as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings and numbers alone: serialising them does not fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl fmt::Display for ParameterFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool)?;
        if let Some(id) = &self.call_id {
            write!(f, " ({id})")?;
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)?;
        if let (Some(attempt), Some(budget)) = (self.attempt, self.budget) {
            write!(f, " (attempt {attempt} of {budget})")?;
        }
        Ok(())
    }
}

impl std::error::Error for ParameterFailure {}

/// The checks, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Check {
    /// The tool is one that is known.
    Tool,
    /// The arguments are one whole JSON object in which each key stands once.
    Parse,
    /// Every required parameter is there, under its name or one of its aliases.
    Required,
    /// The JSON Schema holds.
    Schema,
}
