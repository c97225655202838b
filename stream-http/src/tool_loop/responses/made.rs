//! A text of the loop's own: a message with one part.

use super::super::json::quote;

/// The message as it stands in `output`; without text it has no part yet.
pub(super) fn message(number: u64, status: &str, text: &str) -> String {
    let content = if text.is_empty() { String::new() } else { part(text) };
    let id = id(number);
    format!(
        r#"{{"id":"{id}","type":"message","status":"{status}","content":[{content}],"role":"assistant"}}"#
    )
}

/// The events that say it, each with its name; `sequence_number` is the caller's.
pub(super) fn events(number: u64, text: &str) -> Vec<(&'static str, String)> {
    let item = |item: String| format!(r#","output_index":{number},"item":{item}"#);
    let at = format!(r#","item_id":"{}","output_index":{number},"content_index":0"#, id(number));
    let (empty, whole, quoted) = (part(""), part(text), quote(text));
    vec![
        ("response.output_item.added", item(message(number, "in_progress", ""))),
        ("response.content_part.added", format!(r#"{at},"part":{empty}"#)),
        ("response.output_text.delta", format!(r#"{at},"delta":{quoted},"logprobs":[]"#)),
        ("response.output_text.done", format!(r#"{at},"text":{quoted},"logprobs":[]"#)),
        ("response.content_part.done", format!(r#"{at},"part":{whole}"#)),
        ("response.output_item.done", item(message(number, "completed", text))),
    ]
}

fn id(number: u64) -> String {
    format!("msg_loop_{number}")
}

fn part(text: &str) -> String {
    let text = quote(text);
    format!(r#"{{"type":"output_text","annotations":[],"logprobs":[],"text":{text}}}"#)
}
