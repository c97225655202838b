//! Requests: tools are offered.

use super::super::json::{Object, array, quote};
use super::super::tools::ToolSpec;

/// Several candidates cannot all go on in one conversation.
pub(in super::super) fn can_loop(request: &Object) -> bool {
    let config = request.object("generationConfig").or_else(|| request.object("generation_config"));
    let count = config
        .and_then(|config| config.number("candidateCount").or_else(|| config.number("candidate_count")));
    request.get("contents").is_some() && count.is_none_or(|count| count <= 1)
}

pub(in super::super) fn offer(request: &mut Object, specs: &[&ToolSpec]) {
    let declared = specs.iter().map(|spec| {
        let (name, description) = (quote(spec.name()), quote(spec.description()));
        format!(r#"{{"name":{name},"description":{description},"parametersJsonSchema":{}}}"#, spec.schema())
    });
    let mut tools = request.items("tools");
    // Functions stand in one list: several are not taken everywhere.
    for tool in &mut tools {
        let Ok(mut object) = Object::parse(tool) else { continue };
        let key = ["functionDeclarations", "function_declarations"]
            .into_iter()
            .find(|key| object.get(key).is_some());
        if let Some(key) = key {
            let mut all = object.items(key);
            all.extend(declared);
            object.set(key, array(all));
            *tool = object.to_string();
            return request.set("tools", array(tools));
        }
    }
    tools.push(format!(r#"{{"functionDeclarations":{}}}"#, array(declared)));
    request.set("tools", array(tools));
}

pub(in super::super) fn free_choice(request: &mut Object) {
    for (outer, inner) in
        [("toolConfig", "functionCallingConfig"), ("tool_config", "function_calling_config")]
    {
        let Some(mut config) = request.object(outer) else { continue };
        let Some(mut calling) = config.object(inner) else { continue };
        if calling.text("mode").is_some_and(|mode| mode.eq_ignore_ascii_case("any")) {
            calling.set("mode", quote("AUTO"));
            // Names are allowed with a forced call alone.
            calling.remove("allowedFunctionNames");
            calling.remove("allowed_function_names");
            config.set(inner, calling.to_string());
            request.set(outer, config.to_string());
        }
    }
}
