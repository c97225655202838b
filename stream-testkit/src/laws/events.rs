//! The events of a stream, as far as the laws look into them.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde_json::Value;
use stream_core::sse::Frame;

use crate::log::frames;

/// The raw bytes of each event.
pub(super) fn of(body: &[u8]) -> Vec<Bytes> {
    frames(body).map(|frame| frame.raw().clone()).collect()
}

/// The data of each event that is JSON.
pub(super) fn json(body: &[u8]) -> impl Iterator<Item = Value> {
    frames(body).filter_map(|frame| value(&frame))
}

pub(super) fn value(frame: &Frame) -> Option<Value> {
    serde_json::from_slice(&frame.data()?).ok()
}

/// The stream without keep-alives, and with the events of different choices in one order: other choices may pass a
/// held one, and events of several choices or none wait for all (rule 11).
pub(super) fn settled(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut lanes: Vec<(u64, Frame)> = Vec::new();
    let mut flush = |lanes: &mut Vec<(u64, Frame)>, next: Option<&Frame>| {
        lanes.sort_by_key(|(choice, _)| *choice);
        lanes.drain(..).for_each(|(_, frame)| out.extend_from_slice(frame.raw()));
        out.extend(next.iter().flat_map(|frame| frame.raw().iter()));
    };
    for frame in frames(body).filter(|frame| !is_keep_alive(frame.raw())) {
        match only_choice(&frame) {
            Some(choice) => lanes.push((choice, frame)),
            None => flush(&mut lanes, Some(&frame)),
        }
    }
    flush(&mut lanes, None);
    out
}

/// How many keep-alives are in a stream.
pub(super) fn keep_alives(body: &[u8]) -> usize {
    frames(body).filter(|frame| is_keep_alive(frame.raw())).count()
}

/// The bytes of rule 23's keep-alives, as stream-core writes them.
pub(super) fn is_keep_alive(event: &[u8]) -> bool {
    matches!(event, b": keep-alive\n\n" | b"event: ping\ndata: {\"type\": \"ping\"}\n\n" | b"\n" | b"\r\n")
}

/// The one choice or candidate an event is about.
fn only_choice(frame: &Frame) -> Option<u64> {
    let value = value(frame)?;
    let list = value.get("choices").or_else(|| value.get("candidates"))?.as_array()?;
    let index = |choice: &Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0);
    let choices: BTreeSet<u64> = list.iter().map(index).collect();
    let only = choices.first().copied()?;
    let alone = value.get("usage").is_none_or(Value::is_null) && value.get("usageMetadata").is_none();
    (choices.len() == 1 && alone).then_some(only)
}
