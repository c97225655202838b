//! Responses.

use serde_json::{Value, json};

use super::{assert_received, assert_request, request};
use crate::WireKind;

const RESPONSES: WireKind = WireKind::OpenAiResponses;

fn input(items: &[Value]) -> Value {
    let question =
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]});
    let all = [&[question][..], items].concat();
    json!({"input": all})
}

fn reasoning() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "now", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "done"})
}

fn whole(output: &[Value]) -> String {
    json!({"id": "resp_1", "object": "response", "status": "completed", "output": output}).to_string()
}

#[test]
fn a_turn_holds_something() {
    let empty = "input: empty-turn: expected items of the model, found none\n";
    assert_request(RESPONSES, &input(&[]), empty);
    assert_received(RESPONSES, &whole(&[]), empty);
    assert_request(RESPONSES, &input(&[message("Hi")]), "");
}

#[test]
fn a_message_holds_text_or_a_refusal() {
    let refusal = json!({"type": "message", "id": "msg_2", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]});
    assert_request(RESPONSES, &input(&[refusal]), "");
    let nothing = json!({"type": "message", "id": "msg_2", "role": "assistant", "content": []});
    assert_request(
        RESPONSES,
        &input(&[message(""), nothing]),
        "input[1].content[0]: empty-text: expected text, found none\n\
         input[2]: empty-text: expected parts in the message, found none\n",
    );
}

#[test]
fn reasoning_has_its_id_and_summary_and_is_not_signed_with_nothing() {
    assert_request(
        RESPONSES,
        &input(&[json!({"type": "reasoning", "encrypted_content": ""}), message("Hi")]),
        "input[1]: signature: expected an id, found none\n\
         input[1]: signature: expected a summary, found none\n\
         input[1]: signature: expected encrypted_content or none, found an empty one\n",
    );
}

#[test]
fn reasoning_is_followed_by_what_it_led_to() {
    let second = json!({"type": "reasoning", "id": "rs_2", "summary": []});
    assert_request(RESPONSES, &input(&[reasoning(), second, call("1"), output("1")]), "");
    let alone = "input[1]: reasoning-followed: expected what it led to behind the reasoning, found nothing of the model\n";
    assert_request(RESPONSES, &input(&[reasoning()]), alone);
    // A policy that dropped the call and left its reasoning.
    assert_received(RESPONSES, &whole(&[reasoning()]), alone);
}

#[test]
fn calls_and_items_have_ids_of_their_own() {
    assert_request(
        RESPONSES,
        &input(&[message("Hi"), message("Ho"), call("1"), output("1")]),
        "input[2]: identity: expected an id of its own, found \"msg_1\" again\n",
    );
    let nameless =
        json!({"type": "function_call", "id": "fc_2", "call_id": "1", "name": "", "arguments": "{}"});
    let unnamed = json!({"type": "custom_tool_call", "id": "ct_1", "name": "now", "input": ""});
    assert_request(
        RESPONSES,
        &input(&[
            call("1"),
            nameless,
            unnamed,
            output("1"),
            output("1"),
            json!({"type": "custom_tool_call_output"}),
        ]),
        "input[2]: identity: expected a name, found none\n\
         input[2]: identity: expected a call_id of its own, found \"1\" again\n\
         input[3]: identity: expected a call_id, found none\n",
    );
}

#[test]
fn every_call_has_an_output_of_its_kind() {
    assert_request(RESPONSES, &input(&[call("1"), output("1")]), "");
    assert_request(
        RESPONSES,
        &input(&[output("1"), call("1"), json!({"type": "shell_call_output", "call_id": "1"})]),
        "input[1]: call-answered: expected a call \"1\" before its output, found none\n\
         input[3]: call-answered: expected a call \"1\" before its output, found none\n\
         input[2]: call-answered: expected function_call_output for \"1\", found none\n",
    );
}

#[test]
fn everything_that_a_client_runs_is_answered_in_its_way() {
    let items: Vec<Value> = ["shell_call", "local_shell_call", "apply_patch_call", "computer_call"]
        .into_iter()
        .map(|kind| json!({"type": kind, "id": kind, "call_id": format!("call_{kind}"), "status": "completed"}))
        .chain([
            json!({"type": "custom_tool_call", "id": "ct_1", "call_id": "call_ct", "name": "sql", "input": "select"}),
            json!({"type": "mcp_approval_request", "id": "mcpr_1", "name": "rm", "arguments": "{}", "server_label": "s"}),
        ])
        .collect();
    let received = whole(&items);
    assert_received(RESPONSES, &received, "");
    let input = request(RESPONSES, received.as_bytes())["input"].as_array().unwrap().clone();
    let answers: Vec<&Value> = input[7..].iter().map(|item| &item["type"]).collect();
    assert_eq!(
        answers,
        [
            "shell_call_output",
            "local_shell_call_output",
            "apply_patch_call_output",
            "computer_call_output",
            "custom_tool_call_output",
            "mcp_approval_response"
        ]
    );
}

#[test]
fn what_the_provider_ran_is_not_answered_again() {
    let items = [
        json!({"type": "shell_call", "id": "sh_1", "call_id": "1", "status": "completed"}),
        json!({"type": "shell_call_output", "id": "sho_1", "call_id": "1", "output": []}),
        message("Done."),
    ];
    let received = whole(&items);
    assert_received(RESPONSES, &received, "");
    assert_eq!(request(RESPONSES, received.as_bytes())["input"].as_array().unwrap().len(), 5);
}

#[test]
fn arguments_are_a_string_and_items_have_a_type() {
    let object =
        json!({"type": "function_call", "id": "fc_1", "call_id": "1", "name": "now", "arguments": {}});
    assert_request(
        RESPONSES,
        &input(&[object, json!({"id": "x"}), output("1")]),
        "input[1].arguments: arguments: expected a string, found {}\n\
         input[2]: shape: expected a type, found none\n",
    );
}

#[test]
fn a_message_may_leave_its_type_out() {
    let said = json!({"role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]});
    assert_request(RESPONSES, &input(&[said, json!({"role": "user", "content": "Go on."})]), "");
    let empty = json!({"role": "assistant", "content": ""});
    assert_request(RESPONSES, &input(&[empty]), "input[1]: empty-text: expected text, found none\n");
}
