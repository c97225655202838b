//! OpenAI Responses: numbered items and parts, every value said again when it is done and in the last event.

use super::events::{Event, Events, members, round_robin, string};
use super::item::{Entry, Finish, Item, runs};
use super::{CREATED, MODEL, Script};

pub(super) fn stream(script: &Script) -> Events {
    let mut events = Events::new(script);
    let mut sequence = Sequence::default();
    for name in ["response.created", "response.in_progress"] {
        let opening = response("in_progress", "null", "null", "", "null");
        events.push(sequence.number(Step::new(name, format!(",\"response\":{opening}"))));
    }
    let entries: Vec<Entry> = script.of(0).cloned().collect();
    let mut index = 0;
    for run in runs(&entries, script.packing) {
        let mut lanes = Vec::new();
        for entry in run {
            let open = script.cut && index + 1 == entries.len();
            lanes.push(lane(script, entry, index, open));
            index += 1;
        }
        let start = events.len();
        events.extend(round_robin(lanes).into_iter().map(|step| sequence.number(step)));
        events.pause_at(start, run.iter().map(|entry| entry.pause).sum());
    }
    let tail = events.len();
    events.extend(ending(script).into_iter().map(|step| sequence.number(step)));
    events.pause_at(tail, script.pause);
    events
}

pub(super) fn whole(script: &Script) -> String {
    let Some(message) = &script.error else { return finished(script).1 };
    let message = string(message);
    format!("{{\"error\":{{\"message\":{message},\"type\":\"server_error\",\"param\":null,\"code\":null}}}}")
}

/// An event that has no number yet.
#[derive(Debug)]
struct Step {
    name: String,
    fields: String,
}

impl Step {
    fn new(name: &str, fields: String) -> Self {
        Self { name: name.to_owned(), fields }
    }
}

/// Gives events their `sequence_number`, as they leave.
#[derive(Debug, Default)]
struct Sequence(u64);

impl Sequence {
    fn number(&mut self, step: Step) -> Event {
        let Step { name, fields } = step;
        let number = self.0;
        self.0 += 1;
        let data = format!("{{\"type\":\"{name}\",\"sequence_number\":{number}{fields}}}");
        Event::named(&name, data)
    }
}

/// The events of one item. One that stays open has no `done` of any kind.
fn lane(script: &Script, entry: &Entry, index: usize, open: bool) -> Vec<Step> {
    let item = &entry.item;
    let id = string(&item_id(item, index));
    let place = format!(",\"item_id\":{id},\"output_index\":{index}");
    let around = |name: &str, filled: bool| {
        Step::new(name, format!(",\"output_index\":{index},\"item\":{}", output_item(item, index, filled)))
    };
    let mut steps = vec![around("response.output_item.added", false)];
    let mut done = Vec::new();
    if let Some(Part { kind, number, name, key, text, logprobs }) = Part::of(item) {
        let place = format!("{place}{number}");
        if let Some(kind) = kind {
            let part = |text: &str| format!("{place},\"part\":{}", part_json(item, text));
            steps.push(Step::new(&format!("{kind}.added"), part("")));
            done.push(Step::new(&format!("{kind}.done"), part(text)));
        }
        for fragment in script.fragments(item) {
            let fields = format!("{place},\"delta\":{}{logprobs}", string(fragment));
            steps.push(Step::new(&format!("{name}.delta"), fields));
        }
        let fields = format!("{place},\"{key}\":{}{logprobs}", string(text));
        done.insert(0, Step::new(&format!("{name}.done"), fields));
    }
    done.push(around("response.output_item.done", true));
    if !open {
        steps.extend(done);
    }
    steps
}

/// How an item that has text or arguments streams them.
#[derive(Debug)]
struct Part<'a> {
    /// What the events around a part are called, for items that have parts.
    kind: Option<&'static str>,
    number: &'static str,
    name: &'static str,
    /// The key of the whole text in the `done` event.
    key: &'static str,
    text: &'a str,
    logprobs: &'static str,
}

