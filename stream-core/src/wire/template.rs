//! Templates: the JSON that is made here, written as it stands on the wire, with holes that know what may fill them.
//!
//! A format has all of its templates in its `templates.rs`. A template is a function: its holes are its arguments, so that one
//! that is forgotten or of another type does not compile.

use crate::json::{self, Object};

/// The object with these members, in this order. A name is a literal or a variable; a member whose value is `None` is left out.
macro_rules! object {
    ($($name:tt: $value:expr),* $(,)?) => {{
        let object = $crate::json::Object::new();
        $(let object = $crate::wire::template::Member::add($value, $name, object);)*
        object
    }};
}

/// The event of this type, with these members behind its `type`.
macro_rules! event {
    ($kind:expr $(, $name:tt: $value:expr)* $(,)?) => {{
        let kind: &'static str = $kind;
        $crate::wire::template::MadeEvent { name: Some(kind), data: object! { "type": kind $(, $name: $value)* } }
    }};
}

pub(super) use {event, object};

/// An event that is made here.
#[derive(Debug)]
pub(super) struct MadeEvent {
    /// What its `event` line says, where it has one.
    pub(super) name: Option<&'static str>,
    pub(super) data: Object,
}

impl MadeEvent {
    /// An event without a name.
    pub(super) fn unnamed(data: Object) -> Self {
        Self { name: None, data }
    }
}

/// A block or an item that is made here.
#[derive(Debug)]
pub(super) struct Made {
    /// The events that write the block to a stream.
    pub(super) events: Vec<MadeEvent>,
    /// The block as it stands in a whole response.
    pub(super) document: String,
}

/// An object anew, of what came: in their order the fields that survive, since any other may hold a copy of what was dropped
/// (rule 17). What is new stands in the place of the member of its name, or behind all that came; it may be nothing.
pub(super) fn renewed<'n>(
    came: &str,
    kept: &[&str],
    new: impl IntoIterator<Item = (&'n str, Object)>,
) -> Object {
    let mut new: Vec<(&str, Object)> = new.into_iter().collect();
    let members = json::members(came).unwrap_or_default();
    let renewed = members.into_iter().fold(Object::new(), |renewed, (name, value)| {
        match new.iter().position(|(field, _)| *field == name) {
            Some(at) => renewed.and(&new.remove(at).1),
            None if kept.contains(&&*name) => renewed.raw(&name, value),
            None => renewed,
        }
    });
    new.iter().fold(renewed, |renewed, (_, members)| renewed.and(members))
}

/// What fills a hole as the value of a member: a string is quoted, a number is written, an absent value takes its member along.
pub(super) trait Member {
    fn add(self, name: &str, object: Object) -> Object;
}

/// JSON that stands as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw<S>(pub(super) S);

/// Nothing, said.
pub(super) const NULL: Raw<&str> = Raw("null");

impl<S: AsRef<str>> Member for Raw<S> {
    fn add(self, name: &str, object: Object) -> Object {
        object.raw(name, self.0.as_ref())
    }
}

impl Member for &str {
    fn add(self, name: &str, object: Object) -> Object {
        object.string(name, self)
    }
}

impl Member for u64 {
    fn add(self, name: &str, object: Object) -> Object {
        object.number(name, self)
    }
}

impl Member for Object {
    fn add(self, name: &str, object: Object) -> Object {
        object.raw(name, &self.finish())
    }
}

impl<M: Member> Member for Option<M> {
    fn add(self, name: &str, object: Object) -> Object {
        match self {
            Some(value) => value.add(name, object),
            None => object,
        }
    }
}
