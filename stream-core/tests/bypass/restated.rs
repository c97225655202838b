//! What Responses says again, as something else than it was (rule 19): the SDKs run what the last event lists.

use stream_core::ErrorKind;

use crate::kit::{Ran, named, no_calls, no_text, run};

const CREATED: &str = r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#;
const SEARCH: &str = r#"{"type":"web_search_call","id":"w","status":"completed"}"#;
const CALL: &str = r#"{"type":"function_call","id":"f","call_id":"c","name":"rm","arguments":"{}"}"#;

fn added(item: &str) -> String {
    format!(r#"{{"type":"response.output_item.added","output_index":0,"item":{item}}}"#)
}

fn done(item: &str) -> String {
    format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#)
}

fn completed(item: &str) -> String {
    format!(
        r#"{{"type":"response.completed","response":{{"id":"r","object":"response","status":"completed","output":[{item}]}}}}"#
    )
}

/// A message whose text is what a call's arguments could be.
fn message() -> Vec<String> {
    let event = |event: &str| format!(r#"{{"type":"response.{event}}}"#);
    vec![
        added(r#"{"type":"message","id":"m","role":"assistant","content":[]}"#),
        event(
            r#"content_part.added","item_id":"m","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}"#,
        ),
        event(r#"output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"{}""#),
        event(r#"output_text.done","item_id":"m","output_index":0,"content_index":0,"text":"{}""#),
        event(
            r#"content_part.done","item_id":"m","output_index":0,"content_index":0,"part":{"type":"output_text","text":"{}"}"#,
        ),
    ]
}

fn events(list: &[String]) -> String {
    named(&list.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Only these events left, then the error event that closes the stream.
fn closed_after(ran: Ran, left: &[String]) {
    let error = r#"{"type":"error","code":"server_error","message":"the upstream's answer could not be read","param":null}"#;
    assert_eq!(ran.outcome.error.map(|error| error.kind()), Some(ErrorKind::CopyDisagrees));
    assert_eq!(ran.out, events(left) + &named(&[error]));
}

#[test]
fn a_message_that_is_done_as_a_call_closes_the_stream() {
    let mut before = vec![CREATED.to_owned()];
    before.extend(message());
    let body = events(&before) + &named(&[&done(CALL), &completed(CALL)]);
    closed_after(run(body, no_calls()), &before);
}

#[test]
fn a_server_tool_that_is_done_as_a_call_closes_the_stream() {
    let before = [CREATED.to_owned(), added(SEARCH)];
    let body = events(&before) + &named(&[&done(CALL), &completed(CALL)]);
    closed_after(run(body, no_calls()), &before);
}

#[test]
fn a_server_tool_that_is_listed_as_a_call_at_the_end_closes_the_stream() {
    let before = [CREATED.to_owned(), added(SEARCH), done(SEARCH)];
    let body = events(&before) + &named(&[&completed(CALL)]);
    closed_after(run(body, no_calls()), &before);
}

#[test]
fn text_that_is_restated_of_a_server_tool_closes_the_stream() {
    let before = [CREATED.to_owned(), added(SEARCH), done(SEARCH)];
    let text = r#"{"type":"response.output_text.done","item_id":"w","output_index":0,"content_index":0,"text":"secret"}"#;
    let body = events(&before) + &named(&[text, &completed(SEARCH)]);
    closed_after(run(body, no_text()), &before);
}

#[test]
fn a_call_id_that_comes_after_the_call_was_judged_closes_the_stream() {
    let item = r#"{"type":"function_call","name":"ls","arguments":"{}"}"#;
    let before = [CREATED.to_owned(), added(item), done(item)];
    let late = r#"{"type":"function_call","call_id":"c","name":"ls","arguments":"{}"}"#;
    let body = events(&before) + &named(&[&completed(late)]);
    closed_after(run(body, crate::kit::SendAll), &before);
}
