//! The calls of a choice.

use serde_json::Value;

use super::super::{
    CallView, Deviation, Rule,
    json::{brief, is_whole, list, number, quote, text},
    report::Log,
};

/// The calls of a choice, in the order they opened. A strict client knows them by index alone; the legacy call has none.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<(Option<u64>, CallView)>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn into_views(self) -> Vec<CallView> {
        self.calls.into_iter().map(|(_, call)| call).collect()
    }

    /// Takes `tool_calls` and the legacy `function_call` of a delta; whether there was one.
    pub(super) fn take(&mut self, delta: &Value, log: &mut Log) -> bool {
        match &delta["tool_calls"] {
            Value::Null | Value::Array(_) => {}
            other => {
                let found = brief(Some(other));
                log.broken(Rule::Shape, format!("expected a list of tool_calls, found {found}"));
            }
        }
        for call in list(delta, "tool_calls") {
            self.delta(call, log);
        }
        let legacy = delta["function_call"].is_object();
        if legacy {
            self.legacy(&delta["function_call"], log);
        }
        legacy || !list(delta, "tool_calls").is_empty()
    }

    /// Takes a call of a whole answer: no index, everything at once.
    pub(super) fn whole(&mut self, call: &Value, log: &mut Log) {
        let index = self.calls.len() as u64;
        self.open(index, call, log);
    }

    pub(super) fn legacy(&mut self, function: &Value, log: &mut Log) {
        if !self.calls.iter().any(|(_, call)| call.kind == LEGACY) {
            let name = text(function, "name").unwrap_or_default().to_owned();
            if name.is_empty() {
                log.broken(Rule::CallIdentity, "expected the function_call to open with a name, found none");
            }
            self.calls.push((None, CallView { name, kind: LEGACY.to_owned(), ..CallView::default() }));
        }
        if let Some((_, call)) = self.calls.iter_mut().find(|(_, call)| call.kind == LEGACY) {
            call.arguments.push_str(text(function, "arguments").unwrap_or_default());
        }
    }

    /// Under `length` and `content_filter` the last call may be cut.
    pub(super) fn check_end(&self, finish: &str, log: &mut Log) {
        let cut = matches!(finish, "length" | "content_filter");
        let judged = self.calls.len().saturating_sub(usize::from(cut));
        for (_, call) in &self.calls[..judged] {
            // The input of a custom call is free text.
            if call.kind != "custom" && !is_whole(&call.arguments) {
                let (name, found) = (&call.name, quote(&call.arguments));
                let message =
                    format!("expected the arguments of {name:?} to be one JSON value, found {found}");
                log.deviates(Rule::Arguments, Deviation::BrokenArguments, message);
            }
        }
    }

    fn delta(&mut self, delta: &Value, log: &mut Log) {
        let Some(index) = number(delta, "index") else {
            let found = brief(delta.get("index"));
            let message = format!("expected a call index, found {found}");
            log.deviates(Rule::Index, Deviation::CallWithoutIndex, message);
            let last = self.calls.iter().rev().find_map(|(index, _)| *index);
            let next = last.map_or(0, |index| index.saturating_add(1));
            match text(delta, "id") {
                None => self.go_on(next.saturating_sub(1), delta, log),
                Some(_) => self.open(next, delta, log),
            }
            return;
        };
        if self.calls.iter().any(|(known, _)| *known == Some(index)) {
            self.go_on(index, delta, log);
            return;
        }
        match self.calls.last() {
            None if index > 0 => {
                let message = format!("expected the first call at index 0, found {index}");
                log.deviates(Rule::Index, Deviation::FirstCallIndex, message);
            }
            Some((Some(last), _)) if last.checked_add(1) != Some(index) => {
                let next = last.saturating_add(1);
                log.broken(Rule::Index, format!("expected the next call at index {next}, found {index}"));
            }
            _ => {}
        }
        self.open(index, delta, log);
    }

    fn open(&mut self, index: u64, delta: &Value, log: &mut Log) {
        let id = text(delta, "id").unwrap_or_default().to_owned();
        let custom = delta["custom"].is_object();
        let body = if custom { &delta["custom"] } else { &delta["function"] };
        let name = text(body, "name").unwrap_or_default().to_owned();
        if id.is_empty() {
            let found = brief(delta.get("id"));
            let message = format!("expected call {index} to open with an id, found {found}");
            log.deviates(Rule::CallIdentity, Deviation::CallWithoutId, message);
        } else if self.calls.iter().any(|(_, call)| call.id == id) {
            log.broken(
                Rule::CallIdentity,
                format!("expected call {index} to have an id of its own, found {id:?} again"),
            );
        }
        if name.is_empty() {
            let found = brief(body.get("name"));
            log.broken(
                Rule::CallIdentity,
                format!("expected call {index} to open with a name, found {found}"),
            );
        }
        if text(delta, "type").is_none() {
            let found = brief(delta.get("type"));
            let message = format!("expected call {index} to open with a type, found {found}");
            log.deviates(Rule::Shape, Deviation::CallWithoutType, message);
        }
        let key = if custom { "input" } else { "arguments" };
        if !body[key].is_string() {
            let found = brief(body.get(key));
            let message = format!("expected call {index} to open with {key}, found {found}");
            log.deviates(Rule::Shape, Deviation::CallWithoutArguments, message);
        }
        let arguments = text(body, key).unwrap_or_default().to_owned();
        let kind = if custom { "custom" } else { "function" }.to_owned();
        self.calls.push((Some(index), CallView { id, name, arguments, kind }));
    }

    /// A delta of a call that has opened brings arguments only: clients concatenate what is repeated.
    fn go_on(&mut self, index: u64, delta: &Value, log: &mut Log) {
        let Some((_, call)) = self.calls.iter_mut().find(|(known, _)| *known == Some(index)) else {
            log.broken(Rule::CallIdentity, "expected the first delta of a call to have an id, found none");
            return;
        };
        let body = if call.kind == "custom" { &delta["custom"] } else { &delta["function"] };
        match text(delta, "id").unwrap_or_default() {
            "" => {}
            id if id == call.id => {
                let message = format!("expected the id of call {index} once, found it again");
                log.deviates(Rule::CallIdentity, Deviation::CallIdRepeated, message);
            }
            id => {
                let message = format!("expected call {index} to keep its id {:?}, found {id:?}", call.id);
                log.deviates(Rule::CallIdentity, Deviation::CallIndexShared, message);
            }
        }
        let name = text(body, "name").unwrap_or_default();
        if !name.is_empty() && name == call.name {
            let message = format!("expected the name of call {index} once, found it again");
            log.deviates(Rule::CallIdentity, Deviation::CallNameRepeated, message);
        } else if !name.is_empty() {
            let message = format!("expected call {index} to keep its name {:?}, found {name:?}", call.name);
            log.deviates(Rule::CallIdentity, Deviation::CallIndexShared, message);
        }
        let key = if call.kind == "custom" { "input" } else { "arguments" };
        match &body[key] {
            Value::String(more) => call.arguments.push_str(more),
            Value::Null => {}
            other => {
                let found = brief(Some(other));
                log.broken(Rule::Shape, format!("expected {key} to be a string, found {found}"));
            }
        }
    }
}

/// The kind of the legacy call.
const LEGACY: &str = "function_call";
