//! Numbers that count, in other spellings or with other values.

use serde_json::Value;

use super::Change;
use super::events::raw;
use crate::WireKind;

/// One index of one event gets another spelling of itself or of its neighbour, or none.
pub(super) fn change(change: &mut Change) -> Option<String> {
    let keys: &[&str] = match change.kind {
        WireKind::OpenAiChat | WireKind::AnthropicMessages | WireKind::Gemini => &["index"],
        WireKind::OpenAiResponses => &["output_index", "content_index", "summary_index"],
    };
    let places: Vec<(usize, String)> =
        keys.iter().flat_map(|key| change.events.having(key, Value::is_number)).collect();
    let at = change.below(places.len());
    let (event, pointer) = places.get(at)?.clone();
    let is = change.events.value(event, &pointer)?.as_u64().unwrap_or_default();
    let (up, down) = (is + 1, is.saturating_sub(1));
    let spellings = [
        format!("{is}.0"),
        format!("{is}e0"),
        format!("\"{is}\""),
        "-0".to_owned(),
        "0.0".to_owned(),
        "false".to_owned(),
        "true".to_owned(),
        "null".to_owned(),
        "-1".to_owned(),
        format!("{up}"),
        format!("{up}.0"),
        format!("{down}"),
        format!("{down}.0"),
        format!("{is}.5"),
        "18446744073709551616".to_owned(),
        format!("\"{down}\""),
    ];
    let spelling = &spellings[change.draws.draw().below(spellings.len())];
    *change.events.value(event, &pointer)? = raw(spelling);
    Some(format!("{pointer} of event {event} is {spelling} in place of {is}"))
}
