//! Clients of Messages.

use serde_json::Value;

use super::keys;
use super::lines::Sse;
use super::reading::{Call, Reading, Said};

/// The official SDKs: `content_block_start` appends to the content of `message_start`, and `index` is a position in that list. Events
/// without an `event:` line are ignored.
pub(super) fn appended(events: &[Sse]) -> Reading {
    let mut message = Message::default();
    read(events.iter().filter(|event| event.name.is_some()), &mut message, |message, event| {
        match text(event, "type") {
            "message_start" if message.started => return Err("a second message_start".to_owned()),
            "message_start" => message.start(event),
            _ if !message.started => return Err("an event before message_start".to_owned()),
            "content_block_start" => message.blocks.push(Block::of(&event["content_block"])),
            "content_block_delta" => {
                let at = keys::position(event.get("index"), message.blocks.len())?;
                let Some(block) = message.blocks.get_mut(at) else {
                    return Err("list index out of range".to_owned());
                };
                block.add(&event["delta"]);
            }
            _ => {}
        }
        Ok(())
    })
}

/// Loops that keep blocks by `index`, over the SDK's events.
pub(super) fn by_index(events: &[Sse]) -> Reading {
    let mut message = Message::default();
    read(events.iter().filter(|event| event.name.is_some()), &mut message, indexed)
}

/// Programs that keep blocks by `index`, and read the `type` in the data alone.
pub(super) fn by_index_unnamed(events: &[Sse]) -> Reading {
    let mut message = Message::default();
    read(events.iter(), &mut message, indexed)
}

/// Vercel's `ai`: a block replaces an earlier block of the same `index`, and is emitted when it stops. The `event:` line is not read.
pub(super) fn when_stopped(events: &[Sse]) -> Reading {
    let nameless: Vec<Sse> = events.iter().map(|event| Sse { name: None, ..event.clone() }).collect();
    let mut message = Message::default();
    let mut open: Vec<Block> = Vec::new();
    let mut reading = read(nameless.iter(), &mut message, |message, event| {
        let key = keys::javascript(event.get("index"));
        let at = open.iter().position(|block| block.key == key);
        match text(event, "type") {
            "message_start" => message.start(event),
            "content_block_start" => {
                let block = Block { key, ..Block::of(&event["content_block"]) };
                match at {
                    Some(at) => open[at] = block,
                    None => open.push(block),
                }
            }
            "content_block_delta" => {
                if let Some(at) = at {
                    open[at].add(&event["delta"]);
                }
            }
            "content_block_stop" => message.blocks.extend(at.map(|at| open.remove(at))),
            _ => {}
        }
        Ok(())
    });
    // Texts are emitted at every delta.
    open.iter().filter_map(Block::said).for_each(|said| reading.say(said));
    reading
}

fn indexed(message: &mut Message, event: &Value) -> Result<(), String> {
    match text(event, "type") {
        "message_start" => message.start(event),
        "content_block_start" => {
            let key = keys::javascript(event.get("index"));
            let block = Block { key, ..Block::of(&event["content_block"]) };
            // An earlier block of this index cannot be continued any more; the block was emitted when it stopped.
            if let Some(old) = message.blocks.iter_mut().find(|old| old.key == block.key) {
                old.key = format!("was {}", old.key);
            }
            message.blocks.push(block);
        }
        "content_block_delta" => {
            let key = keys::javascript(event.get("index"));
            if let Some(block) = message.blocks.iter_mut().find(|block| block.key == key) {
                block.add(&event["delta"]);
            }
        }
        _ => {}
    }
    Ok(())
}

