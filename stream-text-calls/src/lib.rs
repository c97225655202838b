//! Tool calls that a model writes into its text: dialects as data, and one resumable scanner for all of them.
//!
//! A model that is served without a channel for tools writes its calls into the text, each model family in its own dialect. A
//! [`Dialect`] describes one, a [`DialectSet`] is the set that is searched for, and a [`Scanner`] finds calls in a text that
//! arrives in pieces.
//!
//! ```
//! use stream_text_calls::{DialectSet, Event, ScanOptions, Scanner};
//!
//! let set = DialectSet::for_model("Qwen/Qwen3-8B");
//! let mut scanner = Scanner::new(&set, ScanOptions::new());
//! let mut prose = String::new();
//! let mut calls = Vec::new();
//!
//! let answer = "I'll look.<tool_call>{\"name\": \"ls\", \"arguments\": {\"path\": \"/\"}}</tool_call> Done.";
//! // A piece may end anywhere, also inside of a tag.
//! for at in (0..answer.len()).step_by(7) {
//!     let piece = &answer[at..answer.len().min(at + 7)];
//!     for event in scanner.push(piece) {
//!         match event {
//!             Event::Text(range) => prose.push_str(&answer[range.start as usize..range.end as usize]),
//!             Event::CallEnd(call) => calls.push((call.name().to_owned(), call.arguments().to_owned())),
//!             _ => {}
//!         }
//!     }
//! }
//! for event in scanner.end() {
//!     if let Event::Text(range) = event {
//!         prose.push_str(&answer[range.start as usize..range.end as usize]);
//!     }
//! }
//!
//! assert_eq!(prose, "I'll look. Done.");
//! assert_eq!(calls, [("ls".to_owned(), r#"{"path": "/"}"#.to_owned())]);
//! ```
//!
//! # What a scan guarantees
//!
//! - The ranges of all [events](Event) cover the text once, in order. No byte is lost, and none is reported twice.
//! - Events do not depend on how the text was cut into pieces. Text that could still become a marker is not reported yet.
//! - The cost of a scan is linear in the length of the text: each byte is read a bounded number of times.
//! - Arguments are never repaired. Text that only begins like a call is prose, or, where [`ScanOptions`] ask for it,
//!   [`Unparsed`] with the [`Problem`] and its place.
//!
//! # Which calls count
//!
//! [`ScanOptions`] set whether a call counts inside code fences, inside reasoning, and under the name of a [`Tool`] that was not
//! offered. [`ScanOptions::strict`] counts all of them, for a gate before a client whose parser may be less careful.
//!
//! # Writing and checking calls
//!
//! [`Dialect::write`] writes a call in a dialect, [`TextCall::rewritten`] writes a found call with another name or other
//! arguments, and [`validate`] lists the problems of tagged calls, with their places.
//!
//! The crate does not depend on wire formats, frames or policies.

mod active;
mod before;
mod code;
mod decide;
mod dialect;
mod encode;
mod event;
mod inner;
mod json;
pub mod known;
mod literal;
mod loose;
mod machine;
mod matcher;
mod options;
mod plan;
mod python;
mod region;
mod scanner;
mod schema;
mod seam;
mod search;
mod set;
mod space;
mod tagged;
mod take;
mod template;
mod tool;
mod triggers;
mod validate;
mod watch;
mod xml;

pub use dialect::Dialect;
pub use event::{CallStart, Event, Markup, MarkupRole, Problem, ProblemKind, TextCall, Unparsed};
pub use options::ScanOptions;
pub use scanner::Scanner;
pub use set::DialectSet;
pub use template::Template;
pub use tool::Tool;
pub use validate::validate;