impl<'a> Part<'a> {
    fn of(item: &'a Item) -> Option<Self> {
        let content = Some("response.content_part");
        let number = ",\"content_index\":0";
        Some(match item {
            Item::Text(text) => Self {
                kind: content,
                number,
                name: "response.output_text",
                key: "text",
                text,
                logprobs: ",\"logprobs\":[]",
            },
            Item::Refusal(text) => {
                Self { kind: content, number, name: "response.refusal", key: "refusal", text, logprobs: "" }
            }
            Item::Reasoning(text) => Self {
                kind: Some("response.reasoning_summary_part"),
                number: ",\"summary_index\":0",
                name: "response.reasoning_summary_text",
                key: "text",
                text,
                logprobs: "",
            },
            Item::Call { arguments, .. } => Self {
                kind: None,
                number: "",
                name: "response.function_call_arguments",
                key: "arguments",
                text: arguments,
                logprobs: "",
            },
            Item::Opaque { .. } => return None,
        })
    }
}

fn part_json(item: &Item, text: &str) -> String {
    let text = string(text);
    match item {
        Item::Refusal(_) => format!("{{\"type\":\"refusal\",\"refusal\":{text}}}"),
        Item::Reasoning(_) => format!("{{\"type\":\"summary_text\",\"text\":{text}}}"),
        _ => format!("{{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":{text}}}"),
    }
}

/// An output item, empty as it opens or filled.
fn output_item(item: &Item, index: usize, filled: bool) -> String {
    let id = string(&item_id(item, index));
    let status = if filled { "completed" } else { "in_progress" };
    let part = |text: &str| if filled { part_json(item, text) } else { String::new() };
    match item {
        Item::Text(text) | Item::Refusal(text) => format!(
            "{{\"id\":{id},\"type\":\"message\",\"status\":\"{status}\",\"content\":[{}],\"role\":\"assistant\"}}",
            part(text)
        ),
        Item::Reasoning(text) => {
            format!("{{\"id\":{id},\"type\":\"reasoning\",\"summary\":[{}]}}", part(text))
        }
        Item::Call { id: call_id, name, arguments } => {
            let arguments = string(if filled { arguments } else { "" });
            let (call_id, name) = (string(call_id), string(name));
            format!(
                "{{\"id\":{id},\"type\":\"function_call\",\"status\":\"{status}\",\"arguments\":{arguments},\
                 \"call_id\":{call_id},\"name\":{name}}}"
            )
        }
        Item::Opaque { kind, json } => format!("{{\"id\":{id},\"type\":{}{}}}", string(kind), members(json)),
    }
}

fn item_id(item: &Item, index: usize) -> String {
    let prefix = match item {
        Item::Text(_) | Item::Refusal(_) => "msg",
        Item::Reasoning(_) => "rs",
        Item::Call { .. } => "fc",
        Item::Opaque { .. } => "item",
    };
    format!("{prefix}_{index}")
}

/// What follows the items.
fn ending(script: &Script) -> Vec<Step> {
    if let Some(message) = &script.error {
        let message = string(message);
        let error = format!(",\"code\":\"server_error\",\"message\":{message},\"param\":null");
        let reason = format!("{{\"code\":\"server_error\",\"message\":{message}}}");
        let failed = response("failed", &reason, "null", "", "null");
        return vec![
            Step::new("error", error),
            Step::new("response.failed", format!(",\"response\":{failed}")),
        ];
    }
    if script.cut {
        return Vec::new();
    }
    let (name, response) = finished(script);
    vec![Step::new(name, format!(",\"response\":{response}"))]
}

/// The last event's name, and the whole response it holds.
fn finished(script: &Script) -> (&'static str, String) {
    let items: Vec<String> =
        script.of(0).enumerate().map(|(index, entry)| output_item(&entry.item, index, true)).collect();
    let usage = script.usage.map_or("null".to_owned(), |(input, output)| {
        let total = input + output;
        format!("{{\"input_tokens\":{input},\"output_tokens\":{output},\"total_tokens\":{total}}}")
    });
    let incomplete = |reason: &str| {
        let details = format!("{{\"reason\":\"{reason}\"}}");
        ("response.incomplete", response("incomplete", "null", &details, &items.join(","), &usage))
    };
    match script.finish_of(0) {
        Finish::Stop | Finish::ToolCalls => {
            ("response.completed", response("completed", "null", "null", &items.join(","), &usage))
        }
        Finish::Length => incomplete("max_output_tokens"),
        Finish::Filter => incomplete("content_filter"),
    }
}

fn response(status: &str, error: &str, incomplete: &str, output: &str, usage: &str) -> String {
    format!(
        "{{\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":{CREATED},\"status\":\"{status}\",\
         \"error\":{error},\"incomplete_details\":{incomplete},\"model\":\"{MODEL}\",\"output\":[{output}],\
         \"usage\":{usage}}}"
    )
}
