//! The bodies, over the committed seeds.

use super::{agreement, decode, each_seed, edits, framer, lane, text_calls, whole};
use crate::WireKind;

#[test]
fn frames_do_not_depend_on_the_cut() {
    each_seed("framer", framer);
}

#[test]
fn blocks_do_not_depend_on_the_cut() {
    each_seed("chat", |data| decode(WireKind::OpenAiChat, data));
    each_seed("responses", |data| decode(WireKind::OpenAiResponses, data));
    each_seed("messages", |data| decode(WireKind::AnthropicMessages, data));
    each_seed("gemini", |data| decode(WireKind::Gemini, data));
}

#[test]
fn whole_answers_say_what_their_streams_say() {
    each_seed("whole", whole);
}

#[test]
fn edited_streams_decode_again() {
    each_seed("edits", edits);
}

#[test]
fn streams_are_the_same_with_the_lane_and_without() {
    each_seed("lane", lane);
}

#[test]
fn calls_in_text_do_not_depend_on_the_cut() {
    each_seed("text_calls", text_calls);
}

#[test]
fn clients_read_only_calls_that_were_released() {
    each_seed("agreement", agreement);
}
