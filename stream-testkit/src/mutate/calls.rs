//! Ids and names of calls that disagree.

use serde_json::{Value, json};

use super::Change;
use crate::WireKind;

/// An id on a delta of another call, a new one in the midst of a call, one for two calls, or none.
pub(super) fn change_id(change: &mut Change) -> Option<String> {
    if change.kind == WireKind::OpenAiChat {
        let parts = change.events.having("function", Value::is_object);
        let at = change.below(parts.len());
        let (event, pointer) = parts.get(at)?.clone();
        let part = pointer.strip_suffix("/function")?.to_owned();
        let ids: Vec<Value> = change
            .events
            .having("id", Value::is_string)
            .iter()
            .filter(|(_, pointer)| pointer.contains("tool_calls"))
            .filter_map(|(event, pointer)| change.events.0[*event].data.as_ref()?.pointer(pointer).cloned())
            .collect();
        let mut candidates = vec![json!("new_id"), json!(""), json!("null"), Value::Null, json!(7)];
        candidates.extend(ids);
        let id = candidates[change.draws.draw().below(candidates.len())].clone();
        let what = format!("the part {part} of event {event} has the id {id}");
        change.events.value(event, &part)?.as_object_mut()?.insert("id".to_owned(), id);
        return Some(what);
    }
    let keys: &[&str] = match change.kind {
        WireKind::OpenAiResponses => &["item_id", "id", "call_id"],
        _ => &["id"],
    };
    let key = change.pick(keys)?;
    let places = change.events.having(key, Value::is_string);
    let values: Vec<Value> = places
        .iter()
        .filter_map(|(event, pointer)| change.events.0[*event].data.as_ref()?.pointer(pointer).cloned())
        .collect();
    let at = change.below(places.len());
    let (event, pointer) = places.get(at)?.clone();
    let mut candidates = vec![json!("new_id"), json!(""), Value::Null];
    candidates.extend(values);
    let id = candidates[change.draws.draw().below(candidates.len())].clone();
    let what = format!("{pointer} of event {event} is {id}");
    *change.events.value(event, &pointer)? = id;
    Some(what)
}

/// A name again, in two pieces, behind the arguments, or another one in a copy.
pub(super) fn change_name(change: &mut Change) -> Option<String> {
    let how = change.below(4);
    let named = change.events.having("name", |name| name.as_str().is_some_and(|name| !name.is_empty()));
    let at = change.below(named.len());
    let (event, pointer) = named.get(at)?.clone();
    let name = change.events.value(event, &pointer)?.as_str()?.to_owned();
    if how == 0 || change.kind != WireKind::OpenAiChat {
        let other = change.pick(&["rm", "", "Rm", " rm", "r\u{0}m"])?;
        *change.events.value(event, &pointer)? = json!(other);
        return Some(format!("{pointer} of event {event} is {other:?} in place of {name:?}"));
    }
    let parts: Vec<(usize, String)> = change
        .events
        .having("function", Value::is_object)
        .into_iter()
        .filter(|(at, _)| *at >= event)
        .collect();
    let at = change.below(parts.len());
    let (later, part) = parts.get(at)?.clone();
    let (first, second) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    match how {
        1 => {
            change.events.value(later, &part)?.as_object_mut()?.insert("name".to_owned(), json!("rm"));
            Some(format!("the name \"rm\" comes in event {later} for {name:?}"))
        }
        2 if later != event => {
            *change.events.value(event, &pointer)? = json!(first);
            change.events.value(later, &part)?.as_object_mut()?.insert("name".to_owned(), json!(second));
            Some(format!("{name:?} comes as {first:?} and, in event {later}, {second:?}"))
        }
        _ => {
            *change.events.value(event, &pointer)? = json!("");
            change.events.value(later, &part)?.as_object_mut()?.insert("name".to_owned(), json!(name));
            Some(format!("{name:?} comes late, in event {later}"))
        }
    }
}
