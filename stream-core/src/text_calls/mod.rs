//! Tool calls that a model writes into its text, as blocks: the adaptor between a stream and [`stream_text_calls`].
//!
//! The scanner and the dialects are a crate of their own, whose types are re-exported here. The adaptor stands at both ends of the
//! engine: before the stages a text in which calls were found is cut into parts (`split.rs`), behind the stages the parts of a text
//! are joined again (`join.rs`), so that neither stages nor formats know where a call came from. Texts are searched for calls if
//! [`Config::text_calls`](crate::Config::text_calls) says so; [the guide](crate::guide::text_calls) tells what a policy then sees.

mod block_text;
mod join;
mod source;
mod split;

pub use stream_text_calls::{
    CallStart, Dialect, DialectSet, Event, Markup, MarkupRole, Problem, ProblemKind, ScanOptions, Scanner,
    Template, TextCall, Unparsed, known, validate,
};

pub use source::UnparsedCall;
pub use split::UNPARSED;
pub(crate) use split::{Searched, TextCalls};
