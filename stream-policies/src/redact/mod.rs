//! Redact: takes secrets out of what the model says.
//!
//! Regexes, literals and [presets](Preset) are looked for in text, reasoning, refusals and the arguments of calls; what
//! is found leaves as a placeholder. The result is the same however the upstream splits its text, and equal to what
//! redacting the whole text at once would give: the matches of each pattern, from the left; those that overlap leave as one
//! placeholder, under the name of the first.
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
//! | `presets` | none | kinds of secrets that are known by their shape, see [`Preset`] |
//! | `patterns` | none | regexes and literals with names, see [`Pattern`](crate::Pattern); presets come first |
//! | `places` | all five | where to look: `content`, `reasoning`, `refusal`, `arguments`, `other` |
//! | `replacement` | `[redacted]` | what stands for a hit; `{name}` becomes the name of the pattern. Never nothing: what stands on both sides would join |
//! | `block_ends` | `reasoning_decides` | whether text at the end of a block waits for the next, see [`BlockEnds`](crate::BlockEnds) |
//! | `hold_limit` | 65536 | how many bytes of one text may be undecided |
//! | `at_limit` | `redact` | `redact`: all that is undecided is taken out, and so is what follows until no match can be under way; `terminate`: the stream ends |
//!
//! # What is held back
//!
//! A chunk leaves as soon as no match can start in it any more that has not been decided. Most patterns are clear of
//! each word within a byte, an e-mail address is not clear of a word before the next space: then text runs one chunk
//! behind ([`Probe`] measures it). What has to stand before a key (`task-…` is none) is looked at, and is not part of the match. A chunk in which nothing was found leaves as the bytes that came, however long it was held. Text at the end of
//! a block may go on in the next one, since clients put a choice's text together; by default it waits for that, and a
//! call behind it waits too. Reasoning does not, or every answer would wait for its end.
//!
//! A text is matched in every way that clients put it together: all of a channel as it comes, each of its fields by itself
//! (chat: `reasoning` beside `reasoning_content`, content as a string or a list), and, where blocks are open side by side,
//! the blocks one after the other; then a block waits for the end of those that opened before it.
//!
//! A tool call is held until it is complete. Every key and value of its arguments is matched as the tool will read it,
//! escapes resolved, and the arguments stay JSON; a number in which something is found becomes a string. Arguments that
//! are no JSON and in which something is found are not sent: the call is dropped. So is one with something in the name of
//! its tool. Where JSON is written into a string, and something is found only behind its escapes, all of the string goes.
//!
//! Reasoning that is signed (Anthropic, Responses) cannot be edited (rule 22): each block is held until it is complete,
//! and left without any text if something was found in it, so that the next turn still works.
//!
//! Every other string of an answer is matched by itself (place `other`): what the provider ran and made, citations and
//! grounding, ids, errors, comments, fields nobody knows. What is found there leaves as a placeholder, and the frame keeps
//! its other bytes. The input of a tool that the provider runs, and code that comes in pieces, is held until all of it is
//! there, and is not sent if something is found in it. Tokens of log probabilities are matched together.
//!
//! # What it does not see
//!
//! Keys of letters alone, and values that are words of the protocol (`"type":"text"`), are no secrets: without them nobody
//! could read the frame. In long strings of encoded bytes (images, signatures) only patterns without a checksum count:
//! numbers of any kind occur there by chance. A text in disguise (other letters that look alike, invisible characters, words
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
