//! The second turn: can a client that received this go on?
//!
//! What a client received becomes the assistant's turn of its next request, calls are answered, and the request is
//! judged as the API's server would: it refuses empty turns, unsigned thinking, text behind a `tool_use`, calls without
//! results. A gateway that edits answers breaks the *next* request long before it breaks the answer.
//!
//! Nothing here is shared with stream-core but the framer, and nothing is repaired. Whether the answer itself is well
//! formed is for [`conformance`](crate::conformance) to say: check both.
//!
//! | format | the assistant's turn | the answers |
//! |---|---|---|
//! | chat | a message with `content`, `refusal`, `tool_calls`, reasoning fields | `tool` messages, one for each call |
//! | Responses | the output items, reasoning included | `function_call_output` and its like |
//! | Anthropic | the content blocks, thinking and server tools included | `tool_result` blocks in one user message |
//! | Gemini | the parts, texts joined where no signature is between | `functionResponse` parts in one content |
//!
//! ```
//! use stream_testkit::{Script, WireKind, second_turn};
//!
//! let script = Script::new().reasoning("Hm.").text("Let me look.").call("toolu_1", "read", r#"{"path":"a"}"#);
//! let received = script.bytes(WireKind::AnthropicMessages);
//! let turns = second_turn::turns(WireKind::AnthropicMessages, &received)?;
//! assert_eq!(turns[0].request()["messages"][2]["content"][0]["tool_use_id"], "toolu_1");
//! assert!(second_turn::check(WireKind::AnthropicMessages, &received)?.is_clean());
//!
//! // A policy that put its notice behind the call: the client is stuck.
//! let received = script.text("[blocked]").bytes(WireKind::AnthropicMessages);
//! assert_eq!(
//!     second_turn::check(WireKind::AnthropicMessages, &received)?.to_string(),
//!     "messages[1].content[3]: tool-use-last: expected only tool_use behind a tool_use, found text\n"
//! );
//! # Ok::<(), second_turn::NoTurn>(())
//! ```

mod answer;
mod anthropic;
mod chat;
mod gemini;
mod json;
mod kept;
mod report;
mod responses;
mod rule;
#[cfg(test)]
mod tests;
mod turn;

use crate::WireKind;
use serde_json::Value;

use self::answer::Answer;
use self::report::Log;
pub use self::{
    report::{Report, Violation},
    rule::Rule,
    turn::{NoTurn, SecondTurn},
};

/// The next requests that what a client received leads to, one for each choice; a body is streamed or whole.
///
/// # Errors
///
/// When there is nothing to go on with: the answer is an error, a refusal, or was cut.
pub fn turns(format: WireKind, received: &[u8]) -> Result<Vec<SecondTurn>, NoTurn> {
    turn::judge(format, received)?;
    let api = api(format);
    let kept = api.turns(&Answer::read(received));
    Ok(kept.into_iter().map(|(choice, turn)| SecondTurn::new(choice, api.request(&turn), turn)).collect())
}

/// Checks the next requests of a client that received this.
///
/// # Errors
///
/// When there is nothing to go on with; see [`turns`].
pub fn check(format: WireKind, received: &[u8]) -> Result<Report, NoTurn> {
    let mut log = Log::default();
    check_turns(format, &turns(format, received)?, &mut log);
    Ok(log.into_report())
}

/// Checks as [`check`] does, and that what the upstream signed is still there and as it was (rule 22).
///
/// # Errors
///
/// When there is nothing to go on with; see [`turns`].
pub fn check_against(format: WireKind, upstream: &[u8], received: &[u8]) -> Result<Report, NoTurn> {
    let mut log = Log::default();
    let received = turns(format, received)?;
    check_turns(format, &received, &mut log);
    let api = api(format);
    for (choice, sent) in api.turns(&Answer::read(upstream)) {
        if let Some(got) = received.iter().find(|turn| turn.choice() == choice) {
            log.choice = choice;
            kept::check(&api.signed(&sent), &api.signed(got.turn()), &mut log);
        }
    }
    Ok(log.into_report())
}

/// Checks a request that was made some other way, by an SDK say.
#[must_use]
pub fn check_request(format: WireKind, request: &Value) -> Report {
    let mut log = Log::default();
    api(format).check(request, &mut log);
    log.into_report()
}

fn check_turns(format: WireKind, turns: &[SecondTurn], log: &mut Log) {
    if turns.is_empty() {
        log.broken("", Rule::EmptyTurn, "expected an answer, found none");
    }
    for turn in turns {
        log.choice = turn.choice();
        api(format).check(turn.request(), log);
    }
}

/// What has to be known of an API.
trait Api {
    /// The assistant's turn in each choice, as its requests hold it.
    fn turns(&self, answer: &Answer) -> Vec<(u64, Value)>;

    /// A request that has this turn behind a first question, with its calls answered or the conversation going on.
    fn request(&self, turn: &Value) -> Value;

    /// Judges a request as the API's server would.
    fn check(&self, request: &Value, log: &mut Log);

    /// What of a turn is signed, in order.
    fn signed(&self, turn: &Value) -> Vec<kept::Signed>;
}

fn api(format: WireKind) -> &'static dyn Api {
    match format {
        WireKind::OpenAiChat => &chat::Chat,
        WireKind::OpenAiResponses => &responses::Responses,
        WireKind::AnthropicMessages => &anthropic::Anthropic,
        WireKind::Gemini => &gemini::Gemini,
    }
}

/// What the user says first, and where no call is to be answered.
const QUESTION: &str = "Go on.";
/// What every call is answered with.
const RESULT: &str = "done";
