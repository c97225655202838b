//! Chat Completions: one text, `tool` messages.

mod join;
mod request;
mod said;
mod whole;

pub(super) use self::join::Joiner;
pub(super) use self::request::{can_loop, free_choice, offer};
pub(super) use self::whole::{extend_whole, whole};
