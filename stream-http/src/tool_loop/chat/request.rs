//! Requests: tools are offered, turns added.

use super::super::join::append;
use super::super::json::{Object, quote};
use super::super::tools::ToolSpec;

/// Several choices cannot all go on in one conversation.
pub(in super::super) fn can_loop(request: &Object) -> bool {
    request.get("messages").is_some() && request.number("n").is_none_or(|n| n <= 1)
}

pub(in super::super) fn offer(request: &mut Object, specs: &[&ToolSpec]) {
    let function = |spec: &&ToolSpec| {
        let (name, description) = (quote(spec.name()), quote(spec.description()));
        format!(r#"{{"name":{name},"description":{description},"parameters":{}}}"#, spec.schema())
    };
    // A request of the old kind has to stay one.
    if request.some("functions").is_some() && request.some("tools").is_none() {
        append(request, "functions", specs.iter().map(function));
    } else {
        let tool = |spec| format!(r#"{{"type":"function","function":{}}}"#, function(spec));
        append(request, "tools", specs.iter().map(tool));
    }
}

pub(in super::super) fn free_choice(request: &mut Object) {
    let Some(choice) = request.some("tool_choice") else {
        if request.get("function_call").is_some_and(|choice| choice.starts_with('{')) {
            request.set("function_call", quote("auto"));
        }
        return;
    };
    let allowed =
        Object::parse(choice).ok().filter(|choice| choice.text("type").as_deref() == Some("allowed_tools"));
    match allowed {
        Some(mut choice) => {
            if let Some(mut list) = choice.object("allowed_tools") {
                list.set("mode", quote("auto"));
                choice.set("allowed_tools", list.to_string());
                request.set("tool_choice", choice.to_string());
            }
        }
        None if choice != "\"none\"" => request.set("tool_choice", quote("auto")),
        None => {}
    }
}
