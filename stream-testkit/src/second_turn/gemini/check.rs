//! What Google's server refuses.

use serde_json::Value;

use super::super::Rule;
use super::super::json::{brief, list, text};
use super::super::report::Log;
use super::fold::open_calls;

pub(super) fn request(request: &Value, log: &mut Log) {
    let contents = list(request, "contents");
    if contents.is_empty() {
        log.broken("contents", Rule::Shape, "expected contents, found none");
    }
    for (at, content) in contents.iter().enumerate() {
        let place = format!("contents[{at}]");
        match text(content, "role") {
            "user" => {}
            "model" => model(content, &place, log),
            _ => {
                let found = brief(content.get("role"));
                log.broken(&place, Rule::Shape, format!("expected the role of user or model, found {found}"));
            }
        }
        for (at, part) in list(content, "parts").iter().enumerate() {
            check_part(part, &format!("{place}.parts[{at}]"), log);
        }
        let before = at.checked_sub(1).map(|before| &contents[before]);
        answers(before, content, &place, log);
    }
    if let Some(last) = contents.last() {
        let open = open_calls(last).count();
        if last["role"] == "model" && open > 0 {
            let place = format!("contents[{}]", contents.len());
            log.broken(place, Rule::CallAnswered, format!("expected {open} responses, found none"));
        }
    }
}

/// A turn of thoughts alone is as good as none: servers do not count them.
fn model(content: &Value, place: &str, log: &mut Log) {
    if list(content, "parts").iter().all(|part| part["thought"] == true) {
        log.broken(place, Rule::EmptyTurn, "expected parts, found none");
    }
}

fn check_part(part: &Value, place: &str, log: &mut Log) {
    let is_signed = !text(part, "thoughtSignature").is_empty();
    let mut data = part.as_object().into_iter().flatten().filter(|(key, _)| DATA.contains(&key.as_str()));
    match (data.next(), data.next()) {
        (None, _) => log.broken(place, Rule::Shape, "expected data in the part, found none"),
        (Some((key, value)), None) => match key.as_str() {
            "text" if value == "" && !is_signed => {
                log.broken(place, Rule::EmptyText, "expected text, found none");
            }
            "functionCall" => call(value, &format!("{place}.functionCall"), log),
            _ => {}
        },
        (Some((one, _)), Some((other, _))) => {
            log.broken(place, Rule::Shape, format!("expected one kind of data, found {one} and {other}"));
        }
    }
}

fn call(call: &Value, place: &str, log: &mut Log) {
    if text(call, "name").is_empty() {
        log.broken(place, Rule::Identity, "expected a name, found none");
    }
    if call.get("args").is_some_and(|args| !args.is_object()) {
        let found = brief(call.get("args"));
        log.broken(format!("{place}.args"), Rule::Arguments, format!("expected an object, found {found}"));
    }
    for key in ["partialArgs", "willContinue"] {
        if call.get(key).is_some() {
            log.broken(place, Rule::Shape, format!("expected whole arguments, found {key}"));
        }
    }
}

/// Checks that the content behind a turn with calls has as many responses, in their order, and no other has any.
fn answers(before: Option<&Value>, content: &Value, place: &str, log: &mut Log) {
    if content["role"] != "user" {
        return;
    }
    let calls: Vec<&Value> =
        before.filter(|before| before["role"] == "model").into_iter().flat_map(open_calls).collect();
    let parts = list(content, "parts").iter();
    let responses: Vec<&Value> = parts.filter_map(|part| part.get("functionResponse")).collect();
    if calls.len() != responses.len() {
        let message = format!("expected {} responses, found {}", calls.len(), responses.len());
        return log.broken(place, Rule::CallAnswered, message);
    }
    for (call, response) in calls.into_iter().zip(responses) {
        if call["name"] != response["name"] || call.get("id") != response.get("id") {
            let (expected, found) = (brief(call.get("name")), brief(response.get("name")));
            let message = format!("expected the response of {expected}, found that of {found}");
            log.broken(place, Rule::CallAnswered, message);
        }
    }
}

/// The fields of a part of which exactly one is there.
const DATA: [&str; 9] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];
