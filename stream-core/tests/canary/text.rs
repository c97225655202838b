//! Canaries in place of every text of a stream, and of all that speaks of it.

use serde_json::Value;
use stream_testkit::WireKind;

use crate::calls::items;
use crate::canaries::{cage_members, rewrite};

/// The stream with its text in canary letters. Signatures stay (rule 22).
pub(crate) fn caged(format: WireKind, body: &[u8]) -> Vec<u8> {
    rewrite(body, |event| match format {
        WireKind::OpenAiChat => chat(event),
        WireKind::OpenAiResponses => responses(event),
        WireKind::AnthropicMessages => anthropic(event),
        WireKind::Gemini => gemini(event),
    })
}

fn chat(event: &mut Value) {
    for choice in items(event.get_mut("choices")) {
        cage_members(choice, &["text"]);
        for token in items(choice.get_mut("logprobs").and_then(|logprobs| logprobs.get_mut("content"))) {
            cage_members(token, &["token", "top_logprobs"]);
        }
        for body in ["delta", "message"] {
            let Some(body) = choice.get_mut(body) else { continue };
            cage_members(body, &["reasoning_content", "reasoning", "refusal"]);
            match body.get_mut("content") {
                Some(Value::Array(parts)) => parts.iter_mut().for_each(|part| {
                    cage_members(part, &["text"]);
                    for thought in items(part.get_mut("thinking")) {
                        cage_members(thought, &["text"]);
                    }
                }),
                _ => cage_members(body, &["content"]),
            }
            for detail in items(body.get_mut("reasoning_details")) {
                cage_members(detail, &["text", "summary"]);
            }
            for note in items(body.get_mut("annotations")) {
                cage_members(note, &["url_citation"]);
            }
            if let Some(audio) = body.get_mut("audio") {
                cage_members(audio, &["transcript"]);
            }
        }
    }
}

fn anthropic(event: &mut Value) {
    for block in ["content_block", "delta"] {
        if let Some(block) = event.get_mut(block) {
            anthropic_block(block);
        }
    }
    for block in items(event.get_mut("message").and_then(|message| message.get_mut("content"))) {
        anthropic_block(block);
    }
}

fn anthropic_block(block: &mut Value) {
    cage_members(block, &["text", "thinking"]);
    let citation =
        |citation: &mut Value| cage_members(citation, &["cited_text", "title", "document_title", "url"]);
    block.get_mut("citation").into_iter().for_each(citation);
    items(block.get_mut("citations")).for_each(citation);
}

fn responses(event: &mut Value) {
    let kind = event["type"].as_str().unwrap_or_default();
    if ["output_text.", "reasoning", "refusal."].iter().any(|name| kind.contains(name)) {
        cage_members(event, &["delta", "text", "refusal"]);
        if let Some(annotation) = event.get_mut("annotation") {
            cage_members(annotation, &["title", "url", "filename"]);
        }
    }
    for token in items(event.get_mut("logprobs")) {
        cage_members(token, &["token"]);
    }
    event.get_mut("part").into_iter().for_each(responses_part);
    event.get_mut("item").into_iter().for_each(responses_item);
    items(event.get_mut("response").and_then(|response| response.get_mut("output"))).for_each(responses_item);
}

fn responses_item(item: &mut Value) {
    if item["type"] == "message" || item["type"] == "reasoning" {
        items(item.get_mut("content")).for_each(responses_part);
        items(item.get_mut("summary")).for_each(responses_part);
    }
}

fn responses_part(part: &mut Value) {
    cage_members(part, &["text", "refusal", "transcript"]);
    for annotation in items(part.get_mut("annotations")) {
        cage_members(annotation, &["title", "url", "filename"]);
    }
    for token in items(part.get_mut("logprobs")) {
        cage_members(token, &["token"]);
    }
}

fn gemini(event: &mut Value) {
    for candidate in items(event.get_mut("candidates")) {
        for part in items(candidate.get_mut("content").and_then(|content| content.get_mut("parts"))) {
            cage_members(part, &["text"]);
        }
        cage_members(candidate, &["groundingMetadata", "citationMetadata", "logprobsResult"]);
    }
}
