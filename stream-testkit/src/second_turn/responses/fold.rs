//! From events to output items.

use serde_json::Value;

use super::super::json::{list, text};

/// The items of the terminal event, which is what SDKs keep. Some servers leave them out there: then those of the
/// `output_item.done` events.
pub(super) fn of_stream(events: &[Value]) -> Vec<Value> {
    let terminal = events.iter().rfind(|event| {
        matches!(text(event, "type"), "response.completed" | "response.incomplete" | "response.failed")
    });
    let output = terminal.map_or(&[][..], |event| list(&event["response"], "output"));
    if !output.is_empty() {
        return output.to_vec();
    }
    let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
    done.map(|event| event["item"].clone()).collect()
}
