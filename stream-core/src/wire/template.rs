//! Templates: JSON of the writer's own, written as it stands on the wire, with typed holes.
//!
//! All templates of a format stand in its `templates.rs`. A template is a function, and its holes are the arguments: a template
//! with a missing hole, or with a value of another type, does not compile.

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

/// An event of a template.
#[derive(Debug)]
pub(super) struct MadeEvent {
    /// The name on the `event` line, where there is one.
    pub(super) name: Option<&'static str>,
    pub(super) data: Object,
}

impl MadeEvent {
    /// An event without a name.
    pub(super) fn unnamed(data: Object) -> Self {
        Self { name: None, data }
    }
}

/// A block or an item of a template.
#[derive(Debug)]
pub(super) struct Made {
    /// The events that write the block to a stream.
    pub(super) events: Vec<MadeEvent>,
    /// The block as it stands in a whole response.
    pub(super) document: String,
}

/// An object of the upstream, written anew: the `kept` fields in their order, since any other field may hold a copy of dropped
/// payload (rule 17). New members stand in the place of the member of their name, or at the end; an empty object removes the member.
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

/// The value of a hole: a string is quoted, a number is written, and an absent value leaves out its member.
pub(super) trait Member {
    fn add(self, name: &str, object: Object) -> Object;
}

/// JSON that is written as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw<S>(pub(super) S);

/// An explicit null.
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
