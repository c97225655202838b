//! The action of a call of the API's own tools: its commands or its diff, which are sent in pieces and then repeated (rule 28).

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::grammar::Event;
use crate::delta::Text;
use crate::json;
use crate::wire::DecodeError;

/// An action, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct ToolAction {
    /// The action that the item opened with, as JSON.
    opening: Option<Text>,
    /// The commands, or the diff, that events have sent and that the item has not repeated yet.
    written: BTreeMap<usize, String>,
    bytes: usize,
}

impl ToolAction {
    /// The action that an item opens with.
    pub(super) fn opening(action: &str) -> Box<Self> {
        Box::new(Self { opening: Some(action.into()), ..Self::default() })
    }

    /// Whether the item has not repeated what events have sent.
    pub(super) fn is_owed(&self) -> bool {
        !self.written.is_empty()
    }

    /// Records a piece of a command or a diff: some clients show it, or run it, at once.
    pub(super) fn writes(&mut self, name: &str, event: &Event<'_>) -> Result<(), DecodeError> {
        let field = |field: &&str| event.value().word(field);
        let Some(said) = ["delta", "command", "diff"].iter().find_map(field) else { return Ok(()) };
        let at = event.get("command_index").map_or(Some(0), |at| json::count(at.raw()));
        let Some(at) = at.and_then(|at| usize::try_from(at).ok()) else {
            return Err(DecodeError::ambiguous("a plain number of a command", "another one"));
        };
        if said.is_empty() {
            return Ok(());
        }
        self.bytes += said.len();
        if self.bytes > MOST_WRITTEN {
            let most = format!("an action of at most {MOST_WRITTEN} bytes");
            return Err(DecodeError::new(most, "a longer one"));
        }
        let written = self.written.entry(at).or_default();
        if name.ends_with(".delta") || written.is_empty() {
            written.push_str(&said);
            return Ok(());
        }
        match *written == *said {
            true => Ok(()),
            false => Err(DecodeError::ambiguous("the command that was written", "another one")),
        }
    }

    /// Checks the action of the item, which has to continue that of the opening and to repeat what events have sent.
    pub(super) fn check(&mut self, action: &str) -> Result<(), DecodeError> {
        let parse = |raw| serde_json::from_str::<Json>(raw).unwrap_or_default();
        let action = parse(action);
        if self.opening.as_deref().is_some_and(|opening| !is_start(&parse(opening), &action)) {
            return Err(DecodeError::ambiguous("the action that the item opened with", "another one"));
        }
        let says = |at: usize| match action.get("commands") {
            Some(commands) => commands.get(at),
            None => action.get("diff").filter(|_| at == 0),
        };
        let mut written = std::mem::take(&mut self.written).into_iter();
        match written.all(|(at, text)| says(at).and_then(Json::as_str) == Some(&text)) {
            true => Ok(()),
            false => Err(DecodeError::ambiguous("the action that was written", "another one")),
        }
    }
}

/// Whether a value is the beginning of another one: the action of an opening item may be incomplete.
fn is_start(start: &Json, whole: &Json) -> bool {
    match (start, whole) {
        (Json::Null, _) => true,
        (Json::String(start), Json::String(whole)) => whole.starts_with(start.as_str()),
        (Json::Array(start), Json::Array(whole)) => {
            start.len() <= whole.len() && start.iter().zip(whole).all(|(start, whole)| is_start(start, whole))
        }
        (Json::Object(start), Json::Object(whole)) => {
            start.iter().all(|(name, start)| is_start(start, whole.get(name).unwrap_or(&Json::Null)))
        }
        _ => start == whole,
    }
}

/// The limit for pieces of an action, in bytes.
const MOST_WRITTEN: usize = 16 << 20;
