//! OpenAI chat: deltas of choices, a finish for each, usage, `[DONE]`.

use super::events::{Event, Events, round_robin, string};
use super::item::{Entry, Finish, Item, Packing, runs};
use super::{CREATED, MODEL, Script};

pub(super) fn stream(script: &Script) -> Events {
    let mut events = Events::new(script);
    if script.packing == Packing::AllTogether {
        all_together(script, &mut events);
    } else {
        one_by_one(script, &mut events);
    }
    let tail = events.len();
    if let Some(message) = &script.error {
        events.push(Event::new(error(message)));
    } else if !script.cut {
        if script.packing != Packing::AllTogether {
            for choice in script.choices() {
                events.push(Event::new(chunk(&delta(choice, "", Some(script.finish_of(choice))), "")));
            }
        }
        if let Some((input, output)) = script.usage {
            events.push(Event::new(chunk("", &usage(input, output))));
        }
        events.push(Event::new("[DONE]".to_owned()));
    }
    events.pause_at(tail, script.pause);
    events
}

pub(super) fn whole(script: &Script) -> String {
    if let Some(message) = &script.error {
        return error(message);
    }
    let choices: Vec<String> = script
        .choices()
        .into_iter()
        .map(|choice| {
            let said = Said::of(script.of(choice));
            let message = format!(
                "{{\"role\":\"assistant\",\"content\":{}{}}}",
                nullable(&said.content),
                said.others(false)
            );
            let finish = word(script.finish_of(choice));
            format!("{{\"index\":{choice},\"message\":{message},\"logprobs\":null,\"finish_reason\":\"{finish}\"}}")
        })
        .collect();
    let usage = script.usage.map(|(input, output)| usage(input, output)).unwrap_or_default();
    envelope("chat.completion", &choices.join(","), &usage)
}

fn one_by_one(script: &Script, events: &mut Events) {
    for choice in script.choices() {
        events.push(Event::new(chunk(&delta(choice, "\"role\":\"assistant\",\"content\":\"\"", None), "")));
    }
    let mut indices = Indices::default();
    for run in runs(&script.entries, script.packing) {
        if script.packing == Packing::CallsTogether && run.len() > 1 {
            let said = Said::starting(run, indices.of(run[0].choice, run.len()));
            let tool_calls = format!("\"tool_calls\":[{}]", said.calls.join(","));
            let mut event = Event::new(chunk(&delta(run[0].choice, &tool_calls, None), ""));
            event.pause = run.iter().map(|entry| entry.pause).sum();
            events.push(event);
            continue;
        }
        let lanes = run.iter().map(|entry| lane(script, entry, &mut indices)).collect();
        events.extend(round_robin(lanes));
    }
}

/// The chunks of one item.
fn lane(script: &Script, entry: &Entry, indices: &mut Indices) -> Vec<Event> {
    let fragments = script.fragments(&entry.item);
    let each = |key: &str| fragments.iter().map(|text| format!("\"{key}\":{}", string(text))).collect();
    let deltas: Vec<String> = match &entry.item {
        Item::Text(_) => each("content"),
        Item::Reasoning(_) => each("reasoning_content"),
        Item::Refusal(_) => each("refusal"),
        Item::Opaque { kind, json } => vec![format!("{}:{json}", string(kind))],
        Item::Call { id, name, .. } => {
            let index = indices.of(entry.choice, 1);
            let more = fragments
                .iter()
                .map(|text| format!("{{\"index\":{index},\"function\":{{\"arguments\":{}}}}}", string(text)));
            std::iter::once(call(Some(index), id, name, ""))
                .chain(more)
                .map(|call| format!("\"tool_calls\":[{call}]"))
                .collect()
        }
    };
    let chunks = deltas.iter().map(|fields| Event::new(chunk(&delta(entry.choice, fields, None), "")));
    let mut events: Vec<Event> = chunks.collect();
    if let Some(first) = events.first_mut() {
        first.pause = entry.pause;
    }
    events
}

