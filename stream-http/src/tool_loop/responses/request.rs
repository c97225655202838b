//! Requests: tools are offered, turns added.

use stream_core::CallFlavor;

use super::super::join::{Answered, append};
use super::super::json::{Object, Unreadable, array, quote};
use super::super::tools::ToolSpec;
use super::is_built_in;

/// An answer that is made in the background comes later, and elsewhere.
pub(in super::super) fn can_loop(request: &Object) -> bool {
    let asks = ["input", "prompt", "conversation"].iter().any(|key| request.some(key).is_some());
    asks && request.get("background") != Some("true")
}

pub(in super::super) fn offer(request: &mut Object, specs: &[&ToolSpec]) {
    // Without a word a schema is taken as a strict one, which few are.
    let tool = |spec: &&ToolSpec| {
        let (name, description) = (quote(spec.name()), quote(spec.description()));
        let parameters = spec.schema();
        format!(
            r#"{{"type":"function","name":{name},"description":{description},"parameters":{parameters},"strict":false}}"#
        )
    };
    append(request, "tools", specs.iter().map(tool));
}

pub(in super::super) fn free_choice(request: &mut Object) {
    let Some(choice) = request.some("tool_choice") else { return };
    match Object::parse(choice) {
        Ok(mut choice) if choice.text("type").as_deref() == Some("allowed_tools") => {
            choice.set("mode", quote("auto"));
            request.set("tool_choice", choice.to_string());
        }
        _ if choice != "\"none\"" => request.set("tool_choice", quote("auto")),
        _ => {}
    }
}

/// Adds the items of a turn, and the results of its calls.
pub(super) fn extend(request: &mut Object, turn: &[String], answered: &[Answered]) -> Result<(), Unreadable> {
    let results = answered.iter().filter(|call| call.flavor != CallFlavor::Builtin).map(|call| {
        let kind = if call.flavor == CallFlavor::Custom {
            "custom_tool_call_output"
        } else {
            "function_call_output"
        };
        let id = quote(call.id.as_deref().unwrap_or_default());
        format!(r#"{{"type":"{kind}","call_id":{id},"output":{}}}"#, quote(&call.result.text))
    });
    if request.some("conversation").is_some() {
        // The conversation has the turn already.
        request.set("input", array(results.collect::<Vec<_>>()));
        return Ok(());
    }
    if let Some(text) = request.text("input") {
        request.set("input", format!(r#"[{{"role":"user","content":{}}}]"#, quote(&text)));
    }
    let stored = request.get("store") != Some("false");
    let mut items = Vec::new();
    for item in turn {
        let mut item = Object::parse(item)?;
        let is_reasoning = item.text("type").as_deref() == Some("reasoning");
        // What the upstream has not kept cannot be named: neither reasoning without its encrypted form, nor other items.
        if is_built_in(&item) || (is_reasoning && !stored && item.some("encrypted_content").is_none()) {
            continue;
        }
        if !stored && !is_reasoning {
            item.remove("id");
        }
        items.push(item.to_string());
    }
    append(request, "input", items.into_iter().chain(results));
    Ok(())
}
