//! Gemini: parts of candidates, calls always whole, the finish on the last chunk.

use super::events::{Event, Events, round_robin, string, value};
use super::item::{Entry, Finish, Item, Packing, runs};
use super::{MODEL, Script};

pub(super) fn stream(script: &Script) -> Events {
    let mut events = Events::new(script);
    let finishes = !script.cut && script.error.is_none();
    if script.packing == Packing::AllTogether {
        let usage = if finishes { usage(script) } else { String::new() };
        let mut event = Event::new(response(&all(script, finishes), &usage));
        event.pause = script.entries.iter().map(|entry| entry.pause).sum();
        events.push(event);
    } else {
        for run in runs(&script.entries, script.packing) {
            if script.packing == Packing::CallsTogether && run.len() > 1 {
                let parts: Vec<String> = run.iter().flat_map(|entry| parts(script, &entry.item)).collect();
                events.extend(lane(run, vec![parts.join(",")]));
            } else {
                let alone = |entry: &Entry| lane(std::slice::from_ref(entry), parts(script, &entry.item));
                events.extend(round_robin(run.iter().map(alone).collect()));
            }
        }
    }
    let tail = events.len();
    if let Some(message) = &script.error {
        events.push(Event::new(error(message)));
    } else if finishes && script.packing != Packing::AllTogether {
        let ends = |choice| candidate(choice, "{\"text\":\"\"}", Some(script.finish_of(choice)));
        let candidates: Vec<String> = script.choices().into_iter().map(ends).collect();
        events.push(Event::new(response(&candidates.join(","), &usage(script))));
    }
    events.pause_at(tail, script.pause);
    events
}

pub(super) fn whole(script: &Script) -> String {
    match &script.error {
        Some(message) => error(message),
        None => response(&all(script, true), &usage(script)),
    }
}

/// One chunk for each of the parts, the first after the pauses of the entries.
fn lane(entries: &[Entry], parts: Vec<String>) -> Vec<Event> {
    let chunk = |part: String| Event::new(response(&candidate(entries[0].choice, &part, None), ""));
    let mut events: Vec<Event> = parts.into_iter().map(chunk).collect();
    if let Some(first) = events.first_mut() {
        first.pause = entries.iter().map(|entry| entry.pause).sum();
    }
    events
}

/// The parts of an item as they are streamed.
fn parts(script: &Script, item: &Item) -> Vec<String> {
    match item {
        Item::Text(_) | Item::Refusal(_) | Item::Reasoning(_) => {
            let thought = matches!(item, Item::Reasoning(_));
            script.fragments(item).into_iter().map(|text| text_part(text, thought)).collect()
        }
        Item::Call { .. } | Item::Opaque { .. } => vec![part(item)],
    }
}

/// An item in one part.
fn part(item: &Item) -> String {
    match item {
        // The format has no refusal but the finish reason.
        Item::Text(text) | Item::Refusal(text) => text_part(text, false),
        Item::Reasoning(text) => text_part(text, true),
        Item::Call { id, name, arguments } => {
            let id = if id.is_empty() { String::new() } else { format!("\"id\":{},", string(id)) };
            format!("{{\"functionCall\":{{{id}\"name\":{},\"args\":{}}}}}", string(name), value(arguments))
        }
        Item::Opaque { kind, json } => format!("{{{}:{json}}}", string(kind)),
    }
}

fn text_part(text: &str, thought: bool) -> String {
    let thought = if thought { ",\"thought\":true" } else { "" };
    format!("{{\"text\":{}{thought}}}", string(text))
}

/// All candidates with all their parts.
fn all(script: &Script, finishes: bool) -> String {
    let whole = |choice| {
        let parts: Vec<String> = script.of(choice).map(|entry| part(&entry.item)).collect();
        candidate(choice, &parts.join(","), finishes.then(|| script.finish_of(choice)))
    };
    script.choices().into_iter().map(whole).collect::<Vec<_>>().join(",")
}

fn candidate(index: u32, parts: &str, finish: Option<Finish>) -> String {
    let finish = finish.map(|finish| format!("\"finishReason\":\"{}\",", word(finish))).unwrap_or_default();
    format!("{{\"content\":{{\"parts\":[{parts}],\"role\":\"model\"}},{finish}\"index\":{index}}}")
}

fn response(candidates: &str, usage: &str) -> String {
    format!("{{\"candidates\":[{candidates}]{usage},\"modelVersion\":\"{MODEL}\",\"responseId\":\"resp-1\"}}")
}

fn usage(script: &Script) -> String {
    let Some((input, output)) = script.usage else { return String::new() };
    let total = input + output;
    format!(
        ",\"usageMetadata\":{{\"promptTokenCount\":{input},\"candidatesTokenCount\":{output},\
         \"totalTokenCount\":{total}}}"
    )
}

fn error(message: &str) -> String {
    format!("{{\"error\":{{\"code\":500,\"message\":{},\"status\":\"INTERNAL\"}}}}", string(message))
}

fn word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::ToolCalls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Filter => "SAFETY",
    }
}
