//! What the upstream signed (rule 22).

use serde_json::{Value, json};

use super::super::check_against;
use crate::WireKind;

#[track_caller]
fn assert_kept(format: WireKind, upstream: &Value, received: &Value, expected: &str) {
    let whole = |parts: &Value| match format {
        WireKind::AnthropicMessages => {
            json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "any",
            "content": parts, "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1}})
        }
        WireKind::OpenAiResponses => {
            json!({"id": "resp_1", "object": "response", "status": "completed", "output": parts})
        }
        WireKind::Gemini => {
            json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]})
        }
        WireKind::OpenAiChat => json!({"id": "1", "object": "chat.completion", "choices": [
            {"index": 0, "message": parts, "finish_reason": "tool_calls"},
        ]}),
    };
    let (upstream, received) = (whole(upstream).to_string(), whole(received).to_string());
    let report = check_against(format, upstream.as_bytes(), received.as_bytes());
    assert_eq!(report.unwrap().to_string(), expected);
}

#[test]
fn signed_thinking_may_be_emptied_but_neither_dropped_nor_edited() {
    let thinking = |text: &str| json!({"type": "thinking", "thinking": text, "signature": "c2ln"});
    let redacted = json!({"type": "redacted_thinking", "data": "ZGF0YQ"});
    let text = json!({"type": "text", "text": "Hi"});
    let upstream = json!([thinking("Hm."), redacted, text]);
    let kept = |received: &Value, expected: &str| {
        assert_kept(WireKind::AnthropicMessages, &upstream, received, expected);
    };
    kept(&upstream, "");
    kept(&json!([thinking(""), redacted, text]), "");
    kept(
        &json!([thinking("H*."), redacted, text]),
        "signed-text-edited: expected the signed text of thinking as it came or empty, found another\n",
    );
    kept(
        &json!([redacted, text]),
        "signature-lost: expected the signature \"c2ln\" of thinking, found it gone\n",
    );
    kept(
        &json!([thinking("Hm."), text]),
        "signature-lost: expected the signature \"ZGF0YQ\" of redacted_thinking, found it gone\n",
    );
}

#[test]
fn a_reasoning_item_keeps_its_id_its_encrypted_content_and_its_summary() {
    let reasoning = |id: &str, content: &str, summary: &str| {
        let summary = json!([{"type": "summary_text", "text": summary}]);
        json!({"type": "reasoning", "id": id, "summary": summary, "encrypted_content": content})
    };
    let message = json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi", "annotations": []}]});
    let kept = |received: &Value, expected: &str| {
        let upstream = json!([reasoning("rs_1", "c2ln", "Hm."), message]);
        assert_kept(WireKind::OpenAiResponses, &upstream, &json!([received, message]), expected);
    };
    kept(&reasoning("rs_1", "c2ln", "Hm."), "");
    kept(&reasoning("rs_1", "c2ln", ""), "");
    kept(
        &reasoning("rs_1", "c2ln", "H*."),
        "signed-text-edited: expected the signed text of a reasoning item as it came or empty, found another\n",
    );
    kept(
        &reasoning("rs_2", "c2ln", "Hm."),
        "signature-lost: expected the signature \"rs_1\" of the id of a reasoning item, found it gone\n",
    );
}

#[test]
fn the_signature_of_a_dropped_gemini_call_moves_to_the_next() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let signed = |name: &str| json!({"functionCall": {"name": name, "args": {}}, "thoughtSignature": "c2ln"});
    let text = json!({"text": "[withheld]"});
    let kept = |received: &Value, expected: &str| {
        assert_kept(WireKind::Gemini, &json!([signed("a"), call("b")]), received, expected);
    };
    kept(&json!([signed("a"), call("b")]), "");
    kept(&json!([signed("b")]), "");
    kept(&json!([text]), "");
    let lost = "signature-lost: expected a signature of the upstream on the first call, found none\n";
    kept(&json!([call("b")]), lost);
    kept(&json!([call("a"), signed("b")]), lost);
    kept(&json!([{"functionCall": {"name": "b", "args": {}}, "thoughtSignature": "bWFkZQ"}]), lost);
}

#[test]
fn a_signed_gemini_part_stays() {
    let upstream = json!([{"text": "Hi"}, {"text": "", "thoughtSignature": "c2ln"}]);
    let lost = "signature-lost: expected the signature \"c2ln\" of a part, found it gone\n";
    assert_kept(WireKind::Gemini, &upstream, &json!([{"text": "Hi"}]), lost);
}

#[test]
fn signed_details_of_chat_and_signatures_of_its_calls_stay() {
    let call = |signature: Option<&str>| {
        let mut call = json!({"id": "1", "type": "function", "function": {"name": "now", "arguments": "{}"}});
        if let Some(signature) = signature {
            call["extra_content"] = json!({"google": {"thought_signature": signature}});
        }
        json!({"role": "assistant", "content": null, "tool_calls": [call],
            "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "signature": "ZGV0"}]})
    };
    let upstream = call(Some("c2ln"));
    assert_kept(WireKind::OpenAiChat, &upstream, &upstream, "");
    assert_kept(
        WireKind::OpenAiChat,
        &upstream,
        &call(None),
        "signature-lost: expected a signature of the upstream on the first call, found none\n",
    );
    let mut dropped = upstream.clone();
    dropped["reasoning_details"].take();
    assert_kept(
        WireKind::OpenAiChat,
        &upstream,
        &dropped,
        "signature-lost: expected the signature \"ZGV0\" of reasoning_details, found it gone\n",
    );
}