fn all_together(script: &Script, events: &mut Events) {
    let choices: Vec<String> = script
        .choices()
        .into_iter()
        .map(|choice| {
            let said = Said::of(script.of(choice));
            let fields = format!(
                "\"role\":\"assistant\",\"content\":{}{}",
                nullable(&said.content),
                said.others(true)
            );
            let finish = (!script.cut && script.error.is_none()).then(|| script.finish_of(choice));
            delta(choice, &fields, finish)
        })
        .collect();
    let mut event = Event::new(chunk(&choices.join(","), ""));
    event.pause = script.entries.iter().map(|entry| entry.pause).sum();
    events.push(event);
}

/// All that a choice says, put together.
#[derive(Debug, Default)]
struct Said {
    content: String,
    reasoning: String,
    refusal: String,
    opaque: String,
    calls: Vec<String>,
    whole_calls: Vec<String>,
}

impl Said {
    fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        Self::starting(entries, 0)
    }

    /// With calls numbered from `index` on.
    fn starting<'a>(entries: impl IntoIterator<Item = &'a Entry>, mut index: usize) -> Self {
        let mut said = Self::default();
        for entry in entries {
            match &entry.item {
                Item::Text(text) => said.content.push_str(text),
                Item::Reasoning(text) => said.reasoning.push_str(text),
                Item::Refusal(text) => said.refusal.push_str(text),
                Item::Opaque { kind, json } => said.opaque.extend([",", &string(kind), ":", json]),
                Item::Call { id, name, arguments } => {
                    said.calls.push(call(Some(index), id, name, arguments));
                    said.whole_calls.push(call(None, id, name, arguments));
                    index += 1;
                }
            }
        }
        said
    }

    /// The fields other than the content, each preceded by a comma. Calls have an index in a delta alone.
    fn others(&self, in_delta: bool) -> String {
        let mut fields = String::new();
        for (key, text) in [("reasoning_content", &self.reasoning), ("refusal", &self.refusal)] {
            if !text.is_empty() {
                fields.push_str(&format!(",\"{key}\":{}", string(text)));
            }
        }
        fields.push_str(&self.opaque);
        let calls = if in_delta { &self.calls } else { &self.whole_calls };
        if !calls.is_empty() {
            fields.push_str(&format!(",\"tool_calls\":[{}]", calls.join(",")));
        }
        fields
    }
}

/// The next index of a call, per choice.
#[derive(Debug, Default)]
struct Indices(std::collections::BTreeMap<u32, usize>);

impl Indices {
    /// The first of the next `count` indices.
    fn of(&mut self, choice: u32, count: usize) -> usize {
        let next = self.0.entry(choice).or_default();
        *next += count;
        *next - count
    }
}

fn call(index: Option<usize>, id: &str, name: &str, arguments: &str) -> String {
    let index = index.map(|index| format!("\"index\":{index},")).unwrap_or_default();
    let (id, name, arguments) = (string(id), string(name), string(arguments));
    format!(
        "{{{index}\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}"
    )
}

fn delta(choice: u32, fields: &str, finish: Option<Finish>) -> String {
    let finish = finish.map_or("null".to_owned(), |finish| string(word(finish)));
    format!("{{\"index\":{choice},\"delta\":{{{fields}}},\"finish_reason\":{finish}}}")
}

fn chunk(choices: &str, usage: &str) -> String {
    envelope("chat.completion.chunk", choices, usage)
}

fn envelope(object: &str, choices: &str, usage: &str) -> String {
    format!(
        "{{\"id\":\"chatcmpl-1\",\"object\":\"{object}\",\"created\":{CREATED},\"model\":\"{MODEL}\",\
         \"choices\":[{choices}]{usage}}}"
    )
}

fn usage(input: u64, output: u64) -> String {
    let total = input + output;
    format!(
        ",\"usage\":{{\"prompt_tokens\":{input},\"completion_tokens\":{output},\"total_tokens\":{total}}}"
    )
}

fn error(message: &str) -> String {
    let message = string(message);
    format!("{{\"error\":{{\"message\":{message},\"type\":\"server_error\",\"param\":null,\"code\":null}}}}")
}

fn nullable(text: &str) -> String {
    if text.is_empty() { "null".to_owned() } else { string(text) }
}

fn word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::ToolCalls => "tool_calls",
        Finish::Length => "length",
        Finish::Filter => "content_filter",
    }
}
