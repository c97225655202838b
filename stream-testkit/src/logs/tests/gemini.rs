//! The quirks of Gemini streams.

use serde_json::Value;

use super::quirks::Quirk;
use super::seen::{Seen, is_empty, says};

pub(super) const QUIRKS: &[Quirk] = &[
    ("CRLF", |seen| seen.text.contains("\r\n")),
    ("LF", |seen| !seen.text.contains('\r')),
    ("a finish beside text", |seen| finishing(seen).any(|one| parts(one).any(|part| says(&part["text"])))),
    ("a finish beside a call", |seen| finishing(seen).any(|one| parts(one).any(is_call))),
    ("a finish without parts", |seen| finishing(seen).any(|one| parts(one).next().is_none())),
    ("a finish on every chunk", |seen| {
        candidates(seen).count() > 2
            && candidates(seen).all(|one| finishes(one) && parts(one).any(|part| says(&part["text"])))
    }),
    ("a finish on code, and text behind it", |seen| {
        let mut behind = candidates(seen)
            .skip_while(|one| !(finishes(one) && parts(one).any(|part| part["executableCode"].is_object())));
        behind.next().is_some() && behind.flat_map(parts).any(|part| says(&part["text"]))
    }),
    ("a finish that is said again", |seen| finishing(seen).count() > 1),
    ("a chunk behind the finish", |seen| {
        candidates(seen)
            .skip_while(|one| !finishes(one))
            .skip(1)
            .any(|one| parts(one).any(|part| says(&part["text"])))
    }),
    ("no finish", |seen| finishing(seen).next().is_none()),
    ("a call without id", |seen| calls(seen).any(|call| call.get("id").is_none())),
    ("a call with id", |seen| calls(seen).any(|call| says(&call["id"]))),
    ("a call without args", |seen| calls(seen).any(|call| call.get("args").is_none() && says(&call["name"]))),
    ("several calls in one chunk", |seen| {
        candidates(seen).any(|one| parts(one).filter(|part| is_call(part)).count() > 1)
    }),
    ("calls across chunks", |seen| candidates(seen).filter(|one| parts(one).any(is_call)).count() > 1),
    ("text behind a call", |seen| {
        let mut parts = candidates(seen).flat_map(parts);
        parts.any(is_call) && parts.any(|part| says(&part["text"]))
    }),
    ("text and a call in one chunk", |seen| {
        candidates(seen).any(|one| parts(one).any(is_call) && parts(one).any(|part| says(&part["text"])))
    }),
    ("args in parts", |seen| {
        seen.member("partialArgs", Value::is_array) && seen.member("willContinue", |value| *value == true)
    }),
    ("thoughts", |seen| {
        candidates(seen).flat_map(parts).any(|part| part["thought"] == true && says(&part["text"]))
    }),
    ("a signature", |seen| candidates(seen).flat_map(parts).any(|part| says(&part["thoughtSignature"]))),
    ("a signature on an empty text", |seen| {
        candidates(seen)
            .flat_map(parts)
            .any(|part| says(&part["thoughtSignature"]) && is_empty(&part["text"]))
    }),
    ("an empty text", |seen| candidates(seen).flat_map(parts).any(|part| is_empty(&part["text"]))),
    ("content without parts", |seen| {
        candidates(seen).any(|one| one["content"].is_object() && one["content"].get("parts").is_none())
    }),
    ("a candidate without content", |seen| candidates(seen).any(|one| one.get("content").is_none())),
    ("content without role", |seen| {
        candidates(seen).any(|one| one["content"].is_object() && one["content"].get("role").is_none())
    }),
    ("a candidate without index", |seen| candidates(seen).any(|one| one.get("index").is_none())),
    ("no `responseId`", |seen| seen.json().all(|json| json.get("responseId").is_none())),
    ("a prompt that was blocked", |seen| {
        seen.json().any(|json| says(&json["promptFeedback"]["blockReason"]))
    }),
    ("feedback on a prompt that was not blocked", |seen| {
        seen.json().any(|json| {
            json["promptFeedback"].is_object() && json["promptFeedback"].get("blockReason").is_none()
        })
    }),
    ("`MALFORMED_FUNCTION_CALL`", |seen| finish(seen, "MALFORMED_FUNCTION_CALL")),
    ("`PROHIBITED_CONTENT`", |seen| finish(seen, "PROHIBITED_CONTENT")),
    ("`MAX_TOKENS`", |seen| finish(seen, "MAX_TOKENS")),
    ("`SAFETY`", |seen| finish(seen, "SAFETY")),
    ("`RECITATION`", |seen| finish(seen, "RECITATION")),
    ("an image", |seen| candidates(seen).flat_map(parts).any(|part| part["inlineData"].is_object())),
    ("code and its result", |seen| {
        seen.member("executableCode", Value::is_object)
            && seen.member("codeExecutionResult", Value::is_object)
    }),
    ("a tool that the provider runs", |seen| {
        let has = |name| candidates(seen).flat_map(parts).any(|part| part[name].is_object());
        has("toolCall") && has("toolResponse")
    }),
    ("grounding", |seen| seen.member("groundingMetadata", Value::is_object)),
    ("pages that were read", |seen| seen.member("urlContextMetadata", Value::is_object)),
    ("citations", |seen| seen.member("citationMetadata", Value::is_object)),
    ("an error that is no event", |seen| {
        seen.lines().any(|line| line.trim_start().starts_with("\"error\": {"))
    }),
    ("several candidates", |seen| candidates(seen).any(|one| one["index"] == 1)),
    ("usage on every chunk", |seen| {
        seen.json().count() > 1 && seen.json().all(|json| json["usageMetadata"].is_object())
    }),
    ("no blank line at the end", Seen::is_unterminated),
    ("characters of several bytes", |seen| !seen.text.is_ascii()),
];

fn candidates(seen: &Seen) -> impl Iterator<Item = &Value> {
    seen.json().filter_map(|json| json["candidates"].as_array()).flatten()
}

fn parts(candidate: &Value) -> impl Iterator<Item = &Value> {
    candidate["content"]["parts"].as_array().into_iter().flatten()
}

fn is_call(part: &Value) -> bool {
    part["functionCall"].is_object()
}

fn calls(seen: &Seen) -> impl Iterator<Item = &Value> {
    candidates(seen).flat_map(parts).filter(|part| is_call(part)).map(|part| &part["functionCall"])
}

fn finishes(candidate: &Value) -> bool {
    says(&candidate["finishReason"])
}

fn finishing(seen: &Seen) -> impl Iterator<Item = &Value> {
    candidates(seen).filter(|one| finishes(one))
}

fn finish(seen: &Seen, reason: &str) -> bool {
    candidates(seen).any(|one| one["finishReason"] == reason)
}
