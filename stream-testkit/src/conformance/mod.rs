//! Conformance: does a stream say what clients of its format expect?
//!
//! The checker reads with its own eyes: it shares the framer with stream-core and nothing else, so that it cannot share
//! the bugs of the readers and writers it is there to judge. It repairs nothing. Real providers deviate; each way in
//! which a recorded stream was seen to is a named [`Deviation`], and a check may [`Allow`] it.
//!
//! ```
//! use stream_testkit::WireKind;
//! use stream_testkit::conformance::{Ended, check};
//!
//! let stream = concat!(
//!     r#"data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}"#,
//!     "\n\n",
//!     r#"data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
//!     "\n\ndata: [DONE]\n\n",
//! );
//! let report = check(WireKind::OpenAiChat, stream.as_bytes());
//! assert_eq!(
//!     report.to_string(),
//!     "event 3: finish-reason: expected calls before \"tool_calls\", found none\n"
//! );
//! assert_eq!(report.view().choices[0].content, "Hi");
//! assert_eq!(report.view().ended, Ended::Clean);
//! ```

mod anthropic;
mod chat;
mod detect;
mod deviation;
mod events;
mod gemini;
mod json;
mod report;
mod responses;
mod rule;
#[cfg(test)]
mod tests;
mod view;

use self::{anthropic::Anthropic, chat::Chat, gemini::Gemini, report::Log, responses::Responses};
pub use self::{
    deviation::{Allow, Deviation},
    report::{Report, Violation},
    rule::Rule,
    view::{CallView, ChoiceView, Ended, View},
};
use crate::kind::WireKind;
pub use crate::named::UnknownName;

/// Checks a streamed answer against every rule.
#[must_use]
pub fn check(format: WireKind, bytes: &[u8]) -> Report {
    check_with(format, bytes, &Allow::none())
}

/// Checks a streamed answer, and tolerates some deviations.
#[must_use]
pub fn check_with(format: WireKind, bytes: &[u8], allow: &Allow) -> Report {
    let mut log = Log::default();
    macro_rules! follow {
        ($reader:expr) => {{
            let mut reader = $reader;
            events::each(format, bytes, &mut log, |event, log| reader.event(&event, log));
            reader.finish(&mut log)
        }};
    }
    let view = match format {
        WireKind::OpenAiChat => follow!(Chat::default()),
        WireKind::OpenAiResponses => follow!(Responses::default()),
        WireKind::AnthropicMessages => follow!(Anthropic::default()),
        WireKind::Gemini => follow!(Gemini::default()),
    };
    Report::new(log, view, allow)
}

/// Checks an answer that is not streamed against every rule. All violations belong to event 1.
#[must_use]
pub fn check_whole(format: WireKind, body: &[u8]) -> Report {
    check_whole_with(format, body, &Allow::none())
}

/// Checks an answer that is not streamed, and tolerates some deviations.
#[must_use]
pub fn check_whole_with(format: WireKind, body: &[u8], allow: &Allow) -> Report {
    let mut log = Log::at(1);
    let view = events::object(body, &mut log).map(|body| match format {
        WireKind::OpenAiChat => chat::check_whole(&body, &mut log),
        WireKind::OpenAiResponses => responses::check_whole(&body, &mut log),
        WireKind::AnthropicMessages => anthropic::check_whole(&body, &mut log),
        WireKind::Gemini => gemini::check_whole(&body, &mut log),
    });
    Report::new(log, view.unwrap_or_default(), allow)
}
