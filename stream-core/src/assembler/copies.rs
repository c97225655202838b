//! Copies: a copy in a later event has to agree with the folded block (rule 19).

use crate::assembler::fold::block_too_long;
use crate::block::{BlockStatus, StreamBlock};
use crate::delta::{CallFlavor, Restated};
use crate::error::{Error, ErrorKind};

/// Compares a copy with its block. The copy is the payload of an open block without any, and is marked as the first.
pub(crate) fn check(
    block: &mut StreamBlock,
    copy: &mut Restated,
    keep: bool,
    limit: usize,
) -> Result<(), Error> {
    let key = block.key();
    let is_of_kind = match block {
        StreamBlock::ToolCall(_) => true,
        // An opaque block has its kind in place of a name, and no text. The name of a function may be the same word.
        StreamBlock::Opaque(known) => {
            let is_kind = copy.name.as_ref().is_some_and(|kind| *kind == known.kind);
            is_kind && copy.flavor == CallFlavor::Builtin
        }
        _ => copy.name.is_none(),
    };
    if !is_of_kind {
        return Err(disagrees(key, "kind"));
    }
    if let StreamBlock::ToolCall(call) = block {
        if let Some(name) = &copy.name {
            if call.name.is_empty() && call.head.status == BlockStatus::Open {
                call.name = name.clone();
            } else if call.name != *name {
                return Err(disagrees(key, "name"));
            }
        }
        match (&call.id, &copy.id) {
            (Some(known), Some(id)) if known != id => return Err(disagrees(key, "call id")),
            (None, Some(_)) if call.head.status != BlockStatus::Open => {
                return Err(disagrees(key, "call id"));
            }
            (None, id) => call.id.clone_from(id),
            _ => {}
        }
    }
    if let (StreamBlock::Opaque(known), Some(tool)) = (&mut *block, &copy.tool) {
        let is_unnamed = known.name.as_ref().is_none_or(|name| *name == known.kind);
        if is_unnamed && known.head.status == BlockStatus::Open {
            known.name = Some(tool.clone());
        } else if known.name.as_ref() != Some(tool) {
            return Err(disagrees(key, "name"));
        }
    }
    let Some(body) = &copy.body else { return Ok(()) };
    if let StreamBlock::Opaque(known) = block {
        // The arguments of a server's call stand in the copy that ends the call.
        if keep && known.arguments.is_empty() && known.head.status == BlockStatus::Open {
            if body.len() > limit {
                return Err(block_too_long(key, limit));
            }
            known.arguments = body.to_string();
        } else if keep && known.arguments != **body && !same_json(&known.arguments, body) {
            return Err(disagrees(key, "text or arguments"));
        }
        return Ok(());
    }
    if block.bytes() == 0 && block.status() == BlockStatus::Open && !body.is_empty() {
        if keep && body.len() > limit {
            return Err(block_too_long(key, limit));
        }
        copy.is_first = true;
        let body = body.clone();
        block.append(&body, keep);
        return Ok(());
    }
    let agrees = if keep { same_body(block, body) } else { block.bytes() == body.len() };
    if agrees { Ok(()) } else { Err(disagrees(key, "text or arguments")) }
}

/// Whether `whole` is exactly these pieces, one after the other.
pub(crate) fn is_concatenation<'a>(whole: &str, mut pieces: impl Iterator<Item = &'a str>) -> bool {
    pieces.try_fold(whole, |rest, piece| rest.strip_prefix(piece)) == Some("")
}

fn same_body(block: &StreamBlock, body: &str) -> bool {
    if block.body() == body {
        return true;
    }
    // The action of a built-in call is a JSON value, not a string: other white space is the same value.
    match block {
        StreamBlock::ToolCall(call) if call.flavor() == CallFlavor::Builtin => same_json(block.body(), body),
        _ => false,
    }
}

/// Whether two texts are the same JSON value.
fn same_json(known: &str, body: &str) -> bool {
    let parse = |text| serde_json::from_str::<serde_json::Value>(text).ok();
    parse(known).is_some_and(|known| Some(known) == parse(body))
}

fn disagrees(key: crate::block::BlockKey, what: &str) -> Error {
    Error::new(
        ErrorKind::CopyDisagrees,
        format!("expected a copy of block {key} to repeat its {what}, found something else"),
    )
}
