//! How a stream finishes, its envelope, its frames and its errors.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::quirks::Quirk;
use super::super::seen::{Seen, is_empty, says};
use super::{bodies, calls, changes, choices, finish, finishes, has_call, is_none, reasons};

pub(in super::super) const QUIRKS: &[Quirk] = &[
    // Finish.
    ("a finish beside a call", |seen| choices(seen).any(|choice| finishes(choice) && has_call(choice))),
    ("a finish beside content", |seen| {
        choices(seen).any(|choice| finishes(choice) && says(&choice["delta"]["content"]))
    }),
    ("a finish beside reasoning", |seen| choices(seen).any(|choice| finishes(choice) && reasons(choice))),
    ("`stop` although there are calls", |seen| calls(seen).next().is_some() && finish(seen, "stop")),
    ("`length` in a call", |seen| {
        finish(seen, "length") && bodies(seen).iter().any(|body| serde_json::from_str::<Value>(body).is_err())
    }),
    ("`length`", |seen| finish(seen, "length")),
    ("a call that only `[DONE]` ends", |seen| {
        calls(seen).next().is_some() && !choices(seen).any(finishes) && seen.is_done()
    }),
    ("a finish on every chunk", |seen| choices(seen).count() > 2 && choices(seen).all(finishes)),
    ("`error` for a reason", |seen| finish(seen, "error")),
    ("no finish", |seen| !choices(seen).any(finishes)),
    ("a finish that is said again", |seen| {
        choices(seen).filter(|choice| finishes(choice) && choice["index"] == 0).count() > 1
    }),
    ("content behind the finish", |seen| {
        choices(seen)
            .skip_while(|choice| !finishes(choice))
            .skip(1)
            .any(|choice| says(&choice["delta"]["content"]))
    }),
    ("a finish for each call", |seen| {
        choices(seen).skip_while(|choice| !finishes(choice)).skip(1).any(has_call)
    }),
    ("a reason of one's own", |seen| finish(seen, "eos")),
    ("a call in the legacy form", |seen| {
        finish(seen, "function_call")
            && choices(seen).any(|choice| choice["delta"]["function_call"].is_object())
    }),
    ("`native_finish_reason`", |seen| choices(seen).any(|choice| says(&choice["native_finish_reason"]))),
    ("`content_filter`", |seen| finish(seen, "content_filter")),
    ("an empty reason before the finish", |seen| {
        choices(seen).any(|choice| is_empty(&choice["finish_reason"]))
    }),
    // Usage, and chunks without choices.
    ("usage alone behind the finish", |seen| {
        seen.json().any(|json| json["usage"].is_object() && is_none(&json["choices"]))
    }),
    ("usage within a choice", |seen| choices(seen).any(|choice| choice["usage"].is_object())),
    ("usage before the last chunk", |seen| {
        let chunks: Vec<_> = seen.json().collect();
        chunks.len() > 2
            && chunks[chunks.len() - 2]["usage"].is_object()
            && chunks[chunks.len() - 1].get("usage").is_none()
    }),
    ("counts that are null", |seen| {
        seen.json().any(|json| json["usage"].get("completion_tokens") == Some(&Value::Null))
    }),
    ("usage on every chunk", |seen| {
        let chunks: Vec<_> = seen.json().collect();
        chunks.len() > 2 && chunks.iter().all(|json| json["usage"].is_object())
    }),
    ("usage on some chunks", |seen| {
        let some = seen.json().filter(|json| json["usage"].is_object()).count();
        some > 1 && some < seen.json().count()
    }),
    ("no usage", |seen| !seen.member("usage", Value::is_object)),
    ("a first chunk without choices", |seen| {
        seen.json()
            .next()
            .is_some_and(|json| is_none(&json["choices"]) && !json["prompt_filter_results"].is_null())
    }),
    ("no choices and no usage later on", |seen| {
        seen.json().skip(1).any(|json| is_none(&json["choices"]) && json["usage"].is_null())
    }),
    ("a chunk without the key `choices`", |seen| seen.json().any(|json| json.get("choices").is_none())),
    ("a choice without delta", |seen| choices(seen).any(|choice| choice["delta"].is_null())),
    // The envelope.
    ("another `object`", |seen| seen.json().any(|json| json["object"] != "chat.completion.chunk")),
    ("an empty `object` and an empty model", |seen| {
        seen.json().any(|json| is_empty(&json["object"]) && is_empty(&json["model"]))
    }),
    ("an empty tier and an empty fingerprint", |seen| {
        seen.json().any(|json| is_empty(&json["service_tier"]) && is_empty(&json["system_fingerprint"]))
    }),
    ("every field that providers add to a chunk", |seen| {
        seen.json().any(|json| OF_CHUNKS.iter().all(|field| json.get(field).is_some()))
    }),
    ("every field that providers add to a delta", |seen| {
        choices(seen).any(|choice| OF_DELTAS.iter().all(|field| choice["delta"].get(field).is_some()))
    }),
    ("an empty chunk id", |seen| seen.json().any(|json| is_empty(&json["id"]))),
    ("a chunk id that changes", |seen| changes(seen, "id")),
    ("a model that changes", |seen| changes(seen, "model")),
    ("the role on many chunks", |seen| {
        choices(seen).filter(|choice| says(&choice["delta"]["role"])).count() > 2
    }),
    ("no role", |seen| choices(seen).all(|choice| choice["delta"]["role"].is_null())),
    ("a null role", |seen| choices(seen).any(|choice| choice["delta"].get("role") == Some(&Value::Null))),
    ("the whole message beside each delta", |seen| choices(seen).any(|choice| choice["message"].is_object())),
    ("a call in the message beside its delta", |seen| {
        choices(seen).any(|choice| has_call(choice) && choice["message"]["tool_calls"].is_array())
    }),
    ("content as a list of parts", |seen| choices(seen).any(|choice| choice["delta"]["content"].is_array())),
    ("padding", |seen| seen.json().any(|json| says(&json["obfuscation"]) || says(&json["p"]))),
    ("several choices", |seen| choices(seen).any(|choice| choice["index"] == 1)),
    ("log probabilities", |seen| choices(seen).any(|choice| choice["logprobs"].is_object())),
    ("a refusal", |seen| choices(seen).any(|choice| says(&choice["delta"]["refusal"]))),
    ("speech", |seen| choices(seen).any(|choice| choice["delta"]["audio"].is_object())),
    ("a call in a stream of speech", |seen| {
        calls(seen).next().is_some() && seen.json().any(|json| json["model"] == "gpt-audio")
    }),
    ("tools that the provider ran", |seen| {
        let ran =
            |choice: &Value| choice["delta"]["executed_tools"].as_array().is_some_and(|ran| !ran.is_empty());
        choices(seen).any(ran)
    }),
    ("annotations that are an object", |seen| {
        choices(seen).any(|choice| choice["delta"]["annotations"].is_object())
    }),
    ("annotations", |seen| {
        seen.json().any(|json| json["citations"].is_array())
            || choices(seen).any(|choice| choice["delta"]["annotations"].is_array())
    }),
    ("calls that are null", |seen| {
        choices(seen).any(|choice| choice["delta"].get("tool_calls") == Some(&Value::Null))
    }),
    ("an empty list of calls", |seen| {
        choices(seen).any(|choice| choice["delta"]["tool_calls"].as_array().is_some_and(Vec::is_empty))
    }),
    // Reasoning.
    ("`reasoning_content`", |seen| choices(seen).any(|choice| says(&choice["delta"]["reasoning_content"]))),
    ("`reasoning`", |seen| choices(seen).any(|choice| says(&choice["delta"]["reasoning"]))),
    ("`reasoning_details`", |seen| {
        choices(seen).any(|choice| choice["delta"]["reasoning_details"].is_array())
    }),
    ("an encrypted thought with the id of the call behind it", |seen| {
        let ids: BTreeSet<_> = calls(seen).filter_map(|call| call.delta["id"].as_str()).collect();
        choices(seen).any(|choice| {
            let detail = &choice["delta"]["reasoning_details"][0];
            says(&detail["data"]) && detail["id"].as_str().is_some_and(|id| ids.contains(id))
        })
    }),
    ("one thought in two fields", |seen| {
        let twins =
            |delta: &Value| says(&delta["reasoning"]) && delta["reasoning"] == delta["reasoning_content"];
        choices(seen).any(|choice| twins(&choice["delta"]))
    }),
    // Frames and errors.
    ("no `[DONE]`", |seen| !seen.is_done()),
    ("data behind `[DONE]`", |seen| {
        seen.events.iter().skip_while(|event| event.data != "[DONE]").nth(1).is_some()
    }),
    ("comments", Seen::has_comment),
    ("an empty comment", |seen| seen.lines().any(|line| line == ":")),
    ("several comments before the first event", |seen| {
        seen.lines().take_while(|line| line.starts_with(':')).count() > 2
    }),
    ("CRLF", |seen| seen.text.contains("\r\n")),
    ("bare CR", |seen| seen.text.contains('\r') && !seen.text.contains('\n')),
    ("a byte order mark", |seen| seen.text.starts_with('\u{feff}')),
    ("data on several lines", |seen| seen.events.iter().any(|event| event.data.contains('\n'))),
    ("`id:` and `retry:` lines", |seen| {
        ["id:", "retry:"].iter().all(|field| seen.lines().any(|line| line.starts_with(field)))
    }),
    ("`data:` without a space", |seen| seen.lines().any(|line| line.starts_with("data:{"))),
    ("characters of several bytes", |seen| seen.text.chars().any(|letter| letter.len_utf8() == 4)),
    ("an `event:` line", |seen| seen.events.iter().any(|event| event.name.is_some())),
    ("a line that starts with a space", |seen| seen.lines().any(|line| line.starts_with(" data:"))),
    ("a line that is no field", |seen| seen.lines().any(|line| line.starts_with("error: "))),
    ("no blank line at the end", |seen| seen.is_done() && seen.is_unterminated()),
    ("an unterminated tail", |seen| !seen.is_done() && seen.is_unterminated()),
    ("an error in the stream", |seen| seen.json().any(|json| json["error"].is_object())),
    ("an error beside a choice", |seen| {
        seen.json().any(|json| json["error"].is_object() && !is_none(&json["choices"]))
    }),
    ("an error beside empty choices", |seen| {
        seen.json()
            .any(|json| json["error"].is_object() && json["choices"].as_array().is_some_and(Vec::is_empty))
    }),
    ("an error and no `[DONE]`", |seen| !seen.is_done() && seen.json().any(|json| json["error"].is_object())),
    ("an error whose code is a number", |seen| seen.json().any(|json| json["error"]["code"].is_number())),
    ("an error whose code is a string", |seen| seen.json().any(|json| json["error"]["code"].is_string())),
    ("an error whose code is null", |seen| {
        seen.json().any(|json| json["error"].get("code") == Some(&Value::Null))
    }),
    ("the call that the provider refused, in its error", |seen| seen.member("failed_generation", says)),
    ("an error without choices", |seen| {
        seen.json().any(|json| json["error"].is_object() && json.get("choices").is_none())
    }),
];

/// Fields of a chunk that only some providers have.
const OF_CHUNKS: [&str; 24] = [
    "citations",
    "copilot_usage",
    "cost",
    "detail",
    "episode_id",
    "generationId",
    "images",
    "latency_checkpoint",
    "moderation",
    "nvext",
    "obfuscation",
    "p",
    "prompt_filter_results",
    "prompt_text",
    "prompt_token_ids",
    "provider",
    "related_questions",
    "search_results",
    "sla_metrics",
    "stream_options",
    "time_info",
    "timings",
    "usage",
    "x_groq",
];

/// Fields of a delta that only some providers have. `audio` has logs of its own.
const OF_DELTAS: [&str; 15] = [
    "annotations",
    "channel",
    "copilot_annotations",
    "executed_tools",
    "graph_data",
    "image_data",
    "index",
    "llm_data",
    "name",
    "phase",
    "provider_metadata",
    "reasoning_encrypted",
    "token_id",
    "translation_data",
    "web_search_data",
];
