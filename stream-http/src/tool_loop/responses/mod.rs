//! Responses: numbered items, `function_call_output` items.

mod join;
mod made;
mod request;
mod whole;

pub(super) use self::join::Joiner;
pub(super) use self::request::{can_loop, free_choice, offer};
pub(super) use self::whole::{extend_whole, whole};

use serde_json::Value;

use super::join::Style;
use super::json::{Object, array};

/// Whether an item is a call that the client runs.
fn is_call(item: &Object) -> bool {
    let kind = item.text("type");
    kind.is_some_and(|kind| CALLS.contains(&kind.as_str()) || BUILT_IN.contains(&kind.as_str()))
}

/// Whether a call has no form of a result that fits every tool.
fn is_built_in(item: &Object) -> bool {
    item.text("type").is_some_and(|kind| BUILT_IN.contains(&kind.as_str()))
}

/// Takes the proxy's own tools out of a response, which lists what the request offered.
fn hide(response: &mut Object, style: &Style) {
    if style.added.is_empty() || response.get("tools").is_none() {
        return;
    }
    let is_added = |tool: &String| {
        let name = Object::parse(tool).ok().and_then(|tool| tool.text("name"));
        name.is_some_and(|name| style.added.contains(&name))
    };
    let tools = response.items("tools").into_iter().filter(|tool| !is_added(tool));
    response.set("tools", array(tools.collect::<Vec<_>>()));
}

/// A terminal response as that of all answers: what the first one is called, what all of them cost.
///
/// The id stays the last one's where the upstream keeps the answers: a request that names the first one would be
/// refused, since its calls have no results there.
fn whole_of_all(response: &mut Object, first: &Object, usage: &Value, style: &Style) {
    let names = ["created_at", "model", "tool_choice", "previous_response_id"];
    for key in names.into_iter().chain((!style.stored).then_some("id")) {
        if let Some(value) = first.get(key) {
            response.replace(key, value);
        }
    }
    if !usage.is_null() {
        response.set("usage", usage.to_string());
    }
}

const CALLS: [&str; 2] = ["function_call", "custom_tool_call"];
const BUILT_IN: [&str; 5] =
    ["shell_call", "local_shell_call", "apply_patch_call", "computer_call", "mcp_approval_request"];
