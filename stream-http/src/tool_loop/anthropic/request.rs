//! Requests: tools are offered.

use super::super::join::append;
use super::super::json::{Object, quote};
use super::super::tools::ToolSpec;

pub(in super::super) fn offer(request: &mut Object, specs: &[&ToolSpec]) {
    let tool = |spec: &&ToolSpec| {
        let (name, description) = (quote(spec.name()), quote(spec.description()));
        format!(r#"{{"name":{name},"description":{description},"input_schema":{}}}"#, spec.schema())
    };
    append(request, "tools", specs.iter().map(tool));
}

pub(in super::super) fn free_choice(request: &mut Object) {
    let Some(mut choice) = request.object("tool_choice") else { return };
    if choice.text("type").is_some_and(|kind| kind == "any" || kind == "tool") {
        choice.set("type", quote("auto"));
        choice.remove("name");
        request.set("tool_choice", choice.to_string());
    }
}
