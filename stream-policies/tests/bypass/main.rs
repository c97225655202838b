//! Ways to smuggle a call or a secret past the bundled gates, each with its outcome: what leaves, to the byte or as a
//! strict client reads it, and what was decided. Each stream runs in one piece, event by event and byte by byte.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]
#![cfg(feature = "patterns")]

mod kit;

mod arguments;
mod blocks_anthropic;
mod buffered;
mod calls_anthropic;
mod calls_chat;
mod calls_choices;
mod calls_gemini;
mod calls_responses;
mod chains;
mod cuts;
mod errors;
mod finish;
mod framing;
mod items_responses;
mod judges;
mod names;
mod notices;
mod one_meaning;
mod presets;
mod secrets_arguments;
mod secrets_beside;
mod secrets_choices;
mod secrets_places;
mod secrets_readings;
mod secrets_text;
mod secrets_thoughts;
mod secrets_words;
mod stop;
mod validate;
