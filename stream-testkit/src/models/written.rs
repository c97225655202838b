//! Calls that are written into the text, as the parsers of inference servers find them: by pattern, at any position of the concatenated
//! text of a message.

use serde_json::Value;

use super::reading::Call;

/// The calls that a parser by pattern finds in a text: `<tool_call>` with an object or a list, `<function=NAME>`, and the sections of Kimi.
/// A tag within a string of another call counts as a tag.
#[must_use]
pub fn written(text: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    for body in between(text, "<tool_call>", "</tool_call>") {
        if let Ok(value) = serde_json::from_str::<Value>(body.trim()) {
            let list = if let Value::Array(list) = value { list } else { vec![value] };
            calls.extend(list.iter().filter_map(object));
        }
    }
    for body in between(text, "<function=", "</function>") {
        if let Some((name, rest)) = body.split_once('>') {
            calls.push(Call::function(name.trim(), parameters(rest).to_string()));
        }
    }
    for body in between(text, "<|tool_call_begin|>", "<|tool_call_end|>") {
        if let Some((head, arguments)) = body.split_once("<|tool_call_argument_begin|>") {
            let name = head.trim().trim_start_matches("functions.");
            let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
            calls.push(Call::function(name, arguments.trim()));
        }
    }
    calls
}

/// The text between each opener and the next closer. An opener within such a text starts another one.
fn between<'a>(text: &'a str, opener: &'a str, closer: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(opener).map(move |(at, _)| {
        let body = &text[at + opener.len()..];
        body.find(closer).map_or(body, |end| &body[..end])
    })
}

fn object(value: &Value) -> Option<Call> {
    let name = value["name"].as_str()?;
    let arguments = value.get("arguments").or_else(|| value.get("parameters"));
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    Some(Call::function(name, arguments))
}

fn parameters(body: &str) -> Value {
    let mut members = serde_json::Map::new();
    for parameter in between(body, "<parameter=", "</parameter>") {
        if let Some((name, value)) = parameter.split_once('>') {
            members.insert(name.to_owned(), Value::String(value.trim_matches('\n').to_owned()));
        }
    }
    Value::Object(members)
}
