//! Reading content blocks: as an event opens them, and whole.

use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Runs, Slot, Text};
use crate::wire::document::{Value, is_void};
use crate::wire::{DecodeError, Decoded};

use super::kinds::{SERVER_TOOLS, is_result, runs};
use super::normal;

/// The choice of every block: a message has only one.
pub(super) const CHOICE: u32 = 0;

/// Reads the `content_block` of a `content_block_start`.
pub(super) fn opened(block: Value<'_>, index: u32, into: &mut Decoded) -> Result<(), DecodeError> {
    read(block, index, BlockForm::Opened, into)
}

/// Reads a block that stands whole in a message's `content`, its end included.
pub(super) fn whole(block: Value<'_>, position: usize, into: &mut Decoded) -> Result<(), DecodeError> {
    let index = u32::try_from(position).unwrap_or(u32::MAX);
    read(block.expect_object("content[]")?, index, BlockForm::Whole, into)?;
    into.deltas.push(Delta::new(CHOICE, Slot::item(index), DeltaKind::Stop).at(block.span()));
    Ok(())
}

/// Whether the deltas of a block follow, or the block is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockForm {
    Opened,
    Whole,
}

fn read(block: Value<'_>, index: u32, form: BlockForm, into: &mut Decoded) -> Result<(), DecodeError> {
    let kind = block.word("type");
    into.mark(normal::block_oddness(kind.as_deref(), block));
    let says = |kind| Delta::new(CHOICE, Slot::item(index), kind).at(block.span());
    let mut push = |kind| into.deltas.push(says(kind));
    match kind.as_deref() {
        Some("text") => {
            push(DeltaKind::Start { channel: Channel::Content });
            if let Some(text) = block.filled("text")? {
                push(DeltaKind::Text { channel: Channel::Content, text });
            }
            let is_cited = |list: Value<'_>| !is_void(list.raw()) || list.raw().starts_with('{');
            if block.get("citations").is_some_and(is_cited) {
                push(DeltaKind::Annotation { ahead: false });
            }
        }
        // A signature in the block needs no delta: the start of a thinking block is always written (rule 22).
        Some("thinking") => {
            push(DeltaKind::Start { channel: Channel::Reasoning });
            if let Some(text) = block.filled("thinking")? {
                push(DeltaKind::Text { channel: Channel::Reasoning, text });
            }
        }
        Some("tool_use") => push(DeltaKind::Call(call(block, form)?)),
        other => {
            let kind = other.unwrap_or("unknown");
            let bytes = block.raw().len();
            let name = block.word("name").filter(|name| !name.is_empty() && !is_result(kind));
            let runs = match (kind, name.as_deref()) {
                // Some clients treat the block as a call of their own.
                ("server_tool_use", Some(name)) if !SERVER_TOOLS.contains(&name) => Runs::Unknown,
                _ => runs(kind),
            };
            let mut opening = says(DeltaKind::Opaque { kind: kind.into(), runs, bytes });
            opening.site.opens = true;
            into.deltas.push(opening);
            if let Some(name) = name {
                let input = block.get("input").map(Value::raw).filter(|input| !is_empty_input(input));
                let call = CallDelta {
                    name: Some(name.into()),
                    arguments: input.map(Text::from),
                    ..CallDelta::default()
                };
                into.deltas.push(says(DeltaKind::Call(call)));
            }
        }
    }
    Ok(())
}

fn call(block: Value<'_>, form: BlockForm) -> Result<CallDelta, DecodeError> {
    let input = block.get("input").map(Value::raw);
    Ok(CallDelta {
        id: block.id("id")?,
        name: block.filled("name")?,
        arguments: match form {
            BlockForm::Opened => input.filter(|input| !is_empty_input(input)),
            BlockForm::Whole => input,
        }
        .map(Text::from),
        starts: true,
        ..CallDelta::default()
    })
}

/// Whether the `input` of a call that opens is the usual placeholder, which the events to come replace.
pub(super) fn is_empty_input(input: &str) -> bool {
    input == r#""""# || (is_void(input) && !input.starts_with('['))
}
