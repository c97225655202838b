//! Scripted answers, streamed and whole.

use serde_json::{Value, json};

use super::super::{NoTurn, Rule, check, check_against, turns};
use super::request;
use crate::{Finish, Fragments, Script, WireKind};

fn script() -> Script {
    Script::new()
        .text_fragments(Fragments::Chars(3))
        .argument_fragments(Fragments::Chars(4))
        .reasoning("Hm, the file.")
        .text("Let me look.")
        .call("call_1", "read", r#"{"path":"a"}"#)
        .call("call_2", "now", "{}")
}

#[test]
fn a_client_goes_on_from_a_stream_as_from_a_whole_response() {
    for kind in WireKind::ALL {
        let (streamed, whole) = (script().bytes(kind), script().whole(kind));
        assert_eq!(check(kind, &streamed).unwrap().to_string(), "", "{kind}");
        assert_eq!(check(kind, &whole).unwrap().to_string(), "", "{kind}");
        assert_eq!(request(kind, &streamed), request(kind, &whole), "{kind}");
    }
}

#[test]
fn a_chat_answer_becomes_a_message_and_its_results() {
    assert_eq!(
        request(WireKind::OpenAiChat, &script().bytes(WireKind::OpenAiChat))["messages"],
        json!([
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": "Let me look.", "reasoning_content": "Hm, the file.", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}},
                {"id": "call_2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": "done"},
            {"role": "tool", "tool_call_id": "call_2", "content": "done"},
        ])
    );
}

#[test]
fn an_anthropic_answer_becomes_blocks_and_one_message_of_results() {
    assert_eq!(
        request(WireKind::AnthropicMessages, &script().bytes(WireKind::AnthropicMessages))["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Go on."}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm, the file.", "signature": "c2lnbmF0dXJl"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "call_1", "name": "read", "input": {"path": "a"}},
                {"type": "tool_use", "id": "call_2", "name": "now", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "done"},
                {"type": "tool_result", "tool_use_id": "call_2", "content": "done"},
            ]},
        ])
    );
}

#[test]
fn a_responses_answer_becomes_items_and_their_outputs() {
    let request = request(WireKind::OpenAiResponses, &script().bytes(WireKind::OpenAiResponses));
    let kinds = |item: &Value| item["type"].as_str().unwrap().to_owned();
    let input: Vec<String> = request["input"].as_array().unwrap().iter().map(kinds).collect();
    assert_eq!(
        input,
        [
            "message",
            "reasoning",
            "message",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output"
        ]
    );
    assert_eq!(
        request["input"][5],
        json!({"type": "function_call_output", "call_id": "call_1", "output": "done"})
    );
}

#[test]
fn a_gemini_answer_becomes_parts_and_their_responses() {
    let request = request(WireKind::Gemini, &script().bytes(WireKind::Gemini));
    let calls = [
        json!({"functionCall": {"id": "call_1", "name": "read", "args": {"path": "a"}}}),
        json!({"functionCall": {"id": "call_2", "name": "now", "args": {}}}),
    ];
    assert_eq!(
        request["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Go on."}]},
            {"role": "model", "parts": [{"text": "Hm, the file.", "thought": true}, {"text": "Let me look."}, calls[0], calls[1]]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "call_1", "name": "read", "response": {"output": "done"}}},
                {"functionResponse": {"id": "call_2", "name": "now", "response": {"output": "done"}}},
            ]},
        ])
    );
}

#[test]
fn an_answer_without_calls_is_followed_by_the_user() {
    for kind in WireKind::ALL {
        let request = request(kind, &Script::new().text("Hi.").bytes(kind));
        let list = request.get("messages").or(request.get("input")).or(request.get("contents")).unwrap();
        assert_eq!((list.as_array().unwrap().len(), &list[2]), (3, &list[0]), "{kind}");
    }
}

#[test]
fn every_choice_has_a_second_turn_of_its_own() {
    let script = Script::new().text("One.").choice(1).call("call_1", "now", "");
    let bytes = script.bytes(WireKind::OpenAiChat);
    let turns = turns(WireKind::OpenAiChat, &bytes).unwrap();
    assert_eq!(turns.iter().map(super::super::SecondTurn::choice).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(turns[0].turn(), &json!({"role": "assistant", "content": "One."}));
    assert_eq!(turns[1].request()["messages"][2]["tool_call_id"], "call_1");

    let nothing_said = Script::new().text("One.").choice(1).finish(Finish::Stop).bytes(WireKind::OpenAiChat);
    assert_eq!(
        check(WireKind::OpenAiChat, &nothing_said).unwrap().to_string(),
        "choice 1: messages[1]: empty-turn: expected content, a refusal or calls, found none\n"
    );
}

#[test]
fn an_answer_that_nobody_goes_on_from_has_no_second_turn() {
    for kind in WireKind::ALL {
        let none = |script: &Script| check(kind, &script.bytes(kind)).unwrap_err();
        assert_eq!(none(&script().error("overloaded")), NoTurn::Error, "{kind}");
        assert_eq!(none(&script().cut()), NoTurn::Open, "{kind}");
        assert_eq!(none(&Script::new().text("I").finish(Finish::Filter)), NoTurn::Refused, "{kind}");
        assert_eq!(none(&script().finish(Finish::Length)), NoTurn::Truncated, "{kind}");
    }
    assert_eq!(
        NoTurn::Truncated.to_string(),
        "expected an answer that a client can go on with, found one that was cut in a call"
    );
}

#[test]
fn a_text_that_was_cut_by_a_limit_can_be_gone_on_with() {
    for kind in WireKind::ALL {
        let cut = Script::new().text("Once upon").finish(Finish::Length).bytes(kind);
        assert_eq!(check(kind, &cut).unwrap().to_string(), "", "{kind}");
    }
}

#[test]
fn what_the_upstream_s_answer_breaks_too_can_be_left_out() {
    let upstream = Script::new().text("  ").bytes(WireKind::AnthropicMessages);
    let received = Script::new().text(" ").call("", "now", "{}").bytes(WireKind::AnthropicMessages);
    let before = check(WireKind::AnthropicMessages, &upstream).unwrap();
    let after = check_against(WireKind::AnthropicMessages, &upstream, &received).unwrap();
    assert_eq!(
        after.beyond(&before).to_string(),
        "messages[1].content[1]: identity: expected an id, found none\n"
    );
}

#[test]
fn names_of_rules_are_read_back() {
    for rule in Rule::ALL {
        assert_eq!(rule.to_string().parse(), Ok(*rule));
    }
    assert_eq!(
        "order".parse::<Rule>().unwrap_err().to_string(),
        "expected the name of a rule of the second turn, found \"order\""
    );
}