/// litellm: deltas belong to the call that opened last, and a tool that the provider runs is a call like any other.
pub(super) fn last_opened(events: &[Sse]) -> Reading {
    let mut message = Message { server_calls: true, ..Message::default() };
    read(events.iter(), &mut message, |message, event| {
        match text(event, "type") {
            "content_block_start" => message.blocks.push(Block::of(&event["content_block"])),
            "content_block_delta" => {
                let delta = &event["delta"];
                let is_input = text(delta, "type") == "input_json_delta";
                let fits = |block: &&mut Block| !is_input || block.is_call(true);
                if let Some(block) = message.blocks.iter_mut().rev().find(fits) {
                    block.add(delta);
                }
            }
            _ => {}
        }
        Ok(())
    })
}

fn read<'a>(
    events: impl Iterator<Item = &'a Sse>,
    message: &mut Message,
    mut each: impl FnMut(&mut Message, &Value) -> Result<(), String>,
) -> Reading {
    let mut reading = Reading::default();
    for event in events {
        if event.name.as_deref() == Some("error") {
            reading.raised = Some(event.data.clone());
            break;
        }
        if event.name.as_deref() == Some("ping") || event.data.starts_with("[DONE]") {
            continue;
        }
        let Ok(value) = serde_json::from_str::<Value>(&event.data) else {
            reading.raised = Some(format!("expected JSON, found {:?}", event.data));
            break;
        };
        if text(&value, "type") == "error" {
            reading.raised = Some(value.to_string());
            break;
        }
        if let Err(why) = each(message, &value) {
            reading.raised = Some(why);
            break;
        }
    }
    message.tell(&mut reading);
    reading
}

/// The content of a message that is being built.
#[derive(Default)]
pub(super) struct Message {
    started: bool,
    blocks: Vec<Block>,
    server_calls: bool,
}

impl Message {
    fn start(&mut self, event: &Value) {
        self.started = true;
        self.content(&event["message"]["content"]);
    }

    /// The blocks of a whole message.
    pub(super) fn content(&mut self, content: &Value) {
        self.blocks.extend(content.as_array().into_iter().flatten().map(Block::of));
    }

    pub(super) fn tell(&mut self, reading: &mut Reading) {
        let blocks = std::mem::take(&mut self.blocks);
        reading.say_blocks(blocks.iter().filter_map(Block::said));
        for block in &blocks {
            if block.is_call(self.server_calls) {
                // A call without a name cannot be run.
                if reading.raised.is_none() && !text(&block.start, "name").is_empty() {
                    reading.calls.push(Call::function(text(&block.start, "name"), block.input()));
                }
            } else if block.said().is_none() {
                reading.say(Said::Other(block.json.clone()));
                reading.say_strings(&block.start);
            }
            reading.say_strings(&block.start["citations"]);
        }
    }
}

#[derive(Default)]
struct Block {
    key: String,
    start: Value,
    text: String,
    json: String,
}

impl Block {
    fn of(start: &Value) -> Self {
        let said = match text(start, "type") {
            "thinking" => text(start, "thinking"),
            _ => text(start, "text"),
        };
        Self { key: String::new(), start: start.clone(), text: said.to_owned(), json: String::new() }
    }

    fn add(&mut self, delta: &Value) {
        match (text(delta, "type"), text(&self.start, "type")) {
            ("text_delta", "text") => self.text.push_str(text(delta, "text")),
            ("thinking_delta", "thinking") => self.text.push_str(text(delta, "thinking")),
            ("input_json_delta", _) => self.json.push_str(text(delta, "partial_json")),
            _ => {}
        }
    }

    fn is_call(&self, server_calls: bool) -> bool {
        match text(&self.start, "type") {
            "tool_use" => true,
            "server_tool_use" => server_calls,
            _ => false,
        }
    }

    fn input(&self) -> String {
        if !self.json.is_empty() {
            return self.json.clone();
        }
        self.start.get("input").map(Value::to_string).unwrap_or_default()
    }

    fn said(&self) -> Option<Said> {
        match text(&self.start, "type") {
            "text" => Some(Said::Content(self.text.clone())),
            "thinking" => Some(Said::Reasoning(self.text.clone())),
            _ => None,
        }
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
