//! Tool calls written as text: dialects as data, and one resumable scanner for all of them.
//!
//! Models without a native channel for tools write their calls into the text. A [`Dialect`] describes one way of doing
//! so, a [`DialectSet`] says which are looked for, and a [`Scanner`] finds them in text that comes in pieces.

mod active;
mod code;
mod decide;
mod dialect;
mod encode;
mod event;
mod inner;
mod join;
mod json;
pub mod known;
mod literal;
mod loose;
mod machine;
mod options;
mod plan;
mod python;
mod said;
mod scanner;
mod schema;
mod seam;
mod set;
mod source;
mod space;
mod split;
mod tagged;
mod template;
mod triggers;
mod validate;
mod xml;

pub use dialect::Dialect;
pub use event::{
    CallStart, Event, Markup, MarkupRole, Problem, ProblemKind, TextCall, Unparsed, UnparsedCall,
};
pub use options::ScanOptions;
pub use scanner::Scanner;
pub use set::DialectSet;
pub use split::UNPARSED;
pub(crate) use split::{Searched, TextCalls};
pub use template::Template;
pub use validate::validate;
