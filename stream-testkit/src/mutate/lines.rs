//! Lines that some clients read and others do not.

use serde_json::json;

use super::Change;
use crate::WireKind;

/// What ends a line for some.
const SEPARATORS: [&str; 10] =
    ["\u{b}", "\u{c}", "\u{1c}", "\u{1d}", "\u{1e}", "\u{85}", "\u{2028}", "\u{2029}", "\r", "\n"];

/// A call on a line that is no line, no data or half of an event to somebody.
pub(super) fn change(change: &mut Change) -> Option<String> {
    let at = 1 + change.below(change.events.0.len().saturating_sub(1).max(1));
    let evil = change.evil();
    let name = change.evil_name().map(|name| format!("event: {name}\n")).unwrap_or_default();
    let how = change.below(9);
    let space = change.pick(&["\u{a0}", "\u{feff}", "\u{3000}", "\t", "\u{1f}"])?;
    let (what, text) = match how {
        0 => ("several lines of data", format!("data: {{\"x\":\ndata: {evil}\ndata: }}\n\n")),
        1 => ("lines of data, one without a blank", format!("data:{{\"x\":\ndata: {evil}\ndata:}}\n\n")),
        2 => ("a line that starts with a blank", format!("{name} data: {evil}\n\n")),
        3 => ("a line that starts with white space", format!("{name}{space}data: {evil}\n\n")),
        4 => ("a line that ends with CR alone", format!("{name}data: {evil}\r\r")),
        5 => ("bare JSON", format!("{evil}\n\n")),
        6 => ("data without a blank", format!("{name}data:{evil}\n\n")),
        7 => ("an unknown field", format!("{name}Data: {evil}\n\n")),
        _ => {
            change.events.insert_raw(0, "\u{feff}");
            return Some("a byte order mark comes first".to_owned());
        }
    };
    change.events.insert_raw(at, text);
    Some(format!("{what} with a call before event {at}"))
}

/// A call or a text behind a character that ends a line for some, in a comment, a field nobody knows, or a string.
pub(super) fn comment(change: &mut Change) -> Option<String> {
    let at = 1 + change.below(change.events.0.len().saturating_sub(1).max(1));
    let separator = change.pick(&SEPARATORS[..8])?;
    let evil = change.evil();
    let field = change.pick(&[":", ": ok", "id: 1", "retry: 1", "event: message", "x"])?;
    let text = match change.below(3) {
        0 => format!(": data: {evil}\n\n"),
        1 => {
            let events = change.events.where_data(|_| true);
            let at = change.pick(&events)?;
            let said = format!("{separator}data: {evil}{separator}");
            change.events.data(at)?.as_object_mut()?.insert("note".to_owned(), json!(said));
            return Some(format!("a string of event {at} holds {separator:?} and a call"));
        }
        _ => {
            let name = change.evil_name().map(|name| format!("{separator}event: {name}")).unwrap_or_default();
            format!("{field}{name}{separator}data: {evil}{separator}{separator}\n\n")
        }
    };
    change.events.insert_raw(at, text);
    Some(format!("{field:?}, {separator:?} and a call before event {at}"))
}

/// An `event:` line that is missing, or says something else than the data.
pub(super) fn event_line(change: &mut Change) -> Option<String> {
    let events = change.events.where_data(|_| true);
    let at = change.pick(&events)?;
    let names = ["ping", "error", "message", "content_block_stop", "response.created", "done", ""];
    let name = change.pick(&names)?;
    let event = change.events.0.get_mut(at)?;
    event.mark();
    if name.is_empty() && event.name.is_none() {
        return None;
    }
    event.name = Some(name.to_owned()).filter(|name| !name.is_empty());
    let has = matches!(change.kind, WireKind::OpenAiResponses | WireKind::AnthropicMessages);
    Some(format!("event {at} has the name {name:?}{}", if has { "" } else { ", where it has none" }))
}
