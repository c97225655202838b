//! Redact: replaces secrets in text, reasoning, arguments and every other string.
//!
//! The policy searches text, reasoning, refusals and the arguments of calls for regexes, literals and [presets](Preset), and writes a placeholder for
//! each match. The result does not depend on how the upstream splits its text, and equals the redaction of the whole text: the matches of
//! each pattern, from the left; overlapping matches become one placeholder, with the name of the first.
//!
//! ```
//! use stream_policies::{Preset, RedactSettings};
//! use stream_testkit::{Fragments, Replay, Script, WireKind};
//!
//! let redact = RedactSettings::default().preset(Preset::Email).build()?;
//! let script = Script::new().text_fragments(Fragments::Chars(3)).text("Write to jane@example.com.");
//! let log = script.to_log(WireKind::AnthropicMessages);
//! let replayed = Replay::new(&log).policy(move || redact.clone()).run();
//! assert_eq!(replayed.view().choices[0].content, "Write to [redacted].");
//! # Ok::<(), stream_policies::SettingsError>(())
//! ```
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `presets` | none | kinds of secrets with a known shape, see [`Preset`] |
//! | `patterns` | none | regexes and literals with names, see [`Pattern`](crate::Pattern); presets come first |
//! | `places` | all five | where to look: `content`, `reasoning`, `refusal`, `arguments`, `other` |
//! | `replacement` | `[redacted]` | the placeholder; `{name}` becomes the name of the pattern. Never empty: the text on both sides would join |
//! | `block_ends` | `reasoning_decides` | whether text at the end of a block waits for the next, see [`BlockEnds`](crate::BlockEnds) |
//! | `hold_limit` | 65536 | the number of bytes of one text that may be undecided |
//! | `at_limit` | `redact` | `redact`: the undecided text is redacted, and all further text until no match can be under way; `terminate`: the stream ends |
//!
//! # What is held, and for how long
//!
//! A chunk is written as soon as no undecided match can start in it. Most patterns decide a word within a byte; an e-mail address
//! decides a word only at the next space, so text runs one chunk behind ([`Probe`] measures it). The context that a pattern demands before a
//! key (`task-…` is no key) is read, and is no part of the match. A chunk without a match is written as its own bytes, however long it
//! was held. Text at the end of a block may go on in the next one, since clients join the text of a choice; by default such text is held for
//! the next block, and so is a call behind it. Reasoning is not, or every answer would be held until it ends.
//!
//! A text is matched in every way in which clients join it: a whole channel, each of its fields by itself
//! (chat: `reasoning` beside `reasoning_content`, content as a string or a list), and, where blocks are open side by side,
//! the blocks one after the other; then a block is held until those that opened before it have ended.
//!
//! A tool call is held until it is complete. Every key and value of its arguments is matched with its escapes resolved, as the tool will read
//! it, and the arguments stay JSON; a number with a match becomes a string. A call is dropped if its arguments are no JSON and have a match,
//! or if the name of its tool has one. A string that holds JSON, with a match only behind its escapes, is replaced whole.
//!
//! Signed reasoning (Anthropic, Responses) cannot be edited, since its signature would no longer fit: each block is held until it is
//! complete, and is emptied if it has a match, so that the next turn is still accepted.
//!
//! Every other string of an answer is matched by itself (place `other`): tools and results of the provider, citations and grounding, ids, errors,
//! comments, unknown fields. A match there becomes a placeholder, and the frame keeps its other bytes. The input of a tool that the provider
//! runs, and code in pieces, is held until it is whole, and dropped if it has a match. Tokens of log probabilities are matched together.
//!
//! # What the policy does not see
//!
//! Keys of letters alone, and values that are words of the protocol (`"type":"text"`), are no secrets: without them no client
//! could read the frame. In long strings of encoded bytes (images, signatures) only patterns without a checksum count, since
//! digits occur there by chance. A text in disguise (other letters that look alike, invisible characters, words
//! spelled letter by letter, the parts of a secret in several arguments) is another text.

mod arguments;
mod checks;
mod policy;
mod preset;
mod probe;
mod settings;
mod strings;
#[cfg(test)]
mod tests;

pub use self::policy::Redact;
pub use self::preset::Preset;
pub use self::probe::Probe;
pub use self::settings::{AtLimit, Place, RedactSettings};

/// The patterns of all presets.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn all_presets() -> Vec<crate::Pattern> {
    Preset::ALL.into_iter().flat_map(Preset::patterns).collect()
}
