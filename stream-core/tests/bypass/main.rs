//! Ways around a policy that were found by attack, each closed: what is held, dropped or not judged stays back whatever
//! the upstream writes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../kit/mod.rs"]
mod kit;

mod annotations;
mod fold;
mod restated;
mod spelling;
mod stray;
mod twice;
mod verdicts;

/// A chat chunk of the first choice.
fn chat(delta: &str) -> String {
    kit::data(&format!(r#"{{"id":"c","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#))
}

/// The end of a chat stream.
fn chat_end(reason: &str) -> String {
    let finish = format!(r#"{{"id":"c","choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
    kit::data(&finish) + "data: [DONE]\n\n"
}

/// A chat call, whole in one chunk.
fn chat_call(name: &str) -> String {
    chat(&format!(
        r#"{{"tool_calls":[{{"index":0,"id":"a","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}]}}"#
    ))
}
